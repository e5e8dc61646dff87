// src/emit/llvm/values.h: the kernel's values as emitted, and their form as scalar or vector.
#pragma once

#include <vector>

#include "emit/llvm/codegen.h"
#include "emit/llvm/lane_context.h"
#include "emit/llvm/source.h"

namespace pardo::emit {

/// A value as emitted: `v` is the scalar, the base, or the vector; `step` belongs to Affine and Strided.
struct Lane {
    LaneShape::Kind kind = LaneShape::Uniform;
    llvm::Value* v = nullptr;
    llvm::Value* step = nullptr;
};

/// All values of a kernel, as far as they are emitted.
struct Values {
    Values(Codegen& g, const Source& source)
        : g(g), source(source), lanes(source.kernel.values.size()), hoisted(source.kernel.instrs.size()) {}

    Lane& operator[](ir::Value v) { return lanes[v]; }
    const Lane& operator[](ir::Value v) const { return lanes[v]; }
    /// The scalar or the base.
    llvm::Value* scalar(ir::Value v) const { return lanes[v].v; }
    /// One value a lane; the scalar in scalar code.
    llvm::Value* vector(const LaneContext& here, ir::Value v) const { return vector_of(here, lanes[v]); }
    /// The same of what is no value of the kernel.
    llvm::Value* vector_of(const LaneContext& here, const Lane& lane) const;
    /// As another value's shape wants it.
    llvm::Value* shaped(const LaneContext& here, ir::Value v, LaneShape as) const;
    /// Keeps a value in the shape that it has among lanes.
    void define(const LaneContext& here, ir::Value v, llvm::Value* value);

    Codegen& g;
    const Source& source;
    std::vector<Lane> lanes;    // one a value
    std::vector<bool> hoisted;  // one an instruction: emitted in front of its loop
};

/// The index of one lane's element.
llvm::Value* lane_index(Codegen& g, const Lane& index, int lane);

}  // namespace pardo::emit
