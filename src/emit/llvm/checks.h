// src/emit/llvm/checks.h: accesses whose index is checked: one test that is hardly ever true, and a function that reports it.
#pragma once

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// A branch that reports a failure on its second side, and makes one access on its first.
bool is_check(const Source& source, const ir::Instr& in);
/// Weights of a branch that takes its first side.
llvm::MDNode* likely(Codegen& g);
/// Where all lanes pass, the access is what it would be without the check.
void emit_check(Emitter& e, const LaneContext& here, const ir::Instr& in);
/// The first of the active lanes speaks.
void report(Memory& m, const LaneContext& here, const ir::Instr& in);

}  // namespace pardo::emit
