// src/ir/passes/complex_math.cpp: functions of complex numbers as IR on their real and imaginary parts.
// Inverse sines and cosines: T. Hull, T. Fairgrieve, P. Tang, "Implementing the complex arcsine and arccosine functions using exception
// handling" (1997), with their formulas in a form that needs no case for small and large b. tanh: W. Kahan, "Branch cuts for complex
// elementary functions" (1987).
#include "ir/passes/complex_math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <pardo/error.h>

#include "ir/special/complex/complex.h"

namespace pardo::ir {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi;

/// Limits that depend on the parts' dtype.
struct Magnitudes {
    double exp_shift;     // e^(2 * exp_shift) overflows, e^exp_shift does not
    double huge, shrink;  // beyond `huge`, sums and squares may overflow: the algorithms work on shrink * z
    double tiny, grow;    // below `tiny` results may lose bits: they work on grow * z
    double flat;          // tanh(x) is 1 beyond this
    double epsilon;
};

Magnitudes range_of(DType t) {
    if (t == DType::Float32) return {80, 0x1p120, 0x1p-24, 0x1p-90, 0x1p48, 12, 0x1p-23};
    return {700, 0x1p1000, 0x1p-60, 0x1p-900, 0x1p108, 22, 0x1p-52};
}

}  // namespace

using Z = ComplexMath::Z;

Value ComplexMath::is_zero(Value a) { return m_.eq(a, c(0)); }
Value ComplexMath::is_inf(Value a) {
    const Value size = abs(a);
    return m_.eq(size, c(infinity));
}
Value ComplexMath::is_finite(Value a) { return within(a, infinity); }
Value ComplexMath::within(Value a, double limit) {
    const Value size = abs(a);
    return m_.lt(size, c(limit));
}

Z ComplexMath::mul(Z a, Z b) { return {sub({mul(a.re, b.re), mul(a.im, b.im)}), add({mul(a.re, b.im), mul(a.im, b.re)})}; }

Z ComplexMath::div(Z a, Z b) {
    const Value size_re = abs(b.re), size_im = abs(b.im);
    const Value real_larger = m_.ge(size_re, size_im);
    const Value large = pick(real_larger, b.re, b.im), small = pick(real_larger, b.im, b.re);
    const Value ratio = div(small, large);
    const Value scale = div({c(1), add(large, mul(small, ratio))});
    const Value first = pick(real_larger, a.re, a.im), second = pick(real_larger, a.im, a.re);
    const Value re = mul(add(first, mul(second, ratio)), scale);
    const Value im = mul(pick({real_larger, sub(a.im, mul(a.re, ratio)), sub(mul(a.im, ratio), a.re)}), scale);
    const Value by_zero = both({is_zero(size_re), is_zero(size_im)});
    return select(by_zero, {div(a.re, size_re), div(a.im, size_re)}, {re, im});
}

Z ComplexMath::min_max(bool larger, Z a, Z b) {
    const Value beyond = larger ? m_.gt(a.re, b.re) : m_.lt(a.re, b.re);
    const Value tie = both({m_.eq(a.re, b.re), larger ? m_.ge(a.im, b.im) : m_.le(a.im, b.im)});
    const Value ordered = both({m_.eq(a.im, a.im), m_.eq(b.im, b.im)});
    const Value first_is_nan = either({is_nan(a.re), is_nan(a.im)});
    return select(either(either(both(beyond, ordered), tie), first_is_nan), a, b);
}

Z ComplexMath::exp(Z a) {
    const Magnitudes range = range_of(t_);
    const Value large = m_.gt(a.re, c(range.exp_shift));
    const Value size = f(Math::exp, pick(large, sub(a.re, c(range.exp_shift)), a.re));
    const Value factor = pick({large, c(std::exp(range.exp_shift)), c(1)});
    const Value on_axis = is_zero(a.im);
    Value re = mul(mul(size, f(Math::cos, a.im)), factor), im = mul(mul(size, f(Math::sin, a.im)), factor);
    re = pick(on_axis, mul(size, factor), re);
    im = pick(on_axis, a.im, im);
    // No angle: e^-inf is zero all the same, and e^inf infinite.
    const Value no_angle = m_.bit_not(is_finite(a.im));
    const Value vanishes = both(no_angle, m_.eq(a.re, c(-infinity))), explodes = both(no_angle, m_.eq(a.re, c(infinity)));
    re = pick({vanishes, c(0), pick(explodes, c(infinity), re)});
    im = pick(vanishes, with_sign(c(0), a.im), im);
    return {re, im};
}

Z ComplexMath::expm1(Z a) {
    const Z whole = exp(a);
    const Value half_sine = f(Math::sin, mul(a.im, c(0.5)));
    const Value small = sub({mul({f(Math::expm1, a.re), f(Math::cos, a.im)}), mul({c(2), mul(half_sine, half_sine)})});
    // The exponential itself is right where the subtraction of one does not cancel, and for infinities and NaN.
    const Value finite = both({is_finite(a.re), is_finite(a.im)}), near = within(a.re, 1);
    const Value re = pick({is_zero(a.im), f(Math::expm1, a.re), pick({both(finite, near), small, sub(whole.re, c(1))})});
    return {pick({both({is_zero(a.re), is_zero(a.im)}), c(0), re}), whole.im};
}

// re = log |z|. Near the unit circle from |z|^2 - 1, whose rounding errors are carried along; elsewhere from the larger part and the ratio.
Z ComplexMath::log(Z a) {
    const Value x = abs(a.re), y = abs(a.im);
    const Value large = m_.fmax(x, y), small = m_.fmin(x, y);
    const Value near = both({m_.gt(large, c(0.5)), m_.lt(large, c(2))});
    const Value square = mul(large, large), square_error = m_.fma(large, large, neg(square));
    const Value other = mul(small, small), other_error = m_.fma(small, small, neg(other));
    const Value head = sub(square, c(1)), sum = add(head, other);
    const Value back = sub(sum, head);
    const Value sum_error = add({sub(head, sub(sum, back)), sub(other, back)});
    const Value excess = add(sum, add(sum_error, add(square_error, other_error)));
    const Value ratio = pick({is_zero(large), c(0), div(small, large)});
    const Value correction = mul({c(0.5), f(Math::log1p, pick(near, excess, mul(ratio, ratio)))});
    Value re = add(pick({near, c(0), f(Math::log, large)}), correction);
    re = pick({either({is_inf(x), is_inf(y)}), c(infinity), pick({either({is_nan(x), is_nan(y)}), c(nan), re})});
    return {re, f(Math::atan2, a.im, a.re)};
}

Z ComplexMath::log1p(Z a) {
    const Z far = log({add(a.re, c(1)), a.im});
    const Value near = both({within(a.re, 0.5), within(a.im, 0.5)});
    const Value beyond = add(a.re, c(2)), excess = m_.fma(a.re, beyond, mul(a.im, a.im));
    return {pick(near, mul({c(0.5), f(Math::log1p, excess)}), far.re), far.im};
}

Z ComplexMath::sqrt(Z a) {
    const Magnitudes range = range_of(t_);
    const Value size = larger({abs(a.re), abs(a.im)});
    const Value large = m_.gt(size, c(range.huge)), small = m_.lt(size, c(range.tiny));
    const Value scale = pick({large, c(range.shrink), pick({small, c(range.grow), c(1)})});
    const Value unscale = pick({large, c(1 / std::sqrt(range.shrink)), pick({small, c(1 / std::sqrt(range.grow)), c(1)})});
    const Value x = mul(a.re, scale), y = mul(a.im, scale);
    const Value root = f(Math::sqrt, mul({c(0.5), add({abs(x), f(Math::hypot, x, y)})}));
    const Value other = div(y, add(root, root));
    const Value right = m_.ge(x, c(0));
    Value re = mul(pick(right, root, abs(other)), unscale), im = mul(pick(right, other, with_sign(root, y)), unscale);
    // x = NaN has no side: both parts are NaN.
    im = pick({is_nan(x), c(nan), im});
    const Value zero = both({is_zero(a.re), is_zero(a.im)}), infinite = is_inf(a.im);
    re = pick({zero, c(0), pick(infinite, c(infinity), re)});
    im = pick(either(zero, infinite), a.im, im);
    return {re, im};
}

ComplexMath::Hyperbolic ComplexMath::hyperbolic(Value x) {
    const Magnitudes range = range_of(t_);
    const Value size = abs(x), large = m_.gt(size, c(range.exp_shift));
    const Value far = mul({c(0.5), f(Math::exp, sub(size, c(range.exp_shift)))});
    return {pick({large, with_sign(far, x), f(Math::sinh, x)}), pick(large, far, f(Math::cosh, x)),
            pick({large, c(std::exp(range.exp_shift)), c(1)})};
}

Z ComplexMath::sinh(Z a) {
    const Hyperbolic h = hyperbolic(a.re);
    const Value on_axis = is_zero(a.im), no_angle = m_.bit_not(is_finite(a.im));
    const Value re = mul(mul(h.sinh, pick({on_axis, c(1), f(Math::cos, a.im)})), h.factor);
    const Value im = pick(on_axis, a.im, mul(mul(h.cosh, f(Math::sin, a.im)), h.factor));
    return {pick(both(no_angle, either({is_zero(a.re), is_inf(a.re)})), a.re, re), im};
}

Z ComplexMath::cosh(Z a) {
    const Hyperbolic h = hyperbolic(a.re);
    const Value on_axis = is_zero(a.im), no_angle = m_.bit_not(is_finite(a.im));
    const Value re = mul(mul(h.cosh, pick({on_axis, c(1), f(Math::cos, a.im)})), h.factor);
    const Value im = mul(mul(h.sinh, f(Math::sin, a.im)), h.factor);
    const Value no_im = either(on_axis, both(no_angle, is_zero(a.re)));
    return {pick({both(no_angle, is_inf(a.re)), c(infinity), re}), pick(no_im, mul({with_sign(c(0), a.im), with_sign(c(1), a.re)}), im)};
}

Z ComplexMath::tanh(Z a) {
    const Magnitudes range = range_of(t_);
    const Value size = abs(a.re), flat = m_.gt(size, c(range.flat));
    const Value tangent = f(Math::tan, a.im), beta = m_.fma(tangent, tangent, c(1));
    const Value s = f(Math::sinh, pick(flat, c(0), a.re)), s2 = mul(s, s);
    const Value rho = f(Math::sqrt, add(c(1), s2)), denominator = m_.fma(beta, s2, c(1));
    Value re = div(mul(mul(beta, rho), s), denominator), im = div(tangent, denominator);
    const Value decay = mul({c(4), f(Math::exp, mul(c(-2), size))});
    const Value far_im = mul(mul({f(Math::sin, a.im), f(Math::cos, a.im)}), decay);
    const Value no_angle = m_.bit_not(is_finite(a.im));
    re = pick(flat, with_sign(c(1), a.re), re);
    im = pick(flat, far_im, im);
    re = pick({is_zero(a.re), a.re, pick({both(flat, both(no_angle, m_.bit_not(is_inf(a.re)))), c(nan), re})});
    // At infinity C99 and NumPy have the sign of sin(2y), the array API standard that of y.
    im = pick({is_zero(a.im), a.im, pick({is_inf(a.re), with_sign(c(0), a.im), im})});
    return {re, im};
}

Value ComplexMath::real_of_reciprocal(Value x, Value y) {
    const Value x_size = abs(x), y_size = abs(y), by_x = m_.ge(x_size, y_size), ratio = pick({by_x, div(y, x), div(x, y)});
    const Value value = pick({by_x, div({c(1), m_.fma(y, ratio, x)}), div(ratio, m_.fma(x, ratio, y))});
    return pick({either({is_inf(x), is_inf(y)}), with_sign(c(0), x), value});
}

Z ComplexMath::atanh(Z a) {
    const Magnitudes range = range_of(t_);
    const Value x = abs(a.re), y = abs(a.im), one = c(1);
    const Value far = either({m_.gt(x, c(1 / range.epsilon)), m_.gt(y, c(1 / range.epsilon))});
    const Value from_pole = sub(x, one), distance = m_.fma(from_pole, from_pole, mul(y, y));
    const Value at_pole = both({m_.eq(x, one), m_.lt(y, c(range.epsilon))});
    Value re = mul({c(0.25), f(Math::log1p, div(mul(c(4), x), distance))});
    re = pick(at_pole, mul({c(0.5), sub({c(std::numbers::ln2), f(Math::log, y)})}), re);
    const Value width = mul({sub(one, x), add(one, x)});
    Value im = mul({c(0.5), f({Math::atan2, add(y, y), sub(width, mul(y, y))})});
    im = pick({m_.eq(x, one), mul({c(0.5), f({Math::atan2, c(2), neg(y)})}), im});
    const Value on_cut_free = both({is_zero(y), m_.le(x, one)});
    re = pick(far, real_of_reciprocal(x, y), re);
    im = pick({far, c(pi / 2), pick(on_cut_free, c(0), im)});
    re = pick({is_zero(x), c(0), re});
    // NaN in one part: an infinite other part still fixes the real part at zero.
    const Value any_nan = either({is_nan(a.re), is_nan(a.im)}), settled = either({is_inf(a.re), is_inf(a.im)});
    re = pick(any_nan, pick({either(settled, is_zero(x)), c(0), c(nan)}), re);
    im = pick(any_nan, pick({is_inf(a.im), c(pi / 2), c(nan)}), im);
    return {with_sign(re, a.re), with_sign(im, a.im)};
}

ComplexMath::Inverse ComplexMath::inverse(Z a) {
    const Magnitudes range = range_of(t_);
    const Value infinite = either({is_inf(a.re), is_inf(a.im)}), one = c(1), half = c(0.5);
    const Value size = larger({abs(a.re), abs(a.im)}), large = m_.gt(size, c(range.huge));
    const Value scale = pick(large, c(range.shrink), one);
    const Value x = mul(abs(a.re), scale), y = mul(abs(a.im), scale);
    const Value outside = sub(x, one), beyond = add(x, one), inside = sub(one, x);
    const Value r = f(Math::hypot, beyond, y), s = f(Math::hypot, outside, y);
    const Value mean = add({mul(half, r), mul(half, s)}), reach = add(mean, x);
    const Value to_left = add(r, beyond), in_unit = m_.le(x, one);
    // v = sqrt(mean^2 - x^2) without cancellation
    const Value v_inside = mul({f(Math::sqrt, mul(half, reach)), f(Math::sqrt, add({mul(y, div(y, to_left)), add(s, inside)}))});
    const Value v_outside = mul(y, f(Math::sqrt, mul(half, add({div(reach, to_left), div(reach, add(s, outside))}))));
    const Value v = pick({infinite, abs(a.im), pick(in_unit, v_inside, v_outside)});
    const Value signed_x = pick(infinite, a.re, mul(a.re, scale));
    // excess = mean - 1; for x < 1 it is y^2 * k, and y stays outside of the root so that it does not vanish
    const Value below = m_.lt(x, one);
    const Value k = mul(half, add({div(one, to_left), div(one, add(s, inside))}));
    const Value double_excess = add({mul(y, div(y, to_left)), add(s, outside)}), more = add(mean, one);
    const Value excess = pick({below, mul(mul(y, k), y), mul(half, double_excess)});
    const Value root =
        pick({below, mul(y, f(Math::sqrt, mul(k, more))), mul({f(Math::sqrt, double_excess), f(Math::sqrt, mul(half, more))})});
    Value im = add({f(Math::log1p, add(excess, root)), pick({large, c(-std::log(range.shrink)), c(0)})});
    im = pick(infinite, c(infinity), im);
    const Value on_axis = is_zero(a.re);  // also with a NaN above or below
    return {pick({on_axis, c(0), f(Math::atan2, abs(signed_x), v)}), pick({on_axis, c(pi / 2), f(Math::atan2, v, signed_x)}), im};
}

Z ComplexMath::asin(Z a) {
    const Inverse w = inverse(a);
    return {with_sign(w.sine_re, a.re), with_sign(w.im, a.im)};
}

Z ComplexMath::acos(Z a) {
    const Inverse w = inverse(a);
    return {w.cosine_re, with_sign(w.im, neg(a.im))};
}

Z ComplexMath::asinh(Z a) { return turned_back(asin(turned(a))); }

Z ComplexMath::acosh(Z a) {
    const Inverse w = inverse(a);
    return {w.im, with_sign(w.cosine_re, a.im)};
}

// Repeated squaring, as NumPy for whole exponents below 100; a negative one gives the reciprocal.
Z ComplexMath::integer_power(Z a, Value exponent) {
    const Value size = m_.cast(abs(exponent), DType::Int32);
    Z result{c(1), c(0)}, square = a;
    for (int bit = 0; bit < 7; ++bit) {
        const Value set = m_.ne(m_.bit_and(size, m_.constant(DType::Int32, 1 << bit)), m_.constant(DType::Int32, 0.0));
        result = select(set, bit == 0 ? a : mul(result, square), result);
        if (bit < 6) square = mul(square, square);
    }
    const Value negative = m_.lt(exponent, c(0));
    return select(negative, div(Z{c(1), c(0)}, result), result);
}

Z ComplexMath::pow(Z a, Z b) {
    const Value whole = both({is_zero(b.im), both({m_.eq(f(Math::trunc, b.re), b.re), within(b.re, 100)})});
    const auto values = m_.if_else(
        whole,
        [&] {
            const Z z = integer_power(a, b.re);
            return Builder::Values{z.re, z.im};
        },
        [&] {
            const Z z = exp(mul(b, log(a)));
            return Builder::Values{z.re, z.im};
        });
    Z result{values[0], values[1]};
    const Value from_zero = both({is_zero(a.re), is_zero(a.im)}), to_zero = both({is_zero(b.re), is_zero(b.im)});
    const Value grows = m_.gt(b.re, c(0));
    const Z power = select(grows, {c(0), c(0)}, {c(nan), c(nan)});
    result = select(from_zero, power, result);
    return select(to_zero, {c(1), c(0)}, result);
}

Z ComplexMath::call(Math fn, Z a, Z b) {
    switch (fn) {
        case Math::exp: return exp(a);
        case Math::exp2: return exp(scaled(a, std::numbers::ln2));
        case Math::expm1: return expm1(a);
        case Math::log: return log(a);
        case Math::log2: return scaled(log(a), std::numbers::log2e);
        case Math::log10: return scaled(log(a), std::numbers::log10e);
        case Math::log1p: return log1p(a);
        case Math::sqrt: return sqrt(a);
        case Math::sinh: return sinh(a);
        case Math::cosh: return cosh(a);
        case Math::tanh: return tanh(a);
        case Math::sin: return turned_back(sinh(turned(a)));
        case Math::cos: return cosh(turned(a));
        case Math::tan: return turned_back(tanh(turned(a)));
        case Math::asin: return asin(a);
        case Math::acos: return acos(a);
        case Math::atan: return turned_back(atanh(turned(a)));
        case Math::asinh: return asinh(a);
        case Math::acosh: return acosh(a);
        case Math::atanh: return atanh(a);
        case Math::pow: return pow(a, b);
        default: break;
    }
    const special::ComplexFunction recipe = special::complex_function(fn);
    if (!recipe) throw Error(ErrorCode::Internal, std::string(name(fn)) + ": this function has no complex form");
    const special::Complex given[] = {{{&m_, a.re}, {&m_, a.im}}, {{&m_, b.re}, {&m_, b.im}}};
    const special::Complex z = recipe(special::ComplexArgs(given, 2));
    return {z.re.v, z.im.v};
}

}  // namespace pardo::ir
