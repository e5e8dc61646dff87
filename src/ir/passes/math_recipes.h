// src/ir/passes/math_recipes.h: mathematical functions written in IR; one row of the table in math_expand.cpp each.
#pragma once

#include "ir/builder.h"

namespace pardo::ir {

// e^x in double precision, shared by erfc and the emitters that write exp themselves: (e^r - 1) / r on [-0.35, 0.35], lowest power first,
// relative error of e^r 2^-58 (minimax); ln 2 in two parts; and what leaves a sum's whole number in its low bits.
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

// `t` is Float32 or Float64, of operands and result.
Value expand_erf(Builder& m, DType t, std::span<const Value> operands);
Value expand_erfc(Builder& m, DType t, std::span<const Value> operands);
Value expand_hypot(Builder& m, DType t, std::span<const Value> operands);
/// log1p, without the overflow of the target's own near the largest number.
Value expand_log1p(Builder& m, DType t, std::span<const Value> operands);
Value expand_logaddexp(Builder& m, DType t, std::span<const Value> operands);
Value expand_logaddexp2(Builder& m, DType t, std::span<const Value> operands);
/// x^2, x^1, x^-1 and x^0 where the exponent is a constant; no_value otherwise.
Value expand_pow(Builder& m, DType t, std::span<const Value> operands);
/// Powers of integers by squaring; `t` is an integer dtype. A negative exponent gives 0, or ±1 of a base ±1.
Value expand_integer_pow(Builder& m, DType t, std::span<const Value> operands);

/// A function of Float32 or Float64 for use within recipes: as the pass leaves it.
Value call_expanded(Builder& m, Math fn, DType t, std::span<const Value> operands);

}  // namespace pardo::ir
