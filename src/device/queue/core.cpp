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
    : Scheduler(queue, Runner::Driver),
      stream_(std::move(stream)),
      late_markers_(in_order_ && !queue->profiling() && stream_->marks_late()),
      small_work_ns_(device_->info().type == DeviceType::Gpu ? small_gpu_work_ns : small_work_ns) {
    driver_in_use();
    static std::once_flag once;
    std::call_once(once, register_exit);
}

DriverCore::~DriverCore() {
    if (driver_gone()) (void)stream_.release();  // its driver must not be called any more
}

void DriverCore::sort(const std::vector<Event>& events, bool needed, bool task, Sorted& sorted) {
    for (const Event& e : events) {
        EventState* state = e.state();
        if (!state) continue;
        if (!state->known_done()) {
            auto* driven = state->polled() ? static_cast<DriverEvent*>(state) : nullptr;
            const bool own = driven && driven->core_.get() == this;
            if (own && in_order_) {
                if (needed && !implied(e, true)) sorted.needs.push_back(e);
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

Ref<DriverEvent> DriverCore::new_event(Request&& request, bool task, Sorted& sorted) {
    add_fence(request);
    Ref<DriverEvent> event(new DriverEvent(queue_, this, std::move(request)));
    if (event->request_.timed) event->queued_at = now_ns();
    sort(event->request_.needs, true, task, sorted);
    sort(event->request_.after, false, task, sorted);
    if (sorted.inherited) {
        event->request_ = {};
        event->set_failed(std::move(sorted.inherited));
        return event;
    }
    event->request_.needs = std::move(sorted.needs);
    return event;
}

Event DriverCore::submit(Request&& request, NativeCall& call, bool by_worker) {
    Sorted sorted;
    const Ref<DriverEvent> event = new_event(std::move(request), false, sorted);
    if (event->known_done()) return Event(event.get());
    event->may_fail_ = event->request_.check || event->request_.program || !event->request_.needs.empty();
    bool now = !by_worker && sorted.foreign.empty(), look = false;
    if (now) {
        std::lock_guard lock(mutex_);
        now = !in_order_ || (tasks_.empty() && !current_);
        try {
            if (now) submit_natively(*event, sorted, call);
        } catch (const Error& e) {
            const std::string who = event->request_.label.name.str() + ": ";  // which libraries' calls say themselves
            throw e.with_message((e.message().starts_with(who) ? "" : who) + e.message());
        }
        look = now && (submitted_ % look_every == 0 || in_flight_.size() >= most_ahead);
    }
    if (now) event->request_.after.clear();  // without the lock
    if (look) throttle();
    if (!now) {
        event->call_ = call.keep();
        defer(event, sorted.foreign);
    }
    return Event(event.get());
}

Event DriverCore::submit_task(Request&& request, std::function<void()> task) {
    Sorted sorted;
    const Ref<DriverEvent> event = new_event(std::move(request), true, sorted);
    if (event->known_done()) return Event(event.get());
    event->may_fail_ = true;
    event->task_ = std::move(task);
    defer(event, sorted.foreign);
    return Event(event.get());
}

Event DriverCore::submit_turn(Request&& request, NativeCode code) {
    Sorted sorted;
    const Ref<DriverEvent> event = new_event(std::move(request), false, sorted);
    if (event->known_done()) return Event(event.get());
    event->may_fail_ = true;
    event->code_ = std::move(code);
    bool now = sorted.foreign.empty() && held_locks().count == 0, look = false;  // the code may need what others do who need such a lock
    if (now) {
        std::lock_guard lock(mutex_);
        now = !in_order_ || (tasks_.empty() && !current_);
        if (now) {
            event->taken_ = true;
            if (in_order_) current_ = event;  // what comes after it stays after it
            enter(*event);
        }
    }
    if (!now) {
        defer(event, sorted.foreign);
        return Event(event.get());
    }
    Outcome outcome;
    try {
        run_turn(*event, sorted);
    } catch (...) {
        outcome.raised = current_error();
    }
    if (outcome.raised) {
        const std::vector<Event> needs = event->request_.needs, earlier = event->request_.after;
        wait_for_earlier(needs, earlier);
        finish(*event, std::move(outcome));
    }
    std::vector<Event> after;  // goes without the lock
    {
        std::lock_guard lock(mutex_);
        if (event->native_) std::swap(after, event->request_.after);
        end_taken(*event);
        wake_.notify_one();
        look = submitted_ % look_every == 0 || in_flight_.size() >= most_ahead;
    }
    if (look && !inside_task()) throttle();
    return Event(event.get());
}

void DriverCore::submit_natively(DriverEvent& event, const Sorted& sorted, NativeCall& call) {
    SmallVector<NativeEvent, 8> after;
    const bool timed = event.request_.timed;
    for (const Ref<Marker>& marker : sorted.natives) after.push_back(marker->native());
    if (unmarked_ > 0 && behind_unmarked_ns_ + event.request_.cost_ns > small_work_ns_) enqueue_marker();
    const bool mark_now = !late_markers_ || timed || unmarked_ + 1 >= most_unmarked;
    NativeEvent native = nullptr;
    if (timed) event.submitted_at = now_ns();
    in_flight_.emplace_back(&event);  // before the call, so that nothing fails after it
    try {
        call.run(*stream_, {after, mark_now ? &native : nullptr, timed});
    } catch (...) {
        in_flight_.pop_back();
        throw;
    }
    event.sequence_ = ++submitted_;
    if (event.taken_) {
        event.taken_ = false;  // it was deferred: the driver has it now
    } else {
        enter(event);
    }
    if (mark_now) {
        event.marker_ = new Marker(this, native, event.sequence_);
        if (in_order_) markers_.push_back(event.marker_);
        unmarked_ = 0;
    } else {
        behind_unmarked_ns_ = unmarked_ > 0 ? behind_unmarked_ns_ + event.request_.cost_ns : 0;
        ++unmarked_;
    }
    event.native_.store(true);
    event.hands_on_.store(late_markers_ && !event.may_fail_);
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
            const auto done = [](const ScheduledEvent& e) { return e.known_done(); };
            if (unfinished_.empty() && std::all_of(finishing_.begin(), finishing_.end(), done)) return true;
            if (outstanding_ > static_cast<std::int64_t>(in_flight_.size())) return false;
        }
        if (look == 0) sweep();
    }
    return false;
}

}  // namespace pardo::device
