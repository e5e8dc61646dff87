// src/lang/loops/shared_rounds.cpp: `prange` inside of serial loops: one program, in which threads share its iterations.
#include <algorithm>

#include "lang/loops/dependence.h"
#include "lang/lowering.h"

namespace pardo::lang {
namespace {

constexpr std::int64_t piece_length = 2048, long_piece_length = 32;  // iterations of short and of long ones that a thread takes at a time
constexpr std::int64_t most_blocks = 64;                             // of iterations that reduce, each to numbers of its own

TypedExpr with_value(TypedExpr like, Value v) {
    like.number().value = v;
    return like;
}

}  // namespace

/// How many iterations `for … in prange(start, stop, step)` has.
Value Lowering::rounds_of(const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step) {
    const Value first = value(start, DType::Int64), one = builder_.i64(1), each = value(step, DType::Int64);
    const Value way = builder_.sub(value(stop, DType::Int64), first);
    if (step.number().constant && step.number().scalar.i == 1) return builder_.max(way, builder_.i64(0));
    const Value towards = builder_.select(builder_.lt(builder_.i64(0), each), one, builder_.i64(-1));
    return builder_.max(builder_.floor_div(builder_.add(way, builder_.sub(each, towards)), each), builder_.i64(0));
}

/// Names that iterations reduce into: numbers from before the loop.
std::vector<Lowering::Reduced> Lowering::reduced_by(const Tree& t, const std::set<std::string>& assigned) const {
    std::vector<Reduced> found;
    for (const std::string& name : assigned) {
        const auto before = scope_.find(name);
        if (before == scope_.end() || before->second.maybe || before->second.expr.kind() != Kind::Number) continue;
        Use use;
        collect_use(t.parts[4], name, use);
        if (use.combine && use.reduces) found.push_back({name, *use.combine, before->second, unbounded(rules(), before->second.expr)});
    }
    return found;
}

/// Names that iterations assign are their own, and arrays that they make too; where no loop inside is the lanes, they are. Those that
/// they reduce into have the total behind it, in an order that depends on the number of iterations alone. False: in a function that is
/// called, iterations depend on each other in a way that only a loop of the user's own may say; they follow each other.
bool Lowering::shared_rounds(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step) {
    const Tree& statements = t.parts[4];
    const bool of_user = stack_.size() == 1 && !lanes_.in_rounds;
    const std::string own_program = "this parallel loop is a program of its own: ";
    const auto refuse = [&](const std::string& why) {
        if (of_user) fail(ErrorCode::Type, t.place, own_program + why);
        return false;
    };
    for (const Form form : {Form::Break, Form::Return, Form::Raise, Form::Assert})
        if (contains(statements, form, form != Form::Break)) return refuse("it may be left early");
    if (scope_.contains(draws_name)) return refuse("random numbers are drawn in it");
    for (const auto& [name, v] : scope_)
        if (v.expr.kind() == Kind::List && mentions(statements, name)) return refuse("it uses the list `" + name + "`");
    std::set<std::string> assigned;
    collect_targets(t, assigned);
    const Scope before = scope_;
    const auto rebound = rebound_;
    const auto own = own_;
    std::vector<Reduced> reduced = reduced_by(t, assigned);
    if (lanes_.in_rounds && !reduced.empty()) return false;  // those of an iteration follow each other
    for (const std::string& name : assigned) {
        if (of_user && scope_.contains(name)) own_.insert(name);
        scope_.erase(name);
        rebound_.erase(name);
    }
    for (const char* name : {break_flag, continue_flag}) scope_.set(name, {flag(false), t.place, false, ++versions_});
    const Scope inside = scope_;
    const bool outer_rounds = std::exchange(lanes_.in_rounds, true);
    around_.push_back({&t, stack_.size()});
    const bool plain = start.number().constant && start.number().scalar.i == 0 && step.number().constant && step.number().scalar.i == 1;
    /// One iteration; `values`: of the names that it reduces into.
    const auto iteration = [&](Value round, std::span<const TypedExpr> values) {
        scope_ = inside;
        for (std::size_t k = 0; k < reduced.size(); ++k)
            scope_.set(reduced[k].name, {values[k], reduced[k].before.place, false, ++versions_});
        Value v = round;
        if (walk_.builds() && !plain) {
            const Value gone = builder_.mul(v, value(step, DType::Int64));
            v = builder_.add(value(start, DType::Int64), gone);
        }
        TypedExpr i = number({DType::Int64, true}, v, unknown_least);
        if (step.number().least > 0) i.number().least = start.number().least;
        if (step.number().constant && step.number().scalar.i < 0 && stop.number().least != unknown_least)
            i.number().least = stop.number().least + 1;
        i.number().bits = static_cast<std::uint8_t>(std::max(bits_of(start), bits_of(stop)));
        assign(t.parts[0], i, t.place);
        block(statements.parts);
        const TypedExpr on = scope_.at(return_flag).expr;
        if (!on.number().constant || on.number().scalar.b) fail(ErrorCode::Type, t.place, own_program + "it may be left early");
    };
    const auto leave = [&](std::span<const Value> totals) {
        scope_ = before;
        rebound_ = rebound;
        own_ = own;
        lanes_.in_rounds = outer_rounds;
        around_.pop_back();
        for (std::size_t k = 0; k < reduced.size(); ++k)
            set_variable(reduced[k].name, with_value(reduced[k].like, walk_.value([&] { return totals[k]; })), reduced[k].before.place);
    };
    const int loops_before = lanes_.inner_loops;
    if (walk_.finds_types() || !of_user || !reduced.empty()) {
        const bool lanes_around = lanes_.inside, met = std::exchange(lanes_.met_rows, false);
        const Source source = source_;
        const auto stack = stack_;
        const std::size_t depth = around_.size();
        std::set<const Tree*> lane_loops;
        std::swap(lane_loops, lanes_.loops);
        bool works = true;
        try {
            for (bool stable = false; !stable;) {
                std::vector<TypedExpr> likes;
                likes.reserve(reduced.size());
                for (const Reduced& r : reduced) likes.push_back(r.like);
                walk_.types_of([&] { iteration(ir::no_value, likes); });
                stable = true;
                for (Reduced& r : reduced) {
                    TypedExpr next = unbounded(rules(), joined(rules(), r.name, {r.like, r.before.place}, scope_.at(r.name), t.place));
                    const bool of_bits = r.combine == ir::Combine::And || r.combine == ir::Combine::Or || r.combine == ir::Combine::Xor;
                    if (next.kind() != Kind::Number || (dtype(next.number().type) == DType::Bool && !of_bits))
                        fail(ErrorCode::Type, t.place, own_program + "`" + r.name + "` is no number");
                    stable = stable && same_type(next, r.like);
                    r.like = std::move(next);
                }
            }
        } catch (const Error&) {
            if (of_user) throw;
            works = false;
            source_ = source;
            stack_ = stack;
            around_.resize(depth);
            lanes_.inside = lanes_around;
        }
        std::swap(lane_loops, lanes_.loops);
        if (lanes_.choosing && !lanes_.inside && works) {
            if (lanes_.met_rows || !lane_loops.empty() || !options_.lane_loops) lanes_.others.try_emplace(&t, std::string());
            lanes_.loops.insert(lane_loops.begin(), lane_loops.end());
            lanes_.others.contains(&t) ? (void)lanes_.loops.erase(&t) : (void)lanes_.loops.insert(&t);
        }
        lanes_.met_rows = lanes_.met_rows || met;
        if (!works) reduced.clear();
        if (!works || walk_.finds_types()) {
            leave({});
            return works;
        }
    }
    const bool lanes = !lanes_.inside && lanes_.loops.contains(&t), outer_lanes = std::exchange(lanes_.inside, lanes_.inside || lanes);
    const ir::LoopKind kind = options_.threads && !outer_lanes && !outer_rounds ? ir::LoopKind::Parallel : ir::LoopKind::Serial;
    const Value count = rounds_of(start, stop, step), zero = builder_.i64(0), one = builder_.i64(1);
    std::vector<Value> places, identities, totals;
    for (const Reduced& r : reduced) {
        places.push_back(builder_.array("parts", dtype(r.like.number().type), most_blocks, ir::Space::Private, true));
        identities.push_back(builder_.identity(r.combine, dtype(r.like.number().type)));
    }
    const auto round = [&](Value k, std::span<const Value> values) {
        std::vector<TypedExpr> given;
        for (std::size_t n = 0; n < reduced.size(); ++n) given.push_back(with_value(reduced[n].like, values[n]));
        iteration(k, given);
        ir::Builder::Values out;
        for (const Reduced& r : reduced) out.push_back(value(scope_.at(r.name).expr, dtype(r.like.number().type)));
        return out;
    };
    const auto nothing_more = [&](Value k) { return round(k, {}); };
    /// The iterations from `first` to `last`; in lanes, or one after the other.
    const auto rounds = [&](Value first, Value last) {
        if (!lanes) return builder_.for_loop(first, last, one, identities, round);
        std::vector<ir::Reduction> reductions;
        for (std::size_t k = 0; k < reduced.size(); ++k) reductions.push_back({reduced[k].combine, identities[k]});
        return builder_.for_lanes(first, last, reductions, [&](Value k) { return round(k, identities); });
    };
    const auto in_pieces = [&](Value length, Value pieces) {
        const auto piece = [&](Value k, std::span<const Value>) {
            const Value first = builder_.mul(k, length);
            const ir::Builder::Values sums = rounds(first, builder_.min(builder_.add(first, length), count));
            for (std::size_t n = 0; n < reduced.size(); ++n) builder_.store(places[n], k, sums[n]);
            return ir::Builder::Values();
        };
        builder_.for_loop(zero, pieces, one, {}, piece, 0, kind);
    };
    const auto pieces_of = [&](Value length) { return builder_.floor_div(builder_.add(count, builder_.sub(length, one)), length); };
    if (!reduced.empty()) {
        const Value blocks = builder_.i64(most_blocks);
        const Value length = builder_.max(builder_.floor_div(builder_.add(count, builder_.i64(most_blocks - 1)), blocks), one);
        const Value pieces = pieces_of(length);
        in_pieces(length, pieces);
        for (const Reduced& r : reduced) totals.push_back(value(cast(r.before.expr, r.like.number().type), dtype(r.like.number().type)));
        totals = builder_.for_loop(zero, pieces, one, totals, [&](Value k, std::span<const Value> values) {
            ir::Builder::Values out;
            for (std::size_t n = 0; n < reduced.size(); ++n)
                out.push_back(builder_.combine(reduced[n].combine, values[n], builder_.load(places[n], k)));
            return out;
        });
    } else if (!lanes) {
        builder_.for_loop(
            zero, count, one, {}, [&](Value k, std::span<const Value>) { return nothing_more(k); }, 0, kind);
    } else if (kind == ir::LoopKind::Serial) {
        rounds(zero, count);
    } else {
        const Value length = builder_.i64(lanes_.inner_loops > loops_before ? long_piece_length : piece_length);
        in_pieces(length, pieces_of(length));
    }
    lanes_.inside = outer_lanes;
    leave(totals);
    return true;
}

}  // namespace pardo::lang
