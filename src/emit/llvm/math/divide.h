// src/emit/llvm/math/divide.h: quotients and remainders, of scalars and vectors alike.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// FloorDiv, Rem (sign of the divisor) and Fmod (sign of the dividend); x op 0 is 0 and the smallest integer by -1 does not trap.
llvm::Value* integer_divide(Codegen& g, ir::Opcode op, DType t, llvm::Value* x, llvm::Value* y);
/// FloorDiv and Rem of floats, as NumPy's npy_divmod computes them. `mask`: lanes that count, null for all.
llvm::Value* float_divide(Codegen& g, ir::Opcode op, llvm::Value* x, llvm::Value* y, llvm::Value* mask);
/// fmod, exact. `mask`: lanes that count, null for all.
llvm::Value* fmod(Codegen& g, llvm::Value* x, llvm::Value* y, llvm::Value* mask);

}  // namespace pardo::emit
