// src/ir/math/complex/elementary.cpp: arithmetic and elementary functions of complex numbers.
// No branches but in power; special values as C99's annex G and the array API want them. What is called is left as it is: the pass that
// expands functions comes later, and knows the target.
// Inverse sines and cosines: T. Hull, T. Fairgrieve, P. Tang, "Implementing the complex arcsine and arccosine functions using exception
// handling" (1997), with their formulas in a form that needs no case for small and large b. tanh: W. Kahan, "Branch cuts for complex
// elementary functions" (1987).
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/math/complex/complex.h"

namespace pardo::ir::math {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Limits that depend on the parts' dtype.
struct Magnitudes {
    double exp_shift;     // e^(2 * exp_shift) overflows, e^exp_shift does not
    double huge, shrink;  // beyond `huge`, sums and squares may overflow: the algorithms work on shrink * z
    double tiny, grow;    // below `tiny` results may lose bits: they work on grow * z
    double flat;          // tanh(x) is 1 beyond this
    double epsilon;
};

Magnitudes range_of(Complex z) {
    if (z.re.single()) return {80, 0x1p120, 0x1p-24, 0x1p-90, 0x1p48, 12, 0x1p-23};
    return {700, 0x1p1000, 0x1p-60, 0x1p-900, 0x1p108, 22, 0x1p-52};
}

// In braces operands are made in their order; of an operator's and of a call's compilers choose which comes first. Texts of CUDA and OpenCL
// keep the order.
struct Two {
    Expr a, b;
};
Expr both(Two v) { return v.a & v.b; }
Expr either(Two v) { return v.a | v.b; }
Expr sum(Two v) { return v.a + v.b; }
Expr difference(Two v) { return v.a - v.b; }
Expr product(Two v) { return v.a * v.b; }
struct Choice {
    Expr condition, a, b;
};
Expr pick(Choice v) { return select(v.condition, v.a, v.b); }

Expr with_sign(Expr magnitude, Expr sign) { return call(Math::copysign, magnitude, sign); }
Expr with_sign(double magnitude, Expr sign) { return with_sign(sign(magnitude), sign); }
Expr is_finite(Expr x) { return abs(x) < infinity; }
Expr vanishes(Complex z) { return both({z.re == 0.0, z.im == 0.0}); }
Expr no_number(Complex z) { return either({is_nan(z.re), is_nan(z.im)}); }
Expr unbounded(Complex z) { return either({is_infinite(z.re), is_infinite(z.im)}); }

}  // namespace

Complex multiply(Complex a, Complex b) { return {difference({a.re * b.re, a.im * b.im}), sum({a.re * b.im, a.im * b.re})}; }

Complex divide(Complex a, Complex b) {
    const Expr size_re = abs(b.re), size_im = abs(b.im), flat = size_re >= size_im;
    const Expr large = select(flat, b.re, b.im), small = select(flat, b.im, b.re), ratio = small / large;
    const Expr scale = 1.0 / (large + small * ratio);
    const Expr first = select(flat, a.re, a.im), second = select(flat, a.im, a.re);
    const Expr re = (first + second * ratio) * scale;
    const Expr im = pick({flat, a.im - a.re * ratio, a.im * ratio - a.re}) * scale;
    const Expr by_zero = vanishes({size_re, size_im});
    return select(by_zero, Complex{a.re / size_re, a.im / size_re}, Complex{re, im});
}

Complex extreme(bool larger, Complex a, Complex b) {
    const Expr beyond = larger ? a.re > b.re : a.re < b.re;
    const Expr tie = both({a.re == b.re, larger ? a.im >= b.im : a.im <= b.im});
    const Expr ordered = both({a.im == a.im, b.im == b.im}), first_is_nan = no_number(a);
    return select(((beyond & ordered) | tie) | first_is_nan, a, b);
}

Complex exp(Complex z) {
    const Magnitudes range = range_of(z);
    const Expr x = z.re, y = z.im, large = x > range.exp_shift;
    const Expr size = call(Math::exp, select(large, x - range.exp_shift, x));
    const Expr factor = select(large, x(std::exp(range.exp_shift)), x(1.0)), on_axis = y == 0.0;
    Expr re = size * call(Math::cos, y) * factor, im = size * call(Math::sin, y) * factor;
    re = select(on_axis, size * factor, re);
    im = select(on_axis, y, im);
    // No angle: e^-inf is zero all the same, and e^inf infinite.
    const Expr no_angle = !is_finite(y), nothing_left = no_angle & (x == -infinity), explodes = no_angle & (x == infinity);
    re = select(nothing_left, 0.0, select(explodes, infinity, re));
    im = select(nothing_left, with_sign(0.0, y), im);
    return {re, im};
}

Complex exp2(Complex z) { return exp(z * std::numbers::ln2); }

Complex expm1(Complex z) {
    const Complex whole = exp(z);
    const Expr half_sine = call(Math::sin, z.im * 0.5);
    const Expr small = difference({product({call(Math::expm1, z.re), call(Math::cos, z.im)}), 2.0 * (half_sine * half_sine)});
    // The exponential itself is right where the subtraction of one does not cancel, and for infinities and NaN.
    const Expr finite = both({is_finite(z.re), is_finite(z.im)}), near = abs(z.re) < 1.0;
    const Expr re = pick({z.im == 0.0, call(Math::expm1, z.re), pick({finite & near, small, whole.re - 1.0})});
    return {select(vanishes(z), 0.0, re), whole.im};
}

// re = log |z|. Near the unit circle from |z|^2 - 1, whose rounding errors are carried along; elsewhere from the larger part and the ratio.
Complex log(Complex z) {
    const Expr x = abs(z.re), y = abs(z.im), large = fmax(x, y), small = fmin(x, y);
    const Expr near = both({large > 0.5, large < 2.0});
    const Expr square = large * large, square_error = fma(large, large, -square);
    const Expr other = small * small, other_error = fma(small, small, -other);
    const Expr head = square - 1.0, whole = head + other, back = whole - head;
    const Expr whole_error = sum({head - (whole - back), other - back});
    const Expr excess = whole + (whole_error + (square_error + other_error));
    const Expr ratio = pick({large == 0.0, x(0.0), small / large});
    const Expr correction = 0.5 * call(Math::log1p, select(near, excess, ratio * ratio));
    Expr re = select(near, 0.0, call(Math::log, large)) + correction;
    re = pick({unbounded({x, y}), x(infinity), pick({no_number({x, y}), x(nan), re})});
    return {re, call(Math::atan2, z.im, z.re)};
}

Complex log2(Complex z) { return log(z) * std::numbers::log2e; }
Complex log10(Complex z) { return log(z) * std::numbers::log10e; }

Complex log1p(Complex z) {
    const Complex far = log(z + 1.0);
    const Expr near = both({abs(z.re) < 0.5, abs(z.im) < 0.5});
    const Expr beyond = z.re + 2.0, excess = fma(z.re, beyond, z.im * z.im);
    return {select(near, 0.5 * call(Math::log1p, excess), far.re), far.im};
}

Complex sqrt(Complex z) {
    const Magnitudes range = range_of(z);
    const Two sizes{abs(z.re), abs(z.im)};
    const Expr size = fmax(sizes.a, sizes.b), large = size > range.huge, small = size < range.tiny;
    const Expr scale = select(large, range.shrink, select(small, range.grow, size(1.0)));
    const Expr unscale = select(large, 1 / std::sqrt(range.shrink), select(small, 1 / std::sqrt(range.grow), size(1.0)));
    const Expr x = z.re * scale, y = z.im * scale;
    const Expr root = call(Math::sqrt, 0.5 * sum({abs(x), call(Math::hypot, x, y)})), other = y / (root + root), right = x >= 0.0;
    Expr re = select(right, root, abs(other)) * unscale, im = select(right, other, with_sign(root, y)) * unscale;
    // x = NaN has no side: both parts are NaN.
    im = select(is_nan(x), nan, im);
    const Expr zero = vanishes(z), infinite = is_infinite(z.im);
    re = select(zero, 0.0, select(infinite, infinity, re));
    im = select(zero | infinite, z.im, im);
    return {re, im};
}

namespace {

/// sinh(x) and cosh(x), both as a product of two factors, so that neither overflows before the sine or cosine is multiplied in.
struct Hyperbolic {
    Expr sinh, cosh, factor;
};

Hyperbolic hyperbolic(Complex z) {
    const Magnitudes range = range_of(z);
    const Expr x = z.re, size = abs(x), large = size > range.exp_shift;
    const Expr far = 0.5 * call(Math::exp, size - range.exp_shift);
    return {pick({large, with_sign(far, x), call(Math::sinh, x)}), select(large, far, call(Math::cosh, x)),
            select(large, x(std::exp(range.exp_shift)), x(1.0))};
}

}  // namespace

Complex sinh(Complex z) {
    const Hyperbolic h = hyperbolic(z);
    const Expr on_axis = z.im == 0.0, no_angle = !is_finite(z.im);
    const Expr re = h.sinh * select(on_axis, 1.0, call(Math::cos, z.im)) * h.factor;
    const Expr im = select(on_axis, z.im, h.cosh * call(Math::sin, z.im) * h.factor);
    return {select(no_angle & either({z.re == 0.0, is_infinite(z.re)}), z.re, re), im};
}

Complex cosh(Complex z) {
    const Hyperbolic h = hyperbolic(z);
    const Expr on_axis = z.im == 0.0, no_angle = !is_finite(z.im);
    const Expr re = h.cosh * select(on_axis, 1.0, call(Math::cos, z.im)) * h.factor;
    const Expr im = h.sinh * call(Math::sin, z.im) * h.factor;
    const Expr no_im = on_axis | (no_angle & (z.re == 0.0));
    return {select(no_angle & is_infinite(z.re), infinity, re), select(no_im, product({with_sign(0.0, z.im), with_sign(1.0, z.re)}), im)};
}

Complex tanh(Complex z) {
    const Magnitudes range = range_of(z);
    const Expr size = abs(z.re), flat = size > range.flat;
    const Expr tangent = call(Math::tan, z.im), beta = fma(tangent, tangent, 1.0);
    const Expr s = call(Math::sinh, select(flat, 0.0, z.re)), s2 = s * s;
    const Expr rho = call(Math::sqrt, 1.0 + s2), denominator = fma(beta, s2, s(1.0));
    Expr re = beta * rho * s / denominator, im = tangent / denominator;
    const Expr decay = 4.0 * call(Math::exp, -2.0 * size);
    const Expr far_im = product({call(Math::sin, z.im), call(Math::cos, z.im)}) * decay, no_angle = !is_finite(z.im);
    re = select(flat, with_sign(1.0, z.re), re);
    im = select(flat, far_im, im);
    re = pick({z.re == 0.0, z.re, select(flat & (no_angle & !is_infinite(z.re)), nan, re)});
    // At infinity C99 and NumPy have the sign of sin(2y), the array API standard that of y.
    im = pick({z.im == 0.0, z.im, pick({is_infinite(z.re), with_sign(0.0, z.im), im})});
    return {re, im};
}

Complex sin(Complex z) { return turned_back(sinh(turned(z))); }
Complex cos(Complex z) { return cosh(turned(z)); }
Complex tan(Complex z) { return turned_back(tanh(turned(z))); }

namespace {

Expr real_of_reciprocal(Expr x, Expr y) {
    const Expr x_size = abs(x), y_size = abs(y), by_x = x_size >= y_size, ratio = pick({by_x, y / x, x / y});
    const Expr value = pick({by_x, 1.0 / fma(y, ratio, x), ratio / fma(x, ratio, y)});
    return pick({unbounded({x, y}), with_sign(0.0, x), value});
}

}  // namespace

Complex atanh(Complex z) {
    const Magnitudes range = range_of(z);
    const Expr x = abs(z.re), y = abs(z.im), one = x(1.0);
    const Expr far = either({x > 1 / range.epsilon, y > 1 / range.epsilon});
    const Expr from_pole = x - one, distance = fma(from_pole, from_pole, y * y);
    const Expr at_pole = both({x == one, y < range.epsilon});
    Expr re = 0.25 * call(Math::log1p, 4.0 * x / distance);
    re = select(at_pole, 0.5 * (std::numbers::ln2 - call(Math::log, y)), re);
    const Expr width = product({one - x, one + x});
    const Two angle{y + y, width - y * y};
    Expr im = 0.5 * call(Math::atan2, angle.a, angle.b);
    im = pick({x == one, 0.5 * call(Math::atan2, x(2.0), -y), im});
    const Expr on_cut_free = both({y == 0.0, x <= one});
    re = select(far, real_of_reciprocal(x, y), re);
    im = select(far, std::numbers::pi / 2, select(on_cut_free, 0.0, im));
    re = select(x == 0.0, 0.0, re);
    // NaN in one part: an infinite other part still fixes the real part at zero.
    const Expr any_nan = no_number(z), settled = unbounded(z);
    re = select(any_nan, select(settled | (x == 0.0), x(0.0), x(nan)), re);
    im = select(any_nan, select(is_infinite(z.im), x(std::numbers::pi / 2), x(nan)), im);
    return {with_sign(re, z.re), with_sign(im, z.im)};
}

namespace {

struct Inverse {
    Expr sine_re, cosine_re, im;  // of asin and acos for |x|, |y|; cosine_re for signed x
};

Inverse inverse_of(Complex z) {
    const Magnitudes range = range_of(z);
    const Expr infinite = unbounded(z), one = z.re(1.0);
    const Two sizes{abs(z.re), abs(z.im)};
    const Expr size = fmax(sizes.a, sizes.b), large = size > range.huge, scale = select(large, range.shrink, one);
    const Expr x = abs(z.re) * scale, y = abs(z.im) * scale;
    const Expr outside = x - one, beyond = x + one, inside = one - x;
    const Expr r = call(Math::hypot, beyond, y), s = call(Math::hypot, outside, y);
    const Expr mean = sum({0.5 * r, 0.5 * s}), reach = mean + x, to_left = r + beyond, in_unit = x <= one;
    // v = sqrt(mean^2 - x^2) without cancellation
    const Expr v_inside = product({call(Math::sqrt, 0.5 * reach), call(Math::sqrt, sum({y * (y / to_left), s + inside}))});
    const Expr v_outside = y * call(Math::sqrt, 0.5 * sum({reach / to_left, reach / (s + outside)}));
    const Expr v = pick({infinite, abs(z.im), select(in_unit, v_inside, v_outside)});
    const Expr signed_x = select(infinite, z.re, z.re * scale);
    // excess = mean - 1; for x < 1 it is y^2 * k, and y stays outside of the root so that it does not vanish
    const Expr below = x < one, k = 0.5 * sum({one / to_left, one / (s + inside)});
    const Expr double_excess = sum({y * (y / to_left), s + outside}), more = mean + one;
    const Expr excess = pick({below, y * k * y, 0.5 * double_excess});
    const Expr root =
        pick({below, y * call(Math::sqrt, k * more), product({call(Math::sqrt, double_excess), call(Math::sqrt, 0.5 * more)})});
    Expr im = sum({call(Math::log1p, excess + root), select(large, x(-std::log(range.shrink)), x(0.0))});
    im = select(infinite, infinity, im);
    const Expr on_axis = z.re == 0.0;  // also with a NaN above or below
    return {pick({on_axis, x(0.0), call(Math::atan2, abs(signed_x), v)}),
            pick({on_axis, x(std::numbers::pi / 2), call(Math::atan2, v, signed_x)}), im};
}

}  // namespace

Complex asin(Complex z) {
    const Inverse w = inverse_of(z);
    return {with_sign(w.sine_re, z.re), with_sign(w.im, z.im)};
}

Complex acos(Complex z) {
    const Inverse w = inverse_of(z);
    return {w.cosine_re, with_sign(w.im, -z.im)};
}

Complex atan(Complex z) { return turned_back(atanh(turned(z))); }
Complex asinh(Complex z) { return turned_back(asin(turned(z))); }

Complex acosh(Complex z) {
    const Inverse w = inverse_of(z);
    return {w.im, with_sign(w.cosine_re, z.im)};
}

namespace {

// Repeated squaring, as NumPy for whole exponents below 100; a negative one gives the reciprocal.
Complex integer_power(Complex z, Expr exponent) {
    const Expr size = cast(abs(exponent), DType::Int32);
    const Complex one{z.re(1.0), z.re(0.0)};
    Complex result = one, square = z;
    for (int bit = 0; bit < 7; ++bit) {
        const Expr set = (size & (1 << bit)) != 0.0;
        result = select(set, bit == 0 ? z : multiply(result, square), result);
        if (bit < 6) square = multiply(square, square);
    }
    const Expr negative = exponent < 0.0;
    return select(negative, divide(one, result), result);
}

}  // namespace

Complex pow(Complex z, Complex exponent) {
    const Expr whole = both({exponent.im == 0.0, both({call(Math::trunc, exponent.re) == exponent.re, abs(exponent.re) < 100.0})});
    Complex result = branch(
        whole, [&] { return integer_power(z, exponent.re); }, [&] { return exp(multiply(exponent, log(z))); });
    const Expr from_zero = vanishes(z), to_zero = vanishes(exponent), grows = exponent.re > 0.0;
    const Complex zero{z.re(0.0), z.re(0.0)}, undefined{z.re(nan), z.re(nan)}, one{z.re(1.0), z.re(0.0)};
    result = select(from_zero, select(grows, zero, undefined), result);
    return select(to_zero, one, result);
}

}  // namespace pardo::ir::math
