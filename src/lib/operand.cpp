// src/lib/operand.cpp: from arrays to the memory that routines work on.
#include "lib/operand.h"

#include <algorithm>

#include <pardo/ops.h>

namespace pardo::lib {

void fail(ErrorCode code, const char* op_name, const std::string& text) { throw Error(code, std::string(op_name) + ": " + text); }

Memory memory_of(const Array& x) {
    graph::ensure_leaf(x);
    const graph::Node* node = x.node();
    return {node->buffer, node->dtype, node->shape, node->strides, node->offset};
}

Memory contiguous_memory(const Array& x, std::optional<DType> dtype) { return memory_of(graph::as_contiguous(x, dtype)); }

Memory described(const graph::CallInput& x) { return {nullptr, x.node->dtype, x.node->shape, x.strides, 0}; }

Memory described(DType dtype, Shape shape) {
    Strides strides = contiguous_strides(shape);
    return {nullptr, dtype, std::move(shape), std::move(strides), 0};
}

Output make_output(const char* op_name, device::Queue* queue, DType dtype, Shape shape, MemoryKind kind) {
    Array array = graph::make_empty(queue, dtype, std::move(shape), op_name, kind);
    Memory memory = memory_of(array);
    return {std::move(array), std::move(memory)};
}

Memory make_scratch(device::Queue* queue, DType dtype, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * static_cast<std::size_t>(itemsize(dtype));
    return {queue->device()->obtain(bytes, MemoryKind::Device, queue), dtype, Shape{count}, Strides{1}, 0};
}

Memory make_scratch_bytes(device::Queue* queue, std::int64_t bytes) { return make_scratch(queue, DType::UInt8, bytes); }

Lines lines_of(Extents shape, int axis) {
    Lines lines;
    for (int d = 0; d < axis; ++d) lines.outer *= shape[static_cast<std::size_t>(d)];
    lines.length = shape[static_cast<std::size_t>(axis)];
    for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) lines.inner *= shape[d];
    return lines;
}

Shape shape_of(const Array& x) { return Shape(x.shape()); }

Array flatten(const Array& x) {
    const std::int64_t all[] = {x.size()};
    return reshape(x, all);
}

int checked_axis(const char* op_name, std::int64_t axis, int rank) {
    if (axis < -rank || axis >= rank)
        fail(ErrorCode::Axis, op_name, "axis " + std::to_string(axis) + " is out of bounds for array of dimension " + std::to_string(rank));
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

device::BufferUse use_of(const Memory& memory, device::Access access) {
    const device::Region region(memory.view(), memory.buffer->bytes());
    const device::ByteRange bounds = region.bounds();
    if (access == device::Access::Write && !region.dense()) access = device::Access::WriteSome;
    return {memory.buffer.get(), access,
            device::View::bytes(static_cast<std::size_t>(bounds.begin), static_cast<std::size_t>(bounds.end - bounds.begin))};
}

void require_integers(const char* op_name, DType dtype) {
    if (!is_integer(dtype)) fail(ErrorCode::Index, op_name, "indices must be integers, got an array of " + std::string(dtype_name(dtype)));
}

void fail_bounds(const Bounds& bounds, const Bounds::Row& row, std::int64_t index) {
    fail(ErrorCode::Index, bounds.op_name,
         "index " + std::to_string(index) + " is out of bounds for axis " + std::to_string(row.axis) + " with size " +
             std::to_string(row.size));
}

void fail_matrix(const char* op_name, const char* reason, const Shape& batch, std::int64_t index, const Text& place) {
    std::string matrix;
    for (int d = batch.size() - 1; d >= 0; --d) {
        if (!matrix.empty()) matrix.insert(0, ", ");
        matrix.insert(0, std::to_string(index % batch[d]));
        index /= batch[d];
    }
    std::string text = reason;
    if (batch.size() == 1) text += " (matrix " + matrix + " of the stack)";
    if (batch.size() > 1) text += " (matrix (" + matrix + ") of the stack)";
    if (!place.empty()) text += " (at " + place.str() + ")";
    fail(ErrorCode::Matrix, op_name, text);
}

void check_later(device::Queue* queue, const char* op_name, const Memory& values, const Memory& byte,
                 std::function<void(std::uint8_t)> check) {
    const device::BufferUse uses[] = {{byte.buffer.get(), device::Access::Read, byte.view()},
                                      {values.buffer.get(), device::Access::ReadWrite, values.view()}};
    const auto task = [queue, byte, check = std::move(check)] {
        std::uint8_t found = 0;
        if (byte.buffer->host_visible()) {
            found = *reinterpret_cast<const std::uint8_t*>(byte.address());
        } else {
            queue->fetch(&found, byte.buffer.get(), static_cast<std::size_t>(byte.offset), 1);
        }
        check(found);
    };
    queue->host_task(task, uses, device::Label{op_name, device::current_location()}, 50);
}

}  // namespace pardo::lib
