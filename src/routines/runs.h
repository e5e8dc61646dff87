// src/routines/runs.h: the routines on sorted runs, which lie in the memory of one device or of several that host code reaches.
#pragma once

#include <cstdint>
#include <span>

#include "routines/routines.h"

namespace pardo::routines {

/// How many elements of each run are among the first targets[k] of all: out is Int64, (targets, runs). The runs are 1-d and of one dtype,
/// in the order of sort, `descending` or not; equal elements come in the order of the runs.
inline constinit Routine<void(device::Queue* queue, std::span<const Memory> runs, const Memory& out, std::span<const std::int64_t> targets,
                              bool descending)>
    cut_runs("cut_runs");
/// Two sorted 1-d runs of one dtype as one, in the order of sort; of equal elements those of `a` come first. A number (Int64) of each
/// element comes along, or all three are absent.
inline constinit Routine<void(device::Queue* queue, const Memory& a, const Memory& b, const Memory& a_places, const Memory& b_places,
                              const Memory& out, const Memory& places, bool descending)>
    merge_runs("merge_runs");

}  // namespace pardo::routines
