// src/emit/llvm/math/cast.h: conversions between dtypes, and between how elements are kept in registers and in memory.
#pragma once

#include "emit/llvm/codegen.h"

namespace pardo::emit {

/// A value of another dtype; defined for every input, and equal to NumPy's on x86-64.
llvm::Value* cast(Codegen& g, llvm::Value* x, DType from, DType to);
/// The same bits as another dtype.
llvm::Value* bitcast(Codegen& g, llvm::Value* x, DType from, DType to);
/// An element as it is in memory, made what registers hold.
llvm::Value* from_memory(Codegen& g, llvm::Value* v, DType t);
/// The other way round.
llvm::Value* to_memory(Codegen& g, llvm::Value* v, DType t);

}  // namespace pardo::emit
