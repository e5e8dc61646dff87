// src/ir/math/recipes.h: recipes of elementary functions of real numbers.
#pragma once

#include "ir/math/expr.h"

namespace pardo::ir::math {

// Of Float32 and Float64.
Expr erf(Args x);
Expr erfc(Args x);
Expr hypot(Args v);
/// By the target's own, without its overflow near the largest number.
Expr log1p_scaled(Args x);
Expr logaddexp(Args v);
Expr logaddexp2(Args v);
/// x^2, x^1, x^-1 and x^0 where the exponent is a constant; nothing otherwise.
Expr pow_of_constant(Args v);

/// Powers of integers by squaring. A negative exponent gives 0, or ±1 of a base ±1.
Expr pow_of_integers(Args v);

}  // namespace pardo::ir::math
