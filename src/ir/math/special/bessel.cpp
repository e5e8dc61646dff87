// src/ir/math/special/bessel.cpp: Bessel functions of the orders 0 and 1.
// J and Y up to 5: a quotient of polynomials in x^2 times its distances to the first two zeros; Y has a multiple of J log x besides. From
// there on sqrt(2 / (pi x)) (P cos chi - Q sin chi) after Hankel, with P and Q in 1 / x^2. I and K: series in x^2 near zero, e^(±x) / sqrt
// x times a function of 1 / x beyond, which the scaled forms give without the exponential.
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

constexpr double hankel_from = 5.0, i_far = 7.75, k_far = 1.0;

/// x^2 - z^2, exact to the last place about z.
Expr distance(Expr x, const Parts& z) { return less(x, z) * (x + x.pick(z.high32, z.high64)); }

/// The parts of a function for large arguments.
struct Hankel {
    Hankel(Expr x, int order) : first_(order == 0) {
        const Expr inverse = 1.0 / x, u = inverse * inverse, s = sin(x), c = cos(x);
        p_ = fitted(first_ ? j0_p : j1_p, u).v;
        q_ = (inverse * fitted(first_ ? j0_q : j1_q, u)).v;
        scale_ = sqrt((1 / std::numbers::pi) * inverse).v;
        sum_ = (s + c).v;
        difference_ = (s - c).v;
        m_ = x.m;
    }
    // cos(x - pi/4) = (s + c) / sqrt 2, sin(x - pi/4) = (s - c) / sqrt 2; a quarter turn further for order 1.
    Expr j() const {
        return of(scale_) * (first_ ? of(p_) * of(sum_) - of(q_) * of(difference_) : of(p_) * of(difference_) + of(q_) * of(sum_));
    }
    Expr y() const {
        return of(scale_) * (first_ ? of(p_) * of(difference_) + of(q_) * of(sum_) : of(q_) * of(difference_) - of(p_) * of(sum_));
    }

private:
    Expr of(Value v) const { return {m_, v}; }
    bool first_;
    Builder* m_;
    Value p_, q_, scale_, sum_, difference_;
};

Expr near_j(Expr x, int order) {
    if (order == 0) return distance(x, j0_first) * distance(x, j0_second) * fitted(j0_near, x * x);
    return x * (distance(x, j1_first) * distance(x, j1_second) * fitted(j1_near, x * x));
}

Expr j(Expr x, int order) {
    const Expr size = abs(x);
    const Expr value = branch(
        size < hankel_from, [&] { return near_j(size, order); },
        [&] { return select(is_infinite(size), size(0.0), Hankel(size, order).j()); });
    return order == 0 ? select(x == 0.0, x(1.0), value) : select(x < 0.0, -value, value);
}

Expr y(Expr x, int order) {
    const Expr value = branch(
        x < hankel_from,
        [&] {
            const Expr regular = fitted(order == 0 ? y0_near : y1_near, x * x);
            const Expr j_log = near_j(x, order) * log(x);
            if (order == 0) return fma(j_log, 2 / std::numbers::pi, regular);
            return fma(x, regular, (2 / std::numbers::pi) * (j_log - 1.0 / x));
        },
        [&] { return select(is_infinite(x), x(0.0), Hankel(x, order).y()); });
    return select(x == 0.0, -x.infinity(), value);
}

Expr i(Expr x, int order, bool scaled) {
    const Expr size = abs(x);
    const Expr value = branch(
        size < i_far,
        [&] {
            const Expr a = (0.5 * size) * (0.5 * size), series = fma(a, fitted(order == 0 ? i0_near : i1_near, a), 1.0);
            const Expr plain = order == 0 ? series : 0.5 * size * series;
            return scaled ? plain * exp(-size) : plain;
        },
        [&] {
            const Expr far = fitted(order == 0 ? i0_far : i1_far, 1.0 / size) / sqrt(size);
            if (scaled) return far;
            const Expr half = exp(0.5 * size);  // e^x may be too large where the result is not
            return select(is_infinite(size), size, far * half * half);
        });
    return order == 0 ? value : select(x < 0.0, -value, value);
}

Expr k(Expr x, int order, bool scaled) {
    const Expr value = branch(
        x <= k_far,
        [&] {
            const Expr z = x * x, lg = log(x);
            const Expr plain = order == 0 ? fitted(k0_near, z) - lg * fitted(i0_unit, z)
                                          : fma(x, fma(lg, fitted(i1_unit, z), fitted(k1_near, z)), 1.0 / x);
            return scaled ? plain * exp(x) : plain;
        },
        [&] {
            const Expr far = fitted(order == 0 ? k0_far : k1_far, 1.0 / x) / sqrt(x);
            return scaled ? far : far * exp(-x);
        });
    const Expr at_zero = select(x == 0.0, x.infinity(), value);
    return select(x < 0.0, x.nan(), at_zero);
}

}  // namespace

Expr j0(Args x) { return j(x[0], 0); }
Expr j1(Args x) { return j(x[0], 1); }
Expr y0(Args x) { return y(x[0], 0); }
Expr y1(Args x) { return y(x[0], 1); }
Expr i0(Args x) { return i(x[0], 0, false); }
Expr i0e(Args x) { return i(x[0], 0, true); }
Expr i1(Args x) { return i(x[0], 1, false); }
Expr i1e(Args x) { return i(x[0], 1, true); }
Expr k0(Args x) { return k(x[0], 0, false); }
Expr k0e(Args x) { return k(x[0], 0, true); }
Expr k1(Args x) { return k(x[0], 1, false); }
Expr k1e(Args x) { return k(x[0], 1, true); }

}  // namespace pardo::ir::math
