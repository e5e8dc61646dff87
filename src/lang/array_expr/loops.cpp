// src/lang/array_expr/loops.cpp: the loops that array expressions become: over elements, and over what is put together.
#include <algorithm>
#include <utility>

#include "lang/array_expr/parts.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

constexpr std::int64_t most_copies = 8;      // of a body, in place of a loop
constexpr std::int64_t piece_length = 2048;  // elements of one dimension that a thread takes at a time

/// The axes from which on all are written out.
std::size_t written_out_from(std::span<const TypedExpr> extents) {
    std::int64_t copies = 1;
    std::size_t d = extents.size();
    for (; d > 0; --d) {
        const TypedExpr& extent = extents[d - 1];
        if (!extent.number().constant || copies * std::max<std::int64_t>(extent.number().scalar.i, 1) > most_copies) break;
        copies *= std::max<std::int64_t>(extent.number().scalar.i, 1);
    }
    return d;
}

ir::Builder::Values nothing() { return {}; }

}  // namespace

ir::Builder::Values where_valid(Memory& l, const std::vector<Guard>& guards, const std::vector<Equal>& equal,
                                const std::function<ir::Builder::Values(bool same)>& run, const ir::Builder::Values& otherwise) {
    if (l.walk.finds_types()) {
        l.host.uses_status = l.host.uses_status || !guards.empty() || !equal.empty();
        return run(true);
    }
    const auto both = [&](Value a, Value b) { return a == ir::no_value ? b : l.builder.bit_and(a, b); };
    const auto is_one = [&](const TypedExpr& extent) { return l.builder.eq(value(l, extent, DType::Int64), l.builder.i64(1)); };
    const auto same_extent = [&](const Equal& e) {
        const Value part = value(l, e.part, DType::Int64);
        return l.builder.eq(value(l, e.whole, DType::Int64), part);
    };
    const auto fits = [&](const Equal& e) {
        const Value either = l.builder.bit_or(same_extent(e), is_one(e.part));
        return e.fills ? either : l.builder.bit_or(either, is_one(e.whole));
    };
    const auto tell = [&] {
        for (const Equal& e : equal) {
            l.builder.if_else(fits(e), nothing, [&] {
                const Value values[] = {value(l, e.part, DType::Int64), value(l, e.whole, DType::Int64)};
                report(l, ErrorCode::Value,
                       e.fills ? "$0 elements do not fill $1" : "operands could not be broadcast together: an axis has $1 elements, and $0",
                       e.place, values, e.function);
                return nothing();
            });
        }
        return otherwise;
    };
    const auto others = [&] {
        Value all = ir::no_value;
        for (const Equal& e : equal) all = both(all, fits(e));
        return l.builder.if_else(
            all, [&] { return run(false); }, tell);
    };
    const auto valid = [&] {
        Value all = ir::no_value;
        for (const Equal& e : equal) all = both(all, same_extent(e));
        return all == ir::no_value ? run(true)
                                   : l.builder.if_else(
                                         all, [&] { return run(true); }, others);
    };
    if (guards.empty()) return valid();
    View v;
    v.guards = guards;
    return guarded(l, v, valid, otherwise);
}

void nest(Memory& l, std::span<const TypedExpr> extents, bool lanes, const std::function<void(std::span<const TypedExpr>)>& body,
          bool apart) {
    const bool shared = apart && l.task.options.threads && l.rules.exact && !l.lanes.inside && !l.lanes.in_rounds;
    const std::size_t short_from = written_out_from(extents);
    std::vector<TypedExpr> index(extents.size());
    const auto walk = [&](std::size_t d, const auto& self) -> void {
        if (d == extents.size()) return body(index);
        if (d >= short_from) {
            for (std::int64_t i = 0; i < extents[d].number().scalar.i; ++i) {
                index[d] = integer(i);
                self(d + 1, self);
            }
            return;
        }
        const bool innermost = d + 1 == short_from;
        if (l.walk.finds_types()) {
            if (innermost) l.lanes.note_row_loop(l.task.options.lane_loops && l.task.space.group_size.empty());
            index[d] = number({DType::Int64, true}, ir::no_value, 0);
            return self(d + 1, self);
        }
        const auto at = [&](Value i) {
            index[d] = number({DType::Int64, true}, i, 0);
            self(d + 1, self);
            return nothing();
        };
        const Value count = value(l, extents[d], DType::Int64), zero = l.builder.i64(0), one = l.builder.i64(1);
        const ir::LoopKind kind = shared && d == 0 ? ir::LoopKind::Parallel : ir::LoopKind::Serial;
        if (!innermost || !lanes || !l.lanes.are_row_loops()) {
            l.builder.for_loop(
                zero, count, one, {}, [&](Value i, std::span<const Value>) { return at(i); }, 0, kind);
            return;
        }
        const bool outer = std::exchange(l.lanes.inside, true);
        if (kind == ir::LoopKind::Serial || (extents[d].number().constant && extents[d].number().scalar.i <= piece_length)) {
            l.builder.for_lanes(zero, count, {}, at);
        } else {
            const Value length = l.builder.i64(piece_length);
            const Value pieces = l.builder.floor_div(l.builder.add(count, l.builder.i64(piece_length - 1)), length);
            const auto piece = [&](Value k, std::span<const Value>) {
                const Value first = l.builder.mul(k, length);
                l.builder.for_lanes(first, l.builder.min(l.builder.add(first, length), count), {}, at);
                return nothing();
            };
            l.builder.for_loop(zero, pieces, one, {}, piece, 0, kind);
        }
        l.lanes.inside = outer;
    };
    const int arrays = l.arrays.made;
    walk(0, walk);
    if (shared && l.walk.builds() && l.arrays.made != arrays)
        throw Error(ErrorCode::Internal, "compile: elements that threads share make arrays");
}

TypedExpr accumulated(Memory& l, std::span<const TypedExpr> extents, ir::Combine combine, DType type, bool lanes,
                      const std::function<TypedExpr(std::span<const TypedExpr>)>& element) {
    const std::size_t short_from = written_out_from(extents);
    std::vector<TypedExpr> index(extents.size());
    const auto join = [&](Value a, Value b) { return a == ir::no_value ? b : l.builder.combine(combine, a, b); };
    const auto walk = [&](std::size_t d, Value total, const auto& self) -> Value {
        if (d == extents.size()) {
            const Value v = value(l, element(index), type);
            return join(total, v);
        }
        if (d >= short_from) {
            for (std::int64_t i = 0; i < extents[d].number().scalar.i; ++i) {
                index[d] = integer(i);
                total = self(d + 1, total, self);
            }
            return total;
        }
        const bool innermost = d + 1 == short_from;
        if (l.walk.finds_types()) {
            if (innermost) l.lanes.note_row_loop(l.task.options.lane_loops && l.task.space.group_size.empty());
            index[d] = number({DType::Int64, true}, ir::no_value, 0);
            return self(d + 1, total, self);
        }
        const Value zero = l.builder.i64(0), count = value(l, extents[d], DType::Int64);
        if (total == ir::no_value) total = l.builder.identity(combine, type);
        if (innermost && lanes && l.lanes.are_row_loops()) {
            const ir::Reduction reduction{combine, total};
            const bool outer = std::exchange(l.lanes.inside, true);
            const Value sum = l.builder.for_lanes(zero, count, std::span(&reduction, 1), [&](Value i) {
                index[d] = number({DType::Int64, true}, i, 0);
                Value v = self(d + 1, ir::no_value, self);
                if (v == ir::no_value) v = l.builder.identity(combine, type);
                return ir::Builder::Values{v};
            })[0];
            l.lanes.inside = outer;
            return sum;
        }
        return l.builder.for_loop(zero, count, l.builder.i64(1), std::span(&total, 1), [&](Value i, std::span<const Value> carried) {
            index[d] = number({DType::Int64, true}, i, 0);
            return ir::Builder::Values{self(d + 1, carried[0], self)};
        })[0];
    };
    Value total = walk(0, ir::no_value, walk);
    if (total == ir::no_value) total = l.builder.identity(combine, type);
    return number({type, false}, total);
}

}  // namespace pardo::lang
