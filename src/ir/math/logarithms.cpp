// src/ir/math/logarithms.cpp: logarithms of doubles as polynomials, below 1 ulp like SLEEF's, of floats, and of sums.
// Those of doubles after K. C. Ng's kernels in fdlibm (Sun Microsystems, 1993). Those of floats in double precision by as few terms as
// floats need, and without a division: x = 2^k (1 + f), |f| <= 1/3; log(1 + f) = f P(f), a minimax fit made for this file (Remez, 40
// digits, relative error 2^-28).
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/math/recipes.h"
#include "ir/math/terms.h"

namespace pardo::ir::math {
namespace {

// log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R), s = f / (2 + f), R = s^2 L(s^2) for 1 + f between the roots of 1/2 and 2
constexpr double log_terms[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
                                1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01};
constexpr double log_ln2_high = 6.93147180369123816490e-01, log_ln2_low = 1.90821492927058770002e-10;  // k times the high part is exact

/// `low`: what 1 + f lacks, if there is any.
Expr sum_of_log(Expr k, Expr f, Expr low) {
    const Expr s = f / (f + 2.0), z = s * s, w = z * z;
    const double odd[] = {log_terms[0], log_terms[2], log_terms[4], log_terms[6]}, even[] = {log_terms[1], log_terms[3], log_terms[5]};
    const Expr rest = fma(w, horner(w, even), z * horner(w, odd)), half_square = f * 0.5 * f;
    Expr tail = k * log_ln2_low;
    const double inverse[] = {1.0, -2.0, 2.0};  // 1 / (1 + f) = (1 - s) / (1 + s), within 1 %
    if (low.v != no_value) tail = fma(low, horner(s, inverse), tail);
    const Expr small = fma(s, half_square + rest, tail);
    return fma(k, log_ln2_high, f - (half_square - small));
}

}  // namespace

Expr log_of_doubles(Args x) {
    const SplitLog parts = split_for_log(x[0]);
    return sum_of_log(parts.k, parts.f, nothing);
}

Expr is_no_normal(Args v) {
    const Expr x = v[0], least = x.pick(std::numeric_limits<float>::min(), std::numeric_limits<double>::min());
    return (!(x >= least)) | (x == x.infinity());
}

// log(u + c) with u = 1 + x rounded, and c what that loses. Where u is near 1, f is x.
Expr log1p_of_doubles(Args v) {
    const Expr x = v[0], u = x + 1.0, added = u - 1.0;
    const Expr lost = (1.0 - (u - added)) + (x - added);
    const SplitLog parts = split_for_log(u);
    const Expr near = parts.k == 0.0, most = parts.field.whole(2046);
    const Expr scale = (most - min(parts.field, most)) << most.whole(52);  // 2^-k
    const Expr low = select(near, 0.0, lost * bitcast(scale, DType::Float64));
    return call(Math::copysign, sum_of_log(parts.k, select(near, x, parts.f), low), x);
}

Expr is_not_above_minus_one(Args v) {
    const Expr x = v[0];
    return (!(x > -1.0)) | (x == x.infinity());
}

namespace {

constexpr double quotient_terms[] = {1.0000000039597396, -0.5000000187451082,  0.33333157351648013, -0.24999656673508805,
                                     0.2001245500858441, -0.16684004576505385, 0.1398029970780113,  -0.12148581475531468,
                                     0.140891873093662,  -0.1301862955527034};
constexpr std::int64_t one_as_float = 0x3f800000, two_thirds = 0x3f2aaaab, mantissa_bits = 23;

/// A normal float above 0 as 2^k (1 + f), k and f doubles.
struct FloatParts {
    Expr k, f;
};
FloatParts parts_of_float(Expr x) {
    const Expr lifted = bitcast(x, DType::UInt32) + (one_as_float - two_thirds), field = lifted >> mantissa_bits;
    const Expr exponent = bitcast(field - (one_as_float >> mantissa_bits), DType::Int32);
    const Expr mantissa = (lifted & ((1 << mantissa_bits) - 1)) + two_thirds, k = cast(exponent, DType::Float64);
    return {k, cast(bitcast(mantissa, DType::Float32), DType::Float64) - 1.0};
}

}  // namespace

Expr log_of_floats(Args x) {
    const auto [k, f] = parts_of_float(x[0]);
    return cast(fma(k, std::numbers::ln2, f * horner(f, quotient_terms)), DType::Float32);
}

Expr log2_of_floats(Args x) {
    const auto [k, f] = parts_of_float(x[0]);
    const Expr scaled = f * std::numbers::log2e;
    return cast(k + scaled * horner(f, quotient_terms), DType::Float32);
}

Expr log10_of_floats(Args x) {
    const auto [k, f] = parts_of_float(x[0]);
    const Expr scaled = f * std::numbers::log10e;
    return cast(fma(k, std::numbers::ln2 / std::numbers::ln10, scaled * horner(f, quotient_terms)), DType::Float32);
}

// SLEEF's is infinite from 1e307 on; where 1 is negligible next to x, log(x) = log(x * 2^-n) + n * log(2).
Expr log1p_scaled(Args v) {
    const Expr x = v[0];
    const int n = x.single() ? 30 : 250;
    const Expr far = x > std::ldexp(1.0, 2 * n), scaled = x * select(far, x(std::ldexp(1.0, -n)), x(1.0));
    const Expr logarithm = call(Math::log1p, scaled);
    return select(far, logarithm + n * std::numbers::ln2, logarithm);
}

namespace {

/// high + log(1 + e^-|a - b|), exact for equal infinities.
Expr log_of_sum(Expr a, Expr b, Math exp, double log_two, double unit) {
    const Expr difference = a - b, high = select(a > b, a, b);
    const Expr small = call(Math::log1p, call(exp, -abs(difference)));
    const Expr sum = unit == 1.0 ? high + small : fma(small, unit, high), equal = a == b;
    return select(equal, a + log_two, sum);
}

}  // namespace

Expr logaddexp(Args v) { return log_of_sum(v[0], v[1], Math::exp, std::numbers::ln2, 1.0); }

Expr logaddexp2(Args v) { return log_of_sum(v[0], v[1], Math::exp2, 1.0, std::numbers::log2e); }

}  // namespace pardo::ir::math
