// src/emit/llvm/loops/loop.cpp: regions, branches and serial loops, under masks where lanes go different ways.
#include "emit/llvm/emitter.h"
#include "emit/llvm/math/cast.h"

#include <pardo/error.h>

#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::LoopKind;
using ir::Opcode;
using ir::Region;
using ir::Value;

/// Tells LLVM that the loop ends, and whether copies of its body may pay.
void Emitter::finish_loop(llvm::BranchInst* latch, Unroll unroll, bool items) {
    auto fact = [&](const char* name) { return llvm::MDNode::get(g_.b.getContext(), llvm::MDString::get(g_.b.getContext(), name)); };
    llvm::SmallVector<llvm::Metadata*, 4> facts{nullptr, fact("llvm.loop.mustprogress")};
    if (unroll == Unroll::Never) facts.push_back(fact("llvm.loop.unroll.disable"));
    if (unroll == Unroll::Known) facts.push_back(fact("llvm.loop.unroll.runtime.disable"));
    if (items) facts.push_back(fact(items_loop));
    llvm::MDNode* id = llvm::MDNode::getDistinct(g_.b.getContext(), facts);
    id->replaceOperandWith(0, id);
    latch->setMetadata(llvm::LLVMContext::MD_loop, id);
    ++loops_;
}

/// No memory, no control flow, defined for every input.
bool Emitter::pure(const Instr& in) const { return ir::is_pure(in.op); }

/// A load of neighbours from memory that is in the nearest cache, under a mask that the processor knows: without active lanes it is none.
bool Emitter::cheap_load(const Instr& in) const {
    const LaneShape s = info_.shapes[in.operands[1]];
    const std::int64_t bytes = itemsize(type(in.operands[0]));
    const bool shared = !is_param(in.operands[0]) && !is_private(kernel_, in.operands[0]);
    return shared && g_.target.vector_bytes >= 32 && s.kind == LaneShape::Affine && std::abs(s.step) == 1 && bytes >= 4;
}

/// A region that costs less than the branch around it, and that may run with no lane active.
bool Emitter::cheap_region(const Region& r) const {
    for (InstrId id : r.body) {
        const Instr& in = kernel_.instrs[id];
        if (in.op == Opcode::Yield || (in.op == Opcode::Load && cheap_load(in))) continue;
        if (!pure(in)) return false;
    }
    return region_cost(kernel_, r) <= 10;
}

/// Emits what a loop body computes the same way in each iteration of its lanes in front of the loop; the loop runs at least once.
void Emitter::hoist(const Region& body) {
    for (InstrId id : body.body) {
        const Instr& in = kernel_.instrs[id];
        if (hoisted_[id] || in.results.empty() || info_.shapes[in.results[0]].kind != LaneShape::Uniform) continue;
        if (!pure(in)) {
            if (in.op != Opcode::Load || !is_param(in.operands[0])) continue;
            const ir::Param& param = kernel_.params[param_of(in.operands[0])];
            if (!param.noalias || param.access != ir::Access::Read) continue;
        }
        bool ready = in.op != Opcode::Dim || dims_[in.index];
        for (Value v : in.operands) ready &= values_[v].v != nullptr && values_[v].kind == LaneShape::Uniform;
        if (!ready) continue;
        const int lanes = std::exchange(lanes_, 1);
        instruction(id);
        lanes_ = lanes;
        hoisted_[id] = true;
    }
}

void Emitter::region(const Region& r) {
    const Region* outer_region = std::exchange(region_, &r);
    const std::size_t outer_position = position_;
    for (position_ = 0; position_ < r.body.size(); ++position_)
        if (!hoisted_[r.body[position_]]) instruction(r.body[position_]);
    region_ = outer_region;
    position_ = outer_position;
}

void Emitter::instruction(InstrId id) {
    const Instr& in = kernel_.instrs[id];
    switch (in.op) {
        case Opcode::Yield: return;
        case Opcode::Const: return define(in.results[0], constant(type(in.results[0]), in.scalar));
        case Opcode::Param: return define(in.results[0], params_[in.index]);
        case Opcode::Extent: return define(in.results[0], extents_[in.index]);
        case Opcode::Dim: return define(in.results[0], dims_[in.index]);
        case Opcode::LocalDim: return define(in.results[0], local_[in.index]);
        case Opcode::GroupDim: return define(in.results[0], groups_[in.index]);
        case Opcode::Array: return define(in.results[0], arrays_[in.index]);
        case Opcode::Load: return load(id, in);
        case Opcode::Store: return store(id, in);
        case Opcode::Atomic:
        case Opcode::CompareExchange: return atomic(in);
        case Opcode::Resize: return resize(in);
        case Opcode::TakeMemory: return take_memory(in);
        case Opcode::Report: return report(in);
        case Opcode::Fence: return fence(in);
        case Opcode::Barrier: return;
        case Opcode::If: return emit_if(id, in);
        case Opcode::While: return emit_while(id, in);
        case Opcode::For: return emit_for(id, in);
        default: return arithmetic(in);
    }
}

void Emitter::emit_if(InstrId id, const Instr& in) {
    if (info_.masked[id]) return is_check(in) ? emit_check(in) : emit_masked_if(in);
    const Region *then_region = &kernel_.regions[in.regions[0]], *else_region = &kernel_.regions[in.regions[1]];
    llvm::BasicBlock *then_block = block(g_, "then"), *else_block = block(g_, "else"), *done = block(g_, "endif");
    g_.b.CreateCondBr(scalar(in.operands[0]), then_block, else_block, is_check(in) ? likely() : nullptr);
    const int count = in.results.size();
    LlvmValues values[2];
    llvm::BasicBlock* ends[2];
    for (int side = 0; side < 2; ++side) {
        const Region& r = side == 0 ? *then_region : *else_region;
        g_.b.SetInsertPoint(side == 0 ? then_block : else_block);
        region(r);
        for (int k = 0; k < count; ++k) values[side].push_back(shaped(yield(r).operands[k], info_.shapes[in.results[k]]));
        ends[side] = g_.b.GetInsertBlock();
        g_.b.CreateBr(done);
    }
    g_.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) {
        llvm::PHINode* phi = g_.b.CreatePHI(values[0][k]->getType(), 2);
        for (int side = 0; side < 2; ++side) phi->addIncoming(values[side][k], ends[side]);
        define(in.results[k], phi);
    }
}

void Emitter::emit_masked_if(const Instr& in) {
    llvm::Value* condition = vector(in.operands[0]);
    llvm::Value* outer_mask = mask_;
    const bool outer_divergent = std::exchange(divergent_, true);
    const int count = in.results.size();
    LlvmValues values[2];
    for (int side = 0; side < 2; ++side) {
        const Region& r = kernel_.regions[in.regions[side]];
        auto results = [&] {
            for (int k = 0; k < count; ++k) values[side].push_back(vector(yield(r).operands[k]));
        };
        if (r.body.size() <= 1) {
            results();
            continue;
        }
        llvm::Value* chosen = side == 0 ? condition : g_.b.CreateNot(condition);
        mask_ = outer_mask ? g_.b.CreateAnd(outer_mask, chosen) : chosen;
        if (cheap_region(r)) {
            region(r);
            results();
        } else {
            llvm::BasicBlock *before = g_.b.GetInsertBlock(), *inside = block(g_, "masked"), *done = block(g_, "unmasked");
            branch_if_any(g_, mask_, inside, done);
            g_.b.SetInsertPoint(inside);
            region(r);
            results();
            llvm::BasicBlock* end = g_.b.GetInsertBlock();
            g_.b.CreateBr(done);
            g_.b.SetInsertPoint(done);
            for (llvm::Value*& v : values[side]) {
                llvm::PHINode* phi = g_.b.CreatePHI(v->getType(), 2);
                phi->addIncoming(v, end);
                phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
                v = phi;
            }
        }
        mask_ = outer_mask;
    }
    divergent_ = outer_divergent;
    for (int k = 0; k < count; ++k) define(in.results[k], g_.b.CreateSelect(condition, values[0][k], values[1][k]));
}

void Emitter::serial_loop(llvm::Value* lower, llvm::Value* upper, llvm::Value* step, LlvmValues& state, LaneBody body) {
    const bool items = std::exchange(next_loop_of_items_, false);
    auto* constant_step = llvm::dyn_cast<llvm::ConstantInt>(step);
    auto goes_on = [&](llvm::Value* i) {
        llvm::Value *up = g_.b.CreateICmpSLT(i, upper), *down = g_.b.CreateICmpSGT(i, upper);
        if (constant_step) return constant_step->isNegative() ? down : up;
        return g_.b.CreateSelect(g_.b.CreateICmpSGT(step, i64(g_, 0)), up, down);
    };
    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *loop = block(g_, "for"), *done = block(g_, "endfor");
    g_.b.CreateCondBr(goes_on(lower), loop, done);
    g_.b.SetInsertPoint(loop);
    llvm::PHINode* index = g_.b.CreatePHI(g_.b.getInt64Ty(), 2);
    index->addIncoming(lower, before);
    const LlvmValues initial = state;
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (llvm::Value*& v : state) {
        phis.push_back(g_.b.CreatePHI(v->getType(), 2));
        phis.back()->addIncoming(v, before);
        v = phis.back();
    }
    const int loops_before = loops_;
    body(index, 0, state);
    const Unroll unroll = loops_ == loops_before ? Unroll::May : Unroll::Known;  // copies of inner loops only make the program larger
    llvm::Value* next = g_.b.CreateAdd(index, step);
    llvm::BasicBlock* latch = g_.b.GetInsertBlock();
    index->addIncoming(next, latch);
    for (std::size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(state[k], latch);
    finish_loop(g_.b.CreateCondBr(goes_on(next), loop, done), unroll, items);
    g_.b.SetInsertPoint(done);
    for (std::size_t k = 0; k < phis.size(); ++k) {
        llvm::PHINode* result = g_.b.CreatePHI(state[k]->getType(), 2);
        result->addIncoming(initial[k], before);
        result->addIncoming(state[k], latch);
        state[k] = result;
    }
}

void Emitter::emit_for(InstrId id, const Instr& in) {
    if (in.loop == LoopKind::Lanes) return info_.vector_loop[id] ? emit_lanes_for(id, in) : emit_serial_lanes_for(id, in);
    if (info_.masked[id]) return emit_masked_for(in);
    if (in.loop == LoopKind::Parallel && emit_apart_for(in)) return;
    const Region& r = kernel_.regions[in.regions[0]];
    const int count = in.results.size();
    LlvmValues state;
    for (int k = 0; k < count; ++k) state.push_back(shaped(in.operands[3 + k], info_.shapes[in.results[k]]));
    // What comes a kilobyte later is no matter of this loop's iterations, and what asks for it keeps loads from leaving the loop.
    const bool outer_prefetch = std::exchange(prefetch_, false);
    around_.push_back(r.args[0]);
    auto body = [&](llvm::Value* index, int, LlvmValues& carried) {
        define(r.args[0], index);
        for (int k = 0; k < count; ++k) define(r.args[1 + k], carried[k]);
        region(r);
        for (int k = 0; k < count; ++k) carried[k] = shaped(yield(r).operands[k], info_.shapes[r.args[1 + k]]);
    };
    llvm::Value *lower = scalar(in.operands[0]), *upper = scalar(in.operands[1]);
    if (const std::vector<InstrId> loads = row_loads(id); !loads.empty()) lower = blocks_of_rows(loads, lower, upper, state, body);
    serial_loop(lower, upper, scalar(in.operands[2]), state, body);
    around_.pop_back();
    prefetch_ = outer_prefetch;
    for (int k = 0; k < count; ++k) define(in.results[k], state[k]);
}

void Emitter::LastValues::close(llvm::BasicBlock* latch) {
    for (Kept& each : kept) each.before->addIncoming(each.now, latch);
}

llvm::Value* Emitter::LastValues::of(int k, llvm::Value* otherwise) const {
    for (const Kept& each : kept)
        if (each.result == k) return each.now;
    return otherwise;
}

/// Carried values that all lanes in the loop have in common, so that they are one scalar there, but that lanes leave with one after the
/// other. At the head of a loop whose arguments are defined; `mask`: the lanes that have come so far.
Emitter::LastValues Emitter::last_values(const Instr& in, const ir::Region& body, int first_arg, int first_initial,
                                         llvm::BasicBlock* before, llvm::Value* mask) {
    LastValues last;
    for (int k = 0; k < in.results.size(); ++k) {
        const Value arg = body.args[first_arg + k];
        const bool varies = info_.shapes[arg].kind == LaneShape::Varying || yield(body).operands[k] == arg;
        if (varies || !info_.uses[in.results[k]]) continue;
        llvm::Value* initial = nullptr;
        {
            llvm::IRBuilder<>::InsertPointGuard guard(g_.b);
            g_.b.SetInsertPoint(before->getTerminator());
            initial = vector(in.operands[first_initial + k]);
        }
        llvm::BasicBlock* head = g_.b.GetInsertBlock();
        llvm::IRBuilder<> first(head, head->begin());
        llvm::PHINode* earlier = first.CreatePHI(initial->getType(), 2);
        earlier->addIncoming(initial, before);
        last.kept.push_back({k, earlier, g_.b.CreateSelect(mask, vector(arg), earlier)});
    }
    return last;
}

/// Bounds differ between lanes: runs until no lane is left. What is read afterwards keeps each lane's last value.
void Emitter::emit_masked_for(const Instr& in) {
    const Region& r = kernel_.regions[in.regions[0]];
    const bool reduces = in.loop == LoopKind::Lanes;
    const int count = in.results.size();
    llvm::Value* outer_mask = mask_;
    const bool outer_divergent = std::exchange(divergent_, true);
    const LaneShape index_shape = info_.shapes[r.args[0]];
    auto carried_shape = [&](int k) { return reduces ? LaneShape{LaneShape::Varying, 0} : info_.shapes[r.args[1 + k]]; };
    LlvmValues state{shaped(in.operands[0], index_shape)};
    for (int k = 0; k < count; ++k) state.push_back(shaped(in.operands[3 + k], carried_shape(k)));

    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *head = block(g_, "lanes.for"), *body = block(g_, "lanes.body"),
                     *done = block(g_, "lanes.endfor");
    llvm::Value* entry_mask = active();
    llvm::Value* upper = vector(in.operands[1]);
    llvm::Value* step = vector(in.operands[2]);
    std::int64_t constant_step = 0;
    const bool known_step = constant_int(kernel_, in.operands[2], constant_step);
    g_.b.CreateBr(head);
    g_.b.SetInsertPoint(head);
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (llvm::Value* v : state) {
        phis.push_back(g_.b.CreatePHI(v->getType(), 2));
        phis.back()->addIncoming(v, before);
    }
    llvm::PHINode* mask = g_.b.CreatePHI(entry_mask->getType(), 2);
    mask->addIncoming(entry_mask, before);
    define(r.args[0], phis[0]);
    if (!reduces)
        for (int k = 0; k < count; ++k) define(r.args[1 + k], phis[1 + k]);
    LastValues last = reduces ? LastValues() : last_values(in, r, 1, 3, before, mask);
    llvm::Value* index = vector(r.args[0]);
    llvm::Value *up = g_.b.CreateICmpSLT(index, upper), *down = g_.b.CreateICmpSGT(index, upper);
    llvm::Value* goes_on =
        known_step ? (constant_step < 0 ? down : up) : g_.b.CreateSelect(g_.b.CreateICmpSGT(step, integer(step, 0)), up, down);
    llvm::Value* active_mask = g_.b.CreateAnd(mask, goes_on);
    branch_if_any(g_, active_mask, body, done);
    g_.b.SetInsertPoint(body);
    mask_ = active_mask;
    region(r);
    LlvmValues next{index_shape.kind == LaneShape::Varying ? g_.b.CreateAdd(phis[0], step)
                                                           : g_.b.CreateAdd(phis[0], scalar(in.operands[2]))};
    for (int k = 0; k < count; ++k) {
        llvm::Value* v = shaped(yield(r).operands[k], carried_shape(k));
        if (reduces) v = combine(in.combines[k], type(in.results[k]), phis[1 + k], v);
        const bool freeze = carried_shape(k).kind == LaneShape::Varying && info_.uses[in.results[k]] && v != phis[1 + k];
        next.push_back(freeze ? g_.b.CreateSelect(mask_, v, phis[1 + k]) : v);
    }
    llvm::BasicBlock* latch = g_.b.GetInsertBlock();
    for (std::size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], latch);
    mask->addIncoming(active_mask, latch);
    last.close(latch);
    finish_loop(g_.b.CreateBr(head), Unroll::Never);
    g_.b.SetInsertPoint(done);
    mask_ = outer_mask;
    divergent_ = outer_divergent;
    for (int k = 0; k < count; ++k) {
        const bool wide = reduces && type(in.results[k]) == DType::Float16;  // see combine
        define(in.results[k], wide ? round_half(g_, phis[1 + k]) : last.of(k, phis[1 + k]));
    }
}

/// A condition of lanes as one that they have in common, if there is such a part, and the rest.
Emitter::Parted Emitter::part(Value condition) const {
    const Instr* in = ir::definition(kernel_, condition);
    if (!in || in->op != Opcode::And) return {ir::no_value, condition};
    for (int k = 0; k < 2; ++k)
        if (info_.shapes[in->operands[k]].kind == LaneShape::Uniform) return {in->operands[k], in->operands[1 - k]};
    return {ir::no_value, condition};
}

void Emitter::emit_while(InstrId id, const Instr& in) {
    const Region &condition = kernel_.regions[in.regions[0]], &r = kernel_.regions[in.regions[1]];
    const bool masked = info_.masked[id];
    const int count = in.results.size();
    llvm::Value* outer_mask = mask_;
    const bool outer_divergent = divergent_;
    llvm::BasicBlock *head = block(g_, "while"), *body = block(g_, "while.body"), *done = block(g_, "endwhile");
    LlvmValues initial;
    for (int k = 0; k < count; ++k) initial.push_back(shaped(in.operands[k], info_.shapes[r.args[k]]));
    llvm::Value* entry_mask = masked ? active() : nullptr;
    llvm::BasicBlock* before = g_.b.GetInsertBlock();
    g_.b.CreateBr(head);
    g_.b.SetInsertPoint(head);
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (int k = 0; k < count; ++k) {
        phis.push_back(g_.b.CreatePHI(initial[k]->getType(), 2));
        phis[k]->addIncoming(initial[k], before);
        define(condition.args[k], phis[k]);
        define(r.args[k], phis[k]);
    }
    llvm::PHINode* mask = nullptr;
    if (masked) {
        mask = g_.b.CreatePHI(entry_mask->getType(), 2);
        mask->addIncoming(entry_mask, before);
        mask_ = mask;
        divergent_ = true;
    }
    LastValues last = masked ? last_values(in, r, 0, 0, before, mask) : LastValues();
    region(condition);
    if (masked) {
        const Parted parted = part(yield(condition).operands[0]);
        mask_ = g_.b.CreateAnd(mask, vector(parted.varying));
        llvm::Value* on = any(g_, mask_);
        g_.b.CreateCondBr(parted.common == ir::no_value ? on : g_.b.CreateAnd(scalar(parted.common), on), body, done);
    } else {
        g_.b.CreateCondBr(scalar(yield(condition).operands[0]), body, done);
    }
    llvm::Value* body_mask = mask_;
    g_.b.SetInsertPoint(body);
    around_.push_back(ir::no_value);
    region(r);
    around_.pop_back();
    LlvmValues next;
    for (int k = 0; k < count; ++k) {
        const LaneShape s = info_.shapes[r.args[k]];
        llvm::Value* v = shaped(yield(r).operands[k], s);
        const bool freeze = masked && s.kind == LaneShape::Varying && info_.uses[in.results[k]] && v != phis[k];
        next.push_back(freeze ? g_.b.CreateSelect(body_mask, v, phis[k]) : v);
    }
    llvm::BasicBlock* latch = g_.b.GetInsertBlock();
    for (int k = 0; k < count; ++k) phis[k]->addIncoming(next[k], latch);
    if (masked) mask->addIncoming(body_mask, latch);
    last.close(latch);
    finish_loop(g_.b.CreateBr(head), Unroll::Never);
    g_.b.SetInsertPoint(done);
    mask_ = outer_mask;
    divergent_ = outer_divergent;
    for (int k = 0; k < count; ++k) define(in.results[k], last.of(k, phis[k]));
}

}  // namespace pardo::emit
