// src/ir/math/special/elementary.cpp: short compositions of exponentials and logarithms, without cancellation: logistic functions,
// entropies.
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {

Expr expit(Args a) {
    const Expr x = a[0], e = exp(-abs(x));
    return select(x < 0.0, e, x(1.0)) / (1.0 + e);
}

Expr logit(Args a) {
    const Expr x = a[0], rest = 1.0 - x;
    return branch((x > 0.25) & (x < 0.75), [&] { return log1p((2.0 * x - 1.0) / rest); }, [&] { return log(x / rest); });
}

Expr log_expit(Args a) {
    const Expr x = a[0];
    return select(x < 0.0, x, 0.0) - log1p(exp(-abs(x)));
}

Expr exprel(Args a) {
    const Expr x = a[0];
    return select(x == 0.0, x(1.0), select(x == x.infinity(), x, expm1(x) / x));
}

Expr cosm1(Args a) {
    const Expr s = sin(0.5 * a[0]);
    return select(s == 0.0, s(0.0), -2.0 * s * s);
}

Expr exp10(Args a) { return pow(a[0](10.0), a[0]); }

// Zero where the factor in front is, unless the other is NaN.
Expr xlogy(Args a) {
    const Expr x = a[0], y = a[1];
    return select((x == 0.0) & !is_nan(y), x(0.0), x * log(y));
}

Expr xlog1py(Args a) {
    const Expr x = a[0], y = a[1];
    return select((x == 0.0) & !is_nan(y), x(0.0), x * log1p(y));
}

Expr entr(Args a) {
    const Expr x = a[0], value = -x * log(x);
    return select(x == 0.0, x(0.0), select(x < 0.0, -x.infinity(), value));
}

namespace {

/// x log(x / y) for x, y > 0, by log1p where they are close, by two logarithms where the quotient leaves the normal numbers.
Expr relative_entropy(Expr x, Expr y) {
    const Expr ratio = x / y, least_normal = x.pick(std::numeric_limits<float>::min(), std::numeric_limits<double>::min());
    return x * branch((ratio > 0.5) & (ratio < 2.0), [&] { return log1p((x - y) / y); },
                      [&] {
                          return branch((ratio > least_normal) & (ratio < ratio.infinity()), [&] { return log(ratio); },
                                        [&] { return log(x) - log(y); });
                      });
}

/// `inside` for x, y > 0, `edge` for x = 0 and y >= 0, infinity elsewhere; NaN stays.
Expr where_defined(Expr x, Expr y, Expr inside, Expr edge) {
    const Expr outside = select((x == 0.0) & (y >= 0.0), edge, x.infinity());
    const Expr value = select((x > 0.0) & (y > 0.0), inside, outside);
    return select(is_nan(x) | is_nan(y), x.nan(), value);
}

}  // namespace

Expr rel_entr(Args a) { return where_defined(a[0], a[1], relative_entropy(a[0], a[1]), a[0](0.0)); }

Expr kl_div(Args a) { return where_defined(a[0], a[1], relative_entropy(a[0], a[1]) - a[0] + a[1], a[1]); }

Expr huber(Args a) {
    const Expr delta = a[0], r = abs(a[1]);
    const Expr value = select(r <= delta, 0.5 * r * r, delta * (r - 0.5 * delta));
    return select(delta < 0.0, r.infinity(), value);
}

// delta^2 (sqrt(1 + q^2) - 1) without the difference, q = r / delta: r^2 / (1 + sqrt(1 + q^2)), whose square would not do for large r.
Expr pseudo_huber(Args a) {
    const Expr delta = a[0], r = abs(a[1]), q = r / delta, below = 1.0 + hypot(q, q(1.0)), slope = select(is_infinite(q), 1.0, q / below);
    const Expr value = select(q <= 1.0, r * (r / below), delta * (r * slope));
    const Expr defined = select((delta == 0.0) | (r == 0.0), r(0.0), select(is_infinite(r) & (delta > 0.0), r, value));
    return select(delta < 0.0, r.infinity(), defined);
}

}  // namespace pardo::ir::math
