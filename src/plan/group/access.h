// src/plan/group/access.h: affine maps from a group's index space to the index of a value.
#pragma once

#include <cstdint>
#include <span>

#include "graph/node.h"
#include "plan/size.h"

namespace pardo::plan {

/// node index[r] = sum over domain dims d of coefficient(r, d) * domain index[d], plus offset(r).
/// Kept normal: coefficients of one-sized domain dims, and whole rows of one-sized node dims, are zero. So equal maps compare equal.
class Map {
public:
    Map() = default;
    Map(int rank, int dims) : rank_(rank), dims_(dims), cells_(rank * (dims + 1), 0) {}

    int rank() const { return rank_; }
    int dims() const { return dims_; }
    Size& coefficient(int row, int dim) { return cells_[row * (dims_ + 1) + dim]; }
    Size coefficient(int row, int dim) const { return cells_[row * (dims_ + 1) + dim]; }
    Size& offset(int row) { return cells_[row * (dims_ + 1) + dims_]; }
    Size offset(int row) const { return cells_[row * (dims_ + 1) + dims_]; }
    void copy_row(int row, const Map& from, int from_row);
    void clear_row(int row);
    friend bool operator==(const Map& a, const Map& b) { return a.rank_ == b.rank_ && a.dims_ == b.dims_ && a.cells_ == b.cells_; }

private:
    int rank_ = 0, dims_ = 0;
    SmallVector<Size, 12> cells_;
};

/// Pairs the dims of `shape` that are not one, in order, with those domain dims that `use` selects and are not one; false when they differ.
bool align(std::span<const Size> shape, std::span<const Size> domain, std::uint32_t use, Map& out);
/// Map of an input that is broadcast to a node of shape `to` (right-aligned), given the node's map.
Map broadcast_input(const Map& node, std::span<const Size> to, std::span<const Size> from);
/// Map of a view's base, given the view's map.
Map through_view(const Map& node, const graph::ViewMap& view, std::span<const Size> base_shape);

/// Element steps of memory with `strides` under a map: one for each domain dim, and the constant part.
struct Steps {
    Sizes dims;
    Size offset = 0;
    friend bool operator==(const Steps& a, const Steps& b) { return a.dims == b.dims && a.offset == b.offset; }
};
Steps steps_of(const Map& map, std::span<const Size> strides);
/// Domain dims that a map depends on.
std::uint32_t used_dims(const Map& map);

}  // namespace pardo::plan
