// src/ir/math/special/combinations.cpp: Pochhammer's symbol, binomial coefficients, Legendre functions of spherical harmonics.
#include <cmath>
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

Expr is_pole(Expr x) { return (x <= 0.0) & is_whole(x); }

/// gamma(a + m) / gamma(a) for |m| <= 1.
Expr gamma_quotient(Expr a, Expr m) {
    const Expr sum = a + m;
    return branch(
        a >= 9.0, [&] { return pow(a, m) * exp(fma(sum - 0.5, log1p(m / a), -m) + (stirling_rest(sum) - stirling_rest(a))); },
        [&] {
            return branch(
                a > a.pick(-25.0, -100.0),  // whose reciprocal is a number, too
                [&] {
                    return call(Math::tgamma, sum) * rgamma({&a, 1});
                },
                [&] {
                    return exp(lgamma({&sum, 1}) - lgamma({&a, 1})) * gammasgn({&sum, 1}) * gammasgn({&a, 1});
                });
        });
}

/// The binomial coefficient for n >= 10^4 and 0 < k <= n / 10^4: powers of n keep digits that logarithms of large numbers have not.
Expr few_of_many(Expr n, Expr k) {
    const Expr root = pow(n, 0.5 * k);  // by halves: its square may be beyond all numbers
    const Expr shift = exp(k * log1p(0.5 * (1.0 - k) / n)) * (1.0 + k / n * (1.0 - k * k) / n / 24.0);
    return select(is_infinite(root), root, root * (root / call(Math::tgamma, k + 1.0)) * shift);
}

}  // namespace

// Steps of one down to |m| < 1; each multiplies, until the product is beyond all numbers.
Expr poch(Args v) {
    const Expr a = v[0];
    const auto lives = [](Expr r) { return (r != 0.0) & (abs(r) < r.infinity()); };
    const auto down = loop(
        {v[1], a(1.0)}, [&](Args s) { return (s[0] >= 1.0) & (a + s[0] != 1.0) & lives(s[1]); },
        [&](Args s) {
            const Expr m = s[0] - 1.0;
            return std::vector<Expr>{m, s[1] * (a + m)};
        });
    const auto up = loop(
        {down[0], down[1]}, [&](Args s) { return (s[0] <= -1.0) & (a + s[0] != 0.0) & lives(s[1]); },
        [&](Args s) {
            return std::vector<Expr>{s[0] + 1.0, s[1] / (a + s[0])};
        });
    const Expr m = up[0], product = up[1], sum = a + m, over = is_pole(sum), under = is_pole(a);
    const Expr quotient = branch(
        m == 0.0, [&] { return a(1.0); }, [&] { return gamma_quotient(a, m); });
    const Expr value = product * quotient;
    const Expr zero = under & (m != 0.0), pole = over & (!under) & (m != 0.0);
    const Expr start = a + v[1], lost = (!lives(product)) | !lives(quotient), logarithms = lost & (!under) & !is_pole(start);
    // What is between was too large or too small for a number: by logarithms, which lose some digits.
    const Expr found = replace(value, logarithms & (abs(a) < a.infinity()) & (abs(start) < a.infinity()), [&] {
        return gammasgn({&start, 1}) * gammasgn({&a, 1}) * exp(lgamma({&start, 1}) - lgamma({&a, 1}));
    });
    const Expr whole = under & lost & is_whole(v[1]), signed_whole = select(is_odd(v[1]), -abs(product), abs(product));
    return select(pole, a.infinity(), select(zero & !(whole & (start <= 0.0)), a(0.0), select(whole, signed_whole, found)));
}

Expr binom(Args v) {
    const Expr n = v[0], k = v[1], whole = is_whole(k);
    const Expr mirrored = is_whole(n) & (n > 0.0) & (k > floor(n * 0.5)), least_k = select(mirrored, n - k, k);
    const Expr by_product = whole & (least_k >= 0.0) & (least_k < select(abs(n) < 1e-6, n(1000.0), n(30.0)));
    const Expr value = branch(
        by_product,
        [&] {
            return loop(
                {n(1.0), n(1.0)}, [&](Args s) { return s[1] <= least_k; },
                [&](Args s) {
                    return std::vector<Expr>{s[0] * (n - (s[1] - 1.0)) / s[1], s[1] + 1.0};
                })[0];
        },
        [&] {
            const Expr top = n + 1.0, ends[] = {n - k + 1.0, k + 1.0};
            const Expr few = select(k > 0.5 * n, n - k, k), nearer[] = {n - few + 1.0, few};
            return branch((k > 1e8 * abs(n)) & ((k > k.pick(2.0, 1e7)) | whole),  // by reflection
                          [&] {
                              const Expr scale = call(Math::tgamma, top) * fma(n, 0.5 / k, n(1.0)) / k / (std::numbers::pi * pow(k, n));
                              const Expr turned = select(is_odd(k), n, -n);  // of a whole k, from which n may be too small to be subtracted
                              return scale * sin_pi(select(whole, turned, k - n));
                          },
                          [&] {
                              return branch((n >= 1e4) & (few > 0.0) & (n >= 1e4 * few), [&] { return few_of_many(n, few); },
                                            [&] {
                                                // The second has a beta function that is not too small for a number as soon.
                                                return branch(
                                                    few >= 1.0, [&] { return 1.0 / few / beta(Args(nearer)); },
                                                    [&] { return 1.0 / top / beta(ends); });
                                            });
                          });
        });
    return select((n < 0.0) & is_whole(n), n.nan(), select(whole & (k < 0.0), n(0.0), value));
}

// Normalised so that the sphere's integral of the harmonic's square is 1, with the phase of Condon and Shortley; by steps of m, then of n.
Expr sph_legendre(Args v) {
    const Expr n = v[0], order = abs(v[1]), x = cos(v[2]), s = abs(sin(v[2]));
    const Expr known = is_whole(n) & is_whole(order) & (n >= 0.0) & (n < 1e6) & !is_nan(v[2]),
               last = select(known & (order <= n), n, n(-1.0));
    const auto diagonal = loop(
        {n(0.5 / std::sqrt(std::numbers::pi)), n(1.0)}, [&](Args p) { return (p[1] <= order) & (order <= last); },
        [&](Args p) {
            return std::vector<Expr>{-p[0] * s * sqrt(1.0 + 0.5 / p[1]), p[1] + 1.0};
        });
    const auto column = loop(
        {n(0.0), diagonal[0], order + 1.0}, [&](Args p) { return p[2] <= last; },
        [&](Args p) {
            const Expr l = p[2], below = l - 1.0, a = sqrt((4.0 * l * l - 1.0) / (l * l - order * order));
            const Expr b = sqrt((below * below - order * order) / (4.0 * below * below - 1.0));
            return std::vector<Expr>{p[1], a * (x * p[1] - select(below == order, n(0.0), b * p[0])), l + 1.0};
        });
    const Expr turned = (v[1] < 0.0) & is_odd(order), value = select(turned, -column[1], column[1]);
    return select(known, select(order > n, n(0.0), value), n.nan());
}

}  // namespace pardo::ir::math
