// src/emit/llvm/math/cast.cpp: conversions between dtypes, defined for every input and equal to NumPy's on x86-64.
#include "emit/llvm/math/cast.h"

namespace pardo::emit {

namespace {

/// Float or double to integer as x86-64 compilers do it: what does not fit int32 (int64) gives its smallest value; narrower integers take
/// the low bits of an int32, uint32 those of an int64, and uint64 splits at 2^63.
llvm::Value* float_to_int(Codegen& g, llvm::Value* x, DType to) {
    const int n = width(x);
    const bool is_double = x->getType()->getScalarType()->isDoubleTy();
    auto convert = [&](llvm::Value* v, unsigned bits) {
        llvm::Type* type = widened(g.b.getIntNTy(bits), n);
        const double limit = bits == 32 ? 0x1p31 : 0x1p63;
        const bool fractions = bits == 32 && is_double;  // between the limit and the next integer below, which truncate to the limit
        llvm::Value* low = fractions ? g.b.CreateFCmpOGT(v, real(v, -limit - 1)) : g.b.CreateFCmpOGE(v, real(v, -limit));
        llvm::Value* fits = g.b.CreateAnd(low, g.b.CreateFCmpOLT(v, real(v, limit)));
        llvm::Value* smallest = llvm::ConstantInt::get(type, std::uint64_t(1) << (bits - 1));
        return g.b.CreateSelect(fits, g.b.CreateFPToSI(v, type), smallest);
    };
    if (to == DType::Int64) return convert(x, 64);
    if (to == DType::UInt64) {
        llvm::Value* upper = g.b.CreateFCmpOGE(x, real(x, 0x1p63));
        llvm::Value* value = convert(g.b.CreateSelect(upper, g.b.CreateFSub(x, real(x, 0x1p63)), x), 64);
        return g.b.CreateXor(value, g.b.CreateSelect(upper, integer(value, INT64_MIN), integer(value, 0)));
    }
    llvm::Value* value = convert(x, to == DType::UInt32 ? 64 : 32);
    return g.b.CreateTrunc(value, widened(element(g, to), n));
}

/// The top 16 bits of a float32, which are a bfloat16, of the nearest such number; ties go to even, and a NaN stays one. By integers,
/// because the instruction of x86-64 takes subnormal numbers for zero.
llvm::Value* top_of_float(Codegen& g, llvm::Value* x) {
    llvm::Value* bits = g.b.CreateBitCast(x, widened(g.b.getInt32Ty(), width(x)));
    llvm::Value* odd = g.b.CreateAnd(g.b.CreateLShr(bits, 16), integer(bits, 1));
    llvm::Value* nearest = g.b.CreateAdd(bits, g.b.CreateAdd(odd, integer(bits, 0x7fff)));
    llvm::Value* quiet = g.b.CreateOr(bits, integer(bits, 0x400000));
    llvm::Value* is_nan = g.b.CreateICmpUGT(g.b.CreateAnd(bits, integer(bits, 0x7fffffff)), integer(bits, 0x7f800000));
    llvm::Value* top = g.b.CreateLShr(g.b.CreateSelect(is_nan, quiet, nearest), 16);
    return g.b.CreateTrunc(top, widened(g.b.getInt16Ty(), width(x)));
}

/// A double as a float that lacks nothing a narrower one is rounded by: where it is not exact its last bit is one.
llvm::Value* rounded_to_odd(Codegen& g, llvm::Value* x) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(g.b);
    g.b.clearFastMathFlags();
    const int n = width(x);
    llvm::Type *float_type = widened(g.b.getFloatTy(), n), *bits_type = widened(g.b.getInt32Ty(), n);
    llvm::Value* f = g.b.CreateFPTrunc(x, float_type);
    llvm::Value* back = g.b.CreateFPExt(f, x->getType());
    llvm::Value* bits = g.b.CreateBitCast(f, bits_type);
    llvm::Value* even = g.b.CreateICmpEQ(g.b.CreateAnd(bits, integer(bits, 1)), integer(bits, 0));
    llvm::Value* inexact = g.b.CreateAnd(even, g.b.CreateFCmpONE(back, x));
    auto fabs = [&](llvm::Value* v) { return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
    llvm::Value* step = g.b.CreateSelect(g.b.CreateFCmpOLT(fabs(back), fabs(x)), integer(bits, 1), integer(bits, -1));
    return g.b.CreateBitCast(g.b.CreateSelect(inexact, g.b.CreateAdd(bits, step), bits), float_type);
}

/// A float of 16 bits as a float, and the one that a float is rounded to.
llvm::Value* widened_to_float(Codegen& g, llvm::Value* x, DType t) {
    const int n = width(x);
    llvm::Type* type = widened(g.b.getFloatTy(), n);
    if (t == DType::Float16) return g.b.CreateFPExt(x, type);
    return g.b.CreateBitCast(g.b.CreateShl(g.b.CreateZExt(x, widened(g.b.getInt32Ty(), n)), 16), type);
}
llvm::Value* narrowed_to(Codegen& g, llvm::Value* x, DType t) {
    return t == DType::Float16 ? g.b.CreateFPTrunc(x, widened(g.b.getHalfTy(), width(x))) : top_of_float(g, x);
}

}  // namespace

llvm::Value* cast(Codegen& g, llvm::Value* x, DType from, DType to) {
    if (from == to) return x;
    if (is_narrow_float(from)) return cast(g, widened_to_float(g, x, from), computed_in(from), to);
    if (is_narrow_float(to)) return narrowed_to(g, from == DType::Float64 ? rounded_to_odd(g, x) : cast(g, x, from, computed_in(to)), to);
    const int n = width(x);
    llvm::Type* type = widened(element(g, to), n);
    if (to == DType::Bool) return is_float(from) ? g.b.CreateFCmpUNE(x, real(x, 0)) : g.b.CreateICmpNE(x, integer(x, 0));
    if (is_float(from)) {
        if (!is_float(to)) return float_to_int(g, x, to);
        return to == DType::Float64 ? g.b.CreateFPExt(x, type) : g.b.CreateFPTrunc(x, type);
    }
    if (is_float(to)) return kind_of(from) == DKind::Signed ? g.b.CreateSIToFP(x, type) : g.b.CreateUIToFP(x, type);
    return kind_of(from) == DKind::Signed ? g.b.CreateSExtOrTrunc(x, type) : g.b.CreateZExtOrTrunc(x, type);
}

llvm::Value* bitcast(Codegen& g, llvm::Value* x, DType from, DType to) {
    return from_memory(g, g.b.CreateBitCast(to_memory(g, x, from), widened(memory_element(g, to), width(x))), to);
}

llvm::Value* from_memory(Codegen& g, llvm::Value* v, DType t) { return t == DType::Bool ? g.b.CreateICmpNE(v, integer(v, 0)) : v; }

llvm::Value* to_memory(Codegen& g, llvm::Value* v, DType t) {
    return t == DType::Bool ? g.b.CreateZExt(v, widened(g.b.getInt8Ty(), width(v))) : v;
}

}  // namespace pardo::emit
