// src/routines/device/scan.h: running sums for other routines of devices that compile text.
#pragma once

#include "routines/routines.h"

namespace pardo::routines {

/// Running sums of int64, in place.
void device_running_sum(device::Queue* queue, const char* name, const Memory& counts);

}  // namespace pardo::routines
