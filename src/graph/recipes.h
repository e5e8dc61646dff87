// src/graph/recipes.h: how a row of ops.def becomes Kernel IR, and what it costs.
#pragma once

#include <span>

#include <pardo/dtype.h>

#include "graph/node.h"
#include "ir/builder.h"

namespace pardo::graph {

/// IR of row `op` for one element. Operands have the loop's dtype (`where`: the first is Bool; `cast`: loop is the operand's dtype).
ir::Value build_recipe(ir::Builder& builder, Op op, DType loop, DType result, std::span<const ir::Value> operands);
/// The loop's dtype of an elementwise node: that of its last input.
inline DType loop_dtype(const Node& node) { return node.inputs[node.arity - 1]->dtype; }
/// Rough cost of one element in units of an addition, for estimates of run time.
int op_cost(Op op) noexcept;

}  // namespace pardo::graph
