// src/emit/llvm/arithmetic.cpp: instructions that compute: of scalars, of vectors, and of indices, which stay a base and a step.
#include "emit/llvm/arithmetic.h"

#include "emit/llvm/loops/lanes.h"
#include "emit/llvm/math/arith.h"
#include "emit/llvm/math/functions.h"

namespace pardo::emit {

using ir::Instr;
using ir::Opcode;
using ir::Value;

namespace {

/// Index arithmetic that stays scalar: a base and a step. False if the result is a vector, or all is uniform.
bool affine_arithmetic(Values& values, const Instr& in) {
    const ir::Value result = in.results[0];
    const LaneShape shape = values.source.shape(result);
    if (shape.kind == LaneShape::Varying) return false;
    bool uniform = true;
    for (ir::Value v : in.operands) uniform &= values[v].kind == LaneShape::Uniform;
    if (uniform) return false;
    auto lane = [&](int k) {
        Lane l = values[in.operands[k]];
        if (l.kind == LaneShape::Uniform) l.step = i64(values.g, 0);
        return l;
    };
    const Lane x = lane(0);
    Lane out{shape.kind, nullptr, nullptr};
    switch (in.op) {
        case Opcode::Add: {
            const Lane y = lane(1);
            out.v = values.g.b.CreateAdd(x.v, y.v);
            out.step = values.g.b.CreateAdd(x.step, y.step);
            break;
        }
        case Opcode::Sub: {
            const Lane y = lane(1);
            out.v = values.g.b.CreateSub(x.v, y.v);
            out.step = values.g.b.CreateSub(x.step, y.step);
            break;
        }
        case Opcode::Mul: {
            const Lane y = lane(1);
            const bool first = x.kind != LaneShape::Uniform;
            out.v = values.g.b.CreateMul(x.v, y.v);
            out.step = first ? values.g.b.CreateMul(x.step, y.v) : values.g.b.CreateMul(y.step, x.v);
            break;
        }
        case Opcode::Neg:
            out.v = values.g.b.CreateNeg(x.v);
            out.step = values.g.b.CreateNeg(x.step);
            break;
        default: out = x; break;  // a cast to the same type
    }
    if (shape.kind == LaneShape::Affine) out.step = i64(values.g, shape.step);
    if (shape.kind == LaneShape::Uniform) out.step = nullptr;
    values[result] = out;
    return true;
}

/// A neighbour's index plus a constant: so far from the largest integer that no lane wraps.
bool is_small_index(const Source& source, Value lane_index, Value v) {
    std::int64_t c = 0;
    constexpr std::int64_t limit = std::int64_t(1) << 60;
    if (constant_int(source.kernel, v, c)) return -limit < c && c < limit;
    if (v == lane_index) return true;
    if (source.kernel.values[v].region != ~0u) return false;
    const Instr& in = source.instr(source.kernel.values[v].def);
    if (in.op == Opcode::Dim || in.op == Opcode::LocalDim) return true;
    return (in.op == Opcode::Add || in.op == Opcode::Sub) && is_small_index(source, lane_index, in.operands[0]) &&
           is_small_index(source, lane_index, in.operands[1]);
}

/// Compares indices of neighbours with what all lanes have in common: x + l < y is l < y - x, and that fits the lanes' own width. Null for
/// other operands.
llvm::Value* compare_by_lane(Values& values, const LaneContext& here, const Instr& in) {
    const Value a = in.operands[0], b = in.operands[1];
    auto known = [&](Value v) {
        const LaneShape::Kind kind = values.source.shape(v).kind;
        return kind == LaneShape::Uniform || (kind == LaneShape::Affine && is_small_index(values.source, here.lane_index, v));
    };
    if (here.lanes == 1 || values.source.type(a) != DType::Int64 || !known(a) || !known(b)) return nullptr;
    const std::int64_t step = values.source.shape(a).step - values.source.shape(b).step;
    if (step != 1 && step != -1) return nullptr;
    llvm::Value* limit = values.g.b.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, values.scalar(b), values.scalar(a));
    limit = values.g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, limit, i64(values.g, -here.lanes));
    limit = values.g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, i64(values.g, here.lanes));
    return compare(values.g, in.op, DType::Int64, lane_numbers(values.g, here.lanes, step),
                   splat(values.g, values.g.b.CreateTrunc(limit, lane_number_type(values.g, here.lanes)), here.lanes));
}

}  // namespace

void arithmetic(Values& values, const LaneContext& here, const Instr& in) {
    const ir::Value result = in.results[0];
    if (affine_arithmetic(values, in)) return;
    const bool scalar_result = values.source.is_uniform(result);
    auto operand = [&](int k) { return scalar_result ? values.scalar(in.operands[k]) : values.vector(here, in.operands[k]); };
    const DType from = values.source.type(in.operands[0]), t = values.source.type(result);
    llvm::Value* value = nullptr;
    if (!scalar_result && in.op >= Opcode::Eq && in.op <= Opcode::Ge) value = compare_by_lane(values, here, in);
    if (!value) {
        LlvmValues operands(static_cast<std::size_t>(in.operands.size()));
        for (int k = 0; k < in.operands.size(); ++k) {
            const bool one = in.op == Opcode::Select && k == 0 && values[in.operands[0]].kind == LaneShape::Uniform;
            operands[static_cast<std::size_t>(k)] = one ? values.scalar(in.operands[0]) : operand(k);
        }
        value = in.op == Opcode::Call ? call(values.g, in.math(), t, operands, here.divergent ? here.mask : nullptr)
                                      : compute(values.g, in.op, from, t, operands, here.mask);
    }
    values.define(here, result, value);
}

}  // namespace pardo::emit
