// src/emit/llvm/math/arith.h: arithmetic, comparison, bits: the same code for scalars and vectors.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Any operation without memory, regions and functions, of operands of the dtype `from`. `mask`: lanes whose result counts, null for all.
llvm::Value* compute(Codegen& g, ir::Opcode op, DType from, DType t, llvm::ArrayRef<llvm::Value*> v, llvm::Value* mask = nullptr);
/// An operation of two operands, comparisons aside. `mask`: lanes whose result counts, null for all.
llvm::Value* binary(Codegen& g, ir::Opcode op, DType t, llvm::Value* x, llvm::Value* y, llvm::Value* mask = nullptr);
/// Eq to Ge.
llvm::Value* compare(Codegen& g, ir::Opcode op, DType t, llvm::Value* x, llvm::Value* y);
/// Min, Max, which give NaN if there is one, Fmin and Fmax, which give the other operand.
llvm::Value* min_max(Codegen& g, ir::Opcode op, DType t, llvm::Value* x, llvm::Value* y);

}  // namespace pardo::emit
