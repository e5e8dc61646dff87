// src/emit/llvm/loops/serial.h: loops whose iterations run one after the other.
#pragma once

#include "emit/llvm/codegen.h"

namespace pardo::emit {

enum class Unroll { Never, Known, May };  // Known: only if the trip count is known
/// Tells LLVM that the loop ends, and whether copies of its body may pay. `items`: it goes over the items of a range.
void finish_loop(Codegen& g, llvm::BranchInst* latch, Unroll unroll, bool items = false);

/// One iteration; `copy` is 0.
using SerialBody = llvm::function_ref<void(llvm::Value* index, int copy, LlvmValues& state)>;
/// for (i = lower; i < upper (or >, by the sign of step); i += step), values carried in `state`.
void serial_loop(Codegen& g, llvm::Value* lower, llvm::Value* upper, llvm::Value* step, LlvmValues& state, SerialBody body,
                 bool items = false);

}  // namespace pardo::emit
