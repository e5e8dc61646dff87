// src/backend/cpu/queue_core.cpp: which thread runs which submitted task, and when.
#include <algorithm>
#include <limits>
#include <optional>
#include <thread>

#include <pardo/error.h>

#include "backend/cpu/launch.h"
#include "backend/cpu/queue.h"
#include "base/affinity.h"
#include "base/counters.h"
#include "base/env.h"

namespace pardo::cpu {
namespace {

/// Tells the calling thread from others that are alive.
const void* this_thread() {
    static thread_local const char place = 0;
    return &place;
}

constexpr double any_cost = std::numeric_limits<double>::infinity();
/// A submitter that runs this many tasks, or some with this much work, ahead helps until half of it is done: fork() has to wait for all.
constexpr std::size_t most_waiting = 4096, some_waiting = 4;
constexpr double most_waiting_ns = 1e9;

}  // namespace

CpuEvent::CpuEvent(device::Queue* queue, QueueCore* core, device::Request&& request, Work&& work)
    : ScheduledEvent(queue, false, std::move(request)), core_(core), work_(std::move(work)), submitter_(this_thread()) {
    const auto of_others = [&](const Event& e) { return !device::known_done(e) && e.state()->queue() != queue; };
    may_last_ = work_.guessed || std::any_of(request_.needs.begin(), request_.needs.end(), of_others) ||
                std::any_of(request_.after.begin(), request_.after.end(), of_others);
}
CpuEvent::~CpuEvent() = default;

bool CpuEvent::ready() const {
    const auto done = [](const Event& e) { return device::known_done(e); };
    return std::all_of(request_.needs.begin(), request_.needs.end(), done) &&
           std::all_of(request_.after.begin(), request_.after.end(), done);
}

void CpuEvent::wait_quietly() {
    while (!done() && core_->lend(*this, any_cost)) {
    }
    EventState::wait_quietly();
}

void CpuEvent::abandon() { core_->abandon(*this); }

bool CpuEvent::done_within(std::chrono::milliseconds limit) {
    if (done()) return true;
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0 || !core_->lend(*this, static_cast<double>(left.count()))) break;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    return EventState::done_within(std::max(left, std::chrono::milliseconds(0)));
}

QueueCore::QueueCore(device::Queue* queue, ThreadPool* pool) : Scheduler(queue, device::Runner::Process), pool_(pool) {}

QueueCore::~QueueCore() = default;

Event QueueCore::submit(device::Request&& request, Work&& work) {
    add_fence(request);
    std::erase_if(request.needs, [](const Event& e) { return e.status() == EventStatus::Complete; });
    const Ref<CpuEvent> task(new CpuEvent(queue_, this, std::move(request), std::move(work)));
    const device::Request& its = task->request_;
    if (its.timed) task->queued_at = task->submitted_at = device::now_ns();
    task->inherit_host_signals(its.needs);
    task->inherit_host_signals(its.after);
    std::vector<Event> missing;
    if (!in_order_) {  // a thread that has taken the task may change its lists
        for (const auto* list : {&its.needs, &its.after}) {
            std::copy_if(list->begin(), list->end(), std::back_inserter(missing), [](const Event& e) { return !device::known_done(e); });
        }
    }
    Ref<device::ScheduledEvent> ahead_of;
    {
        std::lock_guard lock(mutex_);
        inherit_from_last(*task);
        ahead_of = throttle();
        enter(*task);
        waiting_ns_ += its.cost_ns;
        if (in_order_) {
            tasks_.push_back(task);
            if (running_ == 0) wake_worker();
        }
    }
    if (!in_order_) ready_after(task, missing);
    // The host signal may have to come from this very thread, which then must not block here.
    if (ahead_of && !device::inside_task() && !ahead_of->waits_for_host()) device::wait_without_locks(Event(ahead_of.get()));
    return Event(task.get());
}

Ref<device::ScheduledEvent> QueueCore::throttle() {
    const std::size_t count = in_order_ ? tasks_.size() : static_cast<std::size_t>(outstanding_);
    if (count < most_waiting && (waiting_ns_ <= most_waiting_ns || count < some_waiting)) return nullptr;
    if (!in_order_) return &unfinished_.front();
    std::size_t i = count - 1;
    const auto cost_ns = [&] { return own(*tasks_[i]).request_.cost_ns; };
    for (double left_ns = cost_ns(); i > count / 2 && left_ns <= most_waiting_ns / 2; left_ns += cost_ns()) --i;
    return tasks_[i];
}

void QueueCore::became_ready(device::ScheduledEvent& task) {
    std::lock_guard lock(mutex_);
    tasks_.emplace_back(&task);
    wake_worker();
}

void QueueCore::wake_worker() {
    if (!worker_started_) {
        try {
            start(worker_started_, [this] { serve(); });
        } catch (const Error& e) {  // the thread that waits does the work
            counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
            warn_once("cpu queue worker", e.message() + "; waiting threads run it");
        }
    } else if (worker_asleep_) {
        worker_asleep_ = false;
        wake_.notify_one();
    }
}

void QueueCore::serve() {
    const Bound bound(pool_->cores());  // before the lock; holds until the thread ends
    Lock lock(mutex_);
    while (!closed_) {
        if (run_one(lock, any_cost, false)) continue;
        worker_asleep_ = true;
        wake_.wait(lock, [this] { return closed_ || !worker_asleep_; });
        worker_asleep_ = false;
    }
}

bool QueueCore::lend(const CpuEvent& target, double cost_below_ns) {
    Lock lock(mutex_);
    if (target.taken_ || !run_one(lock, cost_below_ns, true)) return false;
    // A lender may leave now; what is left is the worker's.
    if (!tasks_.empty() && running_ == 0) wake_worker();
    return true;
}

bool QueueCore::run_one(Lock& lock, double cost_below_ns, bool lent) {
    if (tasks_.empty() || (in_order_ && running_ > 0)) return false;
    // Without a worker the waiting threads do it all. A lender with a bound takes nothing of unknown length.
    const CpuEvent& next = own(*tasks_.front());
    const bool unknown = next.work_.guessed || next.program_;
    if (worker_started_ && (next.request_.cost_ns >= cost_below_ns || (unknown && cost_below_ns < any_cost))) return false;
    // What waits for other queues or for the user's code is the worker's: a lender may have a limit of its own.
    if (lent && worker_started_ && !next.ready()) return false;
    const Ref<device::ScheduledEvent> taken = std::move(tasks_.front());
    CpuEvent& task = own(*taken);
    tasks_.pop_front();
    task.taken_ = true;
    waiting_ns_ -= task.request_.cost_ns;
    ++running_;
    if (in_order_) current_ = taken;
    lock.unlock();
    execute(task);
    lock.lock();
    --running_;
    if (in_order_) current_ = nullptr;
    end_finishing(task);
    return true;
}

void QueueCore::execute(CpuEvent& task) {
    const device::Request& request = task.request_;
    // In order, other queues may still be busy with what this needs; out of order, everything is complete by now.
    for (const auto* list : {&request.needs, &request.after}) {
        for (const Event& e : *list) {
            if (!e.done()) e.state()->wait_quietly();
        }
    }
    const Bound bound(pool_->cores());
    const Work& work = task.work_;
    if (task.program_ && !stopped_.load(std::memory_order_acquire)) task.program_->compile();  // before the time that is the kernel's
    bool stopped = false;
    device::Outcome outcome = device::run_task(task, inherited_by(request.needs), request.timed, [&] {
        const auto* program = static_cast<const CpuProgram*>(task.program_ ? task.program_->get() : work.program.get());
        if (!program) return work.function ? work.function() : void();
        run_program(*pool_, *program, work.extents, work.args.data(), request.cost_ns, work.chunk, &task.stop_);
        stopped = task.stop_.load(std::memory_order_acquire) != 0;
        if (stopped) return;
        if (request.check) request.check();
    });
    outcome.stopped = stopped;
    task.work_ = {};
    finish(task, std::move(outcome));
}

void QueueCore::abandon(CpuEvent& target) {
    std::vector<Event> ahead;
    {
        std::lock_guard lock(mutex_);
        CpuEvent* const runs = in_order_ ? static_cast<CpuEvent*>(current_.get()) : target.taken_ ? &target : nullptr;
        const bool running = runs && runs->known_status() == EventStatus::Running;
        if (running && runs->submitter_ == this_thread()) runs->stop_.store(1, std::memory_order_release);
        if (running || (!runs && (target.taken_ || in_order_))) return;
        const device::Request& waiting = (runs ? runs : &target)->request_;
        ahead = waiting.needs;
        ahead.insert(ahead.end(), waiting.after.begin(), waiting.after.end());
    }
    for (const Event& e : ahead) {
        if (!device::known_done(e)) e.state()->abandon();
    }
}

// What waits for the user's code stays where it is: the code runs in the parent, and there it goes on.
void QueueCore::lock_for_fork() {
    if (device::inside_task()) return mutex_.lock();
    for (;;) {
        wait_for_ungated();
        mutex_.lock();
        const bool rests = running_ == 0 || (current_ && current_->waits_for_host());
        if (rests && (in_order_ || tasks_.empty()) && ungated().empty()) return;
        mutex_.unlock();
        std::this_thread::yield();
    }
}

void QueueCore::lose_in_child() {
    lose(device::Failure::make(
        Error(ErrorCode::Device, "not run: it was submitted before fork() and waited for code of the parent process"), true));
    worker_asleep_ = false;
    running_ = 0;
    waiting_ns_ = 0;
}

/// What runs ends, too.
void QueueCore::stop_for_exit() {
    stopped_.store(true, std::memory_order_release);
    std::lock_guard lock(mutex_);
    for (device::ScheduledEvent& task : unfinished_) {
        if (own(task).taken_) own(task).stop_.store(1, std::memory_order_release);
    }
}

}  // namespace pardo::cpu
