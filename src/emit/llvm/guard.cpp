// src/emit/llvm/guard.cpp: steps that only some of a row's items take (`if (i < n)`): the loop runs over these alone, without masks.
#include <algorithm>

#include "emit/llvm/emitter.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

/// True if emit_index can tell the value outside of the step's loop.
bool Emitter::index_known(Value v, std::uint32_t part) const {
    const ir::ValueInfo& info = kernel_.values[v];
    if (fission_.uniform[v]) return info.region != ir::RegionId(~0u) || fission_.part[info.def] != part;
    if (!cheap_index(kernel_, fission_.uniform, v)) return false;
    const Instr& in = kernel_.instrs[info.def];
    return std::all_of(in.operands.begin(), in.operands.end(), [&](Value operand) { return index_known(operand, part); });
}

/// The value's scalar, or its base at the row's first item.
llvm::Value* Emitter::emit_index(Value v) {
    if (fission_.uniform[v]) return scalar(v);
    const InstrId def = kernel_.values[v].def;
    for (Value operand : kernel_.instrs[def].operands) emit_index(operand);
    instruction(def);
    return scalar(v);
}

/// Takes a condition apart into comparisons of an item's index with what is the same in its row.
bool Emitter::find_bounds(Value condition, std::uint32_t part, std::vector<Bound>& bounds) const {
    const ir::ValueInfo& info = kernel_.values[condition];
    if (info.region != ir::RegionId(~0u)) return false;
    const Instr& in = kernel_.instrs[info.def];
    if (in.op == Opcode::And) return find_bounds(in.operands[0], part, bounds) && find_bounds(in.operands[1], part, bounds);
    if (in.op != Opcode::Eq && (in.op < Opcode::Lt || in.op > Opcode::Ge)) return false;
    Bound bound{in.op, in.operands[0], in.operands[1]};
    if (info_.shapes[bound.index].kind == LaneShape::Uniform) {
        constexpr Opcode turned[] = {Opcode::Gt, Opcode::Ge, Opcode::Lt, Opcode::Le};
        std::swap(bound.index, bound.limit);
        if (in.op != Opcode::Eq) bound.op = turned[static_cast<int>(in.op) - static_cast<int>(Opcode::Lt)];
    }
    const bool fits = info_.shapes[bound.index] == LaneShape{LaneShape::Affine, 1} &&
                      info_.shapes[bound.limit].kind == LaneShape::Uniform && index_known(bound.index, part) &&
                      index_known(bound.limit, part);
    if (fits) bounds.push_back(bound);
    return fits;
}

/// The branch that is all a step does, if its condition bounds the items of a row.
Emitter::Guard Emitter::find_guard(const Region& r, const Step& step) const {
    Guard guard;
    if (!info_.item_lanes || !step.copies.empty() || !step.stores.empty() || !step.shared.empty()) return guard;
    InstrId branch = ~0u;
    for (std::uint32_t at : step.at) {
        const Instr& in = kernel_.instrs[r.body[at]];
        if (ir::is_pure(in.op) || in.op == Opcode::Load) continue;
        if (in.op != Opcode::If || branch != ~0u || !in.results.empty()) return guard;
        if (kernel_.regions[in.regions[1]].body.size() > 1) return guard;
        branch = r.body[at];
    }
    if (branch == ~0u || !find_bounds(kernel_.instrs[branch].operands[0], fission_.part[branch], guard.bounds)) return guard;
    guard.branch = branch;
    return guard;
}

/// Runs `body` for the items of one row that pass the guard.
void Emitter::guarded_lanes(const Guard& guard, int lanes, ItemBody body) {
    const auto last = static_cast<std::size_t>(kernel_.rank - 1);
    llvm::Value* items = i64(g_, kernel_.group_size[static_cast<int>(last)]);
    llvm::Value* row = g_.b.CreateMul(item_, items);
    auto least = [&](llvm::Intrinsic::ID which, llvm::Value* x, llvm::Value* y) { return g_.b.CreateBinaryIntrinsic(which, x, y); };
    local_[last] = i64(g_, 0);
    dims_[last] = bases_[last];
    llvm::Value *lower = i64(g_, 0), *upper = items;
    for (const Bound& bound : guard.bounds) {
        llvm::Value *first = emit_index(bound.index), *limit = emit_index(bound.limit);
        // Items below the limit; differences are at most the number of items once the order is known.
        llvm::Value* distance = least(llvm::Intrinsic::umin, g_.b.CreateSub(limit, first), items);
        llvm::Value* below = g_.b.CreateSelect(g_.b.CreateICmpSGT(limit, first), distance, i64(g_, 0));
        llvm::Value* not_above = g_.b.CreateSelect(g_.b.CreateICmpSGE(limit, first), g_.b.CreateAdd(distance, i64(g_, 1)), i64(g_, 0));
        const bool from = bound.op == Opcode::Gt || bound.op == Opcode::Ge || bound.op == Opcode::Eq;
        const bool to = bound.op == Opcode::Lt || bound.op == Opcode::Le || bound.op == Opcode::Eq;
        if (from) lower = least(llvm::Intrinsic::smax, lower, bound.op == Opcode::Gt ? not_above : below);
        if (to) upper = least(llvm::Intrinsic::smin, upper, bound.op == Opcode::Lt ? below : not_above);
    }
    llvm::BasicBlock *run = block(g_, "guarded"), *done = block(g_, "guarded.done");
    g_.b.CreateCondBr(g_.b.CreateICmpSLT(lower, upper), run, done);
    g_.b.SetInsertPoint(run);
    LanePlan plan;
    plan.lanes = lanes;
    LlvmValues none;
    lane_loop(lower, upper, plan, none, [&](llvm::Value* index, int, LlvmValues&) {
        local_[last] = index;
        dims_[last] = g_.b.CreateAdd(bases_[last], index);
        item_ = g_.b.CreateAdd(row, index);
        body();
    });
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
}

}  // namespace pardo::emit
