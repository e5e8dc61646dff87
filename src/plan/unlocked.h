// src/plan/unlocked.h: a stretch of a force in which the thread holds no lock.
#pragma once

#include <cstdint>
#include <optional>

#include "device/waiting.h"
#include "graph/node.h"
#include "jit/compiling.h"

namespace pardo::plan {

/// While it lives, the calling thread has let go of a graph lock that it held once. To compile, it lets go of the caller's language's lock
/// too, and a fork waits until it is over.
class Unlocked {
public:
    enum class For : std::uint8_t { Compiling, Transfers };
    explicit Unlocked(graph::GraphLock& lock, For what = For::Compiling);
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    /// How often the calling thread has been in one: if the number has changed, the graph has to be looked at again.
    static unsigned count() noexcept;

private:
    graph::GraphLock& lock_;
    std::optional<device::Blocking> blocking_;
    std::optional<jit::Compiling> compiling_;
};

}  // namespace pardo::plan
