// src/lang/conditions.cpp: comparisons, truth, `and`, `or`, and the choice between two values.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/lists.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/scope_facts.h"
#include "lang/syntax_facts.h"

namespace pardo::lang {

TypedExpr truth(Lowering& l, const TypedExpr& given, const Place& place) {
    const TypedExpr t = number_in(l, given);
    if (const auto out = by_method(l, "__bool__", t, {}, place)) return truth(l, *out, place);
    if (t.kind() == Kind::Tuple && !t.tuple().names.empty()) l.source.wrong_type(place, "a condition is expected, not " + describe(t));
    if (t.kind() == Kind::Tuple) return number(Scalar(!t.tuple().items.empty()));
    if (t.kind() == Kind::None) return number(Scalar(false));
    if (t.kind() == Kind::List) return truth(l, list_length(l, t), place);
    if (t.kind() != Kind::Number)
        l.source.wrong_type(place, "a condition is expected, not " + describe(t) + (is_rows(t) ? "; write np.any(…) or np.all(…)" : ""));
    return number_truth(l, t);
}

namespace {

/// As Python's: the first items that differ decide.
TypedExpr compared_tuples(Lowering& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, std::size_t from,
                          const Place& place) {
    if (from == a.tuple().items.size() || from == b.tuple().items.size()) {
        const TypedExpr left = integer(static_cast<std::int64_t>(a.tuple().items.size())),
                        right = integer(static_cast<std::int64_t>(b.tuple().items.size()));
        return compared(l, op, left, right, place);
    }
    const TypedExpr &x = a.tuple().items[from], &y = b.tuple().items[from];
    const TypedExpr differ = compared(l, "!=", x, y, place), here = compared(l, op, x, y, place);
    if (op == "==" || op == "!=") {
        const TypedExpr rest = compared_tuples(l, op, a, b, from + 1, place);
        return pure(l, op == "==" ? Opcode::And : Opcode::Or, {DType::Bool, false}, {here, rest}, DType::Bool);
    }
    return selected(l, differ, {here, place}, {compared_tuples(l, op, a, b, from + 1, place), place}, place);
}

}  // namespace

TypedExpr compare(Lowering& l, const Tree& t, std::size_t from, const TypedExpr& left) {
    const std::vector<std::string> ops = operators_of(t);
    const TypedExpr right = expression(l, t.parts[from + 1]);
    const TypedExpr here = compared(l, ops[from], left, right, t.place);
    if (from + 1 == ops.size() || (here.number().constant && !here.number().scalar.b)) return here;
    const auto rest = [&] { return compare(l, t, from + 1, right); };
    if (here.number().constant) return rest();
    const auto next = t.parts.begin() + static_cast<std::ptrdiff_t>(from) + 2;
    if (std::all_of(next, t.parts.end(), is_simple)) return pure(l, Opcode::And, {DType::Bool, false}, {here, rest()}, DType::Bool);
    Tree known = t;  // what holds where the rest is evaluated
    known.name = ops[from];
    known.parts = {t.parts[from], t.parts[from + 1]};
    const auto decides = [&] {
        const Scope before = l.scope;
        learn(l.scope, known, true);
        TypedExpr result = rest();
        l.scope = before;
        return result;
    };
    return chosen(
        l, here, *next, decides, [] { return flag(false); }, t.place);
}

TypedExpr condition(Lowering& l, const Tree& t) {
    if (t.form == Form::And || t.form == Form::Or) return logical(l, t, 0, false);
    if (t.form == Form::Unary && t.name == "not") {
        const TypedExpr b = condition(l, t.parts[0]);
        return pure(l, Opcode::Not, {DType::Bool, false}, {b}, DType::Bool);
    }
    return truth(l, expression(l, t), t.place);
}

TypedExpr logical(Lowering& l, const Tree& t, std::size_t from, bool strict) {
    const bool conjunction = t.form == Form::And;
    const TypedExpr first = strict ? expression(l, t.parts[from]) : condition(l, t.parts[from]);
    if (strict && (first.kind() != Kind::Number || first.number().type.dtype != DType::Bool)) {
        const std::string word = conjunction ? "and" : "or";
        l.source.wrong_type(t.parts[from].place, "`" + word + "` of " + describe(first) +
                                                     " is not accepted here: it gives one of its operands in Python; "
                                                     "write `a if test else b`, or compare");
    }
    if (from + 1 == t.parts.size()) return first;
    if (first.number().constant) return first.number().scalar.b == conjunction ? logical(l, t, from + 1, strict) : first;
    const bool plain =
        std::all_of(t.parts.begin() + static_cast<std::ptrdiff_t>(from) + 1, t.parts.end(), [](const Tree& p) { return is_simple(p); });
    if (plain) {
        const TypedExpr rest = logical(l, t, from + 1, strict);
        return pure(l, conjunction ? Opcode::And : Opcode::Or, {DType::Bool, false}, {first, rest}, DType::Bool);
    }
    const auto rest = [&] { return logical(l, t, from + 1, strict); };
    const auto decided = [&] { return number(Scalar(!conjunction)); };
    const Scope before = l.scope;
    if (conjunction) learn(l.scope, t.parts[from], true);
    const Scope inside = l.scope;
    const auto known = [&] {
        l.scope = inside;
        TypedExpr result = rest();
        l.scope = before;
        return result;
    };
    l.scope = before;
    return conjunction ? chosen(l, first, t.parts[from + 1], known, decided, t.place)
                       : chosen(l, first, t.parts[from + 1], decided, known, t.place);
}

TypedExpr choice(Lowering& l, const Tree& t) {
    const TypedExpr test = condition(l, t.parts[0]);
    if (test.number().constant) return expression(l, t.parts[test.number().scalar.b ? 1 : 2]);
    const auto side = [&](std::size_t k) {
        return [&l, &t, k] {
            const Scope before = l.scope;
            learn(l.scope, t.parts[0], k == 1);
            TypedExpr result = number_in(l, expression(l, t.parts[k]));
            l.scope = before;
            return result;
        };
    };
    if (is_simple(t.parts[1]) && is_simple(t.parts[2])) {
        const TypedExpr a = side(1)(), b = side(2)();
        if (a.kind() == Kind::Number && b.kind() == Kind::Number)
            return selected(l, test, {a, t.parts[1].place}, {b, t.parts[2].place}, t.place);
    }
    return chosen(l, test, t.parts[1], side(1), side(2), t.place);
}

TypedExpr compared(Lowering& l, const std::string& op, const TypedExpr& left, const TypedExpr& right, const Place& place) {
    const bool identity = op == "is" || op == "is not";
    const TypedExpr a = identity ? left : number_in(l, left), b = identity ? right : number_in(l, right);
    if (a.kind() == Kind::DType && b.kind() == Kind::DType && (op == "==" || op == "!=" || op == "is" || op == "is not"))
        return number(Scalar((a.dtype() == b.dtype()) == (op == "==" || op == "is")));
    if (op.ends_with("in") && a.kind() == Kind::Text && b.kind() == Kind::Text)
        return number(Scalar((b.text().find(a.text()) != std::string::npos) == (op == "in")));
    if (op == "in") return contained(l, a, b, place);
    if (op == "not in") return pure(l, Opcode::Not, {DType::Bool, false}, {contained(l, a, b, place)}, DType::Bool);
    if (identity) {
        if (a.kind() != Kind::None && b.kind() != Kind::None)
            l.source.wrong_type(place,
                                "`" + op + "` compares objects, and numbers of a kernel are none; write " + (op == "is" ? "==" : "!="));
        return number(Scalar((a.kind() == b.kind()) == (op == "is")));
    }
    const auto known = [](const TypedExpr& t) { return t.kind() == Kind::Text || t.kind() == Kind::None; };
    if ((known(a) || known(b)) && (op == "==" || op == "!=")) {
        const bool same = a.kind() == b.kind() && (a.kind() == Kind::None || a.text() == b.text());
        return number(Scalar(same == (op == "==")));
    }
    if (const std::optional<TypedExpr> out = by_comparison(l, op, a, b, place)) return *out;
    if (is_rows(a) || is_rows(b))
        return each(l, {a, b}, 1, place,
                    [&l, op, place](const std::vector<TypedExpr>& x) { return number_compared(l, op, x[0], x[1], place); });
    if (a.kind() == Kind::Tuple && b.kind() == Kind::Tuple) {
        const TypedExpr y = loaded(l, b), x = loaded(l, a);
        return compared_tuples(l, op, x, y, 0, place);
    }
    if (a.kind() != Kind::Number || b.kind() != Kind::Number)
        l.source.wrong_type(place, "`" + op + "` compares two numbers; here are " + describe(a) + " and " + describe(b));
    return number_compared(l, op, a, b, place);
}

}  // namespace pardo::lang
