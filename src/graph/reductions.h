// src/graph/reductions.h: what folds are called.
#pragma once

#include "graph/node.h"

namespace pardo::graph {

/// What plans call a fold.
constexpr const char* fold_name(ReduceOp op) noexcept {
    constexpr const char* names[] = {"sum", "prod", "min", "max", "any", "all", "argmin", "argmax"};
    return names[static_cast<int>(op)];
}

}  // namespace pardo::graph
