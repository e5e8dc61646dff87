// src/emit/llvm/reduce.cpp: loops of LoopKind::Lanes: several vector accumulators, then a tree whose order depends on nothing but the trip
// count.
#include <llvm/IR/Constants.h>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/arith.h"
#include "emit/llvm/math/cast.h"

namespace pardo::emit {

using ir::Combine;
using ir::Instr;
using ir::Region;

llvm::Value* Emitter::identity(Combine c, DType t, int lanes) {
    llvm::Type* type = widened(element(g_, t), lanes);
    if (is_float(t)) {
        switch (c) {
            case Combine::Add: return llvm::ConstantFP::get(type, -0.0);  // keeps a sum of negative zeros negative
            case Combine::Mul: return llvm::ConstantFP::get(type, 1.0);
            case Combine::Min: return llvm::ConstantFP::getInfinity(type, false);
            default: return llvm::ConstantFP::getInfinity(type, true);
        }
    }
    const unsigned bits = type->getScalarSizeInBits();
    const bool is_signed = kind_of(t) == DKind::Signed;
    switch (c) {
        case Combine::Add:
        case Combine::Or:
        case Combine::Xor: return llvm::Constant::getNullValue(type);
        case Combine::Mul: return llvm::ConstantInt::get(type, 1);
        case Combine::And: return llvm::Constant::getAllOnesValue(type);
        case Combine::Min:
            return llvm::ConstantInt::get(type, is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
        case Combine::Max:
            return llvm::ConstantInt::get(type, is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
    }
    return nullptr;
}

/// Sums of float16 stay in float until the end, as NumPy's do.
llvm::Value* Emitter::combine(Combine c, DType t, llvm::Value* a, llvm::Value* b) {
    const DType wide = t == DType::Float16 ? DType::Float32 : t;
    switch (c) {
        case Combine::Add: return binary(g_, ir::Opcode::Add, wide, a, b);
        case Combine::Mul: return binary(g_, ir::Opcode::Mul, wide, a, b);
        case Combine::Min: return min_max(g_, ir::Opcode::Min, wide, a, b);
        case Combine::Max: return min_max(g_, ir::Opcode::Max, wide, a, b);
        case Combine::And: return g_.b.CreateAnd(a, b);
        case Combine::Or: return g_.b.CreateOr(a, b);
        case Combine::Xor: return g_.b.CreateXor(a, b);
    }
    return nullptr;
}

llvm::Value* Emitter::combine_ordered(Combine c, llvm::Value* acc, llvm::Value* x) {
    return g_.b.CreateSelect(c == Combine::Min ? g_.b.CreateFCmpOLT(x, acc) : g_.b.CreateFCmpOGT(x, acc), x, acc);
}

llvm::Value* Emitter::across_lanes(Combine c, DType t, llvm::Value* v) {
    for (int n = width(v); n > 1; n /= 2) {
        llvm::SmallVector<int, 64> low, high;
        for (int l = 0; l < n / 2; ++l) {
            low.push_back(l);
            high.push_back(l + n / 2);
        }
        v = combine(c, t, g_.b.CreateShuffleVector(v, low), g_.b.CreateShuffleVector(v, high));
    }
    return llvm::isa<llvm::FixedVectorType>(v->getType()) ? g_.b.CreateExtractElement(v, std::uint64_t(0)) : v;
}

void Emitter::emit_lanes_for(ir::InstrId, const Instr& in) {
    const Region& r = kernel_.regions[in.regions[0]];
    const int count = in.results.size();
    LanePlan plan = lane_plan(r, count);
    auto result_type = [&](int k) { return type(in.results[k]); };
    // A float minimum keeps NaN aside: compare and select is one instruction that loses it.
    auto ordered = [&](int k) { return is_float(result_type(k)) && (in.combines[k] == Combine::Min || in.combines[k] == Combine::Max); };
    auto fresh = [&] {
        LlvmValues state;
        for (int u = 0; u < plan.unroll; ++u)
            for (int k = 0; k < count; ++k) state.push_back(identity(in.combines[k], result_type(k), plan.lanes));
        for (int k = 0; k < count; ++k)
            if (ordered(k)) state.push_back(llvm::Constant::getNullValue(widened(element(g_, result_type(k)), plan.lanes)));
        return state;
    };
    auto keep_nan = [&](llvm::Value* flag, llvm::Value* x) { return g_.b.CreateSelect(g_.b.CreateFCmpUNO(x, x), x, flag); };
    auto join = [&](LlvmValues& totals, const LlvmValues& state) {
        std::size_t at = 0;
        for (int u = 0; u < plan.unroll; ++u)
            for (int k = 0; k < count; ++k, ++at)
                totals[at] = ordered(k) ? combine_ordered(in.combines[k], totals[at], state[at])
                                        : combine(in.combines[k], result_type(k), totals[at], state[at]);
        for (; at < totals.size(); ++at) totals[at] = keep_nan(totals[at], state[at]);
    };
    bool float_sum = false;
    for (int k = 0; k < count; ++k) float_sum |= in.combines[k] == Combine::Add && is_float(result_type(k));

    llvm::Value *lower = scalar(in.operands[0]), *upper = scalar(in.operands[1]);
    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *run = block(g_, "reduce"), *done = block(g_, "reduced");
    g_.b.CreateCondBr(g_.b.CreateICmpSLT(lower, upper), run, done);
    g_.b.SetInsertPoint(run);
    hoist(r);
    lane_index_ = r.args[0];
    if (count == 0) plan.streams = stream_stores(r, plan.lanes);  // where vectors start would decide how sums round
    LlvmValues state = fresh();
    const Fold fold{fresh, join};
    auto body = [&](llvm::Value* index, int u, LlvmValues& acc) {
        define(r.args[0], index);
        region(r);
        std::size_t flag = static_cast<std::size_t>(plan.unroll * count);
        for (int k = 0; k < count; ++k) {
            llvm::Value* x = vector(yield(r).operands[k]);
            llvm::Value*& a = acc[static_cast<std::size_t>(u * count + k)];
            llvm::Value* next = ordered(k) ? combine_ordered(in.combines[k], a, x) : combine(in.combines[k], result_type(k), a, x);
            a = mask_ ? g_.b.CreateSelect(mask_, next, a) : next;
            if (!ordered(k)) continue;
            next = keep_nan(acc[flag], x);
            acc[flag] = mask_ ? g_.b.CreateSelect(mask_, next, acc[flag]) : next;
            ++flag;
        }
    };
    lane_loop(lower, upper, plan, state, body, float_sum ? &fold : nullptr);
    LlvmValues results;
    std::size_t flag = static_cast<std::size_t>(plan.unroll * count);
    for (int k = 0; k < count; ++k) {
        LlvmValues level;
        for (int u = 0; u < plan.unroll; ++u) level.push_back(state[static_cast<std::size_t>(u * count + k)]);
        while (level.size() > 1) {
            LlvmValues half;
            for (std::size_t p = 0; p < level.size(); p += 2)
                half.push_back(combine(in.combines[k], result_type(k), level[p], level[p + 1]));
            level = half;
        }
        llvm::Value* value = across_lanes(in.combines[k], result_type(k), level[0]);
        if (ordered(k)) {
            llvm::Value* nan = any(g_, g_.b.CreateFCmpUNO(state[flag], state[flag]));
            value = g_.b.CreateSelect(nan, llvm::ConstantFP::getNaN(value->getType()), value);
            ++flag;
        }
        value = combine(in.combines[k], result_type(k), scalar(in.operands[3 + k]), value);
        results.push_back(result_type(k) == DType::Float16 ? round_half(g_, value) : value);
    }
    llvm::BasicBlock* end = g_.b.GetInsertBlock();
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) {
        llvm::PHINode* phi = g_.b.CreatePHI(results[static_cast<std::size_t>(k)]->getType(), 2);
        phi->addIncoming(scalar(in.operands[3 + k]), before);
        phi->addIncoming(results[static_cast<std::size_t>(k)], end);
        define(in.results[k], phi);
    }
}

/// Where lanes are taken already, each item runs the loop by itself; long cheap ones with several accumulators.
void Emitter::emit_serial_lanes_for(ir::InstrId id, const Instr& in) {
    if (info_.masked[id]) return emit_masked_for(in);
    const Region& r = kernel_.regions[in.regions[0]];
    const int count = in.results.size();
    std::int64_t low = 0, high = 0;
    const bool known = constant_int(kernel_, in.operands[0], low) && constant_int(kernel_, in.operands[1], high);
    const bool several = count > 0 && count <= 2 && !known && lanes_ > 1 && region_cost(kernel_, r) <= 14;
    const int copies = several ? 4 : 1;
    LlvmValues state;
    for (int u = 0; u < copies; ++u)
        for (int k = 0; k < count; ++k) {
            const LaneShape s = info_.shapes[in.results[k]];
            state.push_back(u == 0 ? shaped(in.operands[3 + k], s)
                                   : identity(in.combines[k], type(in.results[k]), s.kind == LaneShape::Varying ? lanes_ : 1));
        }
    auto once = [&](llvm::Value* index, int u, LlvmValues& acc) {
        define(r.args[0], index);
        region(r);
        for (int k = 0; k < count; ++k) {
            llvm::Value*& a = acc[static_cast<std::size_t>(u * count + k)];
            a = combine(in.combines[k], type(in.results[k]), a, shaped(yield(r).operands[k], info_.shapes[in.results[k]]));
        }
    };
    llvm::Value *lower = scalar(in.operands[0]), *upper = scalar(in.operands[1]);
    if (several) {
        llvm::Value* trips = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, g_.b.CreateSub(upper, lower), i64(g_, 0));
        llvm::Value* middle = g_.b.CreateAdd(lower, g_.b.CreateAnd(trips, i64(g_, -copies)));
        serial_loop(lower, middle, i64(g_, copies), state, [&](llvm::Value* index, int, LlvmValues& acc) {
            for (int u = 0; u < copies; ++u) once(g_.b.CreateAdd(index, i64(g_, u)), u, acc);
        });
        lower = middle;
    }
    serial_loop(lower, upper, i64(g_, 1), state, once);
    for (int k = 0; k < count; ++k) {
        auto at = [&](int u) { return state[static_cast<std::size_t>(u * count + k)]; };
        const DType t = type(in.results[k]);
        llvm::Value* value = at(0);
        if (several) value = combine(in.combines[k], t, combine(in.combines[k], t, at(0), at(1)), combine(in.combines[k], t, at(2), at(3)));
        define(in.results[k], t == DType::Float16 ? round_half(g_, value) : value);
    }
}

}  // namespace pardo::emit
