// src/array/assign.cpp: out= and in-place operators.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pardo/binding/rows.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/float_errors.h"
#include "array/record.h"
#include "plan/force.h"

namespace pardo {
namespace {

using graph::Kind;
using graph::Node;
using graph::Op;

/// NumPy's rule for outputs: they take part in broadcasting but do not grow.
void check_output_shape(const char* op_name, Extents result, Extents out) {
    if (broadcasts_to(result, out)) return;
    Shape both(out);
    const bool grows = broadcast_into(both, result);
    if (grows) {
        throw Error(ErrorCode::Value, std::string(op_name) + ": non-broadcastable output operand with shape " + to_string(out) +
                                          " doesn't match the broadcast shape " + to_string(result));
    }
    throw Error(ErrorCode::Value, std::string(op_name) + ": operands could not be broadcast together with shapes " + to_string(result) +
                                      " " + to_string(out));
}

/// Before anything is recorded: operands in memory that outside code may write are computed with at once.
void check_output_shape(const char* op_name, std::span<const Operand> operands, Extents out) {
    Shape result;
    for (const Operand& o : operands) {
        if (o.array() && !broadcast_into(result, o.array()->shape())) return;  // what records says so
    }
    check_output_shape(op_name, result, out);
}

/// True when only this handle can see the value or its memory: then a new value for the handle has the effect of writing.
bool unshared(const Node& node) {
    if (node.use_count() != 1 || node.kind == Kind::View) return false;
    return node.kind != Kind::Leaf || (node.buffer->unshared() && !node.buffer->externally_writable());
}

/// A power whose exponents count only where it is stored: elsewhere they may be negative.
Array where_power(std::span<const Operand> operands, const Array& where, std::optional<DType> dtype) {
    const Array* exponents = operands[1].array();
    if (!exponents || !is_integer(exponents->dtype())) return arrays::record(Op::power, operands, dtype);
    const Operand choice[] = {where, *exponents, std::int64_t{0}};
    const Array counted = arrays::record(Op::where, choice);
    const Operand both[] = {operands[0], counted};
    return arrays::record(Op::power, both, dtype);
}

/// Whether the operation can be recorded more than once: it takes no handle of its caller's.
bool can_be_repeated(std::span<const Operand> operands) {
    return std::ranges::none_of(operands, [](const Operand& o) { return o.expiring() != nullptr; });
}

/// target[...] = record(), as one step: no write comes between the two. Caller holds the graph lock, once. What cannot be recorded again
/// is stored without letting go of the lock.
template <class Record> void store_recorded(const char* op_name, const Array& target, Record record, bool repeats, const Array* where) {
    using plan::Compile;
    for (bool stored = false; !stored;) {
        const Array value = record();
        // What is still pending when the lock was free reads memory that has not been written: writers compute such values first.
        const auto compile = repeats && value.pending() ? Compile::Unlocked : Compile::Locked;
        do stored = arrays::store_locked(op_name, target, value, where, After::Dropped, compile);
        while (!stored && value.pending());
    }
}

}  // namespace

namespace {

/// Arrays among operands, and a mask, which are to go to a queue: 0-d ones of the CPU.
bool any_follows(std::span<const Operand> operands, const Array* where, const device::Queue* queue) {
    const auto is_elsewhere = [&](const Array* x) { return x && x->node()->queue.get() != queue && arrays::follows(*x); };
    return is_elsewhere(where) || std::ranges::any_of(operands, is_elsewhere, &Operand::array);
}

/// The operands, of which those that follow are brought to the queue of what is written.
struct Brought {
    std::vector<Array> arrays;
    std::vector<Operand> operands;
    Brought(std::span<const Operand> given, device::Queue* queue, const char* op_name) {
        arrays.reserve(given.size());
        for (const Operand& o : given) {
            if (o.array()) arrays.push_back(arrays::following(*o.array(), queue, op_name));
            operands.push_back(o.array() ? Operand(std::as_const(arrays.back())) : o);
        }
    }
};

}  // namespace

void apply_out(int id, std::span<const Operand> operands, const Array& out, const Array* where, std::optional<DType> dtype) {
    graph::check_row("apply", id, operands.size());
    if (any_follows(operands, where, out.node()->queue.get())) [[unlikely]] {
        device::Queue* const home = out.node()->queue.get();
        const char* const op_name = graph::name(static_cast<Op>(id));
        const Brought brought(operands, home, op_name);
        const Array mask = where ? arrays::following(*where, home, op_name) : Array();
        return apply_out(id, brought.operands, out, where ? &mask : nullptr, dtype);
    }
    const Op op = static_cast<Op>(id);
    const char* op_name = graph::name(op);
    const Array* places[] = {&out, where};
    device::Queue* queue = arrays::common_queue(op_name, places);
    for (const Operand& o : operands) {
        const Array* pair[] = {&out, o.array()};
        arrays::common_queue(op_name, pair);
    }
    graph::check_output_cast(op_name, arrays::infer(op, operands, dtype).result, out.dtype());
    if (where && where->dtype() != DType::Bool) {
        throw Error(ErrorCode::Type, std::string(op_name) + ": Cannot cast array data from dtype('" +
                                         std::string(dtype_name(where->dtype())) + "') to dtype('bool') according to the rule 'safe'");
    }
    check_output_shape(op_name, operands, out.shape());
    if (where) check_output_shape(op_name, where->shape(), out.shape());
    arrays::require_writeable(op_name, out);
    bool all_scalars = true;
    for (const Operand& o : operands) all_scalars &= !o.array();
    std::optional<Array> noted;                    // what notes floating-point errors is recorded once, so that each is told once
    if (all_scalars && Queue().impl() != queue) {  // numbers are computed with on the default queue: before the lock is taken
        noted = arrays::record(op, operands, dtype).to_queue(out.queue());
        arrays::arrive(*noted);
    }
    std::lock_guard guard(graph::state_of(queue).lock);
    const auto record = [&] {
        if (noted) return *noted;
        Array value = op == Op::power && where ? where_power(operands, *where, dtype) : arrays::record(op, operands, dtype);
        if (arrays::float_errors_wanted()) noted = value;
        return value;
    };
    store_recorded(op_name, out, record, can_be_repeated(operands), where);
}

void apply_inplace(int id, Array& x, const Operand& y) {
    const Operand operands[] = {x, y};
    graph::check_row("apply", id, 2);
    const Op op = static_cast<Op>(id);
    const char* op_name = graph::name(op);
    if (x.is_scalar_value()) {  // a number of its own: binds a new one, of whatever dtype and shape comes out
        x = arrays::record(op, operands);
        return;
    }
    if (y.array() && any_follows(std::span(&y, 1), nullptr, x.node()->queue.get())) [[unlikely]]
        return apply_inplace(id, x, arrays::following(*y.array(), x.node()->queue.get(), op_name));
    device::Queue* queue = arrays::common_queue(op_name, operands);
    graph::check_output_cast(op_name, arrays::infer(op, operands, {}).result, x.dtype());
    check_output_shape(op_name, operands, x.shape());
    std::lock_guard guard(graph::state_of(queue).lock);
    const bool rebinds = unshared(*x.node());
    if (!rebinds || !x.pending() || x.node()->read_only) arrays::require_writeable(op_name, x);
    Array value = arrays::record(op, operands);
    if (rebinds && value.node()->shape == x.node()->shape) {
        x = arrays::cast(value, x.dtype());
    } else {
        const auto record = [&] { return value.node() ? std::exchange(value, Array()) : arrays::record(op, operands); };
        store_recorded(op_name, x, record, can_be_repeated(operands), nullptr);
    }
}

}  // namespace pardo
