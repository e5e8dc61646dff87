// src/emit/llvm/math/functions.h: mathematical functions: LLVM's own where they are one instruction, recipes in place, else the library's.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Whether a function is computed without a call of the library but for rare arguments, and counts as arithmetic.
bool is_formula(const LlvmTarget& target, ir::Math fn, DType t);
/// The function of each lane. `mask`: lanes that count, null for all.
llvm::Value* call(Codegen& g, ir::Math fn, DType t, llvm::ArrayRef<llvm::Value*> args, llvm::Value* mask);

}  // namespace pardo::emit
