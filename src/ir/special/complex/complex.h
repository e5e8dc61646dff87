// src/ir/special/complex/complex.h: recipes of special functions of complex numbers, on their real and imaginary parts.
#pragma once

#include "ir/special/expr.h"

namespace pardo::ir::special {

struct Complex {
    Expr re, im;

    DType type() const { return re.type(); }
};
using ComplexArgs = std::span<const Complex>;
using ComplexFunction = Complex (*)(ComplexArgs);

/// The recipe of a function; null if there is none.
ComplexFunction complex_function(Math fn);

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
/// i a.
inline Complex turned(Complex a) { return {-a.im, a.re}; }
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

/// A function that ComplexMath has: exp, log, log1p.
Complex call(Math fn, Complex a);
Complex divide(Complex a, Complex b);
/// Real coefficients, lowest power first: two steps of one number each instead of products of complex ones (G. Goertzel, 1958).
Complex polynomial(Complex z, std::span<const double> coefficients);

// The functions by their rows.
#define COMPLEX(fn, name) Complex complex_##name(ComplexArgs z);
#include "ir/special/complex/functions.def"

}  // namespace pardo::ir::special
