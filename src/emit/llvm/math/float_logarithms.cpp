// src/emit/llvm/math/float_logarithms.cpp: log, log2 and log10 of floats inline, in double precision by as few terms as floats need, and
// without a division. x = 2^k (1 + f), |f| <= 1/3; log(1 + f) = f P(f), a minimax fit made for this file (Remez, 40 digits, relative
// error 2^-28).
#include "emit/llvm/math/float_logarithms.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "emit/llvm/math/doubles.h"
#include "emit/llvm/math/library.h"

namespace pardo::emit {

using ir::Math;

namespace {

constexpr double quotient_terms[] = {1.0000000039597396, -0.5000000187451082,  0.33333157351648013, -0.24999656673508805,
                                     0.2001245500858441, -0.16684004576505385, 0.1398029970780113,  -0.12148581475531468,
                                     0.140891873093662,  -0.1301862955527034};
constexpr std::int64_t one = 0x3f800000, two_thirds = 0x3f2aaaab, mantissa_bits = 23;

/// Of normal numbers above 0.
llvm::Value* logarithm_of_floats(Codegen& g, Math fn, llvm::Value* x) {
    llvm::Value* bits = g.b.CreateBitCast(x, widened(g.b.getInt32Ty(), width(x)));
    llvm::Value* lifted = g.b.CreateAdd(bits, integer(bits, one - two_thirds));
    llvm::Value* exponent = g.b.CreateSub(g.b.CreateLShr(lifted, integer(bits, mantissa_bits)), integer(bits, one >> mantissa_bits));
    llvm::Value* mantissa = g.b.CreateAdd(g.b.CreateAnd(lifted, integer(bits, (1 << mantissa_bits) - 1)), integer(bits, two_thirds));
    llvm::Type* wide = widened(g.b.getDoubleTy(), width(x));
    const Doubles d(g, wide);
    llvm::Value* k = g.b.CreateSIToFP(exponent, wide);
    llvm::Value* f = g.b.CreateFSub(g.b.CreateFPExt(g.b.CreateBitCast(mantissa, x->getType()), wide), d(1.0));
    const double of_two = fn == Math::log ? std::numbers::ln2 : fn == Math::log2 ? 1.0 : std::numbers::ln2 / std::numbers::ln10;
    const double of_e = fn == Math::log ? 1.0 : fn == Math::log2 ? std::numbers::log2e : std::numbers::log10e;
    llvm::Value* part = g.b.CreateFMul(fn == Math::log ? f : g.b.CreateFMul(f, d(of_e)), d.polynomial(f, quotient_terms));
    return g.b.CreateFPTrunc(fn == Math::log2 ? g.b.CreateFAdd(k, part) : d.fma(k, d(of_two), part), x->getType());
}

}  // namespace

bool is_float_logarithm(Math fn, DType t) { return (fn == Math::log || fn == Math::log2 || fn == Math::log10) && t == DType::Float32; }

llvm::Value* inline_float_logarithm(Codegen& g, Math fn, llvm::Value* x) {
    llvm::Value* tiny = g.b.CreateFCmpULT(x, real(x, std::numeric_limits<float>::min()));
    llvm::Value* rare = g.b.CreateOr(tiny, g.b.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(x->getType())));
    const int chunk = std::min(width(x), g.target.vector_bytes / 4);
    llvm::Value* result = in_chunks(g, chunk, {x}, [&](llvm::ArrayRef<llvm::Value*> part) { return logarithm_of_floats(g, fn, part[0]); });
    return unless(g, rare, result, [&] { return library(g, fn, {x}); });
}

}  // namespace pardo::emit
