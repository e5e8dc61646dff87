// src/emit/llvm/math/polynomials.h: double precision sin, cos, exp, log and log1p as inline polynomials.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Whether it is one of these.
bool is_polynomial(ir::Math fn, DType t);
/// Arguments out of the usual range go to the library.
llvm::Value* inline_polynomial(Codegen& g, ir::Math fn, llvm::Value* x);

}  // namespace pardo::emit
