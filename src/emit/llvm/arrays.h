// src/emit/llvm/arrays.h: memory of a program's own: on the stack, or, for arrays without a fixed size, kept by the thread.
#pragma once

#include "emit/llvm/memory.h"

namespace pardo::emit {

/// Bytes that arrays of a group, private arrays and what items keep between barriers may take: a part of what the smallest stacks have.
inline constexpr std::int64_t stack_limit = 256 << 10;

/// Bytes of the arrays that one lane has to itself.
std::int64_t lane_bytes(const Source& source);
/// Memory of the function's own, for as long as it runs.
llvm::AllocaInst* allocate(Memory& m, llvm::Type* type, std::int64_t count, std::int64_t bytes, const char* name);
/// An array's memory in the function that is being made.
llvm::Value* make_array(Memory& m, std::size_t k);
/// The thread keeps memory for each array without a fixed size, and makes it larger where that is not enough.
void resize(Memory& m, const LaneContext& here, const ir::Instr& in);
/// The thread has no memory for the array any longer.
void take_memory(Memory& m, const LaneContext& here, const ir::Instr& in);
/// own_memory_symbol's function.
llvm::FunctionCallee own_memory_function(Codegen& g);
/// Gives large pieces of the thread's memory back.
void release(Memory& m);
/// Throws if the memory of one group, or of the items that run at the same time, does not fit.
void check_stack(const Memory& m);

}  // namespace pardo::emit
