// src/ir/special/expr.h: recipes of special functions are written with operators: a value with its builder.
// This folder: expansions of special functions in IR, one file a family. What they approximate with is in tables, which make_tables.py
// fits.
#pragma once

#include <functional>
#include <limits>

#include "ir/passes/math_recipes.h"
#include "ir/special/tables.h"

namespace pardo::ir::special {

/// A value of a kernel under construction. Numbers take the dtype of the expression that they meet.
struct Expr {
    Builder* m;
    Value v;

    DType type() const { return m->type(v); }
    bool single() const { return type() == DType::Float32; }
    Expr operator()(double number) const { return {m, m->constant(type(), number)}; }
    /// The number that suits the dtype.
    Expr pick(double of_single, double of_double) const { return (*this)(single() ? of_single : of_double); }
    Expr infinity() const { return (*this)(std::numeric_limits<double>::infinity()); }
    Expr nan() const { return (*this)(std::numeric_limits<double>::quiet_NaN()); }
};

using Args = std::span<const Expr>;

#define PARDO_BINARY(symbol, method)                                                     \
    inline Expr operator symbol(Expr a, Expr b) { return {a.m, a.m->method(a.v, b.v)}; } \
    inline Expr operator symbol(Expr a, double b) { return a symbol a(b); }              \
    inline Expr operator symbol(double a, Expr b) { return b(a) symbol b; }
PARDO_BINARY(+, add)
PARDO_BINARY(-, sub)
PARDO_BINARY(*, mul)
PARDO_BINARY(/, div)
PARDO_BINARY(<, lt)
PARDO_BINARY(<=, le)
PARDO_BINARY(>, gt)
PARDO_BINARY(>=, ge)
PARDO_BINARY(==, eq)
PARDO_BINARY(!=, ne)
#undef PARDO_BINARY
inline Expr operator&(Expr a, Expr b) { return {a.m, a.m->bit_and(a.v, b.v)}; }
inline Expr operator|(Expr a, Expr b) { return {a.m, a.m->bit_or(a.v, b.v)}; }
inline Expr operator!(Expr a) { return {a.m, a.m->bit_not(a.v)}; }
inline Expr operator-(Expr a) { return {a.m, a.m->neg(a.v)}; }

inline Expr abs(Expr a) { return {a.m, a.m->abs(a.v)}; }
inline Expr fma(Expr a, Expr b, Expr c) { return {a.m, a.m->fma(a.v, b.v, c.v)}; }
inline Expr fma(Expr a, Expr b, double c) { return fma(a, b, a(c)); }
inline Expr fma(Expr a, double b, Expr c) { return fma(a, a(b), c); }
inline Expr fma(Expr a, double b, double c) { return fma(a, a(b), a(c)); }
inline Expr select(Expr condition, Expr a, Expr b) { return {a.m, a.m->select(condition.v, a.v, b.v)}; }
inline Expr select(Expr condition, Expr a, double b) { return select(condition, a, a(b)); }
inline Expr select(Expr condition, double a, Expr b) { return select(condition, b(a), b); }
/// The smaller and the larger; of a NaN in front the second.
inline Expr least(Expr a, Expr b) { return select(a < b, a, b); }
inline Expr least(Expr a, double b) { return least(a, a(b)); }
inline Expr most(Expr a, Expr b) { return select(a > b, a, b); }
inline Expr most(Expr a, double b) { return most(a, a(b)); }

/// A function of the IR, expanded where it has a recipe of its own.
Expr call(Math fn, std::initializer_list<Expr> operands);
#define PARDO_UNARY(name) \
    inline Expr name(Expr a) { return call(Math::name, {a}); }
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
#undef PARDO_UNARY
inline Expr pow(Expr a, Expr b) { return call(Math::pow, {a, b}); }
inline Expr atan2(Expr y, Expr x) { return call(Math::atan2, {y, x}); }
inline Expr hypot(Expr a, Expr b) { return call(Math::hypot, {a, b}); }
inline Expr copysign(Expr a, Expr b) { return call(Math::copysign, {a, b}); }

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

/// x minus a number in two parts: exact to the last place where the two are close.
inline Expr less(Expr x, const Parts& number) { return (x - x.pick(number.high32, number.high64)) - x.pick(number.low32, number.low64); }
/// Coefficients, lowest power first.
Expr polynomial(Expr x, std::span<const double> coefficients);
/// The approximation at u, which has to be within its interval.
Expr fitted(const Fit& fit, Expr u);

// Shared between families.
Expr sin_pi(Expr x);
Expr cos_pi(Expr x);
/// log(1 + x) - x; `above` is 1 + x, which may be known better.
Expr log1p_minus(Expr x, Expr above);
/// log(gamma(x)) less Stirling's formula, for x >= 7.5.
Expr stirling_rest(Expr x);
/// e^(x^2) erfc(x) for x >= 0.
Expr scaled_erfc(Expr x);

// The functions by the rows of math.def that say SPECIAL, and lgamma.
#define MATH(name, arity, doc)
#define SPECIAL(name, arity) Expr name(Args x);
#include "ir/math.def"
#undef MATH
Expr lgamma(Args x);

}  // namespace pardo::ir::special
