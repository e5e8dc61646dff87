// src/ir/math/exponentials.cpp: double precision exp, sin and cos as polynomials, below 1 ulp like SLEEF's, and hyperbolic functions.
// exp shares its polynomial with erfc; sin and cos after K. C. Ng's kernels in fdlibm (Sun Microsystems, 1993). Hyperbolic functions of
// floats are computed in double precision, by as few terms as floats need: half the lanes, but no pairs of floats, and errors of little
// more than half an ulp. e^x = 2^k e^r with |r| up to ln 2 / 2; sinh r and cosh r are polynomials of r^2, minimax fits (Remez, 40 digits)
// made for this file.
#include <numbers>

#include "ir/math/recipes.h"
#include "ir/math/terms.h"

namespace pardo::ir::math {
namespace {

// sin r = r + r^3 S(r^2) and cos r = 1 - r^2 / 2 + r^4 C(r^2) on [-pi/4, pi/4], lowest power first
constexpr double sine_terms[] = {8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                 -2.50507602534068634195e-08, 1.58969099521155010221e-10};
constexpr double sine_first = -1.66666666666666324348e-01;
constexpr double cosine_terms[] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                                   -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
// pi / 2 in three parts, the first two of 33 bits: their products with whole numbers up to 2^20 are exact
constexpr double half_pi[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
constexpr double angle_limit = 1e5;  // beyond, e grows to several ulp
constexpr double exp_limit = 708;    // e^x is a normal number, and so is e^-x

Expr sine(Expr x, bool cosine) {
    // x = k pi / 2 + r + e, |r| up to pi / 4, e the rounding error of r
    const Expr shifted = fma(x, 0.63661977236758134308, whole_shifter), k = shifted - whole_shifter;
    const Expr t = less_product(x, k, half_pi[0]), r = less_product(t, k, half_pi[1]);
    const Expr e = less_product(less_product(t - r, k, half_pi[1]), k, half_pi[2]), z = r * r;
    // r - (z (e / 2 - r z S) - e - r z S1)
    const Expr cube = r * z, inner = less_product(e * 0.5, cube, horner(z, sine_terms));
    const Expr tail = less_product(fma(z, inner, -e), cube, sine_first), odd_part = r - tail;
    // 1 - z / 2 with its rounding error, + z^2 C - r e
    const Expr whole = less_product(x(1.0), z, 0.5), lost = less_product(1.0 - whole, z, 0.5);
    const Expr rest = fma(z * z, horner(z, cosine_terms), less_product(lost, r, e)), even_part = whole + rest;
    // Odd k swap the two; the sign is that of the quadrant.
    Expr quadrant = bitcast(shifted, DType::UInt64);
    if (cosine) quadrant = quadrant + 1.0;
    const Expr odd = (quadrant & 1.0) != 0.0, sign = (quadrant & 2.0) << 62.0;
    return bitcast(bitcast(select(odd, even_part, odd_part), DType::UInt64) ^ sign, DType::Float64);
}

}  // namespace

Expr sin_of_doubles(Args x) { return sine(x[0], false); }
Expr cos_of_doubles(Args x) { return sine(x[0], true); }
Expr has_large_angle(Args x) { return !(abs(x[0]) < angle_limit); }

Expr exp_of_doubles(Args v) {
    const Expr x = v[0], shifted = fma(x, 1.44269504088896340736, whole_shifter), k = shifted - whole_shifter;
    const Expr r = less_product(less_product(x, k, ln2_high), k, ln2_low), value = fma(horner(r, expm1_terms), r, 1.0);
    const Expr exponent = bitcast(shifted, DType::UInt64) << 52.0;
    return bitcast(bitcast(value, DType::UInt64) + exponent, DType::Float64);
}
Expr has_far_exponent(Args x) { return !(abs(x[0]) < exp_limit); }

namespace {

// On [-ln 2 / 2, ln 2 / 2]: cosh r and sinh r / r in r^2, relative errors 2^-34 and 2^-37
constexpr double cosh_of_float[] = {0.9999999999605668, 0.5000000106303283, 0.041666221304396296, 0.0013948422715030996};
constexpr double sinh_of_float[] = {0.9999999999955336, 0.1666666678603155, 0.00833328358021529, 0.00019907557375680612};
// On [-1, 1]: (cosh r - 1) / r^2 and (sinh r / r - 1) / r^2 in r^2, errors of cosh and sinh 2^-59 and 2^-63
constexpr double cosh_terms[] = {0.5000000000000001,     0.04166666666666334,   0.0013888888889175737, 2.4801587184341943e-05,
                                 2.7557344844120595e-07, 2.087368219213646e-09, 1.1661730233029744e-11};
constexpr double sinh_terms[] = {0.16666666666666669,    0.008333333333333137,   0.0001984126984143834, 2.75573191551098e-06,
                                 2.5052123437396546e-08, 1.6057237122458708e-10, 7.75941518672986e-13};
constexpr std::int64_t two_to_minus_three = 0x3fc0000000000000, two_to_minus_one = 0x3fe0000000000000;
constexpr double far_float = 100, far_double = 711, flat_tanh = 10;  // from where on results are infinite, and tanh is 1

Expr with_sign_of(Expr x, Expr value) { return call(Math::copysign, value, x); }
/// NaN stays.
Expr at_most(Expr x, double limit) {
    const Expr bound = x(limit);
    return select(bound < x, bound, x);
}

/// A double as k ln 2 + r: k in the low bits of `shifted`, and r.
struct Power {
    Expr shifted, r;
};
Power power_of(Expr x) {
    const Expr shifted = fma(x, std::numbers::log2e, whole_shifter);
    return {shifted, less_product(x, shifted - whole_shifter, std::numbers::ln2)};
}

/// e^x - 1 of a double, as exact as a float needs it.
Expr expm1_for_floats(Expr x) {
    const auto [shifted, r] = power_of(x);
    const Expr scale = power_of_two(shifted, bits_of_one);
    return fma(scale * r, horner(r, expm1_of_float), scale - 1.0);
}

/// (e^x + e^-x) / 2 or the difference, of |x|; of floats.
Expr half_sum_for_floats(Expr size, bool cosine) {
    const auto [shifted, r] = power_of(cast(at_most(size, far_float), DType::Float64));
    const Expr z = r * r, even = horner(z, cosh_of_float), odd = r * horner(z, sinh_of_float);
    const Expr up = power_of_two(shifted, two_to_minus_one), down = power_of_two(shifted, two_to_minus_one, true);
    const Expr sum = up + down, difference = up - down;
    return cast(cosine ? fma(difference, odd, sum * even) : fma(sum, odd, difference * even), DType::Float32);
}

/// sinh and cosh of |x|. Powers are a fourth of themselves, since that of the largest x has no double, and e^-x less than 2^-1000 does not
/// count. For sinh below 1, where a difference of powers would lose bits, k is 0.
Expr half_sum_of_doubles(Expr size, bool cosine) {
    Expr shifted = fma(size, std::numbers::log2e, whole_shifter);
    if (!cosine) shifted = select(size < 1.0, whole_shifter, shifted);
    const Expr k = shifted - whole_shifter, t = less_product(size, k, ln2_high), r = less_product(t, k, ln2_low);
    const Expr lost = less_product(t - r, k, ln2_low);
    const Expr up = power_of_two(shifted, two_to_minus_three);
    const Expr down = power_of_two(at_most(shifted, whole_shifter + 1000), two_to_minus_three, true);
    const Expr sum = up + down, difference = up - down, z = r * r;
    // cosh x = sum cosh r + difference sinh r, sinh x the other way round; sinh r = r + tail, cosh r = 1 + z C
    const Expr tail = fma(r * z, horner(z, sinh_terms), lost);
    const Expr whole = cosine ? sum : difference, other = cosine ? difference : sum, missing = up - whole;
    const Expr rounded = cosine ? missing + down : missing - down;
    const Expr rest = fma(other, tail, fma(whole * z, horner(z, cosh_terms), rounded));
    return (whole + fma(other, r, rest)) * 4.0;
}

/// log(x + sqrt(1 + x^2)) of floats from 0 on, as doubles.
Expr asinh_for_floats(Expr x) {
    const Expr square = x * x, y = x + call(Math::sqrt, square + 1.0);
    const SplitLog parts = split_for_log(y);
    const Expr s = quotient_for_floats(parts.f, parts.f + 2.0);
    const Expr logarithm = fma(parts.k, std::numbers::ln2, s * horner(s * s, log_of_float));
    const Expr tiny = fma(square * x, -1.0 / 6, x);  // where 1 + x^2 loses bits of x
    return select(x < 0x1p-12, tiny, logarithm);
}

}  // namespace

Expr expm1_of_floats(Args v) {
    const Expr x = v[0], low = x(-flat_tanh * 2), within = at_most(select(x < low, low, x), far_float);
    return with_sign_of(x, cast(expm1_for_floats(cast(within, DType::Float64)), DType::Float32));
}

Expr tanh_of_floats(Args v) {
    const Expr x = v[0], size = cast(at_most(abs(x), flat_tanh), DType::Float64), p = expm1_for_floats(size + size);
    return with_sign_of(x, cast(quotient_for_floats(p, p + 2.0), DType::Float32));
}

Expr asinh_of_floats(Args v) {
    const Expr x = v[0], size = abs(x), finite = size < size.infinity();
    const Expr value = with_sign_of(x, cast(asinh_for_floats(cast(size, DType::Float64)), DType::Float32));
    return select(finite, value, x);
}

Expr sinh_of_floats(Args v) { return with_sign_of(v[0], half_sum_for_floats(abs(v[0]), false)); }
Expr cosh_of_floats(Args v) { return half_sum_for_floats(abs(v[0]), true); }
Expr cosh_of_doubles(Args v) { return half_sum_of_doubles(at_most(abs(v[0]), far_double), true); }

Expr sinh_of_doubles(Args v) {
    const Expr x = v[0], size = at_most(abs(x), far_double), value = half_sum_of_doubles(size, false);
    return with_sign_of(x, select(size < 0x1p-28, size, value));  // of which a fourth may be subnormal
}

// Where SLEEF 3.5.1 overflows although the result does not: x * x in asinh and acosh, e^x in sinh and cosh.
namespace {

constexpr double half_e44 = 6425800057179654138.0;  // e^44 / 2: the first factor cannot overflow before the product does

Expr overflows(Expr size) { return size > size.pick(88.0, 709.0); }
Expr half_power(Expr size) { return call(Math::exp, size - 44.0) * half_e44; }
Expr overflows_squared(Expr x) { return x > x.pick(0x1p40, 0x1p300); }
Expr log_of_double(Expr size) { return call(Math::log, size) + 0.693147180559945309417; }

}  // namespace

Expr sinh_repaired(Args v) {
    const Expr x = v[0], value = call(Math::sinh, x), size = abs(x);
    return replace(value, overflows(size), [&] { return with_sign_of(x, half_power(size)); });
}

Expr cosh_repaired(Args v) {
    const Expr x = v[0], value = call(Math::cosh, x), size = abs(x);
    return replace(value, overflows(size), [&] { return half_power(size); });
}

Expr asinh_repaired(Args v) {
    const Expr x = v[0], value = call(Math::asinh, x), size = abs(x);
    return replace(value, overflows_squared(size), [&] { return with_sign_of(x, log_of_double(size)); });
}

Expr acosh_repaired(Args v) {
    const Expr x = v[0], value = call(Math::acosh, x), size = abs(x);
    return replace(value, overflows_squared(x), [&] { return log_of_double(size); });
}

}  // namespace pardo::ir::math
