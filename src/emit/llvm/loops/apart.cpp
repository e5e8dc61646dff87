// src/emit/llvm/loops/apart.cpp: loops whose iterations threads may share: each is a function of its own.
#include <algorithm>

#include "emit/llvm/emitter.h"
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

}  // namespace

/// Counts how often a region uses each array of the program.
void Emitter::count_arrays(const Region& r, std::vector<std::uint32_t>& uses) const {
    for (const InstrId id : r.body) {
        const Instr& in = kernel_.instrs[id];
        for (const Value v : in.operands)
            if (kernel_.values[v].pointer && !is_param(v)) ++uses[param_of(v)];
        for (const ir::RegionId inner : in.regions) count_arrays(kernel_.regions[inner], uses);
    }
}

/// Arrays that nothing outside of a region uses: each iteration has them for itself.
std::vector<Value> Emitter::arrays_inside(const Region& r) const {
    std::vector<std::uint32_t> uses(kernel_.arrays.size());
    count_arrays(r, uses);
    std::vector<Value> inside;
    for (std::size_t k = 0; k < uses.size(); ++k)
        if (const Value v = kernel_.arrays[k].value; uses[k] > 0 && uses[k] == info_.uses[v]) inside.push_back(v);
    return inside;
}

/// Collects what a region uses that is known before it; false if its iterations cannot run at the same time. `own`: arrays that each
/// thread makes for itself.
bool Emitter::takes_from_outside(const Region& r, const std::vector<Value>& own, std::vector<Value>& values) const {
    const auto is_own = [&](Value v) { return std::ranges::find(own, v) != own.end(); };
    return std::ranges::all_of(r.body, [&](InstrId id) {
        const Instr& in = kernel_.instrs[id];
        if (in.op == Opcode::Array || in.op == Opcode::TakeMemory || in.loop == LoopKind::Parallel || in.loop == LoopKind::Lockstep)
            return false;
        if (in.op == Opcode::Resize && !is_own(in.operands[0])) return false;
        for (const Value v : in.operands) {
            if (is_own(v)) continue;
            if (kernel_.values[v].pointer && !is_param(v) && info_.lane_arrays[param_of(v)]) return false;
            if (!values_[v].v || std::ranges::find(values, v) != values.end()) continue;
            if (values_[v].kind != LaneShape::Uniform) return false;
            values.push_back(v);
        }
        return std::ranges::all_of(in.regions, [&](ir::RegionId inner) { return takes_from_outside(kernel_.regions[inner], own, values); });
    });
}

/// About how long one run of a region takes, from what is known before it.
llvm::Value* Emitter::picoseconds(const Region& r) {
    constexpr std::int64_t operation = 100, memory = 300, function = 1000, unknown_rounds = 64;
    std::int64_t own = 0;
    llvm::Value* sum = i64(g_, 0);
    for (const InstrId id : r.body) {
        const Instr& in = kernel_.instrs[id];
        if (in.op != Opcode::For && in.op != Opcode::While && in.op != Opcode::If) {
            const bool moves = in.op == Opcode::Load || in.op == Opcode::Store;
            own += moves ? memory : in.op == Opcode::Call ? function : in.results.empty() ? 0 : operation;
            continue;
        }
        llvm::Value* rounds = i64(g_, in.op == Opcode::If ? 1 : unknown_rounds);
        if (in.op == Opcode::For) {
            llvm::Value* bounds[2] = {};
            std::int64_t known = 0;
            for (int k = 0; k < 2; ++k)
                bounds[k] = constant_int(kernel_, in.operands[k], known) ? i64(g_, known) : values_[in.operands[k]].v;
            if (bounds[0] && bounds[1])
                rounds = g_.b.CreateSub(bounds[1], bounds[0]);
            else if (piece(kernel_, in, known))
                rounds = i64(g_, known);
        }
        for (const ir::RegionId inner : in.regions) sum = g_.b.CreateAdd(sum, g_.b.CreateMul(rounds, picoseconds(kernel_.regions[inner])));
    }
    return g_.b.CreateAdd(sum, i64(g_, own));
}

/// The loop as a function of the iterations that one thread takes: `void part(first, last, context, nothing, stop)`. What it uses is in the
/// context. False: it is no such loop here.
bool Emitter::emit_apart_for(const Instr& in) {
    const Region& r = kernel_.regions[in.regions[0]];
    std::vector<Value> taken;
    const std::vector<Value> own_arrays = arrays_inside(r);
    if (lanes_ != 1 || mask_ || kernel_.rank > 0 || !takes_from_outside(r, own_arrays, taken)) return false;
    std::erase_if(taken, [&](Value v) { return llvm::isa<llvm::Constant>(values_[v].v); });
    llvm::Value *count = scalar(in.operands[1]), *each = picoseconds(r);

    llvm::SmallVector<llvm::Type*, 16> types;
    LlvmValues given;
    for (const Value v : taken) {
        const bool sized = kernel_.values[v].pointer && is_sized(v);
        given.push_back(sized ? g_.b.CreateLoad(g_.b.getPtrTy(), values_[v].v) : values_[v].v);
        types.push_back(given.back()->getType());
    }
    auto* layout = llvm::StructType::get(g_.b.getContext(), types);
    llvm::AllocaInst* context = nullptr;
    {
        llvm::IRBuilder<>::InsertPointGuard guard(g_.b);
        llvm::BasicBlock& entry = g_.function()->getEntryBlock();
        g_.b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
        context = g_.b.CreateAlloca(layout, nullptr, "taken");
    }
    for (unsigned k = 0; k < given.size(); ++k) g_.b.CreateStore(given[k], g_.b.CreateStructGEP(layout, context, k));

    llvm::Type *word = g_.b.getInt64Ty(), *pointer = g_.b.getPtrTy();
    auto* type = llvm::FunctionType::get(g_.b.getVoidTy(), {word, word, pointer, pointer, pointer}, false);
    auto* part = llvm::Function::Create(type, llvm::Function::InternalLinkage, symbol_ + "_part", *g_.module);
    set_attributes(part, g_.target);
    part->addParamAttr(2, llvm::Attribute::NoAlias);
    part->addParamAttr(2, llvm::Attribute::ReadOnly);
    llvm::FunctionCallee share = g_.module->getOrInsertFunction(
        share_loop_symbol, llvm::FunctionType::get(g_.b.getVoidTy(), {pointer, word, word, pointer, pointer}, false));
    llvm::cast<llvm::Function>(share.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    g_.b.CreateCall(share, {part, count, each, context, g_.function()->getArg(4)});

    llvm::IRBuilder<>::InsertPointGuard guard(g_.b);
    const std::vector<Lane> outer_values = values_;
    llvm::Value* outer_scratch = scratch_;
    g_.b.SetInsertPoint(llvm::BasicBlock::Create(g_.b.getContext(), "entry", part));
    scratch_ = g_.b.CreateAlloca(word);
    g_.b.CreateStore(i64(g_, 0), scratch_);
    for (unsigned k = 0; k < taken.size(); ++k) {
        const Value v = taken[k];
        llvm::Value* own = g_.b.CreateLoad(types[k], g_.b.CreateStructGEP(layout, part->getArg(2), k));
        if (kernel_.values[v].pointer && is_sized(v)) {
            llvm::Value* at = g_.b.CreateAlloca(pointer);
            g_.b.CreateStore(own, at);
            own = at;
        }
        values_[v].v = own;
    }
    for (const Value v : own_arrays) values_[v].v = make_array(param_of(v));
    LlvmValues none;
    around_.push_back(r.args[0]);
    serial_loop(part->getArg(0), part->getArg(1), i64(g_, 1), none, [&](llvm::Value* index, int, LlvmValues&) {
        define(r.args[0], index);
        region(r);
    });
    around_.pop_back();
    fence_streams();
    for (const Value v : own_arrays)
        if (is_sized(v))
            g_.b.CreateCall(own_memory_function(), {i64(g_, -2 - static_cast<std::int64_t>(param_of(v))), i64(g_, 0), i64(g_, 1)});
    g_.b.CreateRetVoid();
    values_ = outer_values;
    scratch_ = outer_scratch;
    return true;
}

}  // namespace pardo::emit
