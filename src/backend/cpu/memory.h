// src/backend/cpu/memory.h: the caching allocator of a CPU device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "device/device.h"

namespace pardo::cpu {

class Allocator;
struct Slab;

/// Held for a few instructions at a time; yields when somebody else is slow.
class SpinLock {
public:
    void lock() noexcept {
        for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins) {
            if (spins > 64) std::this_thread::yield();
        }
    }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> locked_{false};
};

/// A block of host memory. Object and block stay together while they wait for reuse, so that a small array costs two list operations.
class CpuBuffer final : public device::Buffer {
public:
    enum class Origin : std::uint8_t { Slab, Heap, Pages, Mapped, Foreign };

    CpuBuffer(device::Device* device, MemoryKind kind, void* data, std::size_t bytes) : Buffer(device, kind, data, bytes) {}
    bool host_visible() const noexcept override;

private:
    friend class Allocator;
    void dispose() override;
    /// Unfinished uses, after dropping the finished ones.
    std::vector<Event> unfinished();
    bool only_of(const device::Queue* queue);
    /// Those that are over: also failures of what used the block before, which are not the next owner's.
    void forget_uses();
    void start_over(std::size_t bytes, MemoryKind kind);

    Allocator* allocator_ = nullptr;
    CpuBuffer* next_ = nullptr;
    std::size_t capacity_ = 0;
    int size_class_ = 0;
    Origin block_origin_ = Origin::Heap;
    Slab* slab_ = nullptr;
    std::function<void()> release_;  // Foreign
};

/// Memory in size classes at most 12.5 % apart, 64-byte aligned, huge pages from 2 MiB on; large blocks begin at different places of a
/// page. Freed blocks wait in lists for reuse. A block that unfinished work still uses is given at once to its own in-order queue, to
/// others when the work is complete.
class Allocator {
public:
    Allocator(device::Device* device, bool host_visible, std::int64_t total_memory);

    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue);
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release);
    MemoryStats stats();
    void trim();
    void set_limit(std::int64_t bytes);
    void reset_peak();
    bool host_visible() const noexcept { return host_visible_; }
    /// Called when memory is short: blocks until the device's queues are empty. Set by the device.
    std::function<void()> wait_for_work;

    void lock_for_fork() { lock_.lock(); }
    void unlock_after_fork() { lock_.unlock(); }

    static constexpr int class_count = 16 + 8 * 38;
    static int class_of(std::size_t bytes);  // class_count when there is none
    static std::size_t class_bytes(int size_class);

private:
    friend class CpuBuffer;
    void recycle(CpuBuffer* buffer);
    void give_back_foreign(CpuBuffer* buffer);
    CpuBuffer* take_cached(int size_class, const device::Queue* queue);   // with lock_ held
    CpuBuffer* take_pending(int size_class, const device::Queue* queue);  // with lock_ held
    CpuBuffer* fresh(int size_class, std::size_t wanted);                 // null when the system or the limit says no
    CpuBuffer* carve(int size_class);
    CpuBuffer* map(int size_class, std::size_t wanted);
    std::size_t next_place();
    std::int64_t bound();  // on in_use + cached
    bool reserve(std::size_t bytes);
    void unreserve(std::size_t bytes);
    [[noreturn]] void fail(std::size_t bytes);
    static void destroy(CpuBuffer* buffer);

    device::Device* device_;
    const bool host_visible_;
    const std::int64_t total_;
    SpinLock lock_;
    CpuBuffer* idle_[class_count] = {};        // ready for anybody
    CpuBuffer* pending_[class_count] = {};     // freed, used by unfinished work; the youngest first
    CpuBuffer** next_look_[class_count] = {};  // where in that list the next search goes on; null: at its begin
    std::size_t place_ = 0;                    // where the youngest large block begins, in lines of its first page
    std::vector<Slab*> slabs_;
    Slab* open_slab_[class_count] = {};  // has room for more blocks
    std::int64_t in_use_ = 0, cached_ = 0, peak_ = 0, limit_ = 0;
};

}  // namespace pardo::cpu
