// src/device/event.cpp: completion of work: waiting, callbacks, and failures that are raised once.
#include "device/event.h"

#include <algorithm>

#include <pardo/binding/hooks.h>

#include "base/fork.h"
#include "device/device.h"

namespace pardo::device {
namespace {

Error with_label(const Error& error, const Label& label) {
    if (error.message().find("\n  File \"") != std::string::npos) return error;  // it shows kernel and line already
    if (!label.location.empty() && error.message().ends_with(" (at " + label.location.str() + ")")) return error;  // the same line
    const bool named = label.name.empty() || error.message().starts_with(label.name.str() + ": ");  // as work of native code is
    if (named && label.location.empty()) return error;
    std::string where = named ? "" : (error.origin() ? "in host task " : "in kernel ") + label.name.str();
    if (!label.location.empty()) where += (where.empty() ? "at " : ", at ") + label.location.str();
    return error.with_message(error.message() + " (" + where + ")");
}

std::shared_ptr<Failure> failure_at(const Error& error, const Label& label, bool acknowledged = false) {
    std::shared_ptr<Failure> failure = Failure::make(with_label(error, label), acknowledged);
    failure->location = label.location;
    return failure;
}

thread_local int task_depth = 0;
thread_local EventState* task_of_thread = nullptr;

}  // namespace

Error current_error() {
    try {
        throw;
    } catch (const Error& e) {
        return e;
    } catch (const std::bad_alloc&) {
        return Error(ErrorCode::Memory, "out of memory");
    } catch (const std::exception& e) {
        return Error(ErrorCode::Internal, e.what());
    } catch (...) {
        return Error(ErrorCode::Internal, "an exception of unknown type");
    }
}

std::shared_ptr<Failure> failure_of(const Event& event) { return event.state() ? event.state()->failure() : nullptr; }

Event needed_now(const Event& event, Queue* queue) {
    const std::shared_ptr<Failure> seen = failure_of(event);
    if (!seen || !seen->acknowledged.load(std::memory_order_acquire)) return event;
    const Event failed(new EventState(queue));
    failed.state()->set_dropped(seen->error, {});  // the work may fail for another reason: then this one is not the queue's
    failed.state()->failure()->reported = true;
    if (queue && seen->home != queue->failures()) failed.state()->failure()->home = seen->home;  // it happened there all the same
    return failed;
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TaskScope::TaskScope() { ++task_depth; }
TaskScope::~TaskScope() { --task_depth; }
bool inside_task() noexcept { return task_depth > 0; }

EventState* running_task() noexcept { return task_of_thread; }
RunningTask::RunningTask(EventState* task) : outer_(std::exchange(task_of_thread, task)) {}
RunningTask::~RunningTask() { task_of_thread = outer_; }

void check_wait(EventState& event) {
    if (!task_of_thread || event.known_done() || !event.waits_for(task_of_thread)) return;
    throw Error(
        ErrorCode::Device,
        "wait: called in a host task, or while a kernel's lines are printed, for work that runs only after that has ended, so it would "
        "never return; give what follows as a host task or event of its own, or use another queue");
}

EventState::EventState(Queue* queue, bool polled)
    : queue_(queue), log_(queue ? queue->failures() : &FailureLog::of_no_queue()), polled_(polled) {}

void EventState::wait() {
    wait_done();
    if (std::optional<Error> error = take_error()) throw *std::move(error);
}

void EventState::wait_done() {
    if (done()) return;
    check_wait(*this);
    if (std::optional<Error> asked = wait_or_ask(false)) throw *std::move(asked);
}

std::optional<Error> EventState::wait_or_ask(bool later) {
    if (!interruptible()) {
        wait_quietly();
        return std::nullopt;
    }
    while (!done_within(interrupt_slice)) {
        std::optional<Error> asked = interruption(later);
        if (!asked) continue;
        abandon();
        return asked;
    }
    return std::nullopt;
}

void EventState::wait_quietly() {
    if (done()) return;
    const Blocking blocking;  // around the lock: a thread that comes back from it may have to wait for threads that want this event's lock
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return known_done(); });
}

bool EventState::done_within(std::chrono::milliseconds limit) {
    if (done()) return true;
    const Blocking blocking;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return known_done(); });
}

bool EventState::wait_for(std::chrono::milliseconds limit) {
    if (!done_within(limit)) return false;
    if (std::optional<Error> error = take_error()) throw *std::move(error);
    return true;
}

// Of complete events nothing here takes the lock: a forked child may find it held by a thread that is not there.

std::uint64_t EventState::add(std::vector<Subscription>& list, std::function<void()>& f) {
    if (done()) return 0;
    std::uint64_t id;
    {
        std::lock_guard lock(mutex_);
        if (known_done()) return 0;
        id = ++last_id_;
        list.push_back({id, std::move(f)});
    }
    if (polled_) watched();
    return id;
}

std::uint64_t EventState::on_done(std::function<void()> f) {
    const std::uint64_t id = add(callbacks_, f);
    if (id == 0) run_on_helper_thread(std::move(f));
    return id;
}

std::uint64_t EventState::subscribe(std::function<void()> f) {
    const std::uint64_t id = add(subscriptions_, f);
    if (id == 0) f();
    return id;
}

bool EventState::drop(std::uint64_t id) {
    if (id == 0 || known_done()) return false;
    std::function<void()> dropped;  // what it holds goes after the lock
    std::lock_guard lock(mutex_);
    for (auto* list : {&callbacks_, &subscriptions_}) {
        const auto found = std::find_if(list->begin(), list->end(), [&](const Subscription& s) { return s.id == id; });
        if (found == list->end()) continue;
        dropped = std::move(found->f);
        list->erase(found);
        return true;
    }
    return false;
}

void EventState::inherit_host_signals(std::span<const Event> events) {
    for (const Event& e : events) inherit_host_signals_of(e.state());
}

void EventState::inherit_host_signals_of(EventState* event) {
    if (!event || event->known_done()) return;
    std::vector<Ref<EventState>> found;
    if (event->is_host_signal()) {
        found.emplace_back(event);
    } else {
        std::lock_guard lock(event->mutex_);
        found = event->host_signals_;
    }
    for (Ref<EventState>& signal : found) {
        if (signal->known_done()) continue;
        // One that another one of them waits for is found through that: in order the last stands for all.
        const bool known = std::any_of(host_signals_.begin(), host_signals_.end(),
                                       [&](const Ref<EventState>& g) { return g == signal || g->waits_directly(*signal); });
        if (known) continue;
        std::erase_if(host_signals_, [&](const Ref<EventState>& g) { return signal->waits_directly(*g); });
        host_signals_.push_back(std::move(signal));
    }
}

bool EventState::waits_directly(const EventState& signal) {
    std::lock_guard lock(mutex_);
    return std::any_of(host_signals_.begin(), host_signals_.end(), [&](const Ref<EventState>& g) { return g.get() == &signal; });
}

std::vector<Ref<EventState>> EventState::pending_host_signals() {
    if (known_done()) return {};
    std::lock_guard lock(mutex_);
    std::erase_if(host_signals_, [](const Ref<EventState>& signal) { return signal->known_done(); });
    return host_signals_;
}

bool EventState::waits_for_host() { return !known_done() && (is_host_signal_ || !pending_host_signals().empty()); }

template <class F> bool EventState::any_signal(F&& which) {
    if (which(*this)) return true;
    std::vector<Ref<EventState>> left = pending_host_signals(), seen;
    while (!left.empty()) {
        Ref<EventState> next = std::move(left.back());
        left.pop_back();
        if (which(*next)) return true;
        if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
        for (Ref<EventState>& g : next->pending_host_signals()) left.push_back(std::move(g));
        seen.push_back(std::move(next));
    }
    return false;
}

bool EventState::waits_for(const EventState* signal) {
    return any_signal([&](const EventState& e) { return &e == signal; });
}

bool EventState::waits_for_user_event() {
    // The other host signals, host tasks, are work of a queue.
    return any_signal([](const EventState& e) { return e.is_host_signal() && !e.queue() && !e.known_done(); });
}

std::shared_ptr<Failure> EventState::failure() { return known_status() == EventStatus::Failed ? failure_ : nullptr; }

std::optional<Error> EventState::take_error() {
    const std::shared_ptr<Failure> f = failure();
    if (!f) return std::nullopt;
    const bool raised = raised_.exchange(true, std::memory_order_acq_rel);
    const bool seen = f->acknowledged.exchange(true, std::memory_order_acq_rel);
    if (!seen) log_->prune(f.get());
    if (seen && (raised || !inherited_)) return std::nullopt;
    return f->error;
}

void EventState::acknowledge() { (void)take_error(); }

void EventState::set_running() { status_.store(EventStatus::Running, std::memory_order_release); }

void EventState::set_complete() { finish(EventStatus::Complete); }

void EventState::set_failed(const Error& error, const Label& label) {
    std::shared_ptr<Failure> failure = failure_at(error, label);
    log_->note(failure);
    fail(std::move(failure), false);
}

void EventState::set_failed(std::shared_ptr<Failure> failure) {
    log_->note(failure);
    fail(std::move(failure), true);
}

void EventState::set_dropped(const Error& error, const Label& label) { fail(failure_at(error, label), false); }

/// The failure has been noted: when the event is seen to be complete, it is with the queue.
void EventState::fail(std::shared_ptr<Failure> failure, bool inherited) {
    {
        std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
        inherited_ = inherited;
    }
    finish(EventStatus::Failed);
}

void EventState::set_stopped(const Label& label) {
    std::string text = "the wait for it was interrupted, and so it was stopped before its end; what it was to write is undefined";
    if (!label.name.empty()) text = label.name.str() + ": " + text;
    fail(failure_at(Error(ErrorCode::Device, text), {{}, label.location}, true), false);
}

void EventState::lose(std::shared_ptr<Failure> failure) {
    failure_ = std::move(failure);
    status_.store(EventStatus::Failed, std::memory_order_release);
}

void EventState::finish(EventStatus status) {
    std::vector<Subscription> callbacks, subscriptions;
    std::vector<Ref<EventState>> signals;
    {
        std::lock_guard lock(mutex_);
        status_.store(status, std::memory_order_release);
        callbacks.swap(callbacks_);
        subscriptions.swap(subscriptions_);
        signals.swap(host_signals_);
    }
    changed_.notify_all();
    for (auto& s : subscriptions) s.f();
    for (auto& s : callbacks) run_on_helper_thread(std::move(s.f));
}

}  // namespace pardo::device

namespace pardo {

void set_blocking_hooks(void* (*leave)(), void (*enter)(void*)) {
    blocking_hooks().enter.store(enter, std::memory_order_release);
    blocking_hooks().leave.store(leave, std::memory_order_release);
}

}  // namespace pardo
