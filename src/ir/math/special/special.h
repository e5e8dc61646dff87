// src/ir/math/special/special.h: recipes of special functions, and what families share.
// This folder: one file a family. What recipes approximate with is in tables, which make_tables.py fits.
#pragma once

#include "ir/math/expr.h"
#include "ir/math/special/tables.h"

namespace pardo::ir::math {

/// x minus a number in two parts: exact to the last place where the two are close.
inline Expr less(Expr x, const Parts& number) { return (x - x.pick(number.high32, number.high64)) - x.pick(number.low32, number.low64); }
/// The approximation at u, which has to be within its interval.
Expr fitted(const Fit& fit, Expr u);

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
#define SPECIAL(name, arity, ulp) Expr name(Args x);
#include "ir/math.def"
#undef MATH
Expr lgamma(Args x);

}  // namespace pardo::ir::math
