// include/pardo/binding/activity.h: what is under way: compilations, and the unfinished work of queues.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pardo/export.h>

namespace pardo {

/// A compiler that is at work.
struct Compilation {
    std::string name, device;  // the kernel's; the device that it is compiled for, empty where that is not known
    double seconds = 0;        // since it began
};
/// All of them, the oldest first.
PARDO_API std::vector<Compilation> compilations();

/// A queue with unfinished work.
struct QueueWork {
    std::uintptr_t queue = 0;     // Queue::impl(), as a number
    std::string device;           // its id
    std::int64_t unfinished = 0;  // submissions
    std::string name, location;   // of the oldest of them, and the line that submitted it
};
/// Of all queues that have such. Nothing is waited for; what drivers say is complete does not count.
PARDO_API std::vector<QueueWork> unfinished_work();

}  // namespace pardo
