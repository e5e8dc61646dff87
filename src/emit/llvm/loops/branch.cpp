// src/emit/llvm/loops/branch.cpp: branches, under masks where lanes go different ways.
#include "emit/llvm/loops/branch.h"

#include "emit/llvm/checks.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;

namespace {

/// Whether a masked load costs little: of neighbouring elements that are in the nearest cache, with a mask that the processor takes.
/// Without active lanes it reads nothing.
bool cheap_load(const Source& source, const LlvmTarget& target, const Instr& in) {
    const LaneShape s = source.shape(in.operands[1]);
    const std::int64_t bytes = itemsize(source.type(in.operands[0]));
    const bool shared = !source.is_param(in.operands[0]) && !is_private(source.kernel, in.operands[0]);
    return shared && target.vector_bytes >= 32 && s.kind == LaneShape::Affine && std::abs(s.step) == 1 && bytes >= 4;
}

/// A region that costs less than the branch around it, and that may run with no lane active.
bool cheap_region(const Source& source, const LlvmTarget& target, const Region& r) {
    for (InstrId id : r.body) {
        const Instr& in = source.instr(id);
        if (in.op == Opcode::Yield || (in.op == Opcode::Load && cheap_load(source, target, in))) continue;
        if (!ir::is_pure(in.op)) return false;
    }
    return region_cost(source.kernel, r) <= 10;
}

void emit_masked_if(Emitter& e, const LaneContext& here, const Instr& in) {
    llvm::Value* condition = e.values.vector(here, in.operands[0]);
    const int count = in.results.size();
    LlvmValues values[2];
    for (int side = 0; side < 2; ++side) {
        const Region& r = e.source.region(in.regions[side]);
        auto results = [&] {
            for (int k = 0; k < count; ++k) values[side].push_back(e.values.vector(here, e.source.yield(r).operands[k]));
        };
        if (r.body.size() <= 1) {
            results();
            continue;
        }
        llvm::Value* chosen = side == 0 ? condition : e.g.b.CreateNot(condition);
        const LaneContext inner = here.diverging(here.mask ? e.g.b.CreateAnd(here.mask, chosen) : chosen);
        if (cheap_region(e.source, e.g.target, r)) {
            e.region(inner, r);
            results();
        } else {
            llvm::BasicBlock *before = e.g.b.GetInsertBlock(), *inside = block(e.g, "masked"), *done = block(e.g, "unmasked");
            branch_if_any(e.g, inner.mask, inside, done);
            e.g.b.SetInsertPoint(inside);
            e.region(inner, r);
            results();
            llvm::BasicBlock* end = e.g.b.GetInsertBlock();
            e.g.b.CreateBr(done);
            e.g.b.SetInsertPoint(done);
            for (llvm::Value*& v : values[side]) {
                llvm::PHINode* phi = e.g.b.CreatePHI(v->getType(), 2);
                phi->addIncoming(v, end);
                phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
                v = phi;
            }
        }
    }
    for (int k = 0; k < count; ++k) e.values.define(here, in.results[k], e.g.b.CreateSelect(condition, values[0][k], values[1][k]));
}

}  // namespace

void emit_if(Emitter& e, const LaneContext& here, InstrId id, const Instr& in) {
    if (e.source.info.masked[id]) return is_check(e.source, in) ? emit_check(e, here, in) : emit_masked_if(e, here, in);
    const Region *then_region = &e.source.region(in.regions[0]), *else_region = &e.source.region(in.regions[1]);
    llvm::BasicBlock *then_block = block(e.g, "then"), *else_block = block(e.g, "else"), *done = block(e.g, "endif");
    e.g.b.CreateCondBr(e.values.scalar(in.operands[0]), then_block, else_block, is_check(e.source, in) ? likely(e.g) : nullptr);
    const int count = in.results.size();
    LlvmValues values[2];
    llvm::BasicBlock* ends[2];
    for (int side = 0; side < 2; ++side) {
        const Region& r = side == 0 ? *then_region : *else_region;
        e.g.b.SetInsertPoint(side == 0 ? then_block : else_block);
        e.region(here, r);
        for (int k = 0; k < count; ++k)
            values[side].push_back(e.values.shaped(here, e.source.yield(r).operands[k], e.source.shape(in.results[k])));
        ends[side] = e.g.b.GetInsertBlock();
        e.g.b.CreateBr(done);
    }
    e.g.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) {
        llvm::PHINode* phi = e.g.b.CreatePHI(values[0][k]->getType(), 2);
        for (int side = 0; side < 2; ++side) phi->addIncoming(values[side][k], ends[side]);
        e.values.define(here, in.results[k], phi);
    }
}

}  // namespace pardo::emit
