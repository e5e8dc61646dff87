// src/routines/memory.h: the memory that routines work on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "base/shape.h"
#include "device/device.h"
#include "graph/call.h"

namespace pardo::routines {

/// Throws Error(code, "<op_name>: <text>").
[[noreturn]] void fail(ErrorCode code, const char* op_name, const std::string& text);

/// Memory of a forced array: what a routine reads or writes.
struct Memory {
    Ref<device::Buffer> buffer;
    DType dtype = DType::Float64;
    Shape shape;
    Strides strides;          // elements
    std::int64_t offset = 0;  // elements

    std::int64_t size() const { return element_count(shape); }
    std::int64_t nbytes() const { return size() * itemsize(dtype); }
    /// Address of the first element, as the device sees it.
    char* address() const { return static_cast<char*>(buffer->data()) + offset * itemsize(dtype); }
    explicit operator bool() const { return static_cast<bool>(buffer); }
    /// As work uses it; points to the shape.
    device::View view() const { return {offset * itemsize(dtype), itemsize(dtype), shape, strides, 0}; }
};
/// How work uses memory, without a pointer to it: of strided memory the range from its first byte to its last one, which it does not write
/// whole.
device::BufferUse use_of(const Memory& memory, device::Access access);

/// Row-major memory seen as (outer, length, inner): the lines along one axis.
struct Lines {
    std::int64_t outer = 1, length = 1, inner = 1;
};
/// The lines of a shape along an axis.
Lines lines_of(std::span<const std::int64_t> shape, int axis);
/// The kind of memory of a result: device > shared > host of what it is computed from; no_kind if that only follows.
template <class... M> MemoryKind kind_of(const M&... memories) { return std::min({memories.buffer->kind_for_results()...}); }

/// Row-major scratch memory, no array.
Memory make_scratch(device::Queue* queue, DType dtype, std::int64_t count);
Memory make_scratch_bytes(device::Queue* queue, std::int64_t bytes);
/// The input of a call, without the memory itself.
Memory described(const graph::CallInput& x);
/// Row-major memory that is still to be.
Memory described(DType dtype, Shape shape);

}  // namespace pardo::routines
