// src/plan/adaptable.h: a plan that other extents and strides of the same subgraph can use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "ir/ir.h"
#include "plan/schedule/schedule.h"
#include "plan/size.h"
#include "plan/subgraph.h"

namespace pardo::plan {

struct Plan;
struct PlannedLaunch;

/// A plan, and how its numbers come from those of the subgraph that it was made for. It serves all subgraphs of one class for which the
/// planner would decide the same.
class AdaptablePlan : public RefCounted<AdaptablePlan> {
public:
    /// What a number was, and its expression if it is one of the trace's.
    struct Number {
        std::int64_t was;
        std::int32_t expression = -1;
        explicit Number(Size size);
        /// For other sizes; without values, for those it was made for.
        std::int64_t in(std::span<const std::int64_t> values) const { return expression < 0 || values.empty() ? was : values[expression]; }
    };
    /// What a launch is measured by, and compiled from.
    struct Launch {
        struct Moved {
            Number bytes;
            KernelPlan::Traffic traffic;
        };
        ir::Kernel kernel;
        device::ShapeClass shape = 0;
        Number inner, innermost, remainder, elements, operations;
        std::vector<Moved> moved;
        double element_cost = 0;
    };

    /// The plan for a subgraph of the same class with other numbers; null where the planner would decide something otherwise, or the device
    /// takes another program.
    Ref<const Plan> adapted(const Subgraph& subgraph, std::uint64_t hash, std::span<const std::int64_t> numbers,
                            device::Device* device) const;

    // While it is made.
    /// Notes the next number of the plan, in the order of its fields, and gives its value.
    std::int64_t keep(Size size);
    /// Forgets the numbers of a launch that is not made.
    void drop(const PlannedLaunch& launch);
    const Launch& add(const KernelPlan& schedule, ir::Kernel kernel, PlannedLaunch& launch, const Subgraph& subgraph,
                      device::Device* device);
    const std::vector<Launch>& launches() const { return launches_; }
    /// For each launch its extents, words and details of patches; then the bytes of the slots, and the strides of the results.
    const std::vector<Number>& numbers() const { return numbers_; }
    void trace_over(Trace& trace);
    /// Says for which plan it is. False when that cannot be adapted.
    bool is_for(Ref<const Plan> plan);

private:
    Ref<const Plan> plan_;
    bool traced_ = false;
    Sizing replay_;
    std::vector<Number> numbers_;
    std::vector<Launch> launches_;
};

/// True when two plans do the same: the same programs with the same numbers.
bool same(const Plan& a, const Plan& b);

}  // namespace pardo::plan
