// src/emit/llvm/loops/loop.cpp: loops, under masks where lanes go different ways.
#include "emit/llvm/loops/loop.h"

#include "emit/llvm/loops/parallel.h"
#include "emit/llvm/loops/reduce.h"
#include "emit/llvm/loops/serial.h"
#include "emit/llvm/math/cast.h"
#include "emit/llvm/math/combine.h"
#include "emit/llvm/transposed_loads.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::LoopKind;
using ir::Opcode;
using ir::Region;
using ir::Value;

namespace {

/// The last values of a loop that lanes leave one after the other.
struct LastValues {
    struct Kept {
        int result;
        llvm::PHINode* before;
        llvm::Value* now;
    };
    std::vector<Kept> kept;

    void close(llvm::BasicBlock* latch) {
        for (Kept& each : kept) each.before->addIncoming(each.now, latch);
    }
    llvm::Value* of(int k, llvm::Value* otherwise) const {
        for (const Kept& each : kept)
            if (each.result == k) return each.now;
        return otherwise;
    }
};

/// Carried values that all lanes in the loop have in common, so that they are one scalar there, but that lanes leave with one after the
/// other. At the head of a loop whose arguments are defined; `mask`: the lanes that have come so far.
LastValues last_values(Emitter& e, const LaneContext& here, const Instr& in, const ir::Region& body, int first_arg, int first_initial,
                       llvm::BasicBlock* before, llvm::Value* mask) {
    LastValues last;
    for (int k = 0; k < in.results.size(); ++k) {
        const Value arg = body.args[first_arg + k];
        const bool varies = e.source.shape(arg).kind == LaneShape::Varying || e.source.yield(body).operands[k] == arg;
        if (varies || !e.source.info.uses[in.results[k]]) continue;
        llvm::Value* initial = nullptr;
        {
            llvm::IRBuilder<>::InsertPointGuard guard(e.g.b);
            e.g.b.SetInsertPoint(before->getTerminator());
            initial = e.values.vector(here, in.operands[first_initial + k]);
        }
        llvm::BasicBlock* head = e.g.b.GetInsertBlock();
        llvm::IRBuilder<> first(head, head->begin());
        llvm::PHINode* earlier = first.CreatePHI(initial->getType(), 2);
        earlier->addIncoming(initial, before);
        last.kept.push_back({k, earlier, e.g.b.CreateSelect(mask, e.values.vector(here, arg), earlier)});
    }
    return last;
}

struct Parted {
    Value common, varying;
};

/// A condition of lanes as one that they have in common, if there is such a part, and the rest.
Parted part(const Source& source, Value condition) {
    const Instr* in = ir::definition(source.kernel, condition);
    if (!in || in->op != Opcode::And) return {ir::no_value, condition};
    for (int k = 0; k < 2; ++k)
        if (source.is_uniform(in->operands[k])) return {in->operands[k], in->operands[1 - k]};
    return {ir::no_value, condition};
}

}  // namespace

void hoist(Emitter& e, const LaneContext& here, const Region& body) {
    LaneContext front = here;
    front.lanes = 1;
    for (InstrId id : body.body) {
        const Instr& in = e.source.instr(id);
        if (e.values.hoisted[id] || in.results.empty() || !e.source.is_uniform(in.results[0])) continue;
        if (!ir::is_pure(in.op)) {
            if (in.op != Opcode::Load || !e.source.is_param(in.operands[0])) continue;
            const ir::Param& param = e.source.kernel.params[e.source.param_of(in.operands[0])];
            if (!param.noalias || param.access != ir::Access::Read) continue;
        }
        bool ready = in.op != Opcode::Dim || here.item->dims[in.index()];
        for (Value v : in.operands) ready &= e.values[v].v != nullptr && e.values[v].kind == LaneShape::Uniform;
        if (!ready) continue;
        e.instruction(front, id);
        e.values.hoisted[id] = true;
    }
}

void emit_for(Emitter& e, const LaneContext& here, InstrId id, const Instr& in) {
    if (in.loop_kind() == LoopKind::Lanes)
        return e.source.info.vector_loop[id] ? emit_lanes_for(e, here, in) : emit_serial_lanes_for(e, here, id, in);
    if (e.source.info.masked[id]) return emit_masked_for(e, here, in);
    if (in.loop_kind() == LoopKind::Parallel && emit_parallel_for(e, here, in)) return;
    const Region& r = e.source.region(in.regions[0]);
    const int count = in.results.size();
    LlvmValues state;
    for (int k = 0; k < count; ++k) state.push_back(e.values.shaped(here, in.operands[3 + k], e.source.shape(in.results[k])));
    // What comes a kilobyte later is no matter of this loop's iterations, and what asks for it keeps loads from leaving the loop.
    LaneContext inner = here;
    inner.prefetch = false;
    const SerialLoop own{r.args[0], here.around};
    inner.around = &own;
    auto body = [&](const LaneContext& inside, llvm::Value* index, int, LlvmValues& carried) {
        e.values.define(inside, r.args[0], index);
        for (int k = 0; k < count; ++k) e.values.define(inside, r.args[1 + k], carried[k]);
        e.region(inside, r);
        for (int k = 0; k < count; ++k) carried[k] = e.values.shaped(inside, e.source.yield(r).operands[k], e.source.shape(r.args[1 + k]));
    };
    llvm::Value *lower = e.values.scalar(in.operands[0]), *upper = e.values.scalar(in.operands[1]);
    if (const std::vector<InstrId> loads = row_loads(e.values, inner, id); !loads.empty())
        lower = blocks_of_rows(e.g, inner, loads, lower, upper, state, body);
    serial_loop(e.g, lower, upper, e.values.scalar(in.operands[2]), state,
                [&](llvm::Value* index, int copy, LlvmValues& carried) { body(inner, index, copy, carried); });
    for (int k = 0; k < count; ++k) e.values.define(here, in.results[k], state[k]);
}

void emit_masked_for(Emitter& e, const LaneContext& here, const Instr& in) {
    const Region& r = e.source.region(in.regions[0]);
    const bool reduces = in.loop_kind() == LoopKind::Lanes;
    const int count = in.results.size();
    const LaneShape index_shape = e.source.shape(r.args[0]);
    auto carried_shape = [&](int k) { return reduces ? LaneShape{LaneShape::Varying, 0} : e.source.shape(r.args[1 + k]); };
    LlvmValues state{e.values.shaped(here, in.operands[0], index_shape)};
    for (int k = 0; k < count; ++k) state.push_back(e.values.shaped(here, in.operands[3 + k], carried_shape(k)));

    llvm::BasicBlock *before = e.g.b.GetInsertBlock(), *head = block(e.g, "lanes.for"), *body = block(e.g, "lanes.body"),
                     *done = block(e.g, "lanes.endfor");
    llvm::Value* entry_mask = active(e.g, here);
    llvm::Value* upper = e.values.vector(here, in.operands[1]);
    llvm::Value* step = e.values.vector(here, in.operands[2]);
    std::int64_t constant_step = 0;
    const bool known_step = constant_int(e.source.kernel, in.operands[2], constant_step);
    e.g.b.CreateBr(head);
    e.g.b.SetInsertPoint(head);
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (llvm::Value* v : state) {
        phis.push_back(e.g.b.CreatePHI(v->getType(), 2));
        phis.back()->addIncoming(v, before);
    }
    llvm::PHINode* mask = e.g.b.CreatePHI(entry_mask->getType(), 2);
    mask->addIncoming(entry_mask, before);
    e.values.define(here, r.args[0], phis[0]);
    if (!reduces)
        for (int k = 0; k < count; ++k) e.values.define(here, r.args[1 + k], phis[1 + k]);
    LastValues last = reduces ? LastValues() : last_values(e, here, in, r, 1, 3, before, mask);
    llvm::Value* index = e.values.vector(here, r.args[0]);
    llvm::Value *up = e.g.b.CreateICmpSLT(index, upper), *down = e.g.b.CreateICmpSGT(index, upper);
    llvm::Value* goes_on =
        known_step ? (constant_step < 0 ? down : up) : e.g.b.CreateSelect(e.g.b.CreateICmpSGT(step, integer(step, 0)), up, down);
    llvm::Value* active_mask = e.g.b.CreateAnd(mask, goes_on);
    branch_if_any(e.g, active_mask, body, done);
    e.g.b.SetInsertPoint(body);
    e.region(here.diverging(active_mask), r);
    LlvmValues next{index_shape.kind == LaneShape::Varying ? e.g.b.CreateAdd(phis[0], step)
                                                           : e.g.b.CreateAdd(phis[0], e.values.scalar(in.operands[2]))};
    for (int k = 0; k < count; ++k) {
        llvm::Value* v = e.values.shaped(here, e.source.yield(r).operands[k], carried_shape(k));
        if (reduces) v = combine(e.g, in.combines()[k], e.source.type(in.results[k]), phis[1 + k], v);
        const bool freeze = carried_shape(k).kind == LaneShape::Varying && e.source.info.uses[in.results[k]] && v != phis[1 + k];
        next.push_back(freeze ? e.g.b.CreateSelect(active_mask, v, phis[1 + k]) : v);
    }
    llvm::BasicBlock* latch = e.g.b.GetInsertBlock();
    for (std::size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(next[k], latch);
    mask->addIncoming(active_mask, latch);
    last.close(latch);
    finish_loop(e.g, e.g.b.CreateBr(head), Unroll::Never);
    e.g.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) e.values.define(here, in.results[k], last.of(k, phis[1 + k]));
}

void emit_while(Emitter& e, const LaneContext& here, InstrId id, const Instr& in) {
    const Region &condition = e.source.region(in.regions[0]), &r = e.source.region(in.regions[1]);
    const bool masked = e.source.info.masked[id];
    const int count = in.results.size();
    llvm::BasicBlock *head = block(e.g, "while"), *body = block(e.g, "while.body"), *done = block(e.g, "endwhile");
    LlvmValues initial;
    for (int k = 0; k < count; ++k) initial.push_back(e.values.shaped(here, in.operands[k], e.source.shape(r.args[k])));
    llvm::Value* entry_mask = masked ? active(e.g, here) : nullptr;
    llvm::BasicBlock* before = e.g.b.GetInsertBlock();
    e.g.b.CreateBr(head);
    e.g.b.SetInsertPoint(head);
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (int k = 0; k < count; ++k) {
        phis.push_back(e.g.b.CreatePHI(initial[k]->getType(), 2));
        phis[k]->addIncoming(initial[k], before);
        e.values.define(here, condition.args[k], phis[k]);
        e.values.define(here, r.args[k], phis[k]);
    }
    llvm::PHINode* mask = nullptr;
    if (masked) {
        mask = e.g.b.CreatePHI(entry_mask->getType(), 2);
        mask->addIncoming(entry_mask, before);
    }
    LastValues last = masked ? last_values(e, here, in, r, 0, 0, before, mask) : LastValues();
    e.region(masked ? here.diverging(mask) : here, condition);
    LaneContext inner = here;
    if (masked) {
        const Parted parted = part(e.source, e.source.yield(condition).operands[0]);
        inner = here.diverging(e.g.b.CreateAnd(mask, e.values.vector(here, parted.varying)));
        llvm::Value* on = any(e.g, inner.mask);
        e.g.b.CreateCondBr(parted.common == ir::no_value ? on : e.g.b.CreateAnd(e.values.scalar(parted.common), on), body, done);
    } else {
        e.g.b.CreateCondBr(e.values.scalar(e.source.yield(condition).operands[0]), body, done);
    }
    e.g.b.SetInsertPoint(body);
    const SerialLoop own{ir::no_value, here.around};
    inner.around = &own;
    e.region(inner, r);
    LlvmValues next;
    for (int k = 0; k < count; ++k) {
        const LaneShape s = e.source.shape(r.args[k]);
        llvm::Value* v = e.values.shaped(here, e.source.yield(r).operands[k], s);
        const bool freeze = masked && s.kind == LaneShape::Varying && e.source.info.uses[in.results[k]] && v != phis[k];
        next.push_back(freeze ? e.g.b.CreateSelect(inner.mask, v, phis[k]) : v);
    }
    llvm::BasicBlock* latch = e.g.b.GetInsertBlock();
    for (int k = 0; k < count; ++k) phis[k]->addIncoming(next[k], latch);
    if (masked) mask->addIncoming(inner.mask, latch);
    last.close(latch);
    finish_loop(e.g, e.g.b.CreateBr(head), Unroll::Never);
    e.g.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) e.values.define(here, in.results[k], last.of(k, phis[k]));
}

}  // namespace pardo::emit
