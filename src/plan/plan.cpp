// src/plan/plan.cpp: a finished plan: what to allocate, launch and materialise for every graph with one signature.
#include "plan/plan.h"

#include <algorithm>
#include <cstring>

#include "base/counters.h"
#include "graph/record.h"
#include "plan/lower/kernel.h"

namespace pardo::plan {

using graph::Node;

namespace {

/// Gives memory to stored anchors and scratch; scratch and values that nobody keeps share slots of one size over time.
class SlotPlan {
public:
    SlotPlan(const Planner& planner, const std::vector<MadeKernel>& kernels, Plan& plan)
        : planner_(planner), kernels_(kernels), plan_(plan) {}

    /// Slot of the memory behind an argument.
    std::uint32_t of(const Argument& a, const std::vector<Partial>& partials, std::size_t kernel) {
        const bool partial = a.kind == Argument::Kind::Partial;
        std::vector<std::int64_t>& known = partial ? partial_slots_ : node_slots_;
        if (known.size() <= a.node) known.resize(a.node + 1, -1);
        if (known[a.node] >= 0) return static_cast<std::uint32_t>(known[a.node]);
        std::int64_t bytes;
        bool keeps = false;
        if (partial) {
            bytes = partials[a.node].count * itemsize(partials[a.node].dtype);
        } else {
            const Node* n = planner_.node(a.node);
            bytes = graph::byte_count(n->dtype, n->shape, kernels_[kernel].kernel.name.c_str());
            keeps = planner_.fact(a.node).required;
        }
        const std::uint32_t slot = take(bytes, keeps);
        if (!keeps) last_use_.push_back({slot, last_kernel(a, kernel)});
        known[a.node] = slot;
        return slot;
    }
    /// Slot of a result that no kernel writes (empty arrays).
    std::uint32_t of_node(NodeId id) {
        if (node_slots_.size() <= id) node_slots_.resize(id + 1, -1);
        if (node_slots_[id] < 0) {
            const Node* n = planner_.node(id);
            node_slots_[id] = take(n->size() * itemsize(n->dtype), true);
        }
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

private:
    std::uint32_t take(std::int64_t bytes, bool keeps) {
        for (std::size_t i = 0; i < free_.size() && !keeps; ++i) {
            if (plan_.slots[free_[i]] != bytes) continue;
            const std::uint32_t slot = free_[i];
            free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
            return slot;
        }
        plan_.slots.push_back(bytes);
        return static_cast<std::uint32_t>(plan_.slots.size() - 1);
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
    const std::vector<MadeKernel>& kernels_;
    Plan& plan_;
    std::vector<std::int64_t> node_slots_, partial_slots_;
    std::vector<std::pair<std::uint32_t, std::size_t>> last_use_;
    std::vector<std::uint32_t> free_;
};

void note_use(PlannedLaunch& launch, bool leaf, std::uint32_t source, device::Access access) {
    for (PlannedLaunch::Use& use : launch.uses) {
        if (use.leaf != leaf || use.source != source) continue;
        use.access = static_cast<device::Access>(static_cast<int>(use.access) | static_cast<int>(access));
        return;
    }
    launch.uses.push_back({leaf, source, access});
}

PlannedLaunch make_launch(const KernelPlan& kernel, const MadeKernel& made) {
    PlannedLaunch launch;
    launch.name = kernel.name;
    launch.extents.assign(kernel.extents.begin(), kernel.extents.begin() + kernel.range);
    launch.cost_ns = kernel.cost_ns;
    launch.bytes_read = kernel.bytes_read;
    launch.bytes_written = kernel.bytes_written;
    launch.operations = kernel.operations;
    launch.arguments.reserve(made.arguments.size());
    return launch;
}

device::LaunchShape shape_of(const KernelPlan& kernel) {
    const std::span<const std::int64_t> extents = kernel.extents;
    const auto range = static_cast<std::size_t>(kernel.range);
    device::LaunchShape shape{.extents = extents.first(range)};
    if (kernel.strategy == Strategy::Unrolled) return shape;
    for (std::size_t d = range; d < extents.size(); ++d) {
        std::int64_t extent = extents[d];
        for (const KernelPlan::Block& b : kernel.blocks) {
            if (static_cast<std::size_t>(b.dim) != d) continue;
            shape.even &= extent % b.length == 0;
            extent = std::min(extent, b.length);
        }
        shape.inner *= extent;
        shape.innermost = extent;
    }
    return shape;
}

void add_argument(PlannedLaunch& launch, const Argument& a, const ir::Param& param, const Planner& planner, std::uint32_t slot) {
    const auto at = static_cast<std::uint16_t>(launch.arguments.size());
    launch.arguments.push_back(static_cast<std::uint64_t>(a.value));
    const auto access = static_cast<device::Access>(param.access);
    switch (a.kind) {
        case Argument::Kind::Number: break;
        case Argument::Kind::Leaf:
            launch.patches.push_back({PlannedLaunch::Patch::Kind::Leaf, at, a.node, a.value});
            note_use(launch, true, a.node, access);
            break;
        case Argument::Kind::Stored:
        case Argument::Kind::Partial:
            launch.patches.push_back({PlannedLaunch::Patch::Kind::Slot, at, slot, a.value});
            note_use(launch, false, slot, access);
            break;
        case Argument::Kind::Constant:
            launch.patches.push_back({PlannedLaunch::Patch::Kind::Constant, at, a.node, 0});
            if (is_complex(planner.node(a.node)->dtype)) launch.arguments.push_back(0);
            break;
    }
}

}  // namespace

Draft::Draft(const Walk& walk, std::uint64_t hash, device::Device* device, PlanCache& cache) {
    plan_->hash = hash;
    plan_->key = walk.key;
    counters.planned.fetch_add(1, std::memory_order_relaxed);
    Planner planner(walk, device->execution());
    planner.run();
    Scheduler scheduler(planner);
    if (!scheduler.run()) {
        plan_->needs_temporary = true;
        return;
    }
    std::vector<MadeKernel> made;
    for (const KernelPlan& kernel : scheduler.kernels()) made.push_back(make_kernel(planner, kernel));
    SlotPlan slots(planner, made, *plan_);
    for (std::size_t k = 0; k < made.size(); ++k) {
        const KernelPlan& kernel = scheduler.kernels()[k];
        PlannedLaunch launch = make_launch(kernel, made[k]);
        for (std::size_t a = 0; a < made[k].arguments.size(); ++a) {
            const Argument& argument = made[k].arguments[a];
            const bool slotted = argument.kind == Argument::Kind::Stored || argument.kind == Argument::Kind::Partial;
            const std::uint32_t slot = slotted ? slots.of(argument, scheduler.partials(), k) : 0;
            add_argument(launch, argument, made[k].kernel.params[a], planner, slot);
        }
        slots.leave(k);
        const auto written = kernel.extents.begin() + kernel.inner();  // those of what is written, and blocks
        if (std::find(kernel.extents.begin(), written, 0) != written) continue;
        const device::ShapeClass shape = device->shape_class(made[k].kernel, shape_of(kernel));
        const Hash128 key = program_key(made[k].kernel, shape);
        launch.program = cache.program(key);
        if (!launch.program) missing_.push_back({plan_->launches.size(), std::move(made[k].kernel), shape, key});
        plan_->launches.push_back(std::move(launch));
    }
    for (NodeId id = 0; id < walk.nodes.size(); ++id) {
        const Fact& f = planner.fact(id);
        if (f.required && !f.alias) plan_->results.push_back({id, slots.of_node(id), f.strides});
    }
}

Ref<const Plan> Draft::compile(device::Device* device, PlanCache& cache) {
    for (const Missing& m : missing_) {
        Ref<device::Program> program = cache.program(m.key);  // of another launch, or by another thread
        if (!program) {
            program = device->compile(m.kernel, m.shape);
            cache.add_program(m.key, program);
        }
        plan_->launches[m.launch].program = std::move(program);
    }
    missing_.clear();
    return plan_;
}

}  // namespace pardo::plan
