// src/device/memory/caching_allocator.h: memory of a device, kept for reuse in the order of queues.
// This folder: memory as all back ends have it: blocks, how they are kept and given back, regions of bytes in them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/spin_lock.h"
#include "device/device.h"

namespace pardo::device {

class CachingAllocator;

/// A piece of memory as the driver or the system gave it.
struct RawBlock {
    void* data = nullptr;    // as kernels see it; made up, but unique, where memory has no addresses
    void* handle = nullptr;  // the driver's object behind it (cl_mem); null where addresses are all there is
};

/// How a back end's memory is kept.
struct MemoryPolicy {
    std::size_t granule = 128;                         // every block's size and alignment is a multiple; a power of two, at most 1024
    std::size_t small_limit = std::size_t{128} << 10;  // up to here blocks are cut from slabs
    std::size_t least_slab = std::size_t{256} << 10;   // a slab holds sixteen blocks, but
    std::size_t most_slab = std::size_t{2} << 20;      // has between so many bytes
    std::size_t block_alignment = 1;                   // blocks that are cut from a slab begin at multiples of this
    std::int64_t most_cached = INT64_MAX;              // more than so many bytes are given back
    bool kinds = true;                                 // memory of another kind is other memory
    bool driver = true;                                // it is a driver's, and gone with it: in a forked child, at exit
};

/// What a back end supplies. Safe from any thread.
class RawMemory {
public:
    virtual ~RawMemory() = default;
    virtual MemoryPolicy policy() const { return {}; }
    /// So many bytes, of which only `wanted` will be used at first. False when there is no such memory left; throws Error (Value) for a
    /// kind that the device does not have.
    virtual bool allocate(std::size_t bytes, std::size_t wanted, MemoryKind kind, RawBlock& block) = 0;
    virtual void free(const RawBlock& block, std::size_t bytes, MemoryKind kind) noexcept = 0;
    virtual bool host_visible(MemoryKind kind) const noexcept = 0;
    /// Bytes that the device has, and the most in one piece.
    virtual std::int64_t total_bytes() const noexcept = 0;
    virtual std::int64_t largest_block() const noexcept = 0;
    /// Bytes that are left; -1 when that is not known.
    virtual std::int64_t free_bytes() const noexcept { return -1; }
    /// Blocks until the device's queues are empty. Drivers' queues are waited for by the allocator.
    virtual void wait_for_work() {}
};

/// Sizes of blocks, at most 12.5 % apart.
class SizeClasses {
public:
    static constexpr int most = 16 + 8 * 38;
    explicit SizeClasses(std::size_t granule) : granule_(granule), fine_(static_cast<int>(1024 / granule)) {}
    int count() const { return fine_ + 8 * 38; }
    int of(std::size_t bytes) const;  // count() when there is none
    std::size_t bytes(int size_class) const;

private:
    std::size_t granule_;
    int fine_;  // classes of up to 1024 bytes, a granule apart
};

/// A block of such memory. Object and block stay together while they wait for reuse, so that a small array costs two list operations.
class CachedBuffer final : public Buffer {
public:
    struct Slab;
    CachedBuffer(Device* device, MemoryKind kind, void* data, std::size_t bytes) : Buffer(device, kind, data, bytes) {}
    bool host_visible() const noexcept override { return host_visible_; }
    /// Other code made the memory, and the driver may not know it.
    bool imported() const noexcept { return foreign_; }
    /// The driver's object that the block is in, and where in it `data()` is.
    void* handle() const noexcept { return handle_; }
    std::size_t handle_offset() const noexcept { return handle_offset_; }

private:
    friend class CachingAllocator;
    void dispose() override;
    std::vector<Event> unfinished();
    /// Makes what used the block an order that its next owner keeps; false while others than the in-order `queue` use it. With `others`
    /// they may be using it if this queue had it last: edges that parts of an array give each other, which the next work waits for. What is
    /// dropped goes to `dropped`, for after the locks: an event may hold the last reference to a buffer.
    bool reuse_in_order(const Queue* queue, bool others, std::vector<Event>& dropped);
    /// The block is in use, whatever else may be over.
    bool last_use_unfinished();
    void prune_dependencies(std::vector<Event>& dropped);
    void drop_failed(std::vector<Event>& dropped);

    CachingAllocator* allocator_ = nullptr;
    CachedBuffer* next_ = nullptr;
    void* handle_ = nullptr;
    std::size_t handle_offset_ = 0;
    std::size_t capacity_ = 0;
    int size_class_ = 0;
    bool foreign_ = false, host_visible_ = false;
    const Queue* owner_ = nullptr;  // for which it was allocated last; to compare, as it may be gone
    Slab* slab_ = nullptr;
    std::function<void()> release_;  // foreign
};

/// Memory in size classes. Small blocks are cut from slabs; freed ones wait in lists for reuse. A block that
/// unfinished work still uses is given at once to its own in-order queue, to others when the work is complete.
class CachingAllocator {
public:
    CachingAllocator(Device* device, std::unique_ptr<RawMemory> raw);
    ~CachingAllocator();

    Ref<Buffer> allocate(std::size_t bytes, MemoryKind kind, Queue* queue);
    /// Memory of other code; `handle` and `handle_offset` as in CachedBuffer. `release` is called when the last use is complete.
    Ref<Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release, void* handle = nullptr,
                       std::size_t handle_offset = 0);
    MemoryStats stats();
    void trim();
    void set_limit(std::int64_t bytes);
    void reset_peak();
    RawMemory& raw() noexcept { return *raw_; }

    void lock_for_fork() { lock_.lock(); }
    void unlock_after_fork() { lock_.unlock(); }

private:
    friend class CachedBuffer;
    static constexpr int kind_count = 3;
    struct Lists;  // of one kind
    using Slab = CachedBuffer::Slab;

    void recycle(CachedBuffer* buffer);
    void give_back_foreign(CachedBuffer* buffer);
    void wait_for_borrowers(CachedBuffer& buffer) noexcept;
    Lists& lists_of(MemoryKind kind);
    CachedBuffer* cached(Lists& lists, int size_class, const Queue* queue);
    CachedBuffer* take_cached(Lists& lists, int size_class, const Queue* queue, std::vector<Event>& dropped);    // with lock_ held
    CachedBuffer* take_pending(Lists& lists, int size_class, const Queue* queue, std::vector<Event>& dropped);   // with lock_ held
    CachedBuffer* take_in_order(Lists& lists, int size_class, const Queue* queue, std::vector<Event>& dropped);  // with lock_ held
    CachedBuffer* make(int size_class, std::size_t wanted, MemoryKind kind);
    CachedBuffer* fresh(int size_class, std::size_t wanted, MemoryKind kind);  // null when the memory or the limit says no
    Slab* new_slab(std::size_t block, MemoryKind kind);
    CachedBuffer* carve(int size_class, MemoryKind kind);
    CachedBuffer* whole(int size_class, std::size_t wanted, MemoryKind kind);
    std::int64_t bound();  // on in_use + cached
    bool reserve(std::size_t bytes);
    void unreserve(std::size_t bytes);
    [[noreturn]] void fail(std::size_t bytes, MemoryKind kind);
    void give_back(const RawBlock& block, std::size_t bytes, MemoryKind kind);
    void destroy(CachedBuffer* buffer);

    Device* device_;
    std::unique_ptr<RawMemory> raw_;
    const MemoryPolicy policy_;
    const SizeClasses classes_;
    const std::int64_t total_;
    SpinLock lock_;
    std::unique_ptr<Lists[]> lists_;
    std::vector<Slab*> slabs_;
    std::int64_t in_use_ = 0, cached_ = 0, peak_ = 0, limit_ = 0;
};

}  // namespace pardo::device
