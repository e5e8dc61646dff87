// src/lang/statements.cpp: statements: assignment and branches; break, continue and return become flags and regions.
#include "lang/statements.h"

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/loops/loops.h"
#include "lang/memory/lists.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"
#include "lang/scope_facts.h"
#include "lang/syntax_facts.h"
#include "lang/typing/joins.h"

namespace pardo::lang {

namespace {

void record_type(Lowering& l, const std::string& name, const TypedExpr& expr, const Place& place);
void statement(Lowering& l, const Tree& t);
bool if_statement(Lowering& l, const Tree& t, const std::vector<Tree>& rest, std::size_t from);
void assertion(Lowering& l, const Tree& t);
void augment(Lowering& l, const Tree& t);
void augment_gathered(Lowering& l, const Tree& t, const TypedExpr& object, const std::vector<TypedExpr>& indices, int k);

}  // namespace

void set_variable(Lowering& l, const std::string& name, TypedExpr expr, const Place& place) {
    record_type(l, name, expr, place);
    give(l, name, std::move(expr), place);
}

void record_parameters(Lowering& l) {
    std::vector<std::string> names = l.source.function->params;
    names.push_back(l.source.function->rest);
    for (const std::string& name : names)
        if (const auto found = l.scope.find(name); found != l.scope.end())
            record_type(l, name, found->second.expr, l.source.function->body.place);
}

namespace {

void record_type(Lowering& l, const std::string& name, const TypedExpr& expr, const Place& place) {
    if (l.task.options.record_types && l.walk.builds() && !name.starts_with('$'))
        l.out.types.push_back({l.source.function, place.line, name, describe(expr)});
}

}  // namespace

bool escapes(const Lowering& l) {
    for (const char* name : {break_flag, continue_flag, return_flag}) {
        const TypedExpr& t = l.scope.at(name).expr;
        if (!t.number().constant || t.number().scalar.b) return true;
    }
    return false;
}

TypedExpr alive(Lowering& l) {
    TypedExpr gone = flag(false);
    for (const char* name : {break_flag, continue_flag, return_flag}) {
        const TypedExpr& t = l.scope.at(name).expr;
        if (t.number().constant && !t.number().scalar.b) continue;
        gone = gone.number().constant && !gone.number().scalar.b ? t : pure(l, Opcode::Or, {DType::Bool, false}, {gone, t}, DType::Bool);
    }
    return pure(l, Opcode::Not, {DType::Bool, false}, {gone}, DType::Bool);
}

void block(Lowering& l, const std::vector<Tree>& statements, std::size_t from) {
    for (std::size_t k = from; k < statements.size(); ++k) {
        const Tree& t = statements[k];
        l.at = t.place;
        if (t.form == Form::If) {
            if (if_statement(l, t, statements, k + 1)) return;
        } else {
            statement(l, t);
        }
        if (k + 1 == statements.size() || !escapes(l)) continue;
        return go_on(l, t.place, [&] { block(l, statements, k + 1); });
    }
}

void go_on(Lowering& l, const Place& place, const std::function<void()>& rest) {
    if (!escapes(l)) return rest();
    const TypedExpr goes_on = alive(l);
    if (goes_on.number().constant) return goes_on.number().scalar.b ? rest() : void();
    const auto alone = [&] {
        for (const char* name : {break_flag, continue_flag, return_flag}) l.scope.change(name).expr = flag(false);
        rest();
    };
    const bool only_returns = l.scope.at(break_flag).expr.number().constant && l.scope.at(continue_flag).expr.number().constant;
    const auto gone = [&] {
        if (only_returns) l.scope.change(return_flag).expr = flag(true);
    };
    branch(l, goes_on, place, alone, gone);
}

namespace {

void statement(Lowering& l, const Tree& t) {
    l.builder.set_place(t.place);
    switch (t.form) {
        case Form::Block: return block(l, t.parts);
        case Form::Assign: return assign(l, t.parts[0], expression(l, t.parts[1]), t.place);
        case Form::Augment: return augment(l, t);
        case Form::For: return for_range(l, t);
        case Form::Each: return for_each(l, t);
        case Form::While: return while_statement(l, t);
        case Form::Break: return set_variable(l, break_flag, flag(true), t.place);
        case Form::Continue: return set_variable(l, continue_flag, flag(true), t.place);
        case Form::Return:
            if (l.stack.size() == 1 && (!l.task.loop || l.task.loop->parallel)) {
                if (!t.parts.empty() && t.parts[0].form != Form::None)
                    l.source.wrong_type(t.place, "a kernel returns nothing; write its results into arrays");
            } else {
                set_variable(l, result_name, t.parts.empty() ? TypedExpr() : settled(l, expression(l, t.parts[0]), t.place), t.place);
            }
            return set_variable(l, return_flag, flag(true), t.place);
        case Form::Discard: (void)expression(l, t.parts[0]); return;
        case Form::Assert: return assertion(l, t);
        case Form::Raise: {
            std::vector<TypedExpr> values;
            std::string message = t.name;
            for (const Tree& part : t.parts) {
                TypedExpr x = expression(l, part);
                if (x.kind() != Kind::Number || !is_integer(x.number().type.dtype))
                    l.source.fail(ErrorCode::Compile, part.place,
                                  "the message of an exception holds integers, not " + describe(x) + "; print it before");
                const std::string place = "$" + std::to_string(values.size());
                if (const std::size_t at = message.find(place); l.rules.dtype(x.number().type) == DType::UInt64 && at != std::string::npos)
                    message.insert(at + 1, "u");
                values.push_back(std::move(x));
            }
            fail_when(l, flag(true), static_cast<ErrorCode>(t.index), message, t.place, values);
            return set_variable(l, return_flag, flag(true), t.place);
        }
        default: l.source.fail(ErrorCode::Internal, t.place, "a statement is expected here, not an expression");
    }
}

void assertion(Lowering& l, const Tree& t) {
    const TypedExpr test = condition(l, t.parts[0]);
    const TypedExpr bad = pure(l, Opcode::Not, {DType::Bool, false}, {test}, DType::Bool);
    if (bad.number().constant && !bad.number().scalar.b) return;
    const auto stops = [&] {
        fail_when(l, flag(true), ErrorCode::Assertion, t.name, t.place, {});
        set_variable(l, return_flag, flag(true), t.place);
    };
    if (bad.number().constant) return stops();
    branch(l, bad, t.place, stops, [] {});
}

}  // namespace

void assign(Lowering& l, const Tree& target, const TypedExpr& assigned, const Place& place) {
    switch (target.form) {
        case Form::Name: return set_variable(l, target.name, named(l, target.name, assigned, place), place);
        case Form::Subscript:
        case Form::Attribute: return store(l, target, assigned, place);
        case Form::Tuple: {
            std::vector<TypedExpr> items;
            if (is_array_of_structs(assigned)) {
                const TypedExpr extent = first_part(assigned).view().lead[1];
                if (!extent.number().constant)
                    l.source.wrong_type(place, describe(assigned) +
                                                   " is unpacked into its elements, and how many these are is not known before the "
                                                   "kernel runs; take its fields by name, or elements by index");
                for (std::int64_t k = 0; k < extent.number().scalar.i; ++k)
                    items.push_back(indexed(l, assigned, std::vector<TypedExpr>{integer(k)}, target));
            } else if (assigned.kind() == Kind::Tuple) {
                for (std::size_t k = 0; k < assigned.tuple().items.size(); ++k) items.push_back(field(l, assigned, k));
            }
            if (assigned.kind() == Kind::Array && assigned.view().rank == 1 && assigned.view().lead[1].number().constant) {
                for (std::int64_t k = 0; k < assigned.view().lead[1].number().scalar.i; ++k) {
                    items.push_back(element(l, part_at(l, assigned.view(), integer(k))));
                }
            } else if (assigned.kind() != Kind::Tuple) {
                l.source.wrong_type(place,
                                    describe(assigned) + " cannot be unpacked into " + std::to_string(target.parts.size()) + " names");
            }
            if (items.size() != target.parts.size())
                l.source.fail(
                    ErrorCode::Value, place,
                    std::to_string(items.size()) + " values cannot be unpacked into " + std::to_string(target.parts.size()) + " names");
            for (std::size_t k = 0; k < items.size(); ++k) assign(l, target.parts[k], items[k], place);
            return;
        }
        default: l.source.wrong_type(target.place, "only names, elements of arrays, and tuples of these can be assigned");
    }
}

namespace {

void augment(Lowering& l, const Tree& t) {
    const Tree& target = t.parts[0];
    if (target.form == Form::Name) {
        const TypedExpr old = expression(l, target);
        const TypedExpr by = expression(l, t.parts[1]);
        if (old.kind() == Kind::Array) return store_view(l, old.view(), binary(l, t.name, old, by, t.place), t.place);
        if (is_rows(by) && old.kind() == Kind::Number)
            return set_variable(l, target.name, settled(l, binary(l, t.name, old, by, t.place), t.place), t.place);
        const std::optional<TypedExpr> in_place = by_operator(l, old, by, t.name, true, t.place);
        return set_variable(l, target.name, in_place ? *in_place : binary(l, t.name, old, by, t.place), t.place);
    }
    const bool is_place = target.form == Form::Subscript || target.form == Form::Attribute;
    if (!is_place) l.source.wrong_type(t.place, "only names and elements of arrays can be changed in place");
    const TypedExpr object = expression(l, target.parts[0]);
    if (object.kind() == Kind::List && target.form == Form::Subscript) {
        const View place = list_place(l, object, indices_of(l, target), target);
        const TypedExpr result = binary(l, t.name, list_item(l, object, place), expression(l, t.parts[1]), t.place);
        note_item(l, object, result, t.place);
        return l.lists.changed ? void() : store_element(l, place, result, t.place);
    }
    TypedExpr changed = object;
    if (is_field(l, object, target))
        changed = object.tuple().items[field_at(l, object, target)];
    else if (object.kind() == Kind::Array) {
        const std::vector<TypedExpr> indices = indices_of(l, target);
        if (const int k = array_index(l.source, indices, t.place); k >= 0) return augment_gathered(l, t, object, indices, k);
        changed.view() = viewed(l, object.view(), indices, target);
    }
    if (changed.kind() != Kind::Array) l.source.wrong_type(target.place, describe(changed) + " has no elements that could be changed");
    const View& place = changed.view();
    if (place.rank > 0) return store_rows(l, place, binary(l, t.name, changed, expression(l, t.parts[1]), t.place), t.place);
    const TypedExpr old = element(l, place);  // read before the right side is evaluated, as in Python
    const TypedExpr result = binary(l, t.name, old, expression(l, t.parts[1]), t.place);
    // NumPy's rule for x[i] += y: the array keeps its dtype.
    store_element(l, place, result, t.place);
}

/// x[places] += y, x[mask] += y.
void augment_gathered(Lowering& l, const Tree& t, const TypedExpr& object, const std::vector<TypedExpr>& indices, int k) {
    const TypedExpr& index = indices[static_cast<std::size_t>(k)];
    const TypedExpr by = expression(l, t.parts[1]);
    if (indices.size() == 1 && holds_bools(index)) {
        if (by.kind() != Kind::Number)
            l.source.wrong_type(t.place,
                                "where a mask says so, a number is taken in a kernel, not " + describe(by) + "; write np.where(…)");
        return store_masked(
            l, object.view(), index, [&](const TypedExpr& old) { return binary(l, t.name, old, by, t.place); }, t.place);
    }
    const Gathered target = gathered(l, object.view(), indices, k, t.parts[0]);
    store_gathered(l, target, object.view().name, binary(l, t.name, rows_expr(target.rows), by, t.place), t.place);
}

}  // namespace

void branch(Lowering& l, const TypedExpr& test, const Place& place, const std::function<void()>& then_part,
            const std::function<void()>& else_part) {
    const Scope before = l.scope;
    const auto scope_after = [&](const std::function<void()>& part) {
        part();
        return std::exchange(l.scope, before);
    };
    const Scope a = l.walk.types_of([&] { return scope_after(then_part); });
    const Scope b = l.walk.types_of([&] { return scope_after(else_part); });
    Scope after = before;
    std::vector<std::string> names, copied;
    const auto meet = [&](const std::string& name, const Variable* x, const Variable* y) {
        if (x && y && x->version == y->version) return;
        if (!x || !y || x->maybe || y->maybe) {
            const Variable& v = x ? *x : *y;
            after.set(name, {fluid(l.rules, v.expr), v.place, name != result_name, ++l.versions, v.above});
            if (name == result_name) names.push_back(name);
            return;
        }
        names.push_back(name);
        if (joins_arrays(l, name, before, a, b)) {
            copied.push_back(name);
            return after.set(name, {joint_array(l, x->expr, y->expr, place), y->place.line ? y->place : x->place, false, ++l.versions});
        }
        after.set(name, {joined(l.rules, name, *x, *y, place), y->place.line ? y->place : x->place, false, ++l.versions});
    };
    for (const auto& [name, x] : a) {
        const auto y = b.find(name);
        meet(name, &x, y == b.end() ? nullptr : &y->second);
    }
    for (const auto& [name, y] : b)
        if (!a.contains(name)) meet(name, nullptr, &y);
    if (l.walk.builds()) {
        const auto part = [&](const std::function<void()>& f) {
            return [&] {
                l.scope = before;
                f();
                for (const std::string& name : copied) {
                    TypedExpr& made = l.scope.change(name).expr;
                    made = put_into(l, after.at(name).expr, made, place);
                }
                ir::Builder::Values out;
                for (const std::string& name : names) {
                    const auto found = l.scope.find(name);
                    if (found != l.scope.end()) adopt(after.change(name).expr, found->second.expr);
                    const TypedExpr& like = after.at(name).expr;
                    flatten(l, found == l.scope.end() ? blank(like) : found->second.expr, like, out);
                }
                return out;
            };
        };
        const ir::Builder::Values values = l.builder.if_else(value(l, test), part(then_part), part(else_part));
        std::size_t at = 0;
        for (const std::string& name : names) after.change(name).expr = rebuilt(l, after.at(name).expr, values, at);
    }
    l.scope = std::move(after);
}

namespace {

bool if_statement(Lowering& l, const Tree& t, const std::vector<Tree>& rest, std::size_t from) {
    const Tree &yes = t.parts[1], &no = t.parts[2];
    const TypedExpr test = condition(l, t.parts[0]);
    if (test.number().constant) {
        block(l, (test.number().scalar.b ? yes : no).parts);
        return false;
    }
    // What follows belongs to the side that goes on, if only one does.
    const bool yes_ends = never_falls(yes.parts), no_ends = never_falls(no.parts);
    const bool takes_rest = yes_ends != no_ends && from < rest.size();
    const auto side = [&](const Tree& part, bool truth, bool ends) {
        return [&, truth, ends] {
            learn(l.scope, t.parts[0], truth);
            block(l, part.parts);
            if (!takes_rest || ends) return;
            go_on(l, t.place, [&] { block(l, rest, from); });
        };
    };
    branch(l, test, t.place, side(yes, true, yes_ends), side(no, false, no_ends));
    return takes_rest;
}

}  // namespace

}  // namespace pardo::lang
