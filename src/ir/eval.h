// src/ir/eval.h: the value of an operation on constants; the builder folds with it, the interpreter runs on it.
#pragma once

#include <span>

#include "ir/ir.h"

namespace pardo::ir {

/// An integer or Bool from its low bits, wrapped to the dtype.
Scalar make_integer(DType type, std::uint64_t bits);
/// A float, rounded to the dtype.
Scalar make_float(DType type, double value);
Scalar make_complex(DType type, double re, double im);

/// The result of a pure operation that is not a leaf; operands obey rules.h. Rounded to the dtype after each operation, exactly as IEEE 754
/// wants it for + - * / sqrt and fma; library functions are computed in float64 (complex: std::complex) and rounded.
Scalar evaluate(Opcode op, Math fn, DType result, std::span<const Scalar> operands);

/// Whether `evaluate` knows a function of a dtype: special functions are known by their expansion only.
bool is_evaluable(Math fn, DType t) noexcept;

/// An element of memory, and back: as many bytes as the dtype has, at any alignment.
Scalar read_element(DType type, const void* at);
void write_element(const Scalar& value, void* at);

/// True if the two are the same dtype and the same bits; tells -0 from 0 and NaNs from each other.
bool same_bits(const Scalar& a, const Scalar& b);

}  // namespace pardo::ir
