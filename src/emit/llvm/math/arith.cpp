// src/emit/llvm/math/arith.cpp: arithmetic, comparison, bits: the same code for scalars and vectors.
#include "emit/llvm/emitter.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <pardo/error.h>

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
        case Opcode::Neg: value = is_float(t) ? b_.CreateFNeg(operand(0)) : b_.CreateNeg(operand(0)); break;
        case Opcode::Not: value = b_.CreateNot(operand(0)); break;
        case Opcode::Abs:
            value = operand(0);
            if (is_float(t))
                value = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
            else if (kind_of(t) == DKind::Signed)
                value = b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, b_.getFalse());
            break;
        case Opcode::Fma: {
            llvm::Value* x = operand(0);
            if (t != DType::Float16) {
                value = b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, operand(1), operand(2)});
            } else {
                // A float16 product is exact in double and so is its sum with a float16, but for ties that double rounding would spoil.
                auto wide = [&](int k) { return cast(operand(k), DType::Float32, DType::Float64); };
                value = cast(b_.CreateFAdd(b_.CreateFMul(wide(0), wide(1)), wide(2)), DType::Float64, DType::Float16);
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
            if (!value) value = compare(in.op, from, operand(0), operand(1));
            break;
        case Opcode::Select: {
            const bool one = values_[in.operands[0]].kind == LaneShape::Uniform;
            value = b_.CreateSelect(one ? scalar(in.operands[0]) : vector(in.operands[0]), operand(1), operand(2));
            break;
        }
        case Opcode::Cast: value = cast(operand(0), from, t); break;
        case Opcode::Bitcast: value = bitcast(operand(0), from, t); break;
        case Opcode::Call: {
            LlvmValues args;
            for (int k = 0; k < in.operands.size(); ++k) args.push_back(operand(k));
            value = call(in.math, t, args);
            break;
        }
        case Opcode::Complex:
        case Opcode::Real:
        case Opcode::Imag:
        case Opcode::Wrap:
        case Opcode::Inside: throw Error(ErrorCode::Internal, "emit_llvm: complex values and checks must be lowered first");
        default: value = binary(in.op, t, operand(0), operand(1)); break;
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
        if (l.kind == LaneShape::Uniform) l.step = i64(0);
        return l;
    };
    const Lane x = lane(0);
    Lane out{shape.kind, nullptr, nullptr};
    switch (in.op) {
        case Opcode::Add: {
            const Lane y = lane(1);
            out.v = b_.CreateAdd(x.v, y.v);
            out.step = b_.CreateAdd(x.step, y.step);
            break;
        }
        case Opcode::Sub: {
            const Lane y = lane(1);
            out.v = b_.CreateSub(x.v, y.v);
            out.step = b_.CreateSub(x.step, y.step);
            break;
        }
        case Opcode::Mul: {
            const Lane y = lane(1);
            const bool first = x.kind != LaneShape::Uniform;
            out.v = b_.CreateMul(x.v, y.v);
            out.step = first ? b_.CreateMul(x.step, y.v) : b_.CreateMul(y.step, x.v);
            break;
        }
        case Opcode::Neg:
            out.v = b_.CreateNeg(x.v);
            out.step = b_.CreateNeg(x.step);
            break;
        default: out = x; break;  // a cast to the same type
    }
    if (shape.kind == LaneShape::Affine) out.step = i64(shape.step);
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
    llvm::Value* limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, scalar(b), scalar(a));
    limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, limit, i64(-lanes_));
    limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, i64(lanes_));
    return compare(in.op, DType::Int64, lane_numbers(step), splat(b_.CreateTrunc(limit, lane_number_type()), lanes_));
}

llvm::Value* Emitter::binary(Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const bool floating = is_float(t);
    llvm::Value* value = nullptr;
    switch (op) {
        case Opcode::Add: value = floating ? b_.CreateFAdd(x, y) : t == DType::Bool ? b_.CreateOr(x, y) : b_.CreateAdd(x, y); break;
        case Opcode::Sub: value = floating ? b_.CreateFSub(x, y) : t == DType::Bool ? b_.CreateXor(x, y) : b_.CreateSub(x, y); break;
        case Opcode::Mul: value = floating ? b_.CreateFMul(x, y) : t == DType::Bool ? b_.CreateAnd(x, y) : b_.CreateMul(x, y); break;
        case Opcode::Div: {
            const auto* root = llvm::dyn_cast<llvm::IntrinsicInst>(y);
            const bool whole = target_.vector_bytes == 64 && y->getType() == widened(b_.getFloatTy(), 16);
            if (kernel_.fast_math && whole && root && root->getIntrinsicID() == llvm::Intrinsic::sqrt)
                return b_.CreateFMul(x, reciprocal_root(root->getArgOperand(0)));
            value = b_.CreateFDiv(x, y);
            break;
        }
        case Opcode::FloorDiv:
        case Opcode::Rem: value = floating ? float_divide(op, x, y) : integer_divide(op, t, x, y); break;
        case Opcode::Fmod: value = floating ? fmod(x, y) : integer_divide(op, t, x, y); break;
        case Opcode::Min:
        case Opcode::Max:
        case Opcode::Fmin:
        case Opcode::Fmax: return min_max(op, t, x, y);
        case Opcode::And: return b_.CreateAnd(x, y);
        case Opcode::Or: return b_.CreateOr(x, y);
        case Opcode::Xor: return b_.CreateXor(x, y);
        case Opcode::Shl:
        case Opcode::Shr: return shift(op, t, x, y);
        default: throw Error(ErrorCode::Internal, std::string("emit_llvm: unknown operation ") + ir::name(op));
    }
    return t == DType::Float16 ? round_half(value) : value;
}

llvm::Value* Emitter::compare(Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    using P = llvm::CmpInst;
    struct Row {
        P::Predicate real, sign, plain;
    };
    static constexpr Row rows[] = {{P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
                                   {P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
                                   {P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}};
    const Row& row = rows[static_cast<int>(op) - static_cast<int>(Opcode::Eq)];
    if (!is_float(t)) return b_.CreateICmp(kind_of(t) == DKind::Signed ? row.sign : row.plain, x, y);
    // As in min_max: LLVM 19 forgets an absolute value where a choice by this is part of a choice by a test for NaN.
    const auto above_zero = [](llvm::Value* v, llvm::Value* zero) -> llvm::Value* {
        const auto* limit = llvm::dyn_cast<llvm::Constant>(zero);
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
        return limit && limit->isZeroValue() && call && call->getIntrinsicID() == llvm::Intrinsic::fabs ? call->getArgOperand(0) : nullptr;
    };
    if (llvm::Value* v = op == Opcode::Gt ? above_zero(x, y) : op == Opcode::Lt ? above_zero(y, x) : nullptr)
        return b_.CreateFCmpONE(v, llvm::Constant::getNullValue(v->getType()));
    return b_.CreateFCmp(row.real, x, y);
}

llvm::Value* Emitter::min_max(Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const bool smaller = op == Opcode::Min || op == Opcode::Fmin;
    if (!is_float(t)) return b_.CreateSelect(compare(smaller ? Opcode::Lt : Opcode::Gt, t, x, y), x, y);
    // One choice by both tests. A choice inside of another one is what LLVM 19 makes wrong code of: where p is an absolute value and q is
    // zero, it takes p's sign for that of what p was made of.
    auto first_if = [&](llvm::Value* is_nan, llvm::Value* p, llvm::Value* q) {  // gives q if it is NaN
        return b_.CreateSelect(b_.CreateOr(is_nan, smaller ? b_.CreateFCmpOLT(p, q) : b_.CreateFCmpOGT(p, q)), p, q);
    };
    if (op == Opcode::Min || op == Opcode::Max) return first_if(b_.CreateFCmpUNO(x, x), x, y);
    return first_if(b_.CreateFCmpUNO(x, x), y, x);
}

llvm::Value* Emitter::shift(Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const int bits = itemsize(t) * 8;
    llvm::Value* in_range = b_.CreateICmpULT(y, integer(y, bits));
    if (op == Opcode::Shl) return b_.CreateSelect(in_range, b_.CreateShl(x, y), integer(x, 0));
    if (kind_of(t) != DKind::Signed) return b_.CreateSelect(in_range, b_.CreateLShr(x, y), integer(x, 0));
    return b_.CreateAShr(x, b_.CreateSelect(in_range, y, integer(y, bits - 1)));
}

llvm::Value* Emitter::by_lane(llvm::Type* result, llvm::ArrayRef<llvm::Value*> operands,
                              llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> f) {
    const int n = width(operands[0]);
    if (n == 1) return f(operands);
    llvm::Value* out = llvm::PoisonValue::get(result);
    for (int l = 0; l < n; ++l) {
        LlvmValues lane;
        for (llvm::Value* v : operands) lane.push_back(b_.CreateExtractElement(v, static_cast<std::uint64_t>(l)));
        out = b_.CreateInsertElement(out, f(lane), static_cast<std::uint64_t>(l));
    }
    return out;
}

/// A vector's quotients, one after the other, in a function of its own: each takes tens of instructions, in every place that divides.
llvm::Function* Emitter::division_by_lane(bool is_signed, llvm::Type* type) {
    const std::string name =
        (is_signed ? "divide.s" : "divide.u") + std::to_string(llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
    if (llvm::Function* known = module_->getFunction(name)) return known;
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false), llvm::Function::InternalLinkage, name, *module_);
    for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::Cold})
        made->addFnAttr(attribute);
    made->setMemoryEffects(llvm::MemoryEffects::none());
    for (const char* key : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"})
        if (function_->hasFnAttribute(key)) made->addFnAttr(function_->getFnAttribute(key));
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", made));
    b_.CreateRet(by_lane(type, {made->getArg(0), made->getArg(1)}, [&](llvm::ArrayRef<llvm::Value*> p) {
        return is_signed ? b_.CreateSDiv(p[0], p[1]) : b_.CreateUDiv(p[0], p[1]);
    }));
    return made;
}

/// x / y towards zero; y is neither 0 nor -1 with the smallest x.
llvm::Value* Emitter::truncated_quotient(DType t, llvm::Value* x, llvm::Value* y) {
    const bool is_signed = kind_of(t) == DKind::Signed;
    const int n = width(x);
    auto divide = [&](llvm::Value* p, llvm::Value* q) { return is_signed ? b_.CreateSDiv(p, q) : b_.CreateUDiv(p, q); };
    if (n == 1 || llvm::isa<llvm::Constant>(y)) return divide(x, y);
    // There is no vector division of integers. Quotients of integers below 2^53 are exact in double after truncation (2^24 in float).
    const DType via = itemsize(t) <= 2 ? DType::Float32 : DType::Float64;
    auto through_float = [&] {
        llvm::Type* real_type = widened(element(via), n);
        auto convert = [&](llvm::Value* v) { return is_signed ? b_.CreateSIToFP(v, real_type) : b_.CreateUIToFP(v, real_type); };
        llvm::Value* q = b_.CreateFDiv(convert(x), convert(y));
        return is_signed ? b_.CreateFPToSI(q, x->getType()) : b_.CreateFPToUI(q, x->getType());
    };
    if (itemsize(t) <= 4) return through_float();
    auto by_one = [&] { return b_.CreateCall(division_by_lane(is_signed, x->getType()), {x, y}); };
    if (target_.vector_bytes < 64) return by_one();
    auto magnitude = [&](llvm::Value* v) { return is_signed ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b_.getFalse()) : v; };
    llvm::Value* large = b_.CreateICmpUGE(b_.CreateOr(magnitude(x), magnitude(y)), integer(x, std::int64_t(1) << 53));
    llvm::BasicBlock *slow = block("divide.slow"), *fast = block("divide.fast"), *done = block("divide.done");
    b_.CreateCondBr(any(large), slow, fast);
    b_.SetInsertPoint(slow);
    llvm::Value* slow_value = by_one();
    b_.CreateBr(done);
    b_.SetInsertPoint(fast);
    llvm::Value* fast_value = through_float();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    llvm::PHINode* phi = b_.CreatePHI(x->getType(), 2);
    phi->addIncoming(slow_value, slow);
    phi->addIncoming(fast_value, fast);
    return phi;
}

/// FloorDiv, Rem (sign of the divisor) and Fmod (sign of the dividend); x op 0 is 0 and the smallest integer by -1 does not trap.
llvm::Value* Emitter::integer_divide(Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const bool is_signed = kind_of(t) == DKind::Signed;
    llvm::Value* zero = integer(x, 0);
    llvm::Value* by_zero = b_.CreateICmpEQ(y, zero);
    llvm::Value* unsafe = by_zero;
    if (is_signed) {
        const std::int64_t smallest = static_cast<std::int64_t>(std::uint64_t(1) << (itemsize(t) * 8 - 1));
        llvm::Value* overflow = b_.CreateAnd(b_.CreateICmpEQ(x, integer(x, smallest)), b_.CreateICmpEQ(y, integer(y, -1)));
        unsafe = b_.CreateOr(unsafe, overflow);
    }
    llvm::Value* divisor = b_.CreateSelect(unsafe, integer(y, 1), y);  // smallest / 1 is what smallest / -1 shall give
    llvm::Value* quotient = truncated_quotient(t, x, divisor);
    llvm::Value* remainder = b_.CreateSub(x, b_.CreateMul(quotient, divisor));
    if (op == Opcode::Fmod) return b_.CreateSelect(by_zero, zero, remainder);
    if (!is_signed) return b_.CreateSelect(by_zero, zero, op == Opcode::FloorDiv ? quotient : remainder);
    llvm::Value* adjust = b_.CreateAnd(b_.CreateICmpNE(remainder, zero), b_.CreateICmpSLT(b_.CreateXor(remainder, divisor), zero));
    llvm::Value* value = op == Opcode::FloorDiv ? b_.CreateSelect(adjust, b_.CreateSub(quotient, integer(x, 1)), quotient)
                                                : b_.CreateSelect(adjust, b_.CreateAdd(remainder, divisor), remainder);
    return b_.CreateSelect(by_zero, zero, value);
}

/// fmod, exact. While |x / y| < 2^53 the quotient's integer part is known up to one, and x - q * y is exact in one fma.
llvm::Value* Emitter::fmod(llvm::Value* x, llvm::Value* y) {
    const int n = width(x);
    if (x->getType()->getScalarType()->isFloatTy()) {
        llvm::Type* wide = widened(b_.getDoubleTy(), n);
        return b_.CreateFPTrunc(fmod(b_.CreateFPExt(x, wide), b_.CreateFPExt(y, wide)), x->getType());
    }
    auto by_one = [&] {
        return by_lane(x->getType(), {x, y}, [&](llvm::ArrayRef<llvm::Value*> p) { return external("fmod", b_.getDoubleTy(), p); });
    };
    if (!target_.fma) return by_one();
    // Fast math must not touch the exactness of what follows.
    llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    auto fabs = [&](llvm::Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
    llvm::Value *ax = fabs(x), *ay = fabs(y), *zero = real(x, 0), *infinity = llvm::ConstantFP::getInfinity(x->getType());
    llvm::Value* ratio = b_.CreateFDiv(ax, ay);
    llvm::Value* undefined = b_.CreateOr(b_.CreateFCmpUEQ(ax, infinity), b_.CreateFCmpUEQ(ay, zero));  // or NaN
    llvm::Value* simple = b_.CreateFCmpOLT(ratio, real(x, 0x1p53));
    llvm::Value* hard = b_.CreateNot(b_.CreateOr(simple, undefined));
    if (mask_ && n > 1) hard = b_.CreateAnd(hard, mask_);
    llvm::BasicBlock *slow = block("fmod.slow"), *fast = block("fmod.fast"), *done = block("fmod.done");
    b_.CreateCondBr(any(hard), slow, fast);
    b_.SetInsertPoint(slow);
    llvm::Value* slow_value = by_one();
    llvm::BasicBlock* slow_end = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(fast);
    llvm::Value* q = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, ratio);
    llvm::Value* r = b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {b_.CreateFNeg(q), ay, ax});
    r = b_.CreateSelect(b_.CreateFCmpOLT(r, zero), b_.CreateFAdd(r, ay), r);
    r = b_.CreateSelect(b_.CreateFCmpOEQ(ay, infinity), ax, r);
    r = b_.CreateSelect(undefined, llvm::ConstantFP::getNaN(x->getType()), r);
    llvm::Value* fast_value = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, r, x);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    llvm::PHINode* phi = b_.CreatePHI(x->getType(), 2);
    phi->addIncoming(slow_value, slow_end);
    phi->addIncoming(fast_value, fast);
    return phi;
}

/// AVX-512's estimate and a step of Newton's, within 2 ulp: faster than a root and a division. Older estimates take small numbers for zero.
/// What can be done without the multipliers is, since formulas with roots wait for these: half the estimate is one less in its exponent.
llvm::Value* Emitter::reciprocal_root(llvm::Value* x) {
    llvm::Type *type = x->getType(), *bits = widened(b_.getInt32Ty(), width(x));
    const auto number = [&](double v) { return llvm::ConstantFP::get(type, v); };
    const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
        return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, b, c});
    };
    llvm::Value* r =
        b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, {}, {x, llvm::Constant::getNullValue(type), b_.getInt16(0xffff)});
    if (kernel_.fast_math > 1) return r;  // within 2**-14
    llvm::Value* error = fma(b_.CreateFNeg(b_.CreateFMul(x, r)), r, number(1));
    llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    // Of 0 and infinity the estimate is right, and the error NaN, which min turns into a number: then the step adds a finite number to
    // infinity, or half of 0, which is kept from being less than 0, to 0.
    error = b_.CreateSelect(b_.CreateFCmpOLT(error, number(0.5)), error, number(0.5));
    llvm::Value* one = llvm::ConstantInt::get(bits, 1u << 23);  // in an exponent
    llvm::Value* half = b_.CreateSub(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateBitCast(r, bits), one), one);
    return fma(b_.CreateBitCast(half, type), error, r);
}

/// NumPy's npy_divmod, step by step.
llvm::Value* Emitter::float_divide(Opcode op, llvm::Value* x, llvm::Value* y) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    llvm::Value *zero = real(x, 0), *one = real(x, 1);
    llvm::Value* mod = fmod(x, y);
    llvm::Value* by_zero = b_.CreateFCmpOEQ(y, zero);
    llvm::Value* has_remainder = b_.CreateFCmpUNE(mod, zero);
    llvm::Value* adjust = b_.CreateAnd(has_remainder, b_.CreateXor(b_.CreateFCmpOLT(y, zero), b_.CreateFCmpOLT(mod, zero)));
    if (op == Opcode::Rem) {
        llvm::Value* signed_zero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, y);
        llvm::Value* value = b_.CreateSelect(has_remainder, b_.CreateSelect(adjust, b_.CreateFAdd(mod, y), mod), signed_zero);
        return b_.CreateSelect(by_zero, mod, value);
    }
    llvm::Value* ratio = b_.CreateFDiv(x, y);
    llvm::Value* div = b_.CreateFDiv(b_.CreateFSub(x, mod), y);
    div = b_.CreateSelect(adjust, b_.CreateFSub(div, one), div);
    llvm::Value* floor = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, div);
    floor = b_.CreateSelect(b_.CreateFCmpOGT(b_.CreateFSub(div, floor), real(x, 0.5)), b_.CreateFAdd(floor, one), floor);
    llvm::Value* signed_zero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, ratio);
    llvm::Value* value = b_.CreateSelect(b_.CreateFCmpUNE(div, zero), floor, signed_zero);
    return b_.CreateSelect(by_zero, ratio, value);
}

llvm::Value* Emitter::round_half(llvm::Value* x) {
    llvm::Type* half = widened(b_.getHalfTy(), width(x));
    return b_.CreateFPExt(b_.CreateFPTrunc(x, half), x->getType());
}

llvm::Value* Emitter::bitcast(llvm::Value* x, DType from, DType to) {
    const int n = width(x);
    if (from == DType::Bool) x = b_.CreateZExt(x, widened(b_.getInt8Ty(), n));
    if (from == DType::Float16) x = b_.CreateFPTrunc(x, widened(b_.getHalfTy(), n));
    if (to == DType::Bool)
        return b_.CreateICmpNE(b_.CreateBitCast(x, widened(b_.getInt8Ty(), n)), llvm::Constant::getNullValue(widened(b_.getInt8Ty(), n)));
    x = b_.CreateBitCast(x, widened(memory_element(to), n));
    return to == DType::Float16 ? b_.CreateFPExt(x, widened(b_.getFloatTy(), n)) : x;
}

}  // namespace pardo::emit
