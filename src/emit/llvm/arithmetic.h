// src/emit/llvm/arithmetic.h: instructions that compute: of scalars, of vectors, and of indices, which stay a base and a step.
#pragma once

#include "emit/llvm/values.h"

namespace pardo::emit {

/// Every instruction without regions that touches no memory.
void arithmetic(Values& values, const LaneContext& here, const ir::Instr& in);

}  // namespace pardo::emit
