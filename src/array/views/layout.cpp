// src/array/views/layout.cpp: how elements lie in memory: the order of axes, what may be written, whose memory it is.
#include <pardo/binding/layout.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/views/views.h"
#include "graph/axis_order.h"
#include "plan/force.h"

namespace pardo {
namespace {

using graph::Node;

/// x with itself as a view of all elements, on a node that no other handle has.
Ref<Node> shown_again(const Array& x) {
    arrays::ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) view.walk(d, x.shape()[static_cast<std::size_t>(d)]);
    const Array shown = view.finish("view");
    return Ref<Node>(shown.node());
}

/// `x` becomes `shown`, which has the same memory: what owned it does so in its new form.
void rebind(Array& x, const Array& shown) {
    if (shown.node() == x.node()) return;
    if (!x.node()->base) shown.node()->base = nullptr;
    x = shown;
}

[[noreturn]] void refuse_view(const std::string& why) { throw Error(ErrorCode::Value, "view: " + why); }

}  // namespace

bool surely_row_major(const Array& x) noexcept { return !x.node()->reordered; }

bool arrays::is_column_major(Extents shape, Extents strides) {
    std::int64_t expected = 1;
    bool contiguous = true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0) return true;
        if (shape[d] == 1) continue;
        contiguous &= strides[d] == expected;
        expected *= shape[d];
    }
    return contiguous;
}

bool is_column_major(const Array& x) {
    arrays::ensure_leaf(x);
    return arrays::is_column_major(x.node()->shape, x.node()->strides);
}

std::vector<std::int64_t> axis_order(std::span<const Array> operands) {
    int rank = 0;
    bool plain = true;
    for (const Array& x : operands) {
        rank = std::max(rank, x.ndim());
        plain &= surely_row_major(x);
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
    for (int d = 0; d < rank; ++d) order[static_cast<std::size_t>(d)] = d;
    if (plain) return order;
    std::vector<Strides> strides;
    for (const Array& x : operands) {
        if (!surely_row_major(x)) arrays::ensure_leaf(x);
        strides.push_back(x.pending() ? contiguous_strides(x.shape()) : x.node()->strides);
    }
    const auto step = [&](int k, int d) -> std::int64_t {
        const Array& x = operands[static_cast<std::size_t>(k)];
        const int own = d - (rank - x.ndim());
        if (own < 0 || x.node()->shape[own] == 1) return 0;
        return std::abs(strides[static_cast<std::size_t>(k)][own]);
    };
    const auto sorted = graph::axes_outermost_first(rank, static_cast<int>(operands.size()), step);
    std::copy(sorted.begin(), sorted.end(), order.begin());
    return order;
}

Array laid_out(const Array& fresh, Extents axes) {
    if (std::is_sorted(axes.begin(), axes.end())) return fresh;
    std::vector<std::int64_t> source(axes.size());
    for (std::size_t k = 0; k < axes.size(); ++k) source[static_cast<std::size_t>(axes[k])] = static_cast<std::int64_t>(k);
    arrays::ensure_leaf(fresh);  // a view of what is recorded would be computed by itself, in the order of what it reads
    const Array result = permute_dims(fresh, source);
    result.node()->base = nullptr;
    return result;
}

bool owns_data(const Array& x) {
    arrays::ensure_leaf(x);
    return !x.node()->base;
}

Array base_of(const Array& x) {
    arrays::ensure_leaf(x);
    return Array(x.node()->base.get());
}

void set_writeable(Array& x, bool writeable) {
    if (writeable) {
        arrays::ensure_leaf(x);
        const Node& leaf = *x.node();
        const bool was = leaf.read_only;
        x.node()->read_only = false;
        const bool may = arrays::is_writeable(x) && !(leaf.base && leaf.base->read_only);
        x.node()->read_only = was;
        if (!may) throw Error(ErrorCode::Value, "setflags: cannot set WRITEABLE flag to True of this array");
    }
    if (x.node()->read_only == !writeable) return;
    if (x.node()->use_count() > x.node()->consumers + 1) {
        const Ref<Node> own = shown_again(x);
        std::lock_guard guard(graph::state_of(own->queue.get()).lock);
        if (own->kind == graph::Kind::View) std::get<Node::View>(own->detail).owns = true;
        own->base = x.node()->base;
        x = Array(own.get());
    }
    x.node()->read_only = !writeable;
}

namespace {

/// What a pending view reads, one behind the other. While they are held they get memory of their own, which the view shows: its strides are
/// the same whether the program has names for them or not.
std::vector<Array> read_by_view(const Array& x) {
    std::vector<Array> held;
    if (!x.pending()) return held;
    std::lock_guard guard(arrays::graph_of(x).lock);
    for (Node* node = x.node(); node->pending() && node->kind == graph::Kind::View; node = node->inputs[0].get())
        held.emplace_back(node->inputs[0].get());
    return held;
}

}  // namespace

Array view_as(const Array& x, DType dtype) {
    const std::vector<Array> held = itemsize(x.dtype()) == itemsize(dtype) ? std::vector<Array>() : read_by_view(x);
    arrays::ensure_leaf(x);
    Node& leaf = *x.node();
    const std::int64_t from = itemsize(leaf.dtype), to = itemsize(dtype);
    Shape shape = leaf.shape;
    Strides strides = leaf.strides;
    const int last = shape.size() - 1;
    if (from != to) {
        if (last < 0) refuse_view("Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
        if (shape[last] != 1 && x.size() != 0 && strides[last] != 1)
            refuse_view("To change to a dtype of a different size, the last axis must be contiguous");
        const std::int64_t bytes = shape[last] * from;
        if (bytes % to != 0)
            refuse_view(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.");
        shape[last] = bytes / to;
    }
    if (x.size() == 0) {
        strides = contiguous_strides(shape);
    } else if (from != to) {
        for (int d = 0; d < last; ++d) {
            if (shape[d] != 1 && strides[d] * from % to != 0)
                refuse_view("elements of " + std::string(dtype_name(dtype)) + " would lie " + std::to_string(strides[d] * from) +
                            " bytes apart along axis " + std::to_string(d) + ", which is no multiple of their size; view a copy");
            strides[d] = strides[d] * from / to;
        }
        strides[last] = 1;
    }
    const std::int64_t first = leaf.offset * from;
    const auto address = reinterpret_cast<std::uintptr_t>(leaf.buffer->data()) + static_cast<std::uintptr_t>(first);
    if (x.size() != 0 && (first % to != 0 || address % static_cast<std::uintptr_t>(is_complex(dtype) ? to / 2 : to) != 0))
        refuse_view("the first element is at byte " + std::to_string(first) + " of the memory, which is no multiple of the " +
                    std::to_string(to) + " bytes of " + std::string(dtype_name(dtype)) + "; view a copy");
    return Array(graph::make_leaf_view(&leaf, dtype, std::move(shape), std::move(strides), first / to).get());
}

void set_shape(Array& x, Extents shape) {
    arrays::ensure_leaf(x);
    rebind(x, reshape(x, shape, false));
}

void set_dtype(Array& x, DType dtype) {
    if (dtype != x.dtype()) rebind(x, view_as(x, dtype));
}

bool unreferenced(const Array& x) {
    arrays::ensure_leaf(x);
    const Node& leaf = *x.node();
    return leaf.use_count() == 1 && leaf.buffer->unshared() && !leaf.buffer->foreign();
}

bool may_lack_kind(const Array& x) {
    return x.node()->queue->device()->mixed_kinds() && !x.pending() && x.node()->buffer->kind() == MemoryKind::Device;
}

std::optional<MemoryKind> kind_for_results(const Array& x) {
    const MemoryKind kind = arrays::kind_after(x);
    return kind == device::no_kind ? std::nullopt : std::optional(kind);
}

}  // namespace pardo
