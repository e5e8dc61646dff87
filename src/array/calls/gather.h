// src/array/calls/gather.h: advanced indexing: reading and writing the elements that index arrays or a mask name.
#pragma once

#include <span>

#include <pardo/array.h>

namespace pardo::arrays {

/// Elements of `base` at integer indices along `axes` (distinct, in [0, ndim), one for each index array). Result shape: the broadcast
/// shape of the indices, then the axes of base that are not in `axes`, in order. Negative indices wrap. Asynchronous: indices that are out
/// of bounds are found where they live, and the next wait throws Index as NumPy does.
Array gather(const Array& base, std::span<const Array> indices, std::span<const int> axes);

/// Writes `value`, broadcast to the shape that gather would give and cast to base's dtype, to those elements; of duplicates the last wins.
/// Nothing is written if an index is out of bounds.
void scatter(const Array& base, std::span<const Array> indices, std::span<const int> axes, const Array& value);

/// Elements of x where `mask` (Bool, x's shape) is true, in row-major order, as a 1-d array; waits for their number.
Array compress(const Array& x, const Array& mask);

/// NumPy's x[mask] = value for a mask of x's shape: 0-d or 1-d values of size one go everywhere, other 1-d ones are used up in row-major
/// order. Throws Value when their number differs from that of the true elements, as NumPy does.
void put_mask(const Array& x, const Array& mask, const Array& value);

}  // namespace pardo::arrays
