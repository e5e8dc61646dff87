// src/emit/analysis/adjacent_stores.h: which stores write neighbouring elements, for targets where one access for all of them is better.
#pragma once

#include <map>
#include <vector>

#include "ir/ir.h"

namespace pardo::emit {

/// Runs of stores to elements one after the other of the same parameter, as many as an access of 16 bytes writes, a power of two; between
/// them nothing touches memory. Elements have 4 bytes or more.
struct AdjacentStores {
    std::map<ir::InstrId, std::vector<ir::InstrId>> runs;  // by the last store of each, where all of them may be done
    std::vector<bool> earlier;                             // one an instruction: another store of a run
};

/// All of a kernel.
AdjacentStores adjacent_stores(const ir::Kernel& kernel);
/// None.
AdjacentStores no_adjacent_stores(const ir::Kernel& kernel);

}  // namespace pardo::emit
