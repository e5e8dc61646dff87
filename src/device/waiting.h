// src/device/waiting.h: how threads wait: interruptibly, without the caller's language's lock, and never while they hold a graph lock.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include <pardo/event.h>

namespace pardo::device {

/// How long a wait goes on before it asks whether it is to end.
inline constexpr std::chrono::milliseconds interrupt_slice{50};

/// True where waits may be interrupted: see set_interrupt_hook.
bool interruptible() noexcept;
/// What the hook says; nothing without one.
std::optional<Error> interruption(bool later);

/// While it lives, this thread blocks: the hooks of set_blocking_hooks are called around it.
class Blocking {
public:
    Blocking();
    ~Blocking();
    Blocking(const Blocking&) = delete;

private:
    void* state_ = nullptr;
};

/// While it lives, this thread waits next for the work that it submits: a queue may compute some of it in the submission, on this thread,
/// which takes less time than to hand it over.
class WaitsNext {
public:
    explicit WaitsNext(bool waits = true) noexcept;
    ~WaitsNext();
    WaitsNext(const WaitsNext&) = delete;
    /// Estimated time of work that may still be; 0 elsewhere. Short: the caller may hold locks, Python's too.
    static double& left_ns() noexcept;

private:
    double before_;
};

/// What a thread holds of the locks that work which is waited for may need.
struct HeldLocks {
    int count;
    std::vector<Event>* owed;  // what it waits for when it lets go of the last one; null: nothing
};
/// The calling thread's. The address stays, and a lock keeps it while it is held: to ask for it costs as much as taking the lock.
HeldLocks& held_locks() noexcept;
/// Waits for what is owed.
void wait_for_owed(HeldLocks& here) noexcept;
/// Waits for work that others must not overtake: at once; or, while this thread holds such locks, when it lets go of the last one. Raises
/// nothing of the work's own.
void wait_without_locks(const Event& event);
/// The same, and raises the work's failure if it does not have to wait for locks; else that stays with the event: its queue and those who
/// use the values raise it. Throws Device in a host task that the work waits for.
void finish_without_locks(const Event& event);
/// The same for an order whose caller gets the event. What waits for a UserEvent is not waited for: this thread may be the one that
/// completes it. Outside code then finds the memory written when the event is complete.
void finish_order(const Event& event);

}  // namespace pardo::device
