// src/emit/llvm/loops/loop.h: loops, under masks where lanes go different ways.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// Emits what a loop body computes the same way in each iteration of its lanes in front of the loop; the loop runs at least once.
void hoist(Emitter& e, const LaneContext& here, const ir::Region& body);
/// A For of any kind.
void emit_for(Emitter& e, const LaneContext& here, ir::InstrId id, const ir::Instr& in);
/// A While: where lanes go different ways, until no lane is left.
void emit_while(Emitter& e, const LaneContext& here, ir::InstrId id, const ir::Instr& in);
/// A For whose bounds differ between lanes: runs until no lane is left. What is read afterwards keeps each lane's last value.
void emit_masked_for(Emitter& e, const LaneContext& here, const ir::Instr& in);

}  // namespace pardo::emit
