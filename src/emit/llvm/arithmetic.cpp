// src/emit/llvm/arithmetic.cpp: instructions that compute: of scalars, of vectors, and of indices, which stay a base and a step.
#include <pardo/error.h>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/arith.h"
#include "emit/llvm/math/cast.h"
#include "emit/llvm/math/functions.h"

namespace pardo::emit {

using ir::Instr;
using ir::Opcode;
using ir::Value;

void Emitter::arithmetic(const Instr& in) {
    const ir::Value result = in.results[0];
    if (affine_arithmetic(in)) return;
    const bool scalar_result = info_.shapes[result].kind == LaneShape::Uniform;
    auto operand = [&](int k) { return scalar_result ? scalar(in.operands[k]) : vector(in.operands[k]); };
    const DType from = type(in.operands[0]), t = type(result);
    llvm::Value* value = nullptr;
    switch (in.op) {
        case Opcode::Neg: value = is_float(t) ? g_.b.CreateFNeg(operand(0)) : g_.b.CreateNeg(operand(0)); break;
        case Opcode::Not: value = g_.b.CreateNot(operand(0)); break;
        case Opcode::Abs:
            value = operand(0);
            if (is_float(t))
                value = g_.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
            else if (kind_of(t) == DKind::Signed)
                value = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, g_.b.getFalse());
            break;
        case Opcode::Fma: {
            llvm::Value* x = operand(0);
            if (t != DType::Float16) {
                value = g_.b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, operand(1), operand(2)});
            } else {
                // A float16 product is exact in double and so is its sum with a float16, but for ties that double rounding would spoil.
                auto wide = [&](int k) { return cast(g_, operand(k), DType::Float32, DType::Float64); };
                value = cast(g_, g_.b.CreateFAdd(g_.b.CreateFMul(wide(0), wide(1)), wide(2)), DType::Float64, DType::Float16);
            }
            break;
        }
        case Opcode::Eq:
        case Opcode::Ne:
        case Opcode::Lt:
        case Opcode::Le:
        case Opcode::Gt:
        case Opcode::Ge:
            if (!scalar_result) value = compare_by_lane(in);
            if (!value) value = compare(g_, in.op, from, operand(0), operand(1));
            break;
        case Opcode::Select: {
            const bool one = values_[in.operands[0]].kind == LaneShape::Uniform;
            value = g_.b.CreateSelect(one ? scalar(in.operands[0]) : vector(in.operands[0]), operand(1), operand(2));
            break;
        }
        case Opcode::Cast: value = cast(g_, operand(0), from, t); break;
        case Opcode::Bitcast: value = bitcast(g_, operand(0), from, t); break;
        case Opcode::Call: {
            LlvmValues args;
            for (int k = 0; k < in.operands.size(); ++k) args.push_back(operand(k));
            value = call(g_, in.math, t, args, divergent_ ? mask_ : nullptr);
            break;
        }
        case Opcode::Complex:
        case Opcode::Real:
        case Opcode::Imag:
        case Opcode::Wrap:
        case Opcode::Inside: throw Error(ErrorCode::Internal, "emit_llvm: complex values and checks must be lowered first");
        default: value = binary(g_, in.op, t, operand(0), operand(1), mask_); break;
    }
    define(result, value);
}

/// Index arithmetic that stays scalar: a base and a step. False if the result is a vector, or all is uniform.
bool Emitter::affine_arithmetic(const Instr& in) {
    const ir::Value result = in.results[0];
    const LaneShape shape = info_.shapes[result];
    if (shape.kind == LaneShape::Varying) return false;
    bool uniform = true;
    for (ir::Value v : in.operands) uniform &= values_[v].kind == LaneShape::Uniform;
    if (uniform) return false;
    auto lane = [&](int k) {
        Lane l = values_[in.operands[k]];
        if (l.kind == LaneShape::Uniform) l.step = i64(g_, 0);
        return l;
    };
    const Lane x = lane(0);
    Lane out{shape.kind, nullptr, nullptr};
    switch (in.op) {
        case Opcode::Add: {
            const Lane y = lane(1);
            out.v = g_.b.CreateAdd(x.v, y.v);
            out.step = g_.b.CreateAdd(x.step, y.step);
            break;
        }
        case Opcode::Sub: {
            const Lane y = lane(1);
            out.v = g_.b.CreateSub(x.v, y.v);
            out.step = g_.b.CreateSub(x.step, y.step);
            break;
        }
        case Opcode::Mul: {
            const Lane y = lane(1);
            const bool first = x.kind != LaneShape::Uniform;
            out.v = g_.b.CreateMul(x.v, y.v);
            out.step = first ? g_.b.CreateMul(x.step, y.v) : g_.b.CreateMul(y.step, x.v);
            break;
        }
        case Opcode::Neg:
            out.v = g_.b.CreateNeg(x.v);
            out.step = g_.b.CreateNeg(x.step);
            break;
        default: out = x; break;  // a cast to the same type
    }
    if (shape.kind == LaneShape::Affine) out.step = i64(g_, shape.step);
    if (shape.kind == LaneShape::Uniform) out.step = nullptr;
    define(result, out);
    return true;
}

/// A neighbour's index plus a constant: so far from the largest integer that no lane wraps.
bool Emitter::is_small_index(Value v) const {
    std::int64_t c = 0;
    constexpr std::int64_t limit = std::int64_t(1) << 60;
    if (constant_int(kernel_, v, c)) return -limit < c && c < limit;
    if (v == lane_index_) return true;
    if (kernel_.values[v].region != ~0u) return false;
    const Instr& in = kernel_.instrs[kernel_.values[v].def];
    if (in.op == Opcode::Dim || in.op == Opcode::LocalDim) return true;
    return (in.op == Opcode::Add || in.op == Opcode::Sub) && is_small_index(in.operands[0]) && is_small_index(in.operands[1]);
}

/// Compares indices of neighbours with what all lanes have in common: x + l < y is l < y - x, and that fits the lanes' own width. Null for
/// other operands.
llvm::Value* Emitter::compare_by_lane(const Instr& in) {
    const Value a = in.operands[0], b = in.operands[1];
    auto known = [&](Value v) {
        const LaneShape::Kind kind = info_.shapes[v].kind;
        return kind == LaneShape::Uniform || (kind == LaneShape::Affine && is_small_index(v));
    };
    if (lanes_ == 1 || type(a) != DType::Int64 || !known(a) || !known(b)) return nullptr;
    const std::int64_t step = info_.shapes[a].step - info_.shapes[b].step;
    if (step != 1 && step != -1) return nullptr;
    llvm::Value* limit = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, scalar(b), scalar(a));
    limit = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, limit, i64(g_, -lanes_));
    limit = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, i64(g_, lanes_));
    return compare(g_, in.op, DType::Int64, lane_numbers(step), splat(g_, g_.b.CreateTrunc(limit, lane_number_type()), lanes_));
}

}  // namespace pardo::emit
