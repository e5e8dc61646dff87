// src/backend/null/memory.cpp: plain host memory, counted.
#include <algorithm>
#include <cstdlib>

#include "backend/null/device.h"
#include "base/size_text.h"

namespace pardo::null {
namespace {

class NullBuffer final : public device::Buffer {
public:
    NullBuffer(NullDevice* device, MemoryKind kind, std::uintptr_t address, std::size_t bytes, bool foreign, std::function<void()> release)
        : Buffer(device, kind, reinterpret_cast<void*>(address), bytes), null_(device), foreign_(foreign), release_(std::move(release)) {}
    ~NullBuffer() override {
        if (release_) release_();
        if (foreign_) return;
        std::free(reinterpret_cast<void*>(place()));
        null_->give_back(bytes_);
    }
    bool host_visible() const noexcept override { return reinterpret_cast<std::uintptr_t>(data_) == place(); }

private:
    std::uintptr_t place() const noexcept { return place_of(reinterpret_cast<std::uintptr_t>(data_)); }

    NullDevice* null_;
    bool foreign_;
    std::function<void()> release_;
};

constexpr std::size_t alignment = 64;

}  // namespace

Ref<device::Buffer> NullDevice::allocate(std::size_t bytes, MemoryKind kind, device::Queue*) { return allocate_at(bytes, kind, 0); }

/// The address is so far from where the memory is.
Ref<device::Buffer> NullDevice::allocate_at(std::size_t bytes, MemoryKind kind, std::uintptr_t distance) {
    const auto n = static_cast<std::int64_t>(bytes);
    std::lock_guard lock(mutex_);
    const bool allowed =
        bytes <= static_cast<std::size_t>(info_.max_mem_alloc_size) && (stats_.limit == 0 || n <= stats_.limit - stats_.in_use);
    void* data = allowed ? std::aligned_alloc(alignment, std::max(bytes + alignment - 1, alignment) / alignment * alignment) : nullptr;
    if (!data) {
        const std::int64_t most = stats_.limit ? stats_.limit : info_.global_mem_size;
        throw Error(ErrorCode::Memory, "cannot allocate " + std::to_string(bytes) + " bytes on " + id() + " (" +
                                           size_text(std::max<std::int64_t>(0, most - stats_.in_use)) + " free, " +
                                           (stats_.limit ? "limit " + size_text(stats_.limit) : "no limit") + ", " +
                                           size_text(stats_.in_use) + " in use)");
    }
    stats_.in_use += n;
    stats_.peak = std::max(stats_.peak, stats_.in_use);
    return new NullBuffer(this, kind, reinterpret_cast<std::uintptr_t>(data) + distance, bytes, false, {});
}

Ref<device::Buffer> NullDevice::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) {
    return new NullBuffer(this, kind, reinterpret_cast<std::uintptr_t>(data), bytes, true, std::move(release));
}

void NullDevice::give_back(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    stats_.in_use -= static_cast<std::int64_t>(bytes);
}

MemoryStats NullDevice::memory_stats() const {
    std::lock_guard lock(mutex_);
    return stats_;
}

void NullDevice::set_memory_limit(std::int64_t bytes) {
    std::lock_guard lock(mutex_);
    stats_.limit = bytes;
}

void NullDevice::reset_memory_peak() {
    std::lock_guard lock(mutex_);
    stats_.peak = stats_.in_use;
}

}  // namespace pardo::null
