// src/ir/math/complex/complex.cpp: polynomials of complex numbers, and compositions of logarithms.
#include "ir/math/complex/complex.h"

namespace pardo::ir::math {

Complex polynomial(Complex z, std::span<const double> c) {
    const Expr twice = z.re + z.re, square = norm(z);
    Expr next = z.re(0.0), sum = z.re(c.back());
    for (std::size_t k = c.size() - 1; k-- > 1;) {
        const Expr before = next;
        next = sum;
        sum = fma(twice, sum, fma(-square, before, c[k]));
    }
    return {fma(z.re, sum, fma(-square, next, c[0])), z.im * sum};
}

namespace {

/// x log, but zero where the factor in front is, unless the other is NaN.
Complex times_logarithm(Complex x, Complex y, Complex logarithm) {
    const Expr vanishes = (x.re == 0.0) & (x.im == 0.0) & !is_nan(y);
    return select(vanishes, Complex{x.re(0.0), x.re(0.0)}, multiply(x, logarithm));
}

}  // namespace

Complex complex_xlogy(ComplexArgs a) { return times_logarithm(a[0], a[1], log(a[1])); }
Complex complex_xlog1py(ComplexArgs a) { return times_logarithm(a[0], a[1], log1p(a[1])); }

}  // namespace pardo::ir::math
