// src/array/exchange.cpp: memory of devices that other libraries use as well.
#include <pardo/binding/exchange.h>

#include <pardo/error.h>

#include "array/lend.h"
#include "array/record.h"
#include "base/env.h"
#include "device/queue/queue.h"
#include "plan/force.h"

namespace pardo {
namespace {

/// No process has memory from here on, on any processor with addresses of 64 bits.
constexpr std::int64_t address_limit = std::int64_t{1} << 57;

/// The other library has released the memory, but its work may still run: the memory is not reused before that is over. A stream of its
/// own may have been destroyed, so it is not asked; what it did on our stream is in order already.
void take_back(device::Queue& queue, device::Buffer& buffer, std::optional<ForeignStream> stream) noexcept {
    if (device::driver_gone() || (stream && *stream == queue.native_stream())) return;
    try {
        buffer.note_write(queue.device()->foreign_work(stream == legacy_stream ? legacy_stream : 0), device::Access::WriteSome);
    } catch (const Error& e) {
        log(LogLevel::Info, "memory that another library has let go: " + e.message());  // a lost device: it is not used again
    }
}

}  // namespace

std::optional<std::pair<int, int>> dlpack_device(const Array& x) {
    const std::pair<int, int> place = x.device().impl()->dlpack_device(x.memory_kind());
    return place.first == 0 ? std::nullopt : std::optional(place);
}

bool only_holder(const Array& x) {
    x.force();
    const device::Buffer& buffer = *x.node()->buffer;
    return x.node()->use_count() == 1 && buffer.unshared() && !buffer.externally_writable() && !buffer.externally_readable();
}

bool only_array(const Array& x) {
    if (x.pending()) return false;
    const graph::Node& node = *x.node();
    return node.use_count() == 1 && !node.base && !node.buffer->externally_writable() && !node.buffer->externally_readable();
}

std::int64_t owned_bytes(const Array& x) {
    const graph::Node& node = *x.node();
    const bool shows_others = node.kind == graph::Kind::View || (!node.pending() && node.base);
    return shows_others ? 0 : x.nbytes();
}

void Loan::give_back() noexcept {
    device::Buffer* const buffer = std::exchange(buffer_, nullptr);
    if (buffer) arrays::take_back(*buffer, writes_);
}

std::optional<Loan> lend(const Array& x, bool writable, bool at_once) {
    if (at_once && x.pending()) return {};
    if (writable) arrays::require_writeable("export", x);
    x.force();
    device::Buffer& buffer = *x.node()->buffer;
    if (arrays::lend_at_once(*x.node(), writable)) return Loan(&buffer, writable);
    if (at_once) return {};
    if (writable) {
        std::lock_guard guard(graph::state_of(x.node()->queue.get()).lock);
        plan::force_readers(&buffer, plan::Compile::Unlocked);
        buffer.add_external_writer();
    } else {
        buffer.add_external_reader();
    }
    buffer.retain();
    Loan loan(&buffer, writable);
    if (writable && buffer.busy()) buffer.wait_for_write();
    return loan;
}

void share_for_good(const Array& x) { x.force().node()->buffer->set_externally_writable(); }

std::optional<NotedUses> noted_uses(const Array& x) {
    x.force();
    const device::Buffer& buffer = *x.node()->buffer;
    if (buffer.host_visible() || buffer.foreign()) return {};
    return NotedUses{reinterpret_cast<std::uintptr_t>(&buffer), x.node()->offset, buffer.noted()};
}

void* lend_memory(const Array& x, std::optional<ForeignStream> stream, bool writable) {
    x.force();
    x.node()->buffer->set_lent();
    return export_memory(x, stream, writable).data;
}

MemoryRange memory_range(const char* op_name, const void* first, DType dtype, Extents shape, Extents strides, std::int64_t unit) {
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorCode::Buffer, std::string(op_name) + ": the description of the memory is wrong: " + what);
    };
    if (shape.size() > max_rank)
        refuse(std::to_string(shape.size()) + " dimensions; at most " + std::to_string(max_rank) + " are supported");
    if (strides.size() != shape.size())
        refuse(std::to_string(strides.size()) + " strides for " + std::to_string(shape.size()) + " dimensions");
    bool empty = false;
    for (const std::int64_t extent : shape) {
        if (extent < 0) refuse("shape " + to_string(shape) + " has a negative extent");
        empty |= extent == 0;
    }
    if (empty) return {};
    const std::int64_t size = itemsize(dtype);
    std::int64_t bytes = size, low = 0, high = size;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (__builtin_mul_overflow(bytes, shape[d], &bytes)) refuse("shape " + to_string(shape) + " has more bytes than can be counted");
        if (shape[d] == 1) continue;
        std::int64_t reach = 0;
        bool overflow = __builtin_mul_overflow(strides[d], unit, &reach) || __builtin_mul_overflow(reach, shape[d] - 1, &reach);
        std::int64_t& bound = reach < 0 ? low : high;
        overflow = overflow || __builtin_add_overflow(bound, reach, &bound);
        if (overflow) refuse("shape " + to_string(shape) + " with strides " + to_string(strides) + " reaches out of the address space");
    }
    if (!first) refuse("shape " + to_string(shape) + " has elements, and their address is 0");
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first));  // negative: not a process's own
    std::int64_t begin = 0, end = 0;
    if (address < 0 || __builtin_add_overflow(address, low, &begin) || begin <= 0 || __builtin_add_overflow(address, high, &end) ||
        end > address_limit)
        refuse("shape " + to_string(shape) + " with strides " + to_string(strides) + " reaches out of the address space");
    return {static_cast<std::uintptr_t>(begin), static_cast<std::size_t>(end - begin)};
}

namespace {

/// The first device of which that is true, among those whose drivers know addresses: no other back end is asked for its devices.
template <class F> std::optional<Device> first_that_knows_addresses(F&& holds) {
    for (const auto& backend : device::backends()) {
        if (!backend->facts().knows_addresses) continue;
        for (device::Device* d : device::visible_devices(backend->name())) {
            if (holds(*d)) return Device(d);
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Device> device_of_memory(const MemoryRange& range) {
    return first_that_knows_addresses([&](device::Device& d) { return d.holds(range.low, range.bytes); });
}

std::optional<Device> device_of_dlpack(int type, int number) {
    const std::pair place(type, number);
    return first_that_knows_addresses([&](const device::Device& d) {
        return d.dlpack_device(MemoryKind::Device) == place || d.dlpack_device(MemoryKind::Shared) == place;
    });
}

ForeignStream native_stream(const Queue& queue) { return queue.impl()->native_stream(); }

ExportedMemory export_memory(const Array& x, std::optional<ForeignStream> stream, bool writable) {
    if (writable) arrays::require_writeable("export", x);
    x.force();
    const Array held(x.node());  // its memory stays when others rebind the caller's handle
    graph::Node& leaf = *held.node();
    device::Queue* queue = leaf.queue.get();
    device::Buffer* buffer = leaf.buffer.get();
    if (writable) {
        std::lock_guard guard(graph::state_of(queue).lock);
        plan::force_readers(buffer, plan::Compile::Unlocked);
        buffer->set_externally_writable();
    }
    std::vector<Event> needs, before;
    buffer->collect_for_read(graph::view_of(leaf), needs, before, device::Buffer::Look::Take);
    if (writable) buffer->collect_for_write(before);
    bool ours = false;
    const auto on_stream = [&](const Event& e) { return stream && e.state()->queue() == queue && !e.done(); };
    for (const Event& e : before) on_stream(e) ? void(ours = true) : e.state()->wait_done();
    for (const Event& e : needs) on_stream(e) ? void(ours = true) : buffer->wait_for(e);
    if (ours) queue->signal_stream(*stream);
    char* const data = static_cast<char*>(buffer->data()) + leaf.offset * itemsize(leaf.dtype);
    return {data, [kept = leaf.buffer, owner = leaf.queue, stream]() mutable {
                if (kept) take_back(*owner, *kept, stream);
                kept = nullptr;
                owner = nullptr;
            }};
}

Array import_memory(void* data, DType dtype, Extents shape, Extents strides, MemoryKind kind, bool read_only, std::function<void()> release,
                    const Queue& queue, std::optional<ForeignStream> stream, const char* op_name) {
    const MemoryRange range = memory_range(op_name, data, dtype, shape, strides, itemsize(dtype));
    if (range.bytes != 0 && reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(itemsize(dtype)) != 0) {
        throw Error(ErrorCode::Buffer, std::string(op_name) + ": elements of " + std::string(dtype_name(dtype)) +
                                           " must begin at multiples of " + std::to_string(itemsize(dtype)) + " bytes on " +
                                           queue.device().id() + "; copy them there first");
    }
    if (range.bytes != 0 && !queue.device().impl()->holds(range.low, range.bytes)) {
        throw Error(ErrorCode::Buffer, std::string(op_name) + ": the description of the memory is wrong: its " +
                                           std::to_string(range.bytes) + " bytes are not in one allocation of " + queue.device().id());
    }
    if (stream) (void)queue.impl()->wait_for_stream(*stream);
    return arrays::share_memory(op_name, data, dtype, shape, strides, kind, read_only, std::move(release), queue);
}

Array borrow_memory(const char* op_name, void* data, DType dtype, Extents shape, bool read_only, std::function<void()> release,
                    const Queue& queue) {
    const Strides strides = contiguous_strides(shape);
    const MemoryRange range = memory_range(op_name, data, dtype, shape, strides, itemsize(dtype));
    const bool of_host = queue.device().takes_host_memory();
    if (range.bytes != 0 && !of_host && !queue.device().impl()->holds(range.low, range.bytes)) {
        throw Error(ErrorCode::Buffer, std::string(op_name) + ": the memory is not in one allocation of " + queue.device().id());
    }
    return arrays::share_memory(op_name, data, dtype, shape, strides, of_host ? MemoryKind::Host : MemoryKind::Device, read_only,
                                std::move(release), queue, arrays::Owner::Lends);
}

void retire_memory(const Array& x, std::string message, std::optional<ForeignStream> stream) {
    x.force();
    const Array held(x.node());
    device::Queue* const queue = held.node()->queue.get();
    device::Buffer* const buffer = held.node()->buffer.get();
    std::vector<Event> needs, after;
    {
        const std::lock_guard guard(graph::state_of(queue).lock);
        plan::force_readers(buffer, plan::Compile::Unlocked);
        buffer->retire(std::move(message), needs, after);
    }
    const auto on_stream = [&](const Event& e) { return stream && e.state()->queue() == queue && !e.done(); };
    bool ours = false;
    for (const auto* events : {&after, &needs}) {
        for (const Event& e : *events) on_stream(e) ? void(ours = true) : e.state()->wait_done();
    }
    if (ours) queue->signal_stream(*stream);
    for (const Event& e : needs) {
        if (!on_stream(e)) buffer->wait_for(e);
    }
}

}  // namespace pardo
