// src/ir/math/complex/integrals.cpp: exponential integrals of complex numbers.
// E1 in the upper half-plane, whose mirror image the lower one is: about -1 the series -gamma - log z - sum of (-z)^k / (k k!), which does
// not cancel there; elsewhere e^-z times a sum of partial fractions (make_tables.py). Ei(z) is -E1(-z) and half a turn, and on its cut, the
// negative axis, the mean of both sides, which is real.
#include <numbers>
#include <vector>

#include "ir/math/complex/complex.h"
#include "ir/math/complex/tables.h"

namespace pardo::ir::math {
namespace {

/// f e^z, where e^z overflows before the product does.
Complex with_exponential(Complex z, Complex f) {
    const Expr half = exp(0.5 * z.re);
    const Complex rotation{cos(z.im), sin(z.im)};
    return f * rotation * half * half;
}

/// The sum of partial fractions; 1 / z far away.
Complex scaled_e1(Complex z) {
    const std::span<const Fraction> fractions = z.re.single() ? std::span<const Fraction>(scaled_e1_32) : scaled_e1_64;
    Complex sum{z.re(0.0), z.re(0.0)};
    for (const Fraction& f : fractions) {
        const Expr x = z.re - f.pole_re, y = z.im - f.pole_im, n = 1.0 / fma(x, x, y * y);
        sum = {fma(n, fma(x, f.re, y * f.im), sum.re), fma(n, fma(x, f.im, y * -f.re), sum.im)};
    }
    const Expr far = (abs(z.re) > z.re.pick(1e9, 1e18)) | (abs(z.im) > z.re.pick(1e9, 1e18));
    return select(far, divide({z.re(1.0), z.re(0.0)}, z), sum);
}

/// E1(z) for Im z >= 0, where 0 is above the branch cut.
Complex upper_e1(Complex z) {
    const Complex from_center = z + 1.0;
    const Complex value = branch(
        norm(from_center) < 1.7 * 1.7,
        [&] {
            std::vector<double> c;
            double factorial = 1;
            for (int k = 1; k <= (z.re.single() ? 17 : 29); ++k) {
                factorial *= -k;
                c.push_back(1 / (k * factorial));
            }
            const Complex logarithm = log(z), rest = z * polynomial(z, c);
            return Complex{-std::numbers::egamma - logarithm.re - rest.re, -logarithm.im - rest.im};
        },
        [&] { return with_exponential(-z, scaled_e1(z)); });
    const Expr real = z.im == 0.0, cut = real & (z.re < 0.0);
    return {value.re, select(cut, -std::numbers::pi, select(real, -z.im, value.im))};
}

}  // namespace

Complex complex_exp1(ComplexArgs a) {
    const Complex z = a[0], value = upper_e1({z.re, abs(z.im)});
    return {value.re, value.im * copysign(z.re(1.0), z.im)};
}

Complex complex_expi(ComplexArgs a) {
    const Complex z = a[0], value = upper_e1({-z.re, abs(z.im)});
    const Complex defined{-value.re, select(z.im == 0.0, z.im, (value.im + std::numbers::pi) * copysign(z.re(1.0), z.im))};
    return select(is_nan(z), {z.re.nan(), z.re.nan()}, defined);
}

}  // namespace pardo::ir::math
