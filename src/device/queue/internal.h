// src/device/queue/internal.h: what the files of driver queues share among themselves.
#pragma once

#include "device/queue/queue.h"

namespace pardo::device {

/// Dependencies of a submission by what can wait for them.
struct DriverCore::Sorted {
    std::shared_ptr<Failure> inherited;  // one of them has failed already
    std::vector<Ref<Marker>> natives;    // the driver waits
    std::vector<Event> foreign;          // the host waits
    std::vector<Event> needs;            // unfinished ones whose failure counts
};

/// The name of copies of a few bytes from the host, which nothing waits for.
inline constexpr char small_write[] = "write";

/// Has exit() wait for drivers before it ends what was made until now: what is registered last is called first. Drivers make things when
/// they are first needed, so this is called again now and then.
void register_exit();
/// Why work is never complete here: the driver is another process's, or gone.
std::shared_ptr<Failure> lost_failure(const Device* device);

}  // namespace pardo::device
