// src/device/queue/scheduler.cpp: what is unfinished in a queue, and what waits for it.
#include "device/queue/scheduler.h"

#include <algorithm>
#include <thread>

#include <pardo/binding/activity.h>
#include <pardo/binding/library.h>

#include "base/affinity.h"

namespace pardo::device {
namespace {

/// Of work that waited when the process ended; it need not be acknowledged.
std::shared_ptr<Failure> exit_failure() { return Failure::make(Error(ErrorCode::Device, "not run: the process is exiting"), true); }

}  // namespace

std::shared_ptr<Failure> inherited_from(std::span<const Event> needs) {
    for (const Event& e : needs) {
        if (std::shared_ptr<Failure> failure = failure_of(e)) return failure;
    }
    return nullptr;
}

void settle(EventState& event, Outcome&& outcome, const Label& label) {
    if (outcome.raised) {
        event.set_failed(*outcome.raised, label);
    } else if (outcome.stopped) {
        event.set_stopped(label);
    } else if (outcome.inherited) {
        event.set_failed(std::move(outcome.inherited));
    } else {
        event.set_complete();
    }
}

ScheduledEvent::ScheduledEvent(Queue* queue, bool polled, Request&& request)
    : EventState(queue, polled), request_(std::move(request)), program_(request_.program), covered_(request_.covered) {
    entry_.event = this;
    request_.timed = request_.timed || queue->profiling();
    may_last_ = request_.lasts;
}

Scheduler::Scheduler(Queue* queue, Runner runner)
    : queue_(queue), device_(queue->device()), in_order_(queue->order() == QueueOrder::InOrder), runner_(runner) {}

Scheduler::~Scheduler() = default;

void Scheduler::close() {
    leave();
    Event last_barrier, fence;  // released after the lock: they hold the scheduler
    std::lock_guard lock(mutex_);
    closed_ = true;
    std::swap(last_barrier, last_barrier_);
    std::swap(fence, fence_);
    wake_.notify_all();
}

void Scheduler::order_after(const Event& event) {
    std::lock_guard lock(mutex_);
    fence_ = event;
    fenced_.store(true, std::memory_order_release);
}

Event Scheduler::fence() {
    std::lock_guard lock(mutex_);
    return fence_;
}

void Scheduler::add_fence(Request& request) {
    if (!fenced_.load(std::memory_order_acquire)) return;
    std::lock_guard lock(mutex_);
    if (!known_done(fence_)) request.after.push_back(fence_);
}

/// Polled events are those of drivers.
ScheduledEvent* Scheduler::scheduled(const Event& event) noexcept {
    EventState* state = event.state();
    return state && state->polled() ? static_cast<ScheduledEvent*>(state) : nullptr;
}

bool Scheduler::before_next(const Event& event) const noexcept {
    const ScheduledEvent* driven = in_order_ ? scheduled(event) : nullptr;
    return driven && driven->queue_ == queue_ && driven->native_.load(std::memory_order_acquire);
}

bool Scheduler::implied(const Event& event, bool needed) const noexcept {
    EventState* state = event.state();
    if (!in_order_ || !state || state->known_done() || state->queue() != queue_) return false;
    if (!needed) return true;
    const ScheduledEvent* driven = scheduled(event);
    return driven && driven->hands_on_.load(std::memory_order_acquire);
}

void Scheduler::inherit_from_last(ScheduledEvent& event) {
    if (in_order_ && !unfinished_.empty()) event.inherit_host_signals_of(&unfinished_.back());
}

void Scheduler::enter(ScheduledEvent& event) {
    unfinished_.append(event);
    outstanding_.fetch_add(1, std::memory_order_relaxed);
    if (in_order_) return;
    event.number_ = ++numbered_;
    if (event.covered_ <= covered_) return;
    last_barrier_ = Event(&event);
    covered_ = event.covered_;
}

void Scheduler::ready_after(const Ref<ScheduledEvent>& event, std::span<const Event> events) {
    after_all(events, event->missing_, [this, event] { became_ready(*event); });
}

std::shared_ptr<Failure> Scheduler::inherited_by(std::span<const Event> needs) const {
    return stopped_.load(std::memory_order_acquire) ? exit_failure() : inherited_from(needs);
}

void Scheduler::begin_finishing(ScheduledEvent& event) {
    event.taken_ = true;
    finishing_.take(event);
    outstanding_.fetch_sub(1, std::memory_order_release);
}

void Scheduler::finish(ScheduledEvent& event, Outcome&& outcome) {
    Label label;
    {
        Request over;  // goes after the lock
        std::lock_guard lock(mutex_);
        std::swap(over, event.request_);
        label = std::move(over.label);
        begin_finishing(event);
    }
    settle(event, std::move(outcome), label);
}

void Scheduler::start(bool& started, std::function<void()> serve) {
    if (started) return;
    retain();  // the thread's own reference
    try {
        const Bound inherit_nothing(any_core());
        std::thread([this, serve = std::move(serve)] {
            serve();
            release();
        }).detach();
        started = true;
    } catch (const std::system_error& e) {
        release();
        throw Error(ErrorCode::Device, std::string("no thread for a queue's work: ") + e.what());
    }
}

void Scheduler::compile_pending() noexcept {
    std::vector<Ref<PendingProgram>> programs;
    {
        const std::lock_guard lock(mutex_);
        for (const ScheduledEvent& e : unfinished_) {
            if (e.program_) programs.push_back(e.program_);
        }
    }
    for (const Ref<PendingProgram>& program : programs) program->compile();
}

std::vector<Event> Scheduler::unfinished() {
    std::vector<Event> events;
    const auto add = [&](ScheduledEvent& e) {
        if (!e.known_done()) events.emplace_back(&e);
    };
    std::lock_guard lock(mutex_);
    for (ScheduledEvent& e : finishing_) add(e);
    if (!in_order_) {
        for (ScheduledEvent& e : unfinished_) add(e);
    } else if (!unfinished_.empty()) {
        add(unfinished_.back());
    }
    return events;
}

Ends Scheduler::unfinished_ends() {
    std::lock_guard lock(mutex_);
    Ends ends{{}, numbered_};
    if (!known_done(last_barrier_)) ends.events.push_back(last_barrier_);
    for (ScheduledEvent& e : finishing_) ends.events.emplace_back(&e);
    for (auto e = unfinished_.rbegin(); e != unfinished_.rend() && e->number_ > covered_; ++e) ends.events.emplace_back(&*e);
    return ends;
}

void Scheduler::wait_quietly() {
    for (;;) {
        const std::vector<Event> events = unfinished();
        for (const Event& e : events) e.state()->wait_quietly();
        if (events.empty() || in_order_) return;
    }
}

void Scheduler::wait_done() {
    for (;;) {
        const std::vector<Event> events = unfinished();
        for (const Event& e : events) e.state()->wait_done();
        if (events.empty() || in_order_) return;
    }
}

std::vector<Event> Scheduler::ungated() {
    std::vector<Event> events;
    for (ScheduledEvent& e : finishing_) {
        if (!e.known_done()) events.emplace_back(&e);
    }
    const auto free = [](ScheduledEvent& e) { return !e.known_done() && !e.waits_for_host(); };
    const auto youngest = std::find_if(unfinished_.rbegin(), unfinished_.rend(), free);
    if (youngest != unfinished_.rend()) events.emplace_back(&*youngest);
    return events;
}

void Scheduler::wait_for_ungated() {
    for (;;) {
        std::vector<Event> events;
        {
            std::lock_guard lock(mutex_);
            events = ungated();
        }
        for (const Event& e : events) e.state()->wait_quietly();
        if (events.empty() || in_order_) return;
    }
}

QueueWork Scheduler::work() {
    QueueWork work;
    work.queue = reinterpret_cast<std::uintptr_t>(queue_);
    work.device = device_->id();
    const std::lock_guard lock(mutex_);
    for (ScheduledEvent& e : unfinished_) {
        if (e.known_done()) continue;
        if (work.unfinished++ > 0) continue;
        work.name = e.request_.label.name.str();
        if (work.name == "barrier" && e.waits_for_host()) work.name = "host task";  // that is what it keeps the place of
        work.location = e.request_.label.location.str();
    }
    return work;
}

bool Scheduler::waits_for_host() {
    std::lock_guard lock(mutex_);
    if (in_order_) return !unfinished_.empty() && unfinished_.back().waits_for_host();
    return std::any_of(unfinished_.begin(), unfinished_.end(), [](ScheduledEvent& e) { return e.waits_for_host(); });
}

bool Scheduler::may_last() {
    std::lock_guard lock(mutex_);
    return std::any_of(unfinished_.begin(), unfinished_.end(), [](ScheduledEvent& e) { return e.may_last_ && !e.known_done(); });
}

void Scheduler::collect_unfinished(std::chrono::steady_clock::time_point end, std::vector<UnfinishedWork>& list) {
    for (;;) {
        std::vector<Event> events;
        std::vector<Label> labels;  // an event that another thread finishes gives its own away
        {
            const std::lock_guard lock(mutex_);
            events = ungated();
            for (const Event& e : events) labels.push_back(static_cast<const ScheduledEvent*>(e.state())->request_.label);
        }
        bool all_over = true;
        for (std::size_t k = 0; k < events.size(); ++k) {
            const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
            if (events[k].state()->done_within(std::max(rest, std::chrono::milliseconds(0)))) continue;
            list.push_back({labels[k].name.str(), labels[k].location.str(), device_->id()});
            all_over = false;
        }
        if (!all_over || events.empty() || in_order_) return;  // without order others may be older, and not over
    }
}

void Scheduler::finish_for_exit() {
    if (!inside_task()) wait_for_ungated();
    stopped_.store(false, std::memory_order_release);  // destructors of static objects may still compute
}

/// After a fork, unfinished work belongs to the parent's threads. The child forgets its copies without destroying them: that may need locks
/// and drivers that the child does not have.
void Scheduler::lose(const std::shared_ptr<Failure>& failure) {
    new (&wake_) std::condition_variable;  // the old one may count a waiter that does not exist here
    worker_started_ = false;
    if (unfinished_.empty() && finishing_.empty()) return;
    for (EventList* list : {&unfinished_, &finishing_}) {
        for (ScheduledEvent& e : *list) {
            e.taken_ = true;
            if (!e.known_done()) e.lose(failure);
        }
        list->forget();
    }
    new (&tasks_) std::deque<Ref<ScheduledEvent>>;
    new (&current_) Ref<ScheduledEvent>;
    for (Event* event : {&fence_, &last_barrier_}) new (event) Event;
    outstanding_ = 0;
}

}  // namespace pardo::device
