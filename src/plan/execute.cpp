// src/plan/execute.cpp: runs a plan on the nodes of a subgraph.
#include "plan/execute.h"

#include <algorithm>
#include <string>

#include <pardo/error.h>

#include "base/counters.h"

namespace pardo::plan {

using graph::Node;

namespace {

/// The kernel that first needs a slot.
std::string kernel_of(const Plan& plan, std::size_t slot) {
    for (const PlannedLaunch& launch : plan.launches) {
        for (const device::Signature::Use& use : launch.signature.uses) {
            if (use.value == slot) return launch.name;
        }
    }
    return "empty";
}

device::Label label_of(const void* planned) { return {static_cast<const PlannedLaunch*>(planned)->name, device::current_location()}; }

}  // namespace

void PlanRunner::launch(const PlannedLaunch& planned, const Subgraph& subgraph, device::Queue* queue) {
    const auto value = [&](std::uint32_t at) {
        if (at < PlannedLaunch::first_node) return graph::Bound(slots_[at].get());
        return graph::Bound(*subgraph.nodes[at - PlannedLaunch::first_node]);
    };
    device::bind(planned.signature, value, arguments_);
    device::Launch request;
    request.program = planned.program.get();
    request.extents = planned.extents;
    request.args = arguments_.words;
    request.uses = arguments_.uses;
    request.cost_ns = planned.cost_ns;
    request.bytes_read = planned.bytes_read;
    request.bytes_written = planned.bytes_written;
    request.operations = planned.operations;
    request.waited = arguments_.foreign;
    request.label = label_of;
    request.label_data = &planned;
    const std::span<const Event> depends = device::ExtraDepends::current();
    const Event event = queue->launch(request, depends);
    if (!arguments_.foreign) return;
    // Outside code may write as soon as the operation is over for them, and read what it wrote.
    depends.empty() ? device::finish_without_locks(event) : device::finish_order(event);
}

/// The kind of each slot: device > shared > host of the memory that its values come from, no_kind for constants and indices. Nearly always
/// that is device memory alone.
bool PlanRunner::find_kinds(const Plan& plan, const Subgraph& subgraph) {
    const auto special = [&](NodeId leaf) { return subgraph.nodes[leaf]->buffer->kind_for_results() != MemoryKind::Device; };
    if (std::none_of(subgraph.leaves.begin(), subgraph.leaves.end(), special)) return false;
    kinds_.clear();
    for (const Node* node : subgraph.nodes) {  // inputs before users
        MemoryKind kind = node->pending() ? device::no_kind : node->buffer->kind_for_results();
        for (int i = 0; i < node->arity; ++i) kind = std::min(kind, kinds_[node->inputs[i]->index]);
        kinds_.push_back(kind);
    }
    const std::size_t nodes = kinds_.size();
    kinds_.resize(nodes + plan.slots.size(), device::no_kind);
    for (const Plan::Result& r : plan.results) {
        kinds_[nodes + r.slot] = std::min(kinds_[nodes + r.slot], kinds_[r.node]);
    }
    kinds_.erase(kinds_.begin(), kinds_.begin() + static_cast<std::ptrdiff_t>(nodes));
    return true;
}

void PlanRunner::allocate(const Plan& plan, const Subgraph& subgraph, device::Queue* queue) {
    slots_.clear();
    device::Device* device = queue->device();
    const bool kinds = find_kinds(plan, subgraph), constants = subgraph.leaves.empty();
    try {
        for (std::size_t i = 0; i < plan.slots.size(); ++i) {
            const MemoryKind kind = kinds ? kinds_[i] : MemoryKind::Device;
            const bool none = kind == device::no_kind;
            slots_.push_back(device->obtain(static_cast<std::size_t>(plan.slots[i]), none ? MemoryKind::Device : kind, queue));
            // What comes of constants, and of copies of the host's values alone, follows too, computed before it is used or with that.
            if (none || constants) slots_.back()->set_follows();
        }
    } catch (const Error& e) {
        const std::string op_name = kernel_of(plan, slots_.size());
        slots_.clear();  // what it did get is not kept for the next force of this thread
        throw e.with_message(op_name + ": " + e.message());
    }
}

void PlanRunner::run(const Plan& plan, const Subgraph& subgraph, device::Queue* queue) {
    struct Release {
        std::vector<Ref<device::Buffer>>& slots;
        ~Release() { slots.clear(); }
    } release{slots_};
    for (const PlannedLaunch& planned : plan.launches) launch(planned, subgraph, queue);
    // Inputs before users: what a result still needs is alive until its users are materialised.
    for (const Plan::Result& r : plan.results) {
        Node* node = subgraph.nodes[r.node];
        // A view of a value that gets memory for another one's sake is there already.
        if (node->pending()) graph::materialize(node, slots_[r.slot], r.strides, 0);
    }
}

}  // namespace pardo::plan
