// src/lang/conditions.cpp: comparisons, truth, `and`, `or`, and the choice between two values.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace pardo::lang {

TypedExpr Lowering::truth(const TypedExpr& given, const Place& place) {
    const TypedExpr t = number_in(given);
    if (const auto out = by_method("__bool__", t, {}, place)) return truth(*out, place);
    if (t.kind() == Kind::Tuple && !t.tuple().names.empty()) wrong_type(place, "a condition is expected, not " + describe(t));
    if (t.kind() == Kind::Tuple) return number(Scalar(!t.tuple().items.empty()));
    if (t.kind() == Kind::None) return number(Scalar(false));
    if (t.kind() == Kind::List) return truth(list_length(t), place);
    if (t.kind() != Kind::Number)
        wrong_type(place, "a condition is expected, not " + describe(t) + (is_rows(t) ? "; write np.any(…) or np.all(…)" : ""));
    if (t.number().constant) return number(t.number().scalar.cast(DType::Bool));
    if (t.number().type.dtype == DType::Bool) return t;
    return number({DType::Bool, false}, value(t, DType::Bool));
}

TypedExpr Lowering::compared(const std::string& op, const TypedExpr& left, const TypedExpr& right, const Place& place) {
    const bool identity = op == "is" || op == "is not";
    const TypedExpr a = identity ? left : number_in(left), b = identity ? right : number_in(right);
    if (a.kind() == Kind::DType && b.kind() == Kind::DType && (op == "==" || op == "!=" || op == "is" || op == "is not"))
        return number(Scalar((a.dtype() == b.dtype()) == (op == "==" || op == "is")));
    if (op.ends_with("in") && a.kind() == Kind::Text && b.kind() == Kind::Text)
        return number(Scalar((b.text().find(a.text()) != std::string::npos) == (op == "in")));
    if (op == "in") return contained(a, b, place);
    if (op == "not in") return pure(Opcode::Not, {DType::Bool, false}, {contained(a, b, place)}, DType::Bool);
    if (identity) {
        if (a.kind() != Kind::None && b.kind() != Kind::None)
            wrong_type(place, "`" + op + "` compares objects, and numbers of a kernel are none; write " + (op == "is" ? "==" : "!="));
        return number(Scalar((a.kind() == b.kind()) == (op == "is")));
    }
    const auto known = [](const TypedExpr& t) { return t.kind() == Kind::Text || t.kind() == Kind::None; };
    if ((known(a) || known(b)) && (op == "==" || op == "!=")) {
        const bool same = a.kind() == b.kind() && (a.kind() == Kind::None || a.text() == b.text());
        return number(Scalar(same == (op == "==")));
    }
    if (const std::optional<TypedExpr> out = by_comparison(op, a, b, place)) return *out;
    if (is_rows(a) || is_rows(b))
        return each({a, b}, 1, place, [this, op, place](const std::vector<TypedExpr>& x) { return compared(op, x[0], x[1], place); });
    if (a.kind() == Kind::Tuple && b.kind() == Kind::Tuple) {
        const TypedExpr y = loaded(b), x = loaded(a);
        return compared_tuples(op, x, y, 0, place);
    }
    if (a.kind() != Kind::Number || b.kind() != Kind::Number)
        wrong_type(place, "`" + op + "` compares two numbers; here are " + describe(a) + " and " + describe(b));
    constexpr std::array<std::pair<const char*, Opcode>, 6> rows{
        {{"==", Opcode::Eq}, {"!=", Opcode::Ne}, {"<", Opcode::Lt}, {"<=", Opcode::Le}, {">", Opcode::Gt}, {">=", Opcode::Ge}}};
    const auto* row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return op == r.first; });
    if (row == rows.end()) wrong_type(place, "`" + op + "` is not part of the kernel language");
    // Python's ints are compared exactly with integers of any dtype.
    const DType x = dtype(a.number().type), y = dtype(b.number().type);
    DType together = DType::Int64;
    const bool integers = is_integer(x) && is_integer(y);
    if (integers && (x == DType::UInt64) != (y == DType::UInt64)) {
        const TypedExpr& other = x == DType::UInt64 ? b : a;
        if (other.number().least >= 0) {
            together = DType::UInt64;
        } else if (other.number().constant) {  // a negative number is below all of these
            const bool less = (&other == &a) == (op == "<" || op == "<=");
            return number(Scalar(op == "!=" || (op != "==" && less)));
        } else {
            return compared_signs(op, row->second, a, b);
        }
    } else if (integers) {
        together = x == y ? x : promote(x, y);
    } else {
        together = dtype(promoted(rules(), a, b, place));
        if (together == DType::Bool && !(x == DType::Bool && y == DType::Bool)) together = DType::Int64;
    }
    if (is_complex(together) && row->second != Opcode::Eq && row->second != Opcode::Ne) wrong_type(place, "complex numbers have no order");
    return pure(row->second, {DType::Bool, false}, {a, b}, together);
}

/// uint64 with a signed integer, exactly: a negative number is below all others, and the rest are compared as uint64.
TypedExpr Lowering::compared_signs(const std::string& op, Opcode opcode, const TypedExpr& a, const TypedExpr& b) {
    constexpr NumberType type{DType::Bool, false};
    const bool left = dtype(a.number().type) != DType::UInt64;
    const TypedExpr negative = pure(Opcode::Lt, type, {cast(left ? a : b, {DType::Int64, true}), integer(0)}, DType::Int64);
    const auto bits = [&](const TypedExpr& t) {
        return walk_.finds_types() || t.number().constant ? t : number({DType::UInt64, false}, builder_.cast(value(t), DType::UInt64));
    };
    const TypedExpr together = pure(opcode, type, {bits(a), bits(b)}, DType::UInt64);
    const bool answer = op == "!=" || (op != "==" && left == (op == "<" || op == "<="));  // where it is negative
    if (answer) return pure(Opcode::Or, type, {negative, together}, DType::Bool);
    return pure(Opcode::And, type, {pure(Opcode::Not, type, {negative}, DType::Bool), together}, DType::Bool);
}

/// As Python's: the first items that differ decide.
TypedExpr Lowering::compared_tuples(const std::string& op, const TypedExpr& a, const TypedExpr& b, std::size_t from, const Place& place) {
    if (from == a.tuple().items.size() || from == b.tuple().items.size()) {
        const TypedExpr left = integer(static_cast<std::int64_t>(a.tuple().items.size())),
                        right = integer(static_cast<std::int64_t>(b.tuple().items.size()));
        return compared(op, left, right, place);
    }
    const TypedExpr &x = a.tuple().items[from], &y = b.tuple().items[from];
    const TypedExpr differ = compared("!=", x, y, place), here = compared(op, x, y, place);
    if (op == "==" || op == "!=") {
        const TypedExpr rest = compared_tuples(op, a, b, from + 1, place);
        return pure(op == "==" ? Opcode::And : Opcode::Or, {DType::Bool, false}, {here, rest}, DType::Bool);
    }
    return selected(differ, {here, place}, {compared_tuples(op, a, b, from + 1, place), place}, place);
}

/// a < b < c …, from the operator `from`, whose left side has this value: later operands are only evaluated where they decide.
TypedExpr Lowering::compare(const Tree& t, std::size_t from, const TypedExpr& left) {
    const std::vector<std::string> ops = operators_of(t);
    const TypedExpr right = expression(t.parts[from + 1]);
    const TypedExpr here = compared(ops[from], left, right, t.place);
    if (from + 1 == ops.size() || (here.number().constant && !here.number().scalar.b)) return here;
    const auto rest = [&] { return compare(t, from + 1, right); };
    if (here.number().constant) return rest();
    const auto next = t.parts.begin() + static_cast<std::ptrdiff_t>(from) + 2;
    if (std::all_of(next, t.parts.end(), is_simple)) return pure(Opcode::And, {DType::Bool, false}, {here, rest()}, DType::Bool);
    Tree known = t;  // what holds where the rest is evaluated
    known.name = ops[from];
    known.parts = {t.parts[from], t.parts[from + 1]};
    const auto decides = [&] {
        const Scope before = scope_;
        learn(scope_, known, true);
        TypedExpr result = rest();
        scope_ = before;
        return result;
    };
    return chosen(
        here, *next, decides, [] { return flag(false); }, t.place);
}

TypedExpr Lowering::condition(const Tree& t) {
    if (t.form == Form::And || t.form == Form::Or) return logical(t, 0, false);
    if (t.form == Form::Unary && t.name == "not") {
        const TypedExpr b = condition(t.parts[0]);
        return pure(Opcode::Not, {DType::Bool, false}, {b}, DType::Bool);
    }
    return truth(expression(t), t.place);
}

/// a and b and …: later ones are only evaluated where they decide.
TypedExpr Lowering::logical(const Tree& t, std::size_t from, bool strict) {
    const bool conjunction = t.form == Form::And;
    const TypedExpr first = strict ? expression(t.parts[from]) : condition(t.parts[from]);
    if (strict && (first.kind() != Kind::Number || first.number().type.dtype != DType::Bool)) {
        const std::string word = conjunction ? "and" : "or";
        wrong_type(t.parts[from].place, "`" + word + "` gives one of its operands in Python, and here is " + describe(first) +
                                            "; compare it, or write `a if test else b`");
    }
    if (from + 1 == t.parts.size()) return first;
    if (first.number().constant) return first.number().scalar.b == conjunction ? logical(t, from + 1, strict) : first;
    const bool plain =
        std::all_of(t.parts.begin() + static_cast<std::ptrdiff_t>(from) + 1, t.parts.end(), [](const Tree& p) { return is_simple(p); });
    if (plain) {
        const TypedExpr rest = logical(t, from + 1, strict);
        return pure(conjunction ? Opcode::And : Opcode::Or, {DType::Bool, false}, {first, rest}, DType::Bool);
    }
    const auto rest = [&] { return logical(t, from + 1, strict); };
    const auto decided = [&] { return number(Scalar(!conjunction)); };
    const Scope before = scope_;
    if (conjunction) learn(scope_, t.parts[from], true);
    const Scope inside = scope_;
    const auto known = [&] {
        scope_ = inside;
        TypedExpr result = rest();
        scope_ = before;
        return result;
    };
    scope_ = before;
    return conjunction ? chosen(first, t.parts[from + 1], known, decided, t.place)
                       : chosen(first, t.parts[from + 1], decided, known, t.place);
}

/// One of two values that are both computed.
TypedExpr Lowering::selected(const TypedExpr& test, const Variable& x, const Variable& y, const Place& place) {
    const TypedExpr &a = x.expr, &b = y.expr;
    if (test.number().constant) return test.number().scalar.b ? a : b;
    const TypedExpr like = joined(rules(), "the value", x, y, place);
    if (like.kind() == Kind::Tuple) {
        std::vector<TypedExpr> items;
        for (std::size_t k = 0; k < a.tuple().items.size(); ++k)
            items.push_back(selected(test, {a.tuple().items[k], x.place}, {b.tuple().items[k], y.place}, place));
        return tuple_like(a, std::move(items));
    }
    if (like.kind() != Kind::Number) return like;
    TypedExpr out = number(like.number().type, ir::no_value, std::min(a.number().least, b.number().least));
    out.number().bits = like.number().bits;
    out.number().given = like.number().given;
    if (walk_.builds()) {
        const Value y = value(b, dtype(like.number().type)), x = value(a, dtype(like.number().type));
        out.number().value = builder_.select(value(test), x, y);
    }
    return out;
}

TypedExpr Lowering::choice(const Tree& t) {
    const TypedExpr test = condition(t.parts[0]);
    if (test.number().constant) return expression(t.parts[test.number().scalar.b ? 1 : 2]);
    const auto side = [&](std::size_t k) {
        return [this, &t, k] {
            const Scope before = scope_;
            learn(scope_, t.parts[0], k == 1);
            TypedExpr result = number_in(expression(t.parts[k]));
            scope_ = before;
            return result;
        };
    };
    if (is_simple(t.parts[1]) && is_simple(t.parts[2])) {
        const TypedExpr a = side(1)(), b = side(2)();
        if (a.kind() == Kind::Number && b.kind() == Kind::Number)
            return selected(test, {a, t.parts[1].place}, {b, t.parts[2].place}, t.place);
    }
    return chosen(test, t.parts[1], side(1), side(2), t.place);
}

/// The value of one of two expressions, only one of which is evaluated.
TypedExpr Lowering::chosen(const TypedExpr& test, const Tree& yes, const std::function<TypedExpr()>& then_part,
                           const std::function<TypedExpr()>& else_part, const Place& place) {
    const TypedExpr a = walk_.types_of(then_part), b = walk_.types_of(else_part);
    const Variable x{a, yes.place}, y{b, place};
    const TypedExpr like = joined(rules(), "the value", x, y, place);
    if (walk_.finds_types()) return like;
    const auto part = [&](const std::function<TypedExpr()>& f) {
        return [&] {
            ir::Builder::Values out;
            flatten(f(), like, out);
            return out;
        };
    };
    const ir::Builder::Values values = builder_.if_else(value(test), part(then_part), part(else_part));
    std::size_t at = 0;
    return rebuilt(like, values, at);
}

}  // namespace pardo::lang
