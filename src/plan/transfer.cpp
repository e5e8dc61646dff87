// src/plan/transfer.cpp: values that come from another queue: two nodes in two graphs, whose locks are never held together.
#include "plan/transfer.h"

#include <exception>
#include <vector>

#include "graph/by_queue.h"
#include "plan/force.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

/// One transfer on its way. Keeps both of its nodes, so that none of them ends under a lock.
struct Arrival {
    Ref<Node> transfer, exported;
    std::shared_ptr<const Error> error;
};

/// Notes a node if it still is a transfer. Caller holds its graph lock.
void note(std::vector<Arrival>& found, Ref<Node> transfer) {
    if (transfer->kind != Kind::Transfer) return;
    Ref<Node> exported = transfer->exported();
    found.push_back({std::move(transfer), std::move(exported), nullptr});
}

/// That of a value that is to go to another queue, with the place.
std::shared_ptr<const Error> error_of(Node& exported) {
    std::shared_ptr<const Error> error = exported.error();
    if (dynamic_cast<const MovedError*>(error.get())) return error;  // it has come here from a third queue
    return std::make_shared<const MovedError>(*error, exported.queue->failures());
}

/// Gives the transfers what their exports have become.
void take_over(std::span<const Arrival> arrivals) {
    for (const Arrival& one : arrivals) {
        if (!one.error && one.exported->pending()) continue;
        std::lock_guard guard(graph::state_of(one.transfer->queue.get()).lock);
        Node* const node = one.transfer.get();
        if (node->kind != Kind::Transfer) continue;  // another thread was first
        if (one.error) {
            graph::fail(node, one.error);
            continue;
        }
        graph::materialize(node, one.exported->buffer, one.exported->strides, one.exported->offset);
    }
}

/// Calls `compute` with the exports of each queue, under that queue's lock; then what has been computed, or has failed, is taken over.
template <class Compute> void carry_out(std::vector<Arrival>& arrivals, Compute compute) {
    const auto of_queue = [&compute](std::span<Arrival> own) {
        std::vector<Ref<Node>> exports;
        for (const Arrival& one : own) exports.push_back(one.exported);
        compute(exports);
        for (Arrival& one : own) one.error = one.exported->kind == Kind::Failed ? error_of(*one.exported) : nullptr;
    };
    graph::for_each_queue(
        std::span(arrivals), [](const Arrival& one) { return one.exported.get(); }, of_queue);
    take_over(arrivals);
}

}  // namespace

void arrive(std::span<Node* const> transfers) {
    std::vector<Arrival> arrivals;
    std::vector<Ref<Node>> kept(transfers.begin(), transfers.end());
    for (const Ref<Node>& transfer : kept) {
        std::lock_guard guard(graph::state_of(transfer->queue.get()).lock);
        if (transfer->kind == Kind::Failed) throw Error(*transfer->error());
        note(arrivals, transfer);
    }
    std::exception_ptr failure;
    carry_out(arrivals, [&failure](const std::vector<Ref<Node>>& exports) {
        std::vector<Node*> roots;
        roots.reserve(exports.size());
        for (const Ref<Node>& one : exports) roots.push_back(one.get());
        try {
            force(roots, Compile::Unlocked);
        } catch (const Error&) {
            if (!failure) failure = std::current_exception();
        }
    });
    if (failure) std::rethrow_exception(failure);
}

void unfold_transfers(device::Queue* queue, std::span<Ref<Node>> nodes) {
    for (Ref<Node>& node : nodes) {
        Ref<Node> exported;
        {
            std::lock_guard guard(graph::state_of(queue).lock);
            if (node->kind == Kind::Transfer) exported = node->exported();
        }
        if (exported) node = std::move(exported);
    }
}

std::shared_ptr<const Error> force_transfers(device::Queue* queue) {
    graph::GraphState& state = graph::state_of(queue);
    std::vector<Arrival> arrivals;
    {
        std::lock_guard guard(state.lock);
        if (state.transfers == 0) return nullptr;
        for (Node* n = state.first; n; n = n->next) {
            if (n->kind != Kind::Transfer) continue;
            if (Ref<Node> held = graph::if_held(n)) note(arrivals, std::move(held));
        }
    }
    std::shared_ptr<const Error> first;
    carry_out(arrivals, [&first](const std::vector<Ref<Node>>& exports) {
        const auto error = force_each(exports, Compile::Unlocked);
        if (!first) first = error;
    });
    return first;
}

}  // namespace pardo::plan
