// src/emit/llvm/math/float_powers.h: powers of floats inline.
#pragma once

#include "emit/llvm/codegen.h"

namespace pardo::emit {

/// x to the power of y; zeros, what is subnormal, infinite or NaN goes to the library.
llvm::Value* inline_float_power(Codegen& g, llvm::Value* x, llvm::Value* y);

}  // namespace pardo::emit
