// src/routines/runs.h: the routines on sorted runs, which lie in the memory of one device or of several that host code reaches.
#pragma once

#include <cstdint>
#include <span>

#include "routines/routines.h"

namespace pardo::routines {

/// Two sorted 1-d runs of one dtype as one, in the order of sort; of equal elements those of `a` come first. A number (Int64) of each
/// element comes along, or all three are absent.
inline constinit Routine<void(device::Queue* queue, const Memory& a, const Memory& b, const Memory& a_places, const Memory& b_places,
                              const Memory& out, const Memory& places, bool descending)>
    merge_runs("merge_runs");

}  // namespace pardo::routines
