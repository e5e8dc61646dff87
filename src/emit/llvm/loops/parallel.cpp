// src/emit/llvm/loops/parallel.cpp: loops whose iterations threads may share: each is a function of its own.
#include "emit/llvm/loops/parallel.h"

#include <algorithm>

#include "emit/llvm/arrays.h"
#include "emit/llvm/loops/serial.h"
#include "emit/runtime/shared_loop.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::LoopKind;
using ir::Opcode;
using ir::Region;
using ir::Value;

namespace {

/// The length of a loop over a piece: from `lower` to min(lower + length, …).
bool piece(const ir::Kernel& kernel, const Instr& in, std::int64_t& length) {
    const Instr* upper = ir::definition(kernel, in.operands[1]);
    if (!upper || upper->op != Opcode::Min) return false;
    const Instr* sum = ir::definition(kernel, upper->operands[0]);
    return sum && sum->op == Opcode::Add && sum->operands[0] == in.operands[0] && constant_int(kernel, sum->operands[1], length);
}

/// Counts how often a region uses each array of the program.
void count_arrays(const Source& source, const Region& r, std::vector<std::uint32_t>& uses) {
    for (const InstrId id : r.body) {
        const Instr& in = source.instr(id);
        for (const Value v : in.operands)
            if (source.kernel.values[v].pointer && !source.is_param(v)) ++uses[source.param_of(v)];
        for (const ir::RegionId inner : in.regions) count_arrays(source, source.region(inner), uses);
    }
}

/// Arrays that nothing outside of a region uses: each iteration has them for itself.
std::vector<Value> arrays_inside(const Source& source, const Region& r) {
    std::vector<std::uint32_t> uses(source.kernel.arrays.size());
    count_arrays(source, r, uses);
    std::vector<Value> inside;
    for (std::size_t k = 0; k < uses.size(); ++k)
        if (const Value v = source.kernel.arrays[k].value; uses[k] > 0 && uses[k] == source.info.uses[v]) inside.push_back(v);
    return inside;
}

/// Collects what a region uses that is known before it; false if its iterations cannot run at the same time. `own`: arrays that each
/// thread makes for itself.
bool takes_from_outside(const Values& values, const Region& r, const std::vector<Value>& own, std::vector<Value>& taken) {
    const auto is_own = [&](Value v) { return std::ranges::find(own, v) != own.end(); };
    return std::ranges::all_of(r.body, [&](InstrId id) {
        const Instr& in = values.source.instr(id);
        if (in.op == Opcode::Array || in.op == Opcode::TakeMemory) return false;
        if (in.op == Opcode::For && (in.loop_kind() == LoopKind::Parallel || in.loop_kind() == LoopKind::Lockstep)) return false;
        if (in.op == Opcode::Resize && !is_own(in.operands[0])) return false;
        for (const Value v : in.operands) {
            if (is_own(v)) continue;
            if (values.source.kernel.values[v].pointer && !values.source.is_param(v) &&
                values.source.info.lane_arrays[values.source.param_of(v)])
                return false;
            if (!values[v].v || std::ranges::find(taken, v) != taken.end()) continue;
            if (values[v].kind != LaneShape::Uniform) return false;
            taken.push_back(v);
        }
        return std::ranges::all_of(in.regions,
                                   [&](ir::RegionId inner) { return takes_from_outside(values, values.source.region(inner), own, taken); });
    });
}

/// About how long one run of a region takes, from what is known before it.
llvm::Value* picoseconds(const Values& values, const Region& r) {
    constexpr std::int64_t operation = 100, memory = 300, function = 1000, unknown_rounds = 64;
    std::int64_t own = 0;
    llvm::Value* sum = i64(values.g, 0);
    for (const InstrId id : r.body) {
        const Instr& in = values.source.instr(id);
        if (in.op != Opcode::For && in.op != Opcode::While && in.op != Opcode::If) {
            const bool moves = in.op == Opcode::Load || in.op == Opcode::Store;
            own += moves ? memory : in.op == Opcode::Call ? function : in.results.empty() ? 0 : operation;
            continue;
        }
        llvm::Value* rounds = i64(values.g, in.op == Opcode::If ? 1 : unknown_rounds);
        if (in.op == Opcode::For) {
            llvm::Value* bounds[2] = {};
            std::int64_t known = 0;
            for (int k = 0; k < 2; ++k)
                bounds[k] = constant_int(values.source.kernel, in.operands[k], known) ? i64(values.g, known) : values[in.operands[k]].v;
            if (bounds[0] && bounds[1])
                rounds = values.g.b.CreateSub(bounds[1], bounds[0]);
            else if (piece(values.source.kernel, in, known))
                rounds = i64(values.g, known);
        }
        for (const ir::RegionId inner : in.regions)
            sum = values.g.b.CreateAdd(sum, values.g.b.CreateMul(rounds, picoseconds(values, values.source.region(inner))));
    }
    return values.g.b.CreateAdd(sum, i64(values.g, own));
}

}  // namespace

bool emit_parallel_for(Emitter& e, const LaneContext& here, const Instr& in) {
    const Region& r = e.source.region(in.regions[0]);
    std::vector<Value> taken;
    const std::vector<Value> own_arrays = arrays_inside(e.source, r);
    if (here.lanes != 1 || here.mask || e.source.kernel.rank > 0 || !takes_from_outside(e.values, r, own_arrays, taken)) return false;
    std::erase_if(taken, [&](Value v) { return llvm::isa<llvm::Constant>(e.values[v].v); });
    llvm::Value *count = e.values.scalar(in.operands[1]), *each = picoseconds(e.values, r);

    llvm::SmallVector<llvm::Type*, 16> types;
    LlvmValues given;
    for (const Value v : taken) {
        const bool sized = e.source.kernel.values[v].pointer && e.source.is_sized(v);
        given.push_back(sized ? e.g.b.CreateLoad(e.g.b.getPtrTy(), e.values[v].v) : e.values[v].v);
        types.push_back(given.back()->getType());
    }
    auto* layout = llvm::StructType::get(e.g.b.getContext(), types);
    llvm::AllocaInst* context = nullptr;
    {
        llvm::IRBuilder<>::InsertPointGuard guard(e.g.b);
        llvm::BasicBlock& entry = e.g.function()->getEntryBlock();
        e.g.b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
        context = e.g.b.CreateAlloca(layout, nullptr, "taken");
    }
    for (unsigned k = 0; k < given.size(); ++k) e.g.b.CreateStore(given[k], e.g.b.CreateStructGEP(layout, context, k));

    llvm::Type *word = e.g.b.getInt64Ty(), *pointer = e.g.b.getPtrTy();
    auto* type = llvm::FunctionType::get(e.g.b.getVoidTy(), {word, word, pointer, pointer, pointer}, false);
    auto* part = llvm::Function::Create(type, llvm::Function::InternalLinkage, e.symbol + "_part", *e.g.module);
    set_attributes(part, e.g.target);
    part->addParamAttr(2, llvm::Attribute::NoAlias);
    part->addParamAttr(2, llvm::Attribute::ReadOnly);
    llvm::FunctionCallee share = e.g.module->getOrInsertFunction(
        share_loop_symbol, llvm::FunctionType::get(e.g.b.getVoidTy(), {pointer, word, word, pointer, pointer}, false));
    llvm::cast<llvm::Function>(share.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    e.g.b.CreateCall(share, {part, count, each, context, e.g.function()->getArg(4)});

    llvm::IRBuilder<>::InsertPointGuard guard(e.g.b);
    const std::vector<Lane> outer_values = e.values.lanes;
    llvm::Value* outer_scratch = e.memory.scratch;
    e.g.b.SetInsertPoint(llvm::BasicBlock::Create(e.g.b.getContext(), "entry", part));
    e.memory.scratch = e.g.b.CreateAlloca(word);
    e.g.b.CreateStore(i64(e.g, 0), e.memory.scratch);
    for (unsigned k = 0; k < taken.size(); ++k) {
        const Value v = taken[k];
        llvm::Value* own = e.g.b.CreateLoad(types[k], e.g.b.CreateStructGEP(layout, part->getArg(2), k));
        if (e.source.kernel.values[v].pointer && e.source.is_sized(v)) {
            llvm::Value* at = e.g.b.CreateAlloca(pointer);
            e.g.b.CreateStore(own, at);
            own = at;
        }
        e.values[v].v = own;
    }
    for (const Value v : own_arrays) e.values[v].v = make_array(e.memory, e.source.param_of(v));
    LlvmValues none;
    const SerialLoop own{r.args[0], here.around};
    LaneContext inner = here;
    inner.around = &own;
    serial_loop(e.g, part->getArg(0), part->getArg(1), i64(e.g, 1), none, [&](llvm::Value* index, int, LlvmValues&) {
        e.values.define(inner, r.args[0], index);
        e.region(inner, r);
    });
    fence_streams(e.g, e.source);
    for (const Value v : own_arrays)
        if (e.source.is_sized(v))
            e.g.b.CreateCall(own_memory_function(e.g),
                             {i64(e.g, -2 - static_cast<std::int64_t>(e.source.param_of(v))), i64(e.g, 0), i64(e.g, 1)});
    e.g.b.CreateRetVoid();
    e.values.lanes = outer_values;
    e.memory.scratch = outer_scratch;
    return true;
}

}  // namespace pardo::emit
