// src/emit/llvm/emitter.h: the walk over a kernel's instructions.
// Modules of this folder take the least that they need, and a LaneContext: a Codegen (all of math), Values, which know the Codegen and the
// Source (arithmetic), Memory, which knows the Values (memory, arrays, records, transposed_loads, atomic), or the Emitter, where they emit
// regions (checks, guard, fission, loops).
#pragma once

#include <string>

#include "emit/llvm/memory.h"

namespace pardo::emit {

/// What the function is called with, and the memory of arrays.
struct Inputs {
    LlvmValues params, extents, begin, end, arrays;
};

/// The walk, and what has been emitted on it.
struct Emitter {
    Emitter(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target, const std::string& symbol);
    /// All of a region's instructions, but those that are emitted already.
    void region(const LaneContext& here, const ir::Region& r);
    /// One instruction, its regions included.
    void instruction(const LaneContext& here, ir::InstrId id);

    Codegen g;
    const Source source;
    Values values;
    Memory memory;
    Inputs inputs;
    const std::string& symbol;
};

}  // namespace pardo::emit
