// src/ir/math/terms.cpp: steps that several recipes share.
#include "ir/math/terms.h"

namespace pardo::ir::math {
namespace {

constexpr std::int64_t root_half_bits = 0x3fe6a09e667f3bcd, two_52_bits = 0x4330000000000000;

}  // namespace

Expr power_of_two(Expr shifted, std::int64_t factor_bits, bool down) {
    const Expr bits = bitcast(shifted, DType::UInt64), exponent = bits << bits.whole(52), factor = bits.whole(factor_bits);
    return bitcast(down ? factor - exponent : factor + exponent, DType::Float64);
}

/// k is made a double by being the low bits of 2^52 + 1023 + k.
SplitLog split_for_log(Expr u) {
    const Expr bits = bitcast(u, DType::UInt64), lifted = bits + bits.whole(bits_of_one - root_half_bits);
    const Expr field = lifted >> bits.whole(52), exponent = field | bits.whole(two_52_bits);
    const Expr k = bitcast(exponent, DType::Float64) - (0x1p52 + 1023);
    const Expr mantissa = (lifted & bits.whole((std::int64_t(1) << 52) - 1)) + bits.whole(root_half_bits);
    return {field, k, bitcast(mantissa, DType::Float64) - 1.0};
}

/// A division of floats takes a third of the time, and one step of Newton's method makes 46 bits of its 23.
Expr quotient_for_floats(Expr a, Expr b) {
    const Expr inverse = cast(1.0 / cast(b, DType::Float32), DType::Float64);
    return a * (inverse * less_product(a(2.0), b, inverse));
}

}  // namespace pardo::ir::math
