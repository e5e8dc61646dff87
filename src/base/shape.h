// src/base/shape.h: shapes and strides (in elements), and the arithmetic on them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/small_vector.h"

namespace pardo {

/// Extents, outermost first; at most 32 of them.
using Shape = SmallVector<std::int64_t, 4>;
/// Steps in elements, one for each extent; may be zero (broadcast) or negative.
using Strides = SmallVector<std::int64_t, 4>;
inline constexpr int max_rank = 32;

/// Product of the extents; throws Memory on overflow of int64, as "<op_name>: …".
std::int64_t element_count(std::span<const std::int64_t> shape, const char* op_name = "array");
/// Throws Value as "<op_name>: …" when an array would have more than max_rank dimensions.
void check_rank(const char* op_name, std::size_t rank);
/// Row-major strides.
Strides contiguous_strides(std::span<const std::int64_t> shape);
/// True if row-major contiguous (extents of one and empty arrays count as contiguous).
bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
/// Grows `shape` by the extents of one more operand, by NumPy's rule; false when they disagree.
[[nodiscard]] bool broadcast_into(Shape& shape, std::span<const std::int64_t> more);
/// True when values of shape `from` can be repeated to fill `to`, which does not grow.
bool broadcasts_to(std::span<const std::int64_t> from, std::span<const std::int64_t> to);
/// NumPy's broadcast of two shapes; throws Value as "<op_name>: …".
Shape broadcast(const char* op_name, std::span<const std::int64_t> a, std::span<const std::int64_t> b);
/// "(3, 4)" as Python prints a tuple.
std::string to_string(std::span<const std::int64_t> shape);
/// Axis in [-rank, rank) to [0, rank); throws Value (NumPy's AxisError is one) as "<op_name>: …".
int normalize_axis(const char* op_name, std::int64_t axis, int rank);

}  // namespace pardo
