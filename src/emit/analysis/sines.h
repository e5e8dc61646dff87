// src/emit/analysis/sines.h: which sines and cosines are of one number, for targets that have one function for both.
#pragma once

#include <map>

#include "emit/analysis/uses.h"
#include "ir/ir.h"

namespace pardo::emit {

/// A sine or cosine -> the other function of the same number, which comes later in the same region. Not float16's; none in a kernel with
/// lanes loops.
std::map<ir::Value, ir::Value> paired_sines(const ir::Kernel& kernel, const Uses& uses);

}  // namespace pardo::emit
