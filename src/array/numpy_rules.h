// src/array/numpy_rules.h: what NumPy does with operands beyond what a row of ops.def says.
#pragma once

#include <array>
#include <optional>
#include <span>

#include <pardo/array.h>

#include "graph/node.h"

namespace pardo::arrays {

/// Operands that a rule puts in the place of those given: they live as long as this.
struct CheckedOperands {
    std::optional<Array> array;
    std::optional<std::array<Operand, 2>> operands;
};

/// The rules of one row; null where there are none.
struct NumpyRule {
    /// The whole answer, where these operands have one: asked before anything is inferred.
    std::optional<Array> (*answer)(graph::Op op, std::span<const Operand> operands, std::optional<DType> dtype) = nullptr;
    /// The row that is recorded instead, and its operands, once it is known what they are computed in. Throws for numbers that are refused.
    graph::Op (*instead)(graph::Op op, std::span<const Operand>& operands, DType loop, CheckedOperands& checked) = nullptr;
};
const NumpyRule& numpy_rule(graph::Op op) noexcept;

}  // namespace pardo::arrays
