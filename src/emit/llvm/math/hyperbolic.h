// src/emit/llvm/math/hyperbolic.h: sinh, cosh, tanh, expm1 and asinh inline.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Whether it is one of those that are inline.
bool is_hyperbolic(ir::Math fn, DType t);
/// Of scalars and of vectors of any width.
llvm::Value* inline_hyperbolic(Codegen& g, ir::Math fn, llvm::Value* x);

}  // namespace pardo::emit
