// src/lang/numbers/operators.cpp: arithmetic of numbers: types by NumPy's rules, values by the Builder.
#include <algorithm>

#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

enum class Rule : std::uint8_t { Arithmetic, Quotient, Integers, Bits, Power };
struct Operator {
    const char* name;
    Opcode op;
    Rule rule;
};
constexpr Operator operators[] = {
    {"+", Opcode::Add, Rule::Arithmetic},
    {"-", Opcode::Sub, Rule::Arithmetic},
    {"*", Opcode::Mul, Rule::Arithmetic},
    {"/", Opcode::Div, Rule::Quotient},
    {"//", Opcode::FloorDiv, Rule::Arithmetic},
    {"%", Opcode::Rem, Rule::Arithmetic},
    {"**", Opcode::Call, Rule::Power},
    {"<<", Opcode::Shl, Rule::Integers},
    {">>", Opcode::Shr, Rule::Integers},
    {"&", Opcode::And, Rule::Bits},
    {"|", Opcode::Or, Rule::Bits},
    {"^", Opcode::Xor, Rule::Bits},
};

/// One of Python's integers that is known now.
bool is_python_int(const TypedExpr& t) {
    return t.number().constant && t.number().type.weak && (t.number().type.dtype == DType::Bool || is_integer(t.number().type.dtype));
}

/// Null: no operator of the language.
const Operator* operator_named(const std::string& name) {
    const auto* row = std::ranges::find_if(operators, [&](const Operator& o) { return name == o.name; });
    return row == std::end(operators) ? nullptr : row;
}

}  // namespace

TypedExpr arithmetic(Emit& l, Opcode op, const TypedExpr& a, const TypedExpr& b, NumberType type, const Place& place, bool wraps) {
    const DType computed = l.rules.dtype(type);
    if (is_complex(computed) && (op == Opcode::FloorDiv || op == Opcode::Rem))
        l.source.wrong_type(place, "complex numbers have neither // nor %");
    check_operands(l, op, a, b, computed, place);
    TypedExpr result = pure(l, op, type, {a, b}, computed);
    bound(l, result, op, a, b, place, wraps);
    result.number().given = type.weak && is_integer(type.dtype) && is_given(a) && is_given(b);
    if (!wraps) keep_large(l, result, op, a, b, place);
    // Others wrap around; the remainder and the bits of what cannot be negative cannot either.
    const bool counts = computed == DType::Int64 || op == Opcode::Rem || op == Opcode::And || op == Opcode::Shr || op == Opcode::FloorDiv;
    if (is_integer(computed) && counts && !result.number().constant)
        result.number().least = std::max(result.number().least, least_of(op, a, b));
    return result;
}

namespace {

/// Small constant powers are products; integers to negative ones are refused, as in NumPy.
/// x to ±½, ±3/2 or ±5/2 by a root, products and a division: within 2 ulp, where x to 5/2 is no larger or smaller than its dtype holds.
std::optional<TypedExpr> power_of_root(Emit& l, const TypedExpr& x, double n, NumberType type, const Place& place) {
    const double size = std::abs(n);
    if (size != 0.5 && size != 1.5 && size != 2.5) return std::nullopt;
    const TypedExpr operands[] = {x};
    TypedExpr out = math(l, ir::Math::sqrt, operands, place);
    for (double k = 1; k < size; ++k) out = arithmetic(l, Opcode::Mul, out, x, type, place);
    return n < 0 ? arithmetic(l, Opcode::Div, cast(l, integer(1), type), out, type, place) : out;
}

}  // namespace

TypedExpr power(Emit& l, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    NumberType type = promoted(l.rules, a, b, place);
    if (type.dtype == DType::Bool) type = {DType::Int64, true};
    const bool whole = is_integer(type.dtype);
    if (b.number().constant && is_integer(b.number().type.dtype)) {
        const bool large = b.number().type.dtype == DType::UInt64;
        const std::int64_t n = large && b.number().scalar.u > static_cast<std::uint64_t>(unknown_most) ? unknown_most : b.number().scalar.i;
        if (whole && n < 0) {
            if (!type.weak)
                l.source.fail(ErrorCode::Value, place,
                              "integers to negative integer powers are not allowed; write x ** " + std::to_string(n) + ".0");
            return power(l, cast(l, a, {weak_dtype(DType::Float64, l.task.options.fp64), true}), b, place);
        }
        if (n >= 0 && n <= 4 && !(a.number().constant && b.number().constant)) {
            if (n == 0) return cast(l, integer(1), type);
            TypedExpr base = cast(l, a, type), result = base;
            if (n >= 2) result = arithmetic(l, Opcode::Mul, base, base, type, place);
            if (n == 3) result = arithmetic(l, Opcode::Mul, result, base, type, place);
            if (n == 4) result = arithmetic(l, Opcode::Mul, result, result, type, place);
            return result;
        }
    }
    if (b.number().constant && is_float(type.dtype) && b.number().scalar.cast(DType::Float64).f == 0.5) {
        const TypedExpr operands[] = {cast(l, a, type)};
        return math(l, ir::Math::sqrt, operands, place);
    }
    if (l.task.options.fast_math && b.number().constant && !a.number().constant && is_float(type.dtype) && !is_narrow_float(type.dtype))
        if (const std::optional<TypedExpr> root = power_of_root(l, cast(l, a, type), b.number().scalar.cast(DType::Float64).f, type, place))
            return *root;
    const DType computed = l.rules.dtype(type);
    if (whole && !b.number().constant && b.number().least < 0) {
        const Value exponent = value(l, b);
        TypedExpr negative = number({DType::Bool, false}, l.builder.lt(exponent, l.builder.constant(l.rules.dtype(b.number().type), 0.0)));
        fail_when(l, negative, ErrorCode::Value, "integers to negative integer powers are not allowed; here is the power $0", place, {b});
    }
    if (a.number().constant && b.number().constant) {
        const TypedExpr operands[] = {cast(l, a, type), cast(l, b, type)};
        return folded(l.rules, Opcode::Call, ir::Math::pow, type, operands);
    }
    TypedExpr out = number(type, l.walk.value([&] {
        const Value y = value(l, b, computed), x = value(l, a, computed), operands[] = {x, y};
        return l.builder.call(ir::Math::pow, operands);
    }));
    bound(l, out, Opcode::Call, a, b, place, false);
    out.number().given = type.weak && whole && is_given(a) && is_given(b);
    return out;
}

void require_operator(const Emit& l, const std::string& op, const Place& place) {
    if (!operator_named(op)) l.source.fail(ErrorCode::Type, place, "the operator " + op + " is not part of the kernel language");
}

TypedExpr number_binary(Emit& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place, bool wraps) {
    const Operator* row = operator_named(op);
    const bool both_bools = a.number().type.dtype == DType::Bool && b.number().type.dtype == DType::Bool;
    const bool root = row->rule == Rule::Power && b.number().type.dtype != DType::UInt64 && b.number().scalar.as_int() < 0;
    if (is_python_int(a) && is_python_int(b) && row->rule != Rule::Quotient && !root && !(row->rule == Rule::Bits && both_bools))
        if (const std::optional<TypedExpr> out = exact_constant(l.rules, row->op, row->name, a, b, place)) return *out;
    NumberType type = promoted(l.rules, a, b, place);
    const bool whole = type.dtype == DType::Bool || is_integer(type.dtype);
    switch (row->rule) {
        case Rule::Arithmetic:
            if (type.dtype == DType::Bool) type = {DType::Int64, true};
            return arithmetic(l, row->op, a, b, type, place, wraps);
        case Rule::Quotient:
            if (whole) type = {weak_dtype(DType::Float64, l.task.options.fp64), type.weak};
            return arithmetic(l, row->op, a, b, type, place, wraps);
        case Rule::Power: return power(l, a, b, place);
        case Rule::Bits:
        case Rule::Integers:
            if (!whole) l.source.wrong_type(place, "`" + op + "` takes integers; here are " + describe(a) + " and " + describe(b));
            if (both_bools) type = {DType::Bool, a.number().type.weak && b.number().type.weak};
            if (row->rule == Rule::Integers && type.dtype == DType::Bool) type = {DType::Int64, true};
            return arithmetic(l, row->op, a, b, type, place, wraps);
    }
    return {};
}

TypedExpr number_unary(Emit& l, const std::string& op, const TypedExpr& x, const Place& place, bool wraps) {
    const NumberType type = x.number().type.dtype == DType::Bool && op != "~" ? NumberType{DType::Int64, true} : x.number().type;
    if (op == "+") return cast(l, x, type);
    const bool large = x.number().constant && type.weak && type.dtype == DType::UInt64;
    const std::uint64_t below = std::uint64_t{1} << 63;
    if (large && (op == "~" || x.number().scalar.u > below))
        l.source.fail(ErrorCode::Overflow, place, too_large(op + std::to_string(x.number().scalar.u)));
    if (op == "-") {
        if (large) return integer(static_cast<std::int64_t>(~x.number().scalar.u + 1));
        if (x.number().constant && type.weak && type.dtype == DType::Int64 && x.number().scalar.as_int() == unknown_least)
            return number(Scalar(below));
        TypedExpr out = pure(l, Opcode::Neg, type, {x}, l.rules.dtype(type));
        bound(l, out, Opcode::Neg, x, x, place, wraps);
        out.number().given = x.number().given;
        return out;
    }
    if (!is_integer(type.dtype) && type.dtype != DType::Bool) l.source.wrong_type(place, "`~` takes an integer, not " + describe(x));
    return pure(l, Opcode::Not, type, {x}, l.rules.dtype(type));
}

}  // namespace pardo::lang
