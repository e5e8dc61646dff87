// src/device/queue/scheduler.h: the order of a queue's work, once for all back ends: what waits for what, what is unfinished, how it ends.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/list.h"
#include "device/device.h"
#include "device/pending_program.h"

namespace pardo {
struct QueueWork;
struct UnfinishedWork;
}  // namespace pardo

namespace pardo::device {

class Scheduler;

/// What a submission says of itself, whatever it does.
struct Request {
    Label label;
    std::vector<Event> needs;       // data from here: their failure is this work's failure too
    std::vector<Event> after;       // only an order to keep
    std::vector<Ref<Buffer>> kept;  // memory of other devices
    std::function<void()> check;    // as of Launch
    Ref<PendingProgram> program;    // to be compiled at its turn: not null where a launch has none yet
    double cost_ns = 0;
    std::uint64_t covered = 0;  // out of order, a barrier: as of Ends
    bool timed = false;         // the queue profiles, or a profile is open
    bool lasts = false;         // it is not known how long it runs
};

/// A submission that a Scheduler puts in order. What is not atomic or constant is guarded by the scheduler's lock, until a thread has taken
/// the event to run or to complete it.
class ScheduledEvent : public EventState {
protected:
    ScheduledEvent(Queue* queue, bool polled, Request&& request);

    Request request_;
    const Ref<PendingProgram> program_;  // as of the request, also while a thread runs it
    const std::uint64_t covered_;        // of a barrier: as of Ends
    std::uint64_t number_ = 0;           // out of order: by submission, from 1
    bool taken_ = false;                 // a thread runs or completes it
    bool may_last_ = false;              // waits for other queues, or it is not known how long it runs; constant once it is submitted
    std::atomic<int> missing_{0};        // events that have to complete first
    // Of work that a driver runs:
    std::atomic<bool> native_{false};    // at the driver, or complete there
    std::atomic<bool> hands_on_{false};  // and what comes after it in order fails with it by itself

private:
    friend class Scheduler;
    friend class EventList;
    struct Entry : Link {
        ScheduledEvent* event = nullptr;
    } entry_;
};

/// Events in order, with a reference to each; an event is in one list at most.
class EventList {
public:
    class Iterator {
    public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = ScheduledEvent;
        using difference_type = std::ptrdiff_t;
        using pointer = ScheduledEvent*;
        using reference = ScheduledEvent&;
        Iterator() = default;
        explicit Iterator(Link* link) : link_(link) {}
        ScheduledEvent& operator*() const { return *static_cast<ScheduledEvent::Entry*>(link_)->event; }
        ScheduledEvent* operator->() const { return &**this; }
        Iterator& operator++() {
            link_ = link_->next;
            return *this;
        }
        Iterator& operator--() {
            link_ = link_->previous;
            return *this;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        Link* link_ = nullptr;
    };

    Iterator begin() { return Iterator(head_.next); }
    Iterator end() { return Iterator(&head_); }
    auto rbegin() { return std::reverse_iterator(end()); }
    auto rend() { return std::reverse_iterator(begin()); }
    bool empty() const { return head_.empty(); }
    ScheduledEvent& front() { return *begin(); }
    ScheduledEvent& back() { return *rbegin(); }

    void append(ScheduledEvent& event) {
        event.retain();
        head_.append(event.entry_);
    }
    /// Takes an event over from another list.
    void take(ScheduledEvent& event) {
        event.entry_.remove();
        head_.append(event.entry_);
    }
    /// The caller, who holds a reference too, need not mind which lock it holds.
    void remove(ScheduledEvent& event) {
        event.entry_.remove();
        event.release();
    }
    /// In a forked child: what is listed is never taken apart.
    void forget() { new (&head_) Link; }

private:
    Link head_;
};

/// How work ended that a thread of this process ran, or would have run.
struct Outcome {
    std::shared_ptr<Failure> inherited;  // of what it needs: it did not run
    std::optional<Error> raised{};
    bool stopped = false;  // in the middle
};
/// The failure that work inherits from these events, which are complete; null if none of them failed.
std::shared_ptr<Failure> inherited_from(std::span<const Event> needs);
/// Runs `work` on the calling thread, unless it has inherited a failure, and notes its times.
template <class F> Outcome run_task(EventState& event, std::shared_ptr<Failure> inherited, bool timed, F&& work) {
    Outcome outcome{.inherited = std::move(inherited)};
    event.set_running();
    if (timed) event.started_at = now_ns();
    if (!outcome.inherited) {
        const TaskScope scope;
        try {
            work();
        } catch (const NotRun& e) {
            outcome.inherited = Failure::make(e, true);
        } catch (...) {
            outcome.raised = current_error();
        }
    }
    if (timed) event.ended_at = now_ns();
    return outcome;
}
/// Completes the event.
void settle(EventState& event, Outcome&& outcome, const Label& label);

/// Calls `then` once: on the thread that completes the last of `events`, or here. `missing` lives as long as `then`.
template <class F> void after_all(std::span<const Event> events, std::atomic<int>& missing, F then) {
    // One count is kept until all are subscribed.
    missing.store(static_cast<int>(events.size()) + 1, std::memory_order_relaxed);
    const auto count_down = [&missing, then = std::move(then)] {
        if (missing.fetch_sub(1, std::memory_order_acq_rel) == 1) then();
    };
    for (const Event& e : events) e.state() ? (void)e.state()->subscribe(count_down) : count_down();
    count_down();
}

/// Whose threads run the work.
enum class Runner : std::uint8_t { Process, Driver };

/// The part of a queue that its events and threads share; it outlives the queue while they need it. It knows what has been submitted and
/// is unfinished, and what new work has to wait for; which thread runs it, and how its end is noticed, is the matter of who derives.
class Scheduler : public RefCounted<Scheduler> {
public:
    virtual ~Scheduler();

    /// Nothing submitted is unfinished.
    virtual bool idle() = 0;
    /// Events of all unfinished work; the last one only on an in-order queue.
    std::vector<Event> unfinished();
    /// Out of order.
    Ends unfinished_ends();
    void wait_quietly();
    /// As wait_quietly, until an interruption, which it raises.
    void wait_done();
    /// As wait_quietly, but for what waits for the user's code.
    void wait_for_ungated();
    /// How much is unfinished, and the oldest of it, of what has not been noticed to be complete.
    QueueWork work();
    /// Some unfinished work waits for the user's code.
    bool waits_for_host();
    /// As of Queue.
    bool may_last();
    /// Out of order: all that is submitted from now on waits for `event`.
    void order_after(const Event& event);
    Event fence();
    /// There is such an event, and it is not complete. Takes no lock where order_after has not been called.
    bool fenced() { return fenced_.load(std::memory_order_acquire) && !fence().done(); }
    /// True for an event that native submissions to this queue come after by order alone.
    bool before_next(const Event& event) const noexcept;
    /// True for unfinished events that a submission need not name: order alone puts it after them and, with `needed`, hands on their
    /// failures. Takes no lock.
    bool implied(const Event& event, bool needed) const noexcept;
    /// From here until it is closed, fork() and exit() take care of this queue.
    void open();
    /// The queue is gone and idle: its threads end.
    virtual void close();

    const Device* device() const noexcept { return device_; }
    Runner runner() const noexcept { return runner_; }

    /// Compiles what unfinished work waits for.
    void compile_pending() noexcept;
    // Around fork(): nothing that ends by itself may run in this process then.
    virtual void lock_for_fork() = 0;
    virtual void unlock_after_fork() = 0;
    virtual void lose_in_child() = 0;
    // At exit: what waits ends without running. Of all queues before any is waited for.
    virtual void stop_for_exit() = 0;
    void finish_for_exit();
    /// As wait_for_ungated, until `end`; adds what is not over then.
    void collect_unfinished(std::chrono::steady_clock::time_point end, std::vector<UnfinishedWork>& list);

protected:
    using Lock = std::unique_lock<std::mutex>;

    Scheduler(Queue* queue, Runner runner);
    /// Adds what all work of this queue waits for.
    void add_fence(Request& request);
    /// Calls became_ready once all of these are complete.
    void ready_after(const Ref<ScheduledEvent>& event, std::span<const Event> events);
    virtual void became_ready(ScheduledEvent& event) = 0;
    /// What the work inherits, which is at its turn.
    std::shared_ptr<Failure> inherited_by(std::span<const Event> needs) const;
    /// Ends what has run, or does not run. What it kept alive goes first: after a wait for the event its memory is given back.
    void finish(ScheduledEvent& event, Outcome&& outcome);
    /// Starts a thread of this queue's; false when there is one. Throws Device where the system gives none.
    void start(bool& started, std::function<void()> serve);
    void lose(const std::shared_ptr<Failure>& failure);

    // With the lock held.
    void inherit_from_last(ScheduledEvent& event);
    void enter(ScheduledEvent& event);
    void begin_finishing(ScheduledEvent& event);
    void end_finishing(ScheduledEvent& event) { finishing_.remove(event); }
    /// Unfinished work that does not wait for the user's code; the youngest, and what is being finished.
    std::vector<Event> ungated();

    Queue* queue_;
    const Device* device_;
    const bool in_order_;
    const Runner runner_;

    std::mutex mutex_;
    EventList unfinished_;                      // by submission
    EventList finishing_;                       // over, but not yet for those who wait: their failures are being noted
    std::deque<Ref<ScheduledEvent>> tasks_;     // in order: they wait for their turn; out of order: they are ready
    Ref<ScheduledEvent> current_;               // in order: the one that a thread has taken from tasks_
    std::atomic<std::int64_t> outstanding_{0};  // how many are in unfinished_
    std::condition_variable wake_;              // of the thread that takes from tasks_
    bool worker_started_ = false;
    bool closed_ = false;
    std::atomic<bool> stopped_{false};  // the process is exiting: what waits ends without running

private:
    void leave();
    static ScheduledEvent* scheduled(const Event& event) noexcept;

    Event fence_;                      // out of order: what all new work waits for
    std::atomic<bool> fenced_{false};  // there has been one
    std::uint64_t numbered_ = 0;       // out of order: the youngest submission
    Event last_barrier_;               // out of order: the one that covers most, and how much
    std::uint64_t covered_ = 0;
};

/// Has fork() find all queues at rest. Who adds handlers of its own for what queues run on calls it first.
void hold_queues_at_fork();
/// Blocks until queues are empty, but for what waits for the user's code, which may have to come from this very thread; does nothing
/// inside a task. `device`: null for all.
void wait_for_queues(Runner runner, const Device* device = nullptr);
/// Ends the work of all queues at exit.
void finish_queues(Runner runner);

}  // namespace pardo::device
