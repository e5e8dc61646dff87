// src/emit/llvm/reduce.h: what joins the values of iterations, and loops of LoopKind::Lanes.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// What a value is joined with and stays what it is.
llvm::Value* identity(Codegen& g, ir::Combine c, DType t, int lanes);
/// Sums of float16 stay in float until the end, as NumPy's do.
llvm::Value* combine(Codegen& g, ir::Combine c, DType t, llvm::Value* a, llvm::Value* b);

/// A loop whose iterations become the lanes.
void emit_lanes_for(Emitter& e, const LaneContext& here, const ir::Instr& in);
/// Where lanes are taken already, each item runs the loop by itself; long cheap ones with several accumulators.
void emit_serial_lanes_for(Emitter& e, const LaneContext& here, ir::InstrId id, const ir::Instr& in);

}  // namespace pardo::emit
