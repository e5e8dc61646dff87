// src/plan/plan.cpp: a finished plan: what to allocate, launch and materialise for every graph with one signature.
#include "plan/plan.h"

#include <algorithm>
#include <cstring>

#include "base/counters.h"
#include "device/pending_program.h"
#include "graph/infer.h"
#include "plan/lower/kernel.h"

namespace pardo::plan {

using graph::Node;

namespace {

/// Gives memory to stored materialization points and scratch; scratch and values that are not kept share slots of one size over time.
class SlotPlan {
public:
    SlotPlan(const Planner& planner, const std::vector<LoweredKernel>& kernels) : planner_(planner), kernels_(kernels) {}

    /// Slot of the memory behind an argument.
    std::uint32_t of(const Argument& a, const std::vector<Partial>& partials, std::size_t kernel) {
        const bool partial = a.kind == Argument::Kind::Partial;
        std::vector<std::int64_t>& known = partial ? partial_slots_ : node_slots_;
        if (known.size() <= a.node) known.resize(a.node + 1, -1);
        if (known[a.node] >= 0) return static_cast<std::uint32_t>(known[a.node]);
        Size bytes;
        bool keeps = false;
        if (partial) {
            bytes = partials[a.node].count * itemsize(partials[a.node].dtype);
        } else {
            const Node* n = planner_.node(a.node);
            (void)graph::byte_count(n->dtype, n->shape, kernels_[kernel].kernel.name.c_str());  // throws if there are too many
            bytes = planner_.size(a.node) * itemsize(n->dtype);
            keeps = planner_.info(a.node).required;
        }
        const std::uint32_t slot = take(bytes, keeps);
        if (!keeps) last_use_.push_back({slot, last_kernel(a, kernel)});
        known[a.node] = slot;
        return slot;
    }
    /// Slot of a result that no kernel writes (empty arrays).
    std::uint32_t of_node(NodeId id) {
        if (node_slots_.size() <= id) node_slots_.resize(id + 1, -1);
        if (node_slots_[id] < 0) node_slots_[id] = take(planner_.size(id) * itemsize(planner_.node(id)->dtype), true);
        return static_cast<std::uint32_t>(node_slots_[id]);
    }
    /// Slots whose values are dead after this kernel may be used again.
    void leave(std::size_t kernel) {
        for (auto& [slot, last] : last_use_) {
            if (last != kernel) continue;
            free_.push_back(slot);
            last = ~std::size_t{0};
        }
    }
    const std::vector<Size>& slots() const { return slots_; }

private:
    std::uint32_t take(Size bytes, bool keeps) {
        for (std::size_t i = 0; i < free_.size() && !keeps; ++i) {
            if (slots_[free_[i]] != bytes) continue;
            const std::uint32_t slot = free_[i];
            free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
            return slot;
        }
        slots_.push_back(bytes);
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    std::size_t last_kernel(const Argument& a, std::size_t first) const {
        std::size_t last = first;
        for (std::size_t k = first; k < kernels_.size(); ++k) {
            for (const Argument& b : kernels_[k].arguments) {
                if (b.kind == a.kind && b.node == a.node) last = k;
            }
        }
        return last;
    }

    const Planner& planner_;
    const std::vector<LoweredKernel>& kernels_;
    std::vector<Size> slots_;  // bytes
    std::vector<std::int64_t> node_slots_, partial_slots_;
    std::vector<std::pair<std::uint32_t, std::size_t>> last_use_;
    std::vector<std::uint32_t> free_;
};

void add_argument(device::Signature& signature, const Argument& a, const ir::Param& param, const Planner& planner, std::uint32_t slot) {
    using Role = device::Signature::Role;
    switch (a.kind) {
        case Argument::Kind::Number: signature.add_fixed(a.value.value()); break;
        case Argument::Kind::Constant:
            signature.add(Role::Number, PlannedLaunch::node(a.node), 0, planner.node(a.node)->scalar().dtype);
            break;
        case Argument::Kind::Leaf:
        case Argument::Kind::Stored:
        case Argument::Kind::Partial:
            const std::uint32_t value = a.kind == Argument::Kind::Leaf ? PlannedLaunch::node(a.node) : slot;
            signature.add(Role::Address, value, a.value.value());
            signature.use(value, static_cast<device::Access>(param.access));
            break;
    }
}

}  // namespace

Draft::Draft(const Subgraph& subgraph, std::uint64_t hash, PlanClass kind, device::Device* device) : class_(std::move(kind)) {
    plan_->hash = hash;
    plan_->key = subgraph.key;
    counters.planned.fetch_add(1, std::memory_order_relaxed);
    if (!class_.complete) {
        make(subgraph, device);
        return;
    }
    Trace trace(class_.numbers);
    make(subgraph, device);
    adaptable_->trace_over(trace);
}

Draft::Draft(const Subgraph& subgraph, device::Device* device) { make(subgraph, device); }

void Draft::make(const Subgraph& subgraph, device::Device* device) {
    Planner planner(subgraph, device->execution());
    planner.run();
    LoopScheduler scheduler(planner);
    if (!scheduler.run()) {
        plan_->needs_temporary = true;
        return;
    }
    std::vector<LoweredKernel> made;
    for (const KernelPlan& kernel : scheduler.kernels()) made.push_back(lower_kernel(planner, kernel));
    SlotPlan slots(planner, made);
    for (std::size_t k = 0; k < made.size(); ++k) {
        const KernelPlan& kernel = scheduler.kernels()[k];
        PlannedLaunch launch;
        launch.name = kernel.name;
        for (int d = 0; d < kernel.range; ++d) launch.extents.push_back(adaptable_->keep(kernel.extents[d]));
        std::vector<Size> offsets;
        for (std::size_t a = 0; a < made[k].arguments.size(); ++a) {
            const Argument& argument = made[k].arguments[a];
            const bool slotted = argument.kind == Argument::Kind::Stored || argument.kind == Argument::Kind::Partial;
            const std::uint32_t slot = slotted ? slots.of(argument, scheduler.partials(), k) : 0;
            const std::size_t words = launch.signature.words.size(), patches = launch.signature.patches.size();
            add_argument(launch.signature, argument, made[k].kernel.params[a], planner, slot);
            for (std::size_t i = words; i < launch.signature.words.size(); ++i) adaptable_->keep(i == words ? argument.value : 0);
            if (launch.signature.patches.size() > patches) offsets.push_back(argument.value);
        }
        for (const Size offset : offsets) adaptable_->keep(offset);
        slots.leave(k);
        const auto written = kernel.extents.begin() + kernel.inner();  // those of what is written, and blocks
        if (std::find(kernel.extents.begin(), written, Size(0)) != written) {
            adaptable_->drop(launch);
            continue;
        }
        const AdaptablePlan::Launch& kept = adaptable_->add(kernel, std::move(made[k].kernel), launch, subgraph, device);
        launch.program = device->known_program(kept.kernel, kept.shape);
        if (!launch.program) missing_.push_back(plan_->launches.size());
        plan_->launches.push_back(std::move(launch));
    }
    for (NodeId id = 0; id < subgraph.nodes.size(); ++id) {
        const NodeInfo& f = planner.info(id);
        if (f.required && !f.alias) plan_->results.push_back({id, slots.of_node(id), Strides(values_of(f.strides))});
    }
    for (const Size bytes : slots.slots()) plan_->slots.push_back(adaptable_->keep(bytes));
    for (const Plan::Result& result : plan_->results) {
        for (const Size stride : planner.info(result.node).strides) adaptable_->keep(stride);
    }
}

namespace {

Ref<device::Program> program_of(const AdaptablePlan::Launch& launch, device::Device* device) {
    Ref<device::Program> program = device->known_program(launch.kernel, launch.shape);  // of another launch, or by another thread
    if (program) return program;
    if (!device::CompileLater::here()) return device->compile(launch.kernel, launch.shape);
    return new device::PendingProgram(launch.kernel.name,
                                      [device, kernel = launch.kernel, shape = launch.shape] { return device->compile(kernel, shape); });
}

}  // namespace

Ref<const Plan> Draft::finished(device::Device* device) {
    for (const std::size_t at : missing_) plan_->launches[at].program = program_of(adaptable_->launches()[at], device);
    missing_.clear();
    return plan_;
}

Ref<const Plan> Draft::compile(device::Device* device, PlanCache& cache) {
    Ref<const Plan> plan = cache.add(finished(device));
    if (adaptable_->is_for(plan_)) cache.add_adaptable(class_, adaptable_);
    return plan;
}

}  // namespace pardo::plan
