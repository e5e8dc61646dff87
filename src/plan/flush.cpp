// src/plan/flush.cpp: the flush bounds: when pending work is handed over before somebody asks for a value.
#include "plan/force.h"

namespace pardo::plan {

namespace {
constexpr std::int64_t most_nodes = 4096;
// A loop that nobody reads from is cut here, in equal pieces: one kernel serves them all.
constexpr std::uint32_t most_depth = 250;
}  // namespace

const char* name(Flush verdict) {
    constexpr const char* names[] = {"none", "depth", "nodes", "bytes"};
    return names[static_cast<int>(verdict)];
}

Flush flush_verdict(const graph::GraphState& state, const graph::Node& fresh) {
    if (fresh.depth >= most_depth) return Flush::Depth;
    if (state.pending_count >= most_nodes) return Flush::Nodes;
    if (state.pinned_bytes > fresh.queue->device()->info().global_mem_size / 2) return Flush::Bytes;
    return Flush::None;
}

}  // namespace pardo::plan
