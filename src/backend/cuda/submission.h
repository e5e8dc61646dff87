// src/backend/cuda/submission.h: what all native submissions have in common: context, waiting for others, the marker.
#pragma once

#include "backend/cuda/queue.h"

namespace pardo::cuda {

class CudaStream::Submission {
public:
    /// Makes the stream wait for `order.after`. Throws Device when that fails.
    Submission(CudaStream& owner, const device::NativeOrder& order) : Submission(owner, order, owner.lane_for(order)) {
        if (order.marker && (owner.profiling_ || order.timed)) begin_timed();
    }
    /// On a lane that is given; `started`: a timed event that has been begun, or null.
    Submission(CudaStream& owner, const device::NativeOrder& order, Lane& lane, StreamEvent* started = nullptr)
        : owner_(owner), order_(order), scope_(*owner.device_), lane_(lane), event_(started) {
        for (const device::NativeEvent event : order.after)
            check(driver().cuStreamWaitEvent(lane_.stream, static_cast<StreamEvent*>(event)->end, 0), "cuStreamWaitEvent");
    }
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;

    StreamHandle stream() const noexcept { return lane_.stream; }
    device::LibraryStates& libraries() noexcept { return lane_.libraries; }
    void check(Result result, const char* call) { owner_.device_->check(result, call); }
    /// What comes after it is timed by an event that another submission ends.
    StreamEvent* begin_turn() {
        begin_timed();
        return event_.release();
    }
    /// Records the marker, if one is wanted.
    void finish() {
        if (!order_.marker) {
            lane_.last.store(nullptr, std::memory_order_relaxed);
            return;
        }
        if (!event_) event_.reset(owner_.device_->events().take());
        check(driver().cuEventRecord(event_->end, lane_.stream), "cuEventRecord");
        lane_.last.store(event_.get(), std::memory_order_relaxed);
        *order_.marker = event_.release();
    }

private:
    struct Give {
        void operator()(StreamEvent* e) const { (e->start ? e->device->timed_events() : e->device->events()).give(e); }
    };
    void begin_timed() {
        EventPool& pool = owner_.device_->timed_events();
        event_.reset(pool.take());
        event_->base = pool.base();
        check(driver().cuEventRecord(event_->start, lane_.stream), "cuEventRecord");
    }

    CudaStream& owner_;
    const device::NativeOrder& order_;
    const ContextScope scope_;
    Lane& lane_;
    std::unique_ptr<StreamEvent, Give> event_;  // not yet recorded
};

}  // namespace pardo::cuda
