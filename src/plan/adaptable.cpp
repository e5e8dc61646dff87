// src/plan/adaptable.cpp: a plan that other extents and strides of the same subgraph can use.
#include "plan/adaptable.h"

#include <algorithm>
#include <utility>

#include "base/launch_cost.h"
#include "device/pending_program.h"
#include "plan/plan.h"

namespace pardo::plan {

namespace {

std::size_t numbers_of(const PlannedLaunch& launch) {
    return launch.extents.size() + launch.signature.words.size() + launch.signature.patches.size();
}

/// All numbers of a plan that depend on sizes, in the order in which they are kept.
template <class AnyPlan, class F> void for_each_number(AnyPlan& plan, F&& f) {
    for (auto& launch : plan.launches) {
        for (auto& extent : launch.extents) f(extent);
        for (auto& word : launch.signature.words) f(word);
        for (auto& patch : launch.signature.patches) f(patch.detail);
    }
    for (auto& slot : plan.slots) f(slot);
    for (auto& result : plan.results) {
        for (auto& stride : result.strides) f(stride);
    }
}

struct SizedShape {
    Size inner = 1, innermost = 1;
    Size remainder = 0;  // 0: all items do the same number of iterations
};

SizedShape shape_of(const KernelPlan& kernel) {
    SizedShape shape;
    if (kernel.strategy == Strategy::Unrolled) return shape;
    for (int d = kernel.range; d < kernel.extents.size(); ++d) {
        Size extent = kernel.extents[d];
        for (const KernelPlan::Block& b : kernel.blocks) {
            if (b.dim != d) continue;
            shape.remainder += extent % b.length;
            extent = min(extent, b.length);
        }
        shape.inner *= extent;
        shape.innermost = extent;
    }
    return shape;
}

device::LaunchShape launch_shape(const AdaptablePlan::Launch& launch, const PlannedLaunch& planned, std::span<const std::int64_t> values) {
    return {.extents = planned.extents,
            .inner = launch.inner.in(values),
            .innermost = launch.innermost.in(values),
            .even = launch.remainder.in(values) == 0};
}

/// Sets what is told of the work of a launch.
void measure(PlannedLaunch& planned, const AdaptablePlan::Launch& launch, const Subgraph& subgraph, std::span<const std::int64_t> values) {
    planned.bytes_read = planned.bytes_written = 0;
    for (const AdaptablePlan::Launch::Moved& moved : launch.moved) {
        const std::int64_t bytes = bytes_moved(moved.traffic, moved.bytes.in(values), subgraph);
        if (moved.traffic.read) planned.bytes_read += bytes;
        if (moved.traffic.written) planned.bytes_written += bytes;
    }
    planned.operations = launch.operations.in(values);
    planned.cost_ns = launch_cost(planned.bytes_read + planned.bytes_written, launch.elements.in(values), launch.element_cost);
}

}  // namespace

AdaptablePlan::Number::Number(Size size) : was(size.value()) {
    if (Trace* const trace = Trace::current(); trace && !size.literal()) expression = trace->expression(size);
}

std::int64_t AdaptablePlan::keep(Size size) {
    numbers_.emplace_back(size);
    return size.value();
}

void AdaptablePlan::drop(const PlannedLaunch& launch) {
    numbers_.erase(numbers_.end() - static_cast<std::ptrdiff_t>(numbers_of(launch)), numbers_.end());
}

const AdaptablePlan::Launch& AdaptablePlan::add(const KernelPlan& schedule, ir::Kernel kernel, PlannedLaunch& planned,
                                                const Subgraph& subgraph, device::Device* device) {
    const SizedShape shape = shape_of(schedule);
    Launch launch{.kernel = std::move(kernel),
                  .inner = Number(shape.inner),
                  .innermost = Number(shape.innermost),
                  .remainder = Number(shape.remainder),
                  .elements = Number(schedule.elements()),
                  .operations = Number(schedule.operations),
                  .moved = {},
                  .element_cost = schedule.element_cost};
    for (const KernelPlan::Traffic& traffic : schedule.traffic) launch.moved.push_back({Number(traffic.bytes), traffic});
    launch.shape = device->shape_class(launch.kernel, launch_shape(launch, planned, {}));
    measure(planned, launch, subgraph, {});
    return launches_.emplace_back(std::move(launch));
}

Ref<const Plan> AdaptablePlan::adapted(const Subgraph& subgraph, std::uint64_t hash, std::span<const std::int64_t> numbers,
                                       device::Device* device) const {
    std::vector<std::int64_t> values;
    if (!replay_.run(numbers, values)) return nullptr;
    Ref<Plan> plan(new Plan);
    plan->slots = plan_->slots;
    plan->launches = plan_->launches;
    plan->results = plan_->results;
    plan->needs_temporary = plan_->needs_temporary;
    plan->hash = hash;
    plan->key = subgraph.key;
    auto next = numbers_.begin();
    for_each_number(*plan, [&](auto& number) { number = static_cast<std::remove_reference_t<decltype(number)>>((next++)->in(values)); });
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        const Launch& launch = launches_[i];
        PlannedLaunch& planned = plan->launches[i];
        if (device->shape_class(launch.kernel, launch_shape(launch, planned, values)) != launch.shape) return nullptr;
        measure(planned, launch, subgraph, values);
    }
    return plan;
}

void AdaptablePlan::trace_over(Trace& trace) {
    traced_ = trace.adaptable();
    replay_ = trace.take();
}

bool AdaptablePlan::is_for(Ref<const Plan> plan) {
    plan_ = std::move(plan);
    return traced_;
}

bool same(const Plan& a, const Plan& b) {
    const auto same_launch = [](const PlannedLaunch& x, const PlannedLaunch& y) {
        return device::compiled_program(x.program.get()) == device::compiled_program(y.program.get()) && x.extents == y.extents &&
               x.signature == y.signature && x.cost_ns == y.cost_ns && x.bytes_read == y.bytes_read && x.bytes_written == y.bytes_written &&
               x.operations == y.operations;
    };
    return std::equal(a.launches.begin(), a.launches.end(), b.launches.begin(), b.launches.end(), same_launch) && a.slots == b.slots &&
           a.results == b.results && a.needs_temporary == b.needs_temporary;
}

}  // namespace pardo::plan
