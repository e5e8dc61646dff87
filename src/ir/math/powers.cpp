// src/ir/math/powers.cpp: powers of constant exponents, of integers, and of floats: 2^(y log2 x) in double precision, whose bits are enough
// for all exponents.
#include <limits>
#include <numbers>

#include "ir/math/recipes.h"
#include "ir/math/terms.h"

namespace pardo::ir::math {

namespace {

/// Null unless v is a constant.
const Scalar* constant_of(Expr v) {
    const Instr& in = v.m->kernel().instrs[v.m->kernel().values[v.v].def];
    return in.op == Opcode::Const ? &in.scalar() : nullptr;
}

}  // namespace

Expr pow_of_constant(Args v) {
    const Scalar* exponent = constant_of(v[1]);
    if (!exponent) return nothing;
    const double n = exponent->f;
    if (n == 0) return v[0](1.0);
    if (n == 1) return v[0];
    if (n == 2) return v[0] * v[0];
    if (n == -1) return 1.0 / v[0];
    return nothing;
}

namespace {

constexpr double far_exponent = 300;  // of two: beyond, and within what doubles have

/// Of normal x above 0 and finite y.
Expr power_for_floats(Expr x, Expr y) {
    const SplitLog parts = split_for_log(cast(x, DType::Float64));
    const Expr s = quotient_for_floats(parts.f, parts.f + 2.0);
    const Expr log2 = fma(s * std::numbers::log2e, horner(s * s, log_of_float), parts.k);
    const auto within = [](Expr v) { return select(v(far_exponent) < v, far_exponent, v); };
    const Expr exponent = -within(-within(cast(y, DType::Float64) * log2)), shifted = exponent + whole_shifter;
    const Expr r = (exponent - (shifted - whole_shifter)) * std::numbers::ln2, scale = power_of_two(shifted, bits_of_one);
    return cast(fma(scale * r, horner(r, expm1_of_float), scale), DType::Float32);
}

}  // namespace

// Of negative numbers there are whole powers alone, odd ones negative.
Expr pow_of_floats(Args v) {
    const Expr x = v[0], y = v[1], power = power_for_floats(abs(x), y);
    const auto is_whole = [](Expr a) { return call(Math::trunc, a) == a; };
    const Expr odd = !is_whole(y * 0.5), of_negative = select(is_whole(y), select(odd, -power, power), x.nan());
    return select(x < 0.0, of_negative, power);
}

Expr is_no_plain_power(Args v) {
    const Expr size = abs(v[0]), odd_base = (!(size >= std::numeric_limits<float>::min())) | (size == size.infinity());
    return odd_base | !(abs(v[1]) < v[1].infinity());
}

Expr pow_of_integers(Args v) {
    const bool is_signed = kind_of(v[0].type()) == DKind::Signed;
    const Expr x = v[0], zero = x(0.0), one = x(1.0);
    const Expr negative = is_signed ? v[1] < zero : Expr{x.m, x.m->boolean(false)}, size = select(negative, zero, v[1]);
    Expr result = one;
    if (const Scalar* exponent = constant_of(size)) {
        Expr square = x;
        for (std::uint64_t n = exponent->u; n != 0; n >>= 1) {
            if (n & 1) result = result * square;
            if (n > 1) square = square * square;
        }
    } else {
        result = loop(
            {one, x, size}, [&](Args c) { return c[2] != zero; },
            [&](Args c) {
                const Expr odd = (c[2] & one) != zero;
                return std::vector<Expr>{select(odd, c[0] * c[1], c[0]), c[1] * c[1], c[2] >> one};
            })[0];
    }
    if (!is_signed) return result;
    const Expr odd = (v[1] & one) != zero, is_one = x == one, is_minus = x == -1.0, sign = select(odd, -1.0, one);
    return select(negative, select(is_one, one, select(is_minus, sign, zero)), result);
}

}  // namespace pardo::ir::math
