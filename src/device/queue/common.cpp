// src/device/queue/common.cpp: what all queues share: their end, the canonical queue of a device, and the location hook.
#include <algorithm>
#include <atomic>

#include <pardo/array.h>
#include <pardo/binding/hooks.h>

#include "base/fork.h"
#include "device/device.h"
#include "device/external.h"
#include "device/graphics.h"
#include "device/selection/registry.h"

namespace pardo::device {
namespace {

std::atomic<std::shared_ptr<const std::string> (*)()> location_hook{nullptr};
thread_local const Text* noted_location = nullptr;

/// Of what each device makes once; one for all of them, because a fork has to find it at rest. A thread that makes a queue may wait for
/// others, never the other way round.
constinit std::mutex making_once;

/// Queues that are not referenced any more, and that have work to do.
constexpr int most_living_on = 64;
std::atomic<int> living_on{0};

}  // namespace

void Queue::destroy(Queue* self) {
    const bool by_host = self->waits_for_host();
    if (by_host || self->may_last()) {
        // The thread that drops it may be the one that has to provide what it waits for, or to end that: it is destroyed when its work
        // is done.
        const Event end = self->barrier();
        if (end.state()) {
            // Each has a thread: where many live on already, the caller waits, until it is interrupted.
            if (!by_host && living_on.load(std::memory_order_relaxed) >= most_living_on) (void)end.state()->wait_or_ask(true);
            living_on.fetch_add(1, std::memory_order_relaxed);
            end.state()->on_done([self] {
                living_on.fetch_sub(1, std::memory_order_relaxed);
                destroy(self);
            });
            return;
        }
    }
    self->wait_quietly();
    const Ref<FailureLog> log(self->failures());
    delete self;
    log->lose();
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

void hold_canonical_at_fork() {
    at_fork(ForkStage::Programs, {[] { making_once.lock(); }, [] { making_once.unlock(); }, [] { making_once.unlock(); }});
}

Device::Attachment& Device::make_plans(std::unique_ptr<Attachment> (*make)()) {
    const std::lock_guard lock(making_once);
    if (!plans_) {
        plans_ = make();
        plans_made_.store(plans_.get(), std::memory_order_release);
    }
    return *plans_;
}

Queue* Device::queue() {
    if (Queue* q = canonical_.load(std::memory_order_acquire)) return q;
    std::lock_guard lock(making_once);
    if (!queue_) queue_ = create_queue(QueueOrder::InOrder, false);
    canonical_.store(queue_.get(), std::memory_order_release);
    return queue_.get();
}

External& Device::external() {
    const std::lock_guard lock(making_once);
    if (!external_) external_ = make_external();
    return *external_;
}

std::shared_ptr<External> Device::make_external() { return std::make_shared<External>(this); }

Queue* Device::marker_queue() {
    const std::lock_guard lock(making_once);
    if (!markers_) markers_ = create_queue(QueueOrder::OutOfOrder, false);
    return markers_.get();
}

void Queue::order_after(const Event& event) {
    if (order_ == QueueOrder::InOrder) {
        (void)barrier({&event, 1});
    } else if (event.state()) {
        check_wait(*event.state());
        event.state()->wait_quietly();
    }
}

Event Queue::copy_strided(Buffer* to, Buffer* from, const StridedCopy& region, std::span<const Event> depends) {
    std::vector<Event> rows;
    if (!region.empty()) {
        for_each_row(region, [&](std::int64_t to_offset, std::int64_t from_offset) {
            Event row = copy(to, static_cast<std::size_t>(to_offset), from, static_cast<std::size_t>(from_offset),
                             static_cast<std::size_t>(region.extents[0]), depends);
            if (row.state()) rows.push_back(std::move(row));
        });
    }
    if (rows.size() == 1) return rows[0];
    return rows.empty() && depends.empty() ? Event() : barrier(rows.empty() ? depends : std::span<const Event>(rows));
}

Event Queue::prefetch(Buffer*, std::size_t, std::size_t, std::span<const Event> depends) {
    return depends.empty() ? Event() : barrier(depends);
}

const Platform& platform_of(Device* device) {
    while (device->parent()) device = device->parent();
    for (const Platform& platform : device->backend()->platforms()) {
        if (std::find(platform.devices.begin(), platform.devices.end(), device) != platform.devices.end()) return platform;
    }
    throw Error(ErrorCode::Internal, "device " + device->id() + " is of no platform");
}

Ref<Program> Device::compile_source(const SourceKernel& kernel) {
    throw Error(ErrorCode::Device, kernel.name + ": device " + id() + " compiles no text");
}

ProcessBlock Device::name_block(std::uintptr_t) {
    throw Error(ErrorCode::Device, "the driver of " + id() + " names no memory for other processes");
}
std::uintptr_t Device::open_block(std::string_view) { return name_block(0).offset; }
void Device::close_block(std::uintptr_t) noexcept {}

std::unique_ptr<GraphicsObject> Device::share_graphics(unsigned, unsigned) {
    throw Error(ErrorCode::Device, "the driver of " + id() + " shares no memory with OpenGL");
}

std::shared_ptr<void> Device::set_native_argument(void*, unsigned, const Buffer*, std::size_t, std::size_t) {
    throw Error(ErrorCode::Device, "kernels of " + id() + " keep no arguments: give the addresses with the launch");
}

Ref<Queue> Device::adopt_queue(void*, const std::shared_ptr<void>&) {
    throw Error(ErrorCode::Device, id() + " has no queues of a driver's; make one with queue_new");
}
void Device::await_native(NativeTurn&, void*) {
    throw Error(ErrorCode::Device, id() + " has no events of a driver's; event_new makes one that you complete");
}
void* Device::native_marker(NativeTurn&) {
    throw Error(ErrorCode::Device, id() + " has no events of a driver's; event_then tells of one's end");
}

Event Queue::native_task(NativeCode code, std::span<const BufferUse> uses, Label label, double cost_ns, std::span<const Event> depends) {
    const auto run = [code = std::move(code)] {
        NativeTurn turn;
        code(turn);
    };
    return host_task(run, uses, std::move(label), cost_ns, depends);
}

Ref<TextProgram> Device::compile_program(const ProgramText&) {
    throw Error(ErrorCode::Device, "Program: device " + id() + " compiles no text");
}

Text current_location() {
    if (noted_location && !noted_location->empty()) return *noted_location;
    auto* hook = location_hook.load(std::memory_order_acquire);
    return hook ? Text(hook()) : Text();
}

LocationScope::LocationScope(const Text& location) : outer_(std::exchange(noted_location, &location)) {}
LocationScope::~LocationScope() { noted_location = outer_; }

void set_hook(std::shared_ptr<const std::string> (*hook)()) { location_hook.store(hook, std::memory_order_release); }

}  // namespace pardo::device

namespace pardo {

void set_location_hook(std::shared_ptr<const std::string> (*hook)()) { device::set_hook(hook); }

}  // namespace pardo
