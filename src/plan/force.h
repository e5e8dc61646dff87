// src/plan/force.h: decides what runs now, and cuts it into launches. The functions that recording needs stand in graph/engine.h.
#pragma once

#include <span>
#include <string>

#include "graph/engine.h"
#include "graph/node.h"

namespace pardo::plan {

const char* name(Flush verdict);

/// True unless PARDO_FUSION=off: then each node is a launch of its own.
bool fusion_enabled();
void set_fusion_enabled(bool on);  // tests

}  // namespace pardo::plan
