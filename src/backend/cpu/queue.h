// src/backend/cpu/queue.h: the queues of a CPU device: small work at once on the caller, the rest by a worker or the thread that waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <span>

#include "backend/cpu/program.h"
#include "backend/cpu/threads/threads.h"
#include "base/fork.h"
#include "device/profile.h"

namespace pardo::cpu {

class QueueCore;

/// Below this, work on an idle queue runs on the calling thread before the submission returns, in parallel from serial_limit_ns on:
/// handing it to a worker would cost as much again.
inline constexpr double at_once_limit_ns = 20'000;

/// What a submission does when its turn comes.
struct Work {
    Ref<CpuProgram> program;  // a launch; else `function`
    SmallVector<std::int64_t, 4> extents;
    SmallVector<std::uint64_t, 12> args;
    std::function<void()> function;  // may be empty
    std::uint64_t covered = 0;       // out of order, a barrier: as of Ends
    std::function<void()> check;     // as of device::Launch
    double cost_ns = 0;
    bool guessed = false;    // as of device::Launch
    std::int64_t chunk = 0;  // as of device::Launch
    bool timed = false;      // the queue profiles, or a profile is open
    device::Label label;
    std::vector<Event> needs;               // data from here: their failure is this work's failure too
    std::vector<Event> after;               // only an order to keep
    std::vector<Ref<device::Buffer>> kept;  // memory of other devices
};

/// A submission that has not run at once.
class CpuEvent final : public device::EventState {
public:
    CpuEvent(device::Queue* queue, QueueCore* core, Work work);
    ~CpuEvent() override;
    void wait_quietly() override;
    bool done_within(std::chrono::milliseconds limit) override;
    void abandon() override;

private:
    friend class QueueCore;
    Ref<QueueCore> core_;
    Work work_;
    const std::uint64_t covered_;               // of a barrier: as of Ends
    std::uint64_t number_ = 0;                  // out of order: by submission, from 1
    bool ready() const;                         // nothing that it waits for is unfinished
    const bool may_last_;                       // waits for other queues, or it is not known how long it runs
    const void* const submitter_;               // the thread
    std::atomic<std::uint8_t> stop_{0};         // the kernel looks at it: 1 ends it
    bool taken_ = false;                        // under the lock of the core: a thread runs it
    std::atomic<int> missing_{0};               // out of order: events that have to complete first
    std::list<Ref<CpuEvent>>::iterator place_;  // out of order: in unfinished_
};

/// The part of a queue that its events and its worker share; it outlives the queue while they need it.
///
/// In order: tasks_ is first in, first out, and one thread at a time drains it. Out of order: tasks_ holds what is ready; any number of
/// threads take from it. A thread that blocks on an event while it holds a task only waits for work that was submitted before that task, so
/// no thread waits in a circle.
class QueueCore : public RefCounted<QueueCore> {
public:
    QueueCore(device::Queue* queue, ThreadPool* pool, QueueOrder order);
    ~QueueCore();

    /// Nothing submitted is unfinished.
    bool idle() const noexcept { return outstanding_.load(std::memory_order_acquire) == 0; }
    Event submit(Work work);
    /// Runs one task on the calling thread, to bring `target` nearer: false when there is none to take, its estimated cost is not below the
    /// bound, or the target is taken already. So a lender never runs what was submitted after its target, which may wait for what the
    /// lender holds.
    bool lend(const CpuEvent& target, double cost_below_ns);
    /// Stops what runs for `target`, if the calling thread submitted it.
    void abandon(CpuEvent& target);
    /// Events of all unfinished work; the last one only on an in-order queue.
    std::vector<Event> unfinished();
    /// Out of order.
    device::Ends unfinished_ends();
    void wait_quietly();
    /// As wait_quietly, until an interruption, which it raises.
    void wait_done();
    /// As wait_quietly, but for what waits for the user's code.
    void wait_for_ungated();
    /// Some unfinished work waits for the user's code.
    bool waits_for_host();
    /// As of device::Queue.
    bool may_last();
    /// Out of order: all that is submitted from now on waits for `event`.
    void order_after(const Event& event);
    Event fence();
    /// The queue is gone and idle: the worker ends.
    void close();

    // Around fork(), and at exit.
    void lock_idle_for_fork();
    void unlock_after_fork() { mutex_.unlock(); }
    void revive_in_child();
    void lose_in_child();
    /// Ends what runs, and has what waits end without running.
    void stop_for_exit();
    /// After that of all queues: what runs here may have waited for theirs.
    void finish_for_exit();

private:
    using Lock = std::unique_lock<std::mutex>;
    bool run_one(Lock& lock, double cost_below_ns, bool lent);
    Ref<CpuEvent> youngest_without_host_signal();  // null when there is none; with the lock held
    void execute(CpuEvent& task);
    void finish(CpuEvent& task, std::shared_ptr<device::Failure> inherited, const std::optional<Error>& raised, bool stopped);
    void make_ready(CpuEvent* task);
    /// What a submitter that is too far ahead waits for; null for others. With the lock held.
    Ref<CpuEvent> throttle() const;
    void wake_worker();  // with the lock held
    void serve();

    device::Queue* queue_;
    ThreadPool* pool_;
    const QueueOrder order_;
    std::atomic<std::int64_t> outstanding_{0};
    std::mutex mutex_;
    std::condition_variable wake_;  // the worker's
    std::deque<Ref<CpuEvent>> tasks_;
    std::list<Ref<CpuEvent>> unfinished_;  // out of order
    std::list<Ref<CpuEvent>> finishing_;   // out of order: have run, but are not complete for those who wait
    Ref<CpuEvent> last_;                   // in order: the youngest
    Ref<CpuEvent> current_;                // in order: the one that is run
    Event fence_;                          // out of order: what all new work waits for
    std::uint64_t numbered_ = 0;           // out of order: the youngest submission
    Event last_barrier_;                   // out of order: the one that covers most, and how much
    std::uint64_t covered_ = 0;
    int running_ = 0;        // tasks taken and not finished
    double waiting_ns_ = 0;  // estimated cost of tasks not taken yet
    bool worker_started_ = false, worker_asleep_ = false;
    bool closed_ = false;
    std::atomic<bool> stopped_{false};  // the process is exiting: tasks end without running
};

/// See device::Queue.
class CpuQueue final : public device::Queue {
public:
    CpuQueue(device::Device* device, ThreadPool* pool, QueueOrder order, bool profiling);
    ~CpuQueue() override;

    Event launch(const device::Launch& launch, std::span<const Event> depends) override;
    Event host_task(std::function<void()> f, std::span<const device::BufferUse> uses, device::Label label, double cost_ns,
                    std::span<const Event> depends) override;
    Event copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
               std::span<const Event> depends) override;
    void write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes) override;
    void read(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes) override;
    void fetch(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes) override;
    Event fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
               std::span<const Event> depends) override;
    Event barrier(std::span<const Event> depends) override;
    void order_after(const Event& event) override;
    Event fence() override { return core_->fence(); }
    Event copy_strided(device::Buffer* to, device::Buffer* from, const device::StridedCopy& region,
                       std::span<const Event> depends) override;
    bool waits_for_host() override { return core_->waits_for_host(); }
    bool may_last() override { return core_->may_last(); }
    void wait() override;
    void wait_quietly() override;

private:
    bool may_run_now(double cost_ns, std::span<const device::BufferUse> uses, std::span<const Event> depends);
    /// Runs `f` at once or hands it over; the common end of host_task, copy and fill.
    template <class F>
    Event run(Activity activity, F&& f, std::span<const device::BufferUse> uses, device::Label&& label, double cost_ns,
              std::span<const Event> depends);
    /// `submission` is for open profiles; null for what they leave out.
    Event submit(Work work, std::span<const device::BufferUse> uses, std::span<const Event> depends, const device::Submission* submission);
    void join_writes(device::Buffer* buffer);
    /// On the calling thread; `describe` makes a Submission.
    template <class F, class Describe> Event run_now(F&& f, std::span<const device::BufferUse> uses, Describe&& describe);
    template <class F> Event run_profiled(F&& f, std::span<const device::BufferUse> uses);

    ThreadPool* pool_;
    Ref<QueueCore> core_;
};

/// Blocks until all CPU queues are empty; does nothing inside a task.
void wait_for_all_queues();
/// Installs what makes queues survive fork() and exit(), and then `device`: its threads and its allocator.
void install_process_handlers(ForkHandler device);

}  // namespace pardo::cpu
