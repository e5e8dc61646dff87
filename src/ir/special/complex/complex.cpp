// src/ir/special/complex/complex.cpp: which functions have a complex form, what their recipes share, and compositions of logarithms.
#include "ir/special/complex/complex.h"

#include "ir/passes/complex_math.h"

namespace pardo::ir::special {
namespace {

ComplexMath math_of(Complex z) { return {*z.re.m, z.type()}; }
ComplexMath::Z parts(Complex z) { return {z.re.v, z.im.v}; }
Complex of_parts(Builder* m, ComplexMath::Z z) { return {{m, z.re}, {m, z.im}}; }

struct Row {
    Math fn;
    ComplexFunction recipe;
};
constexpr Row rows[] = {
#define COMPLEX(fn, name) {Math::fn, complex_##name},
#include "ir/special/complex/functions.def"
};

}  // namespace

ComplexFunction complex_function(Math fn) {
    for (const Row& row : rows)
        if (row.fn == fn) return row.recipe;
    return nullptr;
}

Complex call(Math fn, Complex a) { return of_parts(a.re.m, math_of(a).call(fn, parts(a), parts(a))); }

Complex divide(Complex a, Complex b) { return of_parts(a.re.m, math_of(a).div(parts(a), parts(b))); }

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
Complex product(Complex x, Complex y, Complex logarithm) {
    const Expr vanishes = (x.re == 0.0) & (x.im == 0.0) & !is_nan(y);
    return select(vanishes, Complex{x.re(0.0), x.re(0.0)}, of_parts(x.re.m, math_of(x).mul(parts(x), parts(logarithm))));
}

}  // namespace

Complex complex_xlogy(ComplexArgs a) { return product(a[0], a[1], call(Math::log, a[1])); }
Complex complex_xlog1py(ComplexArgs a) { return product(a[0], a[1], call(Math::log1p, a[1])); }

}  // namespace pardo::ir::special
