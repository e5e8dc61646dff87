// src/graph/recipes.cpp: the IR recipes of ops.def, and the words they are written in.
#include "graph/recipes.h"

#include <limits>
#include <numbers>

namespace pardo::graph {
namespace {

using ir::Builder;
using ir::Math;
using ir::Value;

constexpr double degree = std::numbers::pi / 180.0;

/// The vocabulary of the recipe column: Builder's methods, and what takes more than one of them.
class Recipe {
public:
    Recipe(Builder& builder, DType loop, DType result) : m_(builder), loop_(loop), result_(result) {}

    Value build(Op op, std::span<const Value> operands);

private:
    // Builder's own words.
    Value sub(Value x, Value y) { return m_.sub(x, y); }
    Value mul(Value x, Value y) { return loop_ == DType::Bool ? m_.bit_and(x, y) : m_.mul(x, y); }
    Value div(Value x, Value y) { return m_.div(x, y); }
    Value rem(Value x, Value y) { return m_.rem(x, y); }
    Value fmod(Value x, Value y) { return m_.fmod(x, y); }
    Value neg(Value x) { return m_.neg(x); }
    Value bit_and(Value x, Value y) { return m_.bit_and(x, y); }
    Value bit_or(Value x, Value y) { return m_.bit_or(x, y); }
    Value bit_xor(Value x, Value y) { return m_.bit_xor(x, y); }
    Value bit_not(Value x) { return m_.bit_not(x); }
    Value shl(Value x, Value y) { return m_.shl(x, y); }
    Value shr(Value x, Value y) { return m_.shr(x, y); }
    Value select(Value condition, Value x, Value y) { return m_.select(condition, x, y); }
    Value cast(Value x, DType to) { return m_.type(x) == to ? x : m_.cast(x, to); }
    Value call(Math fn, Value x) { return m_.call(fn, x); }
    Value call(Math fn, Value x, Value y) { return m_.call(fn, x, y); }
    Value call(Math fn, Value x, Value y, Value z) {
        const Value operands[] = {x, y, z};
        return m_.call(fn, operands);
    }
    Value complex(Value re, Value im) { return m_.complex(re, im); }

    // Constants of the loop's dtype.
    Value konst(double value) { return m_.constant(loop_, value); }
    Value zero() { return konst(0.0); }
    Value one() { return konst(1.0); }
    Value part(double value) { return m_.constant(real_of(loop_), value); }

    // Arithmetic.
    Value sum_of(Value x, Value y) { return loop_ == DType::Bool ? m_.bit_or(x, y) : m_.add(x, y); }
    Value product_of(Value x, Value y) { return mul(x, y); }
    Value floored(Value x, Value y);
    Value power(Value x, Value y) { return m_.call(Math::pow, x, y); }
    Value absolute(Value x);
    Value reciprocal(Value x);
    Value sign(Value x);
    Value complex_sign(Value x);
    Value maximum(Value x, Value y);
    Value minimum(Value x, Value y);
    Value fmaximum(Value x, Value y);
    Value fminimum(Value x, Value y);
    Value within(Value x, Value low, Value high);
    /// The first where the condition holds or the number is NaN.
    Value first_where(Value condition, Value number, Value first, Value second);
    Value scaled(Value x, double factor);
    Value heaviside(Value x, Value at_zero);
    Value rounded(Math fn, Value x);
    Value nextafter(Value from, Value to);
    Value half_nextafter(Value from, Value to);

    // Divisors.
    Value magnitude(Value x);
    Value divisor(Value x, Value y);
    Value gcd(Value x, Value y);
    Value lcm(Value x, Value y);

    // Tests.
    Value is_nan(Value x);
    Value signbit(Value x);
    Value isfinite(Value x);
    Value isinf(Value x);
    Value isnan(Value x);
    Value infinite(Value x, int sign);
    Value equal(Value x, Value y) { return loop_ == DType::Bool ? bit_not(bit_xor(x, y)) : m_.eq(x, y); }
    Value not_equal(Value x, Value y) { return loop_ == DType::Bool ? bit_xor(x, y) : m_.ne(x, y); }
    Value less(Value x, Value y);
    Value less_equal(Value x, Value y);
    Value lexicographic(Value x, Value y, bool or_equal);

    // Complex parts.
    Value real_part(Value x) { return is_complex(loop_) ? m_.real(x) : x; }
    Value imaginary_part(Value x) { return is_complex(loop_) ? m_.imag(x) : zero(); }
    Value conjugate(Value x);

    Builder& m_;
    DType loop_, result_;
};

Value Recipe::absolute(Value x) {
    const DKind kind = kind_of(loop_);
    return kind == DKind::Bool || kind == DKind::Unsigned ? x : m_.abs(x);
}

// The array API standard: with infinities the quotient itself, where Python and NumPy have NaN and -1.
Value Recipe::floored(Value x, Value y) {
    const Value floor = m_.floor_div(x, y);
    if (!is_float(loop_)) return floor;
    const Value x_infinite = isinf(x), y_infinite = isinf(y), infinite = bit_or(x_infinite, y_infinite);
    return select(infinite, m_.div(x, y), floor);
}

// Integers as NumPy: 1.0 / x in floats, then back (float32 is exact enough for what is -1, 0 or 1 after that), so that 1 / 0 is what the
// hardware's conversion of infinity gives. Complex numbers by Smith's method, as NumPy: divided through by the larger part.
Value Recipe::reciprocal(Value x) {
    if (is_integer(loop_)) {
        const Value unit = m_.constant(DType::Float32, 1.0), single = m_.cast(x, DType::Float32);
        return m_.cast(m_.div(unit, single), loop_);
    }
    if (!is_complex(loop_)) return m_.div(one(), x);
    const Value re = m_.real(x), im = m_.imag(x), unit = part(1.0);
    const Value im_size = m_.abs(im), re_size = m_.abs(re), flat = m_.le(im_size, re_size);
    const Value large = select(flat, re, im), small = select(flat, im, re);
    const Value ratio = m_.div(small, large), scale = m_.add(large, m_.mul(small, ratio));
    const Value real = m_.div(select(flat, unit, ratio), scale), imaginary = m_.div(m_.neg(select(flat, ratio, unit)), scale);
    return m_.complex(real, imaginary);
}

Value Recipe::sign(Value x) {
    if (is_complex(loop_)) return complex_sign(x);
    const Value positive = m_.gt(x, zero());
    const Value plus = one(), nil = zero();
    if (kind_of(loop_) == DKind::Unsigned) return select(positive, plus, nil);
    const Value below = m_.lt(x, nil), minus = konst(-1.0);
    const Value result = select(positive, plus, select(below, minus, nil));
    return is_float(loop_) ? select(is_nan(x), x, result) : result;
}

// x / abs(x), with NumPy's choice at zero, infinity and NaN.
Value Recipe::complex_sign(Value x) {
    const Value re = m_.real(x), im = m_.imag(x), size = m_.abs(x), nil = part(0.0), unit = part(1.0);
    const Value infinity = part(std::numeric_limits<double>::infinity()), nan = part(std::numeric_limits<double>::quiet_NaN());
    const Value re_infinite = m_.eq(m_.abs(re), infinity), im_infinite = m_.eq(m_.abs(im), infinity);
    const Value any_infinite = bit_or(re_infinite, im_infinite), both = bit_and(re_infinite, im_infinite);
    const Value has_nan = m_.ne(size, size), finite = bit_not(any_infinite), undefined = bit_or(both, bit_and(has_nan, finite));
    const Value vanishes = m_.eq(size, nil);
    auto component = [&](Value v, Value is_infinite) {
        const Value at_infinity = select(is_infinite, m_.call(Math::copysign, unit, v), nil);
        const Value scaled = select(vanishes, nil, m_.div(v, size));
        return select(undefined, nan, select(any_infinite, at_infinity, scaled));
    };
    const Value real = component(re, re_infinite), imaginary = component(im, im_infinite);
    return m_.complex(real, imaginary);
}

Value Recipe::conjugate(Value x) {
    if (!is_complex(loop_)) return x;
    const Value re = m_.real(x), im = m_.imag(x);
    return m_.complex(re, m_.neg(im));
}

Value Recipe::first_where(Value condition, Value number, Value first, Value second) {
    const Value no_number = is_nan(number);
    return select(bit_or(condition, no_number), first, second);
}

// Of two zeros NumPy takes the first in float16, the second in float32 and float64.
Value Recipe::maximum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_or(x, y);
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(y, x), x, x, y);
    return m_.max(x, y);
}

Value Recipe::minimum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_and(x, y);
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(x, y), x, x, y);
    return m_.min(x, y);
}

Value Recipe::fmaximum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_or(x, y);
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(y, x), y, x, y);
    return m_.fmax(x, y);
}

Value Recipe::fminimum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_and(x, y);
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(x, y), y, x, y);
    return m_.fmin(x, y);
}

// As NumPy between two numbers: -0.0 and 0.0 are equal, so neither takes the other's place; a limit that is NaN gives NaN.
Value Recipe::within(Value x, Value low, Value high) {
    const Value raised = first_where(m_.lt(x, low), low, low, x);
    return first_where(m_.lt(high, raised), high, high, raised);
}

// float16 multiplies in float32: the factor has no exact half.
Value Recipe::scaled(Value x, double factor) {
    if (loop_ != DType::Float16) return m_.mul(x, konst(factor));
    const Value single = m_.cast(x, DType::Float32), by = m_.constant(DType::Float32, factor);
    return m_.cast(m_.mul(single, by), DType::Float16);
}

Value Recipe::heaviside(Value x, Value at_zero) {
    const Value nil = zero(), unit = one(), negative = m_.lt(x, nil), vanishes = m_.eq(x, nil), positive = m_.gt(x, nil);
    return select(vanishes, at_zero, select(positive, unit, select(negative, nil, x)));  // NaN stays
}

Value Recipe::rounded(Math fn, Value x) {
    if (!is_complex(loop_)) return is_float(loop_) ? m_.call(fn, x) : x;
    const Value re = m_.call(fn, m_.real(x)), im = m_.call(fn, m_.imag(x));
    return m_.complex(re, im);
}

Value Recipe::nextafter(Value from, Value to) {
    return loop_ == DType::Float16 ? half_nextafter(from, to) : m_.call(Math::nextafter, from, to);
}

// Neighbours of halves are neighbours as integers, away from zero going up.
Value Recipe::half_nextafter(Value from, Value to) {
    const DType bits = DType::UInt16;
    const Value image = m_.bitcast(from, bits), one_bit = m_.constant(bits, 1.0);
    const Value nil = zero(), up = m_.lt(from, to), outward = m_.bit_xor(up, m_.lt(from, nil));
    const Value next = m_.add(image, one_bit), last = m_.sub(image, one_bit), stepped = select(outward, next, last);
    const Value target = m_.bitcast(to, bits), sign_bits = m_.bit_and(target, m_.constant(bits, 32768.0));
    const Value at_zero = m_.eq(from, nil), least = m_.bit_or(sign_bits, one_bit), moved = select(at_zero, least, stepped);
    const Value equal = m_.eq(from, to), ordered = select(equal, from, m_.bitcast(moved, DType::Float16));
    const Value from_nan = is_nan(from), to_nan = is_nan(to);
    return select(from_nan, from, select(to_nan, to, ordered));
}

// Of integers, unsigned and of 32 bits at least: that of the least one too.
Value Recipe::magnitude(Value x) {
    constexpr DType unsigneds[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
    const int size = itemsize(loop_), at = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return cast(cast(absolute(x), unsigneds[at]), size == 8 ? DType::UInt64 : DType::UInt32);
}

Value Recipe::gcd(Value x, Value y) {
    const Value a = magnitude(x), b = magnitude(y);
    return m_.cast(divisor(a, b), loop_);
}

// Euclid's algorithm.
Value Recipe::divisor(Value x, Value y) {
    const DType t = m_.type(x);
    const Value both[] = {x, y};
    const auto going = [&](std::span<const Value> v) { return m_.ne(v[1], m_.constant(t, 0.0)); };
    const auto step = [&](std::span<const Value> v) { return Builder::Values{v[1], m_.rem(v[0], v[1])}; };
    return m_.while_loop(both, going, step)[0];
}

Value Recipe::lcm(Value x, Value y) {
    const Value a = magnitude(x), b = magnitude(y), d = divisor(a, b);
    return m_.cast(m_.mul(m_.floor_div(a, m_.max(d, m_.constant(m_.type(d), 1.0))), b), loop_);
}

Value Recipe::is_nan(Value x) {
    if (is_complex(loop_)) {
        const Value re = m_.real(x), im = m_.imag(x);
        const Value re_nan = m_.ne(re, re), im_nan = m_.ne(im, im);
        return bit_or(re_nan, im_nan);
    }
    return m_.ne(x, x);
}

Value Recipe::isnan(Value x) { return is_inexact(loop_) ? is_nan(x) : m_.boolean(false); }

Value Recipe::isinf(Value x) {
    if (!is_inexact(loop_)) return m_.boolean(false);
    const Value infinity = part(std::numeric_limits<double>::infinity());
    if (is_float(loop_)) return m_.eq(m_.abs(x), infinity);
    const Value re = m_.eq(m_.abs(m_.real(x)), infinity), im = m_.eq(m_.abs(m_.imag(x)), infinity);
    return bit_or(re, im);
}

Value Recipe::isfinite(Value x) {
    if (!is_inexact(loop_)) return m_.boolean(true);
    const Value infinity = part(std::numeric_limits<double>::infinity());
    if (is_float(loop_)) return m_.lt(m_.abs(x), infinity);
    const Value re = m_.lt(m_.abs(m_.real(x)), infinity), im = m_.lt(m_.abs(m_.imag(x)), infinity);
    return bit_and(re, im);
}

Value Recipe::infinite(Value x, int sign) {
    if (!is_float(loop_)) return m_.boolean(false);
    return m_.eq(x, konst(sign * std::numeric_limits<double>::infinity()));
}

Value Recipe::signbit(Value x) {
    const DType bits = loop_ == DType::Float16 ? DType::Int16 : loop_ == DType::Float32 ? DType::Int32 : DType::Int64;
    const Value image = m_.bitcast(x, bits), nil = m_.constant(bits, 0.0);
    return m_.lt(image, nil);
}

Value Recipe::less(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_and(bit_not(x), y);
    return is_complex(loop_) ? lexicographic(x, y, false) : m_.lt(x, y);
}

Value Recipe::less_equal(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_or(bit_not(x), y);
    return is_complex(loop_) ? lexicographic(x, y, true) : m_.le(x, y);
}

// NumPy's order of complex numbers: real parts first; a NaN in either imaginary part makes it false.
Value Recipe::lexicographic(Value x, Value y, bool or_equal) {
    const Value xr = m_.real(x), xi = m_.imag(x), yr = m_.real(y), yi = m_.imag(y);
    const Value x_known = m_.eq(xi, xi), y_known = m_.eq(yi, yi), ordered = bit_and(x_known, y_known);
    const Value equal = m_.eq(xr, yr), after = or_equal ? m_.le(xi, yi) : m_.lt(xi, yi), tie = bit_and(equal, after);
    const Value before = bit_and(m_.lt(xr, yr), ordered);
    return bit_or(before, tie);
}

Value Recipe::build(Op op, std::span<const Value> operands) {
    const Value a = operands[0];
    const Value b = operands.size() > 1 ? operands[1] : ir::no_value;
    const Value c = operands.size() > 2 ? operands[2] : ir::no_value;
    const DType t = result_;
    switch (op) {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) \
    case Op::name:                                                                \
        return recipe;
#include "graph/ops.def"
#undef OP
    }
    return ir::no_value;
}

}  // namespace

ir::Value build_recipe(ir::Builder& builder, Op op, DType loop, DType result, std::span<const ir::Value> operands) {
    return Recipe(builder, loop, result).build(op, operands);
}

int op_cost(Op op) noexcept {
    constexpr std::uint8_t costs[] = {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) cost,
#include "graph/ops.def"
#undef OP
    };
    return costs[static_cast<int>(op)];
}

}  // namespace pardo::graph
