// src/graph/exchange.cpp: memory of devices that other libraries use as well.
#include <pardo/exchange.h>

#include <pardo/error.h>

#include "base/env.h"
#include "device/driver_queue.h"
#include "graph/engine.h"
#include "graph/record.h"

namespace pardo {
namespace {

/// CUDA's streams that exist as long as the device.
constexpr ForeignStream legacy_stream = 1, thread_stream = 2;

/// The other library has let go, but work of it may be under way: the memory is not used anew before that is over. A stream of its own may
/// be gone by now, and is not asked.
void take_back(device::Queue& queue, device::Buffer& buffer, std::optional<ForeignStream> stream) noexcept {
    if (queue.native_stream() == 0 || device::driver_gone()) return;
    const bool lasting = stream && *stream >= legacy_stream && *stream <= thread_stream;
    try {
        buffer.note_write(queue.wait_for_stream(lasting ? *stream : device::Queue::all_streams));
    } catch (const Error& e) {
        log(LogLevel::Info, "memory that another library has let go: " + e.message());  // a lost device: nobody uses it again
    }
}

}  // namespace

std::optional<std::pair<int, int>> dlpack_device(const Array& x) {
    const std::pair<int, int> place = x.device().impl()->dlpack_device(x.memory_kind());
    return place.first == 0 ? std::nullopt : std::optional(place);
}

std::optional<Device> device_of_memory(std::uintptr_t address) {
    for (device::Device* d : device::visible_devices("cuda")) {
        if (d->holds(address)) return Device(d);
    }
    return std::nullopt;
}

ForeignStream native_stream(const Queue& queue) { return queue.impl()->native_stream(); }

ExportedMemory export_memory(const Array& x, std::optional<ForeignStream> stream, bool writable) {
    if (writable) graph::require_writeable("export", x);
    x.force();
    graph::Node& leaf = *x.node();
    device::Queue* queue = leaf.queue.get();
    device::Buffer* buffer = leaf.buffer.get();
    if (writable) {
        std::lock_guard guard(graph::state_of(queue).lock);
        plan::force_readers(buffer);
        buffer->set_foreign_writable();
    }
    std::vector<Event> before;
    if (writable) {
        buffer->collect_for_write(before);
    } else {
        buffer->collect_for_read(before);
    }
    bool ours = false;
    for (const Event& e : before) {
        if (stream && e.state()->queue() == queue && !e.done()) {
            ours = true;
        } else {
            e.wait();
        }
    }
    if (ours) queue->signal_stream(*stream);
    char* const data = static_cast<char*>(buffer->data()) + leaf.offset * itemsize(leaf.dtype);
    return {data, [kept = leaf.buffer, owner = leaf.queue, stream]() mutable {
                if (kept) take_back(*owner, *kept, stream);
                kept = nullptr;
                owner = nullptr;
            }};
}

Array import_memory(void* data, DType dtype, Extents shape, Extents strides, MemoryKind kind, bool read_only, std::function<void()> release,
                    const Queue& queue, std::optional<ForeignStream> stream) {
    if (stream) (void)queue.impl()->wait_for_stream(*stream);
    return graph::share_memory(data, dtype, shape, strides, kind, read_only, std::move(release), queue);
}

}  // namespace pardo
