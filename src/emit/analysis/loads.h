// src/emit/analysis/loads.h: when loads happen: which must stay where they stand, and which are worth doing before anything else.
#pragma once

#include <vector>

#include "emit/analysis/uses.h"
#include "ir/ir.h"

namespace pardo::emit {

/// One a value: the result of a Load that must not move to its one use, because something on the way there changes memory or orders changes
/// of it, or because that use is evaluated again and again.
std::vector<bool> fixed_loads(const ir::Kernel& kernel, const Uses& uses);

/// The loads of an item that need no other load, where divisions or functions come after them: those branch for rare operands, and
/// compilers move no load across a branch. With all of these first, the loads of several items are under way together. Empty if so many
/// items would take too many registers.
std::vector<ir::InstrId> early_loads(const ir::Kernel& kernel, int items);

}  // namespace pardo::emit
