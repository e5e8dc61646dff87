// src/emit/llvm/math/combine.cpp: what joins the values of iterations.
#include "emit/llvm/math/combine.h"

#include <llvm/IR/Constants.h>

#include "emit/llvm/math/arith.h"

namespace pardo::emit {

using ir::Combine;

llvm::Value* identity(Codegen& g, Combine c, DType t, int lanes) {
    llvm::Type* type = widened(element(g, t), lanes);
    if (is_float(t)) {
        switch (c) {
            case Combine::Add: return llvm::ConstantFP::get(type, -0.0);  // keeps a sum of negative zeros negative
            case Combine::Mul: return llvm::ConstantFP::get(type, 1.0);
            case Combine::Min: return llvm::ConstantFP::getInfinity(type, false);
            default: return llvm::ConstantFP::getInfinity(type, true);
        }
    }
    const unsigned bits = type->getScalarSizeInBits();
    const bool is_signed = kind_of(t) == DKind::Signed;
    switch (c) {
        case Combine::Add:
        case Combine::Or:
        case Combine::Xor: return llvm::Constant::getNullValue(type);
        case Combine::Mul: return llvm::ConstantInt::get(type, 1);
        case Combine::And: return llvm::Constant::getAllOnesValue(type);
        case Combine::Min:
            return llvm::ConstantInt::get(type, is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
        case Combine::Max:
            return llvm::ConstantInt::get(type, is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
    }
    return nullptr;
}

llvm::Value* combine(Codegen& g, Combine c, DType t, llvm::Value* a, llvm::Value* b) {
    switch (c) {
        case Combine::Add: return binary(g, ir::Opcode::Add, t, a, b);
        case Combine::Mul: return binary(g, ir::Opcode::Mul, t, a, b);
        case Combine::Min: return min_max(g, ir::Opcode::Min, t, a, b);
        case Combine::Max: return min_max(g, ir::Opcode::Max, t, a, b);
        case Combine::And: return g.b.CreateAnd(a, b);
        case Combine::Or: return g.b.CreateOr(a, b);
        case Combine::Xor: return g.b.CreateXor(a, b);
    }
    return nullptr;
}

llvm::Value* combine_ordered(Codegen& g, Combine c, llvm::Value* acc, llvm::Value* x) {
    return g.b.CreateSelect(c == Combine::Min ? g.b.CreateFCmpOLT(x, acc) : g.b.CreateFCmpOGT(x, acc), x, acc);
}

llvm::Value* across_lanes(Codegen& g, Combine c, DType t, llvm::Value* v) {
    for (int n = width(v); n > 1; n /= 2) {
        llvm::SmallVector<int, 64> low, high;
        for (int l = 0; l < n / 2; ++l) {
            low.push_back(l);
            high.push_back(l + n / 2);
        }
        v = combine(g, c, t, g.b.CreateShuffleVector(v, low), g.b.CreateShuffleVector(v, high));
    }
    return llvm::isa<llvm::FixedVectorType>(v->getType()) ? g.b.CreateExtractElement(v, std::uint64_t(0)) : v;
}

}  // namespace pardo::emit
