// src/emit/analysis/shared_values.h: what lanes loops compute that an earlier one has computed at the same index, and may have kept.
#pragma once

#include <vector>

#include "emit/analysis/uses.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Loads, and what is expensive, of lanes loops over the same range as the first one. An array has one element an iteration.
struct SharedValues {
    static constexpr int none = -1;
    std::vector<DType> arrays;  // of which dtype each is
    std::vector<int> kept;      // one a value: the array in which its loop leaves it for later ones, or none
    std::vector<int> found;     // one a value: the array in which an earlier loop left it, or none
    std::vector<bool> idle;     // one an instruction: only needed for values that are found
};

/// Those of a kernel, in as many arrays as items have registers for.
SharedValues shared_values(const ir::Kernel& kernel, const Uses& uses);
/// Nothing is kept.
SharedValues no_shared_values(const ir::Kernel& kernel);

}  // namespace pardo::emit
