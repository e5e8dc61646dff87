// src/array/views/manipulate.cpp: new arrays from old: joined, rolled, repeated, tiled, differenced.
#include <algorithm>
#include <string>
#include <vector>

#include <pardo/binding/layout.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/views/views.h"
#include "base/promotion.h"
#include "plan/force.h"

namespace pardo {
namespace {

using arrays::ViewBuilder;

/// The part [from, from + count) of an axis.
Array slab(const Array& x, int axis, std::int64_t from, std::int64_t count) {
    ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) {
        if (d == axis && count > 0) view.start(d, from);
        view.walk(d, d == axis ? count : x.shape()[static_cast<std::size_t>(d)]);
    }
    return view.finish("slice");
}

/// The values of a view, row-major, in a shape of the same size; what computes them is fused into the copy.
Array packed(const char* op_name, const Array& view, Extents shape) {
    device::Queue* queue = view.node()->queue.get();
    const Array result = arrays::make_empty(queue, view.dtype(), view.node()->shape, op_name, arrays::kind_after(view));
    if (result.size() > 0) arrays::fill(result, view);
    return reshape(result, shape);
}

Array flattened(const Array& x) { return reshape(x, std::initializer_list<std::int64_t>{-1}); }

void check_pieces(std::span<const Array> arrays, int axis) {
    const Extents first = arrays[0].shape();
    for (std::size_t i = 1; i < arrays.size(); ++i) {
        const Extents shape = arrays[i].shape();
        if (shape.size() != first.size()) {
            throw Error(ErrorCode::Value,
                        "concat: all the input arrays must have same number of dimensions, but the array at index 0 has " +
                            std::to_string(first.size()) + " dimension(s) and the array at index " + std::to_string(i) + " has " +
                            std::to_string(shape.size()) + " dimension(s)");
        }
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (static_cast<int>(d) == axis || shape[d] == first[d]) continue;
            throw Error(
                ErrorCode::Value,
                "concat: all the input array dimensions except for the concatenation axis must match exactly, but along dimension " +
                    std::to_string(d) + ", the array at index 0 has size " + std::to_string(first[d]) + " and the array at index " +
                    std::to_string(i) + " has size " + std::to_string(shape[d]));
        }
    }
}

device::Queue* queue_of_all(const char* op_name, std::span<const Array> arrays) {
    std::vector<const Array*> list;
    for (const Array& a : arrays) list.push_back(&a);
    return arrays::common_queue(op_name, list);
}

/// x with each axis moved on by so much, not negative and below its extent: 2ⁿ parts for n axes that move, each copied to its place.
Array rolled(const Array& x, const Shape& by) {
    Shape moving;
    for (int d = 0; d < x.ndim(); ++d) {
        if (by[d] != 0) moving.push_back(d);
    }
    if (x.size() == 0 || moving.empty()) return x;
    const Array result = arrays::make_empty(x.node()->queue.get(), x.dtype(), x.node()->shape, "roll", arrays::kind_after(x));
    for (unsigned part = 0; part < 1u << moving.size(); ++part) {
        Array from = x, to = result;
        for (int i = 0; i < moving.size(); ++i) {
            const int d = static_cast<int>(moving[i]);
            const std::int64_t stay = x.shape()[static_cast<std::size_t>(d)] - by[d];
            const bool wraps = (part >> i & 1u) != 0;
            from = slab(from, d, wraps ? stay : 0, wraps ? by[d] : stay);
            to = slab(to, d, wraps ? 0 : by[d], wraps ? by[d] : stay);
        }
        arrays::store("roll", to, from);
    }
    return result;
}

/// What diff joins to x: a number stands for one slab.
Array border(const Array& x, const Array& value, int axis) {
    if (value.ndim() > 0) return value;
    Shape shape = x.node()->shape;
    shape[axis] = 1;
    return broadcast_to(value, shape);
}

}  // namespace

Array concat(ListOf<Array> arrays, std::optional<std::int64_t> axis) {
    if (arrays.empty()) throw Error(ErrorCode::Value, "concat: need at least one array to concatenate");
    if (!axis) {
        std::vector<Array> flat;
        for (const Array& a : arrays) flat.push_back(flattened(a));
        return concat(flat, 0);
    }
    device::Queue* queue = queue_of_all("concat", arrays);
    std::vector<DType> dtypes;
    for (const Array& a : arrays) {
        if (a.ndim() == 0) throw Error(ErrorCode::Value, "concat: zero-dimensional arrays cannot be concatenated");
        dtypes.push_back(a.dtype());
    }
    const DType dtype = graph::default_on(queue, promote_all(dtypes));
    const int along = normalize_axis("concat", *axis, arrays[0].ndim());
    check_pieces(arrays, along);
    Shape shape = arrays[0].node()->shape;
    for (const Array& a : arrays.subspan(1)) {
        if (__builtin_add_overflow(shape[along], a.shape()[static_cast<std::size_t>(along)], &shape[along])) {
            throw Error(ErrorCode::Memory, "concat: the result has more elements than fit into 64 bits");
        }
    }
    MemoryKind kind = device::no_kind;
    for (const Array& a : arrays) kind = std::min(kind, arrays::kind_after(a));
    const Array result = arrays::make_empty(queue, dtype, std::move(shape), "concat", kind);
    std::int64_t at = 0;
    for (const Array& a : arrays) {
        const std::int64_t count = a.shape()[static_cast<std::size_t>(along)];
        if (a.size() > 0) arrays::store("concat", slab(result, along, at, count), a);
        at += count;
    }
    return result;
}

Array stack(ListOf<Array> arrays, std::int64_t axis) {
    if (arrays.empty()) throw Error(ErrorCode::Value, "stack: need at least one array to stack");
    for (const Array& a : arrays) {
        const Shape& shape = arrays::node_of(a, "stack").shape;
        if (shape == arrays[0].node()->shape) continue;
        throw Error(ErrorCode::Value, "stack: all input arrays must have the same shape, got " + to_string(arrays[0].shape()) + " and " +
                                          to_string(a.shape()));
    }
    const std::int64_t at[] = {normalize_axis("stack", axis, arrays[0].ndim() + 1)};
    std::vector<Array> slabs;
    for (const Array& a : arrays) slabs.push_back(expand_dims(a, at));
    return concat(slabs, at[0]);
}

Array roll(const Array& x, Extents shift, const Axes& axes) {
    if (!axes) {
        std::int64_t total = 0;
        for (const std::int64_t s : shift) total += x.size() ? s % x.size() : 0;
        const std::int64_t extent = std::max<std::int64_t>(x.size(), 1);
        const Array flat = flattened(x), moved = rolled(flat, Shape{(total % extent + extent) % extent}),
                    result = reshape(moved, x.shape());
        return moved.node() == flat.node() ? result.copy() : result;
    }
    const std::size_t count = std::max(shift.size(), axes->size());
    if (shift.empty() || axes->empty() || (shift.size() != count && shift.size() != 1) || (axes->size() != count && axes->size() != 1)) {
        throw Error(ErrorCode::Value, "roll: 'shift' and 'axis' should be scalars or 1D sequences of the same size");
    }
    Shape by(x.ndim(), 0);
    for (std::size_t i = 0; i < count; ++i) {
        const int axis = normalize_axis("roll", (*axes)[axes->size() == 1 ? 0 : i], x.ndim());
        const std::int64_t extent = std::max<std::int64_t>(x.shape()[static_cast<std::size_t>(axis)], 1);
        by[axis] = (by[axis] + shift[shift.size() == 1 ? 0 : i] % extent + extent) % extent;
    }
    const Array result = rolled(x, by);
    return result.node() == x.node() ? x.copy() : result;
}

Array repeat(const Array& x, std::int64_t count, std::optional<std::int64_t> axis) {
    if (count < 0) throw Error(ErrorCode::Value, "repeat: repeats may not contain negative values.");
    if (!axis || x.ndim() == 0) return repeat(flattened(x), count, axis.value_or(0));  // NumPy takes a number for a line of one
    const int along = normalize_axis("repeat", *axis, x.ndim());
    Shape shape = x.node()->shape;
    if (__builtin_mul_overflow(shape[along], count, &shape[along])) {
        throw Error(ErrorCode::Memory, "repeat: the result has more elements than fit into 64 bits");
    }
    if (x.ndim() == max_rank) {  // no room for the dimension that repeats
        const std::int64_t each[] = {count};
        return repeat(x,
                      broadcast_to(full({}, each[0], DType::Int64, x.queue()),
                                   std::initializer_list<std::int64_t>{x.shape()[static_cast<std::size_t>(along)]}),
                      along);
    }
    ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) {
        view.walk(d, x.shape()[static_cast<std::size_t>(d)]);
        if (d == along) view.repeat(count);
    }
    return packed("repeat", view.finish("repeat"), shape);
}

Array repeat(const Array& x, const Array& counts, std::optional<std::int64_t> axis) {
    if (!axis || x.ndim() == 0) return repeat(flattened(x), counts, axis.value_or(0));
    const int along = normalize_axis("repeat", *axis, x.ndim());
    if (is_inexact(counts.dtype()) || counts.dtype() == DType::UInt64) {
        throw Error(ErrorCode::Type, "repeat: Cannot cast array data from dtype('" + std::string(dtype_name(counts.dtype())) +
                                         "') to dtype('int64') according to the rule 'safe'");
    }
    if (counts.ndim() > 1) throw Error(ErrorCode::Value, "repeat: object too deep for desired array");
    if (counts.size() == 1 && x.shape()[static_cast<std::size_t>(along)] != 1) return repeat(x, counts.item().as_int(), along);
    const std::int64_t extent = x.shape()[static_cast<std::size_t>(along)];
    if (counts.size() != extent) {
        throw Error(ErrorCode::Value, "repeat: operands could not be broadcast together with shape " + to_string(x.shape()) + " " +
                                          to_string(counts.shape()));
    }
    std::vector<std::int64_t> each(static_cast<std::size_t>(extent)), source;
    counts.astype(DType::Int64, false).copy_to(each.data());
    for (std::int64_t i = 0; i < extent; ++i) {
        const std::int64_t n = each[static_cast<std::size_t>(i)];
        if (n < 0) throw Error(ErrorCode::Value, "repeat: repeats may not contain negative values.");
        source.insert(source.end(), static_cast<std::size_t>(n), i);
    }
    return take(x, note_following(array(std::span<const std::int64_t>(source), x.queue())), along);
}

Array tile(const Array& x, Extents repetitions) {
    const int given = static_cast<int>(repetitions.size()), rank = std::max(x.ndim(), given);
    Shape shape;
    ViewBuilder view(x);
    for (int d = 0; d < rank; ++d) {
        const int source = d - (rank - x.ndim()), which = d - (rank - given);
        const std::int64_t times = which >= 0 ? repetitions[static_cast<std::size_t>(which)] : 1;
        if (times < 0) throw Error(ErrorCode::Value, "tile: repetitions must not be negative, got " + to_string(repetitions));
        const std::int64_t extent = source >= 0 ? x.shape()[static_cast<std::size_t>(source)] : 1;
        if (times != 1) view.repeat(times);
        if (source >= 0) view.walk(source, extent);
        shape.push_back(0);
        if (__builtin_mul_overflow(extent, times, &shape.back())) {
            throw Error(ErrorCode::Memory, "tile: the result has more elements than fit into 64 bits");
        }
    }
    return packed("tile", view.finish("tile"), shape);
}

Array diff(const Array& x, std::int64_t n, std::int64_t axis, const Array* prepend, const Array* append) {
    if (n < 0) throw Error(ErrorCode::Value, "diff: order must be non-negative but got " + std::to_string(n));
    if (n == 0) return x;
    if (x.ndim() == 0) throw Error(ErrorCode::Value, "diff: diff requires input that is at least one dimensional");
    const int along = normalize_axis("diff", axis, x.ndim());
    Array values = x;
    if (prepend || append) {
        std::vector<Array> pieces;
        if (prepend) pieces.push_back(border(x, *prepend, along));
        pieces.push_back(x);
        if (append) pieces.push_back(border(x, *append, along));
        values = concat(pieces, along);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t extent = values.shape()[static_cast<std::size_t>(along)], count = std::max<std::int64_t>(extent - 1, 0);
        const Array upper = slab(values, along, std::min<std::int64_t>(1, extent), count), lower = slab(values, along, 0, count);
        values = values.dtype() == DType::Bool ? not_equal(upper, lower) : subtract(upper, lower);
        if (count == 0) break;
    }
    return values;
}

}  // namespace pardo
