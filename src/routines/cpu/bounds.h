// src/routines/cpu/bounds.h: index arrays are looked through before they are used.
#pragma once

#include "routines/routines.h"

namespace pardo::routines {

/// In the task that uses the indices, before it does: throws Index where one is out of bounds.
void check_bounds(device::Device* device, const Bounds& bounds);

}  // namespace pardo::routines
