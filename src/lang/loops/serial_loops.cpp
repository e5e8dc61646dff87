// src/lang/loops/serial_loops.cpp: loops that an item goes through itself: for over ranges, tuples and arrays, and while.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "ir/eval.h"
#include "lang/lowering.h"

namespace pardo::lang {

namespace {

/// What falls from iteration to iteration is taken to have no least value.
void settle(TypedExpr& next, const TypedExpr& before) {
    if (next.kind() == Kind::Number && next.number().least < before.number().least) next.number().least = unknown_least;
    if (next.kind() == Kind::Number && next.number().most > before.number().most) next.number().most = unknown_most;
    if (next.kind() == Kind::Number && next.number().bits > before.number().bits)
        next.number().bits = std::max<std::uint8_t>(next.number().bits, 62);
    for (std::size_t d = 0; next.kind() == Kind::Array && d < next.view().lead.size(); ++d)
        settle(next.view().lead[d], before.view().lead[d]);
    for (std::size_t k = 0; next.kind() == Kind::Tuple && k < next.tuple().items.size(); ++k)
        settle(next.tuple().items[k], before.tuple().items[k]);
}

using Names = std::set<std::string>;

Names both(const std::optional<Names>& a, const Names& b) {
    if (!a) return b;
    Names out;
    std::ranges::set_intersection(*a, b, std::inserter(out, out.end()));
    return out;
}

/// Names that statements certainly assign, as far as control comes to their end: then true. `broken`: those that have a value wherever a
/// `break` leaves the loop around.
bool assigned_by(const std::vector<Tree>& statements, Names& assigned, std::optional<Names>& broken) {
    for (const Tree& t : statements) {
        switch (t.form) {
            case Form::Break: broken = both(broken, assigned); return false;
            case Form::Continue:
            case Form::Return:
            case Form::Raise: return false;
            case Form::If: {
                Names yes = assigned, no = assigned;
                const bool yes_ends = assigned_by(t.parts[1].parts, yes, broken), no_ends = assigned_by(t.parts[2].parts, no, broken);
                if (!yes_ends && !no_ends) return false;
                assigned = yes_ends && no_ends ? both(yes, no) : yes_ends ? yes : no;
                break;
            }
            case Form::Block:
                if (!assigned_by(t.parts, assigned, broken)) return false;
                break;
            case Form::For:
            case Form::Each:
            case Form::While: {
                const std::size_t body = t.parts.size() - 2;
                const bool forever = t.form == Form::While && t.parts[0].form == Form::Number && t.parts[0].number.cast(DType::Bool).b;
                std::optional<Names> left;
                Names inside = assigned, otherwise = assigned;
                assigned_by(t.parts[body].parts, inside, left);
                const bool ends = !forever && assigned_by(t.parts.back().parts, otherwise, broken);
                if (!left && !ends) return false;
                assigned = ends ? both(left, otherwise) : *left;
                break;
            }
            default: collect_targets(t, assigned);
        }
    }
    return true;
}

}  // namespace

Lowering::Carried Lowering::carried_by(const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                                       const std::function<void()>& iteration) {
    Carried c;
    std::set<std::string> names(hidden.begin(), hidden.end());
    for (const Tree* p : parts) collect_targets(*p, names);
    if (scope_.contains(draws_name)) names.insert(draws_name);
    c.before = scope_;
    for (const std::string& name : names) {
        const auto found = scope_.find(name);
        if (found == scope_.end() || found->second.maybe) continue;
        c.names.push_back(name);
        c.likes.push_back(fluid(rules(), found->second.expr));
    }
    // A name's type changes a few times at most, and one name's may change the next one's.
    const int most_iterations = 16 + 4 * static_cast<int>(c.names.size());
    for (int iteration_number = 0;; ++iteration_number) {
        scope_ = c.before;
        walk_.types_of([&] {
            bind(c, {});
            iteration();
        });
        bool stable = true;
        for (std::size_t k = 0; k < c.names.size(); ++k) {
            const Variable& entry = c.before.at(c.names[k]);
            const Variable& end = scope_.at(c.names[k]);
            if (end.maybe)
                fail(ErrorCode::Name, end.place,
                     "`" + c.names[k] + "` may have no value in the next iteration of the loop; assign it on every path");
            Variable start{c.likes[k], entry.place};
            TypedExpr next = fluid(rules(), joined(rules(), c.names[k], start, end, end.place));
            settle(next, c.likes[k]);
            stable = stable && same_type(next, c.likes[k]);
            c.likes[k] = std::move(next);
        }
        if (stable) break;
        if (iteration_number > most_iterations)
            fail(ErrorCode::Type, parts[0]->place, "the types of this loop's names do not settle; convert them in front of it");
    }
    c.after = scope_;
    scope_ = c.before;
    return c;
}

void Lowering::bind(const Carried& c, std::span<const Value> values) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < c.names.size(); ++k) {
        const Variable& v = scope_.at(c.names[k]);
        scope_.set(c.names[k], {rebuilt(c.likes[k], values, at), v.place, v.maybe, ++versions_, v.above});
    }
}

void Lowering::collect(const Carried& c, std::vector<Value>& out) {
    for (std::size_t k = 0; k < c.names.size(); ++k) flatten(scope_.at(c.names[k]).expr, c.likes[k], out);
}

/// After the loop: carried names have their last values; names that only iterations assign may have none.
void Lowering::leave_loop(const Carried& c, std::span<const Value> results) {
    scope_ = c.before;
    bind(c, results);
    for (const auto& [name, v] : c.after) {
        if (!scope_.contains(name)) scope_.set(name, {fluid(rules(), v.expr), v.place, true, v.version, v.above});
    }
}

/// for i in range(global id, …, global range), in groups of one dimension: where an item goes on, its neighbours do beside it.
bool Lowering::is_grid_stride(Value lower, const TypedExpr& step) {
    return space_.rank == 1 && space_.group_size.size() == 1 && !step.number().constant && lower == builder_.dim(0) &&
           value(step, DType::Int64) == builder_.extent(0);
}

/// The iterations of a grid-stride loop, counted by the group's first item.
void Lowering::together(Value upper, const std::function<void(Value)>& body) {
    const Value first = builder_.mul(builder_.group_dim(0), builder_.i64(space_.group_size[0]));
    const auto nothing = [] { return ir::Builder::Values(); };
    const auto iteration = [&](Value base, std::span<const Value>) {
        const Value i = builder_.add(base, builder_.local_dim(0));
        const auto inside = [&] {
            body(i);
            return nothing();
        };
        return builder_.if_else(builder_.lt(i, upper), inside, nothing);
    };
    builder_.for_loop(first, upper, builder_.extent(0), {}, iteration, 0, ir::LoopKind::Lockstep);
}

void Lowering::counted_loop(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                            const std::function<void(const TypedExpr&)>& body) {
    std::int64_t least = unknown_least;
    if (step.number().least > 0) least = start.number().least;
    if (step.number().constant && step.number().scalar.i < 0 && stop.number().least != unknown_least) least = stop.number().least + 1;
    const auto bits = static_cast<std::uint8_t>(exact_integers() ? std::max(bits_of(start), bits_of(stop)) : 63);
    const auto index = [&](Value v) {
        TypedExpr i = number({DType::Int64, true}, v, least);
        i.number().bits = bits;
        return i;
    };
    constexpr std::int64_t few_rounds = 16;
    const bool is_short = start.number().constant && stop.number().constant && step.number().constant &&
                          std::abs(stop.number().scalar.i - start.number().scalar.i) <= few_rounds;
    lanes_.inner_loops += is_short ? 0 : 1;
    if (lanes_.choosing && !lanes_.inside) choose_lanes(t, start, stop, step, body);
    const bool lanes = !lanes_.inside && lanes_.loops.contains(&t), outer = std::exchange(lanes_.inside, lanes_.inside || lanes);
    around_.push_back({&t, stack_.size()});
    const Carried c = carried_by({&t}, {}, [&] {
        count_draws();
        body(index(ir::no_value));
    });
    if (walk_.finds_types()) {
        lanes_.inside = outer;
        around_.pop_back();
        return leave_loop(c, {});
    }
    const Value lower = value(start, DType::Int64), upper = value(stop, DType::Int64);
    if (c.names.empty() && is_grid_stride(lower, step)) {
        together(upper, [&](Value i) {
            scope_ = c.before;
            body(index(i));
        });
        around_.pop_back();
        return leave_loop(c, {});
    }
    if (lanes) {
        builder_.for_lanes(lower, upper, {}, [&](Value i) {
            scope_ = c.before;
            body(index(i));
            return ir::Builder::Values();
        });
        lanes_.inside = outer;
        around_.pop_back();
        return leave_loop(c, {});
    }
    std::vector<Value> initial;
    collect(c, initial);
    const auto iteration = [&](Value i, std::span<const Value> values) {
        scope_ = c.before;
        bind(c, values);
        count_draws();
        body(index(i));
        ir::Builder::Values out;
        collect(c, out);
        return out;
    };
    const ir::Builder::Values results = builder_.for_loop(lower, upper, value(step, DType::Int64), initial, iteration);
    around_.pop_back();
    leave_loop(c, results);
}

void Lowering::general_loop(const Tree& t, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                            const std::function<TypedExpr()>& test, const std::function<void()>& body, bool forever) {
    // The test knows that no flag was set; the body begins without any.
    ++lanes_.inner_loops;
    const bool breaks = contains(t, Form::Break, true),
               returns = contains(t, Form::Return, true) || contains(t, Form::Raise, true) || contains(t, Form::Assert, true);
    std::vector<std::string> names = hidden;
    if (breaks) names.emplace_back(break_flag);
    if (returns) names.emplace_back(return_flag);
    const auto goes_on = [&]() -> TypedExpr {
        scope_.change(continue_flag).expr = flag(false);
        const TypedExpr running = alive();
        if (running.number().constant && running.number().scalar.b) return test();
        const auto tested = [&] {
            const Scope before = scope_;
            for (const char* name : {break_flag, return_flag}) scope_.change(name).expr = flag(false);
            TypedExpr result = test();
            scope_ = before;
            return result;
        };
        return chosen(
            running, t, tested, [] { return flag(false); }, t.place);
    };
    const auto iteration = [&] {
        for (const char* name : {break_flag, continue_flag, return_flag}) scope_.set(name, {flag(false), t.place, false, ++versions_});
        count_draws();
        body();
        scope_.set(continue_flag, {flag(false), t.place, false, ++versions_});
    };
    around_.push_back({&t, stack_.size()});
    const auto walk = [&] {
        (void)goes_on();
        iteration();
    };
    if (forever || (contains(t, Form::Return, true) && !scope_.contains(result_name))) {
        // What has no value before the loop and certainly one after it: what iterations return, and what they assign before they break.
        std::optional<Names> broken;
        if (Names assigned; forever) assigned_by(t.parts[1].parts, assigned, broken);
        for (const auto& [name, v] : carried_by(parts, names, walk).after) {
            const auto found = scope_.find(name);
            const bool certain = !v.maybe || (broken && broken->contains(name));
            if (!certain || (found != scope_.end() && !found->second.maybe) || !(forever || name == result_name)) continue;
            scope_.set(name, {blank(v.expr), v.place, false, v.version, v.above});
        }
    }
    if (returns && scope_.contains(result_name)) names.emplace_back(result_name);
    const Carried c = carried_by(parts, names, walk);
    if (walk_.finds_types()) {
        around_.pop_back();
        return leave_loop(c, {});
    }
    std::vector<Value> initial;
    collect(c, initial);
    const ir::Builder::Values results = builder_.while_loop(
        initial,
        [&](std::span<const Value> values) {
            scope_ = c.before;
            bind(c, values);
            const Value on = value(goes_on(), DType::Bool);
            if (!exact_integers() || !hidden.empty() || !host_.uses_status) return on;
            out_.reads_status = true;
            // After a failure its values are not Python's: a loop that depends on them might never end.
            return builder_.bit_and(on, builder_.eq(builder_.load(host_.status, builder_.i64(0)), builder_.i64(0)));
        },
        [&](std::span<const Value> values) {
            scope_ = c.before;
            bind(c, values);
            iteration();
            ir::Builder::Values out;
            collect(c, out);
            return out;
        });
    around_.pop_back();
    leave_loop(c, results);
}

/// Puts the flags of the loop around back, and runs `else` if no break was met, nor a return or failure.
void Lowering::after_loop(const Tree* otherwise, const Variable& outer_break, const Variable& outer_continue) {
    const TypedExpr broken = scope_.at(break_flag).expr;
    scope_.set(break_flag, outer_break);
    scope_.set(continue_flag, outer_continue);
    if (!otherwise || otherwise->parts.empty()) return;
    const TypedExpr whole = pure(Opcode::Not, {DType::Bool, false}, {broken}, DType::Bool);
    const auto rest = [&] { go_on(otherwise->place, [&] { block(otherwise->parts); }); };
    if (whole.number().constant) return whole.number().scalar.b ? rest() : void();
    branch(whole, otherwise->place, rest, [] {});
}

/// for i in range(start, stop, step): `begin` binds what depends on i at the start of each iteration.
void Lowering::ranged(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step, const Tree& body,
                      const Tree* otherwise, const std::function<void(const TypedExpr&)>& begin) {
    const Variable outer_break = scope_.at(break_flag), outer_continue = scope_.at(continue_flag);
    scope_.set(break_flag, {flag(false), t.place, false, ++versions_});
    scope_.set(continue_flag, {flag(false), t.place, false, ++versions_});
    const bool leaves = contains(body, Form::Break, false) || contains(body, Form::Return, true) || contains(body, Form::Raise, true) ||
                        contains(body, Form::Assert, true);
    if (!leaves) {
        counted_loop(t, start, stop, step, [&](const TypedExpr& i) {
            begin(i);
            scope_.set(continue_flag, {flag(false), t.place, false, ++versions_});
            block(body.parts);
            scope_.set(continue_flag, {flag(false), t.place, false, ++versions_});
        });
        return after_loop(otherwise, outer_break, outer_continue);
    }
    if (!step.number().constant) fail(ErrorCode::Value, t.place, "a range that is left by break or return needs a constant step");
    // `if test: break` at the start of the body is part of the loop's own test.
    std::vector<const Tree*> tests;
    while ((!otherwise || otherwise->parts.empty()) && tests.size() < body.parts.size()) {
        const Tree& s = body.parts[tests.size()];
        if (s.form != Form::If || !s.parts[2].parts.empty() || s.parts[1].parts.size() != 1 || s.parts[1].parts[0].form != Form::Break)
            break;
        if (!tests.empty() && !is_simple(s.parts[0])) break;  // it is asked only where those before it let the iteration go on
        tests.push_back(&s.parts[0]);
    }
    const std::string counter = "$index" + std::to_string(loops_++);
    TypedExpr first = cast(start, {DType::Int64, true});
    first.number().least = step.number().scalar.i > 0 ? start.number().least : unknown_least;
    if (exact_integers()) first.number().bits = static_cast<std::uint8_t>(std::max(bits_of(start), bits_of(stop)));
    set_variable(counter, first, t.place);
    const auto inside_at = [&](const TypedExpr& i) {
        return pure(step.number().scalar.i > 0 ? Opcode::Lt : Opcode::Gt, {DType::Bool, false}, {i, stop}, DType::Int64);
    };
    const auto test = [&]() -> TypedExpr {
        const TypedExpr i = scope_.at(counter).expr;
        const TypedExpr inside = inside_at(i);
        if (tests.empty()) return inside;
        const auto stays = [&] {
            begin(i);
            TypedExpr all = flag(true);
            for (const Tree* s : tests) {
                at_ = s->place;
                const TypedExpr leaves_here = condition(*s);
                const TypedExpr on = pure(Opcode::Not, {DType::Bool, false}, {leaves_here}, DType::Bool);
                all = all.number().constant && all.number().scalar.b ? on : pure(Opcode::And, {DType::Bool, false}, {all, on}, DType::Bool);
            }
            return all;
        };
        const bool plain = std::all_of(tests.begin(), tests.end(), [](const Tree* s) { return is_simple(*s); });
        if (plain) return pure(Opcode::And, {DType::Bool, false}, {inside, stays()}, DType::Bool);
        return chosen(
            inside, *tests[0], stays, [] { return flag(false); }, t.place);
    };
    // A test that ends the loop has seen its iteration's value, which names from before the loop keep: a counter gets it ahead of the test,
    // others when it is over.
    const auto named = t.form == Form::For && t.parts[0].form == Form::Name ? scope_.find(t.parts[0].name) : scope_.end();
    const bool ahead = !tests.empty() && named != scope_.end() && !named->second.maybe;
    const auto advance = [&](const TypedExpr& i) {
        const std::string& name = t.parts[0].name;
        const TypedExpr on = pure(Opcode::And, {DType::Bool, false}, {inside_at(i), alive()}, DType::Bool);
        set_variable(name, selected(on, {i, t.place}, scope_.at(name), t.place), t.place);
    };
    if (ahead) advance(first);
    general_loop(t, {&t}, {counter}, test, [&] {
        const TypedExpr i = scope_.at(counter).expr;
        begin(i);
        block(body.parts, tests.size());
        TypedExpr next = add(i, step);
        next.number().least = step.number().scalar.i > 0 ? i.number().least : unknown_least;
        next.number().bits = i.number().bits;
        set_variable(counter, next, t.place);
        scope_.set(continue_flag, {flag(false), t.place, false, ++versions_});
        if (ahead) advance(next);
    });
    if (!tests.empty() && !ahead) {
        const TypedExpr i = scope_.at(counter).expr;
        const TypedExpr by_test = pure(Opcode::And, {DType::Bool, false}, {inside_at(i), alive()}, DType::Bool);
        const auto bind_last = [&] { begin(i); };
        if (!by_test.number().constant || by_test.number().scalar.b) branch(by_test, t.place, bind_last, [] {});
    }
    scope_.erase(counter);
    after_loop(otherwise, outer_break, outer_continue);
}

void Lowering::for_range(const Tree& t) {
    TypedExpr bounds[3];
    for (std::size_t k = 0; k < 3; ++k) {
        const TypedExpr given = number_in(expression(t.parts[1 + k]));
        if (given.kind() != Kind::Number || !is_integer(given.number().type.dtype))
            wrong_type(t.parts[1 + k].place, "range takes integers, not " + describe(given));
        bounds[k] = whole_to_int(given, t.parts[1 + k].place, "range: ");
    }
    if (bounds[2].number().constant && bounds[2].number().scalar.i == 0)
        fail(ErrorCode::Value, t.parts[3].place, "range: the step must not be zero");
    if (!bounds[2].number().constant && bounds[2].number().least < 1) {
        TypedExpr zero =
            number({DType::Bool, false}, walk_.value([&] { return builder_.eq(value(bounds[2], DType::Int64), builder_.i64(0)); }));
        fail_when(zero, ErrorCode::Value, "range: the step must not be zero", t.parts[3].place, {});
        if (walk_.builds())
            bounds[2] = number({DType::Int64, true}, builder_.select(zero.number().value, builder_.i64(1), value(bounds[2], DType::Int64)));
    }
    guard_range(bounds[0], bounds[1], bounds[2], t.parts[2].place);
    if (t.index == 1 && exact_integers() && t.parts[5].parts.empty() && shared_rounds(t, bounds[0], bounds[1], bounds[2])) return;
    // A name that counts a loop of at least one iteration keeps its last value.
    const bool runs = bounds[0].number().constant && bounds[1].number().constant && bounds[2].number().constant &&
                      (bounds[2].number().scalar.i > 0 ? bounds[0].number().scalar.i < bounds[1].number().scalar.i
                                                       : bounds[0].number().scalar.i > bounds[1].number().scalar.i);
    if (runs && t.parts[0].form == Form::Name && !scope_.contains(t.parts[0].name)) {
        TypedExpr first = fluid(rules(), bounds[0]);
        if (walk_.builds()) first.number().value = value(bounds[0], DType::Int64);
        set_variable(t.parts[0].name, first, t.place);
    }
    ranged(t, bounds[0], bounds[1], bounds[2], t.parts[4], &t.parts[5], [&](const TypedExpr& i) { assign(t.parts[0], i, t.place); });
}

void Lowering::while_statement(const Tree& t) {
    const Variable outer_break = scope_.at(break_flag), outer_continue = scope_.at(continue_flag);
    scope_.set(break_flag, {flag(false), t.place, false, ++versions_});
    scope_.set(continue_flag, {flag(false), t.place, false, ++versions_});
    const auto test = [&] {
        at_ = t.place;
        return condition(t.parts[0]);
    };
    const Tree& asked = t.parts[0];
    const bool forever = asked.form == Form::Number && asked.number.cast(DType::Bool).b;
    const auto body = [&] {
        learn(scope_, asked, true);
        block(t.parts[1].parts);
    };
    general_loop(t, {&t}, {}, test, body, forever);
    if (forever && !contains(t.parts[1], Form::Break, false)) scope_.change(return_flag).expr = flag(true);
    after_loop(&t.parts[2], outer_break, outer_continue);
}

}  // namespace pardo::lang
