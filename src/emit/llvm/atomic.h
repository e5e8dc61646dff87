// src/emit/llvm/atomic.h: Atomic and CompareExchange, by lane or once for all lanes, and fences.
#pragma once

#include "emit/llvm/memory.h"

namespace pardo::emit {

/// An Atomic or CompareExchange.
void atomic(Memory& m, const LaneContext& here, const ir::Instr& in);
/// Once for all lanes; on a processor that runs the whole launch every scope is that of its threads.
void fence(Codegen& g, const ir::Instr& in);

}  // namespace pardo::emit
