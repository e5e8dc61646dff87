// src/emit/llvm/math/doubles.h: formulas of doubles in LLVM, and the pieces that several functions are made of.
#pragma once

#include <llvm/ADT/STLExtras.h>

#include "emit/llvm/codegen.h"

namespace pardo::emit {

/// Arithmetic on doubles, free of fast-math flags, for formulas.
class Doubles {
public:
    Doubles(Codegen& g, llvm::Type* type) : b_(g.b), type_(type), guard_(g.b) { b_.clearFastMathFlags(); }
    llvm::Value* operator()(double v) const { return llvm::ConstantFP::get(type_, v); }
    llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
        return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
    }
    /// c - a b
    llvm::Value* less(llvm::Value* c, llvm::Value* a, llvm::Value* b) const { return fma(b_.CreateFNeg(a), b, c); }
    llvm::Value* polynomial(llvm::Value* x, llvm::ArrayRef<double> terms) const {
        llvm::Value* sum = (*this)(terms.back());
        for (double c : llvm::reverse(terms.drop_back())) sum = fma(sum, x, (*this)(c));
        return sum;
    }

private:
    llvm::IRBuilder<>& b_;
    llvm::Type* type_;
    llvm::IRBuilder<>::FastMathFlagGuard guard_;
};

/// 2^k in what `shifted` holds in its low bits, times the power of two with these bits; `down`: 2^-k.
llvm::Value* power_of_two(Codegen& g, llvm::Value* shifted, std::int64_t factor_bits, bool down);
/// A number as 2^k (1 + f): k as it is kept in the bits, k as a double, and f.
struct SplitLog {
    llvm::Value *field, *k, *f;
};
SplitLog split_for_log(Codegen& g, llvm::Value* u);
/// a / b of doubles that become floats, b a normal float.
llvm::Value* quotient_for_floats(Codegen& g, llvm::Value* a, llvm::Value* b);

}  // namespace pardo::emit
