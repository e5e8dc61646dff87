// include/pardo/event.h: the handle of work that has been submitted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pardo/error.h>
#include <pardo/export.h>
#include <pardo/extents.h>

namespace pardo {

namespace device {
class EventState;
}

/// Where a piece of work is.
enum class EventStatus : std::uint8_t { Queued, Running, Complete, Failed };

/// Host-clock times in nanoseconds (steady clock); zero where not reached. Needs a profiling queue.
struct Profiling {
    std::int64_t queued = 0, submitted = 0, start = 0, end = 0;  ///< nanoseconds
};

/// What reads of an array throw whose elements failed work was to write: that work's error. Array::failure gives it as well, and
/// Array::accept makes the elements readable as they are.
class PARDO_API FailedElements : public Error {
public:
    explicit FailedElements(const Error& error) : Error(error) {}  ///< of the work that failed
};

/// A cheap, copyable handle. A default-made Event is complete.
class PARDO_API Event {
public:
    Event() noexcept;
    explicit Event(device::EventState* state) noexcept;  ///< internal
    Event(const Event&) noexcept;
    Event(Event&&) noexcept;
    Event& operator=(Event) noexcept;
    ~Event();

    /// Blocks until the work is complete; raises its failure, once, or an interruption.
    void wait() const;
    /// As wait, for at most `milliseconds`; false when the time is over first. For callers that have to look at signals now and then.
    bool wait_for(int milliseconds) const;
    /// The same, and raises nothing of the work's own.
    bool done_within(int milliseconds) const;
    /// Called after a wait in slices that was given up: work that is running for the event is stopped where it can be, if the calling
    /// thread submitted it; it fails.
    void abandon() const;
    bool done() const noexcept;           ///< true when it is complete or has failed
    EventStatus status() const noexcept;  ///< where the work is
    /// True while the work waits for a UserEvent that has not been set, directly or not.
    bool waits_for_user_event() const;
    /// Times of the work; throws Value unless its queue was made with profiling, or a Profile was open.
    Profiling profiling() const;
    /// Calls `f` on the library's helper thread when the work is complete or has failed (at once if it already has).
    /// The result is for remove_done_callback; 0 when nothing is left to remove.
    std::uint64_t add_done_callback(std::function<void()> f) const;
    /// Takes back a callback whose turn has not come; false when it is too late.
    bool remove_done_callback(std::uint64_t id) const;
    /// Why the work failed, acknowledged or not; nothing while it has not. With `acknowledge` it is not raised elsewhere any more.
    std::optional<Error> failure(bool acknowledge = true) const;
    /// What a host task or the owner of a user event left; null for other work, and before it is complete.
    std::shared_ptr<void> value() const;
    /// Internal: null when complete from the start.
    device::EventState* state() const noexcept { return state_; }

private:
    device::EventState* state_ = nullptr;
};

/// Blocks until one of the events is complete or has failed, and gives its position; -1 when `milliseconds` (negative: no limit) are over
/// first. Raises nothing of the events' own. Throws Value when there are none.
PARDO_API int wait_any(ListOf<Event> events, int milliseconds = -1);

/// An event that its owner completes. If all owners let go of it first, it fails. Handles share the event; safe from any thread.
class PARDO_API UserEvent {
public:
    /// `location`: the line that made it, for messages.
    explicit UserEvent(const std::string& location = {});
    UserEvent(const UserEvent&) = default;  // moves copy: no handle is without an event
    UserEvent& operator=(const UserEvent&) = default;
    const Event& event() const noexcept;  ///< the event that it completes
    /// False when it is complete already.
    bool set_complete(std::shared_ptr<void> value = {}) const;
    bool set_failed(const Error& error) const;  ///< false when it is complete already

private:
    struct Owned;
    std::shared_ptr<Owned> owned_;
};

}  // namespace pardo
