// src/ir/passes/math_recipes.cpp: hypot, logaddexp, powers in IR.
#include "ir/passes/math_recipes.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace pardo::ir {
namespace {

const Instr* constant_instr(const Builder& m, Value v) {
    const Instr& in = m.kernel().instrs[m.kernel().values[v].def];
    return in.op == Opcode::Const ? &in : nullptr;
}

/// high + log(1 + e^-|a - b|), exact for equal infinities.
Value log_of_sum(Builder& m, DType t, Value a, Value b, Math exp, double log_two, double unit) {
    const Value difference = m.sub(a, b), high = m.select(m.gt(a, b), a, b);
    const Value small = m.call(Math::log1p, m.call(exp, m.neg(m.abs(difference))));
    const Value sum = unit == 1.0 ? m.add(high, small) : m.fma(small, m.constant(t, unit), high);
    const Value equal = m.eq(a, b), doubled = m.add(a, m.constant(t, log_two));
    return m.select(equal, doubled, sum);
}

}  // namespace

// SLEEF's is infinite from 1e307 on; where 1 is negligible next to x, log(x) = log(x * 2^-n) + n * log(2).
Value expand_log1p(Builder& m, DType t, std::span<const Value> v) {
    const int n = t == DType::Float32 ? 30 : 250;
    const Value far = m.gt(v[0], m.constant(t, std::ldexp(1.0, 2 * n)));
    const Value scaled = m.mul(v[0], m.select(far, m.constant(t, std::ldexp(1.0, -n)), m.constant(t, 1.0)));
    const Value log = m.call(Math::log1p, scaled);
    return m.select(far, m.add(log, m.constant(t, n * std::numbers::ln2)), log);
}

Value expand_logaddexp(Builder& m, DType t, std::span<const Value> v) {
    return log_of_sum(m, t, v[0], v[1], Math::exp, std::numbers::ln2, 1.0);
}

Value expand_logaddexp2(Builder& m, DType t, std::span<const Value> v) {
    return log_of_sum(m, t, v[0], v[1], Math::exp2, 1.0, std::numbers::log2e);
}

// Scaled by a power of two where squares would overflow or lose bits; infinite if one operand is, whatever the other.
Value expand_hypot(Builder& m, DType t, std::span<const Value> v) {
    const bool single = t == DType::Float32;
    const Value a = m.abs(v[0]), b = m.abs(v[1]);
    const Value high = m.fmax(a, b), one = m.constant(t, 1.0);
    const double far = single ? 0x1p62 : 0x1p510, tiny = single ? 0x1p-50 : 0x1p-450, step = single ? 0x1p-90 : 0x1p-600;
    const Value large = m.gt(high, m.constant(t, far)), small = m.lt(high, m.constant(t, tiny));
    const Value scale = m.select(large, m.constant(t, step), m.select(small, m.constant(t, 1 / step), one));
    const Value unscale = m.select(large, m.constant(t, 1 / step), m.select(small, m.constant(t, step), one));
    const Value x = m.mul(a, scale), y = m.mul(b, scale);
    const Value length = m.mul(m.call(Math::sqrt, m.fma(x, x, m.mul(y, y))), unscale);
    const Value infinity = m.constant(t, std::numeric_limits<double>::infinity());
    return m.select(m.eq(high, infinity), infinity, length);
}

Value expand_pow(Builder& m, DType t, std::span<const Value> v) {
    const Instr* exponent = constant_instr(m, v[1]);
    if (!exponent) return no_value;
    const double n = exponent->scalar.f;
    if (n == 0) return m.constant(t, 1.0);
    if (n == 1) return v[0];
    if (n == 2) return m.mul(v[0], v[0]);
    if (n == -1) return m.div(m.constant(t, 1.0), v[0]);
    return no_value;
}

Value expand_integer_pow(Builder& m, DType t, std::span<const Value> v) {
    const bool is_signed = kind_of(t) == DKind::Signed;
    const Value zero = m.constant(t, 0.0), one = m.constant(t, 1.0);
    const Value negative = is_signed ? m.lt(v[1], zero) : m.boolean(false);
    const Value start[] = {one, v[0], m.select(negative, zero, v[1])};
    Value result = no_value;
    if (const Instr* exponent = constant_instr(m, start[2])) {
        result = one;
        Value square = v[0];
        for (std::uint64_t n = exponent->scalar.u; n != 0; n >>= 1) {
            if (n & 1) result = m.mul(result, square);
            if (n > 1) square = m.mul(square, square);
        }
    } else {
        result = m.while_loop(
            start, [&](std::span<const Value> c) { return m.ne(c[2], zero); },
            [&](std::span<const Value> c) {
                const Value odd = m.ne(m.bit_and(c[2], one), zero);
                return Builder::Values{m.select(odd, m.mul(c[0], c[1]), c[0]), m.mul(c[1], c[1]), m.shr(c[2], one)};
            })[0];
    }
    if (!is_signed) return result;
    const Value minus = m.constant(t, -1.0), odd = m.ne(m.bit_and(v[1], one), zero);
    const Value is_one = m.eq(v[0], one), is_minus = m.eq(v[0], minus), sign = m.select(odd, minus, one);
    const Value inverse = m.select(is_one, one, m.select(is_minus, sign, zero));
    return m.select(negative, inverse, result);
}

}  // namespace pardo::ir
