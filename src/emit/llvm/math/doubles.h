// src/emit/llvm/math/doubles.h: formulas of doubles in LLVM.
#pragma once

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace pardo::emit {

/// Arithmetic on doubles, free of fast-math flags, for formulas.
class Doubles {
public:
    Doubles(llvm::IRBuilder<>& b, llvm::Type* type) : b_(b), type_(type), guard_(b) { b.clearFastMathFlags(); }
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

}  // namespace pardo::emit
