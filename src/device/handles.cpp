// src/device/handles.cpp: the public handles Device, Queue and Event.
#include <utility>

#include <pardo/error.h>

#include "device/device.h"

namespace pardo {

Device::Device() : impl_(device::default_device()) {}
Device::Device(std::string_view selector) : impl_(device::select(selector)) {}
const DeviceInfo& Device::info() const { return impl_->info(); }
std::string Device::id() const { return impl_->id(); }
bool Device::supports(DType dtype) const { return impl_->supports(dtype); }

std::optional<std::int64_t> Device::free_memory() const { return impl_->free_memory(); }
std::optional<Device> Device::parent() const {
    device::Device* parent = impl_->parent();
    return parent ? std::optional<Device>(parent) : std::nullopt;
}
std::vector<Device> Device::create_sub_devices(const Partition& partition) const {
    std::vector<Device> parts;
    for (device::Device* d : impl_->sub_devices(partition)) parts.emplace_back(d);
    return parts;
}

Queue::Queue() : Queue(device::default_device()->queue()) {}
Queue Queue::of(const Device& device) { return Queue(device.impl()->queue()); }
Queue::Queue(const Device& device, QueueOrder order, bool profiling) : impl_(device.impl()->create_queue(order, profiling).detach()) {}
Queue::Queue(device::Queue* impl) : impl_(impl) { impl_->retain(); }
Queue::Queue(const Queue& o) : Queue(o.impl_) {}
Queue& Queue::operator=(const Queue& o) {
    Queue copy(o);
    std::swap(impl_, copy.impl_);
    return *this;
}
Queue::~Queue() { impl_->release(); }
Device Queue::device() const { return Device(impl_->device()); }
QueueOrder Queue::order() const { return impl_->order(); }
bool Queue::profiling() const { return impl_->profiling(); }
void Queue::wait() const { impl_->wait(); }
Event Queue::submit_barrier() const { return impl_->barrier(); }

Event::Event() noexcept = default;
Event::Event(device::EventState* state) noexcept : state_(state) {
    if (state_) state_->retain();
}
Event::Event(const Event& o) noexcept : Event(o.state_) {}
Event::Event(Event&& o) noexcept : state_(std::exchange(o.state_, nullptr)) {}
Event& Event::operator=(Event o) noexcept {
    std::swap(state_, o.state_);
    return *this;
}
Event::~Event() {
    if (state_) state_->release();
}
void Event::wait() const {
    if (state_) state_->wait();
}
bool Event::wait_for(int milliseconds) const { return !state_ || state_->wait_for(std::chrono::milliseconds(milliseconds)); }
bool Event::done() const noexcept { return !state_ || state_->done(); }
EventStatus Event::status() const noexcept { return state_ ? state_->status() : EventStatus::Complete; }
Profiling Event::profiling() const {
    const Profiling times = state_ ? state_->times() : Profiling();
    if (times.queued == 0) {
        throw Error(ErrorCode::Value,
                    "Event.profiling: nothing was timed: the queue was not made with profiling=True, or had no work to do");
    }
    return times;
}
void Event::add_done_callback(std::function<void()> f) const {
    if (state_) return state_->on_done(std::move(f));
    device::run_on_helper_thread(std::move(f));
}

MemoryStats memory_stats(const Device& device) { return device.impl()->memory_stats(); }
void trim_memory(const Device& device) { device.impl()->trim_memory(); }
void set_memory_limit(const Device& device, std::int64_t bytes) {
    if (bytes < 0) throw Error(ErrorCode::Value, "set_memory_limit: " + std::to_string(bytes) + " bytes; expected 0 (no limit) or more");
    device.impl()->set_memory_limit(bytes);
}
void reset_memory_peak(const Device& device) { device.impl()->reset_memory_peak(); }

}  // namespace pardo
