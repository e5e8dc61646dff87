// src/plan/group/access.cpp: affine maps from a group's index space to the index of a value.
#include "plan/group/access.h"

namespace pardo::plan {

void Map::copy_row(int row, const Map& from, int from_row) {
    for (int d = 0; d <= dims_; ++d) cells_[row * (dims_ + 1) + d] = from.cells_[from_row * (dims_ + 1) + d];
}

void Map::clear_row(int row) {
    for (int d = 0; d <= dims_; ++d) cells_[row * (dims_ + 1) + d] = 0;
}

bool align(std::span<const Size> shape, std::span<const Size> domain, std::uint32_t use, Map& out) {
    const int rank = static_cast<int>(shape.size()), dims = static_cast<int>(domain.size());
    out = Map(rank, dims);
    int d = 0;
    for (int r = 0; r < rank; ++r) {
        if (shape[r] == 1) continue;
        while (d < dims && (domain[d] == 1 || !(use >> d & 1))) ++d;
        if (d == dims || domain[d] != shape[r]) return false;
        out.coefficient(r, d++) = 1;
    }
    for (; d < dims; ++d) {
        if (domain[d] != 1 && (use >> d & 1)) return false;
    }
    return true;
}

Map broadcast_input(const Map& node, std::span<const Size> to, std::span<const Size> from) {
    const int shift = static_cast<int>(to.size()) - static_cast<int>(from.size());
    Map map(static_cast<int>(from.size()), node.dims());
    for (int r = 0; r < map.rank(); ++r) {
        if (from[r] != 1) map.copy_row(r, node, r + shift);
    }
    return map;
}

Map through_view(const Map& node, const graph::ViewMap& view, std::span<const Size> base_shape) {
    Map map(static_cast<int>(base_shape.size()), node.dims());
    for (int r = 0; r < map.rank(); ++r) map.offset(r) = Size::given(view.offsets[r]);
    for (const graph::ViewMap::Term& term : view.terms) {
        const Size step = Size::given(term.step);
        for (int d = 0; d < node.dims(); ++d) map.coefficient(term.base_dim, d) += step * node.coefficient(term.source, d);
        map.offset(term.base_dim) += step * node.offset(term.source);
    }
    for (int r = 0; r < map.rank(); ++r) {
        if (base_shape[r] == 1) map.clear_row(r);
    }
    return map;
}

Steps steps_of(const Map& map, std::span<const Size> strides) {
    Steps steps;
    steps.dims.assign(map.dims(), 0);
    for (int r = 0; r < map.rank(); ++r) {
        for (int d = 0; d < map.dims(); ++d) steps.dims[d] += map.coefficient(r, d) * strides[r];
        steps.offset += map.offset(r) * strides[r];
    }
    return steps;
}

std::uint32_t used_dims(const Map& map) {
    std::uint32_t used = 0;
    for (int r = 0; r < map.rank(); ++r) {
        for (int d = 0; d < map.dims(); ++d) {
            if (map.coefficient(r, d) != 0) used |= 1u << d;
        }
    }
    return used;
}

}  // namespace pardo::plan
