// src/routines/memory.cpp: the memory that routines work on.
#include "routines/memory.h"

#include <pardo/error.h>

namespace pardo::routines {

void fail(ErrorCode code, const char* op_name, const std::string& text) { throw Error(code, std::string(op_name) + ": " + text); }

Memory described(const graph::CallInput& x) { return {nullptr, x.node->dtype, x.node->shape, x.strides, 0}; }

Memory described(DType dtype, Shape shape) {
    Strides strides = contiguous_strides(shape);
    return {nullptr, dtype, std::move(shape), std::move(strides), 0};
}

Memory make_scratch(device::Queue* queue, DType dtype, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * static_cast<std::size_t>(itemsize(dtype));
    return {queue->device()->obtain(bytes, MemoryKind::Device, queue), dtype, Shape{count}, Strides{1}, 0};
}

Memory make_scratch_bytes(device::Queue* queue, std::int64_t bytes) { return make_scratch(queue, DType::UInt8, bytes); }

Lines lines_of(std::span<const std::int64_t> shape, int axis) {
    Lines lines;
    for (int d = 0; d < axis; ++d) lines.outer *= shape[static_cast<std::size_t>(d)];
    lines.length = shape[static_cast<std::size_t>(axis)];
    for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) lines.inner *= shape[d];
    return lines;
}

device::BufferUse use_of(const Memory& memory, device::Access access) {
    const device::ByteRegion region(memory.view(), memory.buffer->bytes());
    const device::ByteRange bounds = region.bounds();
    if (access == device::Access::Write && !region.dense()) access = device::Access::WriteSome;
    return {memory.buffer.get(), access,
            device::View::bytes(static_cast<std::size_t>(bounds.begin), static_cast<std::size_t>(bounds.end - bounds.begin))};
}

}  // namespace pardo::routines
