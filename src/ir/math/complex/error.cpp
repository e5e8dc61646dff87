// src/ir/math/complex/error.cpp: the error function's family of complex numbers, by Faddeeva's function w(z) = e^(-z^2) erfc(-i z).
// In the upper half-plane: the trapezoidal or the midpoint rule for its integral, whichever has its nodes farther from Re z, with what
// the pole adds; M. Al Azah, S. Chandler-Wilde, "Computation of the complex error function using modified trapezoidal rules" (2021). All
// terms of the real part are positive, and so are the factors of the denominators. Far away i / (sqrt(pi) z). About zero erf by its series.
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "ir/math/complex/complex.h"
#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

constexpr double root_of_pi = 1.7724538509055160273;

/// f e^(-s z^2), s a power of two: the rounding errors of the square are kept, and what overflows last is multiplied in last.
Complex with_gaussian(Complex z, Complex f, double s) {
    const Expr x = z.re, y = z.im, x2 = x * x, y2 = y * y, product = x * y;
    const Expr ordinary = (abs(x) < x.pick(1e18, 1e150)) & (abs(y) < x.pick(1e18, 1e150));
    const Expr difference = y2 - x2, back = difference - y2;
    const Expr lost = ((y2 - (difference - back)) - (x2 + back)) + (fma(y, y, -y2) - fma(x, x, -x2));
    const Expr sum = difference + lost, exponent = select(ordinary, sum, (y - x) * (y + x));
    const Expr more = select(ordinary & (abs(sum) < 1e4), ((difference - sum) + lost) * s, 0.0);
    const Expr known = ordinary & (abs(product) < product.infinity());
    const Expr angle = select(abs(product) < product.infinity(), product * (-2 * s), 0.0);
    const Expr turn = select(known, fma(x, y, -product) * (-2 * s), 0.0);
    const Expr size = exp(exponent * (0.5 * s)), c = cos(angle), sine = sin(angle);
    const Complex rotation{fma(-turn, sine, c), fma(turn, c, sine)};
    const Complex turned = f * rotation;
    return select(size == 0.0, Complex{copysign(size, turned.re), copysign(size, turned.im)}, turned * size * (size * (1.0 + more)));
}

/// w(z) for Im z >= 0.
Complex upper_faddeeva(Complex z) {
    const Expr x = abs(z.re), y = z.im;
    const int last = x.single() ? 5 : 11;
    const double h = std::sqrt(std::numbers::pi / (last + 1));
    const Expr place = x * (1 / h), offset = place - rint(place), midpoints = abs(offset) < 0.25;
    const Expr y2 = y * y, square = fma(x, x, y2);
    Expr re = x(0.0), im = x(0.0);
    for (int k = last; k >= 0; --k) {
        const double middle = (k + 0.5) * h, whole = k * h, scale = 2 * h / std::numbers::pi;
        const Expr t = select(midpoints, x(middle), x(whole)), t2 = select(midpoints, x(middle * middle), x(whole * whole));
        const Expr weight = select(midpoints, x(scale * std::exp(-middle * middle)), x((k ? scale : scale / 2) * std::exp(-whole * whole)));
        const Expr left = x - t, right = x + t;
        const Expr q = weight / (fma(left, left, y2) * fma(right, right, y2));
        re = fma(q, square + t2, re);
        im = fma(q, square - t2, im);
    }
    Complex near{re * y, im * x};
    // What the pole adds: 2 e^(-z^2) / (1 ± e^(-2 pi i z / h)), of which |e^(2 pi i z / h)| <= 1 is computed.
    near = replace(near, y < std::numbers::pi / h, [&] {
        const Expr size = exp(y * (-2 * std::numbers::pi / h)), two = offset + offset;
        const Complex q{size * cos_pi(two), size * sin_pi(two)}, below = q + select(midpoints, x(1.0), x(-1.0));
        return near + with_gaussian({x, y}, q * inverse(below) * 2.0, 1.0);
    });
    const Expr larger = most(x, y), a = x / larger, b = y / larger, scale = 1.0 / (root_of_pi * larger * fma(a, a, b * b));
    const Complex end{b * scale, a * scale};
    const Expr far = larger > x.pick(1e4, 1e8), nowhere = larger == x.infinity();
    Complex value = select(far, end, near);
    value = select(nowhere, Complex{x(0.0), x(0.0)}, value);
    value = select(is_nan(z), Complex{x.nan(), x.nan()}, value);
    return {value.re, select(z.re < 0.0, -value.im, value.im)};
}

/// w(i z) for Re z >= 0, which is e^(z^2) erfc(z), at z or at -z.
Complex scaled_tail(Complex z) {
    const Expr back = z.re < 0.0;
    return upper_faddeeva({select(back, z.im, -z.im), abs(z.re)});
}

/// f erfc at z or at -z, whichever has Re z >= 0; with s = 1/2 it is f erfc(z / sqrt(2)).
Complex tail(Complex z, double f, double s) { return with_gaussian(z, scaled_tail(s == 1.0 ? z : z * (1 / std::numbers::sqrt2)) * f, s); }

std::vector<double> erf_series(int terms) {
    std::vector<double> c;
    double factorial = 1;
    for (int k = 0; k < terms; ++k) {
        if (k > 0) factorial *= -k;
        c.push_back(2 / root_of_pi / (factorial * (2 * k + 1)));
    }
    return c;
}

std::vector<double> dawson_series(int terms) {
    std::vector<double> c{1};
    for (int k = 1; k < terms; ++k) c.push_back(c.back() * -2 / (2 * k + 1));
    return c;
}

/// Of a function that is real on the real axis the part that vanishes there, and the sign of zero.
Expr vanishing(Expr computed, Expr at) { return select(at == 0.0, at, computed); }
/// The same, of one that on the imaginary axis grows beyond all bounds.
Expr growing(Expr computed, Expr at, Expr re) { return select((re == 0.0) & is_infinite(at), at, vanishing(computed, at)); }

}  // namespace

Complex complex_erfcx(ComplexArgs a) {
    const Complex z = a[0], right = scaled_tail(z);
    const Complex value = replace(right, z.re < 0.0, [&] { return with_gaussian(turned(z), {z.re(2.0), z.re(0.0)}, 1.0) - right; });
    return {value.re, vanishing(value.im, -z.im)};
}

Complex complex_erfc(ComplexArgs a) {
    const Complex z = a[0], right = tail(z, 1.0, 1.0);
    const Complex value = select(z.re < 0.0, 2.0 - right, right);
    return {select(z.re == 0.0, 1.0, value.re), growing(value.im, -z.im, z.re)};
}

Complex complex_erf(ComplexArgs a) {
    const Complex z = a[0];
    const Complex value = branch(
        norm(z) < 1.0, [&] { return z * polynomial(z * z, erf_series(z.re.single() ? 11 : 19)); },
        [&] {
            const Complex right = tail(z, 1.0, 1.0);
            return select(z.re < 0.0, right - 1.0, 1.0 - right);
        });
    return {vanishing(value.re, z.re), growing(value.im, z.im, z.re)};
}

Complex complex_erfi(ComplexArgs a) {
    const Complex turned_z{-a[0].im, a[0].re}, value = complex_erf({&turned_z, 1});
    return {value.im, -value.re};
}

Complex complex_wofz(ComplexArgs a) {
    const Complex z = a[0], up = upper_faddeeva(select(z.im < 0.0, -z, z));
    const Complex value = replace(up, z.im < 0.0, [&] { return with_gaussian(z, {z.re(2.0), z.re(0.0)}, 1.0) - up; });
    return {value.re, vanishing(value.im, z.re)};
}

Complex complex_dawsn(ComplexArgs a) {
    const Complex z = a[0], up = select(z.im < 0.0, -z, z);
    const Complex value = branch(
        norm(z) < 1.0, [&] { return up * polynomial(up * up, dawson_series(z.re.single() ? 11 : 20)); },
        [&] {
            return turned(with_gaussian(up, {z.re(1.0), z.re(0.0)}, 1.0) - upper_faddeeva(up)) * (root_of_pi / 2);
        });
    const Complex odd = select(z.im < 0.0, -value, value);
    return {vanishing(odd.re, z.re), vanishing(odd.im, z.im)};
}

Expr dawsn(Args a) {
    const Expr x = a[0];
    return branch(
        abs(x) < 1.0, [&] { return x * polynomial(x * x, dawson_series(x.single() ? 11 : 20)); },
        [&] {
            return upper_faddeeva({x, x(0.0)}).im * (root_of_pi / 2);
        });
}

Expr erfi(Args a) {
    const Expr x = a[0];
    return branch(
        abs(x) < 1.0,
        [&] {
            std::vector<double> c = erf_series(x.single() ? 11 : 19);
            for (double& v : c) v = std::abs(v);
            return x * polynomial(x * x, c);
        },
        [&] {
            const Complex z{x(0.0), abs(x)};
            const Expr value = with_gaussian(z, {upper_faddeeva({z.im, x(0.0)}).im, x(0.0)}, 1.0).re;
            return copysign(select(z.im == x.infinity(), z.im, value), x);
        });
}

Complex complex_ndtr(ComplexArgs a) {
    const Complex z = a[0], half = tail(z, 0.5, 0.5);
    const Complex value = select(z.re < 0.0, half, 1.0 - half);
    return {select(z.re == 0.0, 0.5, value.re), growing(value.im, z.im, z.re)};
}

// -z^2 / 2 + log(e^(z^2 / 2) ndtr(z)) on the left, and on the right where 1 is lost; elsewhere on the right log(1 - ndtr(-z)).
Complex complex_log_ndtr(ComplexArgs a) {
    const Complex z = a[0], scaled = scaled_tail(z * (1 / std::numbers::sqrt2)), half = with_gaussian(z, scaled * 0.5, 0.5);
    const Expr left = z.re < 0.0, huge = !(norm(half) < z.re.pick(1e20, 1e40));
    const Complex value = branch(
        left | huge,
        [&] {
            const Complex logarithm = log(scaled * 0.5);
            const Expr re = logarithm.re - 0.5 * ((z.re - z.im) * (z.re + z.im));
            const Expr product = z.re * z.im, more = logarithm.im + select(left, z.re(0.0), z.re(std::numbers::pi));
            const Expr turns = rint((more - product) * (0.5 / std::numbers::pi));
            const Expr high = fma(-turns, z.re.pick(6.2831854820251465, 2 * std::numbers::pi), -product);
            const Expr low = fma(-turns, z.re.pick(-1.7484556000744883e-07, 2.4492935982947064e-16), more - fma(z.re, z.im, -product));
            const Expr sum = high + low, im = fma(-rint(sum * (0.5 / std::numbers::pi)), 2 * std::numbers::pi, sum);
            return Complex{re, select(abs(im) >= 3.2, 0.0, im)};  // no digits are left of angles beyond 1 / epsilon
        },
        [&] { return log1p(-half); });
    return {value.re, vanishing(value.im, z.im)};
}

}  // namespace pardo::ir::math
