// src/plan/group/sibling_outputs.h: values that are computed along with what was asked for, because they share its intermediate values.
#pragma once

#include <span>
#include <vector>

#include "plan/subgraph.h"

namespace pardo::plan {

/// Collects `roots` and their sibling outputs. An intermediate value that the program does not hold, but that a pending value outside reads
/// too, would be written to memory for that reader. Where the program holds the reader, and it needs nothing else that is not in memory or
/// computed here, and is no larger, it is computed along instead, and the intermediate value stays in registers. (Call and put of an
/// option: asking for the call computes both.) `kept` holds the sibling outputs until they are computed.
void collect_with_siblings(Subgraph& subgraph, std::span<graph::Node* const> roots, std::vector<Ref<graph::Node>>& kept);

}  // namespace pardo::plan
