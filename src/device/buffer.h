// src/device/buffer.h: a block of memory that arrays share, and what is still going on with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <pardo/event.h>
#include <pardo/memory.h>

#include "base/list.h"
#include "base/ref.h"

namespace pardo::device {

class Device;
class Queue;

/// How work uses memory. ReadWrite: it fails if older writes do; if it fails for another reason, the older values are still there. Write:
/// it writes all of the buffer, and what became of older writes does not matter any more. WriteSome: it may leave elements as they are.
/// Check: as ReadWrite, but if it fails, for whatever reason, nothing of value is there, and each reader is told.
enum class Access : std::uint8_t { Read = 1, Write = 2, ReadWrite = 3, WriteSome = 6, Check = 11 };
constexpr bool reads(Access access) noexcept { return (static_cast<int>(access) & static_cast<int>(Access::Read)) != 0; }
constexpr bool writes(Access access) noexcept { return (static_cast<int>(access) & static_cast<int>(Access::Write)) != 0; }

/// After all kinds in their order: of what has no memory of its own.
constexpr MemoryKind no_kind = static_cast<MemoryKind>(static_cast<int>(MemoryKind::Host) + 1);

/// Memory of one device. Made by Device::allocate or Device::import; given back to the allocator with the events that still use it.
class Buffer : public RefCounted<Buffer> {
public:
    Buffer(Device* device, MemoryKind kind, void* data, std::size_t bytes) : device_(device), kind_(kind), data_(data), bytes_(bytes) {}
    virtual ~Buffer() = default;
    static void destroy(Buffer* self) { self->dispose(); }

    Device* device() const noexcept { return device_; }
    MemoryKind kind() const noexcept { return kind_; }
    /// What it says about the kind of results: nothing if it only holds a copy of values that follow the arrays which they meet.
    MemoryKind kind_for_results() const noexcept { return follows_ ? no_kind : kind_; }
    bool follows() const noexcept { return follows_; }
    /// Before others see it.
    void set_follows() noexcept { follows_ = true; }
    /// Address as kernels see it; a host address too when `host_visible()`.
    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    /// True when the host may read `data()` once the last write is complete.
    virtual bool host_visible() const noexcept { return true; }

    /// Remembers a use, for other queues, out-of-order queues and host access. Completed uses are dropped. `covered`: the event is complete
    /// or fails only after all uses that noted() counted before its work collected what it waits for; it then stands for those of them
    /// that need not be acknowledged by themselves.
    void note_read(const Event& event);
    void note_write(const Event& event, Access access = Access::Write, std::uint64_t covered = 0);
    /// How many uses have been noted; to be read before uses are collected.
    std::uint64_t noted() const noexcept { return noted_.load(std::memory_order_acquire); }
    /// Unfinished writes by `queue` that nothing stands for, since what came after did not read; empty as long as they are few.
    std::vector<Event> loose_writes(const Queue* queue);
    /// `event` needs those writes: from now on it stands for them.
    void note_join(const Event& event, const std::vector<Event>& writes);
    /// Drops older writes for which `passed(event)` is true: a wait for a newer one need not know of them. With a lock held.
    template <class F> void drop_writes(F&& passed) {
        if (!written()) return;
        std::lock_guard lock(mutex());
        std::erase_if(writes_, [&](const Use& u) { return passed(u.event); });
        note_busy();
    }
    /// The last write by a profiling queue, complete or not.
    Event timed_write() const;
    /// Events that a reader (the last writes) or a writer (all uses) has to wait for; completed ones are left out.
    void collect_for_read(std::vector<Event>& out);
    void collect_for_write(std::vector<Event>& out);
    /// The same without the events for which `passed(event)` is true. It is called with a lock held.
    template <class F> void collect_for_read(std::vector<Event>& out, F&& passed) {
        if (!written()) return;
        std::lock_guard lock(mutex());
        prune_writes();
        note_busy();
        add_others(out, writes_, passed);
        if (undefined()) out.push_back(origin_);
    }
    template <class F> void collect_for_write(std::vector<Event>& out, F&& passed) {
        if (!busy()) return;
        std::lock_guard lock(mutex());
        prune();
        add_others(out, writes_, passed);
        add_others(out, reads_, passed);
    }
    /// Blocks until a write that reading has to wait for is complete; raises its failure, again and again where nothing was written.
    static void wait_for(const Event& write);
    /// The host is going to write: what was never written is no reason to fail any more.
    void write_anew();
    /// Blocks until the host may read (write); raises failures of the writes waited for.
    void wait_for_read();
    void wait_for_write();
    /// Cheap test before the calls above: false when no unfinished use is known.
    bool busy() const noexcept { return busy_.load(std::memory_order_acquire) != 0; }
    /// The same for writes only.
    bool written() const noexcept { return (busy_.load(std::memory_order_acquire) & writes_bit) != 0; }

    /// True while code outside of pardo may write this memory at any time (asarray(copy=False), writable exports):
    /// operations on it run, and are waited for, when they are recorded.
    bool externally_writable() const noexcept { return external_.load(std::memory_order_relaxed) >= external_writer; }
    /// From now on, for ever.
    void set_externally_writable() noexcept { external_.fetch_or(external_write, std::memory_order_relaxed); }
    /// The same as long as there are some.
    void add_external_writer() noexcept { external_.fetch_add(external_writer, std::memory_order_relaxed); }
    void drop_external_writer() noexcept { external_.fetch_sub(external_writer, std::memory_order_release); }
    /// True while outside code may read the memory at any time (np.asarray(x)): writes of it are waited for.
    bool externally_readable() const noexcept { return external_.load(std::memory_order_relaxed) % external_writer != 0; }
    void add_external_reader() noexcept { external_.fetch_add(1, std::memory_order_relaxed); }
    void drop_external_reader() noexcept { external_.fetch_sub(1, std::memory_order_relaxed); }
    /// Either of the two.
    bool foreign() const noexcept { return external_.load(std::memory_order_relaxed) != 0; }
    /// Other libraries use the memory as long as it is referenced, and say nothing when they are done: when the last reference is gone,
    /// work of theirs may be under way.
    void set_lent() noexcept { lent_.store(true, std::memory_order_relaxed); }
    /// True when the memory must not be written (imported from a read-only owner).
    bool read_only() const noexcept { return read_only_; }
    void set_read_only() noexcept { read_only_ = true; }

    /// Uses of this buffer by pending nodes, oldest first; kept by src/graph, under the queue's graph lock.
    Link readers;
    /// Scratch of one planning pass, under the same lock.
    std::uint32_t mark = 0, index = 0;

protected:
    /// Called when the last reference is gone: gives the block back.
    virtual void dispose() { delete this; }
    struct Use {
        Event event;
        std::uint64_t number;  // as of noted()
    };
    /// Drops completed uses. Call with mutex() held.
    void prune();
    void prune_reads();
    void prune_writes();
    void add_read(const Event& event, std::uint64_t number);
    void replace(Use&& write);
    /// The contents are undefined: see origin_.
    bool undefined() const noexcept;
    /// Sets busy_ by the lists. Call with mutex() held.
    void note_busy() noexcept;
    template <class F> static void add_others(std::vector<Event>& out, const std::vector<Use>& uses, F& passed) {
        for (const Use& u : uses) {
            if (!passed(u.event)) out.push_back(u.event);
        }
    }
    /// Guards the uses; shared with other buffers, so that fork() can hold them all.
    std::mutex& mutex() const noexcept;

    Device* device_;
    MemoryKind kind_;
    bool follows_ = false;
    void* data_;
    std::size_t bytes_;
    static constexpr std::uint8_t reads_bit = 1, writes_bit = 2;
    std::atomic<std::uint8_t> busy_{0};  // which lists hold something
    static constexpr std::uint64_t external_write = std::uint64_t{1} << 63, external_writer = std::uint64_t{1} << 32;
    std::atomic<std::uint64_t> external_{0};  // how many may read, in 32 bits; how many may write; and whether any may write for ever
    std::atomic<bool> lent_{false};
    bool read_only_ = false;
    static constexpr std::size_t few = 32;
    std::atomic<std::uint64_t> noted_{0};
    std::vector<Use> reads_;  // and writes that a whole one came after: only writers wait for them
    std::vector<Use> writes_;
    std::vector<Use> replaced_;                                 // writes since the origin that one of writes_ stands for: may be stopped
    std::size_t look_at_reads_ = few, look_at_replaced_ = few;  // so many have to be there before it is looked which are complete
    std::uint64_t origin_number_ = 0;
    Event origin_;  // the last write that read nothing, or a later one that was stopped in the middle: if it failed and did not run to its
                    // end, there are no values here, acknowledged or not
    Event timed_write_;
};

/// Makes the locks of buffers survive fork().
void hold_buffers_at_fork();

}  // namespace pardo::device
