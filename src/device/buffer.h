// src/device/buffer.h: a block of memory that arrays share, and what is still going on with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pardo/event.h>
#include <pardo/memory.h>

#include "base/list.h"
#include "base/ref.h"
#include "device/view.h"

namespace pardo::device {

class Device;
class Queue;

/// How work uses the elements of a view. Read, ReadWrite: it fails if they have failed. Write: it writes all of them, and what became of
/// older writes does not matter any more. WriteSome: it may leave elements as they are. Where work that writes fails, all of them have.
enum class Access : std::uint8_t { Read = 1, Write = 2, ReadWrite = 3, WriteSome = 6 };
constexpr bool reads(Access access) noexcept { return (static_cast<int>(access) & static_cast<int>(Access::Read)) != 0; }
constexpr bool writes(Access access) noexcept { return (static_cast<int>(access) & static_cast<int>(Access::Write)) != 0; }

/// After all kinds in their order: of what has no memory of its own.
constexpr MemoryKind no_kind = static_cast<MemoryKind>(static_cast<int>(MemoryKind::Host) + 1);

/// Memory of one device. Made by Device::allocate or Device::import; given back to the allocator with the events that still use it.
class Buffer : public RefCounted<Buffer> {
public:
    Buffer(Device* device, MemoryKind kind, void* data, std::size_t bytes) : device_(device), kind_(kind), data_(data), bytes_(bytes) {}
    virtual ~Buffer() = default;
    static void destroy(Buffer* self) {
        self->retired_ = nullptr;  // its block may become another buffer
        self->dispose();
    }

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
    /// whose elements it has too. True when many writes are unfinished: see loose_writes.
    void note_read(const Event& event);
    /// `beside`: other work may write other elements at the same time.
    bool note_write(const Event& event, Access access = Access::Write, const View& view = {}, std::uint64_t covered = 0,
                    bool beside = false);
    /// How many uses have been noted; to be read before uses are collected.
    std::uint64_t noted() const noexcept { return noted_.load(std::memory_order_acquire); }
    /// Unfinished writes by `queue` that nothing stands for; empty as long as they are few.
    std::vector<Event> loose_writes(const Queue* queue);
    /// `event` needs those writes: from now on it stands for them.
    void note_join(const Event& event, const std::vector<Event>& writes);
    /// Drops older writes for which `passed(event)` is true: a wait for a newer one, of the view, need not know of them. With a lock held.
    template <class F> void drop_writes(const View& view, F&& passed) {
        if (!written()) return;
        std::lock_guard lock(mutex());
        const ByteRegion region(view, bytes_);
        std::erase_if(writes_, [&](const WriteUse& u) {
            return !known_failed(u.event) && (!u.beside || region.covers(u.region)) && passed(u.event);
        });
        note_busy();
    }
    /// The last write by a profiling queue, complete or not.
    Event timed_write() const;
    /// What a reader of a view has to wait for: `needs`, writes of its elements, unfinished or failed, whose failure is its own; `after`,
    /// unfinished writes of other elements. Without the events for which `passed(event, needed)` is true; it is called with a lock held.
    /// Memory that others may write is not kept failed: `take` says that this reader raises its failures, and so is the last to see them.
    enum class Look : std::uint8_t { Only, Take };
    template <class F>
    void collect_for_read(const View& view, std::vector<Event>& needs, std::vector<Event>& after, Look look, F&& passed) {
        if (!written()) return;
        std::lock_guard lock(mutex());
        refuse_if_retired();
        prune_writes();
        note_busy();
        if (writes_.empty() && failed_.empty()) return;
        const ByteRegion region(view, bytes_);
        for (const WriteUse& u : writes_) {
            const bool needed = touches(u, region);
            if (!passed(u.event, needed)) (needed ? needs : after).push_back(u.event);
        }
        add_failed(region, needs, look);
    }
    void collect_for_read(const View& view, std::vector<Event>& needs, std::vector<Event>& after, Look look = Look::Only);
    /// Unfinished uses, which a writer has to wait for.
    void collect_for_write(std::vector<Event>& out);
    template <class F> void collect_for_write(std::vector<Event>& out, F&& passed) {
        if (!busy()) return;
        std::lock_guard lock(mutex());
        refuse_if_retired();
        prune();
        add_others(out, writes_, passed);
        add_others(out, reads_, passed);
    }
    /// The same for a writer of a view, beside which other elements may be written. It waits for writes that later ones have covered, too:
    /// those may have failed when they were submitted, and have waited for nothing.
    template <class F> void collect_for_write(const View& view, std::vector<Event>& out, F&& passed) {
        if (!busy()) return;
        std::lock_guard lock(mutex());
        refuse_if_retired();
        prune();
        if (!writes_.empty()) {
            const ByteRegion region(view, bytes_);
            for (const WriteUse& u : writes_) {
                if ((!u.beside || meet(u.region, region)) && !passed(u.event)) out.push_back(u.event);
            }
        }
        add_others(out, reads_, passed);
    }
    /// Blocks until a write that reading has to wait for is complete; raises its failure, each time.
    void wait_for(const Event& write);
    /// Blocks until the host may read the view; raises failures of its elements.
    void wait_for_read(const View& view = {});
    /// Blocks until the host may read and write the view; raises as that does.
    void wait_for_update(const View& view = {});
    /// Blocks until the host may write all of the view, which it is going to do: what failed there counts no more.
    void wait_for_write(const View& view = {});
    /// True when it is known already that elements of the view have failed.
    bool has_failed(const View& view);
    /// Waits for the writes of a view; the failed event behind its elements, if there is one.
    Event failed_write(const View& view);
    /// Makes the elements of a view whole as they are: waits, then forgets what failed there.
    void accept(const View& view);
    /// The memory's owner takes it back: from now on each use throws Value with this message, when it is recorded or submitted. What is
    /// still under way is handed out as collect_for_read does, and forgotten here: the caller waits for it.
    void retire(std::string message, std::vector<Event>& needs, std::vector<Event>& after);
    bool retired() const;
    /// Whether one reference alone is left, beside those of deferred work (KeptForWork): no other array shows the elements.
    bool unshared() const noexcept { return use_count() - kept_for_work_.load(std::memory_order_relaxed) <= 1; }
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
    struct WriteUse : Use {
        WriteUse(const Event& e, std::uint64_t n, ByteRegion r) : Use{e, n}, region(std::move(r)) {}
        ByteRegion region;
        std::shared_ptr<ByteSet> left{};  // what later writes have not covered; null: all of the region
        std::vector<WriteUse> parts{};    // of a join: the writes that it stands for
        bool beside = false;              // as of note_write
    };
    /// Elements that are not whole, and the event that failed.
    struct FailedRange {
        ByteSet bytes;
        Event event;
    };
    static bool known_failed(const Event& e) noexcept;
    /// The same; and a failure is told that elements have failed by it.
    static bool has_failed_data(const Event& e);
    /// Whether elements of the region are those of the write, and no later write has covered them.
    static bool touches(const WriteUse& write, const ByteRegion& region);
    /// Whether they have bytes in common, exactly where that is not too much to ask.
    static bool meet(const ByteRegion& one, const ByteRegion& other);
    /// Drops completed uses; keeps what failed writes were to write. Call with mutex() held, as the next ones.
    void prune();
    void prune_reads();
    void prune_writes();
    void add_read(const Event& event, std::uint64_t number);
    void note_failed(WriteUse&& write);
    /// A write of the region comes after all that is known: failed elements in it are whole again.
    void overwrite(const ByteRegion& region);
    void cut(WriteUse& write, const ByteRegion& region);
    void add_failed(const ByteRegion& region, std::vector<Event>& out, Look look);
    /// Sets busy_ by the lists; a retired buffer is always busy, so that no use overlooks it.
    void note_busy() noexcept;
    void refuse_if_retired() const {
        if (retired_) [[unlikely]]
            throw_retired();
    }
    [[noreturn, gnu::cold]] void throw_retired() const;
    template <class U, class F> static void add_others(std::vector<Event>& out, const std::vector<U>& uses, F& passed) {
        for (const U& u : uses) {
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
    std::vector<WriteUse> writes_;
    std::vector<FailedRange> failed_;
    std::size_t look_at_reads_ = few;  // so many have to be there before it is looked which are complete
    Event timed_write_;
    friend class KeptForWork;
    std::atomic<std::int64_t> kept_for_work_{0};
    std::unique_ptr<const std::string> retired_;  // what uses are told; null: the memory is there
};

/// A reference of work that has not been handed to its driver yet. How long it lives depends on when that happens, which nothing that
/// counts references may depend on.
class KeptForWork {
public:
    explicit KeptForWork(Buffer* buffer) : buffer_(buffer) { buffer_->kept_for_work_.fetch_add(1, std::memory_order_relaxed); }
    KeptForWork(const KeptForWork& other) : KeptForWork(other.buffer_.get()) {}
    ~KeptForWork() { buffer_->kept_for_work_.fetch_sub(1, std::memory_order_relaxed); }
    KeptForWork& operator=(const KeptForWork&) = delete;

private:
    Ref<Buffer> buffer_;
};

/// Makes the locks of buffers survive fork().
void hold_buffers_at_fork();

}  // namespace pardo::device
