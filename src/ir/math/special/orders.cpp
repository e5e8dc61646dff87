// src/ir/math/special/orders.cpp: functions of a whole order: Bessel's J and Y, the exponential integral.
// J: forward from J0 and J1 where x is larger than the order; else the ratio of two neighbours as a continued fraction, and backward to J0
// and J1, which give the scale. Y: forward. The exponential integral: a series for x <= 1, a continued fraction beyond.
#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

constexpr double most_order = 1 << 20;  // steps take time: beyond, and of fractions, functions are NaN

Expr is_order(Expr n) { return is_whole(n) & (n <= most_order); }
Expr order_of(Expr given) {
    const Expr n = abs(given);
    return select(is_order(n), n, n.nan());
}

/// 2 k / x c(k) - c(k - 1) from the orders 0 and 1 up to n >= 1.
Expr upward(Expr n, Expr x, Expr zeroth, Expr first) {
    const Expr twice = 2.0 / x;
    return loop(
        {zeroth, first, x(1.0)}, [&](Args v) { return (v[2] < n) & !is_infinite(v[1]); },
        [&](Args v) {
            return std::vector<Expr>{v[1], v[2] * twice * v[1] - v[0], v[2] + 1.0};
        })[1];
}

/// J of the order n >= 2 for 0 < x <= n.
Expr downward(Expr n, Expr x, Expr zeroth, Expr first) {
    const Expr limit = x.pick(0x1p-25, 0x1p-54), twice = 2.0 / x, far = x.pick(1e30, 1e300);
    // The ratio to the order below by Lentz's method: its last divisors, the product, the order, the last factor.
    const Expr begin = 1.0 / (n * twice);
    const auto v = loop(
        {begin, far, begin, n, x(2.0)}, [&](Args v) { return abs(v[4] - 1.0) > limit; },
        [&](Args v) {
            const Expr k = v[3] + 1.0, b = k * twice, d = 1.0 / (b - v[0]), c = b - 1.0 / v[1], change = c * d;
            return std::vector<Expr>{d, c, v[2] * change, k, change};
        });
    const auto w = loop(
        {v[2], x(1.0), n - 1.0}, [&](Args w) { return (w[2] > 0.0) & !is_infinite(w[1]); },
        [&](Args w) {
            return std::vector<Expr>{w[1], w[2] * twice * w[1] - w[0], w[2] - 1.0};
        });
    const Expr scale = select(abs(w[0]) > abs(w[1]), first / w[0], zeroth / w[1]);
    return v[2] * scale;
}

}  // namespace

Expr jn(Args a) {
    const Expr n = order_of(a[0]), x = abs(a[1]);
    const Expr zeroth = j0({&x, 1}), first = j1({&x, 1});
    const Expr value = branch(
        n < 2.0, [&] { return select(n == 0.0, zeroth, first); },
        [&] {
            return branch(
                x > n, [&] { return select(is_infinite(x), x(0.0), upward(n, x, zeroth, first)); },
                [&] { return select(x * x == 0.0, x(0.0), downward(n, x, zeroth, first)); });  // at most x^2 / 8
        });
    const Expr turned = is_odd(n) & ((a[0] < 0.0) != (a[1] < 0.0));
    return select(is_order(n), select(turned, -value, value), x.nan());
}

Expr yn(Args a) {
    const Expr n = order_of(a[0]), x = a[1];
    const Expr zeroth = y0({&x, 1}), first = y1({&x, 1});
    const Expr value = branch(
        n < 2.0, [&] { return select(n == 0.0, zeroth, first); },
        [&] { return select((x == 0.0) | is_infinite(x), zeroth, upward(n, x, zeroth, first)); });
    const Expr turned = is_odd(n) & (a[0] < 0.0);
    return select(is_order(n), select(turned, -value, value), x.nan());
}

Expr expn(Args a) {
    const Expr n = a[0], x = a[1], limit = x.pick(0x1p-25, 0x1p-54);
    const Expr value = branch(
        x <= 1.0,
        [&] {  // (-x)^(n - 1) / (n - 1)! (digamma(n) - log x), less the sum of (-x)^m / ((m - n + 1) m!) over m other than n - 1
            const Expr below = n - 1.0;
            const auto v = loop(
                {x(1.0), select(below == 0.0, x(0.0), 1.0 / below), x(0.0), x(1.0)}, [&](Args v) { return abs(v[3]) > limit * abs(v[1]); },
                [&](Args v) {
                    const Expr m = v[2] + 1.0, power = v[0] * (-x / m), at = m - below;
                    const Expr term = select(at == 0.0, x(0.0), -power / at);
                    return std::vector<Expr>{power, v[1] + term, m, select(at == 0.0, x(1.0), term)};
                });
            const Expr size = pow(x, below) / call(Math::tgamma, n), sign = select(is_odd(below), x(-1.0), x(1.0));
            const Expr own = sign * size * (digamma({&n, 1}) - log(x));
            return v[1] + select(size == 0.0, x(0.0), own);
        },
        [&] {
            const Expr far = x.pick(1e30, 1e300), b = x + n, begin = 1.0 / b;
            const auto v = loop(
                {begin, far, begin, b, x(0.0), x(2.0)}, [&](Args v) { return abs(v[5] - 1.0) > limit; },
                [&](Args v) {
                    const Expr i = v[4] + 1.0, numerator = -i * (n + (i - 1.0)), below = v[3] + 2.0;
                    const Expr d = 1.0 / fma(numerator, v[0], below), c = below + numerator / v[1], change = c * d;
                    return std::vector<Expr>{d, c, v[2] * change, below, i, change};
                });
            return exp(-x) * v[2];
        });
    const Expr at_zero = select(n > 1.0, 1.0 / (n - 1.0), x.infinity());
    const Expr plain = select(n == 0.0, exp(-x) / x, value);
    const Expr inside = select(is_infinite(x), x(0.0), select(x == 0.0, at_zero, plain));
    return select((n >= 0.0) & is_whole(n) & (x >= 0.0), inside, x.nan());
}

}  // namespace pardo::ir::math
