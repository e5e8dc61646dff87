// src/emit/llvm/math/float_powers.cpp: powers of floats inline: 2^(y log2 x) in double precision, whose bits are enough for all exponents.
#include "emit/llvm/math/float_powers.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "emit/llvm/math/doubles.h"
#include "emit/llvm/math/float_terms.h"
#include "emit/llvm/math/library.h"
#include "ir/math/terms.h"

namespace pardo::emit {

using ir::Math;

namespace {

constexpr double far_exponent = 300;  // of two: beyond, and within what doubles have

/// Of normal x above 0 and finite y.
llvm::Value* power_of_floats(Codegen& g, llvm::Value* x, llvm::Value* y) {
    llvm::Type* wide = widened(g.b.getDoubleTy(), width(x));
    const Doubles d(g, wide);
    const auto [field, k, f] = split_for_log(g, g.b.CreateFPExt(x, wide));
    llvm::Value* s = quotient_for_floats(g, f, g.b.CreateFAdd(f, d(2.0)));
    llvm::Value* log2 = d.fma(g.b.CreateFMul(s, d(std::numbers::log2e)), d.polynomial(g.b.CreateFMul(s, s), log_of_float), k);
    llvm::Value* exponent = g.b.CreateFMul(g.b.CreateFPExt(y, wide), log2);
    const auto at_most = [&](llvm::Value* v, double limit) { return g.b.CreateSelect(g.b.CreateFCmpOLT(d(limit), v), d(limit), v); };
    exponent = g.b.CreateFNeg(at_most(g.b.CreateFNeg(at_most(exponent, far_exponent)), far_exponent));
    llvm::Value* shifted = g.b.CreateFAdd(exponent, d(ir::math::whole_shifter));
    llvm::Value* r = g.b.CreateFMul(g.b.CreateFSub(exponent, g.b.CreateFSub(shifted, d(ir::math::whole_shifter))), d(std::numbers::ln2));
    llvm::Value* scale = power_of_two(g, shifted, bits_of_one, false);
    return g.b.CreateFPTrunc(d.fma(g.b.CreateFMul(scale, r), d.polynomial(r, expm1_of_float), scale), x->getType());
}

}  // namespace

llvm::Value* inline_float_power(Codegen& g, llvm::Value* x, llvm::Value* y) {
    const Doubles d(g, x->getType());  // no fast-math flags: signs and NaN are told apart here
    const double infinity = std::numeric_limits<double>::infinity();
    llvm::Value* size = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    llvm::Value* odd_base =
        g.b.CreateOr(g.b.CreateFCmpULT(size, real(x, std::numeric_limits<float>::min())), g.b.CreateFCmpOEQ(size, real(x, infinity)));
    llvm::Value* rare = g.b.CreateOr(odd_base, g.b.CreateFCmpUEQ(g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y), real(y, infinity)));
    const int chunk = std::min(width(x), g.target.vector_bytes / 4);
    llvm::Value* power =
        in_chunks(g, chunk, {size, y}, [&](llvm::ArrayRef<llvm::Value*> part) { return power_of_floats(g, part[0], part[1]); });
    // Of negative numbers there are whole powers alone, odd ones negative.
    const auto is_whole = [&](llvm::Value* v) { return g.b.CreateFCmpOEQ(g.b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v), v); };
    llvm::Value* odd = g.b.CreateNot(is_whole(g.b.CreateFMul(y, real(y, 0.5))));
    llvm::Value* of_negative = g.b.CreateSelect(odd, g.b.CreateFNeg(power), power);
    of_negative = g.b.CreateSelect(is_whole(y), of_negative, llvm::ConstantFP::getNaN(x->getType()));
    llvm::Value* result = g.b.CreateSelect(g.b.CreateFCmpOLT(x, real(x, 0)), of_negative, power);
    return unless(g, rare, result, [&] { return library(g, Math::pow, {x, y}); });
}

}  // namespace pardo::emit
