// src/ir/math/terms.h: numbers and steps that several recipes share.
#pragma once

#include "ir/math/expr.h"

namespace pardo::ir::math {

// e^x in double precision: (e^r - 1) / r on [-0.35, 0.35], lowest power first, relative error of e^r 2^-58 (minimax); ln 2 in two parts;
// and what leaves a sum's whole number in its low bits.
inline constexpr double expm1_terms[] = {1.0,
                                         0.5000000000000007,
                                         0.16666666666666693,
                                         0.04166666666656537,
                                         0.008333333333311379,
                                         0.0013888888935177902,
                                         0.00019841269909239457,
                                         2.480150097011464e-05,
                                         2.7557222635560476e-06,
                                         2.7627748697699826e-07,
                                         2.5116133219042486e-08};
inline constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
inline constexpr double whole_shifter = 0x1.8p52;
// For functions of floats that are computed in double precision; minimax fits (Remez, 40 digits). (e^r - 1) / r in r on [-ln 2 / 2,
// ln 2 / 2], relative error 2^-32.
inline constexpr double expm1_of_float[] = {1.000000000031391,    0.5000000046945153,    0.16666666248385176,   0.04166635331419716,
                                            0.008333402917385973, 0.0013941091126067496, 0.00019841356984133486};
/// log((1 + s) / (1 - s)) / s in s^2 for (1 + s) / (1 - s) between the roots of 1/2 and 2, relative error 2^-38.
inline constexpr double log_of_float[] = {2.0000000000085096, 0.6666666522881476, 0.40000388238824164, 0.2853483581770604,
                                          0.2362037655060549};
inline constexpr std::int64_t bits_of_one = 0x3ff0000000000000;

/// c - a b, rounded once.
inline Expr less_product(Expr c, Expr a, Expr b) { return fma(-a, b, c); }
inline Expr less_product(Expr c, Expr a, double b) { return fma(-a, b, c); }
/// 2^k in what `shifted`, a double, holds in its low bits, times the power of two with these bits; `down`: 2^-k.
Expr power_of_two(Expr shifted, std::int64_t factor_bits, bool down = false);
/// A double as 2^k (1 + f), f between the roots of 1/2 and 2 less 1: k as it is kept in the bits, k as a double, and f.
struct SplitLog {
    Expr field, k, f;
};
SplitLog split_for_log(Expr u);
/// a / b of doubles that become floats, b a normal float.
Expr quotient_for_floats(Expr a, Expr b);

}  // namespace pardo::ir::math
