// src/array/operand.cpp: from arrays to the memory that routines work on.
#include "array/operand.h"

#include <pardo/ops.h>

namespace pardo::arrays {

Memory memory_of(const Array& x) {
    arrays::ensure_leaf(x);
    const graph::Node* node = x.node();
    return {node->buffer, node->dtype, node->shape, node->strides, node->offset};
}

Memory contiguous_memory(const Array& x, std::optional<DType> dtype) { return memory_of(arrays::as_contiguous(x, dtype)); }

Output make_output(const char* op_name, device::Queue* queue, DType dtype, Shape shape, MemoryKind kind) {
    Array array = arrays::make_empty(queue, dtype, std::move(shape), op_name, kind);
    Memory memory = memory_of(array);
    return {std::move(array), std::move(memory)};
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

void require_integers(const char* op_name, DType dtype) {
    if (!is_integer(dtype)) fail(ErrorCode::Index, op_name, "indices must be integers, got an array of " + std::string(dtype_name(dtype)));
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

}  // namespace pardo::arrays
