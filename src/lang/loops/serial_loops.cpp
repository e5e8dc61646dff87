// src/lang/loops/serial_loops.cpp: loops that an item goes through itself: for over ranges, tuples and arrays, and while.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/loops/loops.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"
#include "lang/scope_facts.h"
#include "lang/statements.h"
#include "lang/syntax_facts.h"
#include "lang/typing/joins.h"

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

/// What a loop changes and carries from one iteration to the next, with the types that hold in every iteration.
struct Carried {
    std::vector<std::string> names;
    std::vector<TypedExpr> likes;
    Scope before, after;  // after: the end of an iteration that is walked for types
};

void bind(Lowering& l, const Carried& c, std::span<const Value> values) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < c.names.size(); ++k) {
        const Variable& v = l.scope.at(c.names[k]);
        l.scope.set(c.names[k], {rebuilt(l, c.likes[k], values, at), v.place, v.maybe, ++l.versions, v.above});
    }
}

Carried carried_by(Lowering& l, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                   const std::function<void()>& iteration) {
    Carried c;
    std::set<std::string> names(hidden.begin(), hidden.end());
    for (const Tree* p : parts) collect_targets(*p, names);
    if (l.scope.contains(draws_name)) names.insert(draws_name);
    c.before = l.scope;
    for (const std::string& name : names) {
        const auto found = l.scope.find(name);
        if (found == l.scope.end() || found->second.maybe) continue;
        c.names.push_back(name);
        c.likes.push_back(fluid(l.rules, found->second.expr));
    }
    // A name's type changes a few times at most, and one name's may change the next one's.
    const int most_iterations = 16 + 4 * static_cast<int>(c.names.size());
    for (int iteration_number = 0;; ++iteration_number) {
        l.scope = c.before;
        l.walk.types_of([&] {
            bind(l, c, {});
            iteration();
        });
        bool stable = true;
        for (std::size_t k = 0; k < c.names.size(); ++k) {
            const Variable& entry = c.before.at(c.names[k]);
            const Variable& end = l.scope.at(c.names[k]);
            if (end.maybe)
                l.source.fail(ErrorCode::Name, end.place,
                              "`" + c.names[k] + "` may have no value in the next iteration of the loop; assign it on every path");
            Variable start{c.likes[k], entry.place};
            TypedExpr next = fluid(l.rules, joined(l.rules, c.names[k], start, end, end.place));
            settle(next, c.likes[k]);
            stable = stable && same_type(next, c.likes[k]);
            c.likes[k] = std::move(next);
        }
        if (stable) break;
        if (iteration_number > most_iterations)
            l.source.fail(ErrorCode::Type, parts[0]->place, "the types of this loop's names do not settle; convert them in front of it");
    }
    c.after = l.scope;
    l.scope = c.before;
    return c;
}

void collect(Lowering& l, const Carried& c, std::vector<Value>& out) {
    for (std::size_t k = 0; k < c.names.size(); ++k) flatten(l, l.scope.at(c.names[k]).expr, c.likes[k], out);
}

/// After the loop: carried names have their last values; names that only iterations assign may have none.
void leave_loop(Lowering& l, const Carried& c, std::span<const Value> results) {
    l.scope = c.before;
    bind(l, c, results);
    for (const auto& [name, v] : c.after) {
        if (!l.scope.contains(name)) l.scope.set(name, {fluid(l.rules, v.expr), v.place, true, v.version, v.above});
    }
}

/// for i in range(global id, …, global range), in groups of one dimension: where an item goes on, its neighbours do beside it.
bool is_grid_stride(Lowering& l, Value lower, const TypedExpr& step) {
    return l.task.space.rank == 1 && l.task.space.group_size.size() == 1 && !step.number().constant && lower == l.builder.dim(0) &&
           value(l, step, DType::Int64) == l.builder.extent(0);
}

/// The iterations of a grid-stride loop, counted by the group's first item.
void together(Lowering& l, Value upper, const std::function<void(Value)>& body) {
    const Value first = l.builder.mul(l.builder.group_dim(0), l.builder.i64(l.task.space.group_size[0]));
    const auto nothing = [] { return ir::Builder::Values(); };
    const auto iteration = [&](Value base, std::span<const Value>) {
        const Value i = l.builder.add(base, l.builder.local_dim(0));
        const auto inside = [&] {
            body(i);
            return nothing();
        };
        return l.builder.if_else(l.builder.lt(i, upper), inside, nothing);
    };
    l.builder.for_loop(first, upper, l.builder.extent(0), {}, iteration, 0, ir::LoopKind::Lockstep);
}

void counted_loop(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                  const std::function<void(const TypedExpr&)>& body) {
    std::int64_t least = unknown_least;
    if (step.number().least > 0) least = start.number().least;
    if (step.number().constant && step.number().scalar.i < 0 && stop.number().least != unknown_least) least = stop.number().least + 1;
    const auto bits = static_cast<std::uint8_t>(l.rules.exact ? std::max(bits_of(start), bits_of(stop)) : 63);
    const auto index = [&](Value v) {
        TypedExpr i = number({DType::Int64, true}, v, least);
        i.number().bits = bits;
        return i;
    };
    constexpr std::int64_t few_rounds = 16;
    const bool is_short = start.number().constant && stop.number().constant && step.number().constant &&
                          std::abs(stop.number().scalar.i - start.number().scalar.i) <= few_rounds;
    l.lanes.inner_loops += is_short ? 0 : 1;
    if (l.lanes.choosing && !l.lanes.inside) choose_lanes(l, t, start, stop, step, body);
    const bool lanes = !l.lanes.inside && l.lanes.loops.contains(&t), outer = std::exchange(l.lanes.inside, l.lanes.inside || lanes);
    l.around.push_back({&t, l.stack.size()});
    const Carried c = carried_by(l, {&t}, {}, [&] {
        count_draws(l);
        body(index(ir::no_value));
    });
    if (l.walk.finds_types()) {
        l.lanes.inside = outer;
        l.around.pop_back();
        return leave_loop(l, c, {});
    }
    const Value lower = value(l, start, DType::Int64), upper = value(l, stop, DType::Int64);
    if (c.names.empty() && is_grid_stride(l, lower, step)) {
        together(l, upper, [&](Value i) {
            l.scope = c.before;
            body(index(i));
        });
        l.around.pop_back();
        return leave_loop(l, c, {});
    }
    if (lanes) {
        l.builder.for_lanes(lower, upper, {}, [&](Value i) {
            l.scope = c.before;
            body(index(i));
            return ir::Builder::Values();
        });
        l.lanes.inside = outer;
        l.around.pop_back();
        return leave_loop(l, c, {});
    }
    std::vector<Value> initial;
    collect(l, c, initial);
    const auto iteration = [&](Value i, std::span<const Value> values) {
        l.scope = c.before;
        bind(l, c, values);
        count_draws(l);
        body(index(i));
        ir::Builder::Values out;
        collect(l, c, out);
        return out;
    };
    const ir::Builder::Values results = l.builder.for_loop(lower, upper, value(l, step, DType::Int64), initial, iteration);
    l.around.pop_back();
    leave_loop(l, c, results);
}

}  // namespace

void general_loop(Lowering& l, const Tree& t, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                  const std::function<TypedExpr()>& test, const std::function<void()>& body, bool forever) {
    // The test knows that no flag was set; the body begins without any.
    ++l.lanes.inner_loops;
    const bool breaks = contains(t, Form::Break, true),
               returns = contains(t, Form::Return, true) || contains(t, Form::Raise, true) || contains(t, Form::Assert, true);
    std::vector<std::string> names = hidden;
    if (breaks) names.emplace_back(break_flag);
    if (returns) names.emplace_back(return_flag);
    const auto goes_on = [&]() -> TypedExpr {
        l.scope.change(continue_flag).expr = flag(false);
        const TypedExpr running = alive(l);
        if (running.number().constant && running.number().scalar.b) return test();
        const auto tested = [&] {
            const Scope before = l.scope;
            for (const char* name : {break_flag, return_flag}) l.scope.change(name).expr = flag(false);
            TypedExpr result = test();
            l.scope = before;
            return result;
        };
        return chosen(
            l, running, t, tested, [] { return flag(false); }, t.place);
    };
    const auto iteration = [&] {
        for (const char* name : {break_flag, continue_flag, return_flag}) give(l, name, flag(false), t.place);
        count_draws(l);
        body();
        give(l, continue_flag, flag(false), t.place);
    };
    l.around.push_back({&t, l.stack.size()});
    const auto walk = [&] {
        (void)goes_on();
        iteration();
    };
    if (forever || (contains(t, Form::Return, true) && !l.scope.contains(result_name))) {
        // What has no value before the loop and certainly one after it: what iterations return, and what they assign before they break.
        std::optional<Names> broken;
        if (Names assigned; forever) assigned_by(t.parts[1].parts, assigned, broken);
        for (const auto& [name, v] : carried_by(l, parts, names, walk).after) {
            const auto found = l.scope.find(name);
            const bool certain = !v.maybe || (broken && broken->contains(name));
            if (!certain || (found != l.scope.end() && !found->second.maybe) || !(forever || name == result_name)) continue;
            l.scope.set(name, {blank(v.expr), v.place, false, v.version, v.above});
        }
    }
    if (returns && l.scope.contains(result_name)) names.emplace_back(result_name);
    const Carried c = carried_by(l, parts, names, walk);
    if (l.walk.finds_types()) {
        l.around.pop_back();
        return leave_loop(l, c, {});
    }
    std::vector<Value> initial;
    collect(l, c, initial);
    const ir::Builder::Values results = l.builder.while_loop(
        initial,
        [&](std::span<const Value> values) {
            l.scope = c.before;
            bind(l, c, values);
            const Value on = value(l, goes_on(), DType::Bool);
            if (!l.rules.exact || !hidden.empty() || !l.host.uses_status) return on;
            l.out.reads_status = true;
            // After a failure its values are not Python's: a loop that depends on them might never end.
            return l.builder.bit_and(on, l.builder.eq(l.builder.load(l.host.status, l.builder.i64(0)), l.builder.i64(0)));
        },
        [&](std::span<const Value> values) {
            l.scope = c.before;
            bind(l, c, values);
            iteration();
            ir::Builder::Values out;
            collect(l, c, out);
            return out;
        });
    l.around.pop_back();
    leave_loop(l, c, results);
}

void after_loop(Lowering& l, const Tree* otherwise, const Variable& outer_break, const Variable& outer_continue) {
    const TypedExpr broken = l.scope.at(break_flag).expr;
    l.scope.set(break_flag, outer_break);
    l.scope.set(continue_flag, outer_continue);
    if (!otherwise || otherwise->parts.empty()) return;
    const TypedExpr whole = pure(l, Opcode::Not, {DType::Bool, false}, {broken}, DType::Bool);
    const auto rest = [&] { go_on(l, otherwise->place, [&] { block(l, otherwise->parts); }); };
    if (whole.number().constant) return whole.number().scalar.b ? rest() : void();
    branch(l, whole, otherwise->place, rest, [] {});
}

void ranged(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step, const Tree& body,
            const Tree* otherwise, const std::function<void(const TypedExpr&)>& begin) {
    const Variable outer_break = l.scope.at(break_flag), outer_continue = l.scope.at(continue_flag);
    give(l, break_flag, flag(false), t.place);
    give(l, continue_flag, flag(false), t.place);
    const bool leaves = contains(body, Form::Break, false) || contains(body, Form::Return, true) || contains(body, Form::Raise, true) ||
                        contains(body, Form::Assert, true);
    if (!leaves) {
        counted_loop(l, t, start, stop, step, [&](const TypedExpr& i) {
            begin(i);
            give(l, continue_flag, flag(false), t.place);
            block(l, body.parts);
            give(l, continue_flag, flag(false), t.place);
        });
        return after_loop(l, otherwise, outer_break, outer_continue);
    }
    if (!step.number().constant) l.source.fail(ErrorCode::Value, t.place, "a range that is left by break or return needs a constant step");
    // `if test: break` at the start of the body is part of the loop's own test.
    std::vector<const Tree*> tests;
    while ((!otherwise || otherwise->parts.empty()) && tests.size() < body.parts.size()) {
        const Tree& s = body.parts[tests.size()];
        if (s.form != Form::If || !s.parts[2].parts.empty() || s.parts[1].parts.size() != 1 || s.parts[1].parts[0].form != Form::Break)
            break;
        if (!tests.empty() && !is_simple(s.parts[0])) break;  // tested only in iterations that no test before it has ended
        tests.push_back(&s.parts[0]);
    }
    const std::string counter = "$index" + std::to_string(l.counters++);
    TypedExpr first = cast(l, start, {DType::Int64, true});
    first.number().least = step.number().scalar.i > 0 ? start.number().least : unknown_least;
    if (l.rules.exact) first.number().bits = static_cast<std::uint8_t>(std::max(bits_of(start), bits_of(stop)));
    set_variable(l, counter, first, t.place);
    const auto inside_at = [&](const TypedExpr& i) {
        return pure(l, step.number().scalar.i > 0 ? Opcode::Lt : Opcode::Gt, {DType::Bool, false}, {i, stop}, DType::Int64);
    };
    const auto test = [&]() -> TypedExpr {
        const TypedExpr i = l.scope.at(counter).expr;
        const TypedExpr inside = inside_at(i);
        if (tests.empty()) return inside;
        const auto stays = [&] {
            begin(i);
            TypedExpr all = flag(true);
            for (const Tree* s : tests) {
                l.at = s->place;
                const TypedExpr leaves_here = condition(l, *s);
                const TypedExpr on = pure(l, Opcode::Not, {DType::Bool, false}, {leaves_here}, DType::Bool);
                all = all.number().constant && all.number().scalar.b ? on
                                                                     : pure(l, Opcode::And, {DType::Bool, false}, {all, on}, DType::Bool);
            }
            return all;
        };
        const bool plain = std::all_of(tests.begin(), tests.end(), [](const Tree* s) { return is_simple(*s); });
        if (plain) return pure(l, Opcode::And, {DType::Bool, false}, {inside, stays()}, DType::Bool);
        return chosen(
            l, inside, *tests[0], stays, [] { return flag(false); }, t.place);
    };
    // A test that ends the loop has seen its iteration's value, which names from before the loop keep: a counter gets it ahead of the test,
    // others when it is over.
    const auto named = t.form == Form::For && t.parts[0].form == Form::Name ? l.scope.find(t.parts[0].name) : l.scope.end();
    const bool ahead = !tests.empty() && named != l.scope.end() && !named->second.maybe;
    const auto advance = [&](const TypedExpr& i) {
        const std::string& name = t.parts[0].name;
        const TypedExpr on = pure(l, Opcode::And, {DType::Bool, false}, {inside_at(i), alive(l)}, DType::Bool);
        set_variable(l, name, selected(l, on, {i, t.place}, l.scope.at(name), t.place), t.place);
    };
    if (ahead) advance(first);
    general_loop(l, t, {&t}, {counter}, test, [&] {
        const TypedExpr i = l.scope.at(counter).expr;
        begin(i);
        block(l, body.parts, tests.size());
        TypedExpr next = add(l, i, step);
        next.number().least = step.number().scalar.i > 0 ? i.number().least : unknown_least;
        next.number().bits = i.number().bits;
        set_variable(l, counter, next, t.place);
        give(l, continue_flag, flag(false), t.place);
        if (ahead) advance(next);
    });
    if (!tests.empty() && !ahead) {
        const TypedExpr i = l.scope.at(counter).expr;
        const TypedExpr by_test = pure(l, Opcode::And, {DType::Bool, false}, {inside_at(i), alive(l)}, DType::Bool);
        const auto bind_last = [&] { begin(i); };
        if (!by_test.number().constant || by_test.number().scalar.b) branch(l, by_test, t.place, bind_last, [] {});
    }
    l.scope.erase(counter);
    after_loop(l, otherwise, outer_break, outer_continue);
}

void for_range(Lowering& l, const Tree& t) {
    TypedExpr bounds[3];
    for (std::size_t k = 0; k < 3; ++k) {
        const TypedExpr given = number_in(l, expression(l, t.parts[1 + k]));
        if (given.kind() != Kind::Number || !is_integer(given.number().type.dtype))
            l.source.wrong_type(t.parts[1 + k].place, "range takes integers, not " + describe(given));
        bounds[k] = whole_to_int(l, given, t.parts[1 + k].place, "range: ");
    }
    if (bounds[2].number().constant && bounds[2].number().scalar.i == 0)
        l.source.fail(ErrorCode::Value, t.parts[3].place, "range: the step must not be zero");
    if (!bounds[2].number().constant && bounds[2].number().least < 1) {
        TypedExpr zero = number({DType::Bool, false}, l.builder.eq(value(l, bounds[2], DType::Int64), l.builder.i64(0)));
        fail_when(l, zero, ErrorCode::Value, "range: the step must not be zero", t.parts[3].place, {});
        if (l.walk.builds())
            bounds[2] =
                number({DType::Int64, true}, l.builder.select(zero.number().value, l.builder.i64(1), value(l, bounds[2], DType::Int64)));
    }
    guard_range(l, bounds[0], bounds[1], bounds[2], t.parts[2].place);
    if (t.index == 1 && l.rules.exact && t.parts[5].parts.empty() && shared_rounds(l, t, bounds[0], bounds[1], bounds[2])) return;
    // A name that counts a loop of at least one iteration keeps its last value.
    const bool runs = bounds[0].number().constant && bounds[1].number().constant && bounds[2].number().constant &&
                      (bounds[2].number().scalar.i > 0 ? bounds[0].number().scalar.i < bounds[1].number().scalar.i
                                                       : bounds[0].number().scalar.i > bounds[1].number().scalar.i);
    if (runs && t.parts[0].form == Form::Name && !l.scope.contains(t.parts[0].name)) {
        TypedExpr first = fluid(l.rules, bounds[0]);
        if (l.walk.builds()) first.number().value = value(l, bounds[0], DType::Int64);
        set_variable(l, t.parts[0].name, first, t.place);
    }
    ranged(l, t, bounds[0], bounds[1], bounds[2], t.parts[4], &t.parts[5], [&](const TypedExpr& i) { assign(l, t.parts[0], i, t.place); });
}

void while_statement(Lowering& l, const Tree& t) {
    const Variable outer_break = l.scope.at(break_flag), outer_continue = l.scope.at(continue_flag);
    give(l, break_flag, flag(false), t.place);
    give(l, continue_flag, flag(false), t.place);
    const auto test = [&] {
        l.at = t.place;
        return condition(l, t.parts[0]);
    };
    const Tree& asked = t.parts[0];
    const bool forever = asked.form == Form::Number && asked.number.cast(DType::Bool).b;
    const auto body = [&] {
        learn(l.scope, asked, true);
        block(l, t.parts[1].parts);
    };
    general_loop(l, t, {&t}, {}, test, body, forever);
    if (forever && !contains(t.parts[1], Form::Break, false)) l.scope.change(return_flag).expr = flag(true);
    after_loop(l, &t.parts[2], outer_break, outer_continue);
}

}  // namespace pardo::lang
