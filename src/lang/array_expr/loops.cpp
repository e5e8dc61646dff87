// src/lang/array_expr/loops.cpp: the loops that array expressions become: over elements, and over what is put together.
#include <algorithm>
#include <utility>

#include "lang/array_expr/array_expr.h"
#include "lang/lowering.h"

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

/// Does `run` where `guards` hold: with `same` where the extents are equal, and else, if they can be broadcast, another time for those.
/// `otherwise`: what it gives where that is not so, and reported.
ir::Builder::Values Lowering::where_valid(const std::vector<Guard>& guards, const std::vector<Equal>& equal,
                                          const std::function<ir::Builder::Values(bool same)>& run, const ir::Builder::Values& otherwise) {
    if (walk_.finds_types()) {
        host_.uses_status = host_.uses_status || !guards.empty() || !equal.empty();
        return run(true);
    }
    const auto both = [&](Value a, Value b) { return a == ir::no_value ? b : builder_.bit_and(a, b); };
    const auto is_one = [&](const TypedExpr& extent) { return builder_.eq(value(extent, DType::Int64), builder_.i64(1)); };
    const auto same_extent = [&](const Equal& e) {
        const Value part = value(e.part, DType::Int64);
        return builder_.eq(value(e.whole, DType::Int64), part);
    };
    const auto fits = [&](const Equal& e) {
        const Value either = builder_.bit_or(same_extent(e), is_one(e.part));
        return e.fills ? either : builder_.bit_or(either, is_one(e.whole));
    };
    const auto tell = [&] {
        for (const Equal& e : equal) {
            builder_.if_else(fits(e), nothing, [&] {
                const Value values[] = {value(e.part, DType::Int64), value(e.whole, DType::Int64)};
                report(ErrorCode::Value,
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
        return builder_.if_else(
            all, [&] { return run(false); }, tell);
    };
    const auto valid = [&] {
        Value all = ir::no_value;
        for (const Equal& e : equal) all = both(all, same_extent(e));
        return all == ir::no_value ? run(true)
                                   : builder_.if_else(
                                         all, [&] { return run(true); }, others);
    };
    if (guards.empty()) return valid();
    View v;
    v.guards = guards;
    return guarded(v, valid, otherwise);
}

/// Calls body for each index below the extents; `lanes`: the order does not matter.
void Lowering::nest(std::span<const TypedExpr> extents, bool lanes, const std::function<void(std::span<const TypedExpr>)>& body,
                    bool apart) {
    const bool shared = apart && options_.threads && exact_integers() && !lanes_.inside && !lanes_.in_rounds;
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
        if (walk_.finds_types()) {
            if (innermost) lanes_.note_row_loop(options_.lane_loops && space_.group_size.empty());
            index[d] = number({DType::Int64, true}, ir::no_value, 0);
            return self(d + 1, self);
        }
        const auto at = [&](Value i) {
            index[d] = number({DType::Int64, true}, i, 0);
            self(d + 1, self);
            return nothing();
        };
        const Value count = value(extents[d], DType::Int64), zero = builder_.i64(0), one = builder_.i64(1);
        const ir::LoopKind kind = shared && d == 0 ? ir::LoopKind::Parallel : ir::LoopKind::Serial;
        if (!innermost || !lanes || !lanes_.are_row_loops()) {
            builder_.for_loop(
                zero, count, one, {}, [&](Value i, std::span<const Value>) { return at(i); }, 0, kind);
            return;
        }
        const bool outer = std::exchange(lanes_.inside, true);
        if (kind == ir::LoopKind::Serial || (extents[d].number().constant && extents[d].number().scalar.i <= piece_length)) {
            builder_.for_lanes(zero, count, {}, at);
        } else {
            const Value length = builder_.i64(piece_length);
            const Value pieces = builder_.floor_div(builder_.add(count, builder_.i64(piece_length - 1)), length);
            const auto piece = [&](Value k, std::span<const Value>) {
                const Value first = builder_.mul(k, length);
                builder_.for_lanes(first, builder_.min(builder_.add(first, length), count), {}, at);
                return nothing();
            };
            builder_.for_loop(zero, pieces, one, {}, piece, 0, kind);
        }
        lanes_.inside = outer;
    };
    const int arrays = arrays_;
    walk(0, walk);
    if (shared && walk_.builds() && arrays_ != arrays) throw Error(ErrorCode::Internal, "compile: elements that threads share make arrays");
}

/// All elements below the extents, combined.
TypedExpr Lowering::accumulated(std::span<const TypedExpr> extents, ir::Combine combine, DType type, bool lanes,
                                const std::function<TypedExpr(std::span<const TypedExpr>)>& element) {
    const std::size_t short_from = written_out_from(extents);
    std::vector<TypedExpr> index(extents.size());
    const auto join = [&](Value a, Value b) { return a == ir::no_value ? b : builder_.combine(combine, a, b); };
    const auto walk = [&](std::size_t d, Value total, const auto& self) -> Value {
        if (d == extents.size()) {
            const Value v = value(element(index), type);
            return walk_.value([&] { return join(total, v); });
        }
        if (d >= short_from) {
            for (std::int64_t i = 0; i < extents[d].number().scalar.i; ++i) {
                index[d] = integer(i);
                total = self(d + 1, total, self);
            }
            return total;
        }
        const bool innermost = d + 1 == short_from;
        if (walk_.finds_types()) {
            if (innermost) lanes_.note_row_loop(options_.lane_loops && space_.group_size.empty());
            index[d] = number({DType::Int64, true}, ir::no_value, 0);
            return self(d + 1, total, self);
        }
        const Value zero = builder_.i64(0), count = value(extents[d], DType::Int64);
        if (total == ir::no_value) total = builder_.identity(combine, type);
        if (innermost && lanes && lanes_.are_row_loops()) {
            const ir::Reduction reduction{combine, total};
            const bool outer = std::exchange(lanes_.inside, true);
            const Value sum = builder_.for_lanes(zero, count, std::span(&reduction, 1), [&](Value i) {
                index[d] = number({DType::Int64, true}, i, 0);
                Value v = self(d + 1, ir::no_value, self);
                if (v == ir::no_value) v = builder_.identity(combine, type);
                return ir::Builder::Values{v};
            })[0];
            lanes_.inside = outer;
            return sum;
        }
        return builder_.for_loop(zero, count, builder_.i64(1), std::span(&total, 1), [&](Value i, std::span<const Value> carried) {
            index[d] = number({DType::Int64, true}, i, 0);
            return ir::Builder::Values{self(d + 1, carried[0], self)};
        })[0];
    };
    Value total = walk(0, ir::no_value, walk);
    if (walk_.builds() && total == ir::no_value) total = builder_.identity(combine, type);
    return number({type, false}, walk_.value([&] { return total; }));
}

}  // namespace pardo::lang
