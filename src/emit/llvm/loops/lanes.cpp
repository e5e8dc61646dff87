// src/emit/llvm/loops/lanes.cpp: the loop whose iterations become lanes: whole vectors, then the rest under a mask.
#include <algorithm>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/functions.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

bool Emitter::calls_library(const Instr& in) const {
    return in.op == Opcode::Call && !is_instruction(in.math) && !has_inline_math(g_.target, in.math, type(in.results[0]));
}

/// Arithmetic alone, without branches and calls. Two vectors of a long one at a time keep the processor busy while each waits for
/// itself.
bool Emitter::is_formula(const Region& body) const {
    if (g_.target.vector_bytes < 32) return false;
    return std::all_of(body.body.begin(), body.body.end(), [&](InstrId id) {
        const Instr& in = kernel_.instrs[id];
        switch (in.op) {
            case Opcode::Load:
            case Opcode::Store: return info_.shapes[in.operands[1]].kind != LaneShape::Varying;
            case Opcode::FloorDiv:
            case Opcode::Rem:
            case Opcode::Fmod: return false;
            case Opcode::Call: return !calls_library(in);
            default: return ir::is_pure(in.op) || in.op == Opcode::Yield;
        }
    });
}

Emitter::LanePlan Emitter::lane_plan(const Region& body, int accumulators) const {
    constexpr int cheap = 14, moderate = 40;
    const int cost = region_cost(kernel_, body);
    LanePlan plan;
    plan.lanes = lane_count(kernel_, info_, body, g_.target.vector_bytes);
    if (cost > moderate && plan.lanes <= 32 && is_formula(body)) plan.lanes *= 2;
    const std::int64_t own = lane_bytes();
    while (plan.lanes > 2 && own * plan.lanes > stack_limit) plan.lanes /= 2;
    plan.prefetch = std::any_of(body.body.begin(), body.body.end(), [&](InstrId id) { return calls_library(kernel_.instrs[id]); });
    if (accumulators > 0)
        plan.unroll = cost > moderate ? 1 : cost <= cheap && accumulators <= 2 ? 4 : 2;
    else
        plan.unroll = cost <= cheap ? 2 : 1;
    if (own > 0) plan.unroll = 1;  // the next vector wants the same memory
    return plan;
}

/// Lane l is on if l < count; count is at least 1.
llvm::Value* Emitter::tail_mask(llvm::Value* count) {
    const unsigned n = static_cast<unsigned>(lanes_);
    llvm::Value* capped = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, i64(g_, lanes_));
    if (g_.target.vector_bytes == 64 && n >= 8) {  // a mask register from an integer
        llvm::Value* all = g_.b.getInt64(n == 64 ? ~0ull : (1ull << n) - 1);
        llvm::Value* bits = g_.b.CreateLShr(all, g_.b.CreateSub(i64(g_, lanes_), capped));
        return g_.b.CreateBitCast(g_.b.CreateTrunc(bits, g_.b.getIntNTy(n)), widened(g_.b.getInt1Ty(), lanes_));
    }
    return g_.b.CreateICmpSLT(lane_numbers(1), splat(g_, g_.b.CreateTrunc(capped, lane_number_type()), lanes_));
}

/// Integers of which one register holds as many as there are lanes.
llvm::IntegerType* Emitter::lane_number_type() { return g_.b.getIntNTy(lane_bits(g_.target.vector_bytes, lanes_)); }

/// <0, step, 2 step, …>
llvm::Constant* Emitter::lane_numbers(std::int64_t step) {
    llvm::SmallVector<llvm::Constant*, 64> numbers;
    for (int l = 0; l < lanes_; ++l) numbers.push_back(llvm::ConstantInt::getSigned(lane_number_type(), l * step));
    return llvm::ConstantVector::get(numbers);
}

/// What counts the elements that are the lanes: the last coordinate of an item, or the counter of a loop.
bool Emitter::is_lane_index(Value v) const {
    const ir::ValueInfo& info = kernel_.values[v];
    return info.region == ~0u ? kernel_.instrs[info.def].op == Opcode::Dim : v == lane_index_;
}

/// True if base_at can say it before the body has run.
bool Emitter::base_known(Value v) const {
    if (info_.shapes[v].kind == LaneShape::Uniform) return values_[v].v != nullptr;
    if (is_lane_index(v)) return true;
    if (kernel_.values[v].region != ~0u) return false;
    const Instr& in = kernel_.instrs[kernel_.values[v].def];
    const bool sum = in.op == Opcode::Add || in.op == Opcode::Sub || in.op == Opcode::Mul || in.op == Opcode::Neg || in.op == Opcode::Cast;
    return sum && std::all_of(in.operands.begin(), in.operands.end(), [&](Value operand) { return base_known(operand); });
}

llvm::Value* Emitter::base_at(Value v, llvm::Value* index) {
    if (info_.shapes[v].kind == LaneShape::Uniform) return values_[v].v;
    if (is_lane_index(v)) return index;
    const Instr& in = kernel_.instrs[kernel_.values[v].def];
    auto operand = [&](int k) { return base_at(in.operands[k], index); };
    switch (in.op) {
        case Opcode::Add: return g_.b.CreateAdd(operand(0), operand(1));
        case Opcode::Sub: return g_.b.CreateSub(operand(0), operand(1));
        case Opcode::Mul: return g_.b.CreateMul(operand(0), operand(1));
        case Opcode::Neg: return g_.b.CreateNeg(operand(0));
        default: return operand(0);  // a cast to the same type
    }
}

/// Bytes by which a store of this lane loop misses vector alignment when the vector starts at `index`.
llvm::Value* Emitter::misalignment(InstrId store, llvm::Value* index) {
    const Instr& in = kernel_.instrs[store];
    return misalignment(address(in.operands[0], base_at(in.operands[1], index)), lanes_ * itemsize(type(in.operands[0])));
}

llvm::Value* Emitter::misalignment(llvm::Value* address, std::int64_t bytes) {
    return g_.b.CreateAnd(g_.b.CreatePtrToInt(address, g_.b.getInt64Ty()), i64(g_, std::min<std::int64_t>(bytes, 64) - 1));
}

/// Whether an index is made from another value by what indices are made with.
bool Emitter::made_from(Value index, Value from) const {
    if (index == from) return true;
    if (kernel_.values[index].region != ~0u) return false;
    const Instr& in = kernel_.instrs[kernel_.values[index].def];
    if (!pure(in)) return false;
    return std::any_of(in.operands.begin(), in.operands.end(), [&](Value operand) { return made_from(operand, from); });
}

/// Stores that may bypass the caches: unconditional, to neighbours, whole registers, at addresses that are known beforehand, each once.
std::vector<InstrId> Emitter::stream_stores(const Region& body, int lanes) const {
    std::vector<InstrId> found;
    for (InstrId id : body.body) {
        const Instr& in = kernel_.instrs[id];
        if (in.op != Opcode::Store || !is_param(in.operands[0])) continue;
        const ir::Param& param = kernel_.params[param_of(in.operands[0])];
        const LaneShape s = info_.shapes[in.operands[1]];
        if (!param.streaming || s.kind != LaneShape::Affine || s.step != 1 || lanes * itemsize(param.type) < 16) continue;
        const bool once = std::all_of(around_.begin(), around_.end(), [&](Value loop) { return made_from(in.operands[1], loop); });
        if (once && base_known(in.operands[1])) found.push_back(id);
    }
    return found;
}

void Emitter::lane_loop(llvm::Value* lower, llvm::Value* upper, const LanePlan& plan, LlvmValues& state, LaneBody body, const Fold* fold) {
    const bool items = std::exchange(next_loop_of_items_, false);
    const int outer_lanes = std::exchange(lanes_, plan.lanes);
    llvm::Value* outer_mask = std::exchange(mask_, nullptr);
    prefetch_ = plan.prefetch;
    const int step = plan.lanes * plan.unroll;
    const std::size_t count = state.size();
    // Each block of the loop has the index and the state as phis.
    struct Join {
        llvm::BasicBlock* at = nullptr;
        llvm::SmallVector<llvm::PHINode*, 8> phis;
    };
    auto make = [&](const char* name) {
        Join j{block(g_, name), {}};
        llvm::IRBuilder<>::InsertPointGuard guard(g_.b);
        g_.b.SetInsertPoint(j.at);
        j.phis.push_back(g_.b.CreatePHI(g_.b.getInt64Ty(), 2));
        for (llvm::Value* v : state) j.phis.push_back(g_.b.CreatePHI(v->getType(), 2));
        return j;
    };
    auto arrive = [&](Join& j, llvm::Value* index, const LlvmValues& values) {
        j.phis[0]->addIncoming(index, g_.b.GetInsertBlock());
        for (std::size_t k = 0; k < count; ++k) j.phis[k + 1]->addIncoming(values[k], g_.b.GetInsertBlock());
    };
    auto enter = [&](Join& j) {
        g_.b.SetInsertPoint(j.at);
        LlvmValues values;
        for (std::size_t k = 0; k < count; ++k) values.push_back(j.phis[k + 1]);
        return values;
    };
    Join masked = make("lanes.masked"), exit = make("lanes.exit");
    Join* again = &masked;  // where the masked part goes when something is left
    Join top = make("lanes.top"), main = make("lanes.main"), after = make("lanes.after");
    arrive(top, lower, state);
    g_.b.CreateBr(top.at);
    LlvmValues values = enter(top);
    llvm::Value* start = top.phis[0];
    llvm::Value* last = g_.b.CreateSub(upper, i64(g_, step));  // the last index at which a whole iteration fits
    llvm::Value* ready = g_.b.CreateICmpSLE(start, last);
    if (!plan.streams.empty()) {
        ready = g_.b.CreateAnd(ready, g_.b.CreateICmpEQ(misalignment(plan.streams[0], start), i64(g_, 0)));
        again = &top;
    }
    Join outer;
    if (fold) outer = make("lanes.block");
    Join& entry = fold ? outer : main;
    arrive(entry, start, values);
    arrive(masked, start, values);
    g_.b.CreateCondBr(ready, entry.at, masked.at);
    LlvmValues totals;
    llvm::Value* limit = last;
    if (fold) {
        constexpr int iterations = 256;
        totals = enter(outer);
        limit = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last,
                                           g_.b.CreateAdd(outer.phis[0], i64(g_, std::int64_t(iterations - 1) * step)));
        arrive(main, outer.phis[0], fold->fresh());
        g_.b.CreateBr(main.at);
    }
    values = enter(main);
    streaming_ = plan.streams;
    for (int u = 0; u < plan.unroll; ++u) body(g_.b.CreateAdd(main.phis[0], i64(g_, std::int64_t(u) * plan.lanes)), u, values);
    streaming_.clear();
    llvm::Value* next = g_.b.CreateAdd(main.phis[0], i64(g_, step));
    arrive(main, next, values);
    Join folded;
    if (fold) folded = make("lanes.fold");
    Join& leave = fold ? folded : after;
    arrive(leave, next, values);
    finish_loop(g_.b.CreateCondBr(g_.b.CreateICmpSLE(next, limit), main.at, leave.at), Unroll::Never, items);
    if (fold) {
        LlvmValues block_state = enter(folded);
        fold->join(totals, block_state);
        arrive(outer, folded.phis[0], totals);
        arrive(after, folded.phis[0], totals);
        finish_loop(g_.b.CreateCondBr(g_.b.CreateICmpSLE(folded.phis[0], last), outer.at, after.at), Unroll::Never);
    }
    values = enter(after);
    arrive(masked, after.phis[0], values);
    arrive(exit, after.phis[0], values);
    g_.b.CreateCondBr(g_.b.CreateICmpSLT(after.phis[0], upper), masked.at, exit.at);
    values = enter(masked);
    llvm::Value* index = masked.phis[0];
    llvm::Value* left = g_.b.CreateSub(upper, index);
    llvm::Value* advance = i64(g_, plan.lanes);
    if (!plan.streams.empty()) {  // stop at the first aligned address
        const int size = itemsize(type(kernel_.instrs[plan.streams[0]].operands[0]));
        const int unit = std::min(plan.lanes * size, 64);
        llvm::Value* miss = misalignment(plan.streams[0], index);
        llvm::Value* head = g_.b.CreateUDiv(g_.b.CreateSub(i64(g_, unit), miss), i64(g_, size));
        // No element begins at an aligned address where the array is not aligned to its elements.
        const auto none = [&](llvm::Value* v) { return g_.b.CreateICmpEQ(v, i64(g_, 0)); };
        advance = g_.b.CreateSelect(g_.b.CreateOr(none(miss), none(head)), i64(g_, plan.lanes), head);
        left = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, advance);
    }
    mask_ = tail_mask(left);
    body(index, 0, values);
    mask_ = nullptr;
    next = g_.b.CreateAdd(index, advance);
    arrive(exit, next, values);
    if (plan.unroll == 1 && plan.streams.empty()) {
        g_.b.CreateBr(exit.at);
    } else {
        arrive(*again, next, values);
        finish_loop(g_.b.CreateCondBr(g_.b.CreateICmpSLT(next, upper), again->at, exit.at), Unroll::Never, items);
    }
    state = enter(exit);
    lanes_ = outer_lanes;
    mask_ = outer_mask;
    prefetch_ = false;
}

void Emitter::emit_item_lanes() {
    const Region& body = kernel_.body;
    LanePlan plan = lane_plan(body, 0);
    hoist(body);
    plan.streams = stream_stores(body, plan.lanes);
    const int last = kernel_.rank - 1;
    LlvmValues none;
    lane_loop(begin_[last], end_[last], plan, none, [&](llvm::Value* index, int, LlvmValues&) {
        dims_[last] = index;
        region(body);
    });
}

}  // namespace pardo::emit
