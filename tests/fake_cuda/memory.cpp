// tests/fake_cuda/memory.cpp: memory, copies and fills of the fake CUDA driver.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "world.h"

namespace fake {
namespace {

bool inside(std::uint64_t pointer, std::size_t bytes, std::uint64_t begin, std::size_t size) {
    return pointer >= begin && bytes <= size && pointer - begin <= size - bytes;
}
template <class Map> auto range_of(const Map& map, std::uint64_t pointer) {
    auto at = map.upper_bound(pointer);
    return at == map.begin() ? map.end() : std::prev(at);
}
std::size_t size_of(std::size_t bytes) { return bytes; }
std::size_t size_of(const HostRange& r) { return r.bytes; }
template <class Map> bool holds(const Map& map, std::uint64_t pointer, std::size_t bytes) {
    const auto at = range_of(map, pointer);
    return at != map.end() && inside(pointer, bytes, at->first, size_of(at->second));
}

Device* device_of(std::uint64_t pointer) {
    for (const auto& d : world().devices) {
        if (pointer >= d->base && pointer < d->base + d->memory) return d.get();
    }
    return nullptr;
}

/// Where the bytes are; null for what is not one allocation's. With the lock held.
char* bytes_at(std::uint64_t pointer, std::size_t bytes) {
    if (Device* d = device_of(pointer)) return holds(d->blocks, pointer, bytes) ? d->storage + (pointer - d->base) : nullptr;
    if (holds(world().managed, pointer, bytes) || holds(world().pinned, pointer, bytes)) return reinterpret_cast<char*>(pointer);
    return nullptr;
}

}  // namespace

char* locked_bytes_at(std::uint64_t pointer, std::size_t bytes) {
    std::lock_guard lock(world().mutex);
    return bytes_at(pointer, bytes);
}

namespace {

/// Copies between allocations when its turn comes.
std::function<Result()> copy_work(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    return [=] {
        char *target = locked_bytes_at(to, bytes), *source = locked_bytes_at(from, bytes);
        if (!target || !source) return result::illegal_address;
        std::memmove(target, source, bytes);
        return result::success;
    };
}

template <class T> Result fill(StreamHandle stream, DevicePointer to, T value, std::size_t count) {
    if (to % sizeof(T) != 0) return result::invalid_value;
    if (!locked_bytes_at(to, count * sizeof(T))) return result::invalid_value;
    return push(stream, [=] {
        auto* target = reinterpret_cast<T*>(locked_bytes_at(to, count * sizeof(T)));
        if (!target) return result::illegal_address;
        std::fill_n(target, count, value);
        return result::success;
    });
}

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

Result cuStreamSynchronize(StreamHandle stream);

// --- memory ------------------------------------------------------------------------------------------------------------------------

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    ENTER_CONTEXT("cuMemGetInfo");
    std::lock_guard lock(world().mutex);
    *total = current->memory;
    *free = current->memory - current->used;
    return 0;
}
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
    ENTER_CONTEXT("cuMemAlloc");
    if (bytes == 0) return result::invalid_value;
    World& w = world();
    std::lock_guard lock(w.mutex);
    const std::size_t rounded = (bytes + 511) / 512 * 512;
    std::uint64_t at = current->base;
    for (const auto& [begin, size] : current->blocks) {
        if (at + rounded <= begin) break;
        at = begin + (size + 511) / 512 * 512;
    }
    if (at + rounded > current->base + current->memory) return result::out_of_memory;
    current->blocks[at] = bytes;
    current->used += rounded;
    ++w.live["device memory"];
    *pointer = at;
    return 0;
}
Result cuMemFree_v2(DevicePointer pointer) {
    ENTER_CONTEXT("cuMemFree");
    World& w = world();
    Lock lock(w.mutex);
    if (const auto managed = w.managed.find(pointer); managed != w.managed.end()) {
        wait_idle(lock, current);
        munmap(reinterpret_cast<void*>(pointer), managed->second);
        w.managed.erase(managed);
        --w.live["managed memory"];
        return 0;
    }
    Device* d = device_of(pointer);
    if (!d || !d->blocks.contains(pointer)) return result::invalid_value;
    wait_idle(lock, d);
    if (end_external_mapping(d, pointer)) return 0;
    const auto at = d->blocks.find(pointer);
    const std::size_t rounded = (at->second + 511) / 512 * 512;
    std::memset(d->storage + (pointer - d->base), 0xdd, std::min<std::size_t>(rounded, 4096));  // who reads it later sees nonsense
    d->used -= rounded;
    d->blocks.erase(at);
    --w.live["device memory"];
    return 0;
}
Result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemHostAlloc");
    std::lock_guard lock(world().mutex);
    *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*pointer) return result::out_of_memory;
    world().pinned[number(*pointer)] = {bytes, true};
    ++world().live["pinned memory"];
    return 0;
}
Result cuMemFreeHost(void* pointer) {
    ENTER_CONTEXT("cuMemFreeHost");
    Lock lock(world().mutex);
    const auto at = world().pinned.find(number(pointer));
    if (at == world().pinned.end() || !at->second.owned) return result::invalid_value;
    wait_idle(lock, current);
    world().pinned.erase(number(pointer));
    std::free(pointer);
    --world().live["pinned memory"];
    return 0;
}
Result cuMemAllocManaged(DevicePointer* pointer, std::size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemAllocManaged");
    std::lock_guard lock(world().mutex);
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return result::out_of_memory;
    *pointer = number(p);
    world().managed[*pointer] = bytes;
    ++world().live["managed memory"];
    return 0;
}
Result cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemHostRegister");
    std::lock_guard lock(world().mutex);
    const auto at = range_of(world().pinned, number(pointer) + bytes - 1);
    if (at != world().pinned.end() && at->first + at->second.bytes > number(pointer)) return result::already_registered;
    world().pinned[number(pointer)] = {bytes, false};
    ++world().live["registration"];
    return 0;
}
Result cuMemHostUnregister(void* pointer) {
    ENTER_CONTEXT("cuMemHostUnregister");
    std::lock_guard lock(world().mutex);
    const auto at = world().pinned.find(number(pointer));
    if (at == world().pinned.end() || at->second.owned) return not_registered;
    world().pinned.erase(at);
    --world().live["registration"];
    return 0;
}
Result cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer) {
    ENTER_CONTEXT("cuPointerGetAttribute");
    std::lock_guard lock(world().mutex);
    Device* d = device_of(pointer);
    const bool managed = holds(world().managed, pointer, 1), pinned = holds(world().pinned, pointer, 1);
    if ((!d || !holds(d->blocks, pointer, 1)) && !managed && !pinned) return result::invalid_value;
    const auto range = [&]() -> std::pair<std::uint64_t, std::size_t> {
        if (managed) return *range_of(world().managed, pointer);
        if (pinned) return {range_of(world().pinned, pointer)->first, range_of(world().pinned, pointer)->second.bytes};
        return *range_of(d->blocks, pointer);
    };
    switch (attribute) {
        case pointer_range_start: *static_cast<std::uint64_t*>(value) = range().first; return 0;
        case pointer_range_size: *static_cast<std::size_t*>(value) = range().second; return 0;
        case pointer_memory_type: *static_cast<unsigned*>(value) = pinned ? memory_type_host : memory_type_device; return 0;
        case pointer_device_ordinal: *static_cast<int*>(value) = d ? d->ordinal : 0; return 0;
        default: return result::invalid_value;
    }
}

// --- copies and fills ----------------------------------------------------------------------------------------------------------------

Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyHtoDAsync");
    if (!locked_bytes_at(to, bytes)) return result::invalid_value;
    if (locked_bytes_at(number(from), bytes)) return push(stream, copy_work(to, number(from), bytes));
    // Pageable memory is the caller's again when the function returns.
    auto staged = std::make_shared<std::vector<char>>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    return push(stream, [=] {
        char* target = locked_bytes_at(to, bytes);
        if (!target) return result::illegal_address;
        std::memcpy(target, staged->data(), bytes);
        return result::success;
    });
}
Result cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyDtoHAsync");
    if (!locked_bytes_at(from, bytes)) return result::invalid_value;
    if (const char* given = std::getenv("FAKE_CUDA_NUMBER"); given && bytes == sizeof(std::int64_t)) {
        const std::int64_t value = std::atoll(given);
        const Result pushed = push(stream, [=] {
            std::memcpy(to, &value, sizeof value);
            return result::success;
        });
        return pushed ? pushed : cuStreamSynchronize(stream);
    }
    if (locked_bytes_at(number(to), bytes)) return push(stream, copy_work(number(to), from, bytes));
    const Result pushed = push(stream, [=] {
        const char* source = locked_bytes_at(from, bytes);
        if (!source) return result::illegal_address;
        std::memcpy(to, source, bytes);
        return result::success;
    });
    return pushed ? pushed : cuStreamSynchronize(stream);
}
Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyDtoDAsync");
    if (!locked_bytes_at(to, bytes) || !locked_bytes_at(from, bytes)) return result::invalid_value;
    return push(stream, copy_work(to, from, bytes));
}
Result cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyAsync");
    if (!locked_bytes_at(to, bytes) || !locked_bytes_at(from, bytes)) return result::invalid_value;
    return push(stream, copy_work(to, from, bytes));
}
Result cuMemcpyPeerAsync(DevicePointer to, ContextHandle to_context, DevicePointer from, ContextHandle from_context, std::size_t bytes,
                         StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyPeerAsync");
    Device *target, *source;
    {
        std::lock_guard lock(world().mutex);
        target = device_of(to);
        source = device_of(from);
    }
    if (target && handle_of(target) != to_context) return invalid_context;
    if (source && handle_of(source) != from_context) return invalid_context;
    if (!locked_bytes_at(to, bytes) || !locked_bytes_at(from, bytes)) return result::invalid_value;
    return push(stream, copy_work(to, from, bytes));
}
Result cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD8Async");
    return fill(stream, to, value, count);
}
Result cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD16Async");
    return fill(stream, to, value, count);
}
Result cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD32Async");
    return fill(stream, to, value, count);
}
Result cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD2D32Async");
    if (height == 0 || width == 0) return 0;
    const std::size_t bytes = (height - 1) * pitch + width * 4;
    if (to % 4 != 0 || pitch % 4 != 0 || !locked_bytes_at(to, bytes)) return result::invalid_value;
    return push(stream, [=] {
        char* target = locked_bytes_at(to, bytes);
        if (!target) return result::illegal_address;
        for (std::size_t y = 0; y < height; ++y) std::fill_n(reinterpret_cast<unsigned*>(target + y * pitch), width, value);
        return result::success;
    });
}

}  // extern "C"
