// src/emit/llvm/math/in_place.h: recipes of ir/math in place of calls, of scalars and of vectors of any width.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/math/table.h"

namespace pardo::emit {

/// The recipe of a function that is still a call; null if there is none.
const ir::math::Row* row_in_place(const LlvmTarget& target, ir::Math fn, DType t);
/// Emits it.
llvm::Value* in_place(Codegen& g, const ir::math::Row& row, DType t, llvm::ArrayRef<llvm::Value*> args);

}  // namespace pardo::emit
