// src/ir/math/special/zeta.cpp: the zeta functions of Hurwitz and Riemann.
// Hurwitz: the first terms, until q + n > 9, and the rest by Euler and Maclaurin. Riemann: (x - 1) zeta(x) as a polynomial up to 5, 1 +
// 2^-x P(x) beyond, by reflection below -1.
#include <cmath>
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

// (2 k)! / B(2 k), k from 1 on
constexpr double maclaurin[] = {12.0,
                                -720.0,
                                30240.0,
                                -1209600.0,
                                47900160.0,
                                -1307674368000.0 / 691,
                                74724249600.0,
                                -10670622842880000.0 / 3617,
                                5109094217170944000.0 / 43867,
                                -802857662698291200000.0 / 174611,
                                14101100039391805440000.0 / 77683,
                                -1693824136731743669452800000.0 / 236364091};

/// For x > 1.
Expr hurwitz(Expr x, Expr q) {
    const Expr limit = x.pick(0x1p-26, 0x1p-55), first = pow(q, -x);
    // The sum, its last term, q + n, n.
    const auto v = loop(
        {first, first, q, x(0.0)}, [&](Args v) { return ((v[3] < 9.0) | (v[2] <= 9.0)) & (abs(v[1]) > limit * abs(v[0])); },
        [&](Args v) {
            const Expr at = v[2] + 1.0, term = pow(at, -x);
            return std::vector<Expr>{v[0] + term, term, at, v[3] + 1.0};
        });
    const Expr sum = v[0], last = v[1], w = v[2], inverse = 1.0 / w, z = inverse * inverse;
    Expr factor = x * inverse, rest = factor * (1 / maclaurin[0]);
    for (int k = 1; k < static_cast<int>(std::size(maclaurin)); ++k) {
        factor = factor * ((x + (2.0 * k - 1.0)) * (x + 2.0 * k) * z);
        rest = fma(factor, 1 / maclaurin[k], rest);
    }
    const Expr whole = sum + last * (w / (x - 1.0) - 0.5 + rest);
    return select(abs(last) > limit * abs(sum), whole, sum);
}

}  // namespace

// Of negative q, f above a whole number -n: zeta(x, f), and those of the n terms below it, (-1)^x (zeta(x, 1 - f) - zeta(x, 1 - q)).
Expr zeta(Args a) {
    const Expr x = a[0], q = a[1], negative = q < 0.0, pole = (q <= 0.0) & is_whole(q), below = floor(q), fraction = q - below;
    const Expr sign = select(is_odd(x), x(-1.0), x(1.0)), last = select(negative & !pole & (x > 1.0), x(2.0), x(0.0));
    const auto sums = loop(
        {x(0.0), x(0.0)}, [&](Args v) { return v[0] <= last; },
        [&](Args v) {
            const Expr first = v[0] == 0.0, second = v[0] == 1.0;
            const Expr at = select(first, select(negative, fraction, q), select(second, (below + 1.0) - q, 1.0 - q));
            const Expr part = hurwitz(select(x > 1.0, x, 2.0), select(pole, q(1.0), at));
            return std::vector<Expr>{v[0] + 1.0, v[1] + part * select(first, x(1.0), select(second, sign, -sign))};
        });
    const Expr value = select(is_infinite(q), q(0.0), sums[1]);
    const Expr at_pole = select(pole, q.infinity(), select(is_whole(x), value, q.nan()));
    const Expr defined = select(q <= 0.0, at_pole, value);
    const Expr known = select(x == 1.0, x.infinity(), select(x < 1.0, x.nan(), defined));
    return select(is_nan(x) | is_nan(q), x.nan(), known);
}

Expr riemann_zeta(Args a) {
    const Expr x = a[0];
    const auto positive = [](Expr s) {
        return branch(
            s < 5.0, [&] { return fitted(zeta_near, s) / (s - 1.0); },
            [&] {
                const Expr c = least(s, 60.0);  // zeta is 1 beyond
                const Expr rest = branch(
                    s < 14.0, [&] { return fitted(zeta_middle, s); }, [&] { return fitted(zeta_end, c); });
                return select(is_nan(s), s, fma(exp2(-c), rest, 1.0));
            });
    };
    return branch(
        x < -1.0,
        [&] {  // (2 pi)^x / pi sin(pi x / 2) gamma(s) zeta(s), s = 1 - x
            const Expr s = 1.0 - x, sine = sin_pi(0.5 * x), value = sine * positive(s);
            return branch(
                s < s.pick(30.0, 150.0),
                [&] { return pow(x(2 * std::numbers::pi), x) * call(Math::tgamma, s) * (1 / std::numbers::pi) * value; },
                [&] {
                    const Expr half = pow(s * (0.5 / (std::numbers::pi * std::numbers::e)), 0.5 * s - 0.25);
                    return select(sine == 0.0, sine, half * (value * (exp(stirling_rest(s)) * 2.0 / std::sqrt(std::numbers::e))) * half);
                });
        },
        [&] { return positive(x); });
}

}  // namespace pardo::ir::math
