// src/lang/numbers/values.cpp: numbers: constants and values of the program, and single operations on them.
#include <algorithm>

#include "ir/eval.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

bool is_zero(const TypedExpr& t) { return t.number().constant && t.number().scalar.cast(DType::Bool).b == false; }

}  // namespace

Value value(Emit& l, const TypedExpr& t) { return value(l, t, l.rules.dtype(t.number().type)); }

Value value(Emit& l, const TypedExpr& t, DType to) {
    if (l.walk.finds_types()) {
        l.host.uses_status = l.host.uses_status || checks_range(l.rules, t, to);
        return ir::no_value;
    }
    if (t.number().constant) return l.builder.constant(to, t.number().scalar.cast(to));
    if (t.number().type.weak && is_integer(t.number().type.dtype) && is_integer(to)) narrowed(l, t, to);
    return l.builder.type(t.number().value) == to ? t.number().value : l.builder.cast(t.number().value, to);
}

TypedExpr cast(Emit& l, const TypedExpr& t, NumberType to) {
    if (t.number().constant) {
        Scalar s = t.number().scalar.cast(l.rules.dtype(to));
        s.weak = to.weak;
        return number(s);
    }
    TypedExpr out =
        number(to, value(l, t, l.rules.dtype(to)), holds_least(l.rules, t, l.rules.dtype(to)) ? t.number().least : unknown_least);
    out.number().given = t.number().given && to.weak && is_integer(to.dtype);
    if (l.rules.exact && is_integer(to.dtype)) out.number().bits = static_cast<std::uint8_t>(bits_of(t));
    return out;
}

TypedExpr index_arithmetic(Emit& l, Opcode op, const TypedExpr& a, const TypedExpr& b) {
    if (a.number().constant && b.number().constant) {
        const Scalar operands[] = {a.number().scalar.cast(DType::Int64), b.number().scalar.cast(DType::Int64)};
        return integer(ir::evaluate(op, {}, DType::Int64, operands).i);
    }
    if (op == Opcode::Add && is_zero(a)) return b;
    if ((op == Opcode::Add || op == Opcode::Sub) && is_zero(b)) return a;
    if (op == Opcode::Mul && (is_zero(a) || is_zero(b))) return integer(0);
    if (op == Opcode::Mul && a.number().constant && a.number().scalar.i == 1) return b;
    if (op == Opcode::Mul && b.number().constant && b.number().scalar.i == 1) return a;
    const Value operands[] = {value(l, a, DType::Int64), value(l, b, DType::Int64)};
    const Value v = l.builder.emit(op, DType::Int64, operands);
    TypedExpr out = number({DType::Int64, true}, v, least_of(op, a, b));
    bound(l, out, op, a, b, l.at, true);
    return out;
}

TypedExpr pure(Emit& l, Opcode op, NumberType type, std::initializer_list<TypedExpr> operands, DType operand_dtype) {
    bool constant = true;
    for (const TypedExpr& t : operands) constant = constant && t.number().constant;
    if (constant) {
        std::vector<TypedExpr> converted;
        for (const TypedExpr& t : operands) converted.push_back(cast(l, t, {operand_dtype, false}));
        return folded(l.rules, op, {}, type, converted);
    }
    ir::Builder::Values values;
    for (const TypedExpr& t : operands) values.push_back(value(l, t, operand_dtype));
    return number(type, l.builder.emit(op, l.rules.dtype(type), values));
}

TypedExpr math(Emit& l, ir::Math fn, std::span<const TypedExpr> operands, const Place& place) {
    TypedExpr widest = operands[0];
    NumberType type = widest.number().type;
    for (const TypedExpr& t : operands.subspan(1)) type = promoted(l.rules, number(type, ir::no_value), t, place);
    if (!is_inexact(type.dtype)) type = {weak_dtype(DType::Float64, l.task.options.fp64), type.weak};
    std::vector<TypedExpr> converted;
    bool constant = true;
    for (const TypedExpr& t : operands) {
        converted.push_back(cast(l, t, type));
        constant = constant && t.number().constant;
    }
    if (constant && ir::is_evaluable(fn, type.dtype)) return folded(l.rules, Opcode::Call, fn, type, converted);
    ir::Builder::Values values;
    for (const TypedExpr& t : converted) values.push_back(value(l, t));
    return number(type, l.builder.call(fn, values));
}

TypedExpr selected(Emit& l, const TypedExpr& test, const Variable& x, const Variable& y, const Place& place) {
    const TypedExpr &a = x.expr, &b = y.expr;
    if (test.number().constant) return test.number().scalar.b ? a : b;
    const TypedExpr like = joined(l.rules, "the value", x, y, place);
    if (like.kind() == Kind::Tuple) {
        std::vector<TypedExpr> items;
        for (std::size_t k = 0; k < a.tuple().items.size(); ++k)
            items.push_back(selected(l, test, {a.tuple().items[k], x.place}, {b.tuple().items[k], y.place}, place));
        return tuple_like(a, std::move(items));
    }
    if (like.kind() != Kind::Number) return like;
    TypedExpr out = number(like.number().type, ir::no_value, std::min(a.number().least, b.number().least));
    out.number().bits = like.number().bits;
    out.number().given = like.number().given;
    if (l.walk.builds()) {
        const Value y = value(l, b, l.rules.dtype(like.number().type)), x = value(l, a, l.rules.dtype(like.number().type));
        out.number().value = l.builder.select(value(l, test), x, y);
    }
    return out;
}

TypedExpr rebuilt(const Emit& l, const TypedExpr& like, std::span<const Value> values, std::size_t& at) {
    TypedExpr out = like;
    switch (like.kind()) {
        case Kind::Number:
            if (!like.number().constant) out.number().value = l.walk.value([&] { return values[at++]; });
            return out;
        case Kind::List:
        case Kind::Tuple:
            for (TypedExpr& part : out.parts()) part = rebuilt(l, part, values, at);
            return out;
        case Kind::Array:
            for (TypedExpr& part : out.view().lead) part = rebuilt(l, part, values, at);
            if (l.task.options.bounds_check && l.walk.builds()) out.view().guards = {Guard{values[at++]}};
            return out;
        default: return out;
    }
}

}  // namespace pardo::lang
