// src/device/queue.cpp: what all queues share: their end, the canonical queue of a device, and the location hook.
#include <atomic>

#include <pardo/array.h>

#include "device/device.h"

namespace pardo::device {
namespace {

std::atomic<std::string (*)()> location_hook{nullptr};

}  // namespace

void Queue::destroy(Queue* self) {
    self->wait_quietly();
    forget_queue(self);
    delete self;
}

void Queue::signal_stream(std::uintptr_t) {
    throw Error(ErrorCode::Device, "Queue: device " + device_->id() + " shares no streams with other libraries");
}
Event Queue::wait_for_stream(std::uintptr_t) {
    Queue::signal_stream(0);
    return {};
}

std::uint64_t Queue::next_serial() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Queue* Device::queue() {
    if (Queue* q = canonical_.load(std::memory_order_acquire)) return q;
    std::lock_guard lock(queue_mutex_);
    if (!queue_) queue_ = create_queue(QueueOrder::InOrder, false);
    canonical_.store(queue_.get(), std::memory_order_release);
    return queue_.get();
}

Ref<Program> Device::compile_source(const SourceKernel& kernel) {
    throw Error(ErrorCode::Device, kernel.name + ": device " + id() + " compiles no text");
}

std::string current_location() {
    auto* hook = location_hook.load(std::memory_order_acquire);
    return hook ? hook() : std::string();
}

void set_hook(std::string (*hook)()) { location_hook.store(hook, std::memory_order_release); }

}  // namespace pardo::device

namespace pardo {

void set_location_hook(std::string (*hook)()) { device::set_hook(hook); }

}  // namespace pardo
