// src/emit/llvm/math/cast.cpp: conversions between dtypes, defined for every input and equal to NumPy's on x86-64.
#include "emit/llvm/emitter.h"

namespace pardo::emit {

llvm::Value* Emitter::cast(llvm::Value* x, DType from, DType to) {
    if (from == to) return x;
    const int n = width(x);
    llvm::Type* type = widened(element(to), n);
    if (to == DType::Bool) return is_float(from) ? b_.CreateFCmpUNE(x, real(x, 0)) : b_.CreateICmpNE(x, integer(x, 0));
    if (is_float(from)) {
        if (!is_float(to)) return float_to_int(x, to);
        if (to == DType::Float16) return from == DType::Float64 ? double_to_half(x) : round_half(x);
        if (to == DType::Float64) return b_.CreateFPExt(x, type);
        return from == DType::Float64 ? b_.CreateFPTrunc(x, type) : x;
    }
    if (is_float(to)) {
        llvm::Value* value = kind_of(from) == DKind::Signed ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
        return to == DType::Float16 ? round_half(value) : value;
    }
    return kind_of(from) == DKind::Signed ? b_.CreateSExtOrTrunc(x, type) : b_.CreateZExtOrTrunc(x, type);
}

/// Float or double to integer as x86-64 compilers do it: what does not fit int32 (int64) gives its smallest value; narrower integers take
/// the low bits of an int32, uint32 those of an int64, and uint64 splits at 2^63.
llvm::Value* Emitter::float_to_int(llvm::Value* x, DType to) {
    const int n = width(x);
    const bool is_double = x->getType()->getScalarType()->isDoubleTy();
    auto convert = [&](llvm::Value* v, unsigned bits) {
        llvm::Type* type = widened(b_.getIntNTy(bits), n);
        const double limit = bits == 32 ? 0x1p31 : 0x1p63;
        const bool fractions = bits == 32 && is_double;  // between the limit and the next integer below, which truncate to the limit
        llvm::Value* low = fractions ? b_.CreateFCmpOGT(v, real(v, -limit - 1)) : b_.CreateFCmpOGE(v, real(v, -limit));
        llvm::Value* fits = b_.CreateAnd(low, b_.CreateFCmpOLT(v, real(v, limit)));
        llvm::Value* smallest = llvm::ConstantInt::get(type, std::uint64_t(1) << (bits - 1));
        return b_.CreateSelect(fits, b_.CreateFPToSI(v, type), smallest);
    };
    if (to == DType::Int64) return convert(x, 64);
    if (to == DType::UInt64) {
        llvm::Value* upper = b_.CreateFCmpOGE(x, real(x, 0x1p63));
        llvm::Value* value = convert(b_.CreateSelect(upper, b_.CreateFSub(x, real(x, 0x1p63)), x), 64);
        return b_.CreateXor(value, b_.CreateSelect(upper, integer(value, INT64_MIN), integer(value, 0)));
    }
    llvm::Value* value = convert(x, to == DType::UInt32 ? 64 : 32);
    return b_.CreateTrunc(value, widened(element(to), n));
}

/// double to float16 with one rounding. By way of a float rounded to odd, which keeps what the second rounding needs to know.
llvm::Value* Emitter::double_to_half(llvm::Value* x) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    const int n = width(x);
    llvm::Type *float_type = widened(b_.getFloatTy(), n), *bits_type = widened(b_.getInt32Ty(), n);
    llvm::Value* f = b_.CreateFPTrunc(x, float_type);
    llvm::Value* back = b_.CreateFPExt(f, x->getType());
    llvm::Value* bits = b_.CreateBitCast(f, bits_type);
    llvm::Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, integer(bits, 1)), integer(bits, 0));
    llvm::Value* inexact = b_.CreateAnd(even, b_.CreateFCmpONE(back, x));
    auto fabs = [&](llvm::Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
    llvm::Value* step = b_.CreateSelect(b_.CreateFCmpOLT(fabs(back), fabs(x)), integer(bits, 1), integer(bits, -1));
    llvm::Value* odd = b_.CreateBitCast(b_.CreateSelect(inexact, b_.CreateAdd(bits, step), bits), float_type);
    return round_half(odd);
}

}  // namespace pardo::emit
