// src/array/calls/accumulate.cpp: rows of two operands that are applied in place, once for each time that an index names an element.
#include <pardo/ops.h>

#include <pardo/binding/rows.h>

#include "array/operand.h"
#include "array/write_hazards.h"
#include "graph/overlap.h"

namespace pardo {

namespace {

using graph::Op;

/// The row that is applied: what is subtracted is added with the other sign.
Op applied(int id) { return static_cast<Op>(id) == Op::subtract ? Op::add : static_cast<Op>(id); }

}  // namespace

bool accumulates_at(int id, const Array& target) {
    graph::check_row("accumulate_at", id, 2);
    const routines::Memory memory = arrays::memory_of(target);
    const Strides contiguous = contiguous_strides(memory.shape);
    if (!std::ranges::equal(memory.strides, contiguous)) return false;
    const routines::Memory places = routines::described(DType::Int64, Shape{1}), values = routines::described(memory.dtype, Shape{1});
    return !routines::accumulate_at.describe(arrays::queue_of("accumulate_at", target), applied(id), memory, places, values, {})
                .name.empty();
}

void accumulate_at(int id, const Array& target, const Array& places, const Array& values, bool inside) {
    const char* op_name = graph::op_row(static_cast<Op>(id)).name;
    device::Queue* queue = arrays::queue_of(op_name, target, places, values);
    const routines::Memory memory = arrays::writable_memory(op_name, target);
    if (places.size() == 0) return;
    routines::Memory positions = arrays::contiguous_memory(places, DType::Int64);
    if (graph::may_overlap(positions, memory)) positions = arrays::detached_memory(places, DType::Int64, memory);
    // In the target's dtype, as the row computes: what is negated in a narrower or an unsigned one would wrap there.
    const bool negated = static_cast<Op>(id) == Op::subtract;
    const Array terms = negated ? negative(values.astype(target.dtype(), false)) : values;
    const routines::Memory second = arrays::detached_memory(terms, target.dtype(), memory);
    routines::Bounds bounds{op_name, {}};
    if (!inside) bounds.rows.push_back({positions, memory.size(), 0});
    const arrays::PendingWrite write(queue, memory);
    routines::accumulate_at(queue, applied(id), memory, positions, second, bounds);
}

}  // namespace pardo
