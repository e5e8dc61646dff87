// src/device/event.h: the shared state behind an Event.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pardo/error.h>
#include <pardo/event.h>

#include "base/ref.h"
#include "base/text.h"
#include "device/failure.h"
#include "device/waiting.h"

namespace pardo::device {

class Queue;

/// How much a submission does, for profiles; zero where unknown.
struct Amount {
    std::int64_t bytes_read = 0, bytes_written = 0;
    std::int64_t operations = 0;  // arithmetic on floating-point numbers; a math function counts one
};

/// What a submission is called in messages, profiles and explain: the kernel's name and the line of Python behind it.
struct Label {
    Text name;        // "multiply_add_sum_f64"
    Text location;    // "model.py:42", empty when unknown
    Amount amount{};  // of host tasks; launches and copies tell theirs otherwise
};

/// State of one submission. Made by a Queue; completed exactly once; waits raise a failure once, the first of them.
class EventState : public RefCounted<EventState> {
public:
    explicit EventState(Queue* queue) : EventState(queue, false) {}
    virtual ~EventState() = default;

    /// Where the work is; of a driver's work this asks the driver, and may complete the event (no locks held by the caller).
    EventStatus status() noexcept {
        const EventStatus known = known_status();
        return known < EventStatus::Complete && polled_ ? poll() : known;
    }
    bool done() noexcept { return status() >= EventStatus::Complete; }
    /// The same without asking a driver: what has been noticed already.
    EventStatus known_status() const noexcept { return status_.load(std::memory_order_acquire); }
    bool known_done() const noexcept { return known_status() >= EventStatus::Complete; }
    /// True for a DriverEvent: a thread has to ask whether it is complete.
    bool polled() const noexcept { return polled_; }
    /// Blocks (the queue may lend the waiting thread to the work); raises the failure if that has not been done. An interruption ends the
    /// wait, is raised by it, and abandons the event.
    void wait();
    /// As wait, without raising the failure.
    void wait_done();
    /// As wait_done; gives the interruption. `later`: as of set_interrupt_hook.
    std::optional<Error> wait_or_ask(bool later);
    /// As wait, without raising anything: nothing ends it but completion. For places that have to go on.
    virtual void wait_quietly();
    /// As wait, for at most `limit`; false when the time is over first. Not interrupted.
    bool wait_for(std::chrono::milliseconds limit);
    /// The part of wait_for that blocks. Never runs work on the calling thread that may take longer than `limit`.
    virtual bool done_within(std::chrono::milliseconds limit);
    /// Stops the work that is running for this event if the calling thread submitted it and it can be stopped; it fails.
    virtual void abandon() {}
    /// Runs `f` on the helper thread after completion, or at once on it when already complete.
    /// The result is for drop(); 0 when it is complete.
    std::uint64_t on_done(std::function<void()> f);
    /// The failure, taken away so that it is raised once; nothing when there is none left. What failed because of other work raises once
    /// even if that work's failure has been raised: it did not run.
    std::optional<Error> take_error();
    /// The failure, acknowledged or not; null while there is none.
    std::shared_ptr<Failure> failure();
    /// Calls `f` on the thread that completes this, or at once when it is complete. Internal: short, no locks held by the caller.
    std::uint64_t subscribe(std::function<void()> f);
    /// Takes back what on_done or subscribe has been given; false when its turn has come already.
    bool drop(std::uint64_t id);
    /// The caller takes the failure over: it is not raised elsewhere any more.
    void acknowledge();
    /// What the work left for those who ask the event; set before completion.
    std::shared_ptr<void> value;

    /// A host signal: only the user's code completes it, so the library cannot wait for it without the user.
    bool is_host_signal() const noexcept { return is_host_signal_; }
    void make_host_signal() noexcept { is_host_signal_ = true; }
    /// Before it is published: adds the host signals that `events` wait for.
    void inherit_host_signals(std::span<const Event> events);
    void inherit_host_signals_of(EventState* event);
    /// True while this waits for the user's code, directly or not.
    bool waits_for_host();
    /// The host signals that this waits for directly and that are not complete.
    std::vector<Ref<EventState>> pending_host_signals();
    /// True when this completes only after `signal`, as far as is known.
    bool waits_for(const EventState* signal);
    /// True while this waits for a UserEvent, directly or not: the thread that is to complete that may be the one that asks.
    bool waits_for_user_event();

    /// To tell queues apart: it may be gone, once this is complete.
    Queue* queue() const noexcept { return queue_; }
    /// Zero where not reached, and on queues that do not profile.
    Profiling times() const noexcept { return {queued_at, submitted_at, started_at, ended_at}; }

    // For queues.
    void set_running();
    void set_complete();
    void set_failed(const Error& error, const Label& label);
    /// Fails for the reason of something it depended on.
    void set_failed(std::shared_ptr<Failure> failure);
    /// As set_failed, for an event that is not work: the failure is reported by the work that waits for it, if there is any.
    void set_dropped(const Error& error, const Label& label);
    /// Fails because it was abandoned while it ran; that need not be acknowledged: only those who use what it was to write raise it.
    void set_stopped(const Label& label);
    /// As set_failed in a forked child: takes no lock, calls nothing.
    void lose(std::shared_ptr<Failure> failure);
    std::atomic<std::int64_t> queued_at{0}, submitted_at{0}, started_at{0}, ended_at{0};

protected:
    EventState(Queue* queue, bool polled);
    /// Asks whether the work is complete, and completes the event if so. Only of polled events, as long as they are not complete.
    virtual EventStatus poll() noexcept { return known_status(); }
    /// The completion of a polled event has to be noticed without a wait.
    virtual void watched() noexcept {}

    Queue* queue_;
    const Ref<FailureLog> log_;  // the queue's: that of the work, whatever becomes of the queue
    std::atomic<EventStatus> status_{EventStatus::Queued};
    const bool polled_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<Failure> failure_;  // set before the status says Failed, then constant
    bool inherited_ = false;            // of other work; set with it
    std::atomic<bool> raised_{false};   // by this event
    struct Subscription {
        std::uint64_t id;
        std::function<void()> f;
    };
    std::vector<Subscription> callbacks_;      // for the helper thread
    std::vector<Subscription> subscriptions_;  // for the completing thread
    std::uint64_t last_id_ = 0;
    bool is_host_signal_ = false;
    std::vector<Ref<EventState>> host_signals_;  // direct ones; theirs are found through them

private:
    bool waits_directly(const EventState& signal);
    /// Whether `which` is true of this or of a host signal that it waits for, directly or not.
    template <class F> bool any_signal(F&& which);
    /// 0 when the event is complete, and `f` will not be called.
    std::uint64_t add(std::vector<Subscription>& list, std::function<void()>& f);
    void fail(std::shared_ptr<Failure> failure, bool inherited);
    void finish(EventStatus status);
};

/// As Event::done, without asking a driver; for places that hold locks, or are hot.
inline bool known_done(const Event& event) noexcept { return !event.state() || event.state()->known_done(); }
/// Why work that needs this fails too, acknowledged or not; null if it does not.
std::shared_ptr<Failure> failure_of(const Event& event);
/// `event`, as work needs it that is handed to `queue` now. If it has failed, and that was seen already, an event with a failure of its
/// own, so that waits for the work raise it; it is not reported as one that was not observed.
Event needed_now(const Event& event, Queue* queue);
/// The clock of Profiling.
std::int64_t now_ns();

/// While it lives, its thread runs submitted work: there it must not wait for all work, nor for what may come after its own.
class TaskScope {
public:
    TaskScope();
    ~TaskScope();
};
bool inside_task() noexcept;

/// Work of the user's that this thread runs as a host task; waiting for what comes after it would never end. Null on other threads.
EventState* running_task() noexcept;
class RunningTask {
public:
    explicit RunningTask(EventState* task);
    ~RunningTask();

private:
    EventState* outer_;
};
/// Throws Device when the calling thread is a host task that `event` waits for.
void check_wait(EventState& event);

/// Runs `f` on one of the threads for host tasks: they may block for as long as they like.
void run_on_task_thread(std::function<void()> f);

/// The library's one helper thread: runs done-callbacks, never a driver's thread. An exception out of `f` goes to the log sink.
void run_on_helper_thread(std::function<void()> f);

/// The exception that is being handled, whatever its type.
Error current_error();

/// The location that the hook gives (pardo::set_location_hook); empty without a hook. A LocationScope on this thread replaces it.
Text current_location();
/// Work that is handed over now is of a line that has been noted earlier.
class LocationScope {
public:
    explicit LocationScope(const Text& location);
    ~LocationScope();
    LocationScope(const LocationScope&) = delete;

private:
    const Text* outer_;
};
/// Makes the locks of this layer survive fork().
void install_fork_handlers();

}  // namespace pardo::device
