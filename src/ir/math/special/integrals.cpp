// src/ir/math/special/integrals.cpp: exponential integrals and complete elliptic integrals.
// exp1: P(x) - log x up to 1, e^-x / x times a function of 1 / x beyond. K and E, by m1 = 1 - m: a polynomial in m for m1 >= 1/2,
// P(m1) - log(m1) Q(m1) below; m < 0 is taken to m / (m - 1). The incomplete ones by Carlson's duplication. expi: a multiple of the
// distance to its zero besides a logarithm up to 6, functions of 1 / x beyond.
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

/// K for 0 < m1 <= 1, or E.
Expr complete(Expr m1, bool first_kind) {
    return branch(
        m1 >= 0.5, [&] { return fitted(first_kind ? ellipk_plain : ellipe_plain, 1.0 - m1); },
        [&] {
            if (first_kind) return fitted(ellipk_rest, m1) - log(m1) * fitted(ellipk_log, m1);
            return fitted(ellipe_rest, m1) - select(m1 == 0.0, m1, m1 * log(m1)) * fitted(ellipe_log, m1);
        });
}

/// By m1, which may be above 1.
Expr of_complement(Expr m1, bool first_kind) {
    const Expr negative = m1 > 1.0, inside = select(negative, 1.0 / m1, m1), root = sqrt(most(m1, 1.0));
    const Expr value = complete(inside, first_kind);
    const Expr result = first_kind ? value / root : value * root;
    const Expr at_end = m1 == m1.infinity();  // m = -inf
    return select(m1 < 0.0, m1.nan(), select(at_end, first_kind ? m1(0.0) : m1, result));
}

/// Carlson's symmetric integrals of (x, y, 1) by duplication: the first kind, and a third of the second kind (DLMF 19.36).
struct Carlson {
    Expr first, third_of_second;
};
Carlson carlson(Expr x, Expr y) {
    const Expr one = x(1.0), a0 = (x + y + 1.0) / 3.0, b0 = (x + y + 3.0) / 5.0;
    const Expr reach = x.pick(20.0, 500.0) * most(most(abs(b0 - x), abs(b0 - y)), abs(b0 - 1.0));
    // x, y, z, both means, 4^-n, the sum.
    const auto v = loop(
        {x, y, one, a0, b0, one, x(0.0)}, [&](Args v) { return v[5] * reach > v[3]; },
        [&](Args v) {
            const Expr rx = sqrt(v[0]), ry = sqrt(v[1]), rz = sqrt(v[2]), lambda = fma(rx, ry, (rx + ry) * rz);
            const auto next = [&](Expr t) { return 0.25 * (t + lambda); };
            return std::vector<Expr>{
                next(v[0]), next(v[1]), next(v[2]), next(v[3]), next(v[4]), 0.25 * v[5], v[6] + v[5] / (rz * (v[2] + lambda))};
        });
    const Expr a = v[3], b = v[4], power = v[5];
    const auto apart = [&](Expr mean, Expr begin, Expr t) { return (begin - t) * power / mean; };
    const Expr fx = apart(a, a0, x), fy = apart(a, a0, y), fz = -(fx + fy), f2 = fx * fy - fz * fz, f3 = fx * fy * fz;
    const Expr f_series = 1.0 - f2 / 10.0 + f3 / 14.0 + f2 * f2 / 24.0 - (3.0 / 44) * f2 * f3 - (5.0 / 208) * f2 * f2 * f2 +
                          (3.0 / 104) * f3 * f3 + f2 * f2 * f3 / 16.0;
    const Expr dx = apart(b, b0, x), dy = apart(b, b0, y), dz = (dx + dy) / -3.0, p = dx * dy, z2 = dz * dz;
    const Expr d2 = p - 6.0 * z2, d3 = (3.0 * p - 8.0 * z2) * dz, d4 = 3.0 * (p - z2) * z2, d5 = p * z2 * dz;
    const Expr d_series = 1.0 - (3.0 / 14) * d2 + d3 / 6.0 + (9.0 / 88) * d2 * d2 - (3.0 / 22) * d4 - (9.0 / 52) * d2 * d3 +
                          (3.0 / 26) * d5 - d2 * d2 * d2 / 16.0 + (3.0 / 40) * d3 * d3 + (3.0 / 20) * d2 * d4 +
                          (45.0 / 272) * d2 * d2 * d3 - (9.0 / 68) * (d3 * d4 + d2 * d5);
    return {f_series / sqrt(a), v[6] + power * d_series / (3.0 * b * sqrt(b))};
}

/// From 0 to phi: a multiple of the complete one, and what is left, up to a quarter turn.
Expr incomplete_elliptic(Expr phi, Expr m, bool first_kind) {
    const Expr turns = rint(phi * (1 / std::numbers::pi)), high = phi.pick(3.1415927410125732, 3.141592653589793);
    const Expr left = fma(turns, -high, phi) - turns * phi.pick(-8.742278000372485e-8, 1.2246467991473532e-16);
    const Expr s = sin(left), c = cos(left), square = s * s;
    const Expr known = (m <= 1.0) & !is_infinite(m) & !is_infinite(phi), y = fma(c, c, (1.0 - m) * square);  // 1 - m s^2
    const Carlson parts = carlson(c * c, select(known, y, 1.0));
    const Expr part = first_kind ? s * parts.first : s * (parts.first - m * square * parts.third_of_second);
    const Expr value = replace(part, turns != 0.0, [&] { return fma(2.0 * turns, of_complement(1.0 - m, first_kind), part); });
    const Expr at_end = select(is_infinite(phi), select(is_infinite(m), m.nan(), phi), first_kind ? m(0.0) : copysign(m.infinity(), phi));
    return select(is_nan(phi) | is_nan(m) | (m > 1.0), m.nan(), select(known, value, select(phi == 0.0, phi, at_end)));
}

}  // namespace

Expr exp1(Args a) {
    const Expr x = a[0];
    const Expr value = branch(
        x <= 1.0, [&] { return fitted(exp1_near, x) - log(x); }, [&] { return exp(-x) / x * fitted(exp1_far, 1.0 / x); });
    return select(x < 0.0, x.nan(), select(x == 0.0, x.infinity(), value));
}

Expr ellipk(Args a) { return of_complement(1.0 - a[0], true); }
Expr ellipkm1(Args a) { return of_complement(a[0], true); }
Expr ellipe(Args a) { return of_complement(1.0 - a[0], false); }

Expr expi(Args a) {
    const Expr x = a[0];
    const Expr positive = branch(
        x < 6.0,
        [&] {
            const Expr apart = less(x, expi_root), ratio = apart * (1 / 0.37250741078136663);
            const Expr logarithm = branch(
                abs(ratio) < 0.5, [&] { return log1p(ratio); }, [&] { return log(x * (1 / 0.37250741078136663)); });
            return fma(apart, fitted(expi_near, x), logarithm);
        },
        [&] {
            const Expr u = 1.0 / x, half = exp(0.5 * x);
            const Expr scaled = branch(
                x < 14.0, [&] { return fitted(expi_middle, u); },
                [&] {
                    return branch(
                        x < 50.0, [&] { return fitted(expi_far, u); }, [&] { return fitted(expi_end, u); });
                });
            return select(is_infinite(x), x, scaled * u * half * half);
        });
    const Expr mirrored = -x;
    const Expr negative = branch(
        x < 0.0,
        [&] {
            return -exp1({&mirrored, 1});
        },
        [&] { return positive; });
    return select(x == 0.0, -x.infinity(), negative);
}

Expr ellipkinc(Args a) { return incomplete_elliptic(a[0], a[1], true); }
Expr ellipeinc(Args a) { return incomplete_elliptic(a[0], a[1], false); }

}  // namespace pardo::ir::math
