// src/backend/cpu/queue.h: the queues of a CPU device: small work at once on the caller, the rest by a worker or the thread that waits.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>

#include "backend/cpu/program.h"
#include "backend/cpu/threads/threads.h"
#include "device/queue/scheduled_queue.h"

namespace pardo::cpu {

class QueueCore;

/// Below this, work on an idle queue runs on the calling thread before the submission returns, in parallel from serial_limit_ns on:
/// handing it to a worker would cost as much again.
inline constexpr double at_once_limit_ns = 20'000;
/// The same where the caller waits for the work at once: on its thread that takes as long, without the hand-over.
inline constexpr double waited_limit_ns = 1e6;

/// What a submission does when its turn comes.
struct Work {
    Ref<CpuProgram> program;  // a launch whose program is there; without one in the request either, `function`
    SmallVector<std::int64_t, 4> extents;
    SmallVector<std::uint64_t, 12> args;
    std::function<void()> function;  // may be empty
    bool guessed = false;            // as of device::Launch
    std::int64_t chunk = 0;          // as of device::Launch
};

/// A submission that has not run at once.
class CpuEvent final : public device::ScheduledEvent {
public:
    CpuEvent(device::Queue* queue, QueueCore* core, device::Request&& request, Work&& work);
    ~CpuEvent() override;
    void wait_quietly() override;
    bool done_within(std::chrono::milliseconds limit) override;
    void abandon() override;

private:
    friend class QueueCore;
    Ref<QueueCore> core_;
    Work work_;
    bool ready() const;                  // nothing that it waits for is unfinished
    const void* const submitter_;        // the thread
    std::atomic<std::uint8_t> stop_{0};  // the kernel looks at it: 1 ends it
};

/// A Scheduler whose work runs on threads of this process: a worker's, or one that waits.
///
/// In order one thread at a time takes from tasks_, out of order any number does. A thread that blocks on an event while it holds a task
/// only waits for work that was submitted before that task, so no thread waits in a circle.
class QueueCore final : public device::Scheduler {
public:
    QueueCore(device::Queue* queue, ThreadPool* pool);
    ~QueueCore() override;

    bool idle() noexcept override { return outstanding_.load(std::memory_order_acquire) == 0; }
    Event submit(device::Request&& request, Work&& work);
    /// Runs one task on the calling thread, to bring `target` nearer: false when there is none to take, its estimated cost is not below the
    /// bound, or the target is taken already. So a lender never runs what was submitted after its target, which may wait for what the
    /// lender holds.
    bool lend(const CpuEvent& target, double cost_below_ns);
    /// Stops what runs for `target`, if the calling thread submitted it.
    void abandon(CpuEvent& target);

    void lock_for_fork() override;
    void unlock_after_fork() override { mutex_.unlock(); }
    void lose_in_child() override;
    void stop_for_exit() override;

private:
    static CpuEvent& own(device::ScheduledEvent& event) { return static_cast<CpuEvent&>(event); }
    bool run_one(Lock& lock, double cost_below_ns, bool lent);
    void execute(CpuEvent& task);
    void became_ready(device::ScheduledEvent& task) override;
    /// What a submitter that is too far ahead waits for; null for others. With the lock held.
    Ref<device::ScheduledEvent> throttle();
    void wake_worker();  // with the lock held
    void serve();

    ThreadPool* pool_;
    int running_ = 0;        // tasks taken and not finished
    double waiting_ns_ = 0;  // estimated cost of tasks not taken yet
    bool worker_asleep_ = false;
};

/// See device::Queue.
class CpuQueue final : public device::ScheduledQueue {
public:
    CpuQueue(device::Device* device, ThreadPool* pool, QueueOrder order, bool profiling);

    Event launch(const device::Launch& launch, std::span<const Event> depends) override;
    Event host_task(std::function<void()> f, std::span<const device::BufferUse> uses, device::Label label, double cost_ns,
                    std::span<const Event> depends) override;
    Event copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
               std::span<const Event> depends) override;
    void write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes) override;
    void fetch(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes) override;
    Event fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
               std::span<const Event> depends) override;
    Event copy_strided(device::Buffer* to, device::Buffer* from, const device::StridedCopy& region,
                       std::span<const Event> depends) override;

private:
    bool may_run_now(double cost_ns, double limit_ns, std::span<const device::BufferUse> uses, std::span<const Event> depends);
    /// Runs `f` at once or hands it over; the common end of host_task, copy and fill.
    template <class F>
    Event run(Activity activity, F&& f, std::span<const device::BufferUse> uses, device::Label&& label, double cost_ns,
              std::span<const Event> depends);
    Event submit_work(Activity activity, device::Amount amount, device::Request&& request, Work&& work,
                      std::span<const device::BufferUse> uses, std::span<const Event> depends);
    bool writes_beside() const noexcept override { return true; }
    Event submit_marker(device::Request&& request) override { return core().submit(std::move(request), {}); }
    /// On the calling thread; `describe` makes a Submission. Never throws what `f` does: the event has failed then, as if it had run later.
    template <class F, class Describe> Event run_now(F&& f, std::span<const device::BufferUse> uses, Describe&& describe);
    /// The event of work that has run: timed, or failed.
    Event ended(std::int64_t start, std::optional<Error>&& raised, const device::Label& label, std::span<const device::BufferUse> uses);

    QueueCore& core() noexcept { return static_cast<QueueCore&>(*scheduler_); }
    bool shares_memory(const device::Buffer* buffer) const noexcept;

    ThreadPool* pool_;
};

}  // namespace pardo::cpu
