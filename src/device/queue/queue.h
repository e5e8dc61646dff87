// src/device/queue/queue.h: queues whose work a driver runs: order, dependencies, failures and waiting, once for all drivers.
// This folder: queues as all back ends have them, those whose work a driver runs, and the threads that run callbacks and host tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "device/queue/scheduled_queue.h"
#include "device/queue/stream.h"

namespace pardo::device {

class DriverCore;

/// A native event with everything submitted up to it. Shared by the events that it completes; its last owner gives it to the stream back.
class Marker : public RefCounted<Marker> {
public:
    Marker(Ref<DriverCore> core, NativeEvent native, std::uint64_t sequence);
    ~Marker();
    NativeEvent native() const noexcept { return native_; }
    std::uint64_t sequence() const noexcept { return sequence_; }

private:
    Ref<DriverCore> core_;
    NativeEvent native_;
    std::uint64_t sequence_;
};

/// What a submission does: at once, on the caller's thread, or later from what it kept.
class NativeCall {
public:
    using Owned = std::function<void(Stream&, const NativeOrder&)>;
    virtual ~NativeCall() = default;
    virtual void run(Stream& stream, const NativeOrder& order) = 0;
    virtual Owned keep() = 0;
};

/// A submission to a driver's queue; or one that is deferred on the host until its dependencies are complete.
class DriverEvent final : public ScheduledEvent {
public:
    DriverEvent(Queue* queue, DriverCore* core, Request&& request);
    ~DriverEvent() override;
    void wait_quietly() override;
    bool done_within(std::chrono::milliseconds limit) override;

private:
    friend class DriverCore;
    EventStatus poll() noexcept override;
    void watched() noexcept override;
    bool on_gpu() const;

    Ref<DriverCore> core_;
    std::uint64_t sequence_ = 0;         // in the order of native submission, from 1; 0: deferred, or never submitted
    std::atomic<bool> watching_{false};  // the watcher thread looks after it
    bool notifying_ = false;             // the driver has been asked to call (watcher thread only)
    Ref<Marker> marker_;                 // its own, if it has one
    bool may_fail_ = false;              // for a reason that the driver does not know: constant from its submission on
    // Deferred:
    NativeCall::Owned call_;
    std::function<void()> task_;
    NativeCode code_;  // of a turn
};

/// A Scheduler whose work a driver runs.
///
/// A submission whose dependencies the driver can wait for goes to the driver on the caller's thread. Others are deferred: a worker
/// thread submits them when what they need is complete. In order, everything after them is deferred too. Completion is noticed by those
/// who wait or ask, and, for callbacks, by a watcher thread that waits natively. No lock is held while anything completes.
class DriverCore final : public Scheduler {
public:
    DriverCore(Queue* queue, std::unique_ptr<Stream> stream);
    ~DriverCore() override;

    /// `by_worker`: the native call may block its caller, or its program is to be compiled.
    Event submit(Request&& request, NativeCall& call, bool by_worker = false);
    Event submit_task(Request&& request, std::function<void()> task);
    /// Native code: at once on the caller's thread, without a lock; or on a worker's, where its dependencies are not the driver's.
    Event submit_turn(Request&& request, NativeCode code);
    /// A native call that the caller waits for, after what is at the driver already. Raises its failure.
    void run_and_wait(const char* op_name, const std::function<void(Stream&, const NativeOrder&)>& call);

    bool idle() override;
    /// Completes what the driver says is complete, without blocking.
    void sweep() noexcept;
    void close() override;
    const Stream& stream() const noexcept { return *stream_; }

    void lock_for_fork() override;
    void unlock_after_fork() override;
    void lose_in_child() override;
    void stop_for_exit() override;

private:
    friend class DriverEvent;
    friend class Marker;
    static DriverEvent& own(ScheduledEvent& event) { return static_cast<DriverEvent&>(event); }
    using Batch = std::vector<Ref<DriverEvent>>;
    struct Sorted;  // dependencies by what can wait for them

    // Submitting (core.cpp).
    /// Null with `sorted.inherited`; then the event has failed.
    Ref<DriverEvent> new_event(Request&& request, bool task, Sorted& sorted);
    void sort(const std::vector<Event>& events, bool needed, bool task, Sorted& sorted);
    void defer(const Ref<DriverEvent>& event, const std::vector<Event>& foreign);
    void submit_natively(DriverEvent& event, const Sorted& sorted, NativeCall& call);
    void throttle();
    Ref<Marker> enqueue_marker();  // with the lock held

    // Deferring (deferred.cpp).
    void became_ready(ScheduledEvent& event) override;
    void serve(std::deque<Ref<ScheduledEvent>>& tasks, std::condition_variable& wake);
    void run_deferred(DriverEvent& event);
    /// What the driver waits for is in `sorted`. Throws what fails before the driver has the event.
    void run_turn(DriverEvent& event, const Sorted& sorted);
    void end_taken(DriverEvent& event);
    void run_host_task(DriverEvent& event);
    void wait_for_driver();
    void wait_for_earlier(const std::vector<Event>& needs, const std::vector<Event>& after);

    // Completing (event.cpp).
    Ref<Marker> marker_of(DriverEvent& event);  // null when it is being completed, or deferred
    Ref<Marker> oldest_marker();                // in order
    struct Answer {                             // of the driver, about a marker
        NativeStatus status = NativeStatus::Unfinished;
        std::optional<Error> error;
    };
    Answer ask_about(const Marker& marker) noexcept;
    /// What the driver says of all that was submitted, if that ends with an event which no marker tells of; else nothing.
    std::optional<Answer> ask_about_tail(DriverEvent& event) noexcept;
    /// Of `marker`; without one, of `event` as the tail.
    void complete(const Marker* marker, const Answer& answer, DriverEvent* event);
    void finish_natives(const Batch& batch, const Marker* marker, const Answer& answer);
    void end_finishing_all(const Batch& batch);
    void fail_all(const Error& error) noexcept;
    void poll(DriverEvent& event) noexcept;
    bool wait_natively(DriverEvent& event) noexcept;
    bool ask(DriverEvent& event, std::chrono::steady_clock::time_point until) noexcept;
    void watch(DriverEvent& event) noexcept;
    void serve_watched();
    bool watch_some(std::vector<Ref<DriverEvent>>& watched);
    static void notified(void* context);

    std::unique_ptr<Stream> stream_;
    const bool late_markers_;
    const double small_work_ns_;

    // Under the scheduler's lock:
    std::uint64_t submitted_ = 0;                 // the youngest native submission
    std::deque<Ref<DriverEvent>> in_flight_;      // at the driver, by sequence
    std::deque<Ref<Marker>> markers_;             // in order: not known to be complete
    int unmarked_ = 0;                            // submissions after the last marker
    double behind_unmarked_ns_ = 0;               // what those after the first of them cost
    std::deque<Ref<ScheduledEvent>> host_tasks_;  // out of order: they are ready
    std::condition_variable task_wake_;
    bool tasker_started_ = false;

    std::mutex watch_mutex_;  // taken after the scheduler's, never before it
    std::condition_variable watch_wake_;
    std::vector<Ref<DriverEvent>> watched_;
    std::vector<Ref<DriverEvent>> notified_;  // out of order: the driver says that they are complete
    std::uint64_t watch_news_ = 0;
    bool watcher_started_ = false, watch_closed_ = false;
};

/// A queue on a Stream. Back ends make it as it is.
class DriverQueue : public ScheduledQueue {
public:
    DriverQueue(Device* device, QueueOrder order, bool profiling, std::unique_ptr<Stream> stream);

    Event launch(const Launch& launch, std::span<const Event> depends) override;
    Event host_task(std::function<void()> f, std::span<const BufferUse> uses, Label label, double cost_ns,
                    std::span<const Event> depends) override;
    Event native_task(NativeCode code, std::span<const BufferUse> uses, Label label, double cost_ns,
                      std::span<const Event> depends) override;
    Event copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
               std::span<const Event> depends) override;
    Event copy_strided(Buffer* to, Buffer* from, const StridedCopy& region, std::span<const Event> depends) override;
    Event prefetch(Buffer* buffer, std::size_t offset, std::size_t bytes, std::span<const Event> depends) override;
    void write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes) override;
    void read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) override;
    void fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) override;
    Event fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
               std::span<const Event> depends) override;
    Event barrier(std::span<const Event> depends) override;
    void wait() override;
    void* native_queue() const noexcept override { return stream().native_queue(); }

    /// A library's work on the native queue: what `call` submits uses `uses`, as a launch does.
    Event submit_native(NativeCall::Owned call, std::span<const BufferUse> uses, Label label, std::span<const Event> depends = {});

    DriverCore& core() noexcept { return static_cast<DriverCore&>(*scheduler_); }
    const Stream& stream() const noexcept { return static_cast<const DriverCore&>(*scheduler_).stream(); }

private:
    /// `now` calls the stream at once, what `keep` gives does so later.
    template <class Now, class Keep>
    Event submit_call(std::optional<Activity> activity, Amount amount, Request&& request, std::span<const BufferUse> uses,
                      std::span<const Event> depends, Now now, Keep keep, bool by_worker = false);
    /// A copy, by a closure of plain values that serves at once and, copied, later; what is deferred keeps its buffers. `may_block`: its
    /// caller must not be the user's thread.
    template <class Call>
    Event submit_copy(const BufferUse& to, const BufferUse& from, std::size_t bytes, std::span<const Event> depends, bool may_block,
                      Call call);
    Event submit_marker(Request&& request) override;
    bool writes_beside() const noexcept override { return stream().writes_beside(); }
    /// Blocks until a native call may use the view: raises failures of what it reads. Gives those events that the call comes after by
    /// order alone, whose failures are still to be asked for. `writing`: all of the view, so that no failure matters.
    std::vector<Event> settle(Buffer* buffer, const View& view, bool writing);
};

/// Completes what the driver says is complete on all queues of a device, without blocking.
void sweep_driver_queues(const Device* device);

/// A driver has been loaded: children of this process cannot use it. Back ends call it before their first call of a driver.
void driver_in_use();
/// Throws Device in a child of a process that had a driver in use: "<op_name>: … cannot be used after fork() …".
void check_not_forked(std::string_view op_name, const Device* device);
/// While it lives, this thread may be in a driver's compiler, which must not outlive exit(): finish_driver_work waits for it, and from then
/// on only the thread that ends the process may have another. The constructor throws Device for others, and as check_not_forked.
class Compiling {
public:
    Compiling(std::string_view op_name, const Device* device);
    ~Compiling();
    Compiling(const Compiling&) = delete;
};
/// True where no driver may be called any more, not even to give something back: in a forked child, and at the end of exit().
bool driver_gone() noexcept;

/// Hands a library's own submissions over to a queue whose back end has native streams: `call` runs once, perhaps later, on any thread.
Event call_library(Queue* queue, Stream::LibraryCall call, std::span<const BufferUse> uses, Label label);

}  // namespace pardo::device
