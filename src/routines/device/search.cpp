// src/routines/device/search.cpp: binary search on devices that compile text.
#include "routines/device/task.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

void device_searchsorted(device::Queue* queue, const Memory& sorted, const Memory& values, const Memory& out, bool right) {
    const std::int64_t count = values.size();
    // An empty table has no memory of its own to name.
    const Memory& table = sorted.size() > 0 ? sorted : values;
    launch_kernel(queue, "searchsorted", Variant(KernelId::Search, sorted.dtype), groups_for(count),
                  {reads(table), reads(values), writes(out), sorted.size(), count, std::int64_t{right}});
}

const Registered searchsorted_here(routines::searchsorted, {"kernels", DeviceKinds::Text, device_searchsorted});

}  // namespace

}  // namespace pardo::routines
