// src/emit/llvm/guard.cpp: steps that only some of a row's items take (`if (i < n)`): the loop runs over these alone, without masks.
#include "emit/llvm/guard.h"

#include <algorithm>

#include "emit/llvm/loops/lanes.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

namespace {

using Bound = Guard::Bound;

/// True if emit_index can tell the value outside of the step's loop.
bool index_known(const Source& source, Value v, std::uint32_t part) {
    const ir::ValueInfo& info = source.kernel.values[v];
    if (source.fission.uniform[v]) return info.region != ir::RegionId(~0u) || source.fission.part[info.def] != part;
    if (!cheap_index(source.kernel, source.fission.uniform, v)) return false;
    const Instr& in = source.instr(info.def);
    return std::all_of(in.operands.begin(), in.operands.end(), [&](Value operand) { return index_known(source, operand, part); });
}

/// The value's scalar, or its base at the row's first item.
llvm::Value* emit_index(Emitter& e, const LaneContext& here, Value v) {
    if (e.source.fission.uniform[v]) return e.values.scalar(v);
    const InstrId def = e.source.kernel.values[v].def;
    for (Value operand : e.source.instr(def).operands) emit_index(e, here, operand);
    e.instruction(here, def);
    return e.values.scalar(v);
}

/// Takes a condition apart into comparisons of an item's index with what is the same in its row.
bool find_bounds(const Source& source, Value condition, std::uint32_t part, std::vector<Bound>& bounds) {
    const ir::ValueInfo& info = source.kernel.values[condition];
    if (info.region != ir::RegionId(~0u)) return false;
    const Instr& in = source.instr(info.def);
    if (in.op == Opcode::And) return find_bounds(source, in.operands[0], part, bounds) && find_bounds(source, in.operands[1], part, bounds);
    if (in.op != Opcode::Eq && (in.op < Opcode::Lt || in.op > Opcode::Ge)) return false;
    Bound bound{in.op, in.operands[0], in.operands[1]};
    if (source.is_uniform(bound.index)) {
        constexpr Opcode turned[] = {Opcode::Gt, Opcode::Ge, Opcode::Lt, Opcode::Le};
        std::swap(bound.index, bound.limit);
        if (in.op != Opcode::Eq) bound.op = turned[static_cast<int>(in.op) - static_cast<int>(Opcode::Lt)];
    }
    const bool fits = source.shape(bound.index) == LaneShape{LaneShape::Affine, 1} && source.is_uniform(bound.limit) &&
                      index_known(source, bound.index, part) && index_known(source, bound.limit, part);
    if (fits) bounds.push_back(bound);
    return fits;
}

}  // namespace

Guard find_guard(const Source& source, const Region& r, const Step& step) {
    Guard guard;
    if (!source.info.item_lanes || !step.copies.empty() || !step.stores.empty() || !step.shared.empty()) return guard;
    InstrId branch = ~0u;
    for (std::uint32_t at : step.at) {
        const Instr& in = source.instr(r.body[at]);
        if (ir::is_pure(in.op) || in.op == Opcode::Load) continue;
        if (in.op != Opcode::If || branch != ~0u || !in.results.empty()) return guard;
        if (source.region(in.regions[1]).body.size() > 1) return guard;
        branch = r.body[at];
    }
    if (branch == ~0u || !find_bounds(source, source.instr(branch).operands[0], source.fission.part[branch], guard.bounds)) return guard;
    guard.branch = branch;
    return guard;
}

void guarded_lanes(Emitter& e, const LaneContext& here, const Guard& guard, int lanes, ItemBody body) {
    const auto last = static_cast<std::size_t>(e.source.kernel.rank - 1);
    llvm::Value* items = i64(e.g, e.source.kernel.group_size[static_cast<int>(last)]);
    llvm::Value* row = e.g.b.CreateMul(here.item->number, items);
    auto least = [&](llvm::Intrinsic::ID which, llvm::Value* x, llvm::Value* y) { return e.g.b.CreateBinaryIntrinsic(which, x, y); };
    Item first_item = *here.item;
    first_item.local[last] = i64(e.g, 0);
    first_item.dims[last] = first_item.bases[last];
    LaneContext start = here;
    start.item = &first_item;
    llvm::Value *lower = i64(e.g, 0), *upper = items;
    for (const Bound& bound : guard.bounds) {
        llvm::Value *first = emit_index(e, start, bound.index), *limit = emit_index(e, start, bound.limit);
        // Items below the limit; differences are at most the number of items once the order is known.
        llvm::Value* distance = least(llvm::Intrinsic::umin, e.g.b.CreateSub(limit, first), items);
        llvm::Value* below = e.g.b.CreateSelect(e.g.b.CreateICmpSGT(limit, first), distance, i64(e.g, 0));
        llvm::Value* not_above = e.g.b.CreateSelect(e.g.b.CreateICmpSGE(limit, first), e.g.b.CreateAdd(distance, i64(e.g, 1)), i64(e.g, 0));
        const bool from = bound.op == Opcode::Gt || bound.op == Opcode::Ge || bound.op == Opcode::Eq;
        const bool to = bound.op == Opcode::Lt || bound.op == Opcode::Le || bound.op == Opcode::Eq;
        if (from) lower = least(llvm::Intrinsic::smax, lower, bound.op == Opcode::Gt ? not_above : below);
        if (to) upper = least(llvm::Intrinsic::smin, upper, bound.op == Opcode::Lt ? below : not_above);
    }
    llvm::BasicBlock *run = block(e.g, "guarded"), *done = block(e.g, "guarded.done");
    e.g.b.CreateCondBr(e.g.b.CreateICmpSLT(lower, upper), run, done);
    e.g.b.SetInsertPoint(run);
    LanePlan plan;
    plan.lanes = lanes;
    LlvmValues none;
    lane_loop(e.memory, here, lower, upper, plan, none, [&](const LaneContext& inside, llvm::Value* index, int, LlvmValues&) {
        Item item = *here.item;
        item.local[last] = index;
        item.dims[last] = e.g.b.CreateAdd(item.bases[last], index);
        item.number = e.g.b.CreateAdd(row, index);
        LaneContext at = inside;
        at.item = &item;
        body(at);
    });
    e.g.b.CreateBr(done);
    e.g.b.SetInsertPoint(done);
}

}  // namespace pardo::emit
