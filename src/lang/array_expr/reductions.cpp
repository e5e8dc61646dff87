// src/lang/array_expr/reductions.cpp: sums, extremes, places of extremes, means of arrays' elements, all of them or along an axis.
#include <algorithm>
#include <string>
#include <utility>

#include "lang/array_expr/array_expr.h"
#include "lang/lowering.h"

namespace pardo::lang {

namespace {

using ElementsAt = std::function<TypedExpr(std::span<const TypedExpr>)>;

bool takes_two_walks(RowReduction op) {
    return op == RowReduction::Var || op == RowReduction::Std || op == RowReduction::ArgMin || op == RowReduction::ArgMax;
}

/// Whether results lie side by side, as what they are made of does: then results are the lanes, and not what is put together for each.
bool lies_beside(const Rows& rows, const std::vector<bool>& goes) {
    const TypedExpr& last = rows.extents.back();
    if (goes.back() || rows.turned || rows.inner_lanes || (last.number().constant && last.number().scalar.i <= 8)) return false;
    return std::ranges::none_of(rows.reads, [&](const View& v) {
        const auto rank = static_cast<std::size_t>(v.rank);
        for (std::size_t d = 0; rank <= goes.size() && d + 1 < rank; ++d) {
            const TypedExpr& stride = v.lead[1 + rank + d];
            if (goes[goes.size() - rank + d] && stride.number().constant && stride.number().scalar.i == 1 && !is_one(v.lead[1 + d]))
                return true;
        }
        return false;
    });
}

}  // namespace

/// The number of elements below the extents.
TypedExpr Lowering::count_of(std::span<const TypedExpr> extents) {
    TypedExpr count = integer(1);
    for (const TypedExpr& e : extents) count = mul(count, e);
    return count;
}

/// One reduction of all elements below the extents.
TypedExpr Lowering::folded_rows(const RowFold& fold, std::span<const TypedExpr> extents, DType of, bool lanes, const ElementsAt& at) {
    const Place& place = fold.place;
    const DType real = weak_dtype(DType::Float64, options_.fp64);
    constexpr NumberType boolean{DType::Bool, false};
    const auto accumulate = [&](ir::Combine combine, DType type, const ElementsAt& element) {
        return accumulated(extents, combine, type, lanes, element);
    };
    const auto require_elements = [&](const std::string& message) {
        const TypedExpr count = count_of(extents);
        TypedExpr empty = flag(count.number().constant && count.number().scalar.i == 0);
        if (!count.number().constant) {
            empty = number(boolean, ir::no_value);
            if (walk_.builds()) empty.number().value = builder_.eq(value(count, DType::Int64), builder_.i64(0));
        }
        fail_when(empty, ErrorCode::Value, message, place, {});
    };
    const auto mean_dtype = [&] { return is_inexact(of) ? (of == DType::Float16 ? DType::Float32 : of) : real; };
    const auto mean = [&](DType type, const ElementsAt& element) {
        const TypedExpr total = accumulate(ir::Combine::Add, type, element);
        return binary("/", total, cast(count_of(extents), {real_of(type), false}), place);
    };
    switch (fold.op) {
        case RowReduction::Sum: return accumulate(ir::Combine::Add, fold.dtype.value_or(sum_dtype(of)), at);
        case RowReduction::PlainSum: return accumulate(ir::Combine::Add, of == DType::Bool ? DType::Int64 : of, at);
        case RowReduction::Prod: return accumulate(ir::Combine::Mul, fold.dtype.value_or(sum_dtype(of)), at);
        case RowReduction::CountNonzero:
            return accumulate(ir::Combine::Add, DType::Int64, [&](std::span<const TypedExpr> i) {
                return cast(truth(at(i), place), {DType::Int64, false});
            });
        case RowReduction::Any: return accumulate(ir::Combine::Or, DType::Bool, [&](auto i) { return truth(at(i), place); });
        case RowReduction::All: return accumulate(ir::Combine::And, DType::Bool, [&](auto i) { return truth(at(i), place); });
        case RowReduction::Mean: {
            const DType type = mean_dtype();
            return cast(mean(fold.dtype.value_or(type), at), {fold.dtype.value_or(is_inexact(of) ? of : real), false});
        }
        case RowReduction::Min:
        case RowReduction::Max:
            if (is_complex(of)) wrong_type(place, "complex numbers have no order in a kernel");
            require_elements(std::string("zero-size array to reduction operation ") +
                             (fold.op == RowReduction::Min ? "minimum" : "maximum") + " which has no identity");
            return accumulate(fold.op == RowReduction::Min ? ir::Combine::Min : ir::Combine::Max, of, at);
        case RowReduction::ArgMin:
        case RowReduction::ArgMax: {
            if (is_complex(of)) wrong_type(place, "complex numbers have no order in a kernel");
            const bool least = fold.op == RowReduction::ArgMin;
            require_elements(std::string("attempt to get ") + (least ? "argmin" : "argmax") + " of an empty sequence");
            const TypedExpr best = accumulate(least ? ir::Combine::Min : ir::Combine::Max, of, at);
            const TypedExpr count = count_of(extents);
            // The first that equals it; of NaN, which equals nothing, the first NaN.
            TypedExpr first = accumulate(ir::Combine::Min, DType::Int64, [&](std::span<const TypedExpr> i) {
                TypedExpr place_in = integer(0);
                for (std::size_t d = 0; d < i.size(); ++d) place_in = add(mul(place_in, extents[d]), i[d]);
                const TypedExpr x = at(i);
                TypedExpr found = pure(Opcode::Eq, boolean, {x, best}, of);
                if (is_float(of)) found = pure(Opcode::Or, boolean, {found, pure(Opcode::Ne, boolean, {x, x}, of)}, DType::Bool);
                if (walk_.finds_types()) return number({DType::Int64, false}, ir::no_value);
                const Value none = value(count, DType::Int64), there = value(place_in, DType::Int64);
                return number({DType::Int64, false}, builder_.select(value(found), there, none));
            });
            first.number().least = 0;
            return first;
        }
        case RowReduction::Var:
        case RowReduction::Std: {
            const DType type = mean_dtype();
            const TypedExpr middle = mean(type, at);
            const DType part = real_of(type);
            const TypedExpr squares = accumulate(ir::Combine::Add, part, [&](std::span<const TypedExpr> i) {
                const TypedExpr d = binary("-", cast(at(i), {type, false}), middle, place);
                return squared(d, place);
            });
            const TypedExpr n = cast(index_arithmetic(Opcode::Sub, count_of(extents), fold.ddof), {part, false});
            TypedExpr divisor = n;  // never negative, as in NumPy
            if (walk_.builds() && !n.number().constant) divisor.number().value = builder_.max(value(n), builder_.constant(part, 0.0));
            TypedExpr out = binary("/", squares, divisor, place);
            const TypedExpr operand[] = {out};
            if (fold.op == RowReduction::Std) out = math(ir::Math::sqrt, operand, place);
            return cast(out, {real_of(is_inexact(of) ? of : real), false});
        }
        case RowReduction::Norm: {
            const DType type = is_inexact(of) ? of : real, part = real_of(type);
            const TypedExpr sum[] = {accumulate(ir::Combine::Add, part, [&](std::span<const TypedExpr> i) {
                return squared(cast(at(i), {type, false}), place);
            })};
            return math(ir::Math::sqrt, sum, place);
        }
    }
    return {};
}

/// |x|², of complex numbers a real one.
TypedExpr Lowering::squared(const TypedExpr& x, const Place& place) {
    if (!is_complex(x.number().type.dtype)) return binary("*", x, x, place);
    const NumberType part{real_of(x.number().type.dtype), false};
    const DType d = dtype(x.number().type);
    const TypedExpr re = pure(Opcode::Real, part, {x}, d), im = pure(Opcode::Imag, part, {x}, d);
    return binary("+", binary("*", re, re, place), binary("*", im, im, place), place);
}

/// A number made of the elements of an array where these may be asked for; else 0.
TypedExpr Lowering::number_of_rows(const Rows& rows, const std::function<TypedExpr(bool same)>& made) {
    const NumberType type = walk_.types_of([&] { return made(true); }).number().type;
    TypedExpr out = number(type, ir::no_value);
    if (rows.guards.empty() && rows.equal.empty()) return made(true);
    const auto run = [&](bool same) { return ir::Builder::Values{value(made(same))}; };
    const ir::Builder::Values values =
        where_valid(rows.guards, rows.equal, run, {walk_.value([&] { return builder_.constant(dtype(type), 0.0); })});
    if (walk_.builds()) out.number().value = values[0];
    return out;
}

/// A reduction of all elements, or along an axis: then the others' elements take a loop each.
TypedExpr Lowering::reduced(const TypedExpr& given, const RowFold& fold, const TypedExpr& axis, bool keeps) {
    const Place& place = fold.place;
    const TypedExpr array =
        given.kind() == Kind::Rows && takes_two_walks(fold.op) && given.rows()->cost >= dear ? settled(given, place) : given;
    const std::shared_ptr<const Rows> rows = rows_of(array);
    const std::size_t rank = rows->extents.size();
    const DType of = rows->type.dtype;
    std::vector<bool> goes(rank, axis.kind() == Kind::None);
    const auto take = [&](const TypedExpr& a) {
        if (a.kind() != Kind::Number || !a.number().constant || !is_integer(a.number().type.dtype))
            wrong_type(place, fold.name + ": axis is a constant integer or a tuple of such");
        const std::int64_t n = static_cast<std::int64_t>(rank),
                           k = a.number().scalar.as_int() < 0 ? a.number().scalar.as_int() + n : a.number().scalar.as_int();
        if (k < 0 || k >= n)
            fail(ErrorCode::Axis, place,
                 fold.name + ": axis " + std::to_string(a.number().scalar.as_int()) + " is out of bounds for array of dimension " +
                     std::to_string(n));
        if (goes[static_cast<std::size_t>(k)]) fail(ErrorCode::Value, place, fold.name + ": duplicate value in 'axis'");
        goes[static_cast<std::size_t>(k)] = true;
    };
    if (axis.kind() == Kind::Tuple)
        for (const TypedExpr& a : axis.tuple().items) take(a);
    else if (axis.kind() != Kind::None)
        take(axis);
    const bool all = std::ranges::all_of(goes, [](bool g) { return g; });
    if (all && !keeps)
        return number_of_rows(*rows, [&](bool same) {
            return folded_rows(fold, rows->extents, of, same && !rows->inner_lanes, [&](auto index) { return rows->at(index, same); });
        });
    std::vector<TypedExpr> inner;
    Rows out = *rows;
    out.extents.clear();
    for (std::size_t d = 0; d < rank; ++d) {
        if (goes[d]) inner.push_back(rows->extents[d]);
        if (!goes[d] || keeps) out.extents.push_back(goes[d] ? integer(1) : rows->extents[d]);
    }
    const bool beside = lies_beside(*rows, goes);
    out.moved = out.loops = true;
    out.inner_lanes = out.inner_lanes || !beside;
    out.at = [this, fold, rows, goes, inner, keeps, of, beside](std::span<const TypedExpr> index, bool same) {
        return folded_rows(fold, inner, of, same && !rows->inner_lanes && !beside, [&](std::span<const TypedExpr> own) {
            std::vector<TypedExpr> whole;
            std::size_t kept = 0, summed = 0;
            for (const bool g : goes) {
                whole.push_back(g ? own[summed++] : index[kept]);
                kept += !g || keeps ? 1 : 0;
            }
            return rows->at(whole, same);
        });
    };
    const std::vector<TypedExpr> sample(out.extents.size(), number({DType::Int64, true}, ir::no_value, 0));
    out.type = walk_.types_of([&] { return out.at(sample, true); }).number().type;
    return rows_expr(std::move(out));
}

}  // namespace pardo::lang
