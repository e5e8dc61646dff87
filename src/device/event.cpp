// src/device/event.cpp: completion of work: waiting, callbacks, and failures that are raised once.
#include "device/event.h"

#include <algorithm>

#include "base/fork.h"
#include "device/device.h"

namespace pardo::device {
namespace {

/// Failures that nobody has heard of. A runaway loop keeps the first ones and counts the rest.
struct Unheard {
    struct Entry {
        Queue* queue;  // null when the queue is gone
        std::shared_ptr<Failure> failure;
    };
    std::mutex mutex;
    std::vector<Entry> entries;
    std::uint64_t dropped = 0;
    std::atomic<int> count{0};  // entries.size(), readable without the lock
};
constexpr std::size_t max_unheard = 1024;

Unheard& unheard() {
    static Unheard* const instance = [] {
        auto* made = new Unheard;  // never destroyed: work may be in flight at exit
        hold_at_fork(made->mutex);
        return made;
    }();
    return *instance;
}

void remember(Queue* queue, const std::shared_ptr<Failure>& failure) {
    Unheard& list = unheard();
    std::lock_guard lock(list.mutex);
    if (list.entries.size() >= max_unheard) {
        ++list.dropped;
        return;
    }
    list.entries.push_back({queue, failure});
    list.count.store(static_cast<int>(list.entries.size()), std::memory_order_release);
}

/// Call with the list's mutex held.
void drop_heard(Unheard& list) {
    std::erase_if(list.entries, [](const Unheard::Entry& e) { return e.failure->heard.load(std::memory_order_acquire); });
    list.count.store(static_cast<int>(list.entries.size()), std::memory_order_release);
}

Error with_label(const Error& error, const Label& label) {
    if (label.name.empty() && label.location.empty()) return error;
    std::string where = label.name.empty() ? "" : "in kernel " + label.name;
    if (!label.location.empty()) where += (where.empty() ? "at " : ", at ") + label.location;
    return Error(error.code(), error.message() + " (" + where + ")");
}

thread_local int task_depth = 0;

}  // namespace

std::shared_ptr<Failure> unheard_failure(const Event& event) {
    std::shared_ptr<Failure> failure = event.state() ? event.state()->failure() : nullptr;
    return failure && !failure->heard.load(std::memory_order_acquire) ? failure : nullptr;
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TaskScope::TaskScope() { ++task_depth; }
TaskScope::~TaskScope() { --task_depth; }
bool inside_task() noexcept { return task_depth > 0; }

void EventState::wait() {
    wait_quietly();
    if (std::optional<Error> error = take_error()) throw *std::move(error);
}

void EventState::wait_quietly() {
    if (done()) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return known_done(); });
}

bool EventState::wait_for(std::chrono::milliseconds limit) {
    if (!done()) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [this] { return known_done(); })) return false;
    }
    if (std::optional<Error> error = take_error()) throw *std::move(error);
    return true;
}

// Of complete events nothing here takes the lock: a forked child may find it held by a thread that is not there.

bool EventState::add(std::vector<std::function<void()>>& list, std::function<void()>& f) {
    if (done()) return false;
    {
        std::lock_guard lock(mutex_);
        if (known_done()) return false;
        list.push_back(std::move(f));
    }
    if (polled_) watched();
    return true;
}

void EventState::on_done(std::function<void()> f) {
    if (!add(callbacks_, f)) run_on_helper_thread(std::move(f));
}

void EventState::subscribe(std::function<void()> f) {
    if (!add(subscriptions_, f)) f();
}

std::shared_ptr<Failure> EventState::failure() { return known_status() == EventStatus::Failed ? failure_ : nullptr; }

std::optional<Error> EventState::take_error() {
    const std::shared_ptr<Failure> f = failure();
    if (!f || f->heard.exchange(true, std::memory_order_acq_rel)) return std::nullopt;
    Unheard& list = unheard();
    std::lock_guard lock(list.mutex);
    drop_heard(list);
    return f->error;
}

void EventState::set_running() { status_.store(EventStatus::Running, std::memory_order_release); }

void EventState::set_complete() { finish(EventStatus::Complete); }

void EventState::set_failed(const Error& error, const Label& label) {
    auto failure = std::make_shared<Failure>(with_label(error, label));
    remember(queue_, failure);
    set_failed(std::move(failure));
}

void EventState::set_failed(std::shared_ptr<Failure> failure) {
    {
        std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
    }
    finish(EventStatus::Failed);
}

void EventState::lose(std::shared_ptr<Failure> failure) {
    failure_ = std::move(failure);
    status_.store(EventStatus::Failed, std::memory_order_release);
}

void EventState::finish(EventStatus status) {
    std::vector<std::function<void()>> callbacks, subscriptions;
    {
        std::lock_guard lock(mutex_);
        status_.store(status, std::memory_order_release);
        callbacks.swap(callbacks_);
        subscriptions.swap(subscriptions_);
    }
    changed_.notify_all();
    for (auto& f : subscriptions) f();
    for (auto& f : callbacks) run_on_helper_thread(std::move(f));
}

void raise_failure_of(Queue* queue) {
    Unheard& list = unheard();
    if (list.count.load(std::memory_order_acquire) == 0) return;
    std::shared_ptr<Failure> found;
    {
        std::lock_guard lock(list.mutex);
        for (const Unheard::Entry& e : list.entries) {
            if (e.queue != queue || e.failure->heard.exchange(true, std::memory_order_acq_rel)) continue;
            found = e.failure;
            break;
        }
        drop_heard(list);
    }
    if (found) throw Error(found->error);
}

void forget_queue(Queue* queue) {
    Unheard& list = unheard();
    if (list.count.load(std::memory_order_acquire) == 0) return;
    std::lock_guard lock(list.mutex);
    for (Unheard::Entry& e : list.entries) {
        if (e.queue == queue) e.queue = nullptr;
    }
}

}  // namespace pardo::device

namespace pardo {

std::vector<std::string> take_unheard_failures() {
    device::Unheard& list = device::unheard();
    std::vector<std::string> messages;
    std::lock_guard lock(list.mutex);
    for (const auto& e : list.entries) {
        if (!e.failure->heard.exchange(true, std::memory_order_acq_rel)) messages.push_back(e.failure->error.message());
    }
    device::drop_heard(list);
    if (list.dropped) messages.push_back("and " + std::to_string(std::exchange(list.dropped, 0)) + " more failures of submitted work");
    return messages;
}

}  // namespace pardo
