// src/array/operand.h: from arrays to the memory that routines work on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "array/call.h"
#include "array/record.h"
#include "routines/routines.h"

namespace pardo::arrays {

using routines::Bounds;
using routines::described;
using routines::fail;
using routines::GatherPlan;
using routines::kind_of;
using routines::Lines;
using routines::lines_of;
using routines::make_scratch;
using routines::MatrixOptions;
using routines::MatrixRoutine;
using routines::Memory;
using routines::Question;
using routines::use_of;

/// Forces x and gives its memory, whatever its strides. Does not wait.
Memory memory_of(const Array& x);
/// Row-major memory with x's values in `dtype`.
Memory contiguous_memory(const Array& x, std::optional<DType> dtype = {});
/// A fresh array and its memory; `op_name` begins the message when memory does not suffice.
struct Output {
    Array array;
    Memory memory;
};
Output make_output(const char* op_name, device::Queue* queue, DType dtype, Shape shape, MemoryKind kind);
/// The queue of all operands (Placement error if they differ).
template <class... A> device::Queue* queue_of(const char* op_name, const A&... arrays) {
    const Array* list[] = {&arrays...};
    return common_queue(op_name, list);
}

/// Gives `check` a byte that the device computes, when it is there, on a host task of the queue. What reads `values` waits for that, and
/// fails where `check` throws.
void check_later(device::Queue* queue, const char* op_name, const Memory& values, const Memory& byte,
                 std::function<void(std::uint8_t)> check);

Shape shape_of(const Array& x);
/// x as a 1-d array, in row-major order.
Array flatten(const Array& x);
/// AxisError's text: "sort: axis 3 is out of bounds for array of dimension 2".
int checked_axis(const char* op_name, std::int64_t axis, int rank);
/// Throws Index unless the dtype is an integer one.
void require_integers(const char* op_name, DType dtype);

}  // namespace pardo::arrays
