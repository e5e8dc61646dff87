// src/ir/passes/complex_math.h: functions of complex numbers as IR on their real and imaginary parts.
#pragma once

#include "ir/builder.h"

namespace pardo::ir {

/// Builds complex functions from real ones. No branches but in power; special values as C99's annex G and the array API want them.
class ComplexMath {
public:
    struct Z {
        Value re, im;
    };

    /// `real` is the parts' dtype.
    ComplexMath(Builder& builder, DType real) : m_(builder), t_(real) {}

    Z mul(Z a, Z b);
    /// Smith's algorithm, step for step as NumPy.
    Z div(Z a, Z b);
    /// The function that takes one operand, or pow with two; throws Internal for functions without a complex form.
    Z call(Math fn, Z a, Z b);
    /// NumPy's order: real parts, then imaginary ones; NaN wins.
    Z min_max(bool larger, Z a, Z b);
    Z select(Value condition, Z a, Z b) { return {m_.select(condition, a.re, b.re), m_.select(condition, a.im, b.im)}; }

private:
    struct Inverse {
        Value sine_re, cosine_re, im;  // of asin and acos for |x|, |y|; cosine_re for signed x
    };

    Z exp(Z a);
    Z expm1(Z a);
    Z log(Z a);
    Z log1p(Z a);
    Z sqrt(Z a);
    Z sinh(Z a);
    Z cosh(Z a);
    Z tanh(Z a);
    Z atanh(Z a);
    Z asin(Z a);
    Z acos(Z a);
    Z asinh(Z a);
    Z acosh(Z a);
    Z pow(Z a, Z b);
    Z integer_power(Z a, Value exponent);
    Inverse inverse(Z a);
    Value real_of_reciprocal(Value x, Value y);
    /// sinh(x) and cosh(x), both as a product of two factors, so that neither overflows before the sine or cosine is multiplied in.
    struct Hyperbolic {
        Value sinh, cosh, factor;
    };
    Hyperbolic hyperbolic(Value x);

    Z scaled(Z a, double factor) { return {mul(a.re, c(factor)), mul(a.im, c(factor))}; }
    /// i * a and -i * a.
    Z turned(Z a) { return {neg(a.im), a.re}; }
    Z turned_back(Z a) { return {a.im, neg(a.re)}; }

    Value c(double value) { return m_.constant(t_, value); }
    // In braces operands are made in their order; of a call's arguments compilers choose which comes first.
    struct Two {
        Value a, b;
    };
    struct Three {
        Value condition, a, b;
    };
    struct OfTwo {
        Math fn;
        Value a, b;
    };
    Value add(Two v) { return add(v.a, v.b); }
    Value sub(Two v) { return sub(v.a, v.b); }
    Value mul(Two v) { return mul(v.a, v.b); }
    Value div(Two v) { return div(v.a, v.b); }
    Value both(Two v) { return both(v.a, v.b); }
    Value either(Two v) { return either(v.a, v.b); }
    Value larger(Two v) { return m_.fmax(v.a, v.b); }
    Value pick(Three v) { return pick(v.condition, v.a, v.b); }
    Value f(OfTwo v) { return f(v.fn, v.a, v.b); }
    Value with_sign(Two v) { return with_sign(v.a, v.b); }

    Value add(Value a, Value b) { return m_.add(a, b); }
    Value sub(Value a, Value b) { return m_.sub(a, b); }
    Value mul(Value a, Value b) { return m_.mul(a, b); }
    Value div(Value a, Value b) { return m_.div(a, b); }
    Value neg(Value a) { return m_.neg(a); }
    Value abs(Value a) { return m_.abs(a); }
    Value f(Math fn, Value a) { return m_.call(fn, a); }
    Value f(Math fn, Value a, Value b) { return m_.call(fn, a, b); }
    Value pick(Value condition, Value a, Value b) { return m_.select(condition, a, b); }
    Value both(Value a, Value b) { return m_.bit_and(a, b); }
    Value either(Value a, Value b) { return m_.bit_or(a, b); }
    Value is_zero(Value a);
    Value is_inf(Value a);
    Value is_nan(Value a) { return m_.ne(a, a); }
    Value is_finite(Value a);
    /// |a| < limit.
    Value within(Value a, double limit);
    Value with_sign(Value magnitude, Value sign) { return f(Math::copysign, magnitude, sign); }

    Builder& m_;
    DType t_;
};

}  // namespace pardo::ir
