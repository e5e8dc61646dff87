// src/emit/llvm/loops/reduce.h: loops of LoopKind::Lanes.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// A loop whose iterations become the lanes.
void emit_lanes_for(Emitter& e, const LaneContext& here, const ir::Instr& in);
/// Where lanes are taken already, each item runs the loop by itself; long cheap ones with several accumulators.
void emit_serial_lanes_for(Emitter& e, const LaneContext& here, ir::InstrId id, const ir::Instr& in);

}  // namespace pardo::emit
