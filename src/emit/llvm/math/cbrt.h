// src/emit/llvm/math/cbrt.h: cube roots inline.
#pragma once

#include "emit/llvm/codegen.h"

namespace pardo::emit {

/// Of floats or doubles; needs fma.
llvm::Value* inline_cbrt(Codegen& g, llvm::Value* x);

}  // namespace pardo::emit
