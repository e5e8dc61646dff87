// src/array/views/views.cpp: arrays that show the memory of others: reshape, transposes, broadcasts, flips, diagonals.
#include "array/views/views.h"

#include <algorithm>
#include <string>

#include <pardo/error.h>
#include <pardo/ops.h>

namespace pardo::arrays {

ViewBuilder::ViewBuilder(const Array& base) : base_(base) { map_.offsets.assign(base.ndim(), 0); }

void ViewBuilder::walk(int base_dim, std::int64_t extent, std::int64_t step) {
    map_.terms.push_back({base_dim, shape_.size(), step});
    shape_.push_back(extent);
}

void ViewBuilder::repeat(std::int64_t extent) { shape_.push_back(extent); }

void ViewBuilder::also_walk(int base_dim) { map_.terms.push_back({base_dim, shape_.size() - 1, 1}); }

Array ViewBuilder::finish(const char* op_name) {
    check_rank(op_name, static_cast<std::size_t>(shape_.size()));
    (void)byte_count(base_.dtype(), shape_, op_name);  // throws beyond int64
    std::lock_guard guard(graph_of(base_).lock);
    Node* base = base_.node();
    Ref<Node> node = make_view(base, std::move(shape_), std::move(map_));
    node->scalar_value = base->scalar_value && node->shape.empty();
    return arrays::finish(std::move(node));
}

std::uint32_t axis_set(const char* op_name, std::span<const std::int64_t> axes, int rank) {
    std::uint32_t set = 0;
    for (const std::int64_t axis : axes) {
        const std::uint32_t bit = 1u << normalize_axis(op_name, axis, rank);
        if (set & bit) throw Error(ErrorCode::Value, std::string(op_name) + ": duplicate value in 'axis'");
        set |= bit;
    }
    return set;
}

bool reshape_strides(const Shape& from, const Strides& strides, const Shape& to, Strides& result) {
    result = contiguous_strides(to);
    if (pardo::is_contiguous(from, strides)) return true;
    // Groups of dimensions with equal products: within each, the old ones must lie at one even distance.
    int i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
        if (i < from.size() && from[i] == 1) {
            ++i;
            continue;
        }
        if (j < to.size() && to[j] == 1) {
            result[j++] = 0;
            continue;
        }
        if (i == from.size() || j == to.size()) return false;
        const int old_first = i, new_first = j;
        std::int64_t old_count = from[i++], new_count = to[j++];
        while (old_count != new_count) {
            if (old_count < new_count) {
                old_count *= from[i++];
            } else {
                new_count *= to[j++];
            }
        }
        int last = old_first;  // the group's newest dimension that is not of extent one
        for (int d = old_first + 1; d < i; ++d) {
            if (from[d] == 1) continue;
            if (strides[last] != strides[d] * from[d]) return false;
            last = d;
        }
        std::int64_t step = strides[last];
        for (int d = j - 1; d >= new_first; --d) {
            result[d] = step;
            step *= to[d];
        }
    }
    return true;
}

namespace {

/// Replaces one -1 by what is left over; throws unless the sizes agree.
Shape resolve_shape(Extents asked, std::int64_t size) {
    Shape shape(asked);
    check_rank("reshape", asked.size());
    const auto mismatch = [&] {
        return Error(ErrorCode::Value, "reshape: cannot reshape array of size " + std::to_string(size) + " into shape " + to_string(asked));
    };
    int unknown = -1;
    for (int d = 0; d < shape.size(); ++d) {
        if (shape[d] >= 0) continue;
        if (shape[d] < -1)
            throw Error(ErrorCode::Value, "reshape: negative dimensions other than -1 are not allowed, got shape " + to_string(asked));
        if (unknown >= 0) throw Error(ErrorCode::Value, "reshape: can only specify one unknown dimension, got shape " + to_string(asked));
        unknown = d;
        shape[d] = 1;
    }
    bool zero = false, overflow = false;
    std::int64_t known = 1;
    for (const std::int64_t extent : shape) {
        zero |= extent == 0;
        overflow |= __builtin_mul_overflow(known, extent, &known);
    }
    if (overflow && !zero) throw mismatch();
    known = zero ? 0 : known;
    if (unknown >= 0) {
        if (known == 0 || size % known != 0) throw mismatch();
        shape[unknown] = size / known;
    } else if (known != size) {
        throw mismatch();
    }
    return shape;
}

/// The view of a pending array, when each old dimension is split or kept; nothing when dimensions would have to be joined.
std::optional<Array> split_view(const Array& x, const Shape& to) {
    ViewBuilder view(x);
    const Extents from = x.shape();
    std::size_t i = 0;
    int j = 0;
    while (j < to.size()) {
        while (i < from.size() && from[i] == 1) ++i;
        if (to[j] == 1) {
            view.repeat(1);
            ++j;
            continue;
        }
        if (i == from.size()) return {};
        std::int64_t left = from[i];
        const int first = j;
        for (std::int64_t product = 1; product < left; product *= to[j++]) {
            if (j == to.size() || left % (product * to[j]) != 0) return {};
        }
        for (int d = first; d < j; ++d) {
            left /= to[d];
            view.walk(static_cast<int>(i), to[d], left);
        }
        ++i;
    }
    while (i < from.size() && from[i] == 1) ++i;
    if (i != from.size()) return {};
    return view.finish("reshape");
}

Array leaf_view(const Array& x, Shape shape, Strides strides) {
    Node& leaf = *x.node();
    return Array(make_leaf_view(&leaf, leaf.dtype, std::move(shape), std::move(strides), leaf.offset).detach(), Array::Adopt{});
}

Array permuted(const char* op_name, const Array& x, std::span<const int> order) {
    ViewBuilder view(x);
    for (const int d : order) view.walk(d, x.shape()[static_cast<std::size_t>(d)]);
    return view.finish(op_name);
}

}  // namespace
}  // namespace pardo::arrays

namespace pardo {

using namespace arrays;

Array reshape(const Array& x, Extents shape, std::optional<bool> copy) {
    if (copy == true) return reshape(x.copy(), shape);
    Shape wanted = resolve_shape(shape, x.size());
    if (wanted == x.node()->shape) return x;
    if (x.pending() && x.size() > 0) {
        if (auto view = split_view(x, wanted)) return *std::move(view);
    }
    ensure_leaf(x);
    Strides strides;
    if (reshape_strides(x.node()->shape, x.node()->strides, wanted, strides)) return leaf_view(x, std::move(wanted), std::move(strides));
    if (copy == false) {
        throw Error(ErrorCode::Value, "reshape: unable to avoid creating a copy while reshaping array of shape " + to_string(x.shape()) +
                                          " into shape " + to_string(shape));
    }
    return leaf_view(as_contiguous(x), wanted, contiguous_strides(wanted));
}

Array permute_dims(const Array& x, Extents axes) {
    const int rank = x.ndim();
    if (static_cast<int>(axes.size()) != rank) {
        throw Error(ErrorCode::Value, "permute_dims: axes don't match array: " + std::to_string(axes.size()) + " axes for " +
                                          std::to_string(rank) + " dimensions");
    }
    SmallVector<int, 8> order;
    std::uint32_t seen = 0;
    for (const std::int64_t axis : axes) {
        const int d = normalize_axis("permute_dims", axis, rank);
        if (seen >> d & 1) throw Error(ErrorCode::Value, "permute_dims: repeated axis in transpose: " + to_string(axes));
        seen |= 1u << d;
        order.push_back(d);
    }
    return permuted("permute_dims", x, order);
}

Array broadcast_to(const Array& x, Extents shape) {
    const Extents from = x.shape();
    const auto mismatch = [&] {
        return Error(ErrorCode::Value,
                     "broadcast_to: operands could not be broadcast together with remapped shapes [original->remapped]: " +
                         to_string(from) + " and requested shape " + to_string(shape));
    };
    if (shape.size() < from.size()) throw mismatch();
    if (std::equal(shape.begin(), shape.end(), from.begin(), from.end())) return x;
    const std::size_t added = shape.size() - from.size();
    ViewBuilder view(x);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < 0)
            throw Error(ErrorCode::Value, "broadcast_to: all elements of broadcast shape must be non-negative, got " + to_string(shape));
        if (d >= added && from[d - added] == shape[d]) {
            view.walk(static_cast<int>(d - added), shape[d]);
        } else if (d < added || from[d - added] == 1) {
            view.repeat(shape[d]);
        } else {
            throw mismatch();
        }
    }
    Array result = view.finish("broadcast_to");
    result.node()->read_only = true;
    return result;
}

Array expand_dims(const Array& x, Extents axes) {
    const int rank = x.ndim() + static_cast<int>(axes.size());
    check_rank("expand_dims", static_cast<std::size_t>(rank));
    const std::uint32_t fresh = axis_set("expand_dims", axes, rank);
    ViewBuilder view(x);
    int source = 0;
    for (int d = 0; d < rank; ++d) {
        if (fresh >> d & 1) {
            view.repeat(1);
        } else {
            view.walk(source, x.shape()[static_cast<std::size_t>(source)]);
            ++source;
        }
    }
    return view.finish("expand_dims");
}

Array squeeze(const Array& x, const Axes& axes) {
    const Extents shape = x.shape();
    std::uint32_t gone = 0;
    if (axes) {
        gone = axis_set("squeeze", *axes, x.ndim());
    } else {
        for (std::size_t d = 0; d < shape.size(); ++d) gone |= (shape[d] == 1 ? 1u : 0u) << d;
    }
    ViewBuilder view(x);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (!(gone >> d & 1)) {
            view.walk(static_cast<int>(d), shape[d]);
        } else if (shape[d] != 1) {
            throw Error(ErrorCode::Value, "squeeze: cannot select an axis to squeeze out which has size not equal to one: axis " +
                                              std::to_string(d) + " of shape " + to_string(shape));
        }
    }
    return gone ? view.finish("squeeze") : x;
}

Array flip(const Array& x, const Axes& axes) {
    const std::uint32_t turned = axes ? axis_set("flip", *axes, x.ndim()) : ~0u;
    ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) {
        const std::int64_t extent = x.shape()[static_cast<std::size_t>(d)];
        const bool turn = (turned >> d & 1) && extent > 0;
        if (turn) view.start(d, extent - 1);
        view.walk(d, extent, turn ? -1 : 1);
    }
    return view.finish("flip");
}

Array part_view(const Array& x, int which) {
    if (!is_complex(x.dtype())) return x;
    ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) view.walk(d, x.shape()[static_cast<std::size_t>(d)]);
    view.part(which);
    return view.finish(which == 0 ? "real" : "imag");
}

Array moveaxis(const Array& x, Extents from, Extents to) {
    if (from.size() != to.size()) {
        throw Error(ErrorCode::Value, "moveaxis: `source` and `destination` arguments must have the same number of elements");
    }
    const int rank = x.ndim();
    const std::uint32_t moved = axis_set("moveaxis", from, rank);
    (void)axis_set("moveaxis", to, rank);
    SmallVector<int, 8> order(rank, -1);
    for (std::size_t i = 0; i < from.size(); ++i)
        order[normalize_axis("moveaxis", to[i], rank)] = normalize_axis("moveaxis", from[i], rank);
    int stays = 0;
    for (int d = 0; d < rank; ++d) {
        if (order[d] >= 0) continue;
        while (moved >> stays & 1) ++stays;
        order[d] = stays++;
    }
    return permuted("moveaxis", x, order);
}

Array diagonal(const Array& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
    const int rank = x.ndim();
    if (rank < 2) throw Error(ErrorCode::Value, "diagonal: diag requires an array of at least two dimensions, got " + std::to_string(rank));
    const int rows = normalize_axis("diagonal", axis1, rank), columns = normalize_axis("diagonal", axis2, rank);
    if (rows == columns) throw Error(ErrorCode::Value, "diagonal: axis1 and axis2 cannot be the same");
    std::int64_t height = x.shape()[static_cast<std::size_t>(rows)], width = x.shape()[static_cast<std::size_t>(columns)];
    ViewBuilder view(x);
    for (int d = 0; d < rank; ++d) {
        if (d != rows && d != columns) view.walk(d, x.shape()[static_cast<std::size_t>(d)]);
    }
    const std::int64_t down = offset < 0 ? std::min(height, offset == INT64_MIN ? height : -offset) : 0;
    const std::int64_t right = offset > 0 ? std::min(width, offset) : 0;
    height -= down;
    width -= right;
    const std::int64_t count = std::min(height, width);
    if (count > 0) {
        view.start(rows, down);
        view.start(columns, right);
    }
    view.walk(rows, count);
    view.also_walk(columns);
    return view.finish("diagonal");
}

std::vector<Array> broadcast_arrays(ListOf<Array> arrays) {
    Shape shape;
    bool fits = true;
    for (const Array& a : arrays) fits = fits && broadcast_into(shape, a.shape());
    if (!fits) {
        std::string text = "broadcast_arrays: shape mismatch: objects cannot be broadcast to a single shape:";
        for (const Array& a : arrays) text += " " + to_string(a.shape());
        throw Error(ErrorCode::Value, text);
    }
    std::vector<Array> result;
    result.reserve(arrays.size());
    for (const Array& a : arrays) result.push_back(broadcast_to(a, shape));
    return result;
}

}  // namespace pardo
