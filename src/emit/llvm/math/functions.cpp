// src/emit/llvm/math/functions.cpp: mathematical functions: LLVM's own where they are one instruction, else SLEEF's for the lane count.
#include "emit/llvm/emitter.h"

#include <pardo/error.h>

#include <algorithm>

#include "emit/llvm/math/table.h"

namespace pardo::emit {

using ir::Math;

llvm::Value* Emitter::external(const std::string& name, llvm::Type* type, llvm::ArrayRef<llvm::Value*> args) {
    llvm::SmallVector<llvm::Type*, 4> types;
    for (llvm::Value* a : args) types.push_back(a->getType());
    llvm::FunctionCallee callee = module_->getOrInsertFunction(name, llvm::FunctionType::get(type, types, false));
    auto* f = llvm::cast<llvm::Function>(callee.getCallee());
    if (!f->hasFnAttribute(llvm::Attribute::NoUnwind)) {
        // Not speculatable: LLVM would take calls out of branches that are all but never taken.
        for (auto a : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::NoFree, llvm::Attribute::NoSync,
                       llvm::Attribute::NoCallback})
            f->addFnAttr(a);
        f->setDoesNotAccessMemory();
    }
    return b_.CreateCall(callee, args);
}

/// A function of `chunk` lanes for vectors of any width: short ones repeat their last lane, long ones are taken in parts.
llvm::Value* Emitter::in_chunks(int chunk, llvm::ArrayRef<llvm::Value*> args,
                                llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> function) {
    const int n = width(args[0]);
    llvm::SmallVector<llvm::Value*, 8> parts;
    for (int at = 0; at < n; at += chunk) {
        LlvmValues part;
        llvm::SmallVector<int, 16> lanes;
        for (int l = 0; l < chunk; ++l) lanes.push_back(std::min(at + l, n - 1));
        for (llvm::Value* a : args) part.push_back(n == chunk ? a : b_.CreateShuffleVector(a, lanes));
        parts.push_back(function(part));
    }
    while (parts.size() > 1) {
        llvm::SmallVector<llvm::Value*, 8> joined;
        llvm::SmallVector<int, 64> all;
        for (int l = 0; l < 2 * width(parts[0]); ++l) all.push_back(l);
        for (std::size_t p = 0; p < parts.size(); p += 2) joined.push_back(b_.CreateShuffleVector(parts[p], parts[p + 1], all));
        parts = std::move(joined);
    }
    if (chunk <= n) return parts[0];
    llvm::SmallVector<int, 16> front;
    for (int l = 0; l < n; ++l) front.push_back(l);
    return b_.CreateShuffleVector(parts[0], front);
}

/// Calls SLEEF: the narrowest variant that holds all lanes, else the widest several times.
llvm::Value* Emitter::library(Math fn, llvm::ArrayRef<llvm::Value*> args) {
    llvm::Type* type = args[0]->getType();
    const int n = width(args[0]);
    const bool is_double = type->getScalarType()->isDoubleTy();
    if (n == 1) return external(scalar_math_name(fn, is_double, target_), type, args);
    const int element_bytes = is_double ? 8 : 4;
    const int chunk = std::clamp(n * element_bytes, 16, target_.vector_bytes) / element_bytes;
    const std::string name = vector_math_name(fn, is_double, chunk, target_);
    if (name.empty()) {
        const std::string one = scalar_math_name(fn, is_double, target_);
        return by_lane(type, args, [&](llvm::ArrayRef<llvm::Value*> p) { return external(one, type->getScalarType(), p); });
    }
    llvm::Type* chunk_type = llvm::FixedVectorType::get(type->getScalarType(), static_cast<unsigned>(chunk));
    return in_chunks(chunk, args, [&](llvm::ArrayRef<llvm::Value*> part) { return external(name, chunk_type, part); });
}

llvm::Value* Emitter::call(Math fn, DType t, llvm::ArrayRef<llvm::Value*> args) {
    if (fn == Math::nextafter) return next_after(t, args[0], args[1]);
    llvm::Value* value = nullptr;
    switch (fn) {
        case Math::sqrt: value = b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, args[0]); break;
        case Math::floor: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, args[0]);
        case Math::ceil: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, args[0]);
        case Math::trunc: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, args[0]);
        case Math::rint: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, args[0]);
        case Math::copysign: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, args[0], args[1]);
        default: {
            LlvmValues safe(args.begin(), args.end());
            // Lanes that are off may hold anything, and one large angle or exponent sends all of SLEEF's lanes down a slow path.
            if (divergent_ && mask_ && width(args[0]) > 1)
                for (llvm::Value*& v : safe) v = b_.CreateSelect(mask_, v, real(v, 1));
            if (fn == Math::pow && t == DType::Float32 && target_.vector_bytes >= 32)
                value = inline_float_power(safe[0], safe[1]);
            else
                value = has_inline_math(fn, t) ? inline_math(fn, safe[0]) : special_values(fn, safe, library(fn, safe));
        }
    }
    return t == DType::Float16 ? round_half(value) : value;
}

/// `result` where no lane is `rare`; else those lanes take what `repair` computes, behind a branch that is all but never taken.
llvm::Value* Emitter::unless(llvm::Value* rare, llvm::Value* result, llvm::function_ref<llvm::Value*()> repair) {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *fix = block("rare"), *done = block("usual");
    branch_if_any(rare, fix, done);
    b_.SetInsertPoint(fix);
    llvm::Value* repaired = b_.CreateSelect(rare, repair(), result);
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    llvm::PHINode* phi = b_.CreatePHI(result->getType(), 2);
    phi->addIncoming(result, before);
    phi->addIncoming(repaired, end);
    return phi;
}

/// Where SLEEF 3.5.1 overflows although the result does not: x * x in asinh and acosh, e^x in sinh and cosh, near the end of the range in
/// log1p.
llvm::Value* Emitter::special_values(Math fn, llvm::ArrayRef<llvm::Value*> args, llvm::Value* result) {
    const bool hyperbolic = fn == Math::sinh || fn == Math::cosh, inverse = fn == Math::asinh || fn == Math::acosh;
    if (!hyperbolic && !inverse) return result;
    llvm::Value* x = args[0];
    const bool is_double = x->getType()->getScalarType()->isDoubleTy();
    llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    auto with_sign = [&](llvm::Value* v) {
        return fn == Math::sinh || fn == Math::asinh ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, v, x) : v;
    };
    if (inverse) {
        llvm::Value* large = b_.CreateFCmpOGT(fn == Math::asinh ? magnitude : x, real(x, is_double ? 0x1p300 : 0x1p40));
        return unless(large, result,
                      [&] { return with_sign(b_.CreateFAdd(library(Math::log, {magnitude}), real(x, 0.693147180559945309417))); });
    }
    llvm::Value* large = b_.CreateFCmpOGT(magnitude, real(x, is_double ? 709.0 : 88.0));
    return unless(large, result, [&] {
        constexpr double half_e44 = 6425800057179654138.0;  // e^44 / 2: the first factor cannot overflow before the product does
        return with_sign(b_.CreateFMul(library(Math::exp, {b_.CreateFSub(magnitude, real(x, 44))}), real(x, half_e44)));
    });
}

/// The neighbour of x towards y, by its bits: those of a float16 if t is one.
llvm::Value* Emitter::next_after(DType t, llvm::Value* x, llvm::Value* y) {
    const int n = width(x);
    llvm::Value* raw = t == DType::Float16 ? b_.CreateFPTrunc(x, widened(b_.getHalfTy(), n)) : x;
    llvm::Type* bits_type = widened(b_.getIntNTy(static_cast<unsigned>(itemsize(t)) * 8), n);
    llvm::Value* bits = b_.CreateBitCast(raw, bits_type);
    llvm::Value* zero = real(x, 0);
    llvm::Value* away = b_.CreateICmpEQ(b_.CreateFCmpOLT(x, y), b_.CreateFCmpOGT(x, zero));
    llvm::Value* next = b_.CreateAdd(bits, b_.CreateSelect(away, integer(bits, 1), integer(bits, -1)));
    llvm::Value* moved = b_.CreateBitCast(next, raw->getType());
    llvm::Value* smallest = b_.CreateBitCast(integer(bits, 1), raw->getType());
    if (t == DType::Float16) {
        moved = b_.CreateFPExt(moved, x->getType());
        smallest = b_.CreateFPExt(smallest, x->getType());
    }
    llvm::Value* from_zero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, smallest, y);
    llvm::Value* value = b_.CreateSelect(b_.CreateFCmpOEQ(x, zero), from_zero, moved);
    value = b_.CreateSelect(b_.CreateFCmpOEQ(x, y), y, value);
    return b_.CreateSelect(b_.CreateFCmpUNO(x, y), b_.CreateFAdd(x, y), value);
}

}  // namespace pardo::emit
