// src/graph/record.cpp: records elementwise operations: check, simplify, act.
#include "graph/record.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <vector>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "graph/call.h"
#include "graph/engine.h"

namespace pardo::graph {
namespace {

constexpr OpInfo op_rows[] = {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) {#name, arity, #numpy, #dtypes, #result, #identity, doc},
#include "graph/ops.def"
#undef OP
};
constexpr std::size_t public_rows = static_cast<std::size_t>(Op::cast);  // conversions come last
static_assert(std::size(op_rows) == public_rows + 4);

std::string queue_text(device::Queue* queue) {
    char address[32];
    std::snprintf(address, sizeof address, "%p", static_cast<void*>(queue));
    return std::string("<Queue ") + address + " of " + queue->device()->id() + ">";
}

[[noreturn]] void throw_placement(const char* op_name, device::Queue* a, device::Queue* b) {
    const char* const way = a->device() == b->device() ? "; copy one explicitly: x.to_queue(queue) or asarray(x, queue=queue)"
                                                       : "; copy one explicitly: x.to_device(device) or asarray(x, device=device)";
    throw Error(ErrorCode::Placement,
                std::string(op_name) + ": operands are on different queues: " + queue_text(a) + " and " + queue_text(b) + way);
}

[[noreturn]] void throw_broadcast(Op op, std::span<Node* const> inputs) {
    std::string text = std::string(name(op)) + ": operands could not be broadcast together with shapes";
    for (Node* input : inputs) text += " " + to_string(input->shape);
    throw Error(ErrorCode::Value, text);
}

Shape broadcast_inputs(Op op, DType result, std::span<Node* const> inputs) {
    Shape shape = inputs[0]->shape;
    bool grown = false;
    for (Node* input : inputs.subspan(1)) {
        if (input->shape == shape) continue;
        if (!broadcast_into(shape, input->shape)) throw_broadcast(op, inputs);
        grown = true;
    }
    if (grown || itemsize(result) > itemsize(inputs[0]->dtype)) (void)byte_count(result, shape, name(op));  // throws beyond int64
    return shape;
}

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

/// Whether `a op b` holds for numbers of which only the order is known.
bool holds(Op op, int order) {
    switch (op) {
        case Op::equal: return order == 0;
        case Op::not_equal: return order != 0;
        case Op::less: return order < 0;
        case Op::less_equal: return order <= 0;
        case Op::greater: return order > 0;
        default: return order >= 0;
    }
}

/// -1 or 1 for a Python integer below or above all values of an integer dtype, 0 for one that fits.
int out_of_range(const Scalar& s, DType t) {
    const int bits = 8 * itemsize(t);
    const bool is_signed = kind_of(t) == DKind::Signed;
    if (s.dtype == DType::UInt64) {
        const std::uint64_t top = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed ? 1 : 0));
        return s.u > top ? 1 : 0;
    }
    if (s.dtype != DType::Int64) return 0;
    if (!is_signed) return s.i < 0 ? -1 : bits < 64 && s.i > (std::int64_t{1} << bits) - 1 ? 1 : 0;
    if (bits == 64) return 0;
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return s.i < -half ? -1 : s.i > half - 1 ? 1 : 0;
}

/// `uint8_array < 300`: the answer is known without a look at the array.
std::optional<Array> compare_beyond_range(Op op, std::span<const Operand> operands) {
    const int scalar_at = operands[0].array() ? 1 : 0;
    const Array* x = operands[1 - scalar_at].array();
    const Scalar& s = operands[scalar_at].scalar();
    if (!x || operands[scalar_at].array() || !s.weak || !is_integer(x->dtype())) return {};
    const int beyond = out_of_range(s, x->dtype());
    if (beyond == 0) return {};
    const int order = scalar_at == 1 ? -beyond : beyond;
    std::lock_guard guard(state_of(x->node()->queue.get()).lock);
    return finish(with_scalar_value(make_constant(x->node()->queue, Scalar(holds(op, order)), x->node()->shape)));
}

/// int64 against uint64: no dtype holds both, so the negative numbers are settled apart, as NumPy does.
std::optional<Array> compare_mixed_signs(Op op, std::span<const Operand> operands) {
    const Array *a = operands[0].array(), *b = operands[1].array();
    if (!a || !b || !is_integer(a->dtype()) || !is_integer(b->dtype())) return {};
    const DKind ka = kind_of(a->dtype()), kb = kind_of(b->dtype());
    if (ka == kb || promote(a->dtype(), b->dtype()) != DType::Float64) return {};
    const bool a_signed = ka == DKind::Signed;
    const Array below = less(a_signed ? *a : *b, 0);
    const Array a64 = cast(*a, DType::UInt64), b64 = cast(*b, DType::UInt64);
    const Operand both[] = {a64, b64};
    const Array same_sign = record(op, both);
    const bool answer = holds(op, a_signed ? -1 : 1);  // when the signed one is negative
    if (answer) return logical_or(below, same_sign);
    return logical_and(logical_not(below), same_sign);
}

constexpr const char* negative_power = "power: Integers to negative integer powers are not allowed.";

/// Checks exponents of integers: numbers here, arrays on the device; `checked` gets the array whose readers fail if one is negative.
void check_exponents(std::span<const Operand> operands, DType loop, std::optional<Array>& checked) {
    if (kind_of(loop) != DKind::Signed) return;
    for (const Operand& o : operands) {
        if (o.array() && o.array()->size() == 0) return;  // NumPy's error is that of an element
    }
    if (const Array* exponents = operands[1].array()) {
        if (kind_of(exponents->dtype()) == DKind::Signed) checked = lib::checked_exponents(*exponents);
    } else if (operands[1].scalar().as_double() < 0) {
        throw Error(ErrorCode::Value, negative_power);
    }
}

/// x ** 2 and its like, by a Python number: the cheaper operation that NumPy takes too. `power` itself when there is none.
Op simpler_power(std::span<const Operand> operands, DType loop) {
    if (!operands[0].array() || operands[1].array() || !operands[1].scalar().weak) return Op::power;
    const Scalar& exponent = operands[1].scalar();
    const DKind kind = kind_of(exponent.dtype);
    if (kind == DKind::Complex || kind == DKind::Bool) return Op::power;
    const double value = exponent.as_double();
    if (value == 2.0) return Op::square;
    if (value == 1.0) return Op::positive;
    if (is_integer(loop)) return Op::power;
    if (value == 0.5) return Op::sqrt;
    return value == -1.0 ? Op::reciprocal : Op::power;
}

/// The largest (or smallest) value of an integer dtype.
Scalar extreme_of(DType t, bool largest) {
    const int bits = 8 * itemsize(t);
    Scalar s(std::int64_t{0});
    if (kind_of(t) == DKind::Unsigned) {
        s = largest ? Scalar(std::numeric_limits<std::uint64_t>::max() >> (64 - bits)) : Scalar(std::uint64_t{0});
    } else {
        const std::int64_t top = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
        s = Scalar(largest ? top : -top - 1);
    }
    s.weak = false;
    return s.cast(t);
}

/// Python numbers outside an integer dtype are not bounds: NumPy's clip lets them pass too.
std::optional<Array> clip_beyond_range(std::span<const Operand> operands) {
    const Array* x = operands[0].array();
    if (!x || !is_integer(x->dtype())) return {};
    const auto beyond = [&](const Operand& o) { return o.array() || !o.scalar().weak ? 0 : out_of_range(o.scalar(), x->dtype()); };
    const bool low = beyond(operands[1])<0, high = beyond(operands[2])> 0;
    if (!low && !high) return {};
    const Operand bounds[] = {*x, low ? Operand(extreme_of(x->dtype(), false)) : operands[1],
                              high ? Operand(extreme_of(x->dtype(), true)) : operands[2]};
    return record(Op::clip, bounds);
}

/// Between two numbers NumPy lets elements stay that are equal to one of them: zeros of either sign. (Arrays as limits give theirs.)
bool keeps_ties(std::span<const Operand> operands, DType loop) {
    const auto is_number = [](const Operand& o) { return !o.array() || o.array()->ndim() == 0; };
    return (loop == DType::Float32 || loop == DType::Float64) && is_number(operands[1]) && is_number(operands[2]);
}

/// A lossless cast has nothing to add to the one that follows it.
Node* beneath_lossless_cast(Node* node, DType to) {
    if (node->kind != Kind::Elementwise || node->op != Op::cast) return node;
    Node* inner = node->inputs[0].get();
    if (inner->shape != node->shape || !can_cast_safe(inner->dtype, node->dtype)) return node;
    if (is_integer(inner->dtype) && itemsize(inner->dtype) == 8 && is_inexact(node->dtype)) return node;  // int64 -> float64 rounds
    return is_inexact(inner->dtype) && !is_inexact(to) ? node : inner;
}

Ref<Node> cast_node(Node* node, DType to) {
    if (itemsize(to) > itemsize(node->dtype)) (void)byte_count(to, node->shape, "astype");  // throws beyond int64
    if (node->kind == Kind::Constant) return make_constant(node->queue, node->scalar.cast(to), node->shape);
    Node* const inputs[] = {beneath_lossless_cast(node, to)};
    if (inputs[0]->dtype == to) return inputs[0];
    return make_elementwise(Op::cast, to, inputs[0]->shape, inputs);
}

bool is_foreign(const Node& node) { return node.kind == Kind::Leaf && node.buffer->externally_writable(); }

/// Looks through casts: they are made together with the operation and not finished themselves. Every other pending input was forced when it
/// was recorded.
bool reads_foreign_memory(const Node& node) {
    for (int i = 0; i < node.arity; ++i) {
        const Node& input = *node.inputs[i];
        if (is_foreign(input) || (input.kind == Kind::Elementwise && input.op == Op::cast && is_foreign(*input.inputs[0]))) return true;
    }
    return false;
}

/// What was not asked to be float64 is float32 on a device without float64. A scalar of NumPy asks for what it is, and is refused later.
Inferred without_fp64(const device::Queue* queue, std::span<const Operand> operands, const Inferred& types) {
    for (const Operand& o : operands) {
        if (!o.array() && !o.scalar().weak && default_on(queue, o.scalar().dtype) != o.scalar().dtype) return types;
    }
    return {default_on(queue, types.loop), default_on(queue, types.result)};
}

/// The operation on nodes that are ready for it.
Array record_nodes(Op op, DType result, std::span<Node* const> inputs) {
    return finish(with_scalar_value(make_elementwise(op, result, broadcast_inputs(op, result, inputs), inputs)));
}

/// The operation, of which is known what it computes in.
Array record_inferred(Op op, std::span<const Operand> operands, const Inferred& types, device::Queue* queue) {
    std::lock_guard guard(state_of(queue).lock);
    Ref<Node> made[3], node;
    Node* inputs[3];
    const std::size_t count = operands.size();
    for (std::size_t i = 0; i < count; ++i) {
        const DType wanted = op == Op::where && i == 0 ? DType::Bool : types.loop;
        const Array* array = operands[i].array();
        if (array && array->node()->dtype == wanted) {
            inputs[i] = array->node();
        } else {
            made[i] = operand_node(operands[i], wanted, queue);
            inputs[i] = made[i].get();
        }
    }
    node = make_elementwise(op, types.result, broadcast_inputs(op, types.result, {inputs, count}), {inputs, count});
    // Held no longer: a flush must not take them for values that the program needs.
    for (Ref<Node>& m : made) m = nullptr;
    for (const Operand& o : operands) {
        if (Array* handle = o.expiring()) const Array taken = std::move(*handle);
    }
    return finish(with_scalar_value(std::move(node)));
}

Array record_cast(const Array& x, DType dtype) {
    std::lock_guard guard(state_of(x.node()->queue.get()).lock);
    Ref<Node> node = cast_node(x.node(), dtype);
    // Back where a lossless cast began: a copy nevertheless, others may write into that array.
    if (x.node()->arity == 1 && node.get() == x.node()->inputs[0].get()) {
        Node* const inputs[] = {node.get()};
        node = make_elementwise(Op::cast, dtype, node->shape, inputs);
    }
    return finish(with_scalar_value(std::move(node)));
}

}  // namespace

void check_row(const char* op_name, int id, std::size_t operands) {
    if (id < 0 || id >= static_cast<int>(public_rows))
        throw Error(ErrorCode::Value, std::string(op_name) + ": there is no operation " + std::to_string(id));
    const OpInfo& row = op_rows[id];
    if (operands == static_cast<std::size_t>(row.arity)) return;
    throw Error(ErrorCode::Type,
                std::string(row.name) + ": takes " + std::to_string(row.arity) + " operands, got " + std::to_string(operands));
}

const OpInfo& op_row(Op op) noexcept { return op_rows[static_cast<int>(op)]; }

device::Queue* common_queue(const char* op_name, std::span<const Array* const> arrays) {
    device::Queue* queue = nullptr;
    for (const Array* a : arrays) {
        if (!a) continue;
        device::Queue* its = a->node()->queue.get();
        if (queue && its != queue) throw_placement(op_name, queue, its);
        queue = its;
    }
    return queue ? queue : Queue().impl();
}

device::Queue* common_queue(const char* op_name, std::span<const Operand> operands) {
    device::Queue* queue = nullptr;
    for (const Operand& o : operands) {
        if (!o.array()) continue;
        device::Queue* its = o.array()->node()->queue.get();
        if (queue && its != queue) throw_placement(op_name, queue, its);
        queue = its;
    }
    return queue ? queue : Queue().impl();
}

Ref<Node> operand_node(const Operand& operand, DType dtype, device::Queue* queue) {
    if (!operand.array()) return make_constant(queue, operand.scalar().cast(dtype), {});
    Node* node = operand.array()->node();
    return node->dtype == dtype ? Ref<Node>(node) : cast_node(node, dtype);
}

Array finish(Ref<Node> node) {
    if (node->pending()) {
        if (reads_foreign_memory(*node)) {
            Node* const roots[] = {node.get()};
            plan::force(roots, plan::Compile::Unlocked);
            assert(!node->pending());  // memory that outside code may write has no pending readers: docs/design/ordering.md
        } else if (const auto verdict = plan::flush_verdict(state_of(node->queue.get()), *node); verdict != plan::Flush::None) {
            plan::flush(verdict, node.get());
        }
    }
    return Array(node.detach(), Array::Adopt{});
}

bool follows(const Array& x) { return x.ndim() == 0 && x.node()->queue->device()->in_host_memory(); }

Pull pull_of(const Array& x) {
    if (!follows(x)) return Pull::Fixed;
    const device::Queue* queue = x.node()->queue.get();
    return queue == queue->device()->queue() ? Pull::Canonical : Pull::OwnQueue;
}

Array following(const Array& x, device::Queue* queue, const char* op_name) {
    if (x.node()->queue.get() == queue || !follows(x)) return x;
    TransferQuestion::ask_to_follow(op_name, itemsize(x.dtype()), queue);
    return note_following(x.to_queue(Queue(queue)));
}

namespace {

/// The queue of all arrays among operands; null when they differ.
device::Queue* shared_queue(std::span<const Operand> operands) {
    device::Queue* queue = nullptr;
    for (const Operand& o : operands) {
        if (!o.array()) continue;
        device::Queue* its = o.array()->node()->queue.get();
        if (queue && its != queue) return nullptr;
        queue = its;
    }
    return queue ? queue : Queue().impl();
}

/// Operands on several queues: those that follow are brought to the queue of the others.
Array record_following(Op op, std::span<const Operand> operands, std::optional<DType> dtype) {
    Pull most = Pull::Canonical;
    for (const Operand& o : operands) {
        if (o.array()) most = std::max(most, pull_of(*o.array()));
    }
    std::vector<const Array*> deciding;
    for (const Operand& o : operands) {
        if (o.array() && pull_of(*o.array()) == most) deciding.push_back(o.array());
    }
    device::Queue* queue = common_queue(name(op), deciding);
    std::vector<Array> brought;
    brought.reserve(operands.size());
    std::vector<Operand> all;
    for (const Operand& o : operands) {
        const Operand* same = nullptr;
        for (std::size_t i = 0; o.array() && !same && i < all.size(); ++i) {
            if (operands[i].array() && operands[i].array()->node() == o.array()->node()) same = &all[i];
        }
        if (o.array() && !same) brought.push_back(following(*o.array(), queue, name(op)));
        all.push_back(same ? *same : o.array() ? Operand(std::as_const(brought.back())) : o);
    }
    return record(op, all, dtype);
}

}  // namespace

Array record(Op op, std::span<const Operand> operands, std::optional<DType> dtype) {
    device::Queue* queue = shared_queue(operands);
    if (!queue) [[unlikely]]
        return record_following(op, operands, dtype);
    if (is_comparison(op)) {
        if (auto known = compare_beyond_range(op, operands)) return *std::move(known);
        if (auto split = compare_mixed_signs(op, operands)) return *std::move(split);
    }
    if (op == Op::clip && !dtype) {
        if (auto clipped = clip_beyond_range(operands)) return *std::move(clipped);
    }
    Inferred types = infer(op, operands, dtype);
    if (!dtype && !queue->device()->info().has_fp64) types = without_fp64(queue, operands, types);
    if (op == Op::power) {
        std::optional<Array> exponents;
        check_exponents(operands, types.loop, exponents);
        if (exponents) {
            const Operand checked[] = {operands[0], *exponents};
            return record_inferred(op, checked, types, queue);
        }
        op = simpler_power(operands, types.loop);
        if (op != Op::power) operands = operands.first(1);
    }
    if (op == Op::clip && keeps_ties(operands, types.loop)) op = Op::clip_within;
    if (lib::float_errors_wanted()) [[unlikely]]
        return lib::note_float_errors(op, operands, types.loop, [&] { return record_inferred(op, operands, types, queue); });
    return record_inferred(op, operands, types, queue);
}

Array cast(const Array& x, DType dtype) {
    if (x.dtype() == dtype) return x;
    if (lib::float_errors_wanted() && is_inexact(x.dtype())) [[unlikely]] {
        const Operand operand(x);
        return lib::note_float_errors(Op::cast, std::span(&operand, 1), dtype, [&] { return record_cast(x, dtype); });
    }
    return record_cast(x, dtype);
}

Array from_parts(const Array& re, const Array& im) {
    std::lock_guard guard(state_of(re.node()->queue.get()).lock);
    Node* const inputs[] = {re.node(), im.node()};
    return record_nodes(Op::from_parts, complex_of(re.dtype()), inputs);
}

/// The bits in another dtype of the same size.
Array record_bitcast(const Array& x, DType dtype) {
    if (is_complex(x.dtype()) || is_complex(dtype) || itemsize(x.dtype()) != itemsize(dtype)) {
        throw Error(ErrorCode::Type,
                    "bitcast: the bits of " + std::string(dtype_name(x.dtype())) + " are no " + std::string(dtype_name(dtype)));
    }
    std::lock_guard guard(state_of(x.node()->queue.get()).lock);
    Node* const inputs[] = {x.node()};
    return record_nodes(Op::bitcast, dtype, inputs);
}

Array scalar_copy(const Array& view) {
    std::lock_guard guard(state_of(view.node()->queue.get()).lock);
    Node* const inputs[] = {view.node()};
    return record_nodes(Op::cast, view.dtype(), inputs);
}

}  // namespace pardo::graph

namespace pardo {

std::span<const OpInfo> op_table() { return std::span(graph::op_rows).first(graph::public_rows); }

Array bitcast(const Array& x, DType dtype) { return graph::record_bitcast(x, dtype); }

Array note_following(Array copy) {
    if (!copy.pending()) copy.node()->buffer->set_follows();
    return copy;
}

Array apply(int id, std::span<const Operand> operands, std::optional<DType> dtype) {
    graph::check_row("apply", id, operands.size());
    return graph::record(static_cast<graph::Op>(id), operands, dtype);
}

LoopTypes loop_of(int id, std::span<const DType> operands, std::optional<DType> dtype) {
    graph::check_row("loop_of", id, operands.size());
    std::vector<Operand> samples;
    for (const DType t : operands) samples.push_back(Scalar(1).cast(t));
    const graph::Inferred types = graph::infer(static_cast<graph::Op>(id), samples, dtype);
    return {types.loop, types.result};
}

#define PARDO_DEFINE_elementwise_1(name) \
    Array name(const Operand& a) { return graph::record(graph::Op::name, std::span(&a, 1)); }
#define PARDO_DEFINE_elementwise_2(name)                 \
    Array name(const Operand& a, const Operand& b) {     \
        const Operand operands[] = {a, b};               \
        return graph::record(graph::Op::name, operands); \
    }
#define PARDO_DEFINE_elementwise_3(name)                               \
    Array name(const Operand& a, const Operand& b, const Operand& c) { \
        const Operand operands[] = {a, b, c};                          \
        return graph::record(graph::Op::name, operands);               \
    }
#define PARDO_DEFINE_special_1 PARDO_DEFINE_elementwise_1
#define PARDO_DEFINE_special_2 PARDO_DEFINE_elementwise_2
#define PARDO_DEFINE_special_3 PARDO_DEFINE_elementwise_3
#define PARDO_DEFINE_conversion_1(name)
#define PARDO_DEFINE_conversion_2(name)
#define PARDO_DEFINE_conversion_3(name)
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) PARDO_DEFINE_##kind##_##arity(name)
#include "graph/ops.def"
#undef OP

}  // namespace pardo
