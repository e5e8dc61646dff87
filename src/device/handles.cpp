// src/device/handles.cpp: the public handles Device, Queue and Event.
#include <algorithm>
#include <utility>

#include <pardo/error.h>

#include "device/device.h"

namespace pardo {

Device::Device() : impl_(device::default_device()) {}
Device::Device(std::string_view selector) : impl_(device::select(selector)) {}
Device::Device(device::Queue* queue) : impl_(queue->device()) {
    if (queue == impl_->queue()) return;
    queue_ = queue;
    queue_->retain();
}
Device::Device(const Device& o) : impl_(o.impl_), queue_(o.queue_) {
    if (queue_) queue_->retain();
}
Device::~Device() {
    if (queue_) queue_->release();
}
const DeviceInfo& Device::info() const { return impl_->info(); }
std::string Device::id() const { return impl_->id(); }
bool Device::supports(DType dtype) const { return impl_->supports(dtype); }
bool Device::in_host_memory() const { return impl_->can(device::Feature::HostMemory); }
bool Device::takes_host_memory() const { return impl_->can(device::Feature::TakesHostMemory); }
bool Device::failures_stop_dependents() const { return impl_->can(device::Feature::StopsDependents); }
std::pair<int, int> Device::dlpack_device() const { return impl_->dlpack_device(MemoryKind::Device); }

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
Queue Queue::of(const Device& device) { return Queue(device.remembered() ? device.remembered() : device.impl()->queue()); }
Queue::Queue(const Device& device, QueueOrder order, bool profiling) : impl_(device.impl()->create_queue(order, profiling).detach()) {}
Queue::Queue(const Context& context, const Device& device, QueueOrder order, bool profiling) : impl_(nullptr) {
    if (!context.contains(device)) {
        std::string known;
        for (const Device& d : context.devices()) known += (known.empty() ? "" : ", ") + d.id();
        throw Error(ErrorCode::Placement, "Queue: device " + device.id() + " is not in the context, which has " + known);
    }
    Ref<device::Queue> made = device.impl()->create_queue(order, profiling);
    std::vector<device::Device*> devices;
    for (const Device& d : context.devices()) devices.push_back(d.impl());
    made->context = new device::Context(std::move(devices));
    impl_ = made.detach();
}
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
void Queue::wait() const {
    if (device::running_task()) {
        const Event all = impl_->barrier();
        if (all.state()) device::check_wait(*all.state());
    }
    impl_->wait();
}
Event Queue::marker() const { return impl_->barrier(); }

Context Queue::context() const {
    std::vector<Device> devices;
    for (device::Device* d : impl_->context ? impl_->context->devices() : device::platform_of(impl_->device()).devices)
        devices.emplace_back(d);
    return Context(devices);
}

Event Queue::barrier(ListOf<Event> depends) const {
    Event event = impl_->barrier(depends);
    if (order() == QueueOrder::OutOfOrder && event.state()) impl_->order_after(event);
    return event;
}

Event Queue::host_task(std::function<std::shared_ptr<void>()> f, const std::string& name, ListOf<Event> depends) const {
    return device::user_task(impl_, std::move(f), {name, device::current_location()}, depends);
}

Context::Context(ListOf<Device> devices) {
    if (devices.empty()) throw Error(ErrorCode::Value, "Context: at least one device is needed");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const auto before = devices.first(i);
        if (std::ranges::any_of(before, [&](const Device& d) { return d.impl() == devices[i].impl(); }))
            throw Error(ErrorCode::Value, "Context: device " + devices[i].id() + " is given twice");
        const device::Platform &first = device::platform_of(devices[0].impl()), &other = device::platform_of(devices[i].impl());
        if (&first == &other) continue;
        throw Error(ErrorCode::Value, "Context: devices of different platforms: " + devices[0].id() + " of " + first.name + ", " +
                                          devices[i].id() + " of " + other.name + "; make a context for each");
    }
    std::vector<Device> hardware;
    for (const Device& d : devices) hardware.push_back(d.without_queue());
    devices_ = std::make_shared<const std::vector<Device>>(std::move(hardware));
}
bool Context::contains(const Device& device) const {
    return std::find(devices_->begin(), devices_->end(), device.without_queue()) != devices_->end();
}

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
void Event::abandon() const {
    if (state_ && !state_->known_done()) state_->abandon();
}
bool Event::wait_for(int milliseconds) const {
    if (!state_) return true;
    if (milliseconds > 0) device::check_wait(*state_);
    return state_->wait_for(std::chrono::milliseconds(milliseconds));
}
bool Event::done_within(int milliseconds) const {
    if (!state_) return true;
    if (milliseconds > 0) device::check_wait(*state_);
    return state_->done_within(std::chrono::milliseconds(milliseconds));
}
bool Event::done() const noexcept { return !state_ || state_->done(); }
EventStatus Event::status() const noexcept { return state_ ? state_->status() : EventStatus::Complete; }
bool Event::waits_for_user_event() const { return state_ && state_->waits_for_user_event(); }
Profiling Event::profiling() const {
    const Profiling times = state_ ? state_->times() : Profiling();
    if (times.queued == 0) {
        throw Error(ErrorCode::Value,
                    "Event.profiling: nothing was timed: the queue was not made with profiling=True, or had no work to do");
    }
    return times;
}
std::uint64_t Event::add_done_callback(std::function<void()> f) const {
    if (state_) return state_->on_done(std::move(f));
    device::run_on_helper_thread(std::move(f));
    return 0;
}
bool Event::remove_done_callback(std::uint64_t id) const { return state_ && state_->drop(id); }
std::optional<Error> Event::failure(bool acknowledge) const {
    const std::shared_ptr<device::Failure> failed = state_ ? state_->failure() : nullptr;
    if (!failed) return std::nullopt;
    if (acknowledge) state_->acknowledge();
    return failed->error;
}
std::shared_ptr<void> Event::value() const { return done() && state_ ? state_->value : nullptr; }

MemoryStats memory_stats(const Device& device) { return device.impl()->memory_stats(); }
void trim_memory(const Device& device) { device.impl()->trim_memory(); }
void set_memory_limit(const Device& device, std::int64_t bytes) {
    if (bytes < 0) throw Error(ErrorCode::Value, "set_memory_limit: " + std::to_string(bytes) + " bytes; expected 0 (no limit) or more");
    device.impl()->set_memory_limit(bytes);
}
void reset_memory_peak(const Device& device) { device.impl()->reset_memory_peak(); }

}  // namespace pardo
