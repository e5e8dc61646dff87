// src/ir/math/complex/complex.h: recipes of complex numbers, on their real and imaginary parts.
// This folder: arithmetic and elementary functions, and special functions, one file a family; make_tables.py fits what one of them
// approximates with.
#pragma once

#include "ir/math/expr.h"

namespace pardo::ir::math {

struct Complex {
    Expr re, im;

    DType type() const { return re.type(); }
};
using ComplexArgs = std::span<const Complex>;

inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator-(Complex a) { return {-a.re, -a.im}; }
inline Complex operator+(Complex a, Expr b) { return {a.re + b, a.im}; }
inline Complex operator-(Expr a, Complex b) { return {a - b.re, -b.im}; }
inline Complex operator*(Complex a, Expr b) { return {a.re * b, a.im * b}; }
inline Complex operator+(Complex a, double b) { return {a.re + b, a.im}; }
inline Complex operator-(Complex a, double b) { return {a.re - b, a.im}; }
inline Complex operator-(double a, Complex b) { return {a - b.re, -b.im}; }
inline Complex operator*(Complex a, double b) { return {a.re * b, a.im * b}; }
inline Complex operator*(Complex a, Complex b) { return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)}; }
inline Complex conj(Complex a) { return {a.re, -a.im}; }
/// i a and -i a.
inline Complex turned(Complex a) { return {-a.im, a.re}; }
inline Complex turned_back(Complex a) { return {a.im, -a.re}; }
/// The square of the modulus.
inline Expr norm(Complex a) { return fma(a.re, a.re, a.im * a.im); }
/// Of numbers whose squares are numbers.
inline Complex inverse(Complex a) {
    const Expr n = 1.0 / norm(a);
    return {a.re * n, -a.im * n};
}
inline Complex select(Expr condition, Complex a, Complex b) { return {select(condition, a.re, b.re), select(condition, a.im, b.im)}; }
inline Expr is_nan(Complex a) { return is_nan(a.re) | is_nan(a.im); }
inline Expr is_infinite(Complex a) { return is_infinite(a.re) | is_infinite(a.im); }

inline Complex branch(Expr condition, const std::function<Complex()>& yes, const std::function<Complex()>& no) {
    Builder* m = condition.m;
    const auto side = [](const std::function<Complex()>& f) {
        return [&f] {
            const Complex z = f();
            return Builder::Values{z.re.v, z.im.v};
        };
    };
    const Builder::Values values = m->if_else(condition.v, side(yes), side(no));
    return {{m, values[0]}, {m, values[1]}};
}
inline Complex replace(Complex value, Expr condition, const std::function<Complex()>& yes) {
    return branch(condition, yes, [value] { return value; });
}

/// The plain product; operator* has fma.
Complex multiply(Complex a, Complex b);
/// Smith's algorithm, step for step as NumPy.
Complex divide(Complex a, Complex b);
/// NumPy's order: real parts, then imaginary ones; NaN wins.
Complex extreme(bool larger, Complex a, Complex b);
/// Real coefficients, lowest power first: two steps of one number each instead of products of complex ones (G. Goertzel, 1958).
Complex polynomial(Complex z, std::span<const double> coefficients);

// Elementary functions.
Complex exp(Complex z);
Complex exp2(Complex z);
Complex expm1(Complex z);
Complex log(Complex z);
Complex log2(Complex z);
Complex log10(Complex z);
Complex log1p(Complex z);
Complex sqrt(Complex z);
Complex sin(Complex z);
Complex cos(Complex z);
Complex tan(Complex z);
Complex asin(Complex z);
Complex acos(Complex z);
Complex atan(Complex z);
Complex sinh(Complex z);
Complex cosh(Complex z);
Complex tanh(Complex z);
Complex asinh(Complex z);
Complex acosh(Complex z);
Complex atanh(Complex z);
Complex pow(Complex z, Complex exponent);

// Special functions.
#define COMPLEX(fn, name, ulp) Complex complex_##name(ComplexArgs z);
#include "ir/math/complex/functions.def"

}  // namespace pardo::ir::math
