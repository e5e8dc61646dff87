// src/graph/record.h: recording: makes the node of an operation, and says whether pending work is to be submitted now. Nothing is computed.
#pragma once

#include <span>
#include <utility>

#include "graph/infer.h"
#include "graph/node.h"

namespace pardo::graph {

// Callers hold the queue's graph lock.

/// Row `op` on operands that lie on `queue`, each cast to the dtype that `types` says. Throws Value where shapes do not go together.
Ref<Node> record(Op op, std::span<const Input> operands, const Inferred& types, device::Queue* queue);
/// Row `op` on nodes that have the right dtypes.
Ref<Node> record(Op op, DType result, std::span<Node* const> inputs);
/// The values in another dtype: a node of its own, also where a lossless cast is undone.
Ref<Node> record_cast(Node* x, DType dtype);
/// The node of an operand in a dtype: a Constant for numbers, a cast node when the dtype differs.
Ref<Node> input_node(const Input& operand, DType dtype, device::Queue* queue);
/// Makes 0-d results behave as NumPy's scalars.
inline Ref<Node> with_scalar_value(Ref<Node> node) {
    node->scalar_value = node->shape.empty();
    return node;
}

/// What is to be computed before the program goes on, and why.
enum class Flush : std::uint8_t {
    None,
    Foreign,  // the fresh node: it reads memory that outside code may write, which has no pending readers (docs/design/ordering.md)
    Worth,    // the fresh node: a call that costs as much as some launches (call_cost.h)
    Depth,    // the fresh node: too many operations on top of each other
    Nodes,    // what the program holds: too many pending nodes
    Bytes,    // the same: too much memory is pinned
};
const char* name(Flush verdict) noexcept;
/// A function of what has been recorded alone, for all back ends. The bounds: 250 operations on top of each other, 4096 pending nodes, and
/// pinned memory: half the device's, or what takes it long to read (`worth_reading`), if that is several times the fresh value.
Flush flush_verdict(const Node& fresh);
/// Whether work starts when it is worth it: PARDO_EAGER, which is on unless it says off. Without it only the bounds make work start early.
bool starts_early();
inline constexpr std::int64_t most_pending_nodes = 4096;

}  // namespace pardo::graph
