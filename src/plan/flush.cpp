// src/plan/flush.cpp: the flush bounds: when pending work is submitted before a value is needed.
#include <vector>

#include "base/counters.h"
#include "base/env.h"
#include "plan/force.h"

namespace pardo::plan {

using graph::Node;

namespace {

constexpr std::int64_t most_nodes = 4096;
// A loop whose values are never read is cut here, in equal pieces: one kernel serves them all.
constexpr std::uint32_t most_depth = 250;
constexpr std::size_t most_roots = 256;  // of one force: a plan for thousands would be met only once

/// The oldest pending nodes that the program holds, as many as one force takes; with `sources` also those that read nothing.
std::vector<Ref<Node>> oldest_held(const graph::GraphState& state, bool sources) {
    std::vector<Ref<Node>> held;
    for (Node* n = state.first; n && held.size() < most_roots; n = n->next) {
        if (n->arity == 0 && !sources) continue;
        if (Ref<Node> one = graph::if_held(n)) held.push_back(std::move(one));
    }
    return held;
}

/// Gives the first failure, if any.
std::shared_ptr<const Error> force_held(const graph::GraphState& state, bool sources) {
    std::shared_ptr<const Error> first;
    for (auto held = oldest_held(state, sources); !held.empty(); held = oldest_held(state, sources)) {
        const auto error = settle(held, Compile::Unlocked);
        if (!first) first = error;
    }
    return first;
}

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

void force_pending(device::Queue* queue) {
    graph::GraphState& state = graph::state_of(queue);
    std::lock_guard guard(state.lock);
    if (const auto error = force_held(state, true)) throw Error(*error);
}

void flush(Flush verdict, Node* fresh) {
    const graph::GraphState& state = graph::state_of(fresh->queue.get());
    counters.flushed.fetch_add(1, std::memory_order_relaxed);
    log(verdict == Flush::Depth ? LogLevel::Debug : LogLevel::Info,
        std::string("flush: too much is pending (") + name(verdict) + "): depth " + std::to_string(fresh->depth) + ", " +
            std::to_string(state.pending_count) + " nodes, " + std::to_string(state.pinned_bytes) + " bytes");
    if (verdict == Flush::Depth) {
        Node* const roots[] = {fresh};
        return force(roots, Compile::Unlocked);
    }
    // The fresh node alone would leave the others where they are, and every later operation would be launched on its own.
    (void)force_held(state, false);                                        // what fails raises its error where it is used
    if (state.pending_count >= most_nodes) (void)force_held(state, true);  // constants and indices: they pin nothing, and would need memory
}

}  // namespace pardo::plan
