// src/emit/llvm/loops/parallel.h: loops whose iterations threads may share: each is a function of its own.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// The loop as a function of the iterations that one thread takes: `void part(first, last, context, nothing, stop)`. What it uses is in the
/// context. False: it is no such loop here.
bool emit_parallel_for(Emitter& e, const LaneContext& here, const ir::Instr& in);

}  // namespace pardo::emit
