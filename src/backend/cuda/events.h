// src/backend/cuda/events.h: the driver's events, kept for reuse, and the clock that relates them to the host's.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/libraries/driver.h"

namespace pardo::cuda {

class CudaDevice;

/// A moment that both the device's clock and the host's are known for.
struct ClockBase {
    EventHandle event = nullptr;
    std::int64_t host_ns = 0;
    ~ClockBase();
};

/// What a device::NativeEvent is here.
struct StreamEvent {
    CudaDevice* device = nullptr;
    EventHandle end = nullptr;
    EventHandle start = nullptr;      // with profiling
    std::shared_ptr<ClockBase> base;  // with profiling
};

/// Events of one device that are not in use. Safe from any thread; the device's context is current.
class EventPool {
public:
    EventPool(CudaDevice* device, bool timed) : device_(device), timed_(timed) {}
    StreamEvent* take();
    void give(StreamEvent* event) noexcept;
    /// The clock's latest base, renewed from time to time: the driver tells distances as floats, which are exact only when short.
    std::shared_ptr<ClockBase> base();

private:
    CudaDevice* device_;
    const bool timed_;
    std::mutex mutex_;
    std::vector<StreamEvent*> free_;
    std::shared_ptr<ClockBase> base_;
    StreamHandle clock_stream_ = nullptr;
};

/// Blocks until an event is reached: looks for a while, because being woken by the driver takes tens of microseconds, and then sleeps (if
/// the event was made with event_blocking_sync).
Result await(EventHandle event) noexcept;

/// Nanoseconds of the host's clock (device::now_ns) at which a timed event was reached; 0 when the driver does not tell.
std::int64_t host_time(const ClockBase& base, EventHandle event) noexcept;

}  // namespace pardo::cuda
