// src/emit/llvm/emitter.h: the walk over a kernel's instructions. Modules that emit regions have it; those that emit one instruction take
// what they need of it.
#pragma once

#include <string>

#include "emit/llvm/memory.h"

namespace pardo::emit {

/// What the function is called with, and the memory of arrays.
struct Inputs {
    LlvmValues params, extents, begin, end, arrays;
};

struct Emitter {
    Emitter(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target, const std::string& symbol);
    /// All of a region's instructions, but those that are emitted already.
    void region(const LaneContext& here, const ir::Region& r);
    void instruction(const LaneContext& here, ir::InstrId id);

    Codegen g;
    const Source source;
    Values values;
    Memory memory;
    Inputs inputs;
    const std::string& symbol;
};

}  // namespace pardo::emit
