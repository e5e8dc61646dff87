// src/device/queue/task.cpp: what the user's own code completes: host tasks, user events, and the threads that run the tasks.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_set>
#include <utility>

#include <pardo/error.h>

#include "base/counters.h"
#include "base/env.h"
#include "base/fork.h"
#include "device/profile.h"
#include "device/queue/scheduler.h"

namespace pardo::device {
namespace {

constexpr int most_threads = 64;  // tasks may wait for each other, as long as fewer than this many wait at a time

/// Threads for code that may block: one more whenever none is idle. They live as long as the process.
struct TaskThreads {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> work;
    int idle = 0, total = 0;
    std::unordered_set<EventState*> unfinished;  // tasks that have not ended
};

TaskThreads& threads() {
    static auto* instance = new TaskThreads;  // never destroyed: its threads may outlive main
    return *instance;
}
[[maybe_unused]] const TaskThreads& threads_at_start = threads();  // see at_fork

void run_tasks() {
    TaskThreads& t = threads();
    std::unique_lock lock(t.mutex);
    for (;;) {
        ++t.idle;
        t.wake.wait(lock, [&] { return !t.work.empty(); });
        --t.idle;
        std::function<void()> f = std::move(t.work.front());
        t.work.pop_front();
        lock.unlock();
        f();
        f = nullptr;
        lock.lock();
    }
}

void tasks_after_fork() {
    TaskThreads& t = threads();
    new (&t.wake) std::condition_variable;                     // the old one counts waiters that do not exist here
    new std::deque<std::function<void()>>(std::move(t.work));  // the parent's: neither run nor taken apart here
    t.work.clear();
    t.idle = t.total = 0;
    const auto failure = Failure::make(Error(ErrorCode::Device, "host_task: it belongs to the parent process, where it goes on"));
    for (EventState* state : t.unfinished) {
        state->retain();  // whatever holds it in the parent is never taken apart here
        state->lose(failure);
    }
    t.unfinished.clear();
    t.mutex.unlock();
}

struct UserTask {
    Ref<Queue> queue;
    Ref<EventState> state;
    std::function<std::shared_ptr<void>()> f;
    Label label;
    std::vector<Event> needs;  // if one fails, it fails too, and does not run
    std::vector<Event> after;  // these may fail as they like
    std::atomic<int> missing{0};
    bool timed = false;  // the queue profiles, or a profile is open

    ~UserTask() { forget(); }
    void forget() {
        TaskThreads& t = threads();
        std::lock_guard lock(t.mutex);
        t.unfinished.erase(state.get());
    }
    void run() {
        std::shared_ptr<Failure> inherited = inherited_from(needs);
        needs.clear();
        after.clear();
        if (timed) state->submitted_at = now_ns();
        Outcome outcome = run_task(*state, std::move(inherited), timed, [this] {
            const RunningTask running(state.get());
            state->value = f();
        });
        f = nullptr;  // after a wait for the event what the task kept is given back
        forget();
        settle(*state, std::move(outcome), label);
    }
};

void hold_tasks_at_fork() {
    static std::once_flag once;
    std::call_once(once, [] {
        at_fork(ForkStage::Moments, {[] { threads().mutex.lock(); }, [] { threads().mutex.unlock(); }, tasks_after_fork});
    });
}

thread_local std::span<const Event> extra_depends;

}  // namespace

void run_on_task_thread(std::function<void()> f) {
    hold_tasks_at_fork();
    TaskThreads& t = threads();
    std::lock_guard lock(t.mutex);
    t.work.push_back(std::move(f));
    if (t.idle < static_cast<int>(t.work.size()) && t.total < most_threads) {
        try {
            std::thread(run_tasks).detach();
            ++t.total;
        } catch (const std::system_error&) {
            if (t.total == 0) {
                t.work.pop_back();
                throw Error(ErrorCode::Device, "host_task: the system gives no thread to run it on");
            }
        }
    }
    t.wake.notify_one();
}

Event user_task(Queue* queue, std::function<std::shared_ptr<void>()> f, Label label, std::span<const Event> depends, const Event& after) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    auto task = std::make_shared<UserTask>();
    task->queue = queue;
    task->state = new EventState(queue);
    task->state->make_host_signal();
    hold_tasks_at_fork();
    {
        std::lock_guard lock(threads().mutex);
        threads().unfinished.insert(task->state.get());
    }
    task->f = std::move(f);
    task->label = std::move(label);
    const bool noted = recording();
    task->timed = noted || queue->profiling();
    if (task->timed) task->state->queued_at = now_ns();
    const bool in_order = queue->order() == QueueOrder::InOrder;
    if (in_order) {
        task->needs.push_back(queue->barrier(depends));
    } else {
        for (const Event& e : depends) task->needs.push_back(needed_now(e, queue));
        task->after.push_back(queue->fence());
        task->after.push_back(after);
    }
    task->state->inherit_host_signals(task->needs);
    task->state->inherit_host_signals(task->after);
    const Event event(task->state.get());
    if (noted) record({Activity::HostTask, queue, task->label, {}}, event);
    std::vector<Event> missing = task->needs;
    missing.insert(missing.end(), task->after.begin(), task->after.end());
    // Those who are told that nothing is missing keep no task: the thread that runs the queue may be among them, and it could not wait for
    // the end of a queue whose last owner is the task.
    const auto kept = std::make_shared<std::shared_ptr<UserTask>>(task);
    after_all(missing, task->missing, [kept] { run_on_task_thread([own = std::exchange(*kept, nullptr)] { own->run(); }); });
    // What comes later waits for it; out of order only those who wait for all of the queue.
    const Event follows[] = {event};
    if (in_order) {
        (void)queue->barrier(follows);
    } else {
        (void)queue->host_task([] {}, {}, {}, 0, follows);
    }
    return event;
}

ExtraDepends::ExtraDepends(std::span<const Event> events) : outer_(std::exchange(extra_depends, events)) {}
ExtraDepends::~ExtraDepends() { extra_depends = outer_; }
std::span<const Event> ExtraDepends::current() noexcept { return extra_depends; }

}  // namespace pardo::device

namespace pardo {

struct UserEvent::Owned {
    Ref<device::EventState> state{new device::EventState(nullptr)};
    Event event{state.get()};
    std::atomic<bool> set{false};
    std::string location;

    ~Owned() {
        if (set) return;
        state->set_dropped(Error(ErrorCode::Device, "UserEvent: it was dropped before it was set"), {"", location});
    }
};

UserEvent::UserEvent(const std::string& location) : owned_(std::make_shared<Owned>()) {
    owned_->state->make_host_signal();
    owned_->location = location;
}
const Event& UserEvent::event() const noexcept { return owned_->event; }
bool UserEvent::set_complete(std::shared_ptr<void> value) const {
    if (owned_->set.exchange(true)) return false;
    owned_->state->value = std::move(value);
    owned_->state->set_complete();
    return true;
}
bool UserEvent::set_failed(const Error& error) const {
    if (owned_->set.exchange(true)) return false;
    owned_->state->set_failed(error, {"", owned_->location});
    return true;
}

int wait_any(ListOf<Event> events, int milliseconds) {
    if (events.empty()) throw Error(ErrorCode::Value, "wait_any: no events to wait for");
    struct First {
        std::mutex mutex;
        std::condition_variable found;
        int position = -1;
    };
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].done()) return static_cast<int>(i);
    }
    if (milliseconds == 0) return -1;
    if (device::EventState* task = device::running_task()) {
        if (std::all_of(events.begin(), events.end(), [&](const Event& e) { return e.state() && e.state()->waits_for(task); }))
            device::check_wait(*events[0].state());
    }
    const auto first = std::make_shared<First>();
    std::vector<std::pair<const Event*, std::uint64_t>> subscribed;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const std::uint64_t id = events[i].state()->subscribe([first, i] {
            const std::lock_guard lock(first->mutex);
            if (first->position < 0) first->position = static_cast<int>(i);
            first->found.notify_all();
        });
        if (id) subscribed.emplace_back(&events[i], id);
    }
    int position;
    {
        const device::Blocking blocking;
        std::unique_lock lock(first->mutex);
        const auto known = [&] { return first->position >= 0; };
        if (milliseconds < 0) {
            first->found.wait(lock, known);
        } else {
            first->found.wait_for(lock, std::chrono::milliseconds(milliseconds), known);
        }
        position = first->position;
    }
    for (const auto& [event, id] : subscribed) event->state()->drop(id);
    return position;
}

}  // namespace pardo
