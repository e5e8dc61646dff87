// src/device/queue/core.cpp: submissions to a driver's queue: what waits for their dependencies, and how far the host may be ahead.
#include <algorithm>

#include "base/small_vector.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

/// A submitter this far ahead waits until half of it is done.
constexpr std::size_t most_ahead = 1024;
/// How often a submitter looks what is complete.
constexpr std::uint64_t look_every = 64;
/// Where markers may come late: how much other work a wait may also wait for, in the time of one core. A GPU is that much faster, and
/// between two of its kernels a marker costs more than a microsecond.
constexpr double small_work_ns = 200'000, small_gpu_work_ns = 100 * small_work_ns;
constexpr int most_unmarked = 32;

}  // namespace

Marker::Marker(Ref<DriverCore> core, NativeEvent native, std::uint64_t sequence)
    : core_(std::move(core)), native_(native), sequence_(sequence) {}

Marker::~Marker() {
    if (!driver_gone()) core_->stream_->release(native_);
}

DriverCore::DriverCore(Queue* queue, std::unique_ptr<Stream> stream)
    : queue_(queue),
      device_(queue->device()),
      in_order_(queue->order() == QueueOrder::InOrder),
      profiling_(queue->profiling()),
      stream_(std::move(stream)),
      late_markers_(in_order_ && !profiling_ && stream_->marks_late()),
      small_work_ns_(device_->info().type == DeviceType::Gpu ? small_gpu_work_ns : small_work_ns) {
    add_core(this);
}

DriverCore::~DriverCore() {
    if (driver_gone()) (void)stream_.release();  // its driver must not be called any more
}

Ref<DriverEvent> DriverCore::new_event(Request& request) {
    Ref<DriverEvent> event(new DriverEvent(queue_, this));
    event->timed_ = profiling_ || request.timed;
    if (event->timed_) event->queued_at = now_ns();
    event->label_ = std::move(request.label);
    event->kept_ = std::move(request.kept);
    event->check_ = std::move(request.check);
    event->cost_ns_ = request.cost_ns;
    event->covered_ = request.covered;
    return event;
}

bool DriverCore::before_next(const Event& event) const {
    EventState* state = event.state();
    if (!in_order_ || !state || !state->polled()) return false;
    const auto* driven = static_cast<const DriverEvent*>(state);
    return driven->core_.get() == this && driven->native_.load(std::memory_order_acquire);
}

bool DriverCore::implied(const Event& event, bool needed) const noexcept {
    EventState* state = event.state();
    if (!in_order_ || !state || !state->polled() || state->known_done()) return false;
    const auto* driven = static_cast<const DriverEvent*>(state);
    if (driven->core_.get() != this) return false;
    return !needed || hands_on(*driven);
}

bool DriverCore::hands_on(const DriverEvent& event) const noexcept {
    return late_markers_ && !event.may_fail_ && event.native_.load(std::memory_order_acquire);
}

void DriverCore::sort(const std::vector<Event>& events, bool needed, bool task, Sorted& sorted) {
    for (const Event& e : events) {
        EventState* state = e.state();
        if (!state) continue;
        if (!state->known_done()) {
            auto* driven = state->polled() ? static_cast<DriverEvent*>(state) : nullptr;
            const bool own = driven && driven->core_.get() == this;
            if (own && in_order_) {
                if (needed && !hands_on(*driven)) sorted.needs.push_back(e);
                continue;
            }
            if (driven && !task && (own || stream_->understands(driven->core_->stream()))) {
                if (Ref<Marker> marker = driven->core_->marker_of(*driven)) {
                    sorted.natives.push_back(std::move(marker));
                    if (needed) sorted.needs.push_back(e);
                    continue;
                }
            }
            if (!state->done()) {
                sorted.foreign.push_back(e);
                if (needed) sorted.needs.push_back(e);
                continue;
            }
        }
        if (needed && !sorted.inherited) sorted.inherited = failure_of(e);
    }
}

void DriverCore::order_after(const Event& event) {
    std::lock_guard lock(mutex_);
    fence_ = event;
}

Event DriverCore::fence() {
    std::lock_guard lock(mutex_);
    return fence_;
}

bool DriverCore::waits_for_host() {
    std::lock_guard lock(mutex_);
    return std::any_of(deferred_.begin(), deferred_.end(), [](const Ref<DriverEvent>& e) { return e->waits_for_host(); });
}

bool DriverCore::may_last() {
    std::lock_guard lock(mutex_);
    return std::any_of(deferred_.begin(), deferred_.end(),
                       [](const Ref<DriverEvent>& e) { return e->missing_.load(std::memory_order_acquire) > 0; });
}

/// Adds what all work of this queue waits for to a request.
void DriverCore::add_fence(Request& request) {
    if (in_order_) return;
    std::lock_guard lock(mutex_);
    if (!known_done(fence_)) request.after.push_back(fence_);
}

Event DriverCore::submit(Request&& request, NativeCall& call) {
    add_fence(request);
    const Ref<DriverEvent> event = new_event(request);
    Sorted sorted;
    sort(request.needs, true, false, sorted);
    sort(request.after, false, false, sorted);
    if (sorted.inherited) {
        event->kept_.clear();
        event->check_ = nullptr;
        event->set_failed(std::move(sorted.inherited));
        return Event(event.get());
    }
    event->needs_ = std::move(sorted.needs);
    event->may_fail_ = event->check_ || !event->needs_.empty();
    bool now = !request.by_worker && sorted.foreign.empty(), look = false;
    if (now) {
        std::lock_guard lock(mutex_);
        now = !in_order_ || deferred_.empty();
        try {
            if (now) submit_natively(*event, sorted, call);
        } catch (const Error& e) {
            throw Error(e.code(), event->label_.name.str() + ": " + e.message());
        }
        look = now && (submitted_ % look_every == 0 || in_flight_.size() >= most_ahead);
    }
    if (look) throttle();
    if (!now) {
        event->call_ = call.keep();
        defer(event, request, sorted.foreign);
    }
    return Event(event.get());
}

Event DriverCore::submit_task(Request request, std::function<void()> task) {
    add_fence(request);
    const Ref<DriverEvent> event = new_event(request);
    Sorted sorted;
    sort(request.needs, true, true, sorted);
    sort(request.after, false, true, sorted);
    if (sorted.inherited) {
        event->kept_.clear();
        event->check_ = nullptr;
        event->set_failed(std::move(sorted.inherited));
        return Event(event.get());
    }
    event->needs_ = std::move(sorted.needs);
    event->may_fail_ = true;
    event->task_ = std::move(task);
    defer(event, request, sorted.foreign);
    return Event(event.get());
}

void DriverCore::submit_natively(DriverEvent& event, const Sorted& sorted, NativeCall& call) {
    SmallVector<NativeEvent, 8> after;
    for (const Ref<Marker>& marker : sorted.natives) after.push_back(marker->native());
    if (unmarked_ > 0 && behind_unmarked_ns_ + event.cost_ns_ > small_work_ns_) enqueue_marker();
    const bool mark_now = !late_markers_ || event.timed_ || unmarked_ + 1 >= most_unmarked;
    NativeEvent native = nullptr;
    if (event.timed_) event.submitted_at = now_ns();
    in_flight_.emplace_back(&event);  // before the call, so that nothing fails after it
    try {
        call.run(*stream_, {after, mark_now ? &native : nullptr, event.timed_});
    } catch (...) {
        in_flight_.pop_back();
        throw;
    }
    event.sequence_ = ++submitted_;
    number(event);
    if (mark_now) {
        event.marker_ = new Marker(this, native, event.sequence_);
        if (in_order_) markers_.push_back(event.marker_);
        unmarked_ = 0;
    } else {
        behind_unmarked_ns_ = unmarked_ > 0 ? behind_unmarked_ns_ + event.cost_ns_ : 0;
        ++unmarked_;
    }
    event.native_.store(true);
    event.set_running();
    if (event.watching_.load()) {  // both in one order with watch(): one of the two sees the other
        std::lock_guard lock(watch_mutex_);
        if (!in_order_ && watcher_started_) watched_.emplace_back(&event);
        ++watch_news_;
        watch_wake_.notify_one();
    }
}

Ref<Marker> DriverCore::enqueue_marker() {
    NativeEvent native = nullptr;
    stream_->marker({{}, &native});
    Ref<Marker> marker(new Marker(this, native, submitted_));
    markers_.push_back(marker);
    unmarked_ = 0;
    return marker;
}

void DriverCore::throttle() {
    Ref<DriverEvent> ahead_of;
    sweep();
    {
        std::lock_guard lock(mutex_);
        if (in_flight_.size() >= most_ahead) ahead_of = in_flight_[in_flight_.size() / 2];
    }
    if (ahead_of) wait_without_locks(Event(ahead_of.get()));
}

void DriverCore::run_and_wait(const char* op_name, const std::function<void(Stream&, const NativeOrder&)>& call) {
    NativeEvent native = nullptr;
    {
        std::lock_guard lock(mutex_);
        call(*stream_, {{}, &native});
    }
    stream_->wait(native);
    std::optional<Error> error;
    const NativeStatus status = stream_->query(native, error);
    stream_->release(native);
    if (status == NativeStatus::Failed) {
        throw Error(error ? error->code() : ErrorCode::Device,
                    std::string(op_name) + ": " + (error ? error->message() : "the driver failed"));
    }
}

bool DriverCore::idle() {
    for (int look = 0; look < 2; ++look) {
        {
            std::lock_guard lock(mutex_);
            if (deferred_.empty() && in_flight_.empty() && finishing_.empty()) return true;
            if (!deferred_.empty()) return false;
        }
        if (look == 0) sweep();
    }
    return false;
}

std::vector<Event> DriverCore::unfinished() {
    std::lock_guard lock(mutex_);
    std::vector<Event> events;
    for (const Ref<DriverEvent>& e : finishing_) events.emplace_back(e.get());
    if (in_order_) {
        if (!deferred_.empty()) {
            events.emplace_back(deferred_.back().get());
        } else if (!in_flight_.empty()) {
            events.emplace_back(in_flight_.back().get());
        }
        return events;
    }
    for (const auto* list : {&deferred_, &in_flight_}) {
        for (const Ref<DriverEvent>& e : *list) events.emplace_back(e.get());
    }
    return events;
}

void DriverCore::number(DriverEvent& event) {
    if (in_order_ || event.number_ > 0) return;
    event.number_ = ++numbered_;
    if (event.covered_ <= covered_) return;
    last_barrier_ = Event(&event);
    covered_ = event.covered_;
}

Ends DriverCore::unfinished_ends() {
    std::lock_guard lock(mutex_);
    Ends ends{{}, numbered_};
    if (!known_done(last_barrier_)) ends.events.push_back(last_barrier_);
    for (auto e = deferred_.rbegin(); e != deferred_.rend() && (*e)->number_ > covered_; ++e) ends.events.emplace_back(e->get());
    for (const auto& e : in_flight_) {  // what had been deferred came late
        if (e->number_ > covered_) ends.events.emplace_back(e.get());
    }
    for (const auto& e : finishing_) ends.events.emplace_back(e.get());
    return ends;
}

void DriverCore::wait_done() {
    if (driver_gone()) return;
    for (;;) {
        const std::vector<Event> events = unfinished();
        if (events.empty()) return;
        for (const Event& e : events) e.state()->wait_done();
        if (in_order_) return;
    }
}

void DriverCore::wait_quietly() {
    if (driver_gone()) return;
    for (;;) {
        const std::vector<Event> events = unfinished();
        if (events.empty()) return;
        for (const Event& e : events) e.state()->wait_quietly();
        if (in_order_) return;
    }
}

}  // namespace pardo::device
