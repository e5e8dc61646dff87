// src/emit/llvm/emitter.cpp: the walk over a kernel's instructions.
#include "emit/llvm/emitter.h"

#include "emit/llvm/arithmetic.h"
#include "emit/llvm/arrays.h"
#include "emit/llvm/atomic.h"
#include "emit/llvm/checks.h"
#include "emit/llvm/loops/branch.h"
#include "emit/llvm/loops/loop.h"

namespace pardo::emit {

using ir::Opcode;

Emitter::Emitter(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target, const std::string& symbol)
    : g(context, kernel.name, target, kernel.fast_math), source(kernel), values(g, source), memory(values), symbol(symbol) {}

void Emitter::region(const LaneContext& here, const ir::Region& r) {
    LaneContext at = here;
    at.region = &r;
    for (at.position = 0; at.position < r.body.size(); ++at.position)
        if (!values.hoisted[r.body[at.position]]) instruction(at, r.body[at.position]);
}

void Emitter::instruction(const LaneContext& here, ir::InstrId id) {
    const ir::Instr& in = source.instr(id);
    const auto define = [&](llvm::Value* value) { values.define(here, in.results[0], value); };
    switch (in.op) {
        case Opcode::Yield: return;
        case Opcode::Const: return define(constant(g, source.type(in.results[0]), in.scalar()));
        case Opcode::Param: return define(inputs.params[in.index()]);
        case Opcode::Extent: return define(inputs.extents[in.index()]);
        case Opcode::Dim: return define(here.item->dims[in.index()]);
        case Opcode::LocalDim: return define(here.item->local[in.index()]);
        case Opcode::GroupDim: return define(here.item->groups[in.index()]);
        case Opcode::Array: return define(inputs.arrays[in.index()]);
        case Opcode::Load: return load(memory, here, id, in);
        case Opcode::Store: return store(memory, here, id, in);
        case Opcode::Atomic:
        case Opcode::CompareExchange: return atomic(memory, here, in);
        case Opcode::Resize: return resize(memory, here, in);
        case Opcode::TakeMemory: return take_memory(memory, here, in);
        case Opcode::Report: return report(memory, here, in);
        case Opcode::Fence: return fence(g, in);
        case Opcode::Barrier: return;
        case Opcode::If: return emit_if(*this, here, id, in);
        case Opcode::While: return emit_while(*this, here, id, in);
        case Opcode::For: return emit_for(*this, here, id, in);
        default: return arithmetic(values, here, in);
    }
}

}  // namespace pardo::emit
