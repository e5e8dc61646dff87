// src/emit/llvm/value.cpp: a value's form as scalar or vector.
#include "emit/llvm/emitter.h"

#include <llvm/IR/Constants.h>

namespace pardo::emit {

llvm::Value* Emitter::vector_of(const Lane& lane) {
    if (lanes_ == 1 || lane.kind == LaneShape::Varying) return lane.v;
    llvm::Value* base = splat(g_, lane.v, lanes_);
    if (lane.kind == LaneShape::Uniform) return base;
    return g_.b.CreateAdd(base, g_.b.CreateMul(iota(g_, lanes_), splat(g_, lane.step, lanes_)));
}

llvm::Value* Emitter::scalar(ir::Value v) { return values_[v].v; }

llvm::Value* Emitter::vector(ir::Value v) { return vector_of(values_[v]); }

llvm::Value* Emitter::shaped(ir::Value v, LaneShape as) { return as.kind == LaneShape::Varying ? vector(v) : scalar(v); }

void Emitter::define(ir::Value v, llvm::Value* value) {
    const LaneShape s = info_.shapes[v];
    if (s.kind == LaneShape::Varying && lanes_ > 1 && width(value) == 1)
        value = splat(g_, value, lanes_);  // varying since it lives in memory
    values_[v] = Lane{s.kind, value, s.kind == LaneShape::Affine ? i64(g_, s.step) : nullptr};
}

llvm::Value* Emitter::active() { return mask_ ? mask_ : llvm::Constant::getAllOnesValue(widened(g_.b.getInt1Ty(), lanes_)); }

llvm::Value* Emitter::constant(DType t, const Scalar& s) {
    switch (kind_of(t)) {
        case DKind::Bool: return g_.b.getInt1(s.b);
        case DKind::Signed: return llvm::ConstantInt::get(element(g_, t), static_cast<std::uint64_t>(s.i), true);
        case DKind::Unsigned: return llvm::ConstantInt::get(element(g_, t), s.u);
        default: return llvm::ConstantFP::get(element(g_, t), s.f);
    }
}

}  // namespace pardo::emit
