// src/graph/recipes.cpp: the IR recipes of ops.def, and the words they are written in.
#include "graph/recipes.h"

#include <limits>
#include <numbers>
#include <vector>

#include "ir/math/expr.h"

namespace pardo::graph {
namespace {

using ir::Math;
using ir::math::Expr;

constexpr double degree = std::numbers::pi / 180.0;

/// The vocabulary of the recipe column: that of ir/math/expr.h, and what depends on the loop's dtype. The key of a kernel depends on the
/// order in which it is made: at most one side of an operator, and one argument of a call, makes a value.
class Recipe {
public:
    Recipe(ir::Builder& builder, DType loop, DType result) : m_(builder), loop_(loop), result_(result) {}

    Expr build(Op op, std::span<const ir::Value> operands);

private:
    // Constants: of the loop's dtype, of its real one, of any.
    Expr konst(double value) { return number(loop_, value); }
    Expr part(double value) { return number(real_of(loop_), value); }
    Expr number(DType t, double value) { return {&m_, m_.constant(t, value)}; }
    Expr boolean(bool value) { return {&m_, m_.boolean(value)}; }

    // Arithmetic.
    Expr sum_of(Expr x, Expr y) { return loop_ == DType::Bool ? x | y : x + y; }
    Expr product_of(Expr x, Expr y) { return loop_ == DType::Bool ? x & y : x * y; }
    Expr floored(Expr x, Expr y);
    Expr absolute(Expr x);
    Expr reciprocal(Expr x);
    Expr sign(Expr x);
    Expr complex_sign(Expr x);
    Expr maximum(Expr x, Expr y);
    Expr minimum(Expr x, Expr y);
    Expr fmaximum(Expr x, Expr y);
    Expr fminimum(Expr x, Expr y);
    Expr within(Expr x, Expr low, Expr high);
    /// The first where the condition holds or the number is NaN.
    Expr first_where(Expr condition, Expr number, Expr first, Expr second);
    Expr scaled(Expr x, double factor);
    Expr heaviside(Expr x, Expr at_zero);
    Expr rounded(Math fn, Expr x);

    // Divisors.
    Expr magnitude(Expr x);
    Expr divisor(Expr x, Expr y);
    Expr gcd(Expr x, Expr y);
    Expr lcm(Expr x, Expr y);

    // Tests.
    Expr no_number(Expr x);
    Expr signbit(Expr x);
    Expr isfinite(Expr x);
    Expr isinf(Expr x);
    Expr isnan(Expr x);
    Expr infinite(Expr x, int sign);
    Expr equal(Expr x, Expr y) { return loop_ == DType::Bool ? !(x ^ y) : x == y; }
    Expr not_equal(Expr x, Expr y) { return loop_ == DType::Bool ? x ^ y : x != y; }
    Expr less(Expr x, Expr y);
    Expr less_equal(Expr x, Expr y);
    Expr lexicographic(Expr x, Expr y, bool or_equal);

    // Complex parts.
    Expr real_part(Expr x) { return is_complex(loop_) ? real(x) : x; }
    Expr imaginary_part(Expr x) { return is_complex(loop_) ? imag(x) : konst(0.0); }
    Expr conjugate(Expr x);

    ir::Builder& m_;
    DType loop_, result_;
};

Expr Recipe::absolute(Expr x) {
    const DKind kind = kind_of(loop_);
    return kind == DKind::Bool || kind == DKind::Unsigned ? x : abs(x);
}

// The array API standard: with infinities the quotient itself, where Python and NumPy have NaN and -1.
Expr Recipe::floored(Expr x, Expr y) {
    const Expr floor = floor_div(x, y);
    if (!is_float(loop_)) return floor;
    const Expr x_infinite = isinf(x), y_infinite = isinf(y), infinite = x_infinite | y_infinite;
    return select(infinite, x / y, floor);
}

// Integers as NumPy: 1.0 / x in floats, then back (float32 is exact enough for what is -1, 0 or 1 after that), so that 1 / 0 is what the
// hardware's conversion of infinity gives. Complex numbers by Smith's method, as NumPy: divided through by the larger part.
Expr Recipe::reciprocal(Expr x) {
    if (is_integer(loop_)) {
        const Expr unit = number(DType::Float32, 1.0), single = cast(x, DType::Float32);
        return cast(unit / single, loop_);
    }
    if (!is_complex(loop_)) return 1.0 / x;
    const Expr re = real(x), im = imag(x), unit = part(1.0);
    const Expr im_size = abs(im), re_size = abs(re), flat = im_size <= re_size;
    const Expr large = select(flat, re, im), small = select(flat, im, re);
    const Expr ratio = small / large, scale = large + small * ratio;
    const Expr real = select(flat, unit, ratio) / scale, imaginary = -select(flat, ratio, unit) / scale;
    return complex(real, imaginary);
}

Expr Recipe::sign(Expr x) {
    if (is_complex(loop_)) return complex_sign(x);
    const Expr positive = x > 0.0, plus = konst(1.0), nil = konst(0.0);
    if (kind_of(loop_) == DKind::Unsigned) return select(positive, plus, nil);
    const Expr below = x < nil, minus = konst(-1.0), result = select(positive, plus, select(below, minus, nil));
    return is_float(loop_) ? select(no_number(x), x, result) : result;
}

// x / abs(x), with NumPy's choice at zero, infinity and NaN.
Expr Recipe::complex_sign(Expr x) {
    const Expr re = real(x), im = imag(x), size = abs(x), nil = part(0.0), unit = part(1.0);
    const Expr infinity = part(std::numeric_limits<double>::infinity()), nan = part(std::numeric_limits<double>::quiet_NaN());
    const Expr re_infinite = abs(re) == infinity, im_infinite = abs(im) == infinity;
    const Expr any_infinite = re_infinite | im_infinite, both = re_infinite & im_infinite;
    const Expr has_nan = size != size, finite = !any_infinite, undefined = both | (has_nan & finite), vanishes = size == nil;
    const auto component = [&](Expr v, Expr is_infinite) {
        const Expr at_infinity = select(is_infinite, call(Math::copysign, unit, v), nil);
        const Expr scaled = select(vanishes, nil, v / size);
        return select(undefined, nan, select(any_infinite, at_infinity, scaled));
    };
    const Expr real = component(re, re_infinite), imaginary = component(im, im_infinite);
    return complex(real, imaginary);
}

Expr Recipe::conjugate(Expr x) {
    if (!is_complex(loop_)) return x;
    const Expr re = real(x), im = imag(x);
    return complex(re, -im);
}

Expr Recipe::first_where(Expr condition, Expr number, Expr first, Expr second) {
    const Expr undefined = no_number(number);
    return select(condition | undefined, first, second);
}

// Of two zeros NumPy takes the first in float16, the second in float32 and float64.
Expr Recipe::maximum(Expr x, Expr y) {
    if (loop_ == DType::Bool) return x | y;
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(y, x), x, x, y);
    return max(x, y);
}

Expr Recipe::minimum(Expr x, Expr y) {
    if (loop_ == DType::Bool) return x & y;
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(x, y), x, x, y);
    return min(x, y);
}

Expr Recipe::fmaximum(Expr x, Expr y) {
    if (loop_ == DType::Bool) return x | y;
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(y, x), y, x, y);
    return fmax(x, y);
}

Expr Recipe::fminimum(Expr x, Expr y) {
    if (loop_ == DType::Bool) return x & y;
    if (loop_ == DType::Float16 || is_complex(loop_)) return first_where(less_equal(x, y), y, x, y);
    return fmin(x, y);
}

// As NumPy between two numbers: -0.0 and 0.0 are equal, so neither takes the other's place; a limit that is NaN gives NaN.
Expr Recipe::within(Expr x, Expr low, Expr high) {
    const Expr raised = first_where(x < low, low, low, x);
    return first_where(high < raised, high, high, raised);
}

// A narrow float multiplies in the wider one: it does not hold the factor.
Expr Recipe::scaled(Expr x, double factor) { return cast(cast(x, computed_in(loop_)) * factor, loop_); }

Expr Recipe::heaviside(Expr x, Expr at_zero) {
    const Expr nil = konst(0.0), unit = konst(1.0);
    const Expr negative = x < nil;
    const Expr vanishes = x == nil;
    const Expr positive = x > nil;
    return select(vanishes, at_zero, select(positive, unit, select(negative, nil, x)));  // NaN stays
}

Expr Recipe::rounded(Math fn, Expr x) {
    if (!is_complex(loop_)) return is_float(loop_) ? call(fn, x) : x;
    const Expr re = call(fn, real(x)), im = call(fn, imag(x));
    return complex(re, im);
}

// Of integers, unsigned and of 32 bits at least: that of the least one too.
Expr Recipe::magnitude(Expr x) {
    constexpr DType unsigneds[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
    const int size = itemsize(loop_), at = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return cast(cast(absolute(x), unsigneds[at]), size == 8 ? DType::UInt64 : DType::UInt32);
}

Expr Recipe::gcd(Expr x, Expr y) {
    const Expr a = magnitude(x), b = magnitude(y);
    return cast(divisor(a, b), loop_);
}

// Euclid's algorithm.
Expr Recipe::divisor(Expr x, Expr y) {
    return ir::math::loop(
        {x, y}, [](ir::math::Args v) { return v[1] != 0.0; },
        [](ir::math::Args v) {
            return std::vector<Expr>{v[1], v[0] % v[1]};
        })[0];
}

Expr Recipe::lcm(Expr x, Expr y) {
    const Expr a = magnitude(x), b = magnitude(y), d = divisor(a, b);
    return cast(floor_div(a, max(d, d(1.0))) * b, loop_);
}

Expr Recipe::no_number(Expr x) {
    if (!is_complex(loop_)) return x != x;
    const Expr re = real(x), im = imag(x), re_nan = re != re, im_nan = im != im;
    return re_nan | im_nan;
}

Expr Recipe::isnan(Expr x) { return is_inexact(loop_) ? no_number(x) : boolean(false); }

Expr Recipe::isinf(Expr x) {
    if (!is_inexact(loop_)) return boolean(false);
    const Expr infinity = part(std::numeric_limits<double>::infinity());
    if (is_float(loop_)) return abs(x) == infinity;
    const Expr re = abs(real(x)) == infinity, im = abs(imag(x)) == infinity;
    return re | im;
}

Expr Recipe::isfinite(Expr x) {
    if (!is_inexact(loop_)) return boolean(true);
    const Expr infinity = part(std::numeric_limits<double>::infinity());
    if (is_float(loop_)) return abs(x) < infinity;
    const Expr re = abs(real(x)) < infinity, im = abs(imag(x)) < infinity;
    return re & im;
}

Expr Recipe::infinite(Expr x, int sign) { return is_float(loop_) ? x == sign * std::numeric_limits<double>::infinity() : boolean(false); }

Expr Recipe::signbit(Expr x) {
    const DType bits = itemsize(loop_) == 2 ? DType::Int16 : itemsize(loop_) == 4 ? DType::Int32 : DType::Int64;
    return bitcast(x, bits) < 0.0;
}

Expr Recipe::less(Expr x, Expr y) {
    if (loop_ == DType::Bool) return (!x) & y;
    return is_complex(loop_) ? lexicographic(x, y, false) : x < y;
}

Expr Recipe::less_equal(Expr x, Expr y) {
    if (loop_ == DType::Bool) return (!x) | y;
    return is_complex(loop_) ? lexicographic(x, y, true) : x <= y;
}

// NumPy's order of complex numbers: real parts first; a NaN in either imaginary part makes it false.
Expr Recipe::lexicographic(Expr x, Expr y, bool or_equal) {
    const Expr xr = real(x), xi = imag(x), yr = real(y), yi = imag(y);
    const Expr x_known = xi == xi, y_known = yi == yi, ordered = x_known & y_known;
    const Expr equal = xr == yr, after = or_equal ? xi <= yi : xi < yi, tie = equal & after;
    const Expr before = (xr < yr) & ordered;
    return before | tie;
}

Expr Recipe::build(Op op, std::span<const ir::Value> operands) {
    const Expr a{&m_, operands[0]};
    const Expr b = operands.size() > 1 ? Expr{&m_, operands[1]} : ir::math::nothing;
    const Expr c = operands.size() > 2 ? Expr{&m_, operands[2]} : ir::math::nothing;
    const DType t = result_;
    switch (op) {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) \
    case Op::name:                                                                \
        return recipe;
#include "graph/ops.def"
#undef OP
    }
    return ir::math::nothing;
}

}  // namespace

ir::Value build_recipe(ir::Builder& builder, Op op, DType loop, DType result, std::span<const ir::Value> operands) {
    return Recipe(builder, loop, result).build(op, operands).v;
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
