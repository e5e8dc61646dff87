// src/ir/math/expr.h: recipes are written with operators: a value with its builder.
// This folder: every mathematical recipe of the IR, once. What is used where is in one table (table.h); special functions, one file a
// family, are in special/, those of complex numbers in complex/, on pairs of expressions.
#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "ir/builder.h"

namespace pardo::ir::math {

/// A value of a kernel under construction. Numbers take the dtype of the expression that they meet.
/// Which side of an operator, and which argument of a call, is made first is the compiler's choice: where a kernel's key depends on it,
/// only one of them makes a value.
struct Expr {
    Builder* m;
    Value v;

    DType type() const { return m->type(v); }
    bool single() const { return type() == DType::Float32; }
    Expr operator()(double number) const { return {m, m->constant(type(), number)}; }
    /// A whole number of any size, of an integer dtype.
    Expr whole(std::int64_t number) const;
    /// The number that suits the dtype.
    Expr pick(double of_single, double of_double) const { return (*this)(single() ? of_single : of_double); }
    Expr infinity() const { return (*this)(std::numeric_limits<double>::infinity()); }
    Expr nan() const { return (*this)(std::numeric_limits<double>::quiet_NaN()); }
};

using Args = std::span<const Expr>;
/// What a recipe gives for operands that it is not for.
inline constexpr Expr nothing{nullptr, no_value};

#define PARDO_BINARY(symbol, method)                                                     \
    inline Expr operator symbol(Expr a, Expr b) { return {a.m, a.m->method(a.v, b.v)}; } \
    inline Expr operator symbol(Expr a, double b) { return a symbol a(b); }              \
    inline Expr operator symbol(double a, Expr b) { return b(a) symbol b; }
PARDO_BINARY(+, add)
PARDO_BINARY(-, sub)
PARDO_BINARY(*, mul)
PARDO_BINARY(/, div)
PARDO_BINARY(%, rem)
PARDO_BINARY(<<, shl)
PARDO_BINARY(>>, shr)
PARDO_BINARY(<, lt)
PARDO_BINARY(<=, le)
PARDO_BINARY(>, gt)
PARDO_BINARY(>=, ge)
PARDO_BINARY(==, eq)
PARDO_BINARY(!=, ne)
PARDO_BINARY(&, bit_and)
PARDO_BINARY(|, bit_or)
PARDO_BINARY(^, bit_xor)
#undef PARDO_BINARY
/// All bits; of a condition its opposite.
inline Expr operator!(Expr a) { return {a.m, a.m->bit_not(a.v)}; }
inline Expr operator-(Expr a) { return {a.m, a.m->neg(a.v)}; }

#define PARDO_OF_TWO(name, method) \
    inline Expr name(Expr a, Expr b) { return {a.m, a.m->method(a.v, b.v)}; }
PARDO_OF_TWO(floor_div, floor_div)
PARDO_OF_TWO(fmod, fmod)
PARDO_OF_TWO(min, min)
PARDO_OF_TWO(max, max)
PARDO_OF_TWO(fmin, fmin)
PARDO_OF_TWO(fmax, fmax)
PARDO_OF_TWO(complex, complex)
#undef PARDO_OF_TWO
inline Expr abs(Expr a) { return {a.m, a.m->abs(a.v)}; }
inline Expr real(Expr a) { return {a.m, a.m->real(a.v)}; }
inline Expr imag(Expr a) { return {a.m, a.m->imag(a.v)}; }
inline Expr cast(Expr a, DType to) { return {a.m, a.m->cast(a.v, to)}; }
inline Expr bitcast(Expr a, DType to) { return {a.m, a.m->bitcast(a.v, to)}; }
inline Expr fma(Expr a, Expr b, Expr c) { return {a.m, a.m->fma(a.v, b.v, c.v)}; }
inline Expr fma(Expr a, Expr b, double c) { return fma(a, b, a(c)); }
inline Expr fma(Expr a, double b, Expr c) { return fma(a, a(b), c); }
inline Expr fma(Expr a, double b, double c) { return fma(a, a(b), a(c)); }
inline Expr select(Expr condition, Expr a, Expr b) { return {a.m, a.m->select(condition.v, a.v, b.v)}; }
inline Expr select(Expr condition, Expr a, double b) { return select(condition, a, a(b)); }
inline Expr select(Expr condition, double a, Expr b) { return select(condition, b(a), b); }
/// Of a power of two numbers, with the dtype of `like`, the one whose number is in the index's low bits.
Expr lookup(Expr index, std::span<const double> numbers, Expr like);
/// The smaller and the larger; of a NaN in front the second.
inline Expr least(Expr a, Expr b) { return select(a < b, a, b); }
inline Expr least(Expr a, double b) { return least(a, a(b)); }
inline Expr most(Expr a, Expr b) { return select(a > b, a, b); }
inline Expr most(Expr a, double b) { return most(a, a(b)); }

/// A function of the IR as it is, for what comes after the recipe: a pass, or the target's own.
inline Expr call(Math fn, Expr a) { return {a.m, a.m->call(fn, a.v)}; }
inline Expr call(Math fn, Expr a, Expr b) { return {a.m, a.m->call(fn, a.v, b.v)}; }
Expr call(Math fn, Args operands);
inline Expr call(Math fn, Expr a, Expr b, Expr c) {
    const Expr operands[] = {a, b, c};
    return call(fn, operands);
}

/// A function of the IR, expanded where there is a recipe for every target.
Expr expanded(Math fn, std::initializer_list<Expr> operands);
#define PARDO_UNARY(name) \
    inline Expr name(Expr a) { return expanded(Math::name, {a}); }
PARDO_UNARY(sqrt)
PARDO_UNARY(exp)
PARDO_UNARY(exp2)
PARDO_UNARY(expm1)
PARDO_UNARY(log)
PARDO_UNARY(log1p)
PARDO_UNARY(sin)
PARDO_UNARY(cos)
PARDO_UNARY(sinh)
PARDO_UNARY(floor)
PARDO_UNARY(rint)
PARDO_UNARY(trunc)
#undef PARDO_UNARY
inline Expr pow(Expr a, Expr b) { return expanded(Math::pow, {a, b}); }
inline Expr atan2(Expr y, Expr x) { return expanded(Math::atan2, {y, x}); }
inline Expr hypot(Expr a, Expr b) { return expanded(Math::hypot, {a, b}); }
inline Expr copysign(Expr a, Expr b) { return expanded(Math::copysign, {a, b}); }

inline Expr is_nan(Expr a) { return a != a; }
inline Expr is_infinite(Expr a) { return abs(a) == a.infinity(); }
inline Expr is_whole(Expr a) { return a == floor(a); }
/// Of a whole number.
inline Expr is_odd(Expr a) { return !is_whole(a * 0.5); }

/// Both sides where lanes differ; a side that no lane needs is left out at run time.
inline Expr branch(Expr condition, const std::function<Expr()>& yes, const std::function<Expr()>& no) {
    Builder* m = condition.m;
    const auto side = [](const std::function<Expr()>& f) { return [&f] { return Builder::Values{f().v}; }; };
    return {m, m->if_else(condition.v, side(yes), side(no))[0]};
}
/// `value`, and where the condition holds what `yes` computes.
inline Expr replace(Expr value, Expr condition, const std::function<Expr()>& yes) {
    return branch(condition, yes, [value] { return value; });
}

/// Several values carried from step to step while the condition holds.
std::vector<Expr> loop(std::initializer_list<Expr> initial, const std::function<Expr(Args)>& goes_on,
                       const std::function<std::vector<Expr>(Args)>& step);

/// Coefficients, lowest power first, one after the other: each step waits for the one before.
Expr horner(Expr x, std::span<const double> coefficients);
/// Coefficients, lowest power first, in chains of a half or a quarter of the length.
Expr polynomial(Expr x, std::span<const double> coefficients);

}  // namespace pardo::ir::math
