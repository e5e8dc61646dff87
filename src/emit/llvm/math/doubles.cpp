// src/emit/llvm/math/doubles.cpp: formulas of doubles in LLVM, and the pieces that several functions are made of.
#include "emit/llvm/math/doubles.h"

namespace pardo::emit {

namespace {

constexpr std::int64_t root_half_bits = 0x3fe6a09e667f3bcd, one_bits = 0x3ff0000000000000, two_52_bits = 0x4330000000000000;

}  // namespace

llvm::Value* power_of_two(Codegen& g, llvm::Value* shifted, std::int64_t factor_bits, bool down) {
    llvm::Value* bits = g.b.CreateBitCast(shifted, widened(g.b.getInt64Ty(), width(shifted)));
    llvm::Value *exponent = g.b.CreateShl(bits, integer(bits, 52)), *factor = integer(bits, factor_bits);
    return g.b.CreateBitCast(down ? g.b.CreateSub(factor, exponent) : g.b.CreateAdd(factor, exponent), shifted->getType());
}

/// k is made a double by being the low bits of 2^52 + 1023 + k.
SplitLog split_for_log(Codegen& g, llvm::Value* u) {
    const Doubles d(g, u->getType());
    llvm::Value* bits = g.b.CreateBitCast(u, widened(g.b.getInt64Ty(), width(u)));
    llvm::Value* lifted = g.b.CreateAdd(bits, integer(bits, one_bits - root_half_bits));
    llvm::Value* field = g.b.CreateLShr(lifted, integer(bits, 52));
    llvm::Value* exponent = g.b.CreateOr(field, integer(bits, two_52_bits));
    llvm::Value* k = g.b.CreateFSub(g.b.CreateBitCast(exponent, u->getType()), d(0x1p52 + 1023));
    llvm::Value* mantissa = g.b.CreateAdd(g.b.CreateAnd(lifted, integer(bits, (std::int64_t(1) << 52) - 1)), integer(bits, root_half_bits));
    return {field, k, g.b.CreateFSub(g.b.CreateBitCast(mantissa, u->getType()), d(1.0))};
}

/// A division of floats takes a third of the time, and one step of Newton's method makes 46 bits of its 23.
llvm::Value* quotient_for_floats(Codegen& g, llvm::Value* a, llvm::Value* b) {
    const Doubles d(g, a->getType());
    llvm::Value* narrow = g.b.CreateFPTrunc(b, widened(g.b.getFloatTy(), width(b)));
    llvm::Value* inverse = g.b.CreateFPExt(g.b.CreateFDiv(real(narrow, 1), narrow), a->getType());
    return g.b.CreateFMul(a, g.b.CreateFMul(inverse, d.less(d(2.0), b, inverse)));
}

}  // namespace pardo::emit
