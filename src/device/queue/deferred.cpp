// src/device/queue/deferred.cpp: submissions deferred on the host, host tasks, and the threads that see to them.
#include <algorithm>
#include <optional>
#include <thread>

#include "base/affinity.h"
#include "base/counters.h"
#include "base/env.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

/// Of work that was deferred when the process ended; it need not be acknowledged.
std::shared_ptr<Failure> exit_failure() {
    auto failure = std::make_shared<Failure>(Error(ErrorCode::Device, "not run: the process is exiting"));
    failure->acknowledged = true;
    return failure;
}

/// What a deferred submission owns, as a call.
class OwnedCall final : public NativeCall {
public:
    explicit OwnedCall(const Owned& kept) : kept_(kept) {}
    void run(Stream& stream, const NativeOrder& order) override { kept_(stream, order); }
    Owned keep() override { return kept_; }

private:
    const Owned& kept_;
};

}  // namespace

void DriverCore::start(bool& started, void (DriverCore::*serve)()) {
    if (started) return;
    retain();  // the thread's own reference
    try {
        const Bound inherit_nothing(any_core);
        std::thread([this, serve] {
            (this->*serve)();
            release();
        }).detach();
        started = true;
    } catch (const std::system_error& e) {
        release();
        throw Error(ErrorCode::Device, std::string("no thread for a queue's work: ") + e.what());
    }
}

void DriverCore::defer(const Ref<DriverEvent>& event, Request& request, const std::vector<Event>& foreign) {
    event->inherit_host_signals(foreign);
    event->after_ = std::move(request.after);
    // One count is kept until all are subscribed, so that the event becomes ready exactly once.
    event->missing_.store(static_cast<int>(foreign.size()) + 1, std::memory_order_relaxed);
    {
        std::lock_guard lock(mutex_);
        const bool own_thread = !in_order_ && event->task_;
        start(own_thread ? tasker_started_ : worker_started_, own_thread ? &DriverCore::serve_tasks : &DriverCore::serve_deferred);
        if (in_order_ && !deferred_.empty()) event->inherit_host_signals_of(deferred_.back().get());
        deferred_.push_back(event);
        number(*event);
    }
    const auto count_down = [this, event] {
        if (event->missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) became_ready(*event);
    };
    for (const Event& e : foreign) e.state()->subscribe(count_down);
    count_down();
}

void DriverCore::became_ready(DriverEvent& event) {
    std::lock_guard lock(mutex_);
    if (event.taken_) return;
    if (!in_order_) (event.task_ ? tasks_ : ready_).emplace_back(&event);
    (!in_order_ && event.task_ ? task_wake_ : work_wake_).notify_one();
}

void DriverCore::serve_deferred() {
    const auto next = [this]() -> Ref<DriverEvent> {
        if (!in_order_) return ready_.empty() ? nullptr : ready_.front();
        return !deferred_.empty() && deferred_.front()->missing_.load(std::memory_order_acquire) == 0 ? deferred_.front() : nullptr;
    };
    Lock lock(mutex_);
    for (;;) {
        work_wake_.wait(lock, [&] { return closed_ || next(); });
        Ref<DriverEvent> event = next();
        if (!event) return;
        if (!in_order_) ready_.pop_front();
        running_.push_back(event.get());
        lock.unlock();
        event->task_ ? run_task(*event) : run_deferred(*event);
        lock.lock();
        std::erase(running_, event.get());
        if (const auto at = std::find(deferred_.begin(), deferred_.end(), event); at != deferred_.end())
            deferred_.erase(at);  // only now: in order, what comes after it stays after it
        lock.unlock();
        event = nullptr;
        lock.lock();
    }
}

void DriverCore::serve_tasks() {
    Lock lock(mutex_);
    for (;;) {
        task_wake_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        Ref<DriverEvent> event = std::move(tasks_.front());
        tasks_.pop_front();
        running_.push_back(event.get());
        lock.unlock();
        run_task(*event);
        lock.lock();
        std::erase(running_, event.get());
        lock.unlock();
        event = nullptr;
        lock.lock();
    }
}

void DriverCore::run_deferred(DriverEvent& event) {
    const NativeCall::Owned kept = std::move(event.call_);
    OwnedCall call(kept);
    std::optional<Error> raised;
    std::shared_ptr<Failure> inherited = stopped_ ? exit_failure() : nullptr;
    const std::vector<Event> after = std::move(event.after_);
    if (!inherited) {
        try {
            Sorted sorted;
            sort(event.needs_, true, false, sorted);
            sort(after, false, false, sorted);
            for (const Event& e : sorted.foreign) e.state()->wait_quietly();  // it is just being completed
            for (const Event& e : event.needs_) {
                if (!sorted.inherited) sorted.inherited = e.state()->failure();
            }
            inherited = sorted.inherited;
            if (!inherited) {
                std::lock_guard lock(mutex_);
                event.needs_ = std::move(sorted.needs);
                submit_natively(event, sorted, call);
            }
        } catch (...) {
            raised = current_error();
        }
    }
    if (!raised && !inherited) return;
    if (!stopped_) wait_for_earlier(event, after);
    {
        std::lock_guard lock(mutex_);
        event.taken_ = true;
    }
    event.needs_.clear();
    event.kept_.clear();
    event.check_ = nullptr;
    if (raised) {
        event.set_failed(*raised, event.label_);
    } else {
        event.set_failed(std::move(inherited));
    }
}

/// In order.
void DriverCore::wait_for_driver() {
    while (in_order_) {
        Ref<DriverEvent> last;
        {
            std::lock_guard lock(mutex_);
            if (!in_flight_.empty()) last = in_flight_.back();
        }
        if (!last) return;
        last->wait_quietly();
    }
}

/// What fails without running stands for the earlier uses of its memory as if it had run.
void DriverCore::wait_for_earlier(const DriverEvent& event, const std::vector<Event>& after) {
    wait_for_driver();
    for (const auto* list : {&event.needs_, &after}) {
        for (const Event& e : *list) {
            if (!e.done()) e.state()->wait_quietly();
        }
    }
}

void DriverCore::run_task(DriverEvent& event) {
    wait_for_driver();
    std::shared_ptr<Failure> inherited = stopped_ ? exit_failure() : nullptr;
    for (const Event& e : event.needs_) {
        if (inherited) break;
        e.state()->wait_quietly();
        inherited = e.state()->failure();
    }
    std::optional<Error> raised;
    event.set_running();
    if (event.timed_) event.submitted_at = event.started_at = now_ns();
    if (!inherited) {
        const TaskScope scope;
        try {
            event.task_();
        } catch (...) {
            raised = current_error();
        }
    }
    if (event.timed_) event.ended_at = now_ns();
    // What the task kept alive goes first: after a wait for the event its memory is given back.
    event.task_ = nullptr;
    event.needs_.clear();
    event.after_.clear();
    event.kept_.clear();
    {
        // After the completion is seen the queue is idle.
        std::lock_guard lock(mutex_);
        event.taken_ = true;
        if (!in_order_) {
            const auto at = std::find_if(deferred_.begin(), deferred_.end(), [&](const Ref<DriverEvent>& e) { return e.get() == &event; });
            if (at != deferred_.end()) deferred_.erase(at);
        }
    }
    if (raised) {
        event.set_failed(*raised, event.label_);
    } else if (inherited) {
        event.set_failed(std::move(inherited));
    } else {
        event.set_complete();
    }
}

void DriverCore::close() {
    Event last, fence;  // events hold the core; released after the lock
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
        std::swap(last, last_barrier_);
        std::swap(fence, fence_);
        work_wake_.notify_all();
        task_wake_.notify_all();
    }
    {
        std::lock_guard lock(watch_mutex_);
        watch_closed_ = true;
        watch_wake_.notify_all();
    }
    remove_core(this);
}

void DriverCore::stop_for_exit() {
    stopped_ = true;
    Batch dropped;
    {
        std::lock_guard lock(mutex_);
        std::erase_if(deferred_, [&](const Ref<DriverEvent>& e) {
            if (std::find(running_.begin(), running_.end(), e.get()) != running_.end()) return false;
            e->taken_ = true;
            dropped.push_back(e);
            return true;
        });
        ready_.clear();
        tasks_.clear();
    }
    for (const Ref<DriverEvent>& e : dropped) e->set_failed(exit_failure());
    if (!inside_task()) wait_quietly();
    stopped_ = false;  // destructors of static objects may still compute
}

}  // namespace pardo::device
