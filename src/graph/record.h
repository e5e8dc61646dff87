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
    Depth,    // the fresh node: too many operations on top of each other
    Nodes,    // what the program holds: too many pending nodes
    Bytes,    // the same: too much memory is pinned
};
const char* name(Flush verdict) noexcept;
/// The flush bounds, for all back ends: 250 operations on top of each other, 4096 pending nodes, half the device's memory pinned.
Flush flush_verdict(const Node& fresh);
inline constexpr std::int64_t most_pending_nodes = 4096;

}  // namespace pardo::graph
