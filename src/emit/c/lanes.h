// src/emit/c/lanes.h: lanes loops: shared by a team, or with several running values in one item.
#pragma once

#include "emit/c/emitter.h"

namespace pardo::emit {

/// A For of LoopKind::Lanes.
void lanes_loop(CEmitter& e, const CContext& here, const ir::Instr& in);

}  // namespace pardo::emit
