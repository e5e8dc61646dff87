// src/lang/loops/shared_rounds.cpp: `prange` inside of serial loops: one program, in which threads share its iterations.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/loops/dependence.h"
#include "lang/loops/loops.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"
#include "lang/syntax_facts.h"
#include "lang/typing/joins.h"

namespace pardo::lang {

namespace {

constexpr std::int64_t piece_length = 2048, long_piece_length = 32;  // iterations of short and of long ones that a thread takes at a time
constexpr std::int64_t most_blocks = 64;                             // of iterations that reduce, each to numbers of its own

TypedExpr with_value(TypedExpr like, Value v) {
    like.number().value = v;
    return like;
}

struct Reduced {
    std::string name;
    ir::Combine combine;
    Variable before;
    TypedExpr like;
};

/// How many iterations `for … in prange(start, stop, step)` has.
Value rounds_of(Lowering& l, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step) {
    const Value first = value(l, start, DType::Int64), one = l.builder.i64(1), each = value(l, step, DType::Int64);
    const Value way = l.builder.sub(value(l, stop, DType::Int64), first);
    if (step.number().constant && step.number().scalar.i == 1) return l.builder.max(way, l.builder.i64(0));
    const Value towards = l.builder.select(l.builder.lt(l.builder.i64(0), each), one, l.builder.i64(-1));
    return l.builder.max(l.builder.floor_div(l.builder.add(way, l.builder.sub(each, towards)), each), l.builder.i64(0));
}

/// Names that iterations reduce into: numbers from before the loop.
std::vector<Reduced> reduced_by(const Lowering& l, const Tree& t, const std::set<std::string>& assigned) {
    std::vector<Reduced> found;
    for (const std::string& name : assigned) {
        const auto before = l.scope.find(name);
        if (before == l.scope.end() || before->second.maybe || before->second.expr.kind() != Kind::Number) continue;
        Use use;
        collect_use(t.parts[4], name, use);
        if (use.combine && use.reduces) found.push_back({name, *use.combine, before->second, unbounded(l.rules, before->second.expr)});
    }
    return found;
}

}  // namespace

bool shared_rounds(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step) {
    const Tree& statements = t.parts[4];
    const bool of_user = l.stack.size() == 1 && !l.lanes.in_rounds;
    const std::string own_program = "this parallel loop is a program of its own: ";
    const auto refuse = [&](const std::string& why) {
        if (of_user) l.source.fail(ErrorCode::Type, t.place, own_program + why);
        return false;
    };
    for (const Form form : {Form::Break, Form::Return, Form::Raise, Form::Assert})
        if (contains(statements, form, form != Form::Break)) return refuse("it may be left early");
    if (l.scope.contains(draws_name)) return refuse("random numbers are drawn in it");
    for (const auto& [name, v] : l.scope)
        if (v.expr.kind() == Kind::List && mentions(statements, name)) return refuse("it uses the list `" + name + "`");
    std::set<std::string> assigned;
    collect_targets(t, assigned);
    const Scope before = l.scope;
    const auto rebound = l.rebound;
    const auto own = l.own;
    std::vector<Reduced> reduced = reduced_by(l, t, assigned);
    if (l.lanes.in_rounds && !reduced.empty()) return false;  // those of an iteration follow each other
    for (const std::string& name : assigned) {
        if (of_user && l.scope.contains(name)) l.own.insert(name);
        l.scope.erase(name);
        l.rebound.erase(name);
    }
    for (const char* name : {break_flag, continue_flag}) give(l, name, flag(false), t.place);
    const Scope inside = l.scope;
    const bool outer_rounds = std::exchange(l.lanes.in_rounds, true);
    l.around.push_back({&t, l.stack.size()});
    const bool plain = start.number().constant && start.number().scalar.i == 0 && step.number().constant && step.number().scalar.i == 1;
    /// One iteration; `values`: of the names that it reduces into.
    const auto iteration = [&](Value round, std::span<const TypedExpr> values) {
        l.scope = inside;
        for (std::size_t k = 0; k < reduced.size(); ++k) give(l, reduced[k].name, values[k], reduced[k].before.place);
        Value v = round;
        if (!plain) {
            const Value gone = l.builder.mul(v, value(l, step, DType::Int64));
            v = l.builder.add(value(l, start, DType::Int64), gone);
        }
        TypedExpr i = number({DType::Int64, true}, v, unknown_least);
        if (step.number().least > 0) i.number().least = start.number().least;
        if (step.number().constant && step.number().scalar.i < 0 && stop.number().least != unknown_least)
            i.number().least = stop.number().least + 1;
        i.number().bits = static_cast<std::uint8_t>(std::max(bits_of(start), bits_of(stop)));
        assign(l, t.parts[0], i, t.place);
        block(l, statements.parts);
        const TypedExpr on = l.scope.at(return_flag).expr;
        if (!on.number().constant || on.number().scalar.b) l.source.fail(ErrorCode::Type, t.place, own_program + "it may be left early");
    };
    const auto leave = [&](std::span<const Value> totals) {
        l.scope = before;
        l.rebound = rebound;
        l.own = own;
        l.lanes.in_rounds = outer_rounds;
        l.around.pop_back();
        for (std::size_t k = 0; k < reduced.size(); ++k)
            set_variable(l, reduced[k].name, with_value(reduced[k].like, l.walk.value([&] { return totals[k]; })), reduced[k].before.place);
    };
    const int loops_before = l.lanes.inner_loops;
    if (l.walk.finds_types() || !of_user || !reduced.empty()) {
        const bool lanes_around = l.lanes.inside, met = std::exchange(l.lanes.met_rows, false);
        const Source source = l.source;
        const auto stack = l.stack;
        const std::size_t depth = l.around.size();
        std::set<const Tree*> lane_loops;
        std::swap(lane_loops, l.lanes.loops);
        bool works = true;
        try {
            for (bool stable = false; !stable;) {
                std::vector<TypedExpr> likes;
                likes.reserve(reduced.size());
                for (const Reduced& r : reduced) likes.push_back(r.like);
                l.walk.types_of([&] { iteration(ir::no_value, likes); });
                stable = true;
                for (Reduced& r : reduced) {
                    TypedExpr next = unbounded(l.rules, joined(l.rules, r.name, {r.like, r.before.place}, l.scope.at(r.name), t.place));
                    const bool of_bits = r.combine == ir::Combine::And || r.combine == ir::Combine::Or || r.combine == ir::Combine::Xor;
                    if (next.kind() != Kind::Number || (l.rules.dtype(next.number().type) == DType::Bool && !of_bits))
                        l.source.fail(ErrorCode::Type, t.place, own_program + "`" + r.name + "` is no number");
                    stable = stable && same_type(next, r.like);
                    r.like = std::move(next);
                }
            }
        } catch (const Error&) {
            if (of_user) throw;
            works = false;
            l.source = source;
            l.stack = stack;
            l.around.resize(depth);
            l.lanes.inside = lanes_around;
        }
        std::swap(lane_loops, l.lanes.loops);
        if (l.lanes.choosing && !l.lanes.inside && works) {
            if (l.lanes.met_rows || !lane_loops.empty() || !l.task.options.lane_loops) l.lanes.others.try_emplace(&t, std::string());
            l.lanes.loops.insert(lane_loops.begin(), lane_loops.end());
            l.lanes.others.contains(&t) ? (void)l.lanes.loops.erase(&t) : (void)l.lanes.loops.insert(&t);
        }
        l.lanes.met_rows = l.lanes.met_rows || met;
        if (!works) reduced.clear();
        if (!works || l.walk.finds_types()) {
            leave({});
            return works;
        }
    }
    const bool lanes = !l.lanes.inside && l.lanes.loops.contains(&t), outer_lanes = std::exchange(l.lanes.inside, l.lanes.inside || lanes);
    const ir::LoopKind kind = l.task.options.threads && !outer_lanes && !outer_rounds ? ir::LoopKind::Parallel : ir::LoopKind::Serial;
    const Value count = rounds_of(l, start, stop, step), zero = l.builder.i64(0), one = l.builder.i64(1);
    std::vector<Value> places, identities, totals;
    for (const Reduced& r : reduced) {
        places.push_back(l.builder.array("parts", l.rules.dtype(r.like.number().type), most_blocks, ir::Space::Private, true));
        identities.push_back(l.builder.identity(r.combine, l.rules.dtype(r.like.number().type)));
    }
    const auto round = [&](Value k, std::span<const Value> values) {
        std::vector<TypedExpr> given;
        for (std::size_t n = 0; n < reduced.size(); ++n) given.push_back(with_value(reduced[n].like, values[n]));
        iteration(k, given);
        ir::Builder::Values out;
        for (const Reduced& r : reduced) out.push_back(value(l, l.scope.at(r.name).expr, l.rules.dtype(r.like.number().type)));
        return out;
    };
    const auto nothing_more = [&](Value k) { return round(k, {}); };
    /// The iterations from `first` to `last`; in lanes, or one after the other.
    const auto rounds = [&](Value first, Value last) {
        if (!lanes) return l.builder.for_loop(first, last, one, identities, round);
        std::vector<ir::Reduction> reductions;
        for (std::size_t k = 0; k < reduced.size(); ++k) reductions.push_back({reduced[k].combine, identities[k]});
        return l.builder.for_lanes(first, last, reductions, [&](Value k) { return round(k, identities); });
    };
    const auto in_pieces = [&](Value length, Value pieces) {
        const auto piece = [&](Value k, std::span<const Value>) {
            const Value first = l.builder.mul(k, length);
            const ir::Builder::Values sums = rounds(first, l.builder.min(l.builder.add(first, length), count));
            for (std::size_t n = 0; n < reduced.size(); ++n) l.builder.store(places[n], k, sums[n]);
            return ir::Builder::Values();
        };
        l.builder.for_loop(zero, pieces, one, {}, piece, 0, kind);
    };
    const auto pieces_of = [&](Value length) { return l.builder.floor_div(l.builder.add(count, l.builder.sub(length, one)), length); };
    if (!reduced.empty()) {
        const Value blocks = l.builder.i64(most_blocks);
        const Value length = l.builder.max(l.builder.floor_div(l.builder.add(count, l.builder.i64(most_blocks - 1)), blocks), one);
        const Value pieces = pieces_of(length);
        in_pieces(length, pieces);
        for (const Reduced& r : reduced)
            totals.push_back(value(l, cast(l, r.before.expr, r.like.number().type), l.rules.dtype(r.like.number().type)));
        totals = l.builder.for_loop(zero, pieces, one, totals, [&](Value k, std::span<const Value> values) {
            ir::Builder::Values out;
            for (std::size_t n = 0; n < reduced.size(); ++n)
                out.push_back(l.builder.combine(reduced[n].combine, values[n], l.builder.load(places[n], k)));
            return out;
        });
    } else if (!lanes) {
        l.builder.for_loop(
            zero, count, one, {}, [&](Value k, std::span<const Value>) { return nothing_more(k); }, 0, kind);
    } else if (kind == ir::LoopKind::Serial) {
        rounds(zero, count);
    } else {
        const Value length = l.builder.i64(l.lanes.inner_loops > loops_before ? long_piece_length : piece_length);
        in_pieces(length, pieces_of(length));
    }
    l.lanes.inside = outer_lanes;
    leave(totals);
    return true;
}

}  // namespace pardo::lang
