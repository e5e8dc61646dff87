// src/device/queue/event.cpp: how the completion of a driver's work is noticed: by asking, by waiting, and by a watcher thread.
#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "base/env.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

/// How long a waiting thread polls before it lets the watcher thread or the driver wake it, which takes tens of microseconds: longer where
/// the work itself needs no core. And how long of that it keeps its core from others.
constexpr auto ask_for = std::chrono::microseconds(200), ask_gpu_for = std::chrono::microseconds(20000);
constexpr auto ask_hard_for = std::chrono::microseconds(20);
/// Out of order: how many events a sweep asks about.
constexpr std::size_t most_asked = 64;

/// What `check` throws, if anything.
std::optional<Error> error_of(const std::function<void()>& check) {
    if (!check) return std::nullopt;
    try {
        check();
    } catch (...) {
        return current_error();
    }
    return std::nullopt;
}

}  // namespace

DriverEvent::DriverEvent(Queue* queue, DriverCore* core, Request&& request)
    : ScheduledEvent(queue, true, std::move(request)), core_(core) {}
DriverEvent::~DriverEvent() = default;

EventStatus DriverEvent::poll() noexcept {
    core_->poll(*this);
    return known_status();
}

void DriverEvent::watched() noexcept { core_->watch(*this); }

bool DriverEvent::on_gpu() const { return core_->device()->info().type == DeviceType::Gpu; }

void DriverEvent::wait_quietly() {
    if (known_done()) return;
    const Blocking blocking;
    if (on_gpu() && core_->ask(*this, std::chrono::steady_clock::now() + ask_gpu_for)) return;
    while (!known_done()) {
        if (core_->wait_natively(*this)) continue;
        core_->watch(*this);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return known_done(); });
    }
}

bool DriverEvent::done_within(std::chrono::milliseconds limit) {
    if (known_done()) return true;
    const Blocking blocking;
    const auto begin = std::chrono::steady_clock::now();
    const auto patience = on_gpu() ? ask_gpu_for : ask_for;
    if (!known_done() && !core_->ask(*this, begin + std::min<std::chrono::nanoseconds>(patience, limit))) {
        core_->watch(*this);
        std::unique_lock lock(mutex_);
        if (!changed_.wait_until(lock, begin + limit, [this] { return known_done(); })) return false;
    }
    return true;
}

Ref<Marker> DriverCore::marker_of(DriverEvent& event) {
    std::lock_guard lock(mutex_);
    if (event.taken_ || event.sequence_ == 0) return nullptr;
    if (event.marker_) return event.marker_;
    const auto at = std::lower_bound(markers_.begin(), markers_.end(), event.sequence_,
                                     [](const Ref<Marker>& marker, std::uint64_t sequence) { return marker->sequence() < sequence; });
    return at == markers_.end() ? enqueue_marker() : *at;
}

Ref<Marker> DriverCore::oldest_marker() {
    std::lock_guard lock(mutex_);
    if (in_flight_.empty()) return nullptr;
    return markers_.empty() ? enqueue_marker() : markers_.front();
}

DriverCore::Answer DriverCore::ask_about(const Marker& marker) noexcept {
    Answer answer;
    answer.status = stream_->query(marker.native(), answer.error);
    return answer;
}

std::optional<DriverCore::Answer> DriverCore::ask_about_tail(DriverEvent& event) noexcept {
    if (!late_markers_) return std::nullopt;
    std::lock_guard lock(mutex_);
    const bool marked = event.marker_ || (!markers_.empty() && markers_.back()->sequence() >= event.sequence_);
    if (event.taken_ || event.sequence_ == 0 || event.sequence_ != submitted_ || marked) return std::nullopt;
    Answer answer;
    const std::optional<NativeStatus> status = stream_->query_all(answer.error);
    if (!status) return std::nullopt;
    answer.status = *status;
    return answer;
}

void DriverCore::complete(const Marker* marker, const Answer& answer, DriverEvent* event) {
    Batch batch;
    std::vector<Ref<Marker>> passed;  // given back after the lock
    {
        std::lock_guard lock(mutex_);
        if (in_order_) {
            const std::uint64_t last = marker ? marker->sequence() : event->sequence_;
            while (!in_flight_.empty() && in_flight_.front()->sequence_ <= last) {
                batch.push_back(std::move(in_flight_.front()));
                in_flight_.pop_front();
            }
            while (!markers_.empty() && markers_.front()->sequence() <= last) {
                passed.push_back(std::move(markers_.front()));
                markers_.pop_front();
            }
        } else if (!event->taken_) {
            batch.emplace_back(event);
            const auto at = std::lower_bound(in_flight_.begin(), in_flight_.end(), event->sequence_,
                                             [](const Ref<DriverEvent>& e, std::uint64_t sequence) { return e->sequence_ < sequence; });
            if (at != in_flight_.end() && at->get() == event) in_flight_.erase(at);
        }
        for (const Ref<DriverEvent>& e : batch) begin_finishing(*e);
    }
    finish_natives(batch, marker, answer);
    end_finishing_all(batch);
}

void DriverCore::end_finishing_all(const Batch& batch) {
    std::lock_guard lock(mutex_);
    for (const Ref<DriverEvent>& e : batch) end_finishing(*e);
}

void DriverCore::finish_natives(const Batch& batch, const Marker* marker, const Answer& answer) {
    static std::atomic<std::uint64_t> finished{0};
    const std::uint64_t before = finished.fetch_add(batch.size(), std::memory_order_relaxed);
    if (std::bit_width(before) != std::bit_width(before + batch.size())) register_exit();
    // What has no marker of its own failed if the marker after it did: see Stream::marks_late.
    const Answer nothing, &late = late_markers_ ? answer : nothing;
    std::shared_ptr<Failure> shared;
    for (const Ref<DriverEvent>& e : batch) {
        const Answer own = e->marker_ && e->marker_.get() != marker ? ask_about(*e->marker_) : Answer();
        const Answer& its = !e->marker_ ? late : e->marker_.get() == marker ? answer : own;
        if (e->marker_) {
            if (e->request_.timed) {
                std::int64_t submitted = e->submitted_at, start = 0, end = 0;
                stream_->times(e->marker_->native(), submitted, start, end);
                e->submitted_at = submitted;
                e->started_at = start;
                e->ended_at = end;
            }
            e->marker_ = nullptr;
        }
        Request& request = e->request_;
        for (const Event& need : request.needs) {
            if (!known_done(need)) need.state()->wait_quietly();  // it is complete for the driver
        }
        std::shared_ptr<Failure> inherited = inherited_from(request.needs);
        request.needs.clear();
        request.kept.clear();
        const std::optional<Error> found =
            inherited || its.status == NativeStatus::Failed ? std::nullopt : error_of(std::exchange(request.check, nullptr));
        request.check = nullptr;
        if (inherited) {
            e->set_failed(std::move(inherited));
        } else if (its.status == NativeStatus::Failed && shared) {
            e->set_failed(shared);
        } else if (its.status == NativeStatus::Failed) {
            // Copies of a few bytes fail together with other work only.
            const auto may_have = [](const Ref<DriverEvent>& other) { return other->request_.label.name.str() != small_write; };
            const auto culprit = late_markers_ ? std::find_if(batch.begin() + (&e - batch.data()), batch.end(), may_have) : batch.end();
            const DriverEvent& named = culprit == batch.end() ? *e : **culprit;
            e->set_failed(its.error ? *its.error : Error(ErrorCode::Device, "the driver failed"), named.request_.label);
            if (late_markers_) shared = e->failure();  // of everything after it
        } else if (found) {
            e->set_failed(*found, e->request_.label);
        } else {
            e->set_complete();
        }
    }
}

void DriverCore::fail_all(const Error& error) noexcept {
    Batch batch;
    std::vector<Ref<Marker>> passed;
    {
        std::lock_guard lock(mutex_);
        batch.assign(in_flight_.begin(), in_flight_.end());
        in_flight_.clear();
        passed.assign(markers_.begin(), markers_.end());
        markers_.clear();
        for (const Ref<DriverEvent>& e : batch) begin_finishing(*e);
    }
    std::shared_ptr<Failure> first;
    for (const Ref<DriverEvent>& e : batch) {
        e->marker_ = nullptr;
        e->request_.needs.clear();
        e->request_.kept.clear();
        e->request_.check = nullptr;
        if (first) {
            e->set_failed(first);
        } else {
            e->set_failed(error, e->request_.label);
            first = e->failure();
        }
    }
    end_finishing_all(batch);
}

void DriverCore::poll(DriverEvent& event) noexcept {
    if (driver_gone()) return event.lose(lost_failure(device_));
    try {
        std::optional<Answer> answer = ask_about_tail(event);
        const Ref<Marker> marker = answer ? nullptr : marker_of(event);
        if (marker) answer = ask_about(*marker);
        if (answer && answer->status != NativeStatus::Unfinished) complete(marker.get(), *answer, &event);
    } catch (const Error& e) {
        fail_all(e);
    }
}

/// Asks the driver again and again until the event is complete; false when the time is over first, or when another thread completes it.
bool DriverCore::ask(DriverEvent& event, std::chrono::steady_clock::time_point until) noexcept {
    using Clock = std::chrono::steady_clock;
    if (driver_gone()) {
        event.lose(lost_failure(device_));
        return true;
    }
    try {
        const Clock::time_point hard_until = std::min(until, Clock::now() + ask_hard_for);
        while (!event.known_done()) {
            std::optional<Answer> answer = ask_about_tail(event);
            const Ref<Marker> marker = answer ? nullptr : marker_of(event);
            if (marker) answer = ask_about(*marker);
            if (answer && answer->status != NativeStatus::Unfinished) {
                complete(marker.get(), *answer, &event);
                continue;
            }
            const Clock::time_point now = Clock::now();
            if (now >= (answer ? until : hard_until)) return false;
            if (!answer || now >= hard_until) std::this_thread::yield();
        }
    } catch (const Error& e) {
        fail_all(e);
    }
    return event.known_done();
}

bool DriverCore::wait_natively(DriverEvent& event) noexcept {
    if (driver_gone()) {
        event.lose(lost_failure(device_));
        return true;
    }
    try {
        const Ref<Marker> marker = marker_of(event);
        if (!marker) return false;
        stream_->wait(marker->native());
        complete(marker.get(), ask_about(*marker), &event);
    } catch (const Error& e) {
        fail_all(e);
    }
    return true;
}

void DriverCore::sweep() noexcept {
    if (driver_gone()) return;
    try {
        if (in_order_) {
            while (const Ref<Marker> marker = oldest_marker()) {
                const Answer answer = ask_about(*marker);
                if (answer.status == NativeStatus::Unfinished) return;
                complete(marker.get(), answer, nullptr);
            }
            return;
        }
        Batch asked;
        {
            std::lock_guard lock(mutex_);
            asked.assign(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(std::min(most_asked, in_flight_.size())));
        }
        for (const Ref<DriverEvent>& e : asked) poll(*e);
    } catch (const Error& e) {
        fail_all(e);
    }
}

void DriverCore::watch(DriverEvent& event) noexcept {
    if (driver_gone() || event.known_done() || event.watching_.exchange(true)) return;
    try {
        std::lock_guard lock(watch_mutex_);
        start(watcher_started_, [this] { serve_watched(); });
        if (!in_order_ && !event.native_.load()) return;  // it comes when it is at the driver
        watched_.emplace_back(&event);
        ++watch_news_;
        watch_wake_.notify_one();
    } catch (const Error& e) {
        warn_once("driver queue watcher", "callbacks of a queue are late: " + e.message());
    }
}

void DriverCore::serve_watched() {
    std::uint64_t seen = 0;
    for (;;) {
        std::vector<Ref<DriverEvent>> watched, over;
        {
            Lock lock(watch_mutex_);
            const auto live = std::partition(watched_.begin(), watched_.end(), [](const Ref<DriverEvent>& e) { return e->known_done(); });
            over.assign(watched_.begin(), live);
            watched_.erase(watched_.begin(), live);
            if (watched_.empty() && over.empty() && notified_.empty()) {
                watch_wake_.wait(lock, [&] { return watch_closed_ || !watched_.empty() || !notified_.empty(); });
                if (watch_closed_) return;
            }
            // Out of order each is looked at once: the driver calls for it, or it is waited for.
            if (in_order_) {
                watched = watched_;
            } else {
                watched.swap(watched_);
            }
            seen = watch_news_;
        }
        over.clear();
        if ((in_order_ && watched.empty()) || watch_some(watched)) continue;
        watched.clear();
        Lock lock(watch_mutex_);
        watch_wake_.wait(lock, [&] { return watch_closed_ || watch_news_ != seen; });
        if (watch_closed_) {  // events hold the core: what others complete must not be held by it
            watched.swap(watched_);
            return;
        }
    }
}

/// Waits for one of them, or has the driver call; false when there is nothing to do before the next news.
bool DriverCore::watch_some(std::vector<Ref<DriverEvent>>& watched) {
    if (in_order_) {
        // Step by step from the oldest, so that an event that is watched from now on is noticed in time as well.
        Ref<DriverEvent> oldest;
        {
            std::lock_guard lock(mutex_);
            if (!in_flight_.empty()) oldest = in_flight_.front();
        }
        if (!oldest || driver_gone()) return false;
        wait_natively(*oldest);  // false when another thread has just taken it: on with the next
        return true;
    }
    Batch complete_now;
    {
        std::lock_guard lock(watch_mutex_);
        complete_now.swap(notified_);
    }
    for (const Ref<DriverEvent>& e : complete_now) poll(*e);
    bool waited = !complete_now.empty();
    for (std::size_t i = 0; i < watched.size(); ++i) {
        const Ref<DriverEvent>& e = watched[i];
        if (e->notifying_ || e->known_done()) continue;
        const Ref<Marker> marker = marker_of(*e);
        if (!marker) continue;
        e->notifying_ = true;
        e->retain();  // the callback's
        if (stream_->notify(marker->native(), &DriverCore::notified, e.get())) continue;
        e->release();
        e->notifying_ = false;
        {
            std::lock_guard lock(watch_mutex_);
            watched_.insert(watched_.begin(), watched.begin() + static_cast<std::ptrdiff_t>(i) + 1, watched.end());
        }
        wait_natively(*e);
        sweep();
        return true;
    }
    return waited;
}

void DriverCore::notified(void* context) {
    auto* event = static_cast<DriverEvent*>(context);
    const Ref<DriverCore> core = event->core_;
    std::lock_guard lock(core->watch_mutex_);
    core->notified_.emplace_back(event);
    event->release();
    ++core->watch_news_;
    core->watch_wake_.notify_one();
}

}  // namespace pardo::device
