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
    Value scaled(Value x, double factor);
    Value heaviside(Value x, Value at_zero);
    Value rounded(Math fn, Value x);
    Value nextafter(Value from, Value to);
    Value half_nextafter(Value from, Value to);

    // Divisors.
    Value magnitude(Value x);
    Value divisor(Value x, Value y);
    Value gcd(Value x, Value y) { return m_.cast(divisor(magnitude(x), magnitude(y)), loop_); }
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
    Value conjugate(Value x) { return is_complex(loop_) ? m_.complex(m_.real(x), m_.neg(m_.imag(x))) : x; }

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
    return is_float(loop_) ? select(bit_or(isinf(x), isinf(y)), m_.div(x, y), floor) : floor;
}

// Integers as NumPy: 1.0 / x in floats, then back (float32 is exact enough for what is -1, 0 or 1 after that), so that 1 / 0 is what the
// hardware's conversion of infinity gives. Complex numbers by Smith's method, as NumPy: divided through by the larger part.
Value Recipe::reciprocal(Value x) {
    if (is_integer(loop_)) return m_.cast(m_.div(m_.constant(DType::Float32, 1.0), m_.cast(x, DType::Float32)), loop_);
    if (!is_complex(loop_)) return m_.div(one(), x);
    const Value re = m_.real(x), im = m_.imag(x), unit = part(1.0);
    const Value flat = m_.le(m_.abs(im), m_.abs(re));
    const Value large = select(flat, re, im), small = select(flat, im, re);
    const Value ratio = m_.div(small, large), scale = m_.add(large, m_.mul(small, ratio));
    return m_.complex(m_.div(select(flat, unit, ratio), scale), m_.div(m_.neg(select(flat, ratio, unit)), scale));
}

Value Recipe::sign(Value x) {
    if (is_complex(loop_)) return complex_sign(x);
    const Value positive = m_.gt(x, zero());
    if (kind_of(loop_) == DKind::Unsigned) return select(positive, one(), zero());
    const Value negative = select(m_.lt(x, zero()), konst(-1.0), zero());
    const Value result = select(positive, one(), negative);
    return is_float(loop_) ? select(is_nan(x), x, result) : result;
}

// x / abs(x), with NumPy's choice at zero, infinity and NaN.
Value Recipe::complex_sign(Value x) {
    const Value re = m_.real(x), im = m_.imag(x), size = m_.abs(x), nil = part(0.0), unit = part(1.0);
    const Value infinity = part(std::numeric_limits<double>::infinity()), nan = part(std::numeric_limits<double>::quiet_NaN());
    const Value re_infinite = m_.eq(m_.abs(re), infinity), im_infinite = m_.eq(m_.abs(im), infinity);
    const Value any_infinite = bit_or(re_infinite, im_infinite), both = bit_and(re_infinite, im_infinite);
    const Value undefined = bit_or(both, bit_and(m_.ne(size, size), bit_not(any_infinite)));
    const Value vanishes = m_.eq(size, nil);
    auto component = [&](Value v, Value is_infinite) {
        const Value at_infinity = select(is_infinite, m_.call(Math::copysign, unit, v), nil);
        const Value finite = select(vanishes, nil, m_.div(v, size));
        return select(undefined, nan, select(any_infinite, at_infinity, finite));
    };
    return m_.complex(component(re, re_infinite), component(im, im_infinite));
}

// Of two zeros NumPy takes the first in float16, the second in float32 and float64.
Value Recipe::maximum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_or(x, y);
    if (loop_ == DType::Float16) return select(bit_or(m_.le(y, x), is_nan(x)), x, y);
    if (!is_complex(loop_)) return m_.max(x, y);
    return select(bit_or(lexicographic(y, x, true), is_nan(x)), x, y);
}

Value Recipe::minimum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_and(x, y);
    if (loop_ == DType::Float16) return select(bit_or(m_.le(x, y), is_nan(x)), x, y);
    if (!is_complex(loop_)) return m_.min(x, y);
    return select(bit_or(lexicographic(x, y, true), is_nan(x)), x, y);
}

Value Recipe::fmaximum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_or(x, y);
    if (loop_ == DType::Float16) return select(bit_or(m_.le(y, x), is_nan(y)), x, y);
    if (!is_complex(loop_)) return m_.fmax(x, y);
    return select(bit_or(lexicographic(y, x, true), is_nan(y)), x, y);
}

Value Recipe::fminimum(Value x, Value y) {
    if (loop_ == DType::Bool) return bit_and(x, y);
    if (loop_ == DType::Float16) return select(bit_or(m_.le(x, y), is_nan(y)), x, y);
    if (!is_complex(loop_)) return m_.fmin(x, y);
    return select(bit_or(lexicographic(x, y, true), is_nan(y)), x, y);
}

// As NumPy between two numbers: -0.0 and 0.0 are equal, so neither takes the other's place; a limit that is NaN gives NaN.
Value Recipe::within(Value x, Value low, Value high) {
    const Value raised = select(bit_or(m_.lt(x, low), is_nan(low)), low, x);
    return select(bit_or(m_.lt(high, raised), is_nan(high)), high, raised);
}

// float16 multiplies in float32: the factor has no exact half.
Value Recipe::scaled(Value x, double factor) {
    if (loop_ != DType::Float16) return m_.mul(x, konst(factor));
    return m_.cast(m_.mul(m_.cast(x, DType::Float32), m_.constant(DType::Float32, factor)), DType::Float16);
}

Value Recipe::heaviside(Value x, Value at_zero) {
    const Value below = select(m_.lt(x, zero()), zero(), x);  // NaN stays
    return select(m_.eq(x, zero()), at_zero, select(m_.gt(x, zero()), one(), below));
}

Value Recipe::rounded(Math fn, Value x) {
    if (is_complex(loop_)) return m_.complex(m_.call(fn, m_.real(x)), m_.call(fn, m_.imag(x)));
    return is_float(loop_) ? m_.call(fn, x) : x;
}

Value Recipe::nextafter(Value from, Value to) {
    return loop_ == DType::Float16 ? half_nextafter(from, to) : m_.call(Math::nextafter, from, to);
}

// Neighbours of halves are neighbours as integers, away from zero going up.
Value Recipe::half_nextafter(Value from, Value to) {
    const DType bits = DType::UInt16;
    const Value image = m_.bitcast(from, bits), one_bit = m_.constant(bits, 1.0);
    const Value up = m_.lt(from, to), outward = m_.bit_xor(up, m_.lt(from, zero()));
    const Value stepped = select(outward, m_.add(image, one_bit), m_.sub(image, one_bit));
    const Value sign_bits = m_.bit_and(m_.bitcast(to, bits), m_.constant(bits, 32768.0));
    const Value moved = select(m_.eq(from, zero()), m_.bit_or(sign_bits, one_bit), stepped);
    const Value ordered = select(m_.eq(from, to), from, m_.bitcast(moved, DType::Float16));
    return select(is_nan(from), from, select(is_nan(to), to, ordered));
}

// Of integers, unsigned and of 32 bits at least: that of the least one too.
Value Recipe::magnitude(Value x) {
    constexpr DType unsigneds[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
    const int size = itemsize(loop_), at = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return cast(cast(absolute(x), unsigneds[at]), size == 8 ? DType::UInt64 : DType::UInt32);
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
        return bit_or(m_.ne(re, re), m_.ne(im, im));
    }
    return m_.ne(x, x);
}

Value Recipe::isnan(Value x) { return is_inexact(loop_) ? is_nan(x) : m_.boolean(false); }

Value Recipe::isinf(Value x) {
    if (!is_inexact(loop_)) return m_.boolean(false);
    const Value infinity = part(std::numeric_limits<double>::infinity());
    if (is_float(loop_)) return m_.eq(m_.abs(x), infinity);
    return bit_or(m_.eq(m_.abs(m_.real(x)), infinity), m_.eq(m_.abs(m_.imag(x)), infinity));
}

Value Recipe::isfinite(Value x) {
    if (!is_inexact(loop_)) return m_.boolean(true);
    const Value infinity = part(std::numeric_limits<double>::infinity());
    if (is_float(loop_)) return m_.lt(m_.abs(x), infinity);
    return bit_and(m_.lt(m_.abs(m_.real(x)), infinity), m_.lt(m_.abs(m_.imag(x)), infinity));
}

Value Recipe::infinite(Value x, int sign) {
    if (!is_float(loop_)) return m_.boolean(false);
    return m_.eq(x, konst(sign * std::numeric_limits<double>::infinity()));
}

Value Recipe::signbit(Value x) {
    const DType bits = loop_ == DType::Float16 ? DType::Int16 : loop_ == DType::Float32 ? DType::Int32 : DType::Int64;
    return m_.lt(m_.bitcast(x, bits), m_.constant(bits, 0.0));
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
    const Value ordered = bit_and(m_.eq(xi, xi), m_.eq(yi, yi));
    const Value tie = bit_and(m_.eq(xr, yr), or_equal ? m_.le(xi, yi) : m_.lt(xi, yi));
    return bit_or(bit_and(m_.lt(xr, yr), ordered), tie);
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
