// src/ir/math/roots.cpp: hypot and cube roots. A constant minus a third of the bits of x is q, an estimate of x^(-1/3) within 3.5 %. A
// polynomial of h = 1 - x q^3 (|h| < 0.103; minimax, made for this file) corrects q to 2^-18 or 2^-23, and of doubles a step of Newton's
// method to 2^-45. The root is c = x q^2 after one more step of Newton's, for which x - c^3 is computed in twice the precision: its error
// is hardly more than that of one rounding.
#include "ir/math/recipes.h"
#include "ir/math/terms.h"

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

constexpr double root_of_float[] = {0.99999800940665, 0.3333288200991188, 0.22374022329874266, 0.17448539477957362};
constexpr double root_of_double[] = {1.000000004459333, 0.3333290142109589, 0.22221518742767377, 0.17448608504927668, 0.14578159782403358};
constexpr std::int64_t float_start = 0x54a1f800, double_start = 0x553ee800;  // of doubles the upper half
constexpr std::int64_t two_52 = 0x4330000000000000;                          // as bits

/// q for floats: the third of the bits as a float is a whole number.
Expr start_of_float(Expr a) {
    const Expr bits = bitcast(a, DType::Int32), third = cast(bits, DType::Float32) * (1.0 / 3);
    return bitcast(bits.whole(float_start) - cast(third, DType::Int32), DType::Float32);
}

/// 2^52 + the upper half is a double; its third ends in the low bits of what is near 1.5 * 2^52.
Expr start_of_double(Expr a) {
    const Expr bits = bitcast(a, DType::UInt64), upper = (bits >> bits.whole(32)) | bits.whole(two_52);
    const Expr third = fma(bitcast(upper, DType::Float64), 1.0 / 3, whole_shifter - 0x1p52 / 3);
    return bitcast(bits.whole(double_start << 32) - (bitcast(third, DType::UInt64) << bits.whole(32)), DType::Float64);
}

}  // namespace

Expr cbrt(Args v) {
    const Expr x = v[0], size = abs(x);
    const bool single = x.single();
    // Small numbers, of which rests would be subnormal, are scaled by a third power.
    const Expr low = size < x.pick(0x1p-90, 0x1p-700), a = select(low, size * x.pick(0x1p48, 0x1p300), size);
    const auto defect = [a](Expr q) { return less_product(a(1.0), a * q, q * q); };
    Expr q = single ? start_of_float(a) : start_of_double(a);
    q = q * (single ? horner(defect(q), root_of_float) : horner(defect(q), root_of_double));
    if (!single) q = fma(q * (1.0 / 3), defect(q), q);
    const Expr square = q * q, c = a * square, c2 = c * c;
    const Expr rest = less_product(less_product(a, c, c2), c, fma(c, c, -c2));
    Expr root = fma(square * (1.0 / 3), rest, c);
    root = call(Math::copysign, select(low, root * x.pick(0x1p-16, 0x1p-100), root), x);
    return select((size < size.infinity()) & (size > 0.0), root, x);
}

}  // namespace pardo::ir::math
