// src/emit/llvm/loops/branch.h: branches, under masks where lanes go different ways.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// An If: where lanes go different ways, both sides run, each for its own lanes.
void emit_if(Emitter& e, const LaneContext& here, ir::InstrId id, const ir::Instr& in);

}  // namespace pardo::emit
