// src/lang/statements.cpp: statements: assignment and branches; break, continue and return become flags and regions.
#include <algorithm>

#include "lang/lowering.h"

namespace pardo::lang {

// ---- what joins

/// The values of an expression, converted to another's type; constants of that need none.
void Lowering::flatten(const TypedExpr& t, const TypedExpr& like, std::vector<Value>& out) {
    switch (like.kind()) {
        case Kind::Number:
            if (!like.number().constant) out.push_back(value(t, dtype(like.number().type)));
            return;
        case Kind::List:
        case Kind::Tuple:
            for (std::size_t k = 0; k < like.parts().size(); ++k) flatten(t.parts()[k], like.parts()[k], out);
            return;
        case Kind::Array:
            for (std::size_t k = 0; k < like.view().lead.size(); ++k) flatten(t.view().lead[k], like.view().lead[k], out);
            if (!options_.bounds_check || walk_.finds_types()) return;
            if (!t.view().guards.empty()) guarded(t.view(), [] { return ir::Builder::Values(); }, {});
            out.push_back(t.view().guards.empty() ? value(flag(true)) : guard_of(t.view()));
            return;
        default: return;
    }
}

TypedExpr Lowering::rebuilt(const TypedExpr& like, std::span<const Value> values, std::size_t& at) const {
    TypedExpr out = like;
    switch (like.kind()) {
        case Kind::Number:
            if (!like.number().constant) out.number().value = walk_.value([&] { return values[at++]; });
            return out;
        case Kind::List:
        case Kind::Tuple:
            for (TypedExpr& part : out.parts()) part = rebuilt(part, values, at);
            return out;
        case Kind::Array:
            for (TypedExpr& part : out.view().lead) part = rebuilt(part, values, at);
            if (options_.bounds_check && walk_.builds()) out.view().guards = {Guard{values[at++]}};
            return out;
        default: return out;
    }
}

void Lowering::set_variable(const std::string& name, TypedExpr expr, const Place& place) {
    record_type(name, expr, place);
    scope_.set(name, {std::move(expr), place, false, ++versions_});
}

void Lowering::record_parameters() {
    std::vector<std::string> names = source_.function->params;
    names.push_back(source_.function->rest);
    for (const std::string& name : names)
        if (const auto found = scope_.find(name); found != scope_.end())
            record_type(name, found->second.expr, source_.function->body.place);
}

void Lowering::record_type(const std::string& name, const TypedExpr& expr, const Place& place) {
    if (options_.record_types && walk_.builds() && !name.starts_with('$'))
        out_.types.push_back({source_.function, place.line, name, describe(expr)});
}

// ---- blocks

bool Lowering::escapes() const {
    for (const char* name : {break_flag, continue_flag, return_flag}) {
        const TypedExpr& t = scope_.at(name).expr;
        if (!t.number().constant || t.number().scalar.b) return true;
    }
    return false;
}

TypedExpr Lowering::alive() {
    TypedExpr gone = flag(false);
    for (const char* name : {break_flag, continue_flag, return_flag}) {
        const TypedExpr& t = scope_.at(name).expr;
        if (t.number().constant && !t.number().scalar.b) continue;
        gone = gone.number().constant && !gone.number().scalar.b ? t : pure(Opcode::Or, {DType::Bool, false}, {gone, t}, DType::Bool);
    }
    return pure(Opcode::Not, {DType::Bool, false}, {gone}, DType::Bool);
}

void Lowering::block(const std::vector<Tree>& statements, std::size_t from) {
    for (std::size_t k = from; k < statements.size(); ++k) {
        const Tree& t = statements[k];
        at_ = t.place;
        if (t.form == Form::If) {
            if (if_statement(t, statements, k + 1)) return;
        } else {
            statement(t);
        }
        if (k + 1 == statements.size() || !escapes()) continue;
        return go_on(t.place, [&] { block(statements, k + 1); });
    }
}

/// What follows statements that may have set a flag: it runs where none is.
void Lowering::go_on(const Place& place, const std::function<void()>& rest) {
    if (!escapes()) return rest();
    const TypedExpr goes_on = alive();
    if (goes_on.number().constant) return goes_on.number().scalar.b ? rest() : void();
    const auto alone = [&] {
        for (const char* name : {break_flag, continue_flag, return_flag}) scope_.change(name).expr = flag(false);
        rest();
    };
    const bool only_returns = scope_.at(break_flag).expr.number().constant && scope_.at(continue_flag).expr.number().constant;
    const auto gone = [&] {
        if (only_returns) scope_.change(return_flag).expr = flag(true);
    };
    branch(goes_on, place, alone, gone);
}

void Lowering::statement(const Tree& t) {
    if (walk_.builds()) {
        builder_.set_span({1, static_cast<std::uint32_t>(t.place.line), static_cast<std::uint32_t>(t.place.column),
                           static_cast<std::uint32_t>(t.place.end_column)});
    }
    switch (t.form) {
        case Form::Block: return block(t.parts);
        case Form::Assign: return assign(t.parts[0], expression(t.parts[1]), t.place);
        case Form::Augment: return augment(t);
        case Form::For: return for_range(t);
        case Form::Each: return for_each(t);
        case Form::While: return while_statement(t);
        case Form::Break: return set_variable(break_flag, flag(true), t.place);
        case Form::Continue: return set_variable(continue_flag, flag(true), t.place);
        case Form::Return:
            if (stack_.size() == 1 && (!loop_ || loop_->parallel)) {
                if (!t.parts.empty() && t.parts[0].form != Form::None)
                    wrong_type(t.place, "a kernel returns nothing; write its results into arrays");
            } else {
                set_variable(result_name, t.parts.empty() ? TypedExpr() : settled(expression(t.parts[0]), t.place), t.place);
            }
            return set_variable(return_flag, flag(true), t.place);
        case Form::Discard: (void)expression(t.parts[0]); return;
        case Form::Assert: return assertion(t);
        case Form::Raise: {
            std::vector<TypedExpr> values;
            std::string message = t.name;
            for (const Tree& part : t.parts) {
                TypedExpr x = expression(part);
                if (x.kind() != Kind::Number || !is_integer(x.number().type.dtype))
                    fail(ErrorCode::Compile, part.place,
                         "the message of an exception holds integers, not " + describe(x) + "; print it before");
                const std::string place = "$" + std::to_string(values.size());
                if (const std::size_t at = message.find(place); dtype(x.number().type) == DType::UInt64 && at != std::string::npos)
                    message.insert(at + 1, "u");
                values.push_back(std::move(x));
            }
            fail_when(flag(true), static_cast<ErrorCode>(t.index), message, t.place, values);
            return set_variable(return_flag, flag(true), t.place);
        }
        default: fail(ErrorCode::Internal, t.place, "a statement is expected here, not an expression");
    }
}

void Lowering::assign(const Tree& target, const TypedExpr& assigned, const Place& place) {
    switch (target.form) {
        case Form::Name: return set_variable(target.name, named(target.name, assigned, place), place);
        case Form::Subscript:
        case Form::Attribute: return store(target, assigned, place);
        case Form::Tuple: {
            std::vector<TypedExpr> items;
            if (is_array_of_structs(assigned)) {
                const TypedExpr extent = first_part(assigned).view().lead[1];
                if (!extent.number().constant)
                    wrong_type(place, describe(assigned) +
                                          " is unpacked into its elements, and how many these are is not known before the "
                                          "kernel runs; take its fields by name, or elements by index");
                for (std::int64_t k = 0; k < extent.number().scalar.i; ++k)
                    items.push_back(indexed(assigned, std::vector<TypedExpr>{integer(k)}, target));
            } else if (assigned.kind() == Kind::Tuple) {
                for (std::size_t k = 0; k < assigned.tuple().items.size(); ++k) items.push_back(field(assigned, k));
            }
            if (assigned.kind() == Kind::Array && assigned.view().rank == 1 && assigned.view().lead[1].number().constant) {
                for (std::int64_t k = 0; k < assigned.view().lead[1].number().scalar.i; ++k) {
                    items.push_back(element(part_at(assigned.view(), integer(k))));
                }
            } else if (assigned.kind() != Kind::Tuple) {
                wrong_type(place, describe(assigned) + " cannot be unpacked into " + std::to_string(target.parts.size()) + " names");
            }
            if (items.size() != target.parts.size())
                fail(ErrorCode::Value, place,
                     std::to_string(items.size()) + " values cannot be unpacked into " + std::to_string(target.parts.size()) + " names");
            for (std::size_t k = 0; k < items.size(); ++k) assign(target.parts[k], items[k], place);
            return;
        }
        default: wrong_type(target.place, "only names, elements of arrays, and tuples of these can be assigned");
    }
}

void Lowering::augment(const Tree& t) {
    const Tree& target = t.parts[0];
    if (target.form == Form::Name) {
        const TypedExpr old = expression(target);
        const TypedExpr by = expression(t.parts[1]);
        if (old.kind() == Kind::Array) return store_view(old.view(), binary(t.name, old, by, t.place), t.place);
        if (is_rows(by) && old.kind() == Kind::Number)
            return set_variable(target.name, settled(binary(t.name, old, by, t.place), t.place), t.place);
        const std::optional<TypedExpr> in_place = by_operator(old, by, t.name, true, t.place);
        return set_variable(target.name, in_place ? *in_place : binary(t.name, old, by, t.place), t.place);
    }
    const bool is_place = target.form == Form::Subscript || target.form == Form::Attribute;
    if (!is_place) wrong_type(t.place, "only names and elements of arrays can be changed in place");
    const TypedExpr object = expression(target.parts[0]);
    if (object.kind() == Kind::List && target.form == Form::Subscript) {
        const View place = list_place(object, indices_of(target), target);
        const TypedExpr result = binary(t.name, list_item(object, place), expression(t.parts[1]), t.place);
        note_item(object, result, t.place);
        return lists_changed_ ? void() : store_element(place, result, t.place);
    }
    TypedExpr changed = object;
    if (is_field(object, target))
        changed = object.tuple().items[field_at(object, target)];
    else if (object.kind() == Kind::Array) {
        const std::vector<TypedExpr> indices = indices_of(target);
        if (const int k = array_index(source_, indices, t.place); k >= 0) return augment_gathered(t, object, indices, k);
        changed.view() = viewed(object.view(), indices, target);
    }
    if (changed.kind() != Kind::Array) wrong_type(target.place, describe(changed) + " has no elements that could be changed");
    const View& place = changed.view();
    if (place.rank > 0) return store_rows(place, binary(t.name, changed, expression(t.parts[1]), t.place), t.place);
    const TypedExpr old = element(place);  // read before the right side is evaluated, as in Python
    const TypedExpr result = binary(t.name, old, expression(t.parts[1]), t.place);
    // NumPy's rule for x[i] += y: the array keeps its dtype.
    store_element(place, result, t.place);
}

/// x[places] += y, x[mask] += y.
void Lowering::augment_gathered(const Tree& t, const TypedExpr& object, const std::vector<TypedExpr>& indices, int k) {
    const TypedExpr& index = indices[static_cast<std::size_t>(k)];
    const TypedExpr by = expression(t.parts[1]);
    if (indices.size() == 1 && holds_bools(index)) {
        if (by.kind() != Kind::Number)
            wrong_type(t.place, "where a mask says so, a number is taken in a kernel, not " + describe(by) + "; write np.where(…)");
        return store_masked(
            object.view(), index, [&](const TypedExpr& old) { return binary(t.name, old, by, t.place); }, t.place);
    }
    const Gathered target = gathered(object.view(), indices, k, t.parts[0]);
    store_gathered(target, object.view().name, binary(t.name, rows_expr(target.rows), by, t.place), t.place);
}

// ---- branches

/// Walks both sides for types, to learn what they assign, then builds them.
void Lowering::branch(const TypedExpr& test, const Place& place, const std::function<void()>& then_part,
                      const std::function<void()>& else_part) {
    const Scope before = scope_;
    const auto scope_after = [&](const std::function<void()>& part) {
        part();
        return std::exchange(scope_, before);
    };
    const Scope a = walk_.types_of([&] { return scope_after(then_part); });
    const Scope b = walk_.types_of([&] { return scope_after(else_part); });
    Scope after = before;
    std::vector<std::string> names, copied;
    const auto meet = [&](const std::string& name, const Variable* x, const Variable* y) {
        if (x && y && x->version == y->version) return;
        if (!x || !y || x->maybe || y->maybe) {
            const Variable& v = x ? *x : *y;
            after.set(name, {fluid(rules(), v.expr), v.place, name != result_name, ++versions_, v.above});
            if (name == result_name) names.push_back(name);
            return;
        }
        names.push_back(name);
        if (joins_arrays(name, before, a, b)) {
            copied.push_back(name);
            return after.set(name, {joint_array(x->expr, y->expr, place), y->place.line ? y->place : x->place, false, ++versions_});
        }
        after.set(name, {joined(rules(), name, *x, *y, place), y->place.line ? y->place : x->place, false, ++versions_});
    };
    for (const auto& [name, x] : a) {
        const auto y = b.find(name);
        meet(name, &x, y == b.end() ? nullptr : &y->second);
    }
    for (const auto& [name, y] : b)
        if (!a.contains(name)) meet(name, nullptr, &y);
    if (walk_.builds()) {
        const auto part = [&](const std::function<void()>& f) {
            return [&] {
                scope_ = before;
                f();
                for (const std::string& name : copied) {
                    TypedExpr& made = scope_.change(name).expr;
                    made = put_into(after.at(name).expr, made, place);
                }
                ir::Builder::Values out;
                for (const std::string& name : names) {
                    const auto found = scope_.find(name);
                    if (found != scope_.end()) adopt(after.change(name).expr, found->second.expr);
                    const TypedExpr& like = after.at(name).expr;
                    flatten(found == scope_.end() ? blank(like) : found->second.expr, like, out);
                }
                return out;
            };
        };
        const ir::Builder::Values values = builder_.if_else(value(test), part(then_part), part(else_part));
        std::size_t at = 0;
        for (const std::string& name : names) after.change(name).expr = rebuilt(after.at(name).expr, values, at);
    }
    scope_ = std::move(after);
}

bool Lowering::if_statement(const Tree& t, const std::vector<Tree>& rest, std::size_t from) {
    const Tree &yes = t.parts[1], &no = t.parts[2];
    const TypedExpr test = condition(t.parts[0]);
    if (test.number().constant) {
        block((test.number().scalar.b ? yes : no).parts);
        return false;
    }
    // What follows belongs to the side that goes on, if only one does.
    const bool yes_ends = never_falls(yes.parts), no_ends = never_falls(no.parts);
    const bool takes_rest = yes_ends != no_ends && from < rest.size();
    const auto side = [&](const Tree& part, bool truth, bool ends) {
        return [&, truth, ends] {
            learn(scope_, t.parts[0], truth);
            block(part.parts);
            if (!takes_rest || ends) return;
            go_on(t.place, [&] { block(rest, from); });
        };
    };
    branch(test, t.place, side(yes, true, yes_ends), side(no, false, no_ends));
    return takes_rest;
}

}  // namespace pardo::lang
