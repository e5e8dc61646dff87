// include/pardo/event.h: the handle of work that has been submitted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pardo/export.h>

namespace pardo {

namespace device {
class EventState;
}

/// Where a piece of work is.
enum class EventStatus : std::uint8_t { Queued, Running, Complete, Failed };

/// Host-clock times in nanoseconds (steady clock); zero where not reached. Needs a profiling queue.
struct Profiling {
    std::int64_t queued = 0, submitted = 0, start = 0, end = 0;
};

/// A cheap, copyable handle. A default-made Event is complete.
class PARDO_API Event {
public:
    Event() noexcept;
    explicit Event(device::EventState* state) noexcept;
    Event(const Event&) noexcept;
    Event(Event&&) noexcept;
    Event& operator=(Event) noexcept;
    ~Event();

    /// Blocks until the work is complete; raises its failure, once.
    void wait() const;
    /// As wait, for at most `milliseconds`; false when the time is over first. For callers that have to look at signals now and then.
    bool wait_for(int milliseconds) const;
    bool done() const noexcept;
    EventStatus status() const noexcept;
    /// Times of the work; throws Value unless its queue was made with profiling, or a Profile was open.
    Profiling profiling() const;
    /// Calls `f` on the library's helper thread when the work is complete or has failed (at once if it already has).
    void add_done_callback(std::function<void()> f) const;
    /// Internal: null when complete from the start.
    device::EventState* state() const noexcept { return state_; }

private:
    device::EventState* state_ = nullptr;
};

/// Messages of late failures that nobody has waited for, of all queues; each is given once. The Python layer reports them at exit.
PARDO_API std::vector<std::string> take_unheard_failures();

}  // namespace pardo
