// src/emit/llvm/math/divide.cpp: quotients and remainders.
#include "emit/llvm/math/divide.h"

#include <string>

#include "emit/llvm/math/library.h"

namespace pardo::emit {

using ir::Opcode;

namespace {

/// A vector's quotients, one after the other, in a function of its own: each takes tens of instructions, in every place that divides.
llvm::Function* division_by_lane(Codegen& g, bool is_signed, llvm::Type* type) {
    const std::string name =
        (is_signed ? "divide.s" : "divide.u") + std::to_string(llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
    if (llvm::Function* known = g.module->getFunction(name)) return known;
    const llvm::Function* function = g.function();
    llvm::IRBuilder<>::InsertPointGuard guard(g.b);
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false), llvm::Function::InternalLinkage, name, *g.module);
    for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::Cold})
        made->addFnAttr(attribute);
    made->setMemoryEffects(llvm::MemoryEffects::none());
    for (const char* key : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"})
        if (function->hasFnAttribute(key)) made->addFnAttr(function->getFnAttribute(key));
    g.b.SetInsertPoint(llvm::BasicBlock::Create(g.b.getContext(), "entry", made));
    g.b.CreateRet(by_lane(g, type, {made->getArg(0), made->getArg(1)}, [&](llvm::ArrayRef<llvm::Value*> p) {
        return is_signed ? g.b.CreateSDiv(p[0], p[1]) : g.b.CreateUDiv(p[0], p[1]);
    }));
    return made;
}

/// x / y towards zero; y is neither 0 nor -1 with the smallest x.
llvm::Value* truncated_quotient(Codegen& g, DType t, llvm::Value* x, llvm::Value* y) {
    const bool is_signed = kind_of(t) == DKind::Signed;
    const int n = width(x);
    auto divide = [&](llvm::Value* p, llvm::Value* q) { return is_signed ? g.b.CreateSDiv(p, q) : g.b.CreateUDiv(p, q); };
    if (n == 1 || llvm::isa<llvm::Constant>(y)) return divide(x, y);
    // There is no vector division of integers. Quotients of integers below 2^53 are exact in double after truncation (2^24 in float).
    const DType via = itemsize(t) <= 2 ? DType::Float32 : DType::Float64;
    auto through_float = [&] {
        llvm::Type* real_type = widened(element(g, via), n);
        auto convert = [&](llvm::Value* v) { return is_signed ? g.b.CreateSIToFP(v, real_type) : g.b.CreateUIToFP(v, real_type); };
        llvm::Value* q = g.b.CreateFDiv(convert(x), convert(y));
        return is_signed ? g.b.CreateFPToSI(q, x->getType()) : g.b.CreateFPToUI(q, x->getType());
    };
    if (itemsize(t) <= 4) return through_float();
    auto by_one = [&] { return g.b.CreateCall(division_by_lane(g, is_signed, x->getType()), {x, y}); };
    if (g.target.vector_bytes < 64) return by_one();
    auto magnitude = [&](llvm::Value* v) { return is_signed ? g.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, g.b.getFalse()) : v; };
    llvm::Value* large = g.b.CreateICmpUGE(g.b.CreateOr(magnitude(x), magnitude(y)), integer(x, std::int64_t(1) << 53));
    llvm::BasicBlock *slow = block(g, "divide.slow"), *fast = block(g, "divide.fast"), *done = block(g, "divide.done");
    g.b.CreateCondBr(any(g, large), slow, fast);
    g.b.SetInsertPoint(slow);
    llvm::Value* slow_value = by_one();
    g.b.CreateBr(done);
    g.b.SetInsertPoint(fast);
    llvm::Value* fast_value = through_float();
    g.b.CreateBr(done);
    g.b.SetInsertPoint(done);
    llvm::PHINode* phi = g.b.CreatePHI(x->getType(), 2);
    phi->addIncoming(slow_value, slow);
    phi->addIncoming(fast_value, fast);
    return phi;
}

}  // namespace

llvm::Value* integer_divide(Codegen& g, Opcode op, DType t, llvm::Value* x, llvm::Value* y) {
    const bool is_signed = kind_of(t) == DKind::Signed;
    llvm::Value* zero = integer(x, 0);
    llvm::Value* by_zero = g.b.CreateICmpEQ(y, zero);
    llvm::Value* unsafe = by_zero;
    if (is_signed) {
        const std::int64_t smallest = static_cast<std::int64_t>(std::uint64_t(1) << (itemsize(t) * 8 - 1));
        llvm::Value* overflow = g.b.CreateAnd(g.b.CreateICmpEQ(x, integer(x, smallest)), g.b.CreateICmpEQ(y, integer(y, -1)));
        unsafe = g.b.CreateOr(unsafe, overflow);
    }
    llvm::Value* divisor = g.b.CreateSelect(unsafe, integer(y, 1), y);  // smallest / 1 is what smallest / -1 shall give
    llvm::Value* quotient = truncated_quotient(g, t, x, divisor);
    llvm::Value* remainder = g.b.CreateSub(x, g.b.CreateMul(quotient, divisor));
    if (op == Opcode::Fmod) return g.b.CreateSelect(by_zero, zero, remainder);
    if (!is_signed) return g.b.CreateSelect(by_zero, zero, op == Opcode::FloorDiv ? quotient : remainder);
    llvm::Value* adjust = g.b.CreateAnd(g.b.CreateICmpNE(remainder, zero), g.b.CreateICmpSLT(g.b.CreateXor(remainder, divisor), zero));
    llvm::Value* value = op == Opcode::FloorDiv ? g.b.CreateSelect(adjust, g.b.CreateSub(quotient, integer(x, 1)), quotient)
                                                : g.b.CreateSelect(adjust, g.b.CreateAdd(remainder, divisor), remainder);
    return g.b.CreateSelect(by_zero, zero, value);
}

/// While |x / y| < 2^53 the quotient's integer part is known up to one, and x - q * y is exact in one fma.
llvm::Value* fmod(Codegen& g, llvm::Value* x, llvm::Value* y, llvm::Value* mask) {
    const int n = width(x);
    if (x->getType()->getScalarType()->isFloatTy()) {
        llvm::Type* wide = widened(g.b.getDoubleTy(), n);
        return g.b.CreateFPTrunc(fmod(g, g.b.CreateFPExt(x, wide), g.b.CreateFPExt(y, wide), mask), x->getType());
    }
    auto by_one = [&] {
        return by_lane(g, x->getType(), {x, y}, [&](llvm::ArrayRef<llvm::Value*> p) { return external(g, "fmod", g.b.getDoubleTy(), p); });
    };
    if (!g.target.fma) return by_one();
    // Fast math must not touch the exactness of what follows.
    llvm::IRBuilder<>::FastMathFlagGuard guard(g.b);
    g.b.clearFastMathFlags();
    auto fabs = [&](llvm::Value* v) { return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
    llvm::Value *ax = fabs(x), *ay = fabs(y), *zero = real(x, 0), *infinity = llvm::ConstantFP::getInfinity(x->getType());
    llvm::Value* ratio = g.b.CreateFDiv(ax, ay);
    llvm::Value* undefined = g.b.CreateOr(g.b.CreateFCmpUEQ(ax, infinity), g.b.CreateFCmpUEQ(ay, zero));  // or NaN
    llvm::Value* simple = g.b.CreateFCmpOLT(ratio, real(x, 0x1p53));
    llvm::Value* hard = g.b.CreateNot(g.b.CreateOr(simple, undefined));
    if (mask && n > 1) hard = g.b.CreateAnd(hard, mask);
    llvm::BasicBlock *slow = block(g, "fmod.slow"), *fast = block(g, "fmod.fast"), *done = block(g, "fmod.done");
    g.b.CreateCondBr(any(g, hard), slow, fast);
    g.b.SetInsertPoint(slow);
    llvm::Value* slow_value = by_one();
    llvm::BasicBlock* slow_end = g.b.GetInsertBlock();
    g.b.CreateBr(done);
    g.b.SetInsertPoint(fast);
    llvm::Value* q = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, ratio);
    llvm::Value* r = g.b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {g.b.CreateFNeg(q), ay, ax});
    r = g.b.CreateSelect(g.b.CreateFCmpOLT(r, zero), g.b.CreateFAdd(r, ay), r);
    r = g.b.CreateSelect(g.b.CreateFCmpOEQ(ay, infinity), ax, r);
    r = g.b.CreateSelect(undefined, llvm::ConstantFP::getNaN(x->getType()), r);
    llvm::Value* fast_value = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, r, x);
    g.b.CreateBr(done);
    g.b.SetInsertPoint(done);
    llvm::PHINode* phi = g.b.CreatePHI(x->getType(), 2);
    phi->addIncoming(slow_value, slow_end);
    phi->addIncoming(fast_value, fast);
    return phi;
}

llvm::Value* float_divide(Codegen& g, Opcode op, llvm::Value* x, llvm::Value* y, llvm::Value* mask) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(g.b);
    g.b.clearFastMathFlags();
    llvm::Value *zero = real(x, 0), *one = real(x, 1);
    llvm::Value* mod = fmod(g, x, y, mask);
    llvm::Value* by_zero = g.b.CreateFCmpOEQ(y, zero);
    llvm::Value* has_remainder = g.b.CreateFCmpUNE(mod, zero);
    llvm::Value* adjust = g.b.CreateAnd(has_remainder, g.b.CreateXor(g.b.CreateFCmpOLT(y, zero), g.b.CreateFCmpOLT(mod, zero)));
    if (op == Opcode::Rem) {
        llvm::Value* signed_zero = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, y);
        llvm::Value* value = g.b.CreateSelect(has_remainder, g.b.CreateSelect(adjust, g.b.CreateFAdd(mod, y), mod), signed_zero);
        return g.b.CreateSelect(by_zero, mod, value);
    }
    llvm::Value* ratio = g.b.CreateFDiv(x, y);
    llvm::Value* div = g.b.CreateFDiv(g.b.CreateFSub(x, mod), y);
    div = g.b.CreateSelect(adjust, g.b.CreateFSub(div, one), div);
    llvm::Value* floor = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, div);
    floor = g.b.CreateSelect(g.b.CreateFCmpOGT(g.b.CreateFSub(div, floor), real(x, 0.5)), g.b.CreateFAdd(floor, one), floor);
    llvm::Value* signed_zero = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, ratio);
    llvm::Value* value = g.b.CreateSelect(g.b.CreateFCmpUNE(div, zero), floor, signed_zero);
    return g.b.CreateSelect(by_zero, ratio, value);
}

}  // namespace pardo::emit
