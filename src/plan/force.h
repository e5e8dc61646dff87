// src/plan/force.h: decides what runs now, and cuts it into launches. The functions that recording needs are in graph/engine.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pardo/error.h>

#include "graph/engine.h"
#include "graph/node.h"

namespace pardo::plan {

const char* name(Flush verdict);

/// Computes nodes for the sake of another operation, which their failures are not part of: what cannot be computed becomes a failed value.
/// Gives the first failure, if any.
std::shared_ptr<const Error> settle(const std::vector<Ref<graph::Node>>& nodes, Compile compile = Compile::Locked);

/// True unless PARDO_FUSION=off: then each node is a launch of its own.
bool fusion_enabled();
void set_fusion_enabled(bool on);  // tests

}  // namespace pardo::plan
