// src/lang/loops/parallel_loops.cpp: parallel loops: one item an iteration, or blocks of iterations that reduce; and serial parts of a
// function.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/loops/dependence.h"
#include "lang/loops/loops.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"
#include "lang/syntax_facts.h"
#include "lang/typing/joins.h"

namespace pardo::lang {

namespace {

bool holds_struct(const TypedExpr& t) { return structure_of(t) || std::ranges::any_of(t.parts(), holds_struct); }

void walk_reduction(Lowering& l);
void walk_serial(Lowering& l);

const Tree& loop_at(const Lowering& l, int depth) {
    const Tree* t = &l.source.function->body.parts[0];
    for (int d = 0; d < depth; ++d) t = &t->parts[4].parts[0];
    return *t;
}

/// start + number * step, by the last parameters.
TypedExpr iteration_index(Lowering& l, int d, const TypedExpr& iteration) {
    const std::size_t first = l.source.function->params.size() - 2 * static_cast<std::size_t>(l.task.loop->dimensions);
    const auto at = first + 2 * static_cast<std::size_t>(d);
    const TypedExpr &start = l.arguments[at], &step = l.arguments[at + 1];
    TypedExpr i = add(l, start, mul(l, iteration, step));
    i.number().least = start.number().least >= 0 && step.number().least >= 0 ? start.number().least : unknown_least;
    return i;
}

/// Forgets names that each iteration must assign before it reads them.
void walk_rounds(Lowering& l) {
    std::set<std::string> assigned;
    collect_targets(l.source.function->body.parts[0], assigned);
    for (const std::string& name : assigned) {
        if (std::find(l.task.loop->results.begin(), l.task.loop->results.end(), name) != l.task.loop->results.end()) continue;
        if (l.scope.contains(name)) l.own.insert(name);
        l.scope.erase(name);
    }
}

}  // namespace

void walk_loop(Lowering& l) {
    if (!l.task.loop->parallel) return walk_serial(l);
    const Tree& innermost = loop_at(l, l.task.loop->dimensions - 1);
    if (contains(innermost.parts[4], Form::Break, false) || contains(innermost.parts[4], Form::Return, true))
        l.source.fail(ErrorCode::Type, innermost.place,
                      "a parallel loop cannot be left by break or return: its iterations run in parallel; use range");
    walk_rounds(l);
    if (!l.task.loop->results.empty()) return walk_reduction(l);
    for (int d = 0; d < l.task.loop->dimensions; ++d) {
        const TypedExpr iteration = number({DType::Int64, true}, l.builder.dim(d), 0);
        const TypedExpr index = iteration_index(l, d, iteration);
        if (l.walk.builds()) l.own_indices.push_back(value(l, index));
        assign(l, loop_at(l, d).parts[0], index, loop_at(l, d).place);
    }
    block(l, innermost.parts[4].parts);
}

namespace {

TypedExpr identity(Emit& l, ir::Combine combine, const TypedExpr& like) {
    return number(like.number().type, l.builder.identity(combine, l.rules.dtype(like.number().type)));
}

/// Names start each iteration as what changes nothing, so that iterations may be taken in any order. Tuples have no such value: they start
/// as what they were before the loop, and iterations follow each other.
void walk_reduction(Lowering& l) {
    const Tree& t = loop_at(l, 0);
    const std::size_t count = l.task.loop->results.size();
    std::vector<ir::Combine> combines;
    std::vector<Variable> initial;
    std::vector<TypedExpr> likes;
    bool tuples = false;
    for (const std::string& name : l.task.loop->results) {
        Use use;
        collect_use(t.parts[4], name, use);
        combines.push_back(use.combine.value_or(ir::Combine::Add));
        initial.push_back(l.scope.at(name));
        const TypedExpr& before = initial.back().expr;
        const bool ordered = combines.back() == ir::Combine::Min || combines.back() == ir::Combine::Max;
        if (before.kind() != Kind::Number && !(before.kind() == Kind::Tuple && ordered))
            l.source.wrong_type(t.place, "`" + name + "` is reduced by the loop and must be a number" +
                                             (before.kind() == Kind::Tuple ? ", or a tuple of which the loop keeps the least or greatest"
                                                                           : ", not " + describe(before)));
        if (holds_struct(before))  // what blocks of iterations give is compared as tuples
            l.source.wrong_type(
                t.place, "`" + name + "` holds " + describe(before) + ", whose order is the class's own; use pardo.reduction, or tuples");
        tuples = tuples || before.kind() == Kind::Tuple;
        likes.push_back(unbounded(l.rules, before));
    }
    const Scope before = l.scope;
    const auto iteration = [&](const TypedExpr& i, std::span<const TypedExpr> values) {
        l.scope = before;
        for (std::size_t k = 0; k < count; ++k) give(l, l.task.loop->results[k], values[k], initial[k].place);
        assign(l, t.parts[0], iteration_index(l, 0, i), t.place);
        block(l, t.parts[4].parts);
    };
    for (int n = 0; n < 8; ++n) {
        l.walk.types_of([&] { iteration(number({DType::Int64, true}, ir::no_value, 0), likes); });
        bool stable = true;
        for (std::size_t k = 0; k < count; ++k) {
            TypedExpr next = unbounded(l.rules, joined(l.rules, l.task.loop->results[k], {likes[k], initial[k].place},
                                                       l.scope.at(l.task.loop->results[k]), t.place));
            stable = stable && same_type(next, likes[k]);
            likes[k] = std::move(next);
        }
        if (stable) break;
    }
    l.out.results.clear();
    l.out.layout.clear();
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<TypedExpr> numbers;
        numbers_of(likes[k], numbers, l.out.layout);
        const bool is_tuple = likes[k].kind() == Kind::Tuple;
        const bool of_bits = combines[k] == ir::Combine::And || combines[k] == ir::Combine::Or || combines[k] == ir::Combine::Xor;
        if (!is_tuple && l.rules.dtype(likes[k].number().type) == DType::Bool && !of_bits)
            l.source.wrong_type(t.place, "`" + l.task.loop->results[k] + "` is a bool, and reduced as a number");
        for (std::size_t p = 0; p < numbers.size(); ++p)
            l.out.results.push_back({numbers[p].number().type, combines[k], is_tuple && p == 0 ? numbers.size() : 0, p > 0});
    }
    l.scope = before;
    if (l.walk.finds_types()) return;
    const auto extra = [&](Slot::Kind kind, const char* label) {
        l.out.slots.push_back({kind, 0, 0});
        return l.builder.scalar_param(label, DType::Int64);
    };
    const Value iterations = extra(Slot::Kind::Count, "count"), per = extra(Slot::Kind::Block, "block");
    std::vector<Value> places;
    for (std::size_t k = 0; k < l.out.results.size(); ++k) {
        places.push_back(l.builder.pointer("result" + std::to_string(k), l.rules.dtype(l.out.results[k].type), ir::Access::Write, true));
        l.out.slots.push_back({Slot::Kind::Result, static_cast<int>(k), 0});
    }
    std::vector<TypedExpr> start;
    std::vector<Value> carried;
    for (std::size_t k = 0; k < count; ++k) {
        start.push_back(likes[k].kind() == Kind::Tuple ? initial[k].expr : identity(l, combines[k], likes[k]));
        flatten(l, start[k], likes[k], carried);
    }
    const auto body = [&](Value i, std::span<const TypedExpr> values) {
        l.round = i;
        iteration(number({DType::Int64, true}, i, 0), values);
        ir::Builder::Values out;
        for (std::size_t k = 0; k < count; ++k) flatten(l, l.scope.at(l.task.loop->results[k]).expr, likes[k], out);
        return out;
    };
    const Value low = l.builder.mul(l.builder.dim(0), per), high = l.builder.min(l.builder.add(low, per), iterations);
    ir::Builder::Values sums;
    if (tuples || l.lanes.row_loops || l.lanes.scalar_items) {
        // Iterations of a block wait for each other, so blocks run at the same time in the lanes; but not where lanes would wait in inner
        // loops.
        if (l.task.options.lane_blocks && l.lanes.inner_loops == 0 && !l.lanes.scalar_items) l.builder.set_lanes(true);
        sums = l.builder.for_loop(low, high, l.builder.i64(1), carried, [&](Value i, std::span<const Value> values) {
            std::vector<TypedExpr> current;
            current.reserve(likes.size());
            std::size_t at = 0;
            for (const TypedExpr& like : likes) current.push_back(rebuilt(l, like, values, at));
            return body(i, current);
        });
    } else {
        std::vector<ir::Reduction> reductions;
        for (std::size_t k = 0; k < count; ++k) reductions.push_back({combines[k], carried[k]});
        sums = l.builder.for_lanes(low, high, reductions, [&](Value i) {
            std::vector<TypedExpr> fresh;
            for (std::size_t k = 0; k < count; ++k) fresh.push_back(identity(l, combines[k], likes[k]));
            return body(i, fresh);
        });
    }
    l.round = ir::no_value;
    for (std::size_t k = 0; k < sums.size(); ++k) l.builder.store(places[k], l.builder.dim(0), sums[k]);
    l.scope = before;
}

/// All of the body, once; the names asked for are written out.
void walk_serial(Lowering& l) {
    keep_rebound(l);
    block(l, l.source.function->body.parts);
    hand_lists(l);
    l.out.results.clear();
    l.out.layout.clear();
    for (const std::string& name : l.task.loop->results) {
        const auto found = l.scope.find(name);
        if (found == l.scope.end() || found->second.maybe)
            l.source.fail(ErrorCode::Name, found == l.scope.end() ? l.source.function->body.place : found->second.place,
                          "`" + name + "` is used after the loop, but not assigned on every path through it; give it a value before");
        std::vector<TypedExpr> numbers;
        numbers_of(found->second.expr, numbers, l.out.layout);
        for (std::size_t p = 0; p < numbers.size(); ++p) {
            const TypedExpr& t = numbers[p];
            if (t.kind() != Kind::Number || (found->second.expr.kind() == Kind::Tuple && found->second.expr.tuple().record))
                l.source.wrong_type(found->second.place,
                                    "`" + name + "` is used after the loop and must be a number, or a tuple or struct of numbers, not " +
                                        describe(found->second.expr));
            l.out.results.push_back({t.number().type});
            if (l.walk.finds_types()) continue;
            const DType d = l.rules.dtype(t.number().type);
            const Value place = l.builder.pointer("result_" + name, d, ir::Access::Write, true);
            l.out.slots.push_back({Slot::Kind::Result, static_cast<int>(l.out.results.size()) - 1, 0});
            l.builder.store(place, l.builder.i64(0), value(l, t, d));
        }
    }
}

}  // namespace

Lowered lower_loop(const std::shared_ptr<const Function>& function, const LoopSpec& spec, const std::vector<ArgumentType>& arguments,
                   const Options& options, OutsideUse* outside) {
    Space space;
    space.rank = spec.parallel ? (spec.results.empty() ? spec.dimensions : 1) : 0;
    return lowered(function, false, space, arguments, options, &spec, outside);
}

}  // namespace pardo::lang
