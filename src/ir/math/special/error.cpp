// src/ir/math/special/error.cpp: the error function's relatives: scaled, inverse, the normal distribution.
// Scaled: (1 + 2 x) e^(x^2) erfc(x) as a polynomial in (x - 4) / (x + 4), as in ir/math/erf.cpp. Inverses: y P(y^2) about the middle;
// towards the ends r P(r), r the root of -log of the distance to the end, so that nothing is lost there.
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

/// x^2, and what rounding it lost.
struct Square {
    explicit Square(Expr x) : high(x * x), low(fma(x, x, -high)) {}
    Expr high, low;
};

/// The normal distribution at -p, p >= 0.
Expr lower_tail(Expr p) {
    const Expr end = p.pick(15.0, 40.0), c = select(p > end, end, p);
    const Square square(c);
    const Expr e = exp(-0.5 * square.high);
    return 0.5 * scaled_erfc(c * (1 / std::numbers::sqrt2)) * fma(e, -0.5 * square.low, e);
}

/// y with erfc(y) = q, for q up to 1/2.
Expr tail_of(Expr q) {
    const Expr r = sqrt(-log(q));
    const Expr y = branch(
        r < 2.5, [&] { return r * fitted(erfc_inverse_near, r); },
        [&] {
            return r * branch(
                           r < 7.0, [&] { return fitted(erfc_inverse_far, r); }, [&] { return fitted(erfc_inverse_end, r); });
        });
    return select(q == 0.0, q.infinity(), y);
}

/// y with erf(y) = z, for |z| up to 1/2.
Expr middle_of(Expr z) { return z * fitted(erf_inverse, z * z); }

}  // namespace

Expr scaled_erfc(Expr x) {
    const Expr c = least(x, x.pick(1e9, 1e18)), t = (c - 4.0) / (c + 4.0);
    return 0.5 * fitted(erfc_scaled, t) / (x + 0.5);
}

Expr erfcx(Args a) {
    const Expr x = a[0], positive = scaled_erfc(abs(x));
    return replace(positive, x < 0.0, [&] {
        const Expr p = least(abs(x), x.pick(20.0, 40.0));
        const Square square(p);
        return 2.0 * exp(square.high) * (1.0 + square.low) - positive;
    });
}

Expr ndtr(Args a) {
    const Expr x = a[0], tail = lower_tail(abs(x));
    return select(x < 0.0, tail, 1.0 - tail);
}

Expr log_ndtr(Args a) {
    const Expr x = a[0], p = abs(x);
    return branch(
        x < 0.0,
        [&] {
            const Square square(p);
            const Expr low = select(p < p.pick(1e15, 1e150), square.low, 0.0);
            return log(0.5 * scaled_erfc(p * (1 / std::numbers::sqrt2))) - 0.5 * low - 0.5 * square.high;
        },
        [&] { return log1p(-lower_tail(p)); });
}

Expr erfinv(Args a) {
    const Expr y = a[0], size = abs(y);
    return branch(
        size <= 0.5, [&] { return middle_of(y); }, [&] { return copysign(tail_of(1.0 - size), y); });
}

Expr erfcinv(Args a) {
    const Expr x = a[0], y = 1.0 - x;
    return branch(
        abs(y) <= 0.5, [&] { return middle_of(y); },
        [&] {
            const Expr tail = tail_of(least(x, 2.0 - x));
            return select(x > 1.0, -tail, tail);
        });
}

Expr ndtri(Args a) {
    const Expr p = a[0], y = 2.0 * p - 1.0;
    return std::numbers::sqrt2 * branch(
                                     abs(y) <= 0.5, [&] { return middle_of(y); },
                                     [&] {
                                         const Expr tail = tail_of(2.0 * least(p, 1.0 - p));
                                         return select(p < 0.5, -tail, tail);
                                     });
}

}  // namespace pardo::ir::math
