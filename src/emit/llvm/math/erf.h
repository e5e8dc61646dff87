// src/emit/llvm/math/erf.h: erf of doubles from tables that each lane looks up in registers (AVX-512).
#pragma once

#include "emit/llvm/codegen.h"

namespace pardo::emit {

/// Of a vector of any width, or a scalar.
llvm::Value* inline_erf(Codegen& g, llvm::Value* x);

}  // namespace pardo::emit
