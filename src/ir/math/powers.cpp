// src/ir/math/powers.cpp: lengths, powers of constant exponents and of integers.
#include "ir/math/recipes.h"

namespace pardo::ir::math {

// Scaled by a power of two where squares would overflow or lose bits; infinite if one operand is, whatever the other.
Expr hypot(Args v) {
    const bool single = v[0].single();
    const double far = single ? 0x1p62 : 0x1p510, tiny = single ? 0x1p-50 : 0x1p-450, step = single ? 0x1p-90 : 0x1p-600;
    const Expr a = abs(v[0]), b = abs(v[1]), high = fmax(a, b), large = high > far, small = high < tiny;
    const Expr scale = select(large, step, select(small, 1 / step, high(1.0)));
    const Expr unscale = select(large, 1 / step, select(small, step, high(1.0)));
    const Expr x = a * scale, y = b * scale, length = call(Math::sqrt, fma(x, x, y * y)) * unscale;
    return select(high == high.infinity(), high.infinity(), length);
}

namespace {

/// Null unless v is a constant.
const Scalar* constant_of(Expr v) {
    const Instr& in = v.m->kernel().instrs[v.m->kernel().values[v.v].def];
    return in.op == Opcode::Const ? &in.scalar : nullptr;
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
