// src/emit/analysis/indices.h: which values are arithmetic on indices and extents alone, and so never overflow.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace pardo::emit {

/// One a value: an Int64 that sums, differences, products and bounds make of indices, counters, extents, parameters and constants.
std::vector<bool> index_values(const ir::Kernel& kernel);

}  // namespace pardo::emit
