// src/device/event.h: the shared state behind an Event.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pardo/error.h>
#include <pardo/event.h>

#include "base/ref.h"

namespace pardo::device {

class Queue;

/// What a submission is called in messages, profiles and explain: the kernel's name and the line of Python behind it.
struct Label {
    std::string name;       // "multiply_add_sum_f64"
    std::string location;   // "model.py:42", empty when unknown
};

/// State of one submission. Made by a Queue; completed exactly once; a failure is raised once, by whoever waits first.
class EventState : public RefCounted<EventState> {
public:
    explicit EventState(Queue* queue) : queue_(queue) {}
    virtual ~EventState() = default;

    EventStatus status() const noexcept { return status_.load(std::memory_order_acquire); }
    bool done() const noexcept { return status() >= EventStatus::Complete; }
    /// Blocks (the queue may lend the waiting thread to the work); raises the failure if nobody has yet.
    virtual void wait();
    /// As wait, without raising.
    virtual void wait_quietly();
    /// Runs `f` on the helper thread after completion, or at once on it when already complete.
    void on_done(std::function<void()> f);
    /// The failure, taken away so that it is raised once; nothing when there is none left.
    std::optional<Error> take_error();
    Queue* queue() const noexcept { return queue_; }
    const Profiling& times() const noexcept { return times_; }

    // For queues.
    void set_running();
    void set_complete();
    void set_failed(Error error, const Label& label);
    Profiling times_;

protected:
    Queue* queue_;
    std::atomic<EventStatus> status_{EventStatus::Queued};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Error> error_;
    std::vector<std::function<void()>> callbacks_;
};

/// The library's one helper thread: runs done-callbacks, never a driver's thread. An exception out of `f` goes to the log sink.
void run_on_helper_thread(std::function<void()> f);

}  // namespace pardo::device
