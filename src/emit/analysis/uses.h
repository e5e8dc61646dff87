// src/emit/analysis/uses.h: how often a kernel's values are used, and where.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace pardo::emit {

/// One element a value each. The kernel's body counts as region ~0u.
struct Uses {
    std::vector<int> count;
    std::vector<ir::RegionId> home;     // the region whose instructions define it
    std::vector<ir::RegionId> used_in;  // the region of its last use
    std::vector<ir::InstrId> user;      // the instruction of its last use

    /// True for a value that one instruction uses once, in the region where the value is defined.
    bool once_nearby(ir::Value v) const { return count[v] == 1 && home[v] == used_in[v]; }
};

/// The uses of all values of a kernel.
Uses uses_of(const ir::Kernel& kernel);

}  // namespace pardo::emit
