// src/lib/sorting.cpp: sort, argsort, partition, argpartition, top_k.
#include <algorithm>
#include <vector>

#include "lib/operand.h"

namespace pardo {

namespace {

enum class Result : std::uint8_t { Values, Indices };

/// One array of x's shape for what is asked, the other memory absent.
struct Outputs {
    lib::Output wanted;
    lib::Memory values, indices;
};
Outputs make_outputs(device::Queue* queue, Result result, DType dtype, const Shape& shape, MemoryKind kind) {
    Outputs out;
    out.wanted = lib::make_output(queue, result == Result::Values ? dtype : DType::Int64, shape, kind);
    (result == Result::Values ? out.values : out.indices) = out.wanted.memory;
    return out;
}

Array sorted(const char* who, Result result, const Array& x, std::int64_t axis, bool descending) {
    if (x.ndim() == 0) lib::fail(ErrorCode::Axis, who, "axis " + std::to_string(axis) + " is out of bounds for array of dimension 0");
    const int at = lib::checked_axis(who, axis, x.ndim());
    device::Queue* queue = lib::queue_of(who, x);
    const lib::Memory input = lib::contiguous_memory(x);
    const Outputs out = make_outputs(queue, result, x.dtype(), lib::shape_of(x), lib::kind_of(input));
    if (input.size() > 0)
        lib::routines_for(who, queue).sort(queue, input, out.values, out.indices, lib::lines_of(input.shape, at), descending);
    return out.wanted.array;
}

Array partitioned(const char* who, Result result, const Array& x, Extents kth, std::int64_t axis) {
    const int at = lib::checked_axis(who, axis, x.ndim());
    const std::int64_t length = x.shape()[static_cast<std::size_t>(at)];
    std::vector<std::int64_t> positions;
    for (const std::int64_t k : kth) {
        // NumPy accepts any kth for an axis without elements.
        if (length > 0 && (k < -length || k >= length))
            lib::fail(ErrorCode::Value, who,
                      "kth(=" + std::to_string(k < 0 ? k + length : k) + ") out of bounds (" + std::to_string(length) + ")");
        positions.push_back(k < 0 ? k + length : k);
    }
    std::ranges::sort(positions);
    device::Queue* queue = lib::queue_of(who, x);
    const lib::Memory input = lib::contiguous_memory(x);
    const Outputs out = make_outputs(queue, result, x.dtype(), lib::shape_of(x), lib::kind_of(input));
    if (input.size() > 0)
        lib::routines_for(who, queue).partition(queue, input, out.values, out.indices, lib::lines_of(input.shape, at), positions);
    return out.wanted.array;
}

}  // namespace

// Every sort here is stable, so `stable` asks for nothing more.
Array sort(const Array& x, std::int64_t axis, bool descending, bool) { return sorted("sort", Result::Values, x, axis, descending); }
Array argsort(const Array& x, std::int64_t axis, bool descending, bool) { return sorted("argsort", Result::Indices, x, axis, descending); }

Array partition(const Array& x, Extents kth, std::int64_t axis) { return partitioned("partition", Result::Values, x, kth, axis); }
Array argpartition(const Array& x, Extents kth, std::int64_t axis) { return partitioned("argpartition", Result::Indices, x, kth, axis); }

std::pair<Array, Array> top_k(const Array& x, std::int64_t k, std::int64_t axis, bool largest) {
    const int at = lib::checked_axis("top_k", axis, x.ndim());
    const std::int64_t length = x.shape()[static_cast<std::size_t>(at)];
    if (k < 0 || k > length)
        lib::fail(ErrorCode::Value, "top_k",
                  "k = " + std::to_string(k) + " is not in [0, " + std::to_string(length) + "], the length of axis " + std::to_string(at));
    device::Queue* queue = lib::queue_of("top_k", x);
    const lib::Memory input = lib::contiguous_memory(x);
    Shape shape = lib::shape_of(x);
    shape[at] = k;
    const MemoryKind kind = lib::kind_of(input);
    const lib::Output values = lib::make_output(queue, x.dtype(), shape, kind),
                      indices = lib::make_output(queue, DType::Int64, shape, kind);
    if (values.memory.size() > 0)
        lib::routines_for("top_k", queue).top_k(queue, input, values.memory, indices.memory, lib::lines_of(input.shape, at), k, largest);
    return {values.array, indices.array};
}

}  // namespace pardo
