// src/array/views/windows.cpp: views in which elements come several times: sliding windows, and strides that the caller says.
#include <string>
#include <utility>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/views/views.h"
#include "plan/force.h"

namespace pardo {

Array sliding_windows(const Array& x, Extents window, Extents axes) {
    const char* op_name = "sliding_window_view";
    (void)arrays::node_of(x, op_name);
    if (window.size() != axes.size())
        throw Error(ErrorCode::Value, std::string(op_name) + ": " + std::to_string(window.size()) + " extents of a window for " +
                                          std::to_string(axes.size()) + " axes");
    arrays::ensure_leaf(x);  // what windows share is computed once
    Shape counts(x.shape());
    SmallVector<int, 8> along;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const int axis = normalize_axis(op_name, axes[k], x.ndim());
        if (window[k] < 0) throw Error(ErrorCode::Value, "sliding_window_view: window_shape cannot contain negative values");
        along.push_back(axis);
        counts[axis] -= window[k] - 1;
    }
    for (const int axis : along) {
        if (counts[axis] < 0)
            throw Error(ErrorCode::Value, "sliding_window_view: window shape cannot be larger than input array shape: axis " +
                                              std::to_string(axis) + " has an extent of " +
                                              std::to_string(x.shape()[static_cast<std::size_t>(axis)]));
    }
    arrays::ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) view.walk(d, counts[d]);
    for (std::size_t k = 0; k < axes.size(); ++k) view.walk(along[static_cast<int>(k)], window[k]);
    Array windows = view.finish(op_name);
    windows.node()->read_only = true;
    return windows;
}

Array as_strided(const Array& x, Extents shape, Extents strides) {
    const char* op_name = "as_strided";
    check_rank(op_name, shape.size());
    (void)arrays::node_of(x, op_name);
    if (shape.size() != strides.size())
        throw Error(ErrorCode::Value, std::string(op_name) + ": " + std::to_string(strides.size()) + " strides for " +
                                          std::to_string(shape.size()) + " extents");
    arrays::ensure_leaf(x);
    graph::Node& leaf = *x.node();
    (void)graph::byte_count(leaf.dtype, Shape(shape), op_name);
    std::int64_t first = leaf.offset, last = leaf.offset;
    bool none = false, outside = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::int64_t reach = 0;
        none |= shape[d] == 0;
        outside |= __builtin_mul_overflow(shape[d] - 1, strides[d], &reach);
        outside |= __builtin_add_overflow(reach < 0 ? first : last, reach, reach < 0 ? &first : &last);
    }
    const auto room = static_cast<std::int64_t>(leaf.buffer->bytes()) / itemsize(leaf.dtype);
    if (!none && (outside || first < 0 || last >= room))
        throw Error(ErrorCode::Value, "as_strided: elements of shape " + to_string(shape) + " and these strides would lie outside of the " +
                                          std::to_string(leaf.buffer->bytes()) + " bytes of memory of the array");
    return Array(graph::make_leaf_view(&leaf, leaf.dtype, Shape(shape), Strides(strides), leaf.offset).get());
}

}  // namespace pardo
