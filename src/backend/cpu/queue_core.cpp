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

/// All cores of live queues, for fork() and exit().
struct Cores {
    std::mutex mutex;
    std::vector<QueueCore*> list;
};
Cores& cores() {
    static auto* instance = new Cores;  // never destroyed: workers may outlive main
    return *instance;
}

/// Of tasks that were waiting when the process ended; it need not be acknowledged.
std::shared_ptr<device::Failure> exit_failure() {
    auto failure = std::make_shared<device::Failure>(Error(ErrorCode::Device, "not run: the process is exiting"));
    failure->acknowledged = true;
    return failure;
}

bool may_last(const device::Queue* queue, const Work& work) {
    const auto of_others = [&](const Event& e) { return !device::known_done(e) && e.state()->queue() != queue; };
    return (work.program && work.guessed) || std::any_of(work.needs.begin(), work.needs.end(), of_others) ||
           std::any_of(work.after.begin(), work.after.end(), of_others);
}

}  // namespace

void wait_for_all_queues() {
    if (device::inside_task()) return;
    std::vector<Ref<QueueCore>> list;
    {
        std::lock_guard lock(cores().mutex);
        for (QueueCore* c : cores().list) list.emplace_back(c);
    }
    for (const auto& c : list) c->wait_for_ungated();
}

CpuEvent::CpuEvent(device::Queue* queue, QueueCore* core, Work work)
    : EventState(queue),
      core_(core),
      work_(std::move(work)),
      covered_(work_.covered),
      may_last_(may_last(queue, work_)),
      submitter_(this_thread()) {}
CpuEvent::~CpuEvent() = default;

bool CpuEvent::ready() const {
    const auto done = [](const Event& e) { return device::known_done(e); };
    return std::all_of(work_.needs.begin(), work_.needs.end(), done) && std::all_of(work_.after.begin(), work_.after.end(), done);
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

QueueCore::QueueCore(device::Queue* queue, ThreadPool* pool, QueueOrder order) : queue_(queue), pool_(pool), order_(order) {
    std::lock_guard lock(cores().mutex);
    cores().list.push_back(this);
}

QueueCore::~QueueCore() = default;

void QueueCore::close() {
    {
        std::lock_guard lock(cores().mutex);
        std::erase(cores().list, this);
    }
    Event last_barrier, fence;  // released after the lock; they hold the core
    std::lock_guard lock(mutex_);
    closed_ = true;
    last_ = nullptr;
    std::swap(last_barrier, last_barrier_);
    std::swap(fence, fence_);
    wake_.notify_all();
}

Event QueueCore::submit(Work work) {
    Ref<CpuEvent> task(new CpuEvent(queue_, this, std::move(work)));
    if (task->work_.timed) task->queued_at = task->submitted_at = device::now_ns();
    Ref<CpuEvent> ahead_of;
    if (order_ == QueueOrder::OutOfOrder) {
        std::lock_guard lock(mutex_);
        if (!fence_.done()) task->work_.after.push_back(fence_);
    }
    task->inherit_host_signals(task->work_.needs);
    task->inherit_host_signals(task->work_.after);
    if (order_ == QueueOrder::InOrder) {
        std::lock_guard lock(mutex_);
        task->inherit_host_signals_of(last_.get());
        ahead_of = throttle();
        tasks_.push_back(task);
        waiting_ns_ += task->work_.cost_ns;
        outstanding_.fetch_add(1, std::memory_order_relaxed);
        last_ = task;
        if (running_ == 0) wake_worker();
    } else {
        {
            std::lock_guard lock(mutex_);
            ahead_of = throttle();
            task->place_ = unfinished_.insert(unfinished_.end(), task);
            task->number_ = ++numbered_;
            if (task->covered_ > covered_) {
                last_barrier_ = Event(task.get());
                covered_ = task->covered_;
            }
            waiting_ns_ += task->work_.cost_ns;
            outstanding_.fetch_add(1, std::memory_order_relaxed);
        }
        // One count is held back until all are subscribed, so that the task becomes ready exactly once. The lists must not change
        // meanwhile.
        const std::vector<Event> needs = task->work_.needs, after = task->work_.after;
        task->missing_.store(static_cast<int>(needs.size() + after.size()) + 1, std::memory_order_relaxed);
        const auto count_down = [this, task] {
            if (task->missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(task.get());
        };
        for (const auto* list : {&needs, &after}) {
            for (const Event& e : *list) {
                if (e.state()) {
                    e.state()->subscribe(count_down);
                } else {
                    count_down();
                }
            }
        }
        count_down();
    }
    // The host signal may have to come from this very thread, which then must not block here.
    if (ahead_of && !device::inside_task() && !ahead_of->waits_for_host()) device::wait_without_locks(Event(ahead_of.get()));
    return Event(task.get());
}

Ref<CpuEvent> QueueCore::throttle() const {
    const std::size_t count = order_ == QueueOrder::InOrder ? tasks_.size() : unfinished_.size();
    if (count < most_waiting && (waiting_ns_ <= most_waiting_ns || count < some_waiting)) return nullptr;
    if (order_ == QueueOrder::OutOfOrder) return unfinished_.front();
    std::size_t i = count - 1;
    for (double left_ns = tasks_[i]->work_.cost_ns; i > count / 2 && left_ns <= most_waiting_ns / 2; left_ns += tasks_[i]->work_.cost_ns)
        --i;
    return tasks_[i];
}

void QueueCore::make_ready(CpuEvent* task) {
    std::lock_guard lock(mutex_);
    tasks_.emplace_back(task);
    wake_worker();
}

void QueueCore::wake_worker() {
    if (!worker_started_) {
        retain();  // the worker's own reference
        try {
            const Bound inherit_nothing(any_core);
            std::thread([this] { serve(); }).detach();
            worker_started_ = true;
        } catch (const std::system_error& e) {
            release();  // the thread that waits does the work
            counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
            warn_once("cpu queue worker", std::string("no thread for a queue's work, waiting threads run it: ") + e.what());
        }
    } else if (worker_asleep_) {
        worker_asleep_ = false;
        wake_.notify_one();
    }
}

void QueueCore::serve() {
    {
        const Bound bound(pool_->cores());  // before the lock: for good
        Lock lock(mutex_);
        while (!closed_) {
            if (run_one(lock, any_cost, false)) continue;
            worker_asleep_ = true;
            wake_.wait(lock, [this] { return closed_ || !worker_asleep_; });
            worker_asleep_ = false;
        }
    }
    release();
}

bool QueueCore::lend(const CpuEvent& target, double cost_below_ns) {
    Lock lock(mutex_);
    if (target.taken_ || !run_one(lock, cost_below_ns, true)) return false;
    // A lender may leave now; what is left is the worker's.
    if (!tasks_.empty() && running_ == 0) wake_worker();
    return true;
}

bool QueueCore::run_one(Lock& lock, double cost_below_ns, bool lent) {
    if (tasks_.empty() || (order_ == QueueOrder::InOrder && running_ > 0)) return false;
    // Without a worker the waiting threads do it all. A lender with a bound takes nothing of unknown length.
    const Work& next = tasks_.front()->work_;
    if (worker_started_ && (next.cost_ns >= cost_below_ns || (next.guessed && cost_below_ns < any_cost))) return false;
    // What waits for other queues or for the user's code is the worker's: a lender may have a limit of its own.
    if (lent && worker_started_ && !tasks_.front()->ready()) return false;
    const Ref<CpuEvent> task = std::move(tasks_.front());
    tasks_.pop_front();
    task->taken_ = true;
    waiting_ns_ -= task->work_.cost_ns;
    ++running_;
    if (order_ == QueueOrder::InOrder) current_ = task;
    lock.unlock();
    execute(*task);
    lock.lock();
    --running_;
    if (order_ == QueueOrder::InOrder) current_ = nullptr;
    return true;
}

void QueueCore::execute(CpuEvent& task) {
    Work& work = task.work_;
    // In order, other queues may still be busy with what this needs; out of order, everything is complete by now.
    for (const auto* list : {&work.needs, &work.after}) {
        for (const Event& e : *list) {
            if (!e.done()) e.state()->wait_quietly();
        }
    }
    const Bound bound(pool_->cores());
    task.set_running();
    std::shared_ptr<device::Failure> inherited = stopped_.load(std::memory_order_acquire) ? exit_failure() : nullptr;
    for (const Event& e : work.needs) {
        if (inherited) break;
        inherited = device::failure_of(e);
    }
    std::optional<Error> raised;
    bool stopped = false;
    if (work.timed) task.started_at = device::now_ns();
    if (!inherited) {
        const device::TaskScope scope;
        try {
            if (work.program) {
                run_program(*pool_, *work.program, work.extents, work.args.data(), work.cost_ns, work.chunk, &task.stop_);
                stopped = task.stop_.load(std::memory_order_acquire) != 0;
                if (!stopped) task.reach = device::Reach::Everything;
                if (!stopped && work.check) work.check();
            } else if (work.function) {
                work.function();
            }
        } catch (...) {
            raised = device::current_error();
        }
    }
    if (work.timed) task.ended_at = device::now_ns();
    finish(task, std::move(inherited), raised, stopped);
}

void QueueCore::finish(CpuEvent& task, std::shared_ptr<device::Failure> inherited, const std::optional<Error>& raised, bool stopped) {
    // What the task kept alive goes first: after a wait for the event its memory is given back.
    const device::Label label = std::move(task.work_.label);
    {
        Work over;
        std::lock_guard lock(mutex_);  // abandon() looks at it
        std::swap(over, task.work_);
    }
    const bool listed = order_ == QueueOrder::OutOfOrder;
    if (listed) {
        std::lock_guard lock(mutex_);
        finishing_.splice(finishing_.end(), unfinished_, task.place_);
    }
    outstanding_.fetch_sub(1, std::memory_order_release);
    if (raised) {
        task.set_failed(*raised, label);
    } else if (stopped) {
        task.set_stopped(label);
    } else if (inherited) {
        task.set_failed(std::move(inherited));
    } else {
        task.set_complete();
    }
    if (!listed) return;
    std::list<Ref<CpuEvent>> over;  // released after the lock
    std::lock_guard lock(mutex_);
    over.splice(over.end(), finishing_, task.place_);
}

std::vector<Event> QueueCore::unfinished() {
    std::lock_guard lock(mutex_);
    std::vector<Event> events;
    if (order_ == QueueOrder::InOrder) {
        if (last_ && !last_->done()) events.emplace_back(last_.get());
    } else {
        for (const auto* list : {&finishing_, &unfinished_}) {
            for (const auto& task : *list) {
                if (!task->known_done()) events.emplace_back(task.get());
            }
        }
    }
    return events;
}

device::Ends QueueCore::unfinished_ends() {
    std::lock_guard lock(mutex_);
    device::Ends ends{{}, numbered_};
    if (!device::known_done(last_barrier_)) ends.events.push_back(last_barrier_);
    for (const auto& task : finishing_) ends.events.emplace_back(task.get());
    for (auto task = unfinished_.rbegin(); task != unfinished_.rend() && (*task)->number_ > covered_; ++task)
        ends.events.emplace_back(task->get());
    return ends;
}

void QueueCore::wait_quietly() {
    for (;;) {
        const std::vector<Event> events = unfinished();
        if (events.empty()) return;
        for (const Event& e : events) e.state()->wait_quietly();
        if (order_ == QueueOrder::InOrder) return;
    }
}

void QueueCore::wait_done() {
    for (;;) {
        const std::vector<Event> events = unfinished();
        if (events.empty()) return;
        for (const Event& e : events) e.state()->wait_done();
        if (order_ == QueueOrder::InOrder) return;
    }
}

void QueueCore::abandon(CpuEvent& target) {
    std::vector<Event> ahead;
    {
        std::lock_guard lock(mutex_);
        CpuEvent* const runs = order_ == QueueOrder::InOrder ? current_.get() : target.taken_ ? &target : nullptr;
        const bool running = runs && runs->known_status() == EventStatus::Running;
        if (running && runs->submitter_ == this_thread()) runs->stop_.store(1, std::memory_order_release);
        if (running || (!runs && (target.taken_ || order_ == QueueOrder::InOrder))) return;
        const Work& waiting = (runs ? runs : &target)->work_;
        ahead = waiting.needs;
        ahead.insert(ahead.end(), waiting.after.begin(), waiting.after.end());
    }
    for (const Event& e : ahead) {
        if (!device::known_done(e)) e.state()->abandon();
    }
}

bool QueueCore::waits_for_host() {
    std::lock_guard lock(mutex_);
    if (order_ == QueueOrder::InOrder) return last_ && last_->waits_for_host();
    return std::any_of(unfinished_.begin(), unfinished_.end(), [](const Ref<CpuEvent>& task) { return task->waits_for_host(); });
}

bool QueueCore::may_last() {
    std::lock_guard lock(mutex_);
    const auto lasts = [](const Ref<CpuEvent>& task) { return task->may_last_ && !task->known_done(); };
    if (order_ == QueueOrder::InOrder) return (current_ && lasts(current_)) || std::any_of(tasks_.begin(), tasks_.end(), lasts);
    return std::any_of(unfinished_.begin(), unfinished_.end(), lasts);
}

void QueueCore::order_after(const Event& event) {
    std::lock_guard lock(mutex_);
    fence_ = event;
}

Event QueueCore::fence() {
    std::lock_guard lock(mutex_);
    return fence_;
}

Ref<CpuEvent> QueueCore::youngest_without_host_signal() {
    if (order_ == QueueOrder::InOrder) {
        for (auto task = tasks_.rbegin(); task != tasks_.rend(); ++task) {
            if (!(*task)->waits_for_host()) return *task;
        }
        return current_ && !current_->done() && !current_->waits_for_host() ? current_ : nullptr;
    }
    for (auto task = unfinished_.rbegin(); task != unfinished_.rend(); ++task) {
        if (!(*task)->waits_for_host()) return *task;
    }
    return nullptr;
}

void QueueCore::wait_for_ungated() {
    for (;;) {
        Ref<CpuEvent> task;
        {
            std::lock_guard lock(mutex_);
            task = youngest_without_host_signal();
        }
        if (!task) return;
        task->wait_quietly();
        if (order_ == QueueOrder::InOrder) return;
    }
}

// What waits for the user's code stays where it is: the code runs in the parent, and there it goes on.
void QueueCore::lock_idle_for_fork() {
    if (device::inside_task()) return mutex_.lock();
    for (;;) {
        wait_for_ungated();
        mutex_.lock();
        const bool rests =
            order_ == QueueOrder::InOrder ? running_ == 0 || (current_ && current_->waits_for_host()) : running_ == 0 && tasks_.empty();
        if (rests && !youngest_without_host_signal()) return;
        mutex_.unlock();
        std::this_thread::yield();
    }
}

void QueueCore::revive_in_child() {
    new (&wake_) std::condition_variable;  // the old one may count a waiter that does not exist here
    worker_started_ = worker_asleep_ = false;
    lose_in_child();
    mutex_.unlock();
}

/// Whom the child's copies of unfinished work belonged to is in the parent. They are lost, and never taken apart: that may need locks.
void QueueCore::lose_in_child() {
    struct Lost {
        std::deque<Ref<CpuEvent>> tasks;
        std::list<Ref<CpuEvent>> unfinished, finishing;
        Ref<CpuEvent> last, current;
        Event fence, barrier;
    };
    if (outstanding_ == 0 && running_ == 0) return;
    auto* lost = new Lost{std::move(tasks_), std::move(unfinished_), std::move(finishing_), last_, current_, fence_, last_barrier_};
    const auto failure = std::make_shared<device::Failure>(
        Error(ErrorCode::Device, "not run: it was submitted before fork() and waited for code of the parent process"));
    failure->acknowledged = true;
    const auto lose = [&](const Ref<CpuEvent>& task) {
        if (task && !task->known_done()) task->lose(failure);
    };
    for (const auto& task : lost->tasks) lose(task);
    for (const auto& task : lost->unfinished) lose(task);
    for (const auto& task : lost->finishing) lose(task);
    lose(lost->last);
    lose(lost->current);
    tasks_.clear();
    unfinished_.clear();
    finishing_.clear();
    last_ = nullptr;
    current_ = nullptr;
    fence_ = last_barrier_ = Event();
    running_ = 0;
    waiting_ns_ = 0;
    outstanding_ = 0;
}

void QueueCore::stop_for_exit() {
    stopped_.store(true, std::memory_order_release);
    std::lock_guard lock(mutex_);
    if (current_) current_->stop_.store(1, std::memory_order_release);
    for (const Ref<CpuEvent>& task : unfinished_) {
        if (task->taken_) task->stop_.store(1, std::memory_order_release);
    }
}

void QueueCore::finish_for_exit() {
    wait_for_ungated();
    stopped_.store(false, std::memory_order_release);  // destructors of static objects may still compute
}

namespace {

void before_fork() {
    cores().mutex.lock();
    for (QueueCore* c : cores().list) c->lock_idle_for_fork();
}
void after_fork_in_parent() {
    for (QueueCore* c : cores().list) c->unlock_after_fork();
    cores().mutex.unlock();
}
void after_fork_in_child() {
    for (QueueCore* c : cores().list) c->revive_in_child();
    cores().mutex.unlock();
}
void at_exit() {
    if (device::inside_task()) return;
    std::vector<Ref<QueueCore>> list;
    {
        std::lock_guard lock(cores().mutex);
        for (QueueCore* c : cores().list) list.emplace_back(c);
    }
    for (const auto& c : list) c->stop_for_exit();
    for (const auto& c : list) c->finish_for_exit();
}

}  // namespace

void install_process_handlers(ForkHandler device) {
    static std::once_flag once;
    std::call_once(once, [&] {
        at_fork(ForkStage::Queues, {before_fork, after_fork_in_parent, after_fork_in_child});
        at_fork(ForkStage::Queues, std::move(device));
        std::atexit(at_exit);
    });
}

}  // namespace pardo::cpu
