// src/ir/math/special/gamma.cpp: the gamma function's logarithm, derivative of that, and relatives.
// lgamma: above 1 and about 2 as (x - 1) P and (x - 2) P, which are shifted down to 0 and up to 7.5 by the logarithm of what is between;
// from there on Stirling's formula with a fitted rest. Negative x by reflection. digamma: (x - root) P on [1, 2], 1 / x below, log x - 1 /
// (2 x) - P(1 / x^2) / x^2 above.
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

constexpr double stirling_end = 7.5;  // Stirling's formula from here on
constexpr double half_log_two_pi = 0.91893853320467274178;

Expr sine_of_fraction(Expr f) { return f * fitted(sine_pi, f * f); }

/// log |gamma(x)| for x > 0.
Expr positive_lgamma(Expr x) {
    Builder& m = *x.m;
    const Expr low = x < 1.0, tiny = x < 0.5;
    // What the logarithm is taken of, and what is added to it.
    const auto parts = m.if_else((x < stirling_end).v,
                                 [&] {
                                     return m.if_else((tiny | ((x >= 1.0) & (x < 1.5))).v,
                                                      [&] {
                                                          const Expr y = select(tiny, x, x - 1.0);
                                                          return Builder::Values{select(tiny, x, 1.0).v, (y * fitted(lgamma_at_1, y)).v};
                                                      },
                                                      [&] {
                                                          const Expr n = select(low, 1.0, rint(x)), y = x - n;
                                                          Expr product = select(low, x, 1.0);
                                                          for (int k = 2; k < 7; ++k) product = select(n > k, product * (y + k), product);
                                                          return Builder::Values{product.v, (y * fitted(lgamma_at_2, y)).v};
                                                      });
                                 },
                                 [&] {
                                     return Builder::Values{x.v, x(0.0).v};
                                 });
    const Expr logarithm = log(Expr{&m, parts[0]}), added{&m, parts[1]};
    const Expr far = fma(x - 0.5, logarithm - 1.0, stirling_rest(x) + (half_log_two_pi - 0.5));
    return select(x < stirling_end, select(low, added - logarithm, added + logarithm), far);
}

}  // namespace

Expr sin_pi(Expr x) {
    const Expr n = rint(x), s = sine_of_fraction(x - n);
    return select(is_odd(n), -s, s);
}

Expr cos_pi(Expr x) {
    const Expr n = rint(x), f = x - n, z = f * f, c = (0.25 - z) * fitted(cosine_pi, z);
    return select(is_odd(n), -c, c);
}

Expr stirling_rest(Expr x) {
    const Expr inverse = 1.0 / x;
    return inverse * fitted(stirling_terms, inverse * inverse);
}

Expr lgamma(Args a) {
    const Expr x = a[0], size = abs(x), positive = positive_lgamma(size);
    return replace(positive, x < x.pick(-0x1p-30, -0x1p-60), [&] {  // pi / |x sin(pi x)| / gamma(|x|)
        // The quotient's rounding errors are added to its logarithm: it may cancel the other.
        const Expr sine = abs(sine_of_fraction(size - rint(size))), product = size * sine, lost = fma(size, sine, -product);
        const Expr high = x.pick(3.1415927410125732, std::numbers::pi), low = x.pick(-8.742278000372485e-8, 1.2246467991473532e-16);
        const Expr quotient = high / product, rest = (fma(-quotient, product, high) + low) - quotient * lost;
        const Expr more = select(is_infinite(quotient), 0.0, rest * (1 / std::numbers::pi));
        const Expr mirrored = log(quotient) + more - positive;
        return select(is_infinite(x), size, mirrored);
    });
}

Expr loggamma(Args a) { return select(a[0] < 0.0, a[0].nan(), lgamma(a)); }

Expr digamma(Args a) {
    const Expr x = a[0], negative = x < 0.0;
    const Expr p = select(negative, 1.0 - x, x), low = p < 1.0, q = select(low, p + 1.0, p);
    const Expr positive = branch(
        p < 2.0,
        [&] {
            const Expr near = less(q, digamma_root) * fitted(digamma_near, q);
            return select(low, near - 1.0 / p, near);
        },
        [&] {
            const Expr inverse = 1.0 / p, z = inverse * inverse;
            return log(p) - fma(z, fitted(digamma_far, z), 0.5 * inverse);
        });
    return replace(positive, negative, [&] {
        const Expr sine = sin_pi(x);
        return select(sine == 0.0, x.nan(), positive - std::numbers::pi * cos_pi(x) / sine);
    });
}

// Some devices' tgamma has no sign where it is too small for a number.
Expr gamma(Args a) {
    const Expr x = a[0], value = call(Math::tgamma, x), zero = value == 0.0;
    return select(zero & is_odd(floor(x)), x(-0.0), select(zero, x(0.0), select(x == 0.0, 1.0 / x, value)));
}

Expr rgamma(Args a) {
    const Expr x = a[0], value = 1.0 / gamma(a), pole = (x <= 0.0) & is_whole(x);
    return select(pole, select(x == 0.0, x, x(0.0)), value);
}

Expr gammasgn(Args a) {
    const Expr x = a[0], down = floor(x);
    const Expr sign = select(is_odd(down), x(-1.0), x(1.0));
    const Expr below = select(x == down, x.nan(), sign);
    return select(x > 0.0, x(1.0), select(x == 0.0, copysign(x(1.0), x), select(is_nan(x), x, below)));
}

}  // namespace pardo::ir::math
