// src/emit/llvm/loops/lanes.cpp: the loop whose iterations become lanes: whole vectors, then the rest under a mask.
#include "emit/llvm/loops/lanes.h"

#include <algorithm>

#include "emit/llvm/arrays.h"
#include "emit/llvm/loops/serial.h"
#include "emit/llvm/math/functions.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

namespace {

bool calls_library(const Source& source, const LlvmTarget& target, const Instr& in) {
    return in.op == Opcode::Call && !is_instruction(in.math()) && !is_formula(target, in.math(), source.type(in.results[0]));
}

/// Arithmetic alone, without branches and calls. Two vectors of a long one at a time keep the processor busy while each waits for
/// itself.
bool is_formula(const Source& source, const LlvmTarget& target, const Region& body) {
    if (target.vector_bytes < 32) return false;
    return std::all_of(body.body.begin(), body.body.end(), [&](InstrId id) {
        const Instr& in = source.instr(id);
        switch (in.op) {
            case Opcode::Load:
            case Opcode::Store: return source.shape(in.operands[1]).kind != LaneShape::Varying;
            case Opcode::FloorDiv:
            case Opcode::Rem:
            case Opcode::Fmod: return false;
            case Opcode::Call: return !calls_library(source, target, in);
            default: return ir::is_pure(in.op) || in.op == Opcode::Yield;
        }
    });
}

/// Lane l is on if l < count; count is at least 1.
llvm::Value* tail_mask(Codegen& g, int lanes, llvm::Value* count) {
    const unsigned n = static_cast<unsigned>(lanes);
    llvm::Value* capped = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, i64(g, lanes));
    if (g.target.vector_bytes == 64 && n >= 8) {  // a mask register from an integer
        llvm::Value* all = g.b.getInt64(n == 64 ? ~0ull : (1ull << n) - 1);
        llvm::Value* bits = g.b.CreateLShr(all, g.b.CreateSub(i64(g, lanes), capped));
        return g.b.CreateBitCast(g.b.CreateTrunc(bits, g.b.getIntNTy(n)), widened(g.b.getInt1Ty(), lanes));
    }
    return g.b.CreateICmpSLT(lane_numbers(g, lanes, 1), splat(g, g.b.CreateTrunc(capped, lane_number_type(g, lanes)), lanes));
}

/// What counts the elements that are the lanes: the last coordinate of an item, or the counter of a loop.
bool is_lane_index(const Source& source, const LaneContext& here, Value v) {
    const ir::ValueInfo& info = source.kernel.values[v];
    return info.region == ~0u ? source.instr(info.def).op == Opcode::Dim : v == here.lane_index;
}

/// True if base_at can say it before the body has run.
bool base_known(const Values& values, const LaneContext& here, Value v) {
    if (values.source.is_uniform(v)) return values[v].v != nullptr;
    if (is_lane_index(values.source, here, v)) return true;
    if (values.source.kernel.values[v].region != ~0u) return false;
    const Instr& in = values.source.instr(values.source.kernel.values[v].def);
    const bool sum = in.op == Opcode::Add || in.op == Opcode::Sub || in.op == Opcode::Mul || in.op == Opcode::Neg || in.op == Opcode::Cast;
    return sum && std::all_of(in.operands.begin(), in.operands.end(), [&](Value operand) { return base_known(values, here, operand); });
}

/// An affine index's base for a given value of the lane index.
llvm::Value* base_at(const Values& values, const LaneContext& here, Value v, llvm::Value* index) {
    if (values.source.is_uniform(v)) return values[v].v;
    if (is_lane_index(values.source, here, v)) return index;
    const Instr& in = values.source.instr(values.source.kernel.values[v].def);
    auto operand = [&](int k) { return base_at(values, here, in.operands[k], index); };
    switch (in.op) {
        case Opcode::Add: return values.g.b.CreateAdd(operand(0), operand(1));
        case Opcode::Sub: return values.g.b.CreateSub(operand(0), operand(1));
        case Opcode::Mul: return values.g.b.CreateMul(operand(0), operand(1));
        case Opcode::Neg: return values.g.b.CreateNeg(operand(0));
        default: return operand(0);  // a cast to the same type
    }
}

/// Bytes by which a store of this lane loop misses vector alignment when the vector starts at `index`.
llvm::Value* misalignment(Memory& m, const LaneContext& here, InstrId store, llvm::Value* index) {
    const Instr& in = m.source.instr(store);
    return misalignment(m.g, address(m, in.operands[0], base_at(m.values, here, in.operands[1], index)),
                        here.lanes * itemsize(m.source.type(in.operands[0])));
}

/// Whether an index is made from another value by what indices are made with.
bool made_from(const Source& source, Value index, Value from) {
    if (index == from) return true;
    if (source.kernel.values[index].region != ~0u) return false;
    const Instr& in = source.instr(source.kernel.values[index].def);
    if (!ir::is_pure(in.op)) return false;
    return std::any_of(in.operands.begin(), in.operands.end(), [&](Value operand) { return made_from(source, operand, from); });
}

}  // namespace

LanePlan lane_plan(const Source& source, const LlvmTarget& target, const Region& body, int accumulators) {
    constexpr int cheap = 14, moderate = 40;
    const int cost = region_cost(source.kernel, body);
    LanePlan plan;
    plan.lanes = lane_count(source.kernel, source.info, body, target.vector_bytes);
    if (cost > moderate && plan.lanes <= 32 && is_formula(source, target, body)) plan.lanes *= 2;
    const std::int64_t own = lane_bytes(source);
    while (plan.lanes > 2 && own * plan.lanes > stack_limit) plan.lanes /= 2;
    plan.prefetch =
        std::any_of(body.body.begin(), body.body.end(), [&](InstrId id) { return calls_library(source, target, source.instr(id)); });
    if (accumulators > 0)
        plan.unroll = cost > moderate ? 1 : cost <= cheap && accumulators <= 2 ? 4 : 2;
    else
        plan.unroll = cost <= cheap ? 2 : 1;
    if (own > 0) plan.unroll = 1;  // the next vector wants the same memory
    return plan;
}

llvm::IntegerType* lane_number_type(Codegen& g, int lanes) { return g.b.getIntNTy(lane_bits(g.target.vector_bytes, lanes)); }

llvm::Constant* lane_numbers(Codegen& g, int lanes, std::int64_t step) {
    llvm::SmallVector<llvm::Constant*, 64> numbers;
    for (int l = 0; l < lanes; ++l) numbers.push_back(llvm::ConstantInt::getSigned(lane_number_type(g, lanes), l * step));
    return llvm::ConstantVector::get(numbers);
}

std::vector<InstrId> stream_stores(const Values& values, const LaneContext& here, const Region& body, int lanes) {
    std::vector<InstrId> found;
    for (InstrId id : body.body) {
        const Instr& in = values.source.instr(id);
        if (in.op != Opcode::Store || !values.source.is_param(in.operands[0])) continue;
        const ir::Param& param = values.source.kernel.params[values.source.param_of(in.operands[0])];
        const LaneShape s = values.source.shape(in.operands[1]);
        if (!param.streaming || s.kind != LaneShape::Affine || s.step != 1 || lanes * itemsize(param.type) < 16) continue;
        bool once = true;
        for (const SerialLoop* loop = here.around; loop; loop = loop->outer)
            once = once && made_from(values.source, in.operands[1], loop->counter);
        if (once && base_known(values, here, in.operands[1])) found.push_back(id);
    }
    return found;
}

void lane_loop(Memory& m, const LaneContext& here, llvm::Value* lower, llvm::Value* upper, const LanePlan& plan, LlvmValues& state,
               LaneBody body, const Fold* fold) {
    Codegen& g = m.g;
    LaneContext inside = here.under(nullptr);
    inside.lanes = plan.lanes;
    inside.prefetch = plan.prefetch;
    inside.streaming = {};
    const int step = plan.lanes * plan.unroll;
    const std::size_t count = state.size();
    // Each block of the loop has the index and the state as phis.
    struct Join {
        llvm::BasicBlock* at = nullptr;
        llvm::SmallVector<llvm::PHINode*, 8> phis;
    };
    auto make = [&](const char* name) {
        Join j{block(g, name), {}};
        llvm::IRBuilder<>::InsertPointGuard guard(g.b);
        g.b.SetInsertPoint(j.at);
        j.phis.push_back(g.b.CreatePHI(g.b.getInt64Ty(), 2));
        for (llvm::Value* v : state) j.phis.push_back(g.b.CreatePHI(v->getType(), 2));
        return j;
    };
    auto arrive = [&](Join& j, llvm::Value* index, const LlvmValues& values) {
        j.phis[0]->addIncoming(index, g.b.GetInsertBlock());
        for (std::size_t k = 0; k < count; ++k) j.phis[k + 1]->addIncoming(values[k], g.b.GetInsertBlock());
    };
    auto enter = [&](Join& j) {
        g.b.SetInsertPoint(j.at);
        LlvmValues values;
        for (std::size_t k = 0; k < count; ++k) values.push_back(j.phis[k + 1]);
        return values;
    };
    Join masked = make("lanes.masked"), exit = make("lanes.exit");
    Join* again = &masked;  // where the masked part goes when something is left
    Join top = make("lanes.top"), main = make("lanes.main"), after = make("lanes.after");
    arrive(top, lower, state);
    g.b.CreateBr(top.at);
    LlvmValues values = enter(top);
    llvm::Value* start = top.phis[0];
    llvm::Value* last = g.b.CreateSub(upper, i64(g, step));  // the last index at which a whole iteration fits
    llvm::Value* ready = g.b.CreateICmpSLE(start, last);
    if (!plan.streams.empty()) {
        ready = g.b.CreateAnd(ready, g.b.CreateICmpEQ(misalignment(m, inside, plan.streams[0], start), i64(g, 0)));
        again = &top;
    }
    Join outer;
    if (fold) outer = make("lanes.block");
    Join& entry = fold ? outer : main;
    arrive(entry, start, values);
    arrive(masked, start, values);
    g.b.CreateCondBr(ready, entry.at, masked.at);
    LlvmValues totals;
    llvm::Value* limit = last;
    if (fold) {
        constexpr int iterations = 256;
        totals = enter(outer);
        limit = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last,
                                          g.b.CreateAdd(outer.phis[0], i64(g, std::int64_t(iterations - 1) * step)));
        arrive(main, outer.phis[0], fold->fresh());
        g.b.CreateBr(main.at);
    }
    values = enter(main);
    LaneContext whole = inside;
    whole.streaming = plan.streams;
    for (int u = 0; u < plan.unroll; ++u) body(whole, g.b.CreateAdd(main.phis[0], i64(g, std::int64_t(u) * plan.lanes)), u, values);
    llvm::Value* next = g.b.CreateAdd(main.phis[0], i64(g, step));
    arrive(main, next, values);
    Join folded;
    if (fold) folded = make("lanes.fold");
    Join& leave = fold ? folded : after;
    arrive(leave, next, values);
    finish_loop(g, g.b.CreateCondBr(g.b.CreateICmpSLE(next, limit), main.at, leave.at), Unroll::Never, plan.items);
    if (fold) {
        LlvmValues block_state = enter(folded);
        fold->join(totals, block_state);
        arrive(outer, folded.phis[0], totals);
        arrive(after, folded.phis[0], totals);
        finish_loop(g, g.b.CreateCondBr(g.b.CreateICmpSLE(folded.phis[0], last), outer.at, after.at), Unroll::Never);
    }
    values = enter(after);
    arrive(masked, after.phis[0], values);
    arrive(exit, after.phis[0], values);
    g.b.CreateCondBr(g.b.CreateICmpSLT(after.phis[0], upper), masked.at, exit.at);
    values = enter(masked);
    llvm::Value* index = masked.phis[0];
    llvm::Value* left = g.b.CreateSub(upper, index);
    llvm::Value* advance = i64(g, plan.lanes);
    if (!plan.streams.empty()) {  // stop at the first aligned address
        const int size = itemsize(m.source.type(m.source.instr(plan.streams[0]).operands[0]));
        const int unit = std::min(plan.lanes * size, 64);
        llvm::Value* miss = misalignment(m, inside, plan.streams[0], index);
        llvm::Value* head = g.b.CreateUDiv(g.b.CreateSub(i64(g, unit), miss), i64(g, size));
        // No element begins at an aligned address where the array is not aligned to its elements.
        const auto none = [&](llvm::Value* v) { return g.b.CreateICmpEQ(v, i64(g, 0)); };
        advance = g.b.CreateSelect(g.b.CreateOr(none(miss), none(head)), i64(g, plan.lanes), head);
        left = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, advance);
    }
    body(inside.under(tail_mask(g, plan.lanes, left)), index, 0, values);
    next = g.b.CreateAdd(index, advance);
    arrive(exit, next, values);
    if (plan.unroll == 1 && plan.streams.empty()) {
        g.b.CreateBr(exit.at);
    } else {
        arrive(*again, next, values);
        finish_loop(g, g.b.CreateCondBr(g.b.CreateICmpSLT(next, upper), again->at, exit.at), Unroll::Never, plan.items);
    }
    state = enter(exit);
}

}  // namespace pardo::emit
