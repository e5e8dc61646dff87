// src/emit/c/control.h: serial loops and branches.
#pragma once

#include "emit/c/emitter.h"

namespace pardo::emit {

/// A For whose iterations one item runs in order.
void serial_loop(CEmitter& e, const CContext& here, const ir::Instr& in);
/// A While.
void while_loop(CEmitter& e, const CContext& here, const ir::Instr& in);
/// An If.
void branch(CEmitter& e, const CContext& here, const ir::Instr& in);

}  // namespace pardo::emit
