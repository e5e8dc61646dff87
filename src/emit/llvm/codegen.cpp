// src/emit/llvm/codegen.cpp: the module that is made, and the small pieces that all modules of this folder use.
#include "emit/llvm/codegen.h"

#include <llvm/IR/Constants.h>

#include "base/scalar_words.h"

namespace pardo::emit {

Codegen::Codegen(llvm::LLVMContext& context, const std::string& name, const LlvmTarget& target, int fast_math)
    : module(std::make_unique<llvm::Module>(name, context)), b(context), target(target), fast_math(fast_math) {
    if (!fast_math) return;
    llvm::FastMathFlags flags;
    flags.setAllowReassoc();
    flags.setAllowContract();
    flags.setNoSignedZeros();
    b.setFastMathFlags(flags);
}

llvm::Type* element(Codegen& g, DType t) {
    switch (t) {
        case DType::Bool: return g.b.getInt1Ty();
        case DType::Float16: return g.b.getHalfTy();
        case DType::Float32: return g.b.getFloatTy();
        case DType::Float64: return g.b.getDoubleTy();
        default: return g.b.getIntNTy(static_cast<unsigned>(itemsize(t)) * 8);
    }
}

llvm::Type* memory_element(Codegen& g, DType t) { return t == DType::Bool ? g.b.getInt8Ty() : element(g, t); }

llvm::Align alignment(DType t) { return llvm::Align(static_cast<std::uint64_t>(itemsize(t))); }

llvm::Type* widened(llvm::Type* t, int lanes) { return lanes == 1 ? t : llvm::FixedVectorType::get(t, static_cast<unsigned>(lanes)); }

int width(llvm::Value* v) {
    auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return t ? static_cast<int>(t->getNumElements()) : 1;
}

llvm::Value* splat(Codegen& g, llvm::Value* scalar, int lanes) {
    return lanes == 1 ? scalar : g.b.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

llvm::Value* iota(Codegen& g, int lanes) {
    llvm::SmallVector<std::uint64_t, 64> values;
    for (int l = 0; l < lanes; ++l) values.push_back(static_cast<std::uint64_t>(l));
    return llvm::ConstantDataVector::get(g.b.getContext(), values);
}

llvm::Value* constant(Codegen& g, DType t, const Scalar& s) {
    switch (kind_of(t)) {
        case DKind::Bool: return g.b.getInt1(s.b);
        case DKind::Signed: return llvm::ConstantInt::get(element(g, t), static_cast<std::uint64_t>(s.i), true);
        case DKind::Unsigned: return llvm::ConstantInt::get(element(g, t), s.u);
        default: break;
    }
    if (element(g, t)->isIntegerTy()) return llvm::ConstantInt::get(element(g, t), scalar_words(s).words[0]);  // a float by its bits
    return llvm::ConstantFP::get(element(g, t), s.f);
}

llvm::Value* i64(Codegen& g, std::int64_t v) { return g.b.getInt64(static_cast<std::uint64_t>(v)); }

llvm::Value* real(llvm::Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

llvm::Value* integer(llvm::Value* like, std::int64_t value) {
    return llvm::ConstantInt::get(like->getType(), static_cast<std::uint64_t>(value), true);
}

llvm::Value* any(Codegen& g, llvm::Value* mask) {
    const int n = width(mask);
    if (n == 1) return mask;
    return g.b.CreateICmpNE(g.b.CreateBitCast(mask, g.b.getIntNTy(static_cast<unsigned>(n))), g.b.getIntN(static_cast<unsigned>(n), 0));
}

llvm::BasicBlock* block(Codegen& g, const char* name) { return llvm::BasicBlock::Create(g.b.getContext(), name, g.function()); }

void branch_if_any(Codegen& g, llvm::Value* mask, llvm::BasicBlock* yes, llvm::BasicBlock* no) { g.b.CreateCondBr(any(g, mask), yes, no); }

void set_attributes(llvm::Function* function, const LlvmTarget& target) {
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr("target-cpu", target.cpu);
    function->addFnAttr("target-features", target.features);
    const std::string bits = std::to_string(target.vector_bytes * 8);
    function->addFnAttr("prefer-vector-width", bits);
    function->addFnAttr("min-legal-vector-width", bits);
    function->addFnAttr("no-builtins");
    // Registers that are spilled around library calls go to aligned slots: a vector across two cache lines costs twice.
    function->addFnAttr(
        llvm::Attribute::getWithStackAlignment(function->getContext(), llvm::Align(static_cast<std::uint64_t>(target.vector_bytes))));
}

}  // namespace pardo::emit
