// src/backend/cuda/events.cpp: takes events from the pool, and reads their times.
#include "backend/cuda/events.h"

#include <cmath>

#include "backend/cuda/device.h"
#include "device/event.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

/// A float of milliseconds is exact to 60 ns up to here.
constexpr std::int64_t base_lasts_ns = 1'000'000'000;
constexpr std::int64_t spin_ns = 100'000;
constexpr int base_tries = 3;
constexpr std::size_t most_kept = 4096;

}  // namespace

ClockBase::~ClockBase() {
    if (event && !device::driver_gone()) driver().cuEventDestroy(event);
}

StreamEvent* EventPool::take() {
    {
        std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            StreamEvent* event = free_.back();
            free_.pop_back();
            return event;
        }
    }
    auto event = std::make_unique<StreamEvent>();
    event->device = device_;
    const unsigned flags = event_blocking_sync | (timed_ ? 0 : event_disable_timing);
    device_->check(driver().cuEventCreate(&event->end, flags), "cuEventCreate");
    if (timed_) {
        if (const Result failed = driver().cuEventCreate(&event->start, flags); failed != result::success) {
            driver().cuEventDestroy(event->end);
            device_->fail(failed, "cuEventCreate");
        }
    }
    return event.release();
}

void EventPool::give(StreamEvent* event) noexcept {
    event->base.reset();
    {
        std::lock_guard lock(mutex_);
        if (free_.size() < most_kept) {
            free_.push_back(event);
            return;
        }
    }
    if (!device::driver_gone()) {
        driver().cuEventDestroy(event->end);
        if (event->start) driver().cuEventDestroy(event->start);
    }
    delete event;
}

std::shared_ptr<ClockBase> EventPool::base() {
    std::lock_guard lock(mutex_);
    if (base_ && device::now_ns() - base_->host_ns < base_lasts_ns) return base_;
    const Driver& d = driver();
    if (!clock_stream_) device_->check(d.cuStreamCreate(&clock_stream_, stream_non_blocking), "cuStreamCreate");
    std::shared_ptr<ClockBase> best;
    std::int64_t shortest = 0;
    for (int i = 0; i < base_tries; ++i) {
        auto base = std::make_shared<ClockBase>();
        device_->check(d.cuEventCreate(&base->event, 0), "cuEventCreate");
        const std::int64_t before = device::now_ns();
        device_->check(d.cuEventRecord(base->event, clock_stream_), "cuEventRecord");
        device_->check(d.cuEventSynchronize(base->event), "cuEventSynchronize");
        const std::int64_t after = device::now_ns();
        base->host_ns = before + (after - before) / 2;
        if (best && after - before >= shortest) continue;
        shortest = after - before;
        best = std::move(base);
    }
    return base_ = best;
}

Result await(EventHandle event) noexcept {
    const std::int64_t give_up = device::now_ns() + spin_ns;
    do {
        const Result status = driver().cuEventQuery(event);
        if (status != result::not_ready) return status;
    } while (device::now_ns() < give_up);
    return driver().cuEventSynchronize(event);
}

std::int64_t host_time(const ClockBase& base, EventHandle event) noexcept {
    float milliseconds = 0;
    if (driver().cuEventElapsedTime(&milliseconds, base.event, event) != result::success) return 0;
    return base.host_ns + std::llround(1e6 * static_cast<double>(milliseconds));
}

}  // namespace pardo::cuda
