// src/lang/numbers/comparisons.cpp: comparisons of numbers, and their truth.
#include <algorithm>
#include <array>

#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

TypedExpr compared_signs(Emit& l, const std::string& op, Opcode opcode, const TypedExpr& a, const TypedExpr& b) {
    constexpr NumberType type{DType::Bool, false};
    const bool left = l.rules.dtype(a.number().type) != DType::UInt64;
    const TypedExpr negative = pure(l, Opcode::Lt, type, {cast(l, left ? a : b, {DType::Int64, true}), integer(0)}, DType::Int64);
    const auto bits = [&](const TypedExpr& t) {
        return t.number().constant ? t : number({DType::UInt64, false}, l.builder.cast(value(l, t), DType::UInt64));
    };
    const TypedExpr together = pure(l, opcode, type, {bits(a), bits(b)}, DType::UInt64);
    const bool answer = op == "!=" || (op != "==" && left == (op == "<" || op == "<="));  // where it is negative
    if (answer) return pure(l, Opcode::Or, type, {negative, together}, DType::Bool);
    return pure(l, Opcode::And, type, {pure(l, Opcode::Not, type, {negative}, DType::Bool), together}, DType::Bool);
}

}  // namespace

TypedExpr number_compared(Emit& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    constexpr std::array<std::pair<const char*, Opcode>, 6> rows{
        {{"==", Opcode::Eq}, {"!=", Opcode::Ne}, {"<", Opcode::Lt}, {"<=", Opcode::Le}, {">", Opcode::Gt}, {">=", Opcode::Ge}}};
    const auto* row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return op == r.first; });
    if (row == rows.end()) l.source.wrong_type(place, "`" + op + "` is not part of the kernel language");
    // Python's ints are compared exactly with integers of any dtype.
    const DType x = l.rules.dtype(a.number().type), y = l.rules.dtype(b.number().type);
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
            return compared_signs(l, op, row->second, a, b);
        }
    } else if (integers) {
        together = x == y ? x : promote(x, y);
    } else {
        together = l.rules.dtype(promoted(l.rules, a, b, place));
        if (together == DType::Bool && !(x == DType::Bool && y == DType::Bool)) together = DType::Int64;
    }
    if (is_complex(together) && row->second != Opcode::Eq && row->second != Opcode::Ne)
        l.source.wrong_type(place, "complex numbers have no order");
    return pure(l, row->second, {DType::Bool, false}, {a, b}, together);
}

TypedExpr number_truth(Emit& l, const TypedExpr& t) {
    if (t.number().constant) return number(t.number().scalar.cast(DType::Bool));
    if (t.number().type.dtype == DType::Bool) return t;
    return number({DType::Bool, false}, value(l, t, DType::Bool));
}

}  // namespace pardo::lang
