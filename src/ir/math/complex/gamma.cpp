// src/ir/math/complex/gamma.cpp: the gamma function of complex numbers, its logarithm and the derivative of that.
// Above Re z = 1/2: far away Stirling's formula, whose rest mu(z) is elsewhere mu(z + n) and C. Gudermann's sum (1845) of n terms
// (z + 1/2) log(1 + 1 / z) - 1 = u^2 / 3 + u^4 / 5 + ..., u = 1 / (2 z + 1): no logarithm is larger than the result. About the zeros at 1
// and 2 the series by zeta(k) - 1 (DLMF 5.7.3). Below by reflection, where the logarithm of the sine is continuous in the upper half-plane,
// as in D. Hare, "Computing the principal branch of log-Gamma" (1997). The lower half-plane is the upper one's mirror image.
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "ir/math/complex/complex.h"
#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double half_log_of_two_pi = 0.91893853320467274178, log_of_two_pi = 2 * half_log_of_two_pi;
/// B(2 k), k from 1 on.
constexpr double bernoulli[] = {1.0 / 6,         -1.0 / 30, 1.0 / 42,        -1.0 / 30,     5.0 / 66,
                                -691.0 / 2730.0, 7.0 / 6,   -3617.0 / 510.0, 43867.0 / 798, -174611.0 / 330};

/// How far Stirling's formula goes: from |z| = `far` on, or Re z = steps + 1/2, with so many terms.
struct Range {
    double far;
    int steps, terms;
};
Range range_of(Expr x) { return x.single() ? Range{4, 3, 4} : Range{8, 7, 10}; }

/// zeta(k) - 1, by Euler and Maclaurin.
double zeta_less_one(int k) {
    const long double n = 16;
    long double sum = 0;
    for (int i = 15; i > 1; --i) sum += std::pow(static_cast<long double>(i), -k);
    const long double last = std::pow(n, -k);
    sum += last * n / (k - 1) + last / 2;
    long double term = last * k / n;  // k (k + 1) ... (k + 2 j) / n^(k + 2 j + 1) / (2 j + 2)!, times B(2 j + 2)
    for (int j = 0; j < 6; ++j) {
        sum += term / 2 * bernoulli[j];
        term *= (k + 2 * j + 1.0L) * (k + 2 * j + 2.0L) / (n * n * (2 * j + 3) * (2 * j + 4));
    }
    return static_cast<double>(sum);
}

/// log(gamma(2 + t)) / t for |t| <= 3/4.
Complex about_two(Complex t) {
    std::vector<double> c{1 - std::numbers::egamma};
    for (int k = 2; k <= (t.re.single() ? 16 : 36); ++k) c.push_back((k % 2 ? -1 : 1) * zeta_less_one(k) / k);
    return polynomial(t, c);
}

/// log(gamma(z)) for Re z >= 1/2.
Complex right_loggamma(Complex z) {
    const Range range = range_of(z.re);
    const Expr low = z.re < 1.5;
    const Complex t{z.re - select(low, z.re(1.0), z.re(2.0)), z.im};
    return branch(
        norm(t) < 0.5625,
        [&] {
            const Complex above = t * about_two(t);
            return select(low, above - log1p(t), above);
        },
        [&] {
            const Expr far = (abs(z.re) >= range.far) | (abs(z.im) >= range.far);
            const Complex zero{z.re(0.0), z.re(0.0)};
            const Complex gudermann = branch(
                far, [&] { return zero; },
                [&] {
                    Complex sum = zero;
                    for (int n = range.steps - 1; n >= 0; --n) {
                        std::vector<double> c;
                        const double least = n == 0 ? 5.2 : (2 + 2 * n) * (2 + 2 * n);  // of |2 z + 2 n + 1|^2
                        double size = 1;
                        for (int k = 3; size > (z.re.single() ? 1e-8 : 1e-17); k += 2, size /= least) c.push_back(1.0 / k);
                        const Complex u = inverse(z * 2.0 + (2.0 * n + 1)), v = u * u;
                        sum = sum + v * polynomial(v, c);
                    }
                    return sum;
                });
            std::vector<double> c;
            for (int k = 1; k <= range.terms; ++k) c.push_back(bernoulli[k - 1] / (2 * k * (2 * k - 1)));
            const Expr huge = (abs(z.re) > z.re.pick(1e9, 1e100)) | (abs(z.im) > z.re.pick(1e9, 1e100));
            const Complex w = select(huge, zero, inverse(select(far, z, z + range.steps)));
            const Complex rest = w * polynomial(w * w, c) + gudermann, logarithm = log(z);
            const Expr half = z.re - 0.5;
            return Complex{fma(half, logarithm.re - 1.0, fma(-z.im, logarithm.im, rest.re)) + (half_log_of_two_pi - 0.5),
                           fma(half, logarithm.im, fma(z.im, logarithm.re - 1.0, rest.im))};
        });
}

/// What reflection needs of z in the upper half-plane: 1 - e^(2 pi i z) = size e^(i angle), and parts of it.
struct Reflection {
    explicit Reflection(Complex z)
        : decay(exp(-pi * z.im)),
          away(-expm1(-2 * pi * z.im)),
          sine(sin_pi(z.re)),
          cosine(cos_pi(z.re)),
          across(2.0 * decay * sine),
          size(hypot(away, across)) {}
    Expr decay, away, sine, cosine, across, size;

    Expr angle() const { return atan2(-(decay * cosine) * across, fma(across * 0.5, across, away)); }
    /// pi cot(pi z).
    Complex cotangent() const {
        return {pi * (2.0 * decay * cosine * (across / size) / size), -pi * (fma(decay, decay, 1.0) * (away / size) / size)};
    }
};

Expr is_pole(Complex z) { return (z.im == 0.0) & (z.re <= 0.0) & is_whole(z.re); }

Complex upper(Complex z) { return {z.re, abs(z.im)}; }
Complex mirrored(Complex value, Expr im) { return {value.re, value.im * copysign(im(1.0), im)}; }

Complex loggamma(Complex z) {
    const Complex up = upper(z);
    const Expr left = z.re < 0.5;
    const Complex right = right_loggamma({select(left, 1.0 - z.re, z.re), up.im});
    const Complex value = replace(right, left, [&] {
        const Reflection r(up);
        const Expr re = (log_of_two_pi - log(r.size)) - fma(up.im, pi, right.re);
        return Complex{select(up.im == up.im.infinity(), -up.im, re), fma(up.re - 0.5, pi, right.im - r.angle())};
    });
    return mirrored(value, z.im);
}

Complex none(Complex z) { return {z.re.nan(), z.re.nan()}; }

}  // namespace

Complex complex_loggamma(ComplexArgs a) {
    const Complex z = a[0], value = loggamma(z);
    return select(is_pole(z) | is_nan(z), none(z), {value.re, select((z.im == 0.0) & (z.re > 0.0), z.im, value.im)});
}

Complex complex_gamma(ComplexArgs a) {
    const Complex z = a[0], value = exp(loggamma(z));
    return select(is_pole(z) | is_nan(z), none(z), {value.re, select(z.im == 0.0, z.im, value.im)});
}

Complex complex_rgamma(ComplexArgs a) {
    const Complex z = a[0], value = exp(-loggamma(z));
    const Complex defined = select(is_pole(z), {z.re(0.0), z.re(0.0)}, {value.re, select(z.im == 0.0, z.im, value.im)});
    return select(is_nan(z), none(z), defined);
}

Complex complex_digamma(ComplexArgs a) {
    const Complex z = a[0], up = upper(z);
    const Expr left = z.re < 0.5;
    const Complex right{select(left, 1.0 - z.re, z.re), up.im};
    const Range range = range_of(z.re);
    const Expr low = right.re < 1.5;
    const Complex t{right.re - select(low, z.re(1.0), z.re(2.0)), up.im};
    const Complex positive = branch(
        norm(t) < 0.5625,
        [&] {
            std::vector<double> c{1 - std::numbers::egamma};
            for (int k = 2; k <= (z.re.single() ? 18 : 40); ++k) c.push_back((k % 2 ? -1 : 1) * zeta_less_one(k));
            const Complex above = polynomial(t, c);
            return select(low, above - inverse(right), above);
        },
        [&] {
            const Expr far = (abs(right.re) >= range.far) | (abs(right.im) >= range.far);
            std::vector<double> c;
            for (int k = 1; k <= range.terms; ++k) c.push_back(bernoulli[k - 1] / (2 * k));
            const Complex moved = select(far, right, right + range.steps);
            const Expr huge = (abs(right.re) > z.re.pick(1e9, 1e100)) | (abs(right.im) > z.re.pick(1e9, 1e100));
            const Complex w = select(huge, {z.re(0.0), z.re(0.0)}, inverse(moved)), v = w * w;
            const Complex value = log(moved) - (v * polynomial(v, c) + w * 0.5);
            return replace(value, !far, [&] {
                Complex sum = inverse(right + (range.steps - 1));
                for (int n = range.steps - 2; n >= 0; --n) sum = sum + inverse(right + n);
                return value - sum;
            });
        });
    const Complex value = replace(positive, left, [&] { return conj(positive) - Reflection(up).cotangent(); });
    const Complex defined = mirrored(value, z.im);
    return select(is_pole(z) | is_nan(z), none(z), {defined.re, select(z.im == 0.0, z.im, defined.im)});
}

}  // namespace pardo::ir::math
