// src/emit/llvm/math/arith.cpp: arithmetic, comparison, bits: the same code for scalars and vectors.
#include "emit/llvm/math/arith.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <pardo/error.h>

#include "emit/llvm/math/cast.h"
#include "emit/llvm/math/divide.h"
#include "emit/llvm/math/lookup.h"

namespace pardo::emit {

using ir::Opcode;

namespace {

/// AVX-512's estimate and a step of Newton's, within 2 ulp: faster than a root and a division. Older estimates take small numbers for zero.
/// What can be done without the multipliers is, since formulas with roots wait for these: half the estimate is one less in its exponent.
llvm::Value* reciprocal_root(Codegen& g, llvm::Value* x) {
    llvm::Type *type = x->getType(), *bits = widened(g.b.getInt32Ty(), width(x));
    const auto number = [&](double v) { return llvm::ConstantFP::get(type, v); };
    const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
        return g.b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, b, c});
    };
    llvm::Value* r =
        g.b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, {}, {x, llvm::Constant::getNullValue(type), g.b.getInt16(0xffff)});
    if (g.fast_math > 1) return r;  // within 2**-14
    llvm::Value* error = fma(g.b.CreateFNeg(g.b.CreateFMul(x, r)), r, number(1));
    llvm::IRBuilder<>::FastMathFlagGuard guard(g.b);
    g.b.clearFastMathFlags();
    // Of 0 and infinity the estimate is right, and the error NaN, which min turns into a number: then the step adds a finite number to
    // infinity, or half of 0, which is kept from being less than 0, to 0.
    error = g.b.CreateSelect(g.b.CreateFCmpOLT(error, number(0.5)), error, number(0.5));
    llvm::Value* one = llvm::ConstantInt::get(bits, 1u << 23);  // in an exponent
    llvm::Value* half = g.b.CreateSub(g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, g.b.CreateBitCast(r, bits), one), one);
    return fma(g.b.CreateBitCast(half, type), error, r);
}

llvm::Value* shift(Codegen& g, Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const int bits = itemsize(t) * 8;
    llvm::Value* in_range = g.b.CreateICmpULT(y, integer(y, bits));
    if (op == Opcode::Shl) return g.b.CreateSelect(in_range, g.b.CreateShl(x, y), integer(x, 0));
    if (kind_of(t) != DKind::Signed) return g.b.CreateSelect(in_range, g.b.CreateLShr(x, y), integer(x, 0));
    return g.b.CreateAShr(x, g.b.CreateSelect(in_range, y, integer(y, bits - 1)));
}

llvm::Value* absolute(Codegen& g, DType t, llvm::Value* x) {
    if (is_float(t)) return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    return kind_of(t) == DKind::Signed ? g.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, g.b.getFalse()) : x;
}

}  // namespace

llvm::Value* compute(Codegen& g, Opcode op, DType from, DType t, llvm::ArrayRef<llvm::Value*> v, llvm::Value* mask) {
    switch (op) {
        case Opcode::Neg: return is_float(t) ? g.b.CreateFNeg(v[0]) : g.b.CreateNeg(v[0]);
        case Opcode::Not: return g.b.CreateNot(v[0]);
        case Opcode::Abs: return absolute(g, t, v[0]);
        case Opcode::Fma: return g.b.CreateIntrinsic(llvm::Intrinsic::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
        case Opcode::Eq:
        case Opcode::Ne:
        case Opcode::Lt:
        case Opcode::Le:
        case Opcode::Gt:
        case Opcode::Ge: return compare(g, op, from, v[0], v[1]);
        case Opcode::Select: return g.b.CreateSelect(v[0], v[1], v[2]);
        case Opcode::Cast: return cast(g, v[0], from, t);
        case Opcode::Bitcast: return bitcast(g, v[0], from, t);
        case Opcode::Lookup: return lookup(g, v);
        case Opcode::Complex:
        case Opcode::Real:
        case Opcode::Imag:
        case Opcode::Wrap:
        case Opcode::Inside: throw Error(ErrorCode::Internal, "emit_llvm: complex values and checks must be lowered first");
        default: return binary(g, op, t, v[0], v[1], mask);
    }
}

llvm::Value* binary(Codegen& g, Opcode op, DType t, llvm::Value* x, llvm::Value* y, llvm::Value* mask) {
    const bool floating = is_float(t);
    switch (op) {
        case Opcode::Add: return floating ? g.b.CreateFAdd(x, y) : t == DType::Bool ? g.b.CreateOr(x, y) : g.b.CreateAdd(x, y);
        case Opcode::Sub: return floating ? g.b.CreateFSub(x, y) : t == DType::Bool ? g.b.CreateXor(x, y) : g.b.CreateSub(x, y);
        case Opcode::Mul: return floating ? g.b.CreateFMul(x, y) : t == DType::Bool ? g.b.CreateAnd(x, y) : g.b.CreateMul(x, y);
        case Opcode::Div: {
            const auto* root = llvm::dyn_cast<llvm::IntrinsicInst>(y);
            const bool whole = g.target.vector_bytes == 64 && y->getType() == widened(g.b.getFloatTy(), 16);
            if (g.fast_math && whole && root && root->getIntrinsicID() == llvm::Intrinsic::sqrt)
                return g.b.CreateFMul(x, reciprocal_root(g, root->getArgOperand(0)));
            return g.b.CreateFDiv(x, y);
        }
        case Opcode::FloorDiv:
        case Opcode::Rem: return floating ? float_divide(g, op, x, y, mask) : integer_divide(g, op, t, x, y);
        case Opcode::Fmod: return floating ? fmod(g, x, y, mask) : integer_divide(g, op, t, x, y);
        case Opcode::Min:
        case Opcode::Max:
        case Opcode::Fmin:
        case Opcode::Fmax: return min_max(g, op, t, x, y);
        case Opcode::And: return g.b.CreateAnd(x, y);
        case Opcode::Or: return g.b.CreateOr(x, y);
        case Opcode::Xor: return g.b.CreateXor(x, y);
        case Opcode::Shl:
        case Opcode::Shr: return shift(g, op, t, x, y);
        default: throw Error(ErrorCode::Internal, std::string("emit_llvm: unknown operation ") + ir::name(op));
    }
}

llvm::Value* compare(Codegen& g, Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    using P = llvm::CmpInst;
    struct Row {
        P::Predicate real, sign, plain;
    };
    static constexpr Row rows[] = {{P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
                                   {P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
                                   {P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}};
    const Row& row = rows[static_cast<int>(op) - static_cast<int>(Opcode::Eq)];
    if (!is_float(t)) return g.b.CreateICmp(kind_of(t) == DKind::Signed ? row.sign : row.plain, x, y);
    // As in min_max: LLVM 19 forgets an absolute value where a choice by this is part of a choice by a test for NaN.
    const auto above_zero = [](llvm::Value* v, llvm::Value* zero) -> llvm::Value* {
        const auto* limit = llvm::dyn_cast<llvm::Constant>(zero);
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
        return limit && limit->isZeroValue() && call && call->getIntrinsicID() == llvm::Intrinsic::fabs ? call->getArgOperand(0) : nullptr;
    };
    if (llvm::Value* v = op == Opcode::Gt ? above_zero(x, y) : op == Opcode::Lt ? above_zero(y, x) : nullptr)
        return g.b.CreateFCmpONE(v, llvm::Constant::getNullValue(v->getType()));
    return g.b.CreateFCmp(row.real, x, y);
}

llvm::Value* min_max(Codegen& g, Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const bool smaller = op == Opcode::Min || op == Opcode::Fmin;
    if (!is_float(t)) return g.b.CreateSelect(compare(g, smaller ? Opcode::Lt : Opcode::Gt, t, x, y), x, y);
    // One choice by both tests. A choice inside of another one is what LLVM 19 makes wrong code of: where p is an absolute value and q is
    // zero, it takes p's sign for that of what p was made of.
    auto first_if = [&](llvm::Value* is_nan, llvm::Value* p, llvm::Value* q) {  // gives q if it is NaN
        return g.b.CreateSelect(g.b.CreateOr(is_nan, smaller ? g.b.CreateFCmpOLT(p, q) : g.b.CreateFCmpOGT(p, q)), p, q);
    };
    if (op == Opcode::Min || op == Opcode::Max) return first_if(g.b.CreateFCmpUNO(x, x), x, y);
    return first_if(g.b.CreateFCmpUNO(x, x), y, x);
}

}  // namespace pardo::emit
