// src/emit/llvm/value.cpp: types, constants, and a value's form as scalar or vector.
#include "emit/llvm/emitter.h"

#include <llvm/IR/Constants.h>

namespace pardo::emit {

llvm::Type* Emitter::element(DType t) {
    switch (t) {
        case DType::Bool: return b_.getInt1Ty();
        case DType::Float16:
        case DType::Float32: return b_.getFloatTy();
        case DType::Float64: return b_.getDoubleTy();
        default: return b_.getIntNTy(static_cast<unsigned>(itemsize(t)) * 8);
    }
}

llvm::Type* Emitter::memory_element(DType t) {
    if (t == DType::Bool) return b_.getInt8Ty();
    if (t == DType::Float16) return b_.getHalfTy();
    return element(t);
}

int Emitter::width(llvm::Value* v) {
    auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return t ? static_cast<int>(t->getNumElements()) : 1;
}

llvm::Value* Emitter::iota(int lanes) {
    llvm::SmallVector<std::uint64_t, 64> values;
    for (int l = 0; l < lanes; ++l) values.push_back(static_cast<std::uint64_t>(l));
    return llvm::ConstantDataVector::get(context_, values);
}

llvm::Value* Emitter::vector_of(const Lane& lane) {
    if (lanes_ == 1 || lane.kind == LaneShape::Varying) return lane.v;
    llvm::Value* base = splat(lane.v, lanes_);
    if (lane.kind == LaneShape::Uniform) return base;
    return b_.CreateAdd(base, b_.CreateMul(iota(lanes_), splat(lane.step, lanes_)));
}

llvm::Value* Emitter::scalar(ir::Value v) { return values_[v].v; }

llvm::Value* Emitter::vector(ir::Value v) { return vector_of(values_[v]); }

llvm::Value* Emitter::shaped(ir::Value v, LaneShape as) { return as.kind == LaneShape::Varying ? vector(v) : scalar(v); }

void Emitter::define(ir::Value v, llvm::Value* value) {
    const LaneShape s = info_.shapes[v];
    if (s.kind == LaneShape::Varying && lanes_ > 1 && width(value) == 1) value = splat(value, lanes_);  // varying since it lives in memory
    values_[v] = Lane{s.kind, value, s.kind == LaneShape::Affine ? i64(s.step) : nullptr};
}

llvm::Value* Emitter::active() { return mask_ ? mask_ : llvm::Constant::getAllOnesValue(widened(b_.getInt1Ty(), lanes_)); }

llvm::Value* Emitter::any(llvm::Value* mask) {
    const int n = width(mask);
    if (n == 1) return mask;
    return b_.CreateICmpNE(b_.CreateBitCast(mask, b_.getIntNTy(static_cast<unsigned>(n))), b_.getIntN(static_cast<unsigned>(n), 0));
}

llvm::Value* Emitter::constant(DType t, const Scalar& s) {
    switch (kind_of(t)) {
        case DKind::Bool: return b_.getInt1(s.b);
        case DKind::Signed: return llvm::ConstantInt::get(element(t), static_cast<std::uint64_t>(s.i), true);
        case DKind::Unsigned: return llvm::ConstantInt::get(element(t), s.u);
        default: return llvm::ConstantFP::get(element(t), s.f);
    }
}

llvm::Value* Emitter::real(llvm::Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

llvm::Value* Emitter::integer(llvm::Value* like, std::int64_t value) {
    return llvm::ConstantInt::get(like->getType(), static_cast<std::uint64_t>(value), true);
}

}  // namespace pardo::emit
