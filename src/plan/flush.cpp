// src/plan/flush.cpp: the flush bounds: when pending work is submitted before a value is needed.
#include <cassert>
#include <vector>

#include "base/counters.h"
#include "base/env.h"
#include "device/pending_program.h"
#include "plan/force.h"
#include "plan/transfer.h"
#include "plan/unlocked.h"

namespace pardo::plan {

using graph::Flush;
using graph::Node;

namespace {

constexpr std::size_t most_roots = 256;  // of one force: a plan for thousands would be met only once

/// The oldest pending nodes that the program holds, as many as one force takes; with `sources` also those that read nothing.
std::vector<Ref<Node>> oldest_held(const graph::GraphState& state, bool sources) {
    std::vector<Ref<Node>> held;
    for (Node* n = state.first; n && held.size() < most_roots; n = n->next) {
        if ((n->arity == 0 && !sources) || n->kind == graph::Kind::Transfer) continue;
        if (Ref<Node> one = graph::if_held(n)) held.push_back(std::move(one));
    }
    return held;
}

/// Gives the first failure, if any.
std::shared_ptr<const Error> force_held(const graph::GraphState& state, bool sources) {
    std::shared_ptr<const Error> first;
    for (auto held = oldest_held(state, sources); !held.empty(); held = oldest_held(state, sources)) {
        const auto error = force_each(held, Compile::Unlocked);
        if (!first) first = error;
    }
    return first;
}

}  // namespace

void force_pending(device::Queue* queue) {
    graph::GraphState& state = graph::state_of(queue);
    auto error = force_transfers(queue);  // before the lock is taken
    std::lock_guard guard(state.lock);
    const auto own = force_held(state, true);
    if (!error) error = own;
    if (error) throw Error(*error);
}

void flush(Flush verdict, Node* fresh) {
    Node* const roots[] = {fresh};
    if (verdict == Flush::Foreign) {
        force(roots, Compile::Unlocked);
        assert(!fresh->pending());  // memory that outside code may write has no pending readers
        return;
    }
    const device::CompileLater later;  // the program goes on meanwhile
    if (verdict == Flush::Worth) return force(roots);
    graph::GraphState& state = graph::state_of(fresh->queue.get());
    counters.flushed.fetch_add(1, std::memory_order_relaxed);
    log(verdict == Flush::Depth ? LogLevel::Debug : LogLevel::Info,
        std::string("flush: too much is pending (") + graph::name(verdict) + "): depth " + std::to_string(fresh->depth) + ", " +
            std::to_string(state.pending_count) + " nodes, " + std::to_string(state.pinned_bytes) + " bytes");
    if (verdict == Flush::Depth) return force(roots);
    // The fresh node alone would leave the others where they are, and every later operation would be launched on its own.
    (void)force_held(state, false);  // what fails raises its error where it is used
    if (state.pending_count < graph::most_pending_nodes) return;
    if (state.transfers > 0 && device::held_locks().count == 1) {
        const Unlocked stretch(state.lock, Unlocked::For::Transfers);
        (void)force_transfers(fresh->queue.get());
    }
    (void)force_held(state, true);  // constants and indices: they pin nothing, and would need memory
}

}  // namespace pardo::plan
