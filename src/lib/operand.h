// src/lib/operand.h: from arrays to the memory that routines work on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "graph/record.h"
#include "lib/routines.h"

namespace pardo::lib {

/// Throws Error(code, "<op_name>: <text>").
[[noreturn]] void fail(ErrorCode code, const char* op_name, const std::string& text);

/// Forces x and gives its memory, whatever its strides. Does not wait.
Memory memory_of(const Array& x);
/// Row-major memory with x's values in `dtype`.
Memory contiguous_memory(const Array& x, std::optional<DType> dtype = {});
/// What memory_of will give for the input of a call, without the memory itself.
Memory described(const graph::CallInput& x);
/// Row-major memory that is still to be.
Memory described(DType dtype, Shape shape);
/// A fresh array and its memory; `op_name` is told when there is not so much.
struct Output {
    Array array;
    Memory memory;
};
Output make_output(const char* op_name, device::Queue* queue, DType dtype, Shape shape, MemoryKind kind);
/// The kind of memory of a result: device > shared > host of what it is computed from; no_kind if that only follows.
template <class... M> MemoryKind kind_of(const M&... memories) { return std::min({memories.buffer->kind_for_results()...}); }
/// Row-major scratch memory for routines, no array.
Memory make_scratch(device::Queue* queue, DType dtype, std::int64_t count);
Memory make_scratch_bytes(device::Queue* queue, std::int64_t bytes);

/// The queue of all operands (Placement error if they differ).
template <class... A> device::Queue* queue_of(const char* op_name, const A&... arrays) {
    const Array* list[] = {&arrays...};
    return graph::common_queue(op_name, list);
}

/// Gives `check` a byte that the device computes, when it is there, on a host task of the queue. What reads `values` waits for that, and
/// fails where `check` throws.
void check_later(device::Queue* queue, const char* op_name, const Memory& values, const Memory& byte,
                 std::function<void(std::uint8_t)> check);

/// The lines of a shape along an axis.
Lines lines_of(Extents shape, int axis);
Shape shape_of(const Array& x);
/// x as a 1-d array, in row-major order.
Array flatten(const Array& x);
/// AxisError's text: "sort: axis 3 is out of bounds for array of dimension 2".
int checked_axis(const char* op_name, std::int64_t axis, int rank);
/// Throws Index unless the dtype is an integer one.
void require_integers(const char* op_name, DType dtype);

}  // namespace pardo::lib
