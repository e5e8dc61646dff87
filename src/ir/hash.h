// src/ir/hash.h: what decides what is compiled for a kernel, as a number.
#pragma once

#include "base/hash.h"
#include "ir/ir.h"

namespace pardo::ir {

/// Equal for kernels that are the same but for the names of parameters and arrays, and for places in the user's program. The same in all
/// processes; faster to make than the text.
Hash128 hash(const Kernel& kernel);

}  // namespace pardo::ir
