// src/ir/math/recipes.h: recipes of elementary functions of real numbers.
#pragma once

#include "ir/math/expr.h"

namespace pardo::ir::math {

// Of Float32 and Float64.
Expr erf(Args x);
Expr erfc(Args x);
Expr hypot(Args v);
Expr cbrt(Args x);
Expr logaddexp(Args v);
Expr logaddexp2(Args v);
/// x^2, x^1, x^-1 and x^0 where the exponent is a constant; nothing otherwise.
Expr pow_of_constant(Args v);
/// By the target's own, without its overflow near the largest number.
Expr log1p_scaled(Args x);
Expr sinh_repaired(Args x);
Expr cosh_repaired(Args x);
Expr asinh_repaired(Args x);
Expr acosh_repaired(Args x);

/// The neighbour that a float of 16 bits, which is held as a wider one, has in its dtype towards another one: by their bits.
Expr narrow_nextafter(Expr from, Expr to, DType t);

// Of Float64: without calls, and for which operands they are not.
Expr erf_by_table(Args x);
Expr sin_of_doubles(Args x);
Expr cos_of_doubles(Args x);
Expr has_large_angle(Args x);
Expr exp_of_doubles(Args x);
Expr has_far_exponent(Args x);
Expr log_of_doubles(Args x);
Expr is_no_normal(Args x);  // no normal number above 0; of Float32 too
Expr log1p_of_doubles(Args x);
Expr is_not_above_minus_one(Args x);
Expr sinh_of_doubles(Args x);
Expr cosh_of_doubles(Args x);

// Of Float32, in double precision.
Expr log_of_floats(Args x);
Expr log2_of_floats(Args x);
Expr log10_of_floats(Args x);
Expr sinh_of_floats(Args x);
Expr cosh_of_floats(Args x);
Expr tanh_of_floats(Args x);
Expr expm1_of_floats(Args x);
Expr asinh_of_floats(Args x);
Expr pow_of_floats(Args v);
Expr is_no_plain_power(Args v);

/// Powers of integers by squaring. A negative exponent gives 0, or ±1 of a base ±1.
Expr pow_of_integers(Args v);

}  // namespace pardo::ir::math
