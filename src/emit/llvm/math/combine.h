// src/emit/llvm/math/combine.h: what joins the values of iterations.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// A value that others are joined with and stay what they are.
llvm::Value* identity(Codegen& g, ir::Combine c, DType t, int lanes);
/// Sums of float16 stay in float until the end, as NumPy's do.
llvm::Value* combine(Codegen& g, ir::Combine c, DType t, llvm::Value* a, llvm::Value* b);
/// A step of a float minimum or maximum that ignores NaN in `x`; the caller keeps a flag for it.
llvm::Value* combine_ordered(Codegen& g, ir::Combine c, llvm::Value* acc, llvm::Value* x);
/// A vector's values as one, by halves.
llvm::Value* across_lanes(Codegen& g, ir::Combine c, DType t, llvm::Value* v);

}  // namespace pardo::emit
