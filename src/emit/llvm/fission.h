// src/emit/llvm/fission.h: kernels in groups: the loops over groups, and for each step of a group a loop over its items.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// All groups of the box.
void emit_groups(Emitter& e, const LaneContext& here);

}  // namespace pardo::emit
