// src/plan/calls.cpp: computes what is not one fused loop, before what reads it is planned.
#include "plan/calls.h"

#include <array>

#include "device/event.h"
#include "graph/call.h"

namespace pardo::plan {

using graph::Call;
using graph::Kind;
using graph::Node;

namespace {

/// Brings the inputs of a call into memory. They are kept meanwhile: where the lock is let go of, another thread may run the call.
void force_inputs(const Node& node, Compile compile) {
    std::array<Ref<Node>, Call::most_inputs> kept;
    SmallVector<Node*, Call::most_inputs> pending;
    for (int i = 0; i < node.arity; ++i) {
        if (!node.inputs[i]->pending()) continue;
        kept[static_cast<std::size_t>(i)] = node.inputs[i];
        pending.push_back(node.inputs[i].get());
    }
    if (!pending.empty()) force(pending, compile);
}

/// Runs a call whose inputs are in memory.
void run(Node& node) {
    const Ref<Call> call = node.call();
    std::array<Ref<Node>, Call::most_inputs> kept;
    std::array<Node*, Call::most_inputs> inputs;
    const auto count = static_cast<std::size_t>(node.arity);
    for (std::size_t i = 0; i < count; ++i) {
        kept[i] = node.inputs[i];
        inputs[i] = kept[i].get();
    }
    std::array<Ref<Node>, Call::most_results> results;
    {
        const device::LocationScope line(call->location);
        const graph::TransferQuestion::Answered recorded;
        call->run(std::span(inputs).first(count), results);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
        Node* pending = call->results[k];
        if (!pending || !pending->try_retain()) continue;
        const Ref<Node> alive(pending);
        pending->release();
        const Node& leaf = *results[k];
        graph::materialize(pending, leaf.buffer, leaf.strides, leaf.offset);
    }
}

}  // namespace

std::vector<Ref<Node>> calls_of(const Subgraph& subgraph) {
    std::vector<Ref<Node>> calls;
    for (Node* node : subgraph.nodes) {
        if (node->kind == Kind::Call) calls.emplace_back(node);
    }
    return calls;
}

bool run_if_ready(Node* node) {
    if (node->kind != Kind::Call) return false;
    for (int i = 0; i < node->arity; ++i) {
        if (node->inputs[i]->pending()) return false;
    }
    run(*node);
    return true;
}

void run(const std::vector<Ref<Node>>& calls, Compile compile) {
    for (const Ref<Node>& node : calls) {
        if (node->kind == Kind::Failed) throw Error(*node->error());
        if (node->kind == Kind::Call) force_inputs(*node, compile);
        if (node->kind == Kind::Call) run(*node);  // another thread, or foreign code on the way, may have forced it
    }
}

}  // namespace pardo::plan
