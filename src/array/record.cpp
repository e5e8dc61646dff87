// src/array/record.cpp: records elementwise operations: check, simplify, act.
#include "array/record.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <pardo/binding/layout.h>
#include <pardo/binding/rows.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/float_errors.h"
#include "array/numpy_rules.h"
#include "graph/call.h"
#include "plan/transfer.h"

namespace pardo::arrays {
namespace {

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

/// The operation, of which is known what it computes in.
Array record_inferred(Op op, std::span<const Operand> operands, Inputs& inputs, const Inferred& types, device::Queue* queue) {
    std::lock_guard guard(state_of(queue).lock);
    inputs.look_again(operands);
    Ref<Node> node = graph::record(op, inputs, types, queue);
    for (const Operand& o : operands) {
        if (Array* handle = o.expiring()) const Array taken = std::move(*handle);
    }
    return finish(std::move(node));
}

/// The same, and float errors are noted where that is asked for.
Array record_noted(Op op, std::span<const Operand> operands, Inputs& inputs, const Inferred& types, device::Queue* queue) {
    if (float_errors_wanted()) [[unlikely]]
        return note_float_errors(op, operands, types.loop, [&] { return record_inferred(op, operands, inputs, types, queue); });
    return record_inferred(op, operands, inputs, types, queue);
}

Array record_cast(const Array& x, DType dtype) {
    std::lock_guard guard(graph_of(x).lock);
    return finish(graph::record_cast(x.node(), dtype));
}

/// A row whose operands have their dtypes already.
Array record_nodes(Op op, DType result, std::span<Node* const> inputs) { return finish(graph::record(op, result, inputs)); }

}  // namespace

void arrive_now(const Array& x) {
    Node* const transfers[] = {x.node()};
    plan::arrive(transfers);
}

device::Queue* queue_among(const char* op_name, std::span<const Array* const> arrays) {
    device::Queue* queue = nullptr;
    for (const Array* a : arrays) {
        if (!a) continue;
        device::Queue* its = node_of(*a, op_name).queue.get();
        if (queue && its != queue) throw_placement(op_name, queue, its);
        queue = its;
    }
    return queue ? queue : Queue().impl();
}

device::Queue* common_queue(const char* op_name, std::span<const Array* const> arrays) {
    device::Queue* const queue = queue_among(op_name, arrays);
    for (const Array* a : arrays) {
        if (a) arrive(*a);
    }
    return queue;
}

Array finish(Ref<Node> node) {
    if (node->pending()) {
        if (const graph::Flush due = graph::flush_verdict(*node); due != graph::Flush::None) plan::flush(due, node.get());
    }
    return Array(node.detach(), Array::Adopt{});
}

bool follows(const Array& x) { return x.node()->shape.empty() && x.node()->queue->device()->can(device::Feature::HostMemory); }

Pull pull_of(const Array& x) {
    if (!follows(x)) return Pull::Fixed;
    const device::Queue* queue = x.node()->queue.get();
    return queue == queue->device()->queue() ? Pull::Canonical : Pull::OwnQueue;
}

Array following(const Array& x, device::Queue* queue, const char* op_name) {
    if (x.node()->queue.get() == queue || !follows(x)) return x;
    graph::TransferQuestion::ask_to_follow(op_name, itemsize(x.dtype()), queue);
    return note_following(x.to_queue(Queue(queue)));
}

namespace {

/// The queue of all arrays among operands, which have arrived; null when they differ.
device::Queue* shared_queue(std::span<const Operand> operands) {
    device::Queue* queue = nullptr;
    bool arrived = true;
    for (const Operand& o : operands) {
        if (!o.array()) continue;
        const Node& node = *o.array()->node();
        device::Queue* its = node.queue.get();
        if (queue && its != queue) return nullptr;
        queue = its;
        arrived &= !node.is_transfer();
    }
    if (!arrived) [[unlikely]] {
        for (const Operand& o : operands) {
            if (o.array()) arrive(*o.array());
        }
    }
    return queue ? queue : Queue().impl();
}

}  // namespace

device::Queue* common_queue(const char* op_name, std::span<const Operand> operands) {
    if (device::Queue* const queue = shared_queue(operands)) return queue;
    std::vector<const Array*> arrays;
    for (const Operand& o : operands) arrays.push_back(o.array());
    return queue_among(op_name, arrays);  // which throws
}

namespace {

/// Operands on several queues, one of which takes them all.
Array record_taken(Op op, std::span<const Operand> operands, std::optional<DType> dtype, device::Queue* queue) {
    std::vector<Array> brought;
    brought.reserve(operands.size());
    std::vector<Operand> all;
    for (const Operand& o : operands) {
        if (o.array()) brought.push_back(o.array()->to_queue(Queue(queue)));
        all.push_back(o.array() ? Operand(std::as_const(brought.back())) : o);
    }
    return record(op, all, dtype);
}

/// Operands on several queues: those that follow are brought to the queue of the others.
Array record_following(Op op, std::span<const Operand> operands, std::optional<DType> dtype) {
    for (const Operand& o : operands) {
        device::Queue* const queue = o.array() ? o.array()->node()->queue.get() : nullptr;
        if (queue && queue->device()->can(device::Feature::TakesAll)) return record_taken(op, operands, dtype, queue);
    }
    Pull most = Pull::Canonical;
    for (const Operand& o : operands) {
        if (o.array()) most = std::max(most, pull_of(*o.array()));
    }
    std::vector<const Array*> deciding;
    for (const Operand& o : operands) {
        if (o.array() && pull_of(*o.array()) == most) deciding.push_back(o.array());
    }
    device::Queue* queue = common_queue(graph::name(op), deciding);
    std::vector<Array> brought;
    brought.reserve(operands.size());
    std::vector<Operand> all;
    for (const Operand& o : operands) {
        const Operand* same = nullptr;
        for (std::size_t i = 0; o.array() && !same && i < all.size(); ++i) {
            if (operands[i].array() && operands[i].array()->node() == o.array()->node()) same = &all[i];
        }
        if (o.array() && !same) brought.push_back(following(*o.array(), queue, graph::name(op)));
        all.push_back(same ? *same : o.array() ? Operand(std::as_const(brought.back())) : o);
    }
    return record(op, all, dtype);
}

}  // namespace

Array record(Op op, std::span<const Operand> operands, std::optional<DType> dtype) {
    device::Queue* queue = shared_queue(operands);
    if (!queue) [[unlikely]]
        return record_following(op, operands, dtype);
    const NumpyRule& rule = numpy_rule(op);
    if (rule.answer) {
        if (auto known = rule.answer(op, operands, dtype)) return *std::move(known);
    }
    Inputs inputs(operands);
    const Inferred types = graph::infer_on(queue, op, inputs, dtype);
    if (!rule.instead) return record_noted(op, operands, inputs, types, queue);
    CheckedOperands checked;
    op = rule.instead(op, operands, types.loop, checked);
    inputs = Inputs(operands);
    return record_noted(op, operands, inputs, types, queue);
}

Array cast(const Array& x, DType dtype) {
    if (x.node()->dtype == dtype) return x;
    if (float_errors_wanted() && is_inexact(x.node()->dtype)) [[unlikely]] {
        const Operand operand(x);
        return note_float_errors(Op::cast, std::span(&operand, 1), dtype, [&] { return record_cast(x, dtype); });
    }
    return record_cast(x, dtype);
}

Array from_parts(const Array& re, const Array& im) {
    arrive(im);
    std::lock_guard guard(graph_of(re).lock);
    Node* const inputs[] = {re.node(), im.node()};
    return record_nodes(Op::from_parts, complex_of(re.dtype()), inputs);
}

/// The bits in another dtype of the same size.
Array record_bitcast(const Array& x, DType dtype) {
    if (is_complex(x.dtype()) || is_complex(dtype) || itemsize(x.dtype()) != itemsize(dtype)) {
        throw Error(ErrorCode::Type,
                    "bitcast: the bits of " + std::string(dtype_name(x.dtype())) + " are no " + std::string(dtype_name(dtype)));
    }
    std::lock_guard guard(graph_of(x).lock);
    Node* const inputs[] = {x.node()};
    return record_nodes(Op::bitcast, dtype, inputs);
}

Array scalar_copy(const Array& view) {
    std::lock_guard guard(graph_of(view).lock);
    Node* const inputs[] = {view.node()};
    return record_nodes(Op::cast, view.dtype(), inputs);
}

}  // namespace pardo::arrays

namespace pardo {

Array bitcast(const Array& x, DType dtype) { return arrays::record_bitcast(x, dtype); }

Array note_following(Array copy) {
    arrays::arrive(copy);
    if (!copy.pending()) copy.node()->buffer->set_follows();
    return copy;
}

Array apply(int id, std::span<const Operand> operands, std::optional<DType> dtype) {
    graph::check_row("apply", id, operands.size());
    return arrays::record(static_cast<graph::Op>(id), operands, dtype);
}

namespace {

/// What the functions of ops.h do. `apply`, which knows that its handles have values, does not look.
Array recorded(graph::Op op, std::span<const Operand> operands) {
    for (const Operand& o : operands) {
        if (o.array() && !o.array()->node()) [[unlikely]]
            throw Error(ErrorCode::Value,
                        std::string(graph::name(op)) + ": an operand has no value: it was made without one, or moved from");
    }
    return arrays::record(op, operands);
}

}  // namespace

#define PARDO_DEFINE_elementwise_1(name) \
    Array name(const Operand& a) { return recorded(graph::Op::name, std::span(&a, 1)); }
#define PARDO_DEFINE_elementwise_2(name)             \
    Array name(const Operand& a, const Operand& b) { \
        const Operand operands[] = {a, b};           \
        return recorded(graph::Op::name, operands);  \
    }
#define PARDO_DEFINE_elementwise_3(name)                               \
    Array name(const Operand& a, const Operand& b, const Operand& c) { \
        const Operand operands[] = {a, b, c};                          \
        return recorded(graph::Op::name, operands);                    \
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
