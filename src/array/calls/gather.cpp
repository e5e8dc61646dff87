// src/array/calls/gather.cpp: gather, scatter, take, take_along_axis.
#include "array/calls/gather.h"

#include <vector>

#include "array/operand.h"
#include "array/write_hazards.h"
#include "graph/overlap.h"

namespace pardo {

namespace arrays {

namespace {

/// The common shape of index arrays; throws Index as NumPy does.
Shape broadcast_indices(const char* op_name, std::span<const Array> indices) {
    Shape shape = shape_of(indices[0]);
    try {
        for (const Array& index : indices.subspan(1)) shape = broadcast(op_name, shape, index.shape());
    } catch (const Error&) {
        std::string text = "shape mismatch: indexing arrays could not be broadcast together with shapes";
        for (const Array& index : indices) text += " " + to_string(index.shape());
        fail(ErrorCode::Index, op_name, text);
    }
    return shape;
}

/// Indices as Int64 memory of one shape, and what is to be checked before they are used.
std::vector<Memory> prepare_indices(const char* op_name, const Array& base, std::span<const Array> indices, std::span<const int> axes,
                                    const Shape& shape, Bounds& bounds) {
    std::vector<Memory> memories;
    bounds.op_name = op_name;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        require_integers(op_name, indices[k].dtype());
        const bool whole = std::ranges::equal(indices[k].shape(), static_cast<Extents>(shape));
        // Checked as they are before broadcasting: the fewest elements.
        Memory memory = contiguous_memory(indices[k], DType::Int64);
        if (element_count(shape) > 0) bounds.rows.push_back({memory, base.shape()[static_cast<std::size_t>(axes[k])], axes[k]});
        if (!whole) memory = contiguous_memory(broadcast_to(indices[k], shape), DType::Int64);
        memories.push_back(std::move(memory));
    }
    return memories;
}

std::int64_t bytes_of(const Memory& base, std::span<const Memory> positions) {
    std::int64_t bytes = base.nbytes();
    for (const Memory& p : positions) bytes += p.nbytes();
    return bytes;
}

/// The plan for indexing `axes`; axes of base before `split` come before the indices in the result, the other ones after.
GatherPlan make_plan(const Memory& base, std::span<const int> axes, std::int64_t count, int split, Bounds bounds) {
    GatherPlan plan;
    plan.bounds = std::move(bounds);
    plan.count = count;
    for (const int axis : axes) {
        plan.steps.push_back(base.strides[axis]);
        plan.sizes.push_back(base.shape[axis]);
    }
    for (int d = 0; d < base.shape.size(); ++d) {
        if (std::ranges::find(axes, d) != axes.end()) continue;
        (d < split ? plan.outer : plan.inner).push_back(base.shape[d]);
        (d < split ? plan.outer_strides : plan.inner_strides).push_back(base.strides[d]);
    }
    return plan;
}

/// The shape of what the indices name; `split` as in make_plan.
Shape result_shape(const Array& base, std::span<const int> axes, const Shape& index_shape, int split) {
    Shape before, after;
    for (int d = 0; d < base.ndim(); ++d) {
        if (std::ranges::find(axes, d) == axes.end()) (d < split ? before : after).push_back(base.shape()[static_cast<std::size_t>(d)]);
    }
    Shape shape = before;
    shape.append(index_shape.begin(), index_shape.end());
    shape.append(after.begin(), after.end());
    return shape;
}

device::Queue* common_queue_of(const char* op_name, const Array& base, std::span<const Array> indices) {
    device::Queue* queue = queue_of(op_name, base);
    for (const Array& index : indices) queue = queue_of(op_name, base, index);
    return queue;
}

Array gather_from(const char* op_name, const Array& base, std::span<const Array> indices, std::span<const int> axes, int split);

/// An empty result whose indices name elements of other axes: they are looked through all the same, and the result fails where one is out
/// of bounds. It lies in the memory of what a gather from single elements in place of the empty axes gives.
Array checked_nothing(const char* op_name, const Array& base, std::span<const Array> indices, std::span<const int> axes,
                      const Output& out) {
    Shape extents;
    std::vector<int> all;
    for (const int axis : axes) {
        all.push_back(extents.size());
        extents.push_back(base.shape()[static_cast<std::size_t>(axis)]);
    }
    const Array one = empty({}, DType::Bool, base.queue());
    const Array probe = gather_from(op_name, broadcast_to(one, extents), indices, all, 0);
    const graph::Node& leaf = *probe.node();
    return Array(graph::make_leaf(leaf.queue, base.dtype(), out.memory.shape, out.memory.strides, 0, leaf.buffer).get());
}

Array gather_from(const char* op_name, const Array& base, std::span<const Array> indices, std::span<const int> axes, int split) {
    device::Queue* queue = common_queue_of(op_name, base, indices);
    const Shape index_shape = broadcast_indices(op_name, indices);
    Bounds bounds;
    const std::vector<Memory> positions = prepare_indices(op_name, base, indices, axes, index_shape, bounds);
    const Memory source = memory_of(base);
    MemoryKind kind = kind_of(source);
    for (const Memory& p : positions) kind = std::min(kind, kind_of(p));
    const Output out = make_output(op_name, queue, base.dtype(), result_shape(base, axes, index_shape, split), kind);
    if (out.memory.size() == 0) return bounds.rows.empty() ? out.array : checked_nothing(op_name, base, indices, axes, out);
    const GatherPlan plan = make_plan(source, axes, element_count(index_shape), split, std::move(bounds));
    routines::gather.ask(op_name, bytes_of(source, positions), queue, source, positions, plan, out.memory);
    routines::gather(queue, source, positions, plan, out.memory);
    return out.array;
}

}  // namespace

Array gather(const Array& base, std::span<const Array> indices, std::span<const int> axes) {
    return gather_from("x[...]", base, indices, axes, 0);
}

void scatter(const Array& base, std::span<const Array> indices, std::span<const int> axes, const Array& value) {
    const char* op_name = "x[...] = value";
    device::Queue* queue = common_queue_of(op_name, base, indices);
    queue_of(op_name, base, value);
    const Shape index_shape = broadcast_indices(op_name, indices);
    const Shape shape = result_shape(base, axes, index_shape, 0);
    Array source = value;
    if (value.size() != 1 || value.ndim() > shape.size()) {
        // NumPy drops leading dimensions of one from the value.
        while (source.ndim() > shape.size() && source.shape()[0] == 1) {
            const std::int64_t first[] = {0};
            source = squeeze(source, std::vector<std::int64_t>(std::begin(first), std::end(first)));
        }
        bool fits = source.ndim() <= shape.size();
        for (int d = 1; fits && d <= source.ndim(); ++d) {
            const std::int64_t have = source.shape()[static_cast<std::size_t>(source.ndim() - d)];
            fits = have == 1 || have == shape[shape.size() - d];
        }
        if (!fits)
            fail(ErrorCode::Value, op_name,
                 "shape mismatch: value array of shape " + to_string(value.shape()) +
                     " could not be broadcast to indexing result of shape " + to_string(shape));
        if (source.size() != 1) source = broadcast_to(source, shape);
    }
    const Memory target = writable_memory(op_name, base);
    Bounds bounds;
    std::vector<Memory> positions = prepare_indices(op_name, base, indices, axes, index_shape, bounds);
    if (element_count(shape) == 0) {
        if (!bounds.rows.empty()) (void)gather_from(op_name, base, indices, axes, 0);
        return;
    }
    for (std::size_t k = 0; k < positions.size(); ++k) {
        if (!graph::may_overlap(positions[k], target)) continue;
        positions[k] = detached_memory(broadcast_to(indices[k], index_shape), DType::Int64, target);
        bounds.rows[k].indices = positions[k];
    }
    const Memory memory = detached_memory(source, base.dtype(), target);
    const GatherPlan plan = make_plan(target, axes, element_count(index_shape), 0, std::move(bounds));
    routines::scatter.ask(op_name, bytes_of(target, positions) + memory.nbytes(), queue, target, positions, plan, memory);
    const PendingWrite write(queue, target);
    routines::scatter(queue, target, positions, plan, memory);
}

}  // namespace arrays

Array take(const Array& x, const Array& indices, std::optional<std::int64_t> axis) {
    const char* op_name = "take";
    if (!axis) return take(arrays::flatten(x), indices, 0);
    if (x.ndim() == 0) return take(arrays::flatten(x), indices, arrays::checked_axis(op_name, *axis, 1));
    if (!is_integer(indices.dtype()) && indices.size() > 0)
        routines::fail(ErrorCode::Type, op_name,
                       "Cannot cast array data from dtype('" + std::string(dtype_name(indices.dtype())) +
                           "') to dtype('int64') according to the rule 'safe'");
    const int at = arrays::checked_axis(op_name, *axis, x.ndim());
    const int axes[] = {at};
    const Array positions = is_integer(indices.dtype()) ? indices : indices.astype(DType::Int64);
    return arrays::gather_from(op_name, x, std::span(&positions, 1), axes, at);
}

Array take_along_axis(const Array& x, const Array& indices, std::int64_t axis) {
    const char* op_name = "take_along_axis";
    device::Queue* queue = arrays::queue_of(op_name, x, indices);
    if (!is_integer(indices.dtype())) routines::fail(ErrorCode::Index, op_name, "`indices` must be an integer array");
    if (x.ndim() != indices.ndim())
        routines::fail(ErrorCode::Value, op_name, "`indices` and `arr` must have the same number of dimensions");
    const int at = arrays::checked_axis(op_name, axis, x.ndim());
    // All axes but `axis` are broadcast together.
    Shape x_shape = arrays::shape_of(x), index_shape = arrays::shape_of(indices);
    const std::int64_t length = x_shape[at], count = index_shape[at];
    x_shape[at] = index_shape[at] = 1;
    const Shape common = broadcast(op_name, x_shape, index_shape);
    x_shape = index_shape = common;
    x_shape[at] = length;
    index_shape[at] = count;
    const routines::Memory positions = arrays::contiguous_memory(broadcast_to(indices, index_shape), DType::Int64);
    const arrays::Output out =
        arrays::make_output(op_name, queue, x.dtype(), index_shape, routines::kind_of(arrays::memory_of(x), positions));
    if (out.memory.size() == 0) return out.array;
    const routines::Memory source = arrays::contiguous_memory(broadcast_to(x, x_shape));
    const routines::Bounds bounds{op_name, {{positions, length, at}}};
    const routines::Lines lines = routines::lines_of(x_shape, at);
    routines::take_along_axis.ask(op_name, source.nbytes() + positions.nbytes(), queue, source, positions, out.memory, lines, count,
                                  bounds);
    routines::take_along_axis(queue, source, positions, out.memory, lines, count, bounds);
    return out.array;
}

}  // namespace pardo
