// src/lang/loops/parallel_loops.cpp: parallel loops: one item an iteration, or blocks of iterations that reduce; and serial parts of a
// function.
#include <algorithm>

#include "lang/loops/dependence.h"
#include "lang/lowering.h"

namespace pardo::lang {
namespace {

bool holds_struct(const TypedExpr& t) { return structure_of(t) || std::ranges::any_of(t.parts(), holds_struct); }

}  // namespace

int Lowering::builder_rank(const Space& space, const LoopSpec* loop) {
    if (!loop) return space.rank;
    if (!loop->parallel) return 0;
    return loop->results.empty() ? loop->dimensions : 1;
}

const Tree& Lowering::loop_at(int depth) const {
    const Tree* t = &source_.function->body.parts[0];
    for (int d = 0; d < depth; ++d) t = &t->parts[4].parts[0];
    return *t;
}

/// start + number * step, by the last parameters.
TypedExpr Lowering::iteration_index(int d, const TypedExpr& iteration) {
    const std::size_t first = source_.function->params.size() - 2 * static_cast<std::size_t>(loop_->dimensions);
    const auto at = first + 2 * static_cast<std::size_t>(d);
    const TypedExpr &start = arguments_[at], &step = arguments_[at + 1];
    TypedExpr i = add(start, mul(iteration, step));
    i.number().least = start.number().least >= 0 && step.number().least >= 0 ? start.number().least : unknown_least;
    return i;
}

/// Forgets names that each iteration must assign before it reads them.
void Lowering::walk_rounds() {
    std::set<std::string> assigned;
    collect_targets(source_.function->body.parts[0], assigned);
    for (const std::string& name : assigned) {
        if (std::find(loop_->results.begin(), loop_->results.end(), name) != loop_->results.end()) continue;
        if (scope_.contains(name)) own_.insert(name);
        scope_.erase(name);
    }
}

void Lowering::walk_loop() {
    if (!loop_->parallel) return walk_serial();
    const Tree& innermost = loop_at(loop_->dimensions - 1);
    if (contains(innermost.parts[4], Form::Break, false) || contains(innermost.parts[4], Form::Return, true))
        fail(ErrorCode::Type, innermost.place,
             "a parallel loop cannot be left by break or return: its iterations run in parallel; use range");
    walk_rounds();
    if (!loop_->results.empty()) return walk_reduction();
    for (int d = 0; d < loop_->dimensions; ++d) {
        const TypedExpr iteration = number({DType::Int64, true}, walk_.value([&] { return builder_.dim(d); }), 0);
        const TypedExpr index = iteration_index(d, iteration);
        if (walk_.builds()) own_indices_.push_back(value(index));
        assign(loop_at(d).parts[0], index, loop_at(d).place);
    }
    block(innermost.parts[4].parts);
}

TypedExpr Lowering::identity(ir::Combine combine, const TypedExpr& like) {
    return number(like.number().type, walk_.value([&] { return builder_.identity(combine, dtype(like.number().type)); }));
}

/// Names start each iteration as what changes nothing, so that iterations may be taken in any order. Tuples have no such value: they start
/// as what they were before the loop, and iterations follow each other.
void Lowering::walk_reduction() {
    const Tree& t = loop_at(0);
    const std::size_t count = loop_->results.size();
    std::vector<ir::Combine> combines;
    std::vector<Variable> initial;
    std::vector<TypedExpr> likes;
    bool tuples = false;
    for (const std::string& name : loop_->results) {
        Use use;
        collect_use(t.parts[4], name, use);
        combines.push_back(use.combine.value_or(ir::Combine::Add));
        initial.push_back(scope_.at(name));
        const TypedExpr& before = initial.back().expr;
        const bool ordered = combines.back() == ir::Combine::Min || combines.back() == ir::Combine::Max;
        if (before.kind() != Kind::Number && !(before.kind() == Kind::Tuple && ordered))
            wrong_type(t.place, "`" + name + "` is reduced by the loop and must be a number" +
                                    (before.kind() == Kind::Tuple ? ", or a tuple of which the loop keeps the least or greatest"
                                                                  : ", not " + describe(before)));
        if (holds_struct(before))  // what blocks of iterations give is compared as tuples
            wrong_type(t.place,
                       "`" + name + "` holds " + describe(before) + ", whose order is the class's own; use pardo.reduction, or tuples");
        tuples = tuples || before.kind() == Kind::Tuple;
        likes.push_back(unbounded(rules(), before));
    }
    const Scope before = scope_;
    const auto iteration = [&](const TypedExpr& i, std::span<const TypedExpr> values) {
        scope_ = before;
        for (std::size_t k = 0; k < count; ++k) scope_.set(loop_->results[k], {values[k], initial[k].place, false, ++versions_});
        assign(t.parts[0], iteration_index(0, i), t.place);
        block(t.parts[4].parts);
    };
    for (int n = 0; n < 8; ++n) {
        walk_.types_of([&] { iteration(number({DType::Int64, true}, ir::no_value, 0), likes); });
        bool stable = true;
        for (std::size_t k = 0; k < count; ++k) {
            TypedExpr next =
                unbounded(rules(), joined(rules(), loop_->results[k], {likes[k], initial[k].place}, scope_.at(loop_->results[k]), t.place));
            stable = stable && same_type(next, likes[k]);
            likes[k] = std::move(next);
        }
        if (stable) break;
    }
    out_.results.clear();
    out_.layout.clear();
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<TypedExpr> numbers;
        numbers_of(likes[k], numbers, out_.layout);
        const bool is_tuple = likes[k].kind() == Kind::Tuple;
        const bool of_bits = combines[k] == ir::Combine::And || combines[k] == ir::Combine::Or || combines[k] == ir::Combine::Xor;
        if (!is_tuple && dtype(likes[k].number().type) == DType::Bool && !of_bits)
            wrong_type(t.place, "`" + loop_->results[k] + "` is a bool, and reduced as a number");
        for (std::size_t p = 0; p < numbers.size(); ++p)
            out_.results.push_back({numbers[p].number().type, combines[k], is_tuple && p == 0 ? numbers.size() : 0, p > 0});
    }
    scope_ = before;
    if (walk_.finds_types()) return;
    const auto extra = [&](Slot::Kind kind, const char* label) {
        out_.slots.push_back({kind, 0, 0});
        return builder_.scalar_param(label, DType::Int64);
    };
    const Value iterations = extra(Slot::Kind::Count, "count"), per = extra(Slot::Kind::Block, "block");
    std::vector<Value> places;
    for (std::size_t k = 0; k < out_.results.size(); ++k) {
        places.push_back(builder_.pointer("result" + std::to_string(k), dtype(out_.results[k].type), ir::Access::Write, true));
        out_.slots.push_back({Slot::Kind::Result, static_cast<int>(k), 0});
    }
    std::vector<TypedExpr> start;
    std::vector<Value> carried;
    for (std::size_t k = 0; k < count; ++k) {
        start.push_back(likes[k].kind() == Kind::Tuple ? initial[k].expr : identity(combines[k], likes[k]));
        flatten(start[k], likes[k], carried);
    }
    const auto body = [&](Value i, std::span<const TypedExpr> values) {
        round_ = i;
        iteration(number({DType::Int64, true}, i, 0), values);
        ir::Builder::Values out;
        for (std::size_t k = 0; k < count; ++k) flatten(scope_.at(loop_->results[k]).expr, likes[k], out);
        return out;
    };
    const Value low = builder_.mul(builder_.dim(0), per), high = builder_.min(builder_.add(low, per), iterations);
    ir::Builder::Values sums;
    if (tuples || lanes_.row_loops || lanes_.scalar_items) {
        // Iterations of a block wait for each other, so blocks run at the same time in the lanes; but not where lanes would wait in inner
        // loops.
        if (options_.lane_blocks && lanes_.inner_loops == 0 && !lanes_.scalar_items) builder_.set_lanes(true);
        sums = builder_.for_loop(low, high, builder_.i64(1), carried, [&](Value i, std::span<const Value> values) {
            std::vector<TypedExpr> current;
            current.reserve(likes.size());
            std::size_t at = 0;
            for (const TypedExpr& like : likes) current.push_back(rebuilt(like, values, at));
            return body(i, current);
        });
    } else {
        std::vector<ir::Reduction> reductions;
        for (std::size_t k = 0; k < count; ++k) reductions.push_back({combines[k], carried[k]});
        sums = builder_.for_lanes(low, high, reductions, [&](Value i) {
            std::vector<TypedExpr> fresh;
            for (std::size_t k = 0; k < count; ++k) fresh.push_back(identity(combines[k], likes[k]));
            return body(i, fresh);
        });
    }
    round_ = ir::no_value;
    for (std::size_t k = 0; k < sums.size(); ++k) builder_.store(places[k], builder_.dim(0), sums[k]);
    scope_ = before;
}

/// All of the body, once; the names asked for are written out.
void Lowering::walk_serial() {
    keep_rebound();
    block(source_.function->body.parts);
    hand_lists();
    out_.results.clear();
    out_.layout.clear();
    for (const std::string& name : loop_->results) {
        const auto found = scope_.find(name);
        if (found == scope_.end() || found->second.maybe)
            fail(ErrorCode::Name, found == scope_.end() ? source_.function->body.place : found->second.place,
                 "`" + name + "` is used after the loop, but not assigned on every path through it; give it a value before");
        std::vector<TypedExpr> numbers;
        numbers_of(found->second.expr, numbers, out_.layout);
        for (std::size_t p = 0; p < numbers.size(); ++p) {
            const TypedExpr& t = numbers[p];
            if (t.kind() != Kind::Number || (found->second.expr.kind() == Kind::Tuple && found->second.expr.tuple().record))
                wrong_type(found->second.place, "`" + name +
                                                    "` is used after the loop and must be a number, or a tuple or struct of numbers, not " +
                                                    describe(found->second.expr));
            out_.results.push_back({t.number().type});
            if (walk_.finds_types()) continue;
            const DType d = dtype(t.number().type);
            const Value place = builder_.pointer("result_" + name, d, ir::Access::Write, true);
            out_.slots.push_back({Slot::Kind::Result, static_cast<int>(out_.results.size()) - 1, 0});
            builder_.store(place, builder_.i64(0), value(t, d));
        }
    }
}

Lowered lower_loop(const std::shared_ptr<const Function>& function, const LoopSpec& spec, const std::vector<ArgumentType>& arguments,
                   const Options& options, OutsideUse* outside) {
    Space space;
    space.rank = spec.parallel ? (spec.results.empty() ? spec.dimensions : 1) : 0;
    return lowered(function, false, space, arguments, options, &spec, outside);
}

}  // namespace pardo::lang
