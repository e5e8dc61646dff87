// src/array/reductions.cpp: sums, extrema, logic, positions, and the statistics made of them.
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <pardo/binding/layout.h>
#include <pardo/binding/rows.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/float_errors.h"
#include "array/reductions.h"
#include "array/short_circuit.h"
#include "array/views/views.h"
#include "graph/reductions.h"

namespace pardo {
namespace {

using arrays::Identity;
using arrays::ReductionRow;
using arrays::ResultDType;
using graph::Op;
using graph::ReduceOp;

/// Words of the elements in reductions.def.
Array truth(const Array& x) { return x.astype(DType::Bool, false); }

constexpr bool is_method(std::string_view word) { return word == "METHOD"; }

// clang-format off
constexpr ReductionRow rows[] = {
#define REDUCTION(id, name, keywords, method, fold, element, dtype, identity, doc, gives) \
    {#name, "cumulative_" #name, ReduceOp::fold, [](const Array& x, [[maybe_unused]] DType t) -> Array { return element; }, \
     ResultDType::dtype, Identity::identity},
#include "graph/reductions.def"
};

constexpr ReductionInfo reduction_rows[] = {
#define REDUCTION(id, name, keywords, method, fold, element, dtype, identity, doc, gives) \
    {"REDUCTION", #name, static_cast<int>(Reduction::id), #keywords, is_method(#method), graph::fold_name(ReduceOp::fold), doc, gives},
#define POSITION(name, method, fold, doc, gives) \
    {"POSITION", #name, 0, "", is_method(#method), graph::fold_name(ReduceOp::fold), doc, gives},
#define SCAN(id, name, keywords, method, doc) \
    {"SCAN", #name, static_cast<int>(Reduction::id), #keywords, is_method(#method), \
     graph::fold_name(rows[static_cast<int>(Reduction::id)].fold), doc, ""},
#include "graph/reductions.def"
};
// clang-format on

/// The operation that folds two values; NumPy's messages have its name.
Op combining(ReduceOp fold) {
    switch (fold) {
        case ReduceOp::Prod: return Op::multiply;
        case ReduceOp::Min: return Op::minimum;
        case ReduceOp::Max: return Op::maximum;
        case ReduceOp::Any: return Op::logical_or;
        case ReduceOp::All: return Op::logical_and;
        default: return Op::add;
    }
}

std::uint32_t axes_of(const char* op_name, const Array& x, const Axes& axes) {
    if (axes) return arrays::axis_set(op_name, *axes, x.ndim());
    return x.ndim() == 32 ? ~0u : (1u << x.ndim()) - 1;
}

/// Elements that go into one result.
std::int64_t reduced_count(const Array& x, std::uint32_t axes) {
    std::int64_t count = 1;
    for (int d = 0; d < x.ndim(); ++d) count *= axes >> d & 1 ? x.shape()[static_cast<std::size_t>(d)] : 1;
    return count;
}

/// Sums and products of narrow floats are kept in the wider one until the end.
DType accumulator(ReduceOp op, DType t) { return op <= ReduceOp::Prod ? computed_in(t) : t; }

/// Drops the reduced dimensions.
Array without(const Array& x, std::uint32_t axes) {
    arrays::ViewBuilder view(x);
    for (int d = 0; d < x.ndim(); ++d) {
        if (!(axes >> d & 1)) view.walk(d, x.shape()[static_cast<std::size_t>(d)]);
    }
    Array result = view.finish("reduce");
    result.node()->scalar_value = result.ndim() == 0;
    return result;
}

/// The reduction itself, on values that have their final dtype.
Array reduced(ReduceOp op, const Array& x, std::uint32_t axes, DType result, bool keepdims) {
    if (axes == 0) {  // nothing to reduce; a sum starts at 0, which -0.0 becomes too
        const Array values = x.astype(result, false);
        return arrays::scalar_copy(op == ReduceOp::Sum && !is_integer(result) ? add(values, Scalar(0)) : values);
    }
    Array kept = [&] {
        std::lock_guard guard(arrays::graph_of(x).lock);
        return arrays::finish(graph::with_scalar_value(graph::make_reduce(op, x.node(), axes, accumulator(op, x.dtype()), result)));
    }();
    return keepdims ? kept : without(kept, axes);
}

/// The caller's initial value in the result's dtype; throws for numbers that it cannot hold.
Scalar checked_initial(const ReductionRow& row, const Scalar& value, DType t) {
    const std::string op_name = std::string(row.name) + ": initial";
    graph::check_number(op_name.c_str(), value, t);
    if (is_float(value.dtype) && is_integer(t)) (void)promote_weak(t, Scalar(static_cast<std::int64_t>(value.f)), op_name.c_str());
    return value.cast(t);
}

/// x where `mask`, else what does not change the result.
Array masked(const char* op_name, const Array& x, const Array& given, const Scalar& neutral) {
    (void)arrays::node_of(given, op_name);
    const Array mask = arrays::following(given, x.node()->queue.get(), op_name);
    const Array* both[] = {&x, &mask};
    (void)arrays::common_queue(op_name, both);
    if (!broadcasts_to(mask.shape(), x.shape())) {
        throw Error(ErrorCode::Value, std::string(op_name) + ": where of shape " + to_string(mask.shape()) +
                                          " does not broadcast to the array's shape " + to_string(x.shape()));
    }
    if (mask.dtype() != DType::Bool) {
        throw Error(ErrorCode::Type, std::string(op_name) + ": Cannot cast array data from dtype('" +
                                         std::string(dtype_name(mask.dtype())) + "') to dtype('bool') according to the rule 'safe'");
    }
    return where(mask, x, neutral.cast(x.dtype()));
}

Array part(const Array& x, bool imaginary) { return imaginary ? imag(x) : real(x); }

/// Where the lexicographic extreme of complex numbers lies; NaN wins.
Array complex_hits(ReduceOp op, const Array& x, std::uint32_t axes) {
    const double worst = op == ReduceOp::Max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    const Array re = part(x, false), im = part(x, true), bad = isnan(x);
    const Array any_bad = reduced(ReduceOp::Any, bad, axes, DType::Bool, true);
    const Array first = equal(re, reduced(op, where(bad, worst, re), axes, re.dtype(), true));
    const Array second = equal(im, reduced(op, where(first, im, worst), axes, im.dtype(), true));
    return where(any_bad, bad, logical_and(first, second));
}

/// Max or min of complex numbers: the value at the first hit, by parts.
Array complex_extreme(ReduceOp op, const Array& x, std::uint32_t axes, bool keepdims) {
    const double worst = op == ReduceOp::Max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    const Array hits = complex_hits(op, x, axes);
    const auto pick = [&](bool imaginary) {
        const Array values = part(x, imaginary);
        return reduced(op, where(hits, values, worst), axes, values.dtype(), keepdims);
    };
    const Array re = pick(false), im = pick(true);
    return arrays::from_parts(re, im);
}

/// As reduced, of complex extrema and booleans too.
Array fold_values(ReduceOp op, const Array& x, std::uint32_t axes, bool keepdims, DType result) {
    const bool extreme = op == ReduceOp::Min || op == ReduceOp::Max;
    if (extreme && is_complex(x.dtype())) return complex_extreme(op, x, axes, keepdims);
    if (x.dtype() == DType::Bool) {  // in booleans sum and max are `any`, product and min are `all`
        const bool any = op == ReduceOp::Sum || op == ReduceOp::Max || op == ReduceOp::Any;
        return reduced(any ? ReduceOp::Any : ReduceOp::All, x, axes, DType::Bool, keepdims);
    }
    return reduced(op, x, axes, result, keepdims);
}

/// A result of all elements as an array of as many axes as they have.
Array with_axes(const Array& result, int ndim) {
    const std::vector<std::int64_t> all_ones(static_cast<std::size_t>(ndim), 1);
    return reshape(result, all_ones);
}

/// All elements of an array in memory taken together by code that ends as soon as the result is known, where there is some.
std::optional<Array> reduced_early(const Array& x, Reduction what, DType result, bool keepdims) {
    if (x.pending()) return {};
    const bool is_bool = x.dtype() == DType::Bool;
    ReduceOp op = ReduceOp::Sum;
    switch (what) {
        case Reduction::Any: op = ReduceOp::Any; break;
        case Reduction::All: op = ReduceOp::All; break;
        case Reduction::Max: op = ReduceOp::Any; break;
        case Reduction::Min: op = ReduceOp::All; break;
        case Reduction::Sum: break;
        case Reduction::CountNonzero: break;
        case Reduction::Prod: return {};
    }
    const bool of_truth = what == Reduction::Any || what == Reduction::All || what == Reduction::CountNonzero;
    if (!is_bool && !(of_truth && is_integer(x.dtype()) && itemsize(x.dtype()) == 1)) return {};
    if (result != (op == ReduceOp::Sum ? DType::Int64 : DType::Bool)) return {};
    std::optional<Array> found = arrays::reduced_early(op, is_bool ? x : view_as(x, DType::Bool));  // a byte is true unless it is 0
    return found && keepdims ? with_axes(*found, x.ndim()) : found;
}

/// How many elements go into each result, as an array when a mask decides it.
Operand group_size(std::optional<Array>& counts, const Array& x, std::uint32_t axes, bool keepdims, const Array* where) {
    if (!where) return static_cast<double>(reduced_count(x, axes));
    const Array all = broadcast_to(*where, x.shape());
    counts = reduced(ReduceOp::Sum, all.astype(DType::Int64), axes, DType::Int64, keepdims)
                 .astype(graph::default_on(x.node()->queue.get(), DType::Float64), false);
    return *counts;
}

/// In what mean and variance compute: float16 in float32, integers in the default float.
DType statistics_dtype(const Array& x, DType t) {
    if (!is_inexact(t)) return graph::default_on(x.node()->queue.get(), DType::Float64);
    return computed_in(t);
}

Array sum_where(const char* op_name, const Array& x, std::uint32_t axes, bool keepdims, const Array* where) {
    return reduced(ReduceOp::Sum, where ? masked(op_name, x, *where, Scalar(0)) : x, axes, x.dtype(), keepdims);
}

Array arg_extreme(const char* op_name, ReduceOp op, const Array& x, std::optional<std::int64_t> axis, bool keepdims) {
    const Array line = axis ? x : reshape(x, std::initializer_list<std::int64_t>{-1});
    const int along = axis ? normalize_axis(op_name, *axis, x.ndim()) : 0;
    const std::uint32_t axes = 1u << along;
    if (line.shape()[static_cast<std::size_t>(along)] == 0) {
        throw Error(ErrorCode::Value, std::string(op_name) + ": attempt to get " + op_name + " of an empty sequence");
    }
    Array values = line;
    ReduceOp search = op;
    if (is_complex(x.dtype())) {
        values = complex_hits(op == ReduceOp::ArgMax ? ReduceOp::Max : ReduceOp::Min, line, axes);
        search = ReduceOp::ArgMax;
    }
    const std::optional<Array> early = !axis || x.ndim() == 1 ? arrays::reduced_early(search, values) : std::nullopt;
    if (values.dtype() == DType::Bool) values = values.astype(DType::UInt8);
    Array result =
        early ? (axis && keepdims ? with_axes(*early, 1) : *early) : reduced(search, values, axes, DType::Int64, axis && keepdims);
    return axis || !keepdims ? result : with_axes(result, x.ndim());
}

}  // namespace

const arrays::ReductionRow& arrays::row_of(Reduction op) noexcept { return rows[static_cast<int>(op)]; }

DType arrays::result_dtype(const ReductionRow& row, DType x) noexcept {
    if (row.dtype == ResultDType::BOOL) return DType::Bool;
    if (row.dtype == ResultDType::INT64) return DType::Int64;
    if (row.dtype == ResultDType::SAME || is_inexact(x)) return x;
    return kind_of(x) == DKind::Unsigned ? DType::UInt64 : DType::Int64;
}

std::span<const ReductionInfo> reduction_table() { return reduction_rows; }

Array reduce(Reduction op, const Array& x, const Axes& axes, bool keepdims, std::optional<DType> dtype, const Array* where,
             std::optional<Scalar> initial) {
    const ReductionRow& row = arrays::row_of(op);
    const std::uint32_t set = axes_of(row.name, x, axes);
    const bool fixed = row.dtype == ResultDType::BOOL || row.dtype == ResultDType::INT64;  // another dtype is cast to at the end
    const DType result = dtype && !fixed ? *dtype : arrays::result_dtype(row, x.dtype());
    const bool has_identity = row.identity != Identity::NONE, alone = !has_identity && reduced_count(x, set) == 0;
    if (alone && !initial) {
        throw Error(ErrorCode::Value, std::string(row.name) + ": zero-size array to reduction operation " +
                                          graph::name(combining(row.fold)) + " which has no identity");
    }
    if (!has_identity && where && !initial) {
        throw Error(ErrorCode::Value, std::string(row.name) + ": reduction operation '" + graph::name(combining(row.fold)) +
                                          "' does not have an identity, so to use a where mask one has to specify 'initial'");
    }
    const Scalar first = initial ? checked_initial(row, *initial, result) : Scalar();
    if (!where && !initial && set == axes_of(row.name, x, {}) && x.ndim() > 0) {
        if (std::optional<Array> early = reduced_early(x, op, result, keepdims)) return dtype ? early->astype(*dtype, false) : *early;
    }
    Array values = row.element(x, result).astype(result, false);
    if (where) values = masked(row.name, values, *where, has_identity ? Scalar(static_cast<int>(row.identity)) : first);
    Array folded = fold_values(row.fold, values, set, keepdims, result);
    if (arrays::float_errors_wanted() && row.fold <= ReduceOp::Prod) [[unlikely]]
        folded = arrays::note_float_errors_of_fold(values, folded, set, keepdims);
    if (alone) {
        Shape shape;
        for (const std::int64_t extent : folded.shape()) shape.push_back(extent);
        folded = full(shape, first, result, x.queue());
    } else if (initial) {
        const Operand both[] = {folded, first};
        folded = arrays::record(combining(row.fold), both);
    }
    return dtype && folded.dtype() != *dtype ? folded.astype(*dtype) : folded;
}

#define REDUCTION(id, name, keywords, method, fold, element, dtype, identity, doc, gives) \
    Array name(const Array& x, const Axes& axes, bool keepdims) { return reduce(Reduction::id, x, axes, keepdims); }
#define SCAN(id, name, keywords, method, doc)                                                                        \
    Array name(const Array& x, std::optional<std::int64_t> axis, std::optional<DType> dtype, bool include_initial) { \
        return cumulative(Reduction::id, x, axis, dtype, include_initial);                                           \
    }
#define POSITION(name, method, fold, doc, gives)                                  \
    Array name(const Array& x, std::optional<std::int64_t> axis, bool keepdims) { \
        return arg_extreme(#name, ReduceOp::fold, x, axis, keepdims);             \
    }
#include "graph/reductions.def"

Array mean(const Array& x, const Axes& axes, bool keepdims, std::optional<DType> dtype, const Array* where) {
    const std::uint32_t set = axes_of("mean", x, axes);
    const DType result = dtype.value_or(is_inexact(x.dtype()) ? x.dtype() : graph::default_on(x.node()->queue.get(), DType::Float64));
    const Array values = x.astype(computed_in(result), false);
    std::optional<Array> counts;
    const Array total = sum_where("mean", values, set, keepdims, where);
    return divide(total, group_size(counts, x, set, keepdims, where)).astype(result, false);
}

// Two passes, as NumPy: the mean first, then the squares of what differs from it.
Array var(const Array& x, const Axes& axes, double correction, bool keepdims, std::optional<DType> dtype, const Array* where) {
    const std::uint32_t set = axes_of("var", x, axes);
    const DType result = dtype.value_or(is_inexact(x.dtype()) ? x.dtype() : graph::default_on(x.node()->queue.get(), DType::Float64));
    const Array values = x.astype(statistics_dtype(x, result), false);
    std::optional<Array> kept_counts, counts;
    const Array center = divide(sum_where("var", values, set, true, where), group_size(kept_counts, x, set, true, where));
    const Array off = subtract(values, center);
    const Array squares = is_complex(off.dtype()) ? add(square(real(off)), square(imag(off))) : square(off);
    const Array total = sum_where("var", squares, set, keepdims, where);
    const Operand size = group_size(counts, x, set, keepdims, where);
    const Array variance = size.array() ? divide(total, maximum(subtract(*size.array(), correction), 0.0))
                                        : divide(total, std::max(size.scalar().as_double() - correction, 0.0));
    return variance.astype(real_of(result), false);
}

Array stddev(const Array& x, const Axes& axes, double correction, bool keepdims, std::optional<DType> dtype, const Array* where) {
    const DType result = dtype.value_or(is_inexact(x.dtype()) ? x.dtype() : graph::default_on(x.node()->queue.get(), DType::Float64));
    const Array variance = var(x, axes, correction, keepdims, statistics_dtype(x, result), where);
    return sqrt(variance).astype(real_of(result), false);
}

}  // namespace pardo
