// src/emit/llvm/math/functions.cpp: mathematical functions: LLVM's own where they are one instruction, inline ones, else the library's.
#include "emit/llvm/math/functions.h"

#include "emit/llvm/math/cast.h"
#include "emit/llvm/math/cbrt.h"
#include "emit/llvm/math/erf.h"
#include "emit/llvm/math/float_logarithms.h"
#include "emit/llvm/math/float_powers.h"
#include "emit/llvm/math/hyperbolic.h"
#include "emit/llvm/math/library.h"
#include "emit/llvm/math/polynomials.h"

namespace pardo::emit {

using ir::Math;

namespace {

/// Where SLEEF 3.5.1 overflows although the result does not: x * x in asinh and acosh, e^x in sinh and cosh, near the end of the range in
/// log1p.
llvm::Value* special_values(Codegen& g, Math fn, llvm::ArrayRef<llvm::Value*> args, llvm::Value* result) {
    const bool hyperbolic = fn == Math::sinh || fn == Math::cosh, inverse = fn == Math::asinh || fn == Math::acosh;
    if (!hyperbolic && !inverse) return result;
    llvm::Value* x = args[0];
    const bool is_double = x->getType()->getScalarType()->isDoubleTy();
    llvm::Value* magnitude = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    auto with_sign = [&](llvm::Value* v) {
        return fn == Math::sinh || fn == Math::asinh ? g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, v, x) : v;
    };
    if (inverse) {
        llvm::Value* large = g.b.CreateFCmpOGT(fn == Math::asinh ? magnitude : x, real(x, is_double ? 0x1p300 : 0x1p40));
        return unless(g, large, result,
                      [&] { return with_sign(g.b.CreateFAdd(library(g, Math::log, {magnitude}), real(x, 0.693147180559945309417))); });
    }
    llvm::Value* large = g.b.CreateFCmpOGT(magnitude, real(x, is_double ? 709.0 : 88.0));
    return unless(g, large, result, [&] {
        constexpr double half_e44 = 6425800057179654138.0;  // e^44 / 2: the first factor cannot overflow before the product does
        return with_sign(g.b.CreateFMul(library(g, Math::exp, {g.b.CreateFSub(magnitude, real(x, 44))}), real(x, half_e44)));
    });
}

/// The neighbour of x towards y, by its bits: those of a float16 if t is one.
llvm::Value* next_after(Codegen& g, DType t, llvm::Value* x, llvm::Value* y) {
    const int n = width(x);
    llvm::Value* raw = t == DType::Float16 ? g.b.CreateFPTrunc(x, widened(g.b.getHalfTy(), n)) : x;
    llvm::Type* bits_type = widened(g.b.getIntNTy(static_cast<unsigned>(itemsize(t)) * 8), n);
    llvm::Value* bits = g.b.CreateBitCast(raw, bits_type);
    llvm::Value* zero = real(x, 0);
    llvm::Value* away = g.b.CreateICmpEQ(g.b.CreateFCmpOLT(x, y), g.b.CreateFCmpOGT(x, zero));
    llvm::Value* next = g.b.CreateAdd(bits, g.b.CreateSelect(away, integer(bits, 1), integer(bits, -1)));
    llvm::Value* moved = g.b.CreateBitCast(next, raw->getType());
    llvm::Value* smallest = g.b.CreateBitCast(integer(bits, 1), raw->getType());
    if (t == DType::Float16) {
        moved = g.b.CreateFPExt(moved, x->getType());
        smallest = g.b.CreateFPExt(smallest, x->getType());
    }
    llvm::Value* from_zero = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, smallest, y);
    llvm::Value* value = g.b.CreateSelect(g.b.CreateFCmpOEQ(x, zero), from_zero, moved);
    value = g.b.CreateSelect(g.b.CreateFCmpOEQ(x, y), y, value);
    return g.b.CreateSelect(g.b.CreateFCmpUNO(x, y), g.b.CreateFAdd(x, y), value);
}

llvm::Value* inline_math(Codegen& g, Math fn, llvm::Value* x) {
    if (fn == Math::erf) return inline_erf(g, x);
    if (fn == Math::cbrt) return inline_cbrt(g, x);
    const DType t = x->getType()->getScalarType()->isDoubleTy() ? DType::Float64 : DType::Float32;
    if (is_hyperbolic(fn, t)) return inline_hyperbolic(g, fn, x);
    if (is_float_logarithm(fn, t)) return inline_float_logarithm(g, fn, x);
    return inline_polynomial(g, fn, x);
}

}  // namespace

bool has_inline_math(const LlvmTarget& target, Math fn, DType t) {
    const bool known = is_polynomial(fn, t) || fn == Math::cbrt || is_hyperbolic(fn, t) || is_float_logarithm(fn, t);
    return (known && target.vector_bytes >= 32) || (fn == Math::erf && t == DType::Float64 && target.vector_bytes == 64);
}

llvm::Value* call(Codegen& g, Math fn, DType t, llvm::ArrayRef<llvm::Value*> args, llvm::Value* mask) {
    if (fn == Math::nextafter) return next_after(g, t, args[0], args[1]);
    llvm::Value* value = nullptr;
    switch (fn) {
        case Math::sqrt: value = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, args[0]); break;
        case Math::floor: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, args[0]);
        case Math::ceil: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, args[0]);
        case Math::trunc: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, args[0]);
        case Math::rint: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, args[0]);
        case Math::copysign: return g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, args[0], args[1]);
        default: {
            LlvmValues safe(args.begin(), args.end());
            // Lanes that are off may hold anything, and one large angle or exponent sends all of SLEEF's lanes down a slow path.
            if (mask && width(args[0]) > 1)
                for (llvm::Value*& v : safe) v = g.b.CreateSelect(mask, v, real(v, 1));
            if (fn == Math::pow && t == DType::Float32 && g.target.vector_bytes >= 32)
                value = inline_float_power(g, safe[0], safe[1]);
            else
                value = has_inline_math(g.target, fn, t) ? inline_math(g, fn, safe[0]) : special_values(g, fn, safe, library(g, fn, safe));
        }
    }
    return t == DType::Float16 ? round_half(g, value) : value;
}

}  // namespace pardo::emit
