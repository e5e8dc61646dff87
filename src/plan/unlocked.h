// src/plan/unlocked.h: a stretch of a force in which the thread compiles and holds no lock.
#pragma once

#include "device/waiting.h"
#include "graph/node.h"

namespace pardo::plan {

/// While it lives, the calling thread has let go of a graph lock that it held once, and of the caller's language's lock. A fork waits until
/// it is over: compilers have locks and threads that a child would not find at rest.
class Unlocked {
public:
    explicit Unlocked(graph::GraphLock& lock);
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    /// How often the calling thread has been in one: if the number has changed, the graph has to be looked at again.
    static unsigned count() noexcept;

private:
    graph::GraphLock& lock_;
    std::optional<device::Blocking> blocking_;
};

}  // namespace pardo::plan
