// src/emit/llvm/memory.h: loads and stores, and what they need to know of memory.
#pragma once

#include <vector>

#include "emit/llvm/values.h"

namespace pardo::emit {

/// The memory of parameters and arrays, and accesses to it that wait for others.
struct Memory {
    explicit Memory(Values& values);

    Codegen& g;
    const Source& source;
    Values& values;
    std::vector<llvm::MDNode*> scope_lists, noalias_lists;  // one a parameter, then one an array
    llvm::Value* scratch = nullptr;                         // where lanes that are off read and write
    std::int64_t stack_bytes = 0;                           // allocated so far
    std::vector<llvm::Value*> fields;        // one an instruction: what a Load of a record found, what a Store of one waits with
    std::vector<ir::InstrId> store_records;  // one an instruction: the first Store of its open record
    std::vector<llvm::Value*> slots;         // one a value: where items keep it from one barrier to the next
};

/// Where the lanes find an element: its index, or that within all items' private arrays; `step` if it is a small constant, else 0.
struct Element {
    Lane index;
    std::int64_t step = 0;
};
/// That of a Load, Store or Atomic.
Element element_of(Memory& m, const LaneContext& here, const ir::Instr& in);
/// Where an array begins: one without a fixed size where its last Resize says.
llvm::Value* array_start(Memory& m, ir::Value pointer);
/// The address of an element.
llvm::Value* address(Memory& m, ir::Value pointer, llvm::Value* index);
/// Says which memory an access does not touch.
void annotate(Memory& m, llvm::Instruction* access, ir::Value pointer);
/// Tells the processor what will be read.
void prefetch(Codegen& g, llvm::Value* address);
/// Bytes by which an address misses the alignment of vectors of so many bytes.
llvm::Value* misalignment(Codegen& g, llvm::Value* address, std::int64_t bytes);

/// Stores past the caches become visible to other threads in no order of their own.
void fence_streams(Codegen& g, const Source& source);

/// A Load: of one element in scalar code, else of one a lane.
void load(Memory& m, const LaneContext& here, ir::InstrId id, const ir::Instr& in);
/// A Store.
void store(Memory& m, const LaneContext& here, ir::InstrId id, const ir::Instr& in);

}  // namespace pardo::emit
