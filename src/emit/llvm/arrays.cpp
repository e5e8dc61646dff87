// src/emit/llvm/arrays.cpp: memory of a program's own: on the stack, or, for arrays without a fixed size, kept by the thread.
#include "emit/llvm/arrays.h"

#include <pardo/error.h>

#include <algorithm>

#include "emit/llvm/loops/lanes.h"
#include "emit/runtime/own_memory.h"

namespace pardo::emit {

using ir::Instr;
using ir::Value;

namespace {

/// So many are refused in any case, and can be counted.
constexpr std::int64_t most_elements = std::int64_t(1) << 40;

/// As many lanes as any of the kernel's lane loops has.
int most_lanes(const Source& source, const LlvmTarget& target) {
    if (source.info.item_lanes) return lane_plan(source, target, source.kernel.body, 0).lanes;
    int most = 1;
    for (std::size_t id = 0; id < source.kernel.instrs.size(); ++id)
        if (source.info.vector_loop[id])
            most = std::max(most, lane_plan(source, target, source.region(source.instr(id).regions[0]), 0).lanes);
    return most;
}

}  // namespace

std::int64_t lane_bytes(const Source& source) {
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < source.kernel.arrays.size(); ++k)
        if (source.info.lane_arrays[k])
            bytes += std::min(source.kernel.arrays[k].count, most_elements) * itemsize(source.kernel.arrays[k].type);
    return bytes;
}

llvm::FunctionCallee own_memory_function(Codegen& g) {
    llvm::Type* word = g.b.getInt64Ty();
    llvm::FunctionCallee f =
        g.module->getOrInsertFunction(own_memory_symbol, llvm::FunctionType::get(g.b.getPtrTy(), {word, word, word}, false));
    llvm::cast<llvm::Function>(f.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    return f;
}

llvm::AllocaInst* allocate(Memory& m, llvm::Type* type, std::int64_t count, std::int64_t bytes, const char* name) {
    m.stack_bytes += count * bytes;
    llvm::IRBuilder<>::InsertPointGuard guard(m.g.b);
    llvm::BasicBlock& entry = m.g.function()->getEntryBlock();
    m.g.b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    llvm::AllocaInst* memory = m.g.b.CreateAlloca(llvm::ArrayType::get(type, static_cast<std::uint64_t>(count)), nullptr, name);
    memory->setAlignment(llvm::Align(64));
    return memory;
}

llvm::Value* make_array(Memory& m, std::size_t k) {
    const ir::ArrayInfo& a = m.source.kernel.arrays[k];
    if (a.count == 0) {
        llvm::Value* at = allocate(m, m.g.b.getPtrTy(), 1, itemsize(DType::Int64), a.name.c_str());
        m.g.b.CreateStore(llvm::ConstantPointerNull::get(m.g.b.getPtrTy()), at);
        return at;
    }
    const bool of_item = m.source.kernel.in_groups() && a.space == ir::Space::Private;
    const std::int64_t copies = of_item                        ? group_items(m.source.kernel)
                                : m.source.info.lane_arrays[k] ? most_lanes(m.source, m.g.target)
                                                               : 1;
    return allocate(m, memory_element(m.g, a.type), std::min(a.count, most_elements) * copies, itemsize(a.type), a.name.c_str());
}

void resize(Memory& m, const LaneContext& here, const Instr& in) {
    const Value pointer = in.operands[0];
    llvm::Type* address = m.g.b.getPtrTy();
    llvm::Value* at = m.g.b.CreateCall(own_memory_function(m.g), {i64(m.g, m.source.param_of(pointer)), m.values.scalar(in.operands[1]),
                                                                  i64(m.g, itemsize(m.source.type(pointer)))});
    llvm::Value* made = m.g.b.CreateIsNotNull(at);
    m.g.b.CreateStore(m.g.b.CreateSelect(made, at, m.g.b.CreateLoad(address, m.values.scalar(pointer))), m.values.scalar(pointer));
    m.values.define(here, in.results[0], made);
}

void take_memory(Memory& m, const LaneContext& here, const Instr& in) {
    const Value pointer = in.operands[0];
    llvm::Value* at =
        m.g.b.CreateCall(own_memory_function(m.g), {i64(m.g, m.source.param_of(pointer)), i64(m.g, handed_over), i64(m.g, 1)});
    m.g.b.CreateStore(llvm::ConstantPointerNull::get(m.g.b.getPtrTy()), m.values.scalar(pointer));
    m.values.define(here, in.results[0], m.g.b.CreatePtrToInt(at, m.g.b.getInt64Ty()));
}

void release(Memory& m) {
    if (std::ranges::none_of(m.source.kernel.arrays, [](const ir::ArrayInfo& a) { return a.count == 0; })) return;
    m.g.b.CreateCall(m.g.module->getFunction(own_memory_symbol), {i64(m.g, -1), i64(m.g, 0), i64(m.g, 1)});
}

void check_stack(const Memory& m) {
    if (m.stack_bytes <= stack_limit) return;
    throw Error(ErrorCode::Compile, m.source.kernel.name +
                                        ": the arrays of one group and what its items keep from one barrier to the next take " +
                                        std::to_string(m.stack_bytes) + " bytes, more than the " + std::to_string(stack_limit) +
                                        " that a thread of the CPU has for them; use smaller groups or arrays");
}

}  // namespace pardo::emit
