// src/plan/force.h: decides what runs now, and cuts it into launches.
#pragma once

#include <span>
#include <string>

#include "graph/node.h"

namespace pardo::plan {

/// Why a queue's pending work is handed over before somebody asks for a value.
enum class Flush : std::uint8_t { None, Nodes, Buffers, Bytes };
/// The flush bounds, for all back ends: 4096 pending nodes, 256 leaf buffers below one node, half the device's memory pinned.
Flush flush_verdict(const graph::GraphState& state, const graph::Node& fresh);
const char* name(Flush verdict);

/// Computes `roots` and every still-referenced pending node on the way; submits, does not wait. Afterwards every root is a Leaf.
/// On failure (memory, compilation) nothing has changed and the error is thrown. Caller holds the graph lock; roots share one queue.
void force(std::span<graph::Node* const> roots);

/// target[...] = value, fused into one kernel where that is safe, through a temporary where target and value's inputs overlap.
/// `target` is a Leaf; value broadcasts to it and is cast to its dtype. Pending readers of the target's buffer are forced first.
/// `where` (Bool, broadcast) leaves elements alone where false; may be null.
void store(graph::Node* target, graph::Node* value, graph::Node* where);

/// Forces every pending node that reads `buffer` directly: called before it is written or handed to strangers.
void force_readers(device::Queue* queue, device::Buffer* buffer);

/// The plan for `roots` as text; computes nothing.
std::string explain(std::span<graph::Node* const> roots);

/// True unless PARDO_FUSION=off: then each node is a launch of its own.
bool fusion_enabled();
void set_fusion_enabled(bool on);   // tests

}  // namespace pardo::plan
