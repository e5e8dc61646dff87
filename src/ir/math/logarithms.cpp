// src/ir/math/logarithms.cpp: logarithms of sums.
#include <cmath>
#include <numbers>

#include "ir/math/recipes.h"

namespace pardo::ir::math {

// SLEEF's is infinite from 1e307 on; where 1 is negligible next to x, log(x) = log(x * 2^-n) + n * log(2).
Expr log1p_scaled(Args v) {
    const Expr x = v[0];
    const int n = x.single() ? 30 : 250;
    const Expr far = x > std::ldexp(1.0, 2 * n), scaled = x * select(far, x(std::ldexp(1.0, -n)), x(1.0));
    const Expr logarithm = call(Math::log1p, scaled);
    return select(far, logarithm + n * std::numbers::ln2, logarithm);
}

namespace {

/// high + log(1 + e^-|a - b|), exact for equal infinities.
Expr log_of_sum(Expr a, Expr b, Math exp, double log_two, double unit) {
    const Expr difference = a - b, high = select(a > b, a, b);
    const Expr small = call(Math::log1p, call(exp, -abs(difference)));
    const Expr sum = unit == 1.0 ? high + small : fma(small, unit, high), equal = a == b;
    return select(equal, a + log_two, sum);
}

}  // namespace

Expr logaddexp(Args v) { return log_of_sum(v[0], v[1], Math::exp, std::numbers::ln2, 1.0); }

Expr logaddexp2(Args v) { return log_of_sum(v[0], v[1], Math::exp2, 1.0, std::numbers::log2e); }

}  // namespace pardo::ir::math
