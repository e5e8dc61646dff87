// src/emit/llvm/math/float_powers.cpp: powers of floats inline: 2^(y log2 x) in double precision, whose bits are enough for all exponents.
#include <algorithm>
#include <limits>
#include <numbers>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/doubles.h"
#include "emit/llvm/math/float_terms.h"
#include "ir/passes/math_recipes.h"

namespace pardo::emit {

using ir::Math;

namespace {

constexpr double far_exponent = 300;  // of two: beyond, and within what doubles have

}  // namespace

/// a / b of doubles that become floats, b a normal float: a division of floats takes a third of the time, and one step of Newton's method
/// makes 46 bits of its 23.
llvm::Value* Emitter::quotient_for_floats(llvm::Value* a, llvm::Value* b) {
    const Doubles d(b_, a->getType());
    llvm::Value* narrow = b_.CreateFPTrunc(b, widened(b_.getFloatTy(), width(b)));
    llvm::Value* inverse = b_.CreateFPExt(b_.CreateFDiv(real(narrow, 1), narrow), a->getType());
    return b_.CreateFMul(a, b_.CreateFMul(inverse, d.less(d(2.0), b, inverse)));
}

llvm::Value* Emitter::inline_float_power(llvm::Value* x, llvm::Value* y) {
    const Doubles d(b_, x->getType());  // no fast-math flags: signs and NaN are told apart here
    const double infinity = std::numeric_limits<double>::infinity();
    llvm::Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    llvm::Value* odd_base =
        b_.CreateOr(b_.CreateFCmpULT(size, real(x, std::numeric_limits<float>::min())), b_.CreateFCmpOEQ(size, real(x, infinity)));
    llvm::Value* rare = b_.CreateOr(odd_base, b_.CreateFCmpUEQ(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y), real(y, infinity)));
    const int chunk = std::min(width(x), target_.vector_bytes / 4);
    llvm::Value* power = in_chunks(chunk, {size, y}, [&](llvm::ArrayRef<llvm::Value*> part) { return power_of_floats(part[0], part[1]); });
    // Of negative numbers there are whole powers alone, odd ones negative.
    const auto is_whole = [&](llvm::Value* v) { return b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v), v); };
    llvm::Value* odd = b_.CreateNot(is_whole(b_.CreateFMul(y, real(y, 0.5))));
    llvm::Value* of_negative = b_.CreateSelect(odd, b_.CreateFNeg(power), power);
    of_negative = b_.CreateSelect(is_whole(y), of_negative, llvm::ConstantFP::getNaN(x->getType()));
    llvm::Value* result = b_.CreateSelect(b_.CreateFCmpOLT(x, real(x, 0)), of_negative, power);
    return unless(rare, result, [&] { return library(Math::pow, {x, y}); });
}

/// Of normal x above 0 and finite y.
llvm::Value* Emitter::power_of_floats(llvm::Value* x, llvm::Value* y) {
    llvm::Type* wide = widened(b_.getDoubleTy(), width(x));
    const Doubles d(b_, wide);
    const auto [field, k, f] = split_for_log(b_.CreateFPExt(x, wide));
    llvm::Value* s = quotient_for_floats(f, b_.CreateFAdd(f, d(2.0)));
    llvm::Value* log2 = d.fma(b_.CreateFMul(s, d(std::numbers::log2e)), d.polynomial(b_.CreateFMul(s, s), log_of_float), k);
    llvm::Value* exponent = b_.CreateFMul(b_.CreateFPExt(y, wide), log2);
    const auto at_most = [&](llvm::Value* v, double limit) { return b_.CreateSelect(b_.CreateFCmpOLT(d(limit), v), d(limit), v); };
    exponent = b_.CreateFNeg(at_most(b_.CreateFNeg(at_most(exponent, far_exponent)), far_exponent));
    llvm::Value* shifted = b_.CreateFAdd(exponent, d(ir::whole_shifter));
    llvm::Value* r = b_.CreateFMul(b_.CreateFSub(exponent, b_.CreateFSub(shifted, d(ir::whole_shifter))), d(std::numbers::ln2));
    llvm::Value* scale = power_of_two(shifted, bits_of_one, false);
    return b_.CreateFPTrunc(d.fma(b_.CreateFMul(scale, r), d.polynomial(r, expm1_of_float), scale), x->getType());
}

}  // namespace pardo::emit
