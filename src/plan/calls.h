// src/plan/calls.h: computes what is not one fused loop, before what reads it is planned.
#pragma once

#include <vector>

#include "plan/force.h"
#include "plan/subgraph.h"

namespace pardo::plan {

/// The calls of a subgraph, each of them once, inputs before users.
std::vector<Ref<graph::Node>> calls_of(const Subgraph& subgraph);
/// Runs the call of a pending node, and turns its results into Leaves, if its inputs are in memory; false, and nothing done, if not.
bool run_if_ready(graph::Node* node);
/// Forces the inputs of each call that is still pending, runs it, and turns its results into Leaves. Throws the error of the first that
/// fails; those before it stay computed. Caller holds the graph lock, which `compile` may let go of, and plans nothing meanwhile.
void run(const std::vector<Ref<graph::Node>>& calls, Compile compile);

}  // namespace pardo::plan
