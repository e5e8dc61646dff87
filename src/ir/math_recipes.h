// src/ir/math_recipes.h: mathematical functions written in IR; one row of the table in math_expand.cpp each.
#pragma once

#include "ir/builder.h"

namespace pardo::ir {

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

}  // namespace pardo::ir
