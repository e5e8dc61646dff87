// src/emit/c/exchange.h: what items let each other know: atomics and fences, reports of failures, shuffles.
#pragma once

#include "emit/c/values.h"

namespace pardo::emit {

/// An Atomic or CompareExchange, and the fences that its order asks for.
void atomic(CValues& values, const ir::Instr& in);
/// A Report: the first one leaves the words; devices without wide atomics may mix those of two that fail at once.
void report(CValues& values, const ir::Instr& in);
/// A Shuffle.
void shuffle(CValues& values, const ir::Instr& in);

}  // namespace pardo::emit
