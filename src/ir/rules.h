// src/ir/rules.h: which dtypes each operation takes and gives; one table for the builder and the verifier.
#pragma once

#include <span>

#include "ir/ir.h"

namespace pardo::ir {

/// Null if an operation without regions and memory may have these dtypes, else the rule that is broken.
const char* broken_rule(Opcode op, Math fn, DType result, std::span<const DType> operands);

/// True for operations that depend on nothing but operands and attributes, and change nothing.
constexpr bool is_pure(Opcode op) { return op < Opcode::Load; }
/// True for Const, Param, Dim and Extent.
constexpr bool is_leaf(Opcode op) { return op <= Opcode::Extent; }
/// True if complex numbers have this function.
bool takes_complex(Math fn);

}  // namespace pardo::ir
