// src/lang/array_expr/reductions.cpp: sums, extremes, places of extremes, means of arrays' elements, all of them or along an axis.
#include <algorithm>
#include <string>
#include <utility>

#include "lang/array_expr/parts.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

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

TypedExpr count_of(Memory& l, std::span<const TypedExpr> extents) {
    TypedExpr count = integer(1);
    for (const TypedExpr& e : extents) count = mul(l, count, e);
    return count;
}

namespace {

/// |x|², of complex numbers a real one.
TypedExpr squared(Memory& l, const TypedExpr& x, const Place& place) {
    if (!is_complex(x.number().type.dtype)) return number_binary(l, "*", x, x, place);
    const NumberType part{real_of(x.number().type.dtype), false};
    const DType d = l.rules.dtype(x.number().type);
    const TypedExpr re = pure(l, Opcode::Real, part, {x}, d), im = pure(l, Opcode::Imag, part, {x}, d);
    return number_binary(l, "+", number_binary(l, "*", re, re, place), number_binary(l, "*", im, im, place), place);
}

/// One reduction of all elements below the extents.
TypedExpr folded_rows(Memory& l, const RowFold& fold, std::span<const TypedExpr> extents, DType of, bool lanes, const ElementsAt& at) {
    const Place& place = fold.place;
    const DType real = weak_dtype(DType::Float64, l.task.options.fp64);
    constexpr NumberType boolean{DType::Bool, false};
    const auto accumulate = [&](ir::Combine combine, DType type, const ElementsAt& element) {
        return accumulated(l, extents, combine, type, lanes, element);
    };
    const auto require_elements = [&](const std::string& message) {
        const TypedExpr count = count_of(l, extents);
        TypedExpr empty = flag(count.number().constant && count.number().scalar.i == 0);
        if (!count.number().constant) {
            empty = number(boolean, ir::no_value);
            empty.number().value = l.builder.eq(value(l, count, DType::Int64), l.builder.i64(0));
        }
        fail_when(l, empty, ErrorCode::Value, message, place, {});
    };
    const auto mean_dtype = [&] { return is_inexact(of) ? computed_in(of) : real; };
    const auto mean = [&](DType type, const ElementsAt& element) {
        const TypedExpr total = accumulate(ir::Combine::Add, type, element);
        return number_binary(l, "/", total, cast(l, count_of(l, extents), {real_of(type), false}), place);
    };
    switch (fold.op) {
        case RowReduction::Sum: return accumulate(ir::Combine::Add, fold.dtype.value_or(sum_dtype(of)), at);
        case RowReduction::PlainSum: return accumulate(ir::Combine::Add, of == DType::Bool ? DType::Int64 : of, at);
        case RowReduction::Prod: return accumulate(ir::Combine::Mul, fold.dtype.value_or(sum_dtype(of)), at);
        case RowReduction::CountNonzero:
            return accumulate(ir::Combine::Add, DType::Int64, [&](std::span<const TypedExpr> i) {
                return cast(l, number_truth(l, at(i)), {DType::Int64, false});
            });
        case RowReduction::Any: return accumulate(ir::Combine::Or, DType::Bool, [&](auto i) { return number_truth(l, at(i)); });
        case RowReduction::All: return accumulate(ir::Combine::And, DType::Bool, [&](auto i) { return number_truth(l, at(i)); });
        case RowReduction::Mean: {
            const DType type = mean_dtype();
            return cast(l, mean(fold.dtype.value_or(type), at), {fold.dtype.value_or(is_inexact(of) ? of : real), false});
        }
        case RowReduction::Min:
        case RowReduction::Max:
            if (is_complex(of)) l.source.wrong_type(place, "complex numbers have no order in a kernel");
            require_elements(std::string("zero-size array to reduction operation ") +
                             (fold.op == RowReduction::Min ? "minimum" : "maximum") + " which has no identity");
            return accumulate(fold.op == RowReduction::Min ? ir::Combine::Min : ir::Combine::Max, of, at);
        case RowReduction::ArgMin:
        case RowReduction::ArgMax: {
            if (is_complex(of)) l.source.wrong_type(place, "complex numbers have no order in a kernel");
            const bool least = fold.op == RowReduction::ArgMin;
            require_elements(std::string("attempt to get ") + (least ? "argmin" : "argmax") + " of an empty sequence");
            const TypedExpr best = accumulate(least ? ir::Combine::Min : ir::Combine::Max, of, at);
            const TypedExpr count = count_of(l, extents);
            // The first that equals it; of NaN, which equals nothing, the first NaN.
            TypedExpr first = accumulate(ir::Combine::Min, DType::Int64, [&](std::span<const TypedExpr> i) {
                TypedExpr place_in = integer(0);
                for (std::size_t d = 0; d < i.size(); ++d) place_in = add(l, mul(l, place_in, extents[d]), i[d]);
                const TypedExpr x = at(i);
                TypedExpr found = pure(l, Opcode::Eq, boolean, {x, best}, of);
                if (is_float(of)) found = pure(l, Opcode::Or, boolean, {found, pure(l, Opcode::Ne, boolean, {x, x}, of)}, DType::Bool);
                const Value none = value(l, count, DType::Int64), there = value(l, place_in, DType::Int64);
                return number({DType::Int64, false}, l.builder.select(value(l, found), there, none));
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
                const TypedExpr d = number_binary(l, "-", cast(l, at(i), {type, false}), middle, place);
                return squared(l, d, place);
            });
            const TypedExpr n = cast(l, index_arithmetic(l, Opcode::Sub, count_of(l, extents), fold.ddof), {part, false});
            TypedExpr divisor = n;  // never negative, as in NumPy
            if (!n.number().constant) divisor.number().value = l.builder.max(value(l, n), l.builder.constant(part, 0.0));
            TypedExpr out = number_binary(l, "/", squares, divisor, place);
            const TypedExpr operand[] = {out};
            if (fold.op == RowReduction::Std) out = math(l, ir::Math::sqrt, operand, place);
            return cast(l, out, {real_of(is_inexact(of) ? of : real), false});
        }
        case RowReduction::Norm: {
            const DType type = is_inexact(of) ? of : real, part = real_of(type);
            const TypedExpr sum[] = {accumulate(ir::Combine::Add, part, [&](std::span<const TypedExpr> i) {
                return squared(l, cast(l, at(i), {type, false}), place);
            })};
            return math(l, ir::Math::sqrt, sum, place);
        }
    }
    return {};
}

}  // namespace

TypedExpr number_of_rows(Memory& l, const Rows& rows, const std::function<TypedExpr(bool same)>& made) {
    const NumberType type = l.walk.types_of([&] { return made(true); }).number().type;
    TypedExpr out = number(type, ir::no_value);
    if (rows.guards.empty() && rows.equal.empty()) return made(true);
    const auto run = [&](bool same) { return ir::Builder::Values{value(l, made(same))}; };
    const ir::Builder::Values values = where_valid(l, rows.guards, rows.equal, run, {l.builder.constant(l.rules.dtype(type), 0.0)});
    out.number().value = values[0];
    return out;
}

TypedExpr reduced(Memory& l, const TypedExpr& given, const RowFold& fold, const TypedExpr& axis, bool keeps) {
    const Place& place = fold.place;
    const TypedExpr array =
        given.kind() == Kind::Rows && takes_two_walks(fold.op) && given.rows()->cost >= dear ? settled(l, given, place) : given;
    const std::shared_ptr<const Rows> rows = rows_of(l, array);
    const std::size_t rank = rows->extents.size();
    const DType of = rows->type.dtype;
    std::vector<bool> goes(rank, axis.kind() == Kind::None);
    const auto take = [&](const TypedExpr& a) {
        if (a.kind() != Kind::Number || !a.number().constant || !is_integer(a.number().type.dtype))
            l.source.wrong_type(place, fold.name + ": axis is a constant integer or a tuple of such");
        const std::int64_t n = static_cast<std::int64_t>(rank),
                           k = a.number().scalar.as_int() < 0 ? a.number().scalar.as_int() + n : a.number().scalar.as_int();
        if (k < 0 || k >= n)
            l.source.fail(ErrorCode::Axis, place,
                          fold.name + ": axis " + std::to_string(a.number().scalar.as_int()) + " is out of bounds for array of dimension " +
                              std::to_string(n));
        if (goes[static_cast<std::size_t>(k)]) l.source.fail(ErrorCode::Value, place, fold.name + ": duplicate value in 'axis'");
        goes[static_cast<std::size_t>(k)] = true;
    };
    if (axis.kind() == Kind::Tuple)
        for (const TypedExpr& a : axis.tuple().items) take(a);
    else if (axis.kind() != Kind::None)
        take(axis);
    const bool all = std::ranges::all_of(goes, [](bool g) { return g; });
    if (all && !keeps)
        return number_of_rows(l, *rows, [&](bool same) {
            return folded_rows(l, fold, rows->extents, of, same && !rows->inner_lanes, [&](auto index) { return rows->at(index, same); });
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
    out.at = [&l, fold, rows, goes, inner, keeps, of, beside](std::span<const TypedExpr> index, bool same) {
        return folded_rows(l, fold, inner, of, same && !rows->inner_lanes && !beside, [&](std::span<const TypedExpr> own) {
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
    out.type = l.walk.types_of([&] { return out.at(sample, true); }).number().type;
    return rows_expr(std::move(out));
}

}  // namespace pardo::lang
