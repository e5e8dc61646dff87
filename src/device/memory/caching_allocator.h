// src/device/memory/caching_allocator.h: memory of devices whose driver gives it out, kept for reuse in the order of queues.
// This folder: memory as all back ends have it: blocks, how they are kept and given back, boxes of bytes in them.
//
// The CPU's allocator (src/backend/cpu/memory.h) is of the same plan but not the same class: there a block costs two list operations of
// 20 ns, aligned_alloc and huge pages are part of the matter, and there is one kind of memory. Here blocks differ in kind, may be pieces of
// a driver's object, and driver events are asked for only when memory is short.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"

namespace pardo::device {

class CachingAllocator;

/// A piece of memory as the driver gave it.
struct RawBlock {
    void* data = nullptr;    // as kernels see it; made up, but unique, where memory has no addresses
    void* handle = nullptr;  // the driver's object behind it (cl_mem); null where addresses are all there is
};

/// What a back end supplies. Safe from any thread.
class RawMemory {
public:
    virtual ~RawMemory() = default;
    /// False when the driver has no such memory left; throws Error (Value) for a kind that the device does not have.
    virtual bool allocate(std::size_t bytes, MemoryKind kind, RawBlock& block) = 0;
    virtual void free(const RawBlock& block, MemoryKind kind) noexcept = 0;
    virtual bool host_visible(MemoryKind kind) const noexcept = 0;
    /// Bytes that the device has, and the most in one piece.
    virtual std::int64_t total_bytes() const noexcept = 0;
    virtual std::int64_t largest_block() const noexcept = 0;
    /// Blocks that are cut from a larger one begin at multiples of this.
    virtual std::size_t block_alignment() const noexcept { return 1; }
    /// Bytes that the driver has left; -1 when it does not tell.
    virtual std::int64_t free_bytes() const noexcept { return -1; }
};

/// A block of a driver's memory.
class DriverBuffer final : public Buffer {
public:
    struct Slab;
    DriverBuffer(Device* device, MemoryKind kind, void* data, std::size_t bytes) : Buffer(device, kind, data, bytes) {}
    bool host_visible() const noexcept override { return host_visible_; }
    /// The driver's object that the block is in, and where in it `data()` is.
    void* handle() const noexcept { return handle_; }
    std::size_t handle_offset() const noexcept { return handle_offset_; }

private:
    friend class CachingAllocator;
    void dispose() override;
    std::vector<Event> unfinished();
    /// Makes what used the block an order that its next owner keeps; false while others than the in-order `queue` use it.
    bool hand_over(const Queue* queue);
    /// The block is in use, whatever else may be over.
    bool last_use_unfinished();
    void forget_uses();

    CachingAllocator* allocator_ = nullptr;
    DriverBuffer* next_ = nullptr;
    void* handle_ = nullptr;
    std::size_t handle_offset_ = 0;
    std::size_t capacity_ = 0;
    int size_class_ = 0;
    bool foreign_ = false, host_visible_ = false;
    Slab* slab_ = nullptr;
    std::function<void()> release_;  // foreign
};

/// Memory in size classes at most 12.5 % apart. Small blocks are cut from slabs; freed ones wait in lists for reuse. A block that
/// unfinished work still uses is given at once to its own in-order queue, to others when the work is complete.
class CachingAllocator {
public:
    CachingAllocator(Device* device, std::unique_ptr<RawMemory> raw);
    ~CachingAllocator();

    Ref<Buffer> allocate(std::size_t bytes, MemoryKind kind, Queue* queue);
    /// Somebody else's memory; `handle` and `handle_offset` as in DriverBuffer. `release` is called when the last use is complete.
    Ref<Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release, void* handle = nullptr,
                       std::size_t handle_offset = 0);
    MemoryStats stats();
    void trim();
    void set_limit(std::int64_t bytes);
    void reset_peak();
    RawMemory& raw() noexcept { return *raw_; }

    static constexpr std::size_t granule = 128;  // every block's size and alignment is a multiple
    static constexpr int class_count = 8 + 8 * 38;
    static int class_of(std::size_t bytes);  // class_count when there is none
    static std::size_t class_bytes(int size_class);

private:
    friend class DriverBuffer;
    static constexpr int kind_count = 3;
    struct Lists;  // of one kind
    using Slab = DriverBuffer::Slab;

    void recycle(DriverBuffer* buffer);
    void give_back_foreign(DriverBuffer* buffer);
    void wait_for_borrowers(DriverBuffer& buffer) noexcept;
    DriverBuffer* take_cached(Lists& lists, int size_class, const Queue* queue);   // with lock_ held
    DriverBuffer* take_pending(Lists& lists, int size_class, const Queue* queue);  // with lock_ held
    DriverBuffer* fresh(int size_class, MemoryKind kind);                          // null when the driver or the limit says no
    Slab* new_slab(int size_class, MemoryKind kind);
    DriverBuffer* carve(int size_class, MemoryKind kind);
    DriverBuffer* whole(int size_class, MemoryKind kind);
    std::int64_t bound();  // on in_use + cached
    bool reserve(std::size_t bytes);
    void unreserve(std::size_t bytes);
    [[noreturn]] void fail(std::size_t bytes, MemoryKind kind);
    void destroy(DriverBuffer* buffer);

    Device* device_;
    std::unique_ptr<RawMemory> raw_;
    std::mutex lock_;
    std::unique_ptr<Lists[]> lists_;
    std::vector<Slab*> slabs_;
    std::int64_t in_use_ = 0, cached_ = 0, peak_ = 0, limit_ = 0;
};

}  // namespace pardo::device
