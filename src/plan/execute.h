// src/plan/execute.h: runs a plan on the nodes of a subgraph.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace pardo::plan {

/// The vectors keep their memory from run to run.
class PlanRunner {
public:
    /// Memory for a plan's results and scratch. On failure nothing else has happened.
    void allocate(const Plan& plan, const Subgraph& subgraph, device::Queue* queue);
    /// Launches and materialises, after allocate(). On failure nothing is materialised.
    void run(const Plan& plan, const Subgraph& subgraph, device::Queue* queue);

private:
    void launch(const PlannedLaunch& planned, const Subgraph& subgraph, device::Queue* queue);
    bool find_kinds(const Plan& plan, const Subgraph& subgraph);
    std::vector<Ref<device::Buffer>> slots_;
    std::vector<MemoryKind> kinds_;
    device::LaunchArguments arguments_;
};

}  // namespace pardo::plan
