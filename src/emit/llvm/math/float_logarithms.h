// src/emit/llvm/math/float_logarithms.h: log, log2 and log10 of floats inline.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Whether it is one of these.
bool is_float_logarithm(ir::Math fn, DType t);
/// Arguments that are no normal numbers above 0 go to the library.
llvm::Value* inline_float_logarithm(Codegen& g, ir::Math fn, llvm::Value* x);

}  // namespace pardo::emit
