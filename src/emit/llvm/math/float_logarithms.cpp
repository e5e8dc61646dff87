// src/emit/llvm/math/float_logarithms.cpp: log, log2 and log10 of floats inline, in double precision by as few terms as floats need, and
// without a division. x = 2^k (1 + f), |f| <= 1/3; log(1 + f) = f P(f), a minimax fit made for this file (Remez, 40 digits, relative
// error 2^-28).
#include <algorithm>
#include <limits>
#include <numbers>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/doubles.h"

namespace pardo::emit {

using ir::Math;

namespace {

constexpr double quotient_terms[] = {1.0000000039597396, -0.5000000187451082,  0.33333157351648013, -0.24999656673508805,
                                     0.2001245500858441, -0.16684004576505385, 0.1398029970780113,  -0.12148581475531468,
                                     0.140891873093662,  -0.1301862955527034};
constexpr std::int64_t one = 0x3f800000, two_thirds = 0x3f2aaaab, mantissa_bits = 23;

}  // namespace

bool Emitter::is_float_logarithm(Math fn, DType t) {
    return (fn == Math::log || fn == Math::log2 || fn == Math::log10) && t == DType::Float32;
}

llvm::Value* Emitter::inline_float_logarithm(Math fn, llvm::Value* x) {
    llvm::Value* tiny = b_.CreateFCmpULT(x, real(x, std::numeric_limits<float>::min()));
    llvm::Value* rare = b_.CreateOr(tiny, b_.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(x->getType())));
    const int chunk = std::min(width(x), target_.vector_bytes / 4);
    llvm::Value* result = in_chunks(chunk, {x}, [&](llvm::ArrayRef<llvm::Value*> part) { return logarithm_of_floats(fn, part[0]); });
    return unless(rare, result, [&] { return library(fn, {x}); });
}

/// Of normal numbers above 0.
llvm::Value* Emitter::logarithm_of_floats(Math fn, llvm::Value* x) {
    llvm::Value* bits = b_.CreateBitCast(x, widened(b_.getInt32Ty(), width(x)));
    llvm::Value* lifted = b_.CreateAdd(bits, integer(bits, one - two_thirds));
    llvm::Value* exponent = b_.CreateSub(b_.CreateLShr(lifted, integer(bits, mantissa_bits)), integer(bits, one >> mantissa_bits));
    llvm::Value* mantissa = b_.CreateAdd(b_.CreateAnd(lifted, integer(bits, (1 << mantissa_bits) - 1)), integer(bits, two_thirds));
    llvm::Type* wide = widened(b_.getDoubleTy(), width(x));
    const Doubles d(b_, wide);
    llvm::Value* k = b_.CreateSIToFP(exponent, wide);
    llvm::Value* f = b_.CreateFSub(b_.CreateFPExt(b_.CreateBitCast(mantissa, x->getType()), wide), d(1.0));
    const double of_two = fn == Math::log ? std::numbers::ln2 : fn == Math::log2 ? 1.0 : std::numbers::ln2 / std::numbers::ln10;
    const double of_e = fn == Math::log ? 1.0 : fn == Math::log2 ? std::numbers::log2e : std::numbers::log10e;
    llvm::Value* part = b_.CreateFMul(fn == Math::log ? f : b_.CreateFMul(f, d(of_e)), d.polynomial(f, quotient_terms));
    return b_.CreateFPTrunc(fn == Math::log2 ? b_.CreateFAdd(k, part) : d.fma(k, d(of_two), part), x->getType());
}

}  // namespace pardo::emit
