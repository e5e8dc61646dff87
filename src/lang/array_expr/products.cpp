// src/lang/array_expr/products.cpp: products of vectors and matrices inside of kernels: of small ones, in loops.
#include <utility>

#include "lang/array_expr/parts.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

/// Whether the first axis of a matrix is the one of neighbours: then products go along it.
bool has_columns(const TypedExpr& t) {
    const TypedExpr& stride = t.view().lead[3];
    return stride.number().constant && stride.number().scalar.i == 1;
}

}  // namespace

void require_same(Memory& l, const TypedExpr& a, const TypedExpr& b, const std::string& message, const Place& place,
                  std::vector<Guard>& guards) {
    if (known_equal(l.walk, a, b)) return;
    if (a.number().constant && b.number().constant)
        l.source.fail(ErrorCode::Value, place,
                      message + ": " + std::to_string(a.number().scalar.i) + " and " + std::to_string(b.number().scalar.i));
    TypedExpr differ = number({DType::Bool, false}, ir::no_value);
    Guard guard{};
    const Value other = value(l, b, DType::Int64);
    guard.inside = l.builder.eq(value(l, a, DType::Int64), other);
    differ.number().value = l.builder.bit_not(guard.inside);
    fail_when(l, differ, ErrorCode::Value, message + ": $0 and $1", place, {a, b});
    if (l.walk.builds()) guards.push_back(guard);
}

TypedExpr product(Memory& l, const TypedExpr& given_a, const TypedExpr& given_b, const std::string& op_name, const Place& place) {
    const std::size_t m = rows_of(l, given_a)->extents.size(), n = rows_of(l, given_b)->extents.size();
    if (m > 2 || n > 2)
        l.source.fail(ErrorCode::Value, place, op_name + ": in a kernel products are of vectors and matrices, of at most two dimensions");
    if (m == 2 && n == 2 && l.rules.exact && l.task.options.library_products && !l.lanes.in_rounds)
        l.source.wrong_type(
            place, op_name + ": products of two large matrices in serial loops are left to NumPy's library; in prange they are compiled");
    const bool dot = m == 1 && n == 1;
    const TypedExpr a = dot ? given_a : settled(l, given_a, place), b = dot ? given_b : settled(l, given_b, place);
    const std::shared_ptr<const Rows> x = rows_of(l, a), y = rows_of(l, b);
    const DType type = promote(x->type.dtype, y->type.dtype);
    const bool logical = type == DType::Bool;
    const ir::Combine combine = logical ? ir::Combine::Or : ir::Combine::Add;
    const auto term = [=, &l](const TypedExpr& p, const TypedExpr& q) {
        const NumberType to{type, false};
        const TypedExpr y = cast(l, q, to), x = cast(l, p, to);
        return number_binary(l, logical ? "&" : "*", x, y, place);
    };
    Rows shape;  // what has to hold
    shape.guards = x->guards;
    shape.guards.insert(shape.guards.end(), y->guards.begin(), y->guards.end());
    shape.equal = x->equal;
    shape.equal.insert(shape.equal.end(), y->equal.begin(), y->equal.end());
    shape.reads = x->reads;
    shape.reads.insert(shape.reads.end(), y->reads.begin(), y->reads.end());
    const TypedExpr length = x->extents.back();
    require_same(l, length, y->extents.front(), op_name + ": the last axis of the first and the first of the second operand differ", place,
                 shape.guards);
    if (dot)
        return number_of_rows(l, shape, [&](bool same) {
            return accumulated(l, std::span(&length, 1), combine, type, same && !x->inner_lanes && !y->inner_lanes,
                               [&](auto k) { return term(x->at(k, same), y->at(k, same)); });
        });
    shape.type = {type, false};
    shape.moved = shape.loops = shape.inner_lanes = true;
    if (m == 2) shape.extents.push_back(x->extents[0]);
    if (n == 2) shape.extents.push_back(y->extents[1]);
    const auto at = [](const Rows& r, const TypedExpr& i, const TypedExpr& j) {
        const TypedExpr both[] = {i, j};
        return r.at(both, true);
    };
    const auto one = [](const Rows& r, const TypedExpr& i) { return r.at(std::span(&i, 1), true); };
    if (n == 1 || has_columns(b)) {  // both go along what is summed up
        shape.at = [=, &l](std::span<const TypedExpr> index, bool) {
            return accumulated(l, std::span(&length, 1), combine, type, true, [&](std::span<const TypedExpr> k) {
                const TypedExpr p = m == 2 ? at(*x, index[0], k[0]) : one(*x, k[0]);
                return term(p, n == 2 ? at(*y, k[0], index.back()) : one(*y, k[0]));
            });
        };
        return rows_expr(std::move(shape));
    }
    // Rows of the second are added up.
    const TypedExpr sums = own_memory(l, "product", type, shape.extents, place);
    const TypedExpr columns = sums.view().lead[1 + (m == 2 ? 1U : 0U)];
    store_rows(l, sums.view(), cast(l, integer(0), {type, false}), place);
    constexpr std::int64_t few = 8;
    const auto at_once = [&](std::span<const TypedExpr> index) {  // of few columns each sum by itself
        const TypedExpr sum = accumulated(l, std::span(&length, 1), combine, type, true, [&](std::span<const TypedExpr> k) {
            return term(m == 2 ? at(*x, index[0], k[0]) : one(*x, k[0]), at(*y, k[0], index.back()));
        });
        store_element(l, view_at(l, sums.view(), index), sum, place);
    };
    constexpr std::int64_t together = 4;  // rows, for each time that a sum is read and written; added in their order
    const auto add_rows = [&](std::span<const TypedExpr> row, const TypedExpr& first, std::int64_t count) {
        std::vector<TypedExpr> ks, factors;
        for (std::int64_t r = 0; r < count; ++r) {
            ks.push_back(add(l, first, integer(r)));
            factors.push_back(m == 2 ? at(*x, row[0], ks.back()) : one(*x, ks.back()));
        }
        nest(l, std::span(&columns, 1), true, [&](std::span<const TypedExpr> j) {
            std::vector<TypedExpr> place_in(row.begin(), row.end());
            place_in.push_back(j[0]);
            const View sum = view_at(l, sums.view(), place_in);
            TypedExpr total = element(l, sum);
            for (std::size_t r = 0; r < ks.size(); ++r)
                total = cast(l, number_binary(l, logical ? "|" : "+", total, term(factors[r], at(*y, ks[r], j[0])), place), {type, false});
            store_element(l, sum, total, place);
        });
    };
    const auto whole = [&](Value n) { return number({DType::Int64, true}, n, 0); };
    const auto add_all = [&](std::span<const TypedExpr> row) {
        const Value pieces = l.builder.floor_div(value(l, length, DType::Int64), l.builder.i64(together));
        const Value done = l.builder.mul(pieces, l.builder.i64(together));
        const TypedExpr several = whole(pieces), rest = whole(l.builder.sub(value(l, length, DType::Int64), done));
        nest(l, std::span(&several, 1), false, [&](auto k) { add_rows(row, mul(l, k[0], integer(together)), together); });
        nest(l, std::span(&rest, 1), false, [&](auto k) { add_rows(row, add(l, k[0], whole(done)), 1); });
    };
    where_valid(l, shape.guards, shape.equal,
                [&](bool) {
                    const auto by_rows = [&] {
                        m == 2 ? nest(l, std::span(&sums.view().lead[1], 1), false, add_all, true) : add_all({});
                        return ir::Builder::Values();
                    };
                    const auto by_elements = [&] {
                        nest(l, shape.extents, false, at_once, true);
                        return ir::Builder::Values();
                    };
                    if (l.walk.finds_types()) {
                        by_elements();
                        return by_rows();
                    }
                    return l.builder.if_else(l.builder.lt(value(l, columns, DType::Int64), l.builder.i64(few)), by_elements, by_rows);
                },
                {});
    return sums;
}

TypedExpr outer_product(Memory& l, const TypedExpr& given_a, const TypedExpr& given_b, const Place& place) {
    const TypedExpr a = settled(l, given_a, place), b = settled(l, given_b, place);
    if (a.kind() != Kind::Array || b.kind() != Kind::Array || a.view().rank != 1 || b.view().rank != 1)
        l.source.wrong_type(place, "outer: two arrays of one dimension are expected, not " + describe(a) + " and " + describe(b));
    TypedExpr column = a;
    column.view().rank = 2;
    column.view().lead = {a.view().lead[0], a.view().lead[1], integer(1), a.view().lead[2], integer(0)};
    return array_binary(l, "*", column, b, place);
}

}  // namespace pardo::lang
