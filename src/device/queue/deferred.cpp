// src/device/queue/deferred.cpp: submissions deferred on the host, host tasks, and the threads that run them.
#include <algorithm>
#include <optional>
#include <thread>

#include "base/affinity.h"
#include "base/counters.h"
#include "base/env.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

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

void DriverCore::defer(const Ref<DriverEvent>& event, const std::vector<Event>& foreign) {
    event->inherit_host_signals(foreign);
    const auto of_others = [this](const Event& e) { return e.state()->queue() != queue_; };
    event->may_last_ = event->may_last_ || std::any_of(foreign.begin(), foreign.end(), of_others);
    event->missing_.store(1, std::memory_order_relaxed);
    {
        std::lock_guard lock(mutex_);
        const bool own_thread = !in_order_ && event->task_;
        own_thread ? start(tasker_started_, [this] { serve(host_tasks_, task_wake_); })
                   : start(worker_started_, [this] { serve(tasks_, wake_); });
        inherit_from_last(*event);
        if (in_order_) tasks_.push_back(event);
        enter(*event);
    }
    ready_after(event, foreign);
}

void DriverCore::became_ready(ScheduledEvent& ready) {
    std::lock_guard lock(mutex_);
    DriverEvent& event = own(ready);
    if (event.taken_) return;
    const bool own_thread = !in_order_ && event.task_;
    if (!in_order_) (own_thread ? host_tasks_ : tasks_).emplace_back(&event);
    (own_thread ? task_wake_ : wake_).notify_one();
}

void DriverCore::serve(std::deque<Ref<ScheduledEvent>>& tasks, std::condition_variable& wake) {
    const auto ready = [&] {  // in order a thread that submits native code may have the turn
        if (tasks.empty()) return false;
        return !in_order_ || (!current_ && own(*tasks.front()).missing_.load(std::memory_order_acquire) == 0);
    };
    Lock lock(mutex_);
    for (;;) {
        wake.wait(lock, [&] { return closed_ || ready(); });
        if (!ready()) return;
        Ref<DriverEvent> event(&own(*tasks.front()));
        tasks.pop_front();
        event->taken_ = true;
        if (in_order_) current_ = event;  // what comes after it stays after it
        lock.unlock();
        event->task_ ? run_host_task(*event) : run_deferred(*event);
        lock.lock();
        end_taken(*event);
        lock.unlock();
        event = nullptr;
        lock.lock();
    }
}

void DriverCore::end_taken(DriverEvent& event) {
    current_ = nullptr;
    if (!event.native_) end_finishing(event);
}

namespace {

/// The end of a turn, as a call.
class EndOfTurn final : public NativeCall {
public:
    explicit EndOfTurn(NativeTurn& turn) : turn_(turn) {}
    void run(Stream& stream, const NativeOrder& order) override { stream.end_turn(turn_, order); }
    Owned keep() override { return {}; }  // it runs at once

private:
    NativeTurn& turn_;
};

}  // namespace

void DriverCore::run_turn(DriverEvent& event, const Sorted& sorted) {
    SmallVector<NativeEvent, 8> after;
    for (const Ref<Marker>& marker : sorted.natives) after.push_back(marker->native());
    const bool timed = event.request_.timed;
    NativeTurn turn;
    {
        std::lock_guard lock(mutex_);
        turn = stream_->begin_turn({after, nullptr, timed});
    }
    turn.after = after;
    NativeCode code = std::move(event.code_);
    std::optional<Error> raised;
    stream_->with_context([&] {
        const TaskScope scope;
        try {
            code(turn);
        } catch (...) {
            raised = current_error();
            turn.done = nullptr;  // drivers leave anything there where a call fails
        }
        code = nullptr;
    });
    EndOfTurn end(turn);
    std::lock_guard lock(mutex_);
    if (raised) event.request_.check = [raised] { throw *raised; };
    submit_natively(event, {}, end);
}

void DriverCore::run_deferred(DriverEvent& event) {
    const NativeCall::Owned kept = std::move(event.call_);
    OwnedCall call(kept);
    Outcome outcome;
    const std::vector<Event> needs = event.request_.needs, after = std::move(event.request_.after);
    if (stopped_) {
        outcome.inherited = inherited_by({});
    } else {
        try {
            Sorted sorted;
            sort(needs, true, false, sorted);
            sort(after, false, false, sorted);
            for (const Event& e : sorted.foreign) e.state()->wait_quietly();  // it is just being completed
            outcome.inherited = sorted.inherited ? sorted.inherited : inherited_from(needs);
            if (!outcome.inherited && event.code_) {
                event.request_.needs = std::move(sorted.needs);
                return run_turn(event, sorted);
            }
            if (!outcome.inherited) {
                if (event.request_.program) (void)event.request_.program->get();  // without the lock
                std::lock_guard lock(mutex_);
                event.request_.needs = std::move(sorted.needs);
                return submit_natively(event, sorted, call);
            }
        } catch (const NotRun& e) {
            outcome.inherited = Failure::make(e, true);
        } catch (...) {
            outcome.raised = current_error();
        }
        wait_for_earlier(needs, after);
    }
    event.code_ = nullptr;
    finish(event, std::move(outcome));
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
void DriverCore::wait_for_earlier(const std::vector<Event>& needs, const std::vector<Event>& after) {
    wait_for_driver();
    for (const auto* list : {&needs, &after}) {
        for (const Event& e : *list) {
            if (!e.done()) e.state()->wait_quietly();
        }
    }
}

void DriverCore::run_host_task(DriverEvent& event) {
    wait_for_driver();
    for (const Event& e : event.request_.needs) e.state()->wait_quietly();
    const bool timed = event.request_.timed;
    if (timed) event.submitted_at = now_ns();
    Outcome outcome = run_task(event, inherited_by(event.request_.needs), timed, event.task_);
    event.task_ = nullptr;
    finish(event, std::move(outcome));
}

void DriverCore::close() {
    {
        std::lock_guard lock(watch_mutex_);
        watch_closed_ = true;
        watch_wake_.notify_all();
    }
    Scheduler::close();
    {
        std::lock_guard lock(mutex_);
        task_wake_.notify_all();
    }
    stream_->close();
}

void DriverCore::stop_for_exit() {
    stopped_ = true;
    Batch dropped;
    {
        std::lock_guard lock(mutex_);
        for (ScheduledEvent& e : unfinished_) {
            if (own(e).native_ || own(e).taken_) continue;
            own(e).taken_ = true;
            dropped.emplace_back(&own(e));
        }
        tasks_.clear();
        host_tasks_.clear();
    }
    for (const Ref<DriverEvent>& e : dropped) finish(*e, {.inherited = inherited_by({})});
    end_finishing_all(dropped);
}

}  // namespace pardo::device
