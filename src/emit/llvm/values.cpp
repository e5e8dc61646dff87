// src/emit/llvm/values.cpp: the kernel's values as emitted, and their form as scalar or vector.
#include "emit/llvm/values.h"

namespace pardo::emit {

llvm::Value* Values::vector_of(const LaneContext& here, const Lane& lane) const {
    if (here.lanes == 1 || lane.kind == LaneShape::Varying) return lane.v;
    llvm::Value* base = splat(g, lane.v, here.lanes);
    if (lane.kind == LaneShape::Uniform) return base;
    return g.b.CreateAdd(base, g.b.CreateMul(iota(g, here.lanes), splat(g, lane.step, here.lanes)));
}

llvm::Value* Values::shaped(const LaneContext& here, ir::Value v, LaneShape as) const {
    return as.kind == LaneShape::Varying ? vector(here, v) : scalar(v);
}

void Values::define(const LaneContext& here, ir::Value v, llvm::Value* value) {
    const LaneShape s = source.shape(v);
    // Varying since it lives in memory.
    if (s.kind == LaneShape::Varying && here.lanes > 1 && width(value) == 1) value = splat(g, value, here.lanes);
    lanes[v] = Lane{s.kind, value, s.kind == LaneShape::Affine ? i64(g, s.step) : nullptr};
}

llvm::Value* lane_index(Codegen& g, const Lane& index, int lane) {
    if (index.kind == LaneShape::Varying) return g.b.CreateExtractElement(index.v, static_cast<std::uint64_t>(lane));
    return g.b.CreateAdd(index.v, g.b.CreateMul(index.step, i64(g, lane)));
}

}  // namespace pardo::emit
