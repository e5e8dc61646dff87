// src/graph/record.h: what the layers above and beside (lib, public API) use to record operations and to get at memory.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include <pardo/array.h>

#include "graph/node.h"

namespace pardo::graph {

/// The queue that all operands share; throws Placement as "<who>: …" naming both queues.
device::Queue* common_queue(const char* who, std::span<const Array* const> arrays);
/// dtype of row `op` on operands with these dtypes: the dtype inputs are cast to, and the result's. Throws Type as NumPy's UFuncTypeError does.
struct Inferred {
    DType loop, result;
};
Inferred infer(Op op, std::span<const Operand> operands, std::optional<DType> dtype);
/// The node of an operand in a dtype (a Constant for scalars; a cast node when the dtype differs).
Ref<Node> operand_node(const Operand& operand, DType dtype, device::Queue* queue);
/// A new array with uninitialised, row-major memory.
Array make_empty(device::Queue* queue, DType dtype, Shape shape);
/// Forces the node and gives its Leaf fields; does not wait.
void ensure_leaf(const Array& x);
/// x itself when it is row-major contiguous memory of that dtype, else a forced copy that is.
Array as_contiguous(const Array& x, std::optional<DType> dtype = {});

}  // namespace pardo::graph
