// src/array/views/views.h: builds affine views, whether their base is memory or still pending.
// This folder: the public functions on arrays, each recorded by the functions of src/graph.
#pragma once

#include <cstdint>
#include <span>

#include <pardo/array.h>

#include "array/record.h"

namespace pardo::arrays {

/// A view under construction: dimensions are appended from the left, and each says where in the base it goes.
class ViewBuilder {
public:
    explicit ViewBuilder(const Array& base);

    /// A dimension that walks along `base_dim`, `step` of its elements at a time.
    void walk(int base_dim, std::int64_t extent, std::int64_t step = 1);
    /// A dimension of no base dimension: inserted (extent 1) or repeated.
    void repeat(std::int64_t extent);
    /// The newest dimension walks along a second base dimension too: a diagonal.
    void also_walk(int base_dim);
    /// Where in a base dimension the view starts.
    void start(int base_dim, std::int64_t offset) { map_.offsets[base_dim] += offset; }
    int rank() const { return shape_.size(); }
    /// Shows one part of complex elements: 0 the real one, 1 the imaginary one.
    void part(int which) { map_.part = which; }

    Array finish(const char* op_name);

private:
    const Array& base_;
    Shape shape_;
    ViewMap map_;
};

/// Axes as a bit set; throws Value on a repeated or impossible one.
std::uint32_t axis_set(const char* op_name, std::span<const std::int64_t> axes, int rank);

/// Column-major without gaps, as is_contiguous is row-major.
bool is_column_major(Extents shape, Extents strides);

/// The strides of `to` over memory that `from` and `strides` describe, or false when they cannot express it.
bool reshape_strides(const Shape& from, const Strides& strides, const Shape& to, Strides& result);

}  // namespace pardo::arrays
