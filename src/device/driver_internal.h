// src/device/driver_internal.h: what the files of driver queues share among themselves.
#pragma once

#include "device/driver_queue.h"

namespace pardo::device {

/// Dependencies of a submission by who can wait for them.
struct DriverCore::Sorted {
    std::shared_ptr<Failure> inherited;  // one of them has failed already
    std::vector<Ref<Mark>> natives;      // the driver waits
    std::vector<Event> foreign;          // the host waits
    std::vector<Event> needs;            // unfinished ones whose failure counts
};

/// The list of all cores, for fork(), exit() and memory that is short.
void add_core(DriverCore* core);
void remove_core(DriverCore* core);
/// Why work is never complete here: the driver is another process's, or gone.
std::shared_ptr<Failure> lost_failure(const Device* device);

}  // namespace pardo::device
