// src/emit/llvm/loops/reduce.cpp: loops of LoopKind::Lanes: several vector accumulators, then a tree whose order depends on nothing but the
// trip count.
#include "emit/llvm/loops/reduce.h"

#include "emit/llvm/loops/lanes.h"
#include "emit/llvm/loops/loop.h"
#include "emit/llvm/loops/serial.h"
#include "emit/llvm/math/cast.h"
#include "emit/llvm/math/combine.h"

namespace pardo::emit {

using ir::Combine;
using ir::Instr;
using ir::Region;

void emit_lanes_for(Emitter& e, const LaneContext& here, const Instr& in) {
    const Region& r = e.source.region(in.regions[0]);
    const int count = in.results.size();
    LanePlan plan = lane_plan(e.source, e.g.target, r, count);
    auto result_type = [&](int k) { return e.source.type(in.results[k]); };
    // A float minimum keeps NaN aside: compare and select is one instruction that loses it.
    auto ordered = [&](int k) {
        return is_float(result_type(k)) && (in.combines()[k] == Combine::Min || in.combines()[k] == Combine::Max);
    };
    auto fresh = [&] {
        LlvmValues state;
        for (int u = 0; u < plan.unroll; ++u)
            for (int k = 0; k < count; ++k) state.push_back(identity(e.g, in.combines()[k], result_type(k), plan.lanes));
        for (int k = 0; k < count; ++k)
            if (ordered(k)) state.push_back(llvm::Constant::getNullValue(widened(element(e.g, result_type(k)), plan.lanes)));
        return state;
    };
    auto keep_nan = [&](llvm::Value* flag, llvm::Value* x) { return e.g.b.CreateSelect(e.g.b.CreateFCmpUNO(x, x), x, flag); };
    auto join = [&](LlvmValues& totals, const LlvmValues& state) {
        std::size_t at = 0;
        for (int u = 0; u < plan.unroll; ++u)
            for (int k = 0; k < count; ++k, ++at)
                totals[at] = ordered(k) ? combine_ordered(e.g, in.combines()[k], totals[at], state[at])
                                        : combine(e.g, in.combines()[k], result_type(k), totals[at], state[at]);
        for (; at < totals.size(); ++at) totals[at] = keep_nan(totals[at], state[at]);
    };
    bool float_sum = false;
    for (int k = 0; k < count; ++k) float_sum |= in.combines()[k] == Combine::Add && is_float(result_type(k));

    llvm::Value *lower = e.values.scalar(in.operands[0]), *upper = e.values.scalar(in.operands[1]);
    llvm::BasicBlock *before = e.g.b.GetInsertBlock(), *run = block(e.g, "reduce"), *done = block(e.g, "reduced");
    e.g.b.CreateCondBr(e.g.b.CreateICmpSLT(lower, upper), run, done);
    e.g.b.SetInsertPoint(run);
    hoist(e, here, r);
    LaneContext loop = here;
    loop.lane_index = r.args[0];
    if (count == 0) plan.streams = stream_stores(e.values, loop, r, plan.lanes);  // where vectors start would decide how sums round
    LlvmValues state = fresh();
    const Fold fold{fresh, join};
    auto body = [&](const LaneContext& inside, llvm::Value* index, int u, LlvmValues& acc) {
        e.values.define(inside, r.args[0], index);
        e.region(inside, r);
        std::size_t flag = static_cast<std::size_t>(plan.unroll * count);
        for (int k = 0; k < count; ++k) {
            llvm::Value* x = e.values.vector(inside, e.source.yield(r).operands[k]);
            llvm::Value*& a = acc[static_cast<std::size_t>(u * count + k)];
            llvm::Value* next =
                ordered(k) ? combine_ordered(e.g, in.combines()[k], a, x) : combine(e.g, in.combines()[k], result_type(k), a, x);
            a = inside.mask ? e.g.b.CreateSelect(inside.mask, next, a) : next;
            if (!ordered(k)) continue;
            next = keep_nan(acc[flag], x);
            acc[flag] = inside.mask ? e.g.b.CreateSelect(inside.mask, next, acc[flag]) : next;
            ++flag;
        }
    };
    lane_loop(e.memory, loop, lower, upper, plan, state, body, float_sum ? &fold : nullptr);
    LlvmValues results;
    std::size_t flag = static_cast<std::size_t>(plan.unroll * count);
    for (int k = 0; k < count; ++k) {
        LlvmValues level;
        for (int u = 0; u < plan.unroll; ++u) level.push_back(state[static_cast<std::size_t>(u * count + k)]);
        while (level.size() > 1) {
            LlvmValues half;
            for (std::size_t p = 0; p < level.size(); p += 2)
                half.push_back(combine(e.g, in.combines()[k], result_type(k), level[p], level[p + 1]));
            level = half;
        }
        llvm::Value* value = across_lanes(e.g, in.combines()[k], result_type(k), level[0]);
        if (ordered(k)) {
            llvm::Value* nan = any(e.g, e.g.b.CreateFCmpUNO(state[flag], state[flag]));
            value = e.g.b.CreateSelect(nan, llvm::ConstantFP::getNaN(value->getType()), value);
            ++flag;
        }
        value = combine(e.g, in.combines()[k], result_type(k), e.values.scalar(in.operands[3 + k]), value);
        results.push_back(value);
    }
    llvm::BasicBlock* end = e.g.b.GetInsertBlock();
    e.g.b.CreateBr(done);
    e.g.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) {
        llvm::PHINode* phi = e.g.b.CreatePHI(results[static_cast<std::size_t>(k)]->getType(), 2);
        phi->addIncoming(e.values.scalar(in.operands[3 + k]), before);
        phi->addIncoming(results[static_cast<std::size_t>(k)], end);
        e.values.define(here, in.results[k], phi);
    }
}

void emit_serial_lanes_for(Emitter& e, const LaneContext& here, ir::InstrId id, const Instr& in) {
    if (e.source.info.masked[id]) return emit_masked_for(e, here, in);
    const Region& r = e.source.region(in.regions[0]);
    const int count = in.results.size();
    std::int64_t low = 0, high = 0;
    const bool known = constant_int(e.source.kernel, in.operands[0], low) && constant_int(e.source.kernel, in.operands[1], high);
    const bool several = count > 0 && count <= 2 && !known && here.lanes > 1 && region_cost(e.source.kernel, r) <= 14;
    const int copies = several ? 4 : 1;
    LlvmValues state;
    for (int u = 0; u < copies; ++u)
        for (int k = 0; k < count; ++k) {
            const LaneShape s = e.source.shape(in.results[k]);
            state.push_back(
                u == 0 ? e.values.shaped(here, in.operands[3 + k], s)
                       : identity(e.g, in.combines()[k], e.source.type(in.results[k]), s.kind == LaneShape::Varying ? here.lanes : 1));
        }
    auto once = [&](llvm::Value* index, int u, LlvmValues& acc) {
        e.values.define(here, r.args[0], index);
        e.region(here, r);
        for (int k = 0; k < count; ++k) {
            llvm::Value*& a = acc[static_cast<std::size_t>(u * count + k)];
            a = combine(e.g, in.combines()[k], e.source.type(in.results[k]), a,
                        e.values.shaped(here, e.source.yield(r).operands[k], e.source.shape(in.results[k])));
        }
    };
    llvm::Value *lower = e.values.scalar(in.operands[0]), *upper = e.values.scalar(in.operands[1]);
    if (several) {
        llvm::Value* trips = e.g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, e.g.b.CreateSub(upper, lower), i64(e.g, 0));
        llvm::Value* middle = e.g.b.CreateAdd(lower, e.g.b.CreateAnd(trips, i64(e.g, -copies)));
        serial_loop(e.g, lower, middle, i64(e.g, copies), state, [&](llvm::Value* index, int, LlvmValues& acc) {
            for (int u = 0; u < copies; ++u) once(e.g.b.CreateAdd(index, i64(e.g, u)), u, acc);
        });
        lower = middle;
    }
    serial_loop(e.g, lower, upper, i64(e.g, 1), state, once);
    for (int k = 0; k < count; ++k) {
        auto at = [&](int u) { return state[static_cast<std::size_t>(u * count + k)]; };
        const DType t = e.source.type(in.results[k]);
        llvm::Value* value = at(0);
        if (several)
            value = combine(e.g, in.combines()[k], t, combine(e.g, in.combines()[k], t, at(0), at(1)),
                            combine(e.g, in.combines()[k], t, at(2), at(3)));
        e.values.define(here, in.results[k], value);
    }
}

}  // namespace pardo::emit
