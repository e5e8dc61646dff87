// src/device/memory/caching_allocator.cpp: blocks of a device's memory, kept for reuse.
#include "device/memory/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <utility>

#include <pardo/error.h>

#include "base/env.h"
#include "base/size_text.h"
#include "device/memory/budget.h"
#include "device/queue/queue.h"

namespace pardo::device {

/// A piece of memory that is cut into equal small blocks.
struct CachedBuffer::Slab {
    RawBlock block;
    MemoryKind kind = MemoryKind::Device;
    std::size_t bytes = 0;
    std::size_t used = 0;  // bytes cut off so far
    int live = 0;          // blocks handed out, or pending
};

struct CachingAllocator::Lists {
    CachedBuffer* idle[SizeClasses::most] = {};        // ready for any use
    CachedBuffer* pending[SizeClasses::most] = {};     // freed, used by unfinished work; the youngest first
    CachedBuffer** next_look[SizeClasses::most] = {};  // where in that list the next search goes on; null: at its begin
    Slab* open_slab[SizeClasses::most] = {};           // has room for more blocks
};

namespace {

constexpr std::size_t least_size_in_words = std::size_t{1} << 20;  // that messages say beside its bytes
constexpr std::size_t loose_fit_from = std::size_t{64} << 10;      // from here on a block up to two classes larger will do
constexpr std::size_t least_in_order = std::size_t{1} << 20;       // from here on blocks that others read are taken again in order, if
constexpr std::int64_t most_waiting = 16, share_of_waiting = 16;   // so many wait, or as many as are a sixteenth of the memory
constexpr int young_looks = 2, pending_looks = 8;

}  // namespace

void CachedBuffer::dispose() {
    follows_ = false;  // the next owner's values are others
    allocator_->recycle(this);
}

std::vector<Event> CachedBuffer::unfinished() {
    std::vector<FailedRange> failed;  // released after the lock
    std::vector<Event> events;
    const std::lock_guard lock(mutex());
    const auto take = [&](auto& list) {
        for (auto& u : list) {
            if (!known_done(u.event)) events.push_back(std::move(u.event));
        }
        list.clear();
    };
    take(reads_);
    for (const WriteUse& u : writes_) (void)has_failed_data(u.event);
    take(writes_);
    failed.swap(failed_);
    note_busy();
    return events;
}

bool CachedBuffer::last_use_unfinished() {
    std::lock_guard lock(mutex());
    const auto last_unfinished = [](const auto& list) { return !list.empty() && !known_done(list.back().event); };
    return last_unfinished(writes_) || last_unfinished(reads_);
}

void CachedBuffer::drop_failed(std::vector<Event>& dropped) {
    for (FailedRange& f : failed_) dropped.push_back(std::move(f.event));
    failed_.clear();
}

bool CachedBuffer::reuse_in_order(const Queue* queue, bool others, std::vector<Event>& dropped) {
    if (queue && queue->order() == QueueOrder::InOrder) {
        others = others && owner_ == queue;
        const auto ours = [&](const Use& u) { return u.event.state() && u.event.state()->queue() == queue; };
        // What waits for the user's code may wait for what the next owner is to compute.
        const auto passes = [&](const Use& u) { return known_done(u.event) || ours(u) || (others && !u.event.state()->waits_for_host()); };
        std::lock_guard lock(mutex());
        if (std::all_of(reads_.begin(), reads_.end(), passes) && std::all_of(writes_.begin(), writes_.end(), passes)) {
            // Whoever writes first waits for them; their failures are not the new owner's. In order the last one of a queue stands for all.
            for (const WriteUse& u : writes_) (void)has_failed_data(u.event);
            std::vector<Use> kept;
            const auto keep = [&](auto& list) {
                bool last = true;  // of those of this queue
                for (auto u = list.rbegin(); u != list.rend(); ++u) {
                    const bool mine = ours(*u);
                    if (known_done(u->event) || (mine && !last)) {
                        dropped.push_back(std::move(u->event));
                        continue;
                    }
                    last = last && !mine;
                    kept.push_back(std::move(*u));
                }
                list.clear();
            };
            keep(reads_);
            keep(writes_);
            for (Use& u : kept) reads_.push_back(std::move(u));
            drop_failed(dropped);
            note_busy();
            return true;
        }
    }
    prune_dependencies(dropped);
    return !busy();
}

void CachedBuffer::prune_dependencies(std::vector<Event>& dropped) {
    std::lock_guard lock(mutex());
    // Failures of what used the block before are not the next owner's.
    const auto prune_list = [&](auto& list) {
        const auto over = std::partition(list.begin(), list.end(), [](const Use& u) { return !known_done(u.event); });
        for (auto u = over; u != list.end(); ++u) dropped.push_back(std::move(u->event));
        list.erase(over, list.end());
    };
    prune_list(reads_);
    for (const WriteUse& u : writes_) (void)has_failed_data(u.event);
    prune_list(writes_);
    drop_failed(dropped);
    note_busy();
}

CachingAllocator::CachingAllocator(Device* device, std::unique_ptr<RawMemory> raw)
    : device_(device),
      raw_(std::move(raw)),
      policy_(raw_->policy()),
      classes_(policy_.granule),
      total_(raw_->total_bytes()),
      lists_(new Lists[policy_.kinds ? kind_count : 1]) {
    limit_ = memory_budget(total_);
}

CachingAllocator::~CachingAllocator() {
    if (!policy_.driver || !driver_gone()) trim();
}

int SizeClasses::of(std::size_t bytes) const {
    if (bytes <= 1024) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / granule_);
    // 1024 < bytes: eight steps between two powers of two.
    const int log = std::bit_width(bytes - 1) - 1;
    const auto step = static_cast<int>((bytes - 1) >> (log - 3) & 7);
    return std::min(fine_ + 8 * (log - 10) + step, count());
}

std::size_t SizeClasses::bytes(int size_class) const {
    if (size_class < fine_) return granule_ * static_cast<std::size_t>(size_class + 1);
    const int log = 10 + (size_class - fine_) / 8, step = (size_class - fine_) % 8;
    return (std::size_t{1} << log) + (static_cast<std::size_t>(step + 1) << (log - 3));
}

Ref<Buffer> CachingAllocator::allocate(std::size_t bytes, MemoryKind kind, Queue* queue) {
    if (policy_.driver) check_not_forked("allocate", device_);
    const int size_class = classes_.of(bytes);
    CachedBuffer* b = nullptr;
    if (size_class < classes_.count()) {
        Lists& lists = lists_of(kind);
        b = cached(lists, size_class, queue);
        if (!b && policy_.driver) {
            // A driver is slow: first look whether what is pending is complete by now.
            sweep_driver_queues(device_);
            b = cached(lists, size_class, queue);
        }
        if (!b) b = make(size_class, bytes, kind);
    }
    if (!b) fail(bytes, kind);
    b->bytes_ = bytes;
    b->kind_ = kind;
    b->owner_ = queue;
    return Ref<Buffer>(b);
}

CachingAllocator::Lists& CachingAllocator::lists_of(MemoryKind kind) { return lists_[policy_.kinds ? static_cast<int>(kind) : 0]; }

CachedBuffer* CachingAllocator::cached(Lists& lists, int size_class, const Queue* queue) {
    std::vector<Event> dropped;
    std::lock_guard lock(lock_);
    return take_cached(lists, size_class, queue, dropped);
}

CachedBuffer* CachingAllocator::make(int size_class, std::size_t wanted, MemoryKind kind) {
    CachedBuffer* b = fresh(size_class, wanted, kind);
    if (b) return b;
    trim();
    b = fresh(size_class, wanted, kind);
    if (b || static_cast<std::int64_t>(classes_.bytes(size_class)) > bound()) return b;
    policy_.driver ? wait_for_queues(Runner::Driver, device_) : raw_->wait_for_work();
    trim();
    return fresh(size_class, wanted, kind);
}

CachedBuffer* CachingAllocator::take_cached(Lists& lists, int size_class, const Queue* queue, std::vector<Event>& dropped) {
    const auto take_idle = [&](int c) {
        CachedBuffer* b = lists.idle[c];
        if (b) lists.idle[c] = b->next_;
        return b;
    };
    CachedBuffer* b = take_idle(size_class);
    if (!b) b = take_pending(lists, size_class, queue, dropped);
    if (!b && classes_.bytes(size_class) >= least_in_order) b = take_in_order(lists, size_class, queue, dropped);
    if (!b && classes_.bytes(size_class) >= loose_fit_from) {
        for (int c = size_class + 1; c <= std::min(size_class + 2, classes_.count() - 1) && !b; ++c) b = take_idle(c);
    }
    if (!b) return nullptr;
    const auto capacity = static_cast<std::int64_t>(b->capacity_);
    if (b->slab_) ++b->slab_->live;
    cached_ -= capacity;
    in_use_ += capacity;
    peak_ = std::max(peak_, in_use_);
    return b;
}

// The youngest blocks are still in the cache, and in order they serve at once. The search goes on where the last one ended, so that on
// out-of-order queues those that have long been ready are found after many that are not.
CachedBuffer* CachingAllocator::take_pending(Lists& lists, int size_class, const Queue* queue, std::vector<Event>& dropped) {
    CachedBuffer** const head = &lists.pending[size_class];
    CachedBuffer**& next_look = lists.next_look[size_class];
    CachedBuffer** link = head;
    for (int looks = 0; looks < pending_looks; ++looks) {
        if (looks == young_looks && next_look) link = next_look;
        CachedBuffer* b = *link;
        if (!b) break;
        if (!b->busy() || b->reuse_in_order(queue, false, dropped)) {
            *link = b->next_;
            if (looks >= young_looks || next_look == &b->next_) next_look = link;
            if (b->slab_) --b->slab_->live;  // pending blocks count as live; the caller counts it again
            return b;
        }
        link = &b->next_;
    }
    next_look = *link ? link : nullptr;
    return nullptr;
}

// The one that has waited longest, and only if several wait: a queue that hands its results to a slower one goes on with fresh memory
// meanwhile, and queues that give each other edges at each step do not take fresh memory for all steps that are recorded ahead.
CachedBuffer* CachingAllocator::take_in_order(Lists& lists, int size_class, const Queue* queue, std::vector<Event>& dropped) {
    const std::int64_t share = total_ / share_of_waiting / static_cast<std::int64_t>(classes_.bytes(size_class));
    const std::int64_t enough = std::clamp<std::int64_t>(share, 2, most_waiting);
    CachedBuffer** oldest = nullptr;
    std::int64_t count = 0, looks = 0;
    for (CachedBuffer** link = &lists.pending[size_class]; *link && looks < 4 * most_waiting; link = &(*link)->next_, ++looks) {
        if ((*link)->owner_ != queue) continue;
        oldest = link;
        ++count;
    }
    if (count < enough) return nullptr;
    CachedBuffer* b = *oldest;
    if (b->busy() && !b->reuse_in_order(queue, true, dropped)) return nullptr;
    *oldest = b->next_;
    lists.next_look[size_class] = nullptr;
    if (b->slab_) --b->slab_->live;  // as in take_pending
    return b;
}

std::int64_t CachingAllocator::bound() {
    std::lock_guard lock(lock_);
    return limit_ ? std::min(limit_, total_) : total_;
}

bool CachingAllocator::reserve(std::size_t bytes) {
    const auto n = static_cast<std::int64_t>(bytes);
    const std::int64_t most = bound();
    std::lock_guard lock(lock_);
    if (in_use_ + cached_ + n > most) return false;
    in_use_ += n;
    peak_ = std::max(peak_, in_use_);
    return true;
}

void CachingAllocator::unreserve(std::size_t bytes) {
    std::lock_guard lock(lock_);
    in_use_ -= static_cast<std::int64_t>(bytes);
}

CachedBuffer* CachingAllocator::fresh(int size_class, std::size_t wanted, MemoryKind kind) {
    const std::size_t bytes = classes_.bytes(size_class);
    if (!reserve(bytes)) return nullptr;
    CachedBuffer* b = nullptr;
    try {
        b = bytes <= policy_.small_limit ? carve(size_class, kind) : whole(size_class, wanted, kind);
    } catch (...) {
        unreserve(bytes);
        throw;
    }
    if (!b) {
        unreserve(bytes);
        return nullptr;
    }
    b->allocator_ = this;
    b->capacity_ = bytes;
    b->size_class_ = size_class;
    b->host_visible_ = raw_->host_visible(kind);
    return b;
}

CachingAllocator::Slab* CachingAllocator::new_slab(std::size_t block, MemoryKind kind) {
    std::unique_ptr<Slab> slab(new (std::nothrow) Slab);
    if (!slab) return nullptr;
    slab->kind = kind;
    slab->bytes = std::clamp(16 * block, policy_.least_slab, policy_.most_slab);
    return raw_->allocate(slab->bytes, slab->bytes, kind, slab->block) ? slab.release() : nullptr;
}

CachedBuffer* CachingAllocator::carve(int size_class, MemoryKind kind) {
    const std::size_t bytes = classes_.bytes(size_class), alignment = policy_.block_alignment;
    std::unique_ptr<CachedBuffer> b(new (std::nothrow) CachedBuffer(device_, kind, nullptr, bytes));
    if (!b) return nullptr;
    const auto cut = [&](Slab* slab) {
        b->slab_ = slab;
        b->data_ = static_cast<char*>(slab->block.data) + slab->used;
        b->handle_ = slab->block.handle;
        b->handle_offset_ = slab->used;
        slab->used += (bytes + alignment - 1) / alignment * alignment;
        ++slab->live;
    };
    Slab*& open = lists_of(kind).open_slab[size_class];
    {
        std::lock_guard lock(lock_);
        if (open && open->used + bytes <= open->bytes) {
            cut(open);
            return b.release();
        }
    }
    Slab* slab = new_slab(bytes, kind);
    if (!slab) return nullptr;
    try {
        std::lock_guard lock(lock_);
        slabs_.push_back(slab);
        open = slab;
        cut(slab);
    } catch (const std::bad_alloc&) {
        give_back(slab->block, slab->bytes, kind);
        delete slab;
        return nullptr;
    }
    return b.release();
}

CachedBuffer* CachingAllocator::whole(int size_class, std::size_t wanted, MemoryKind kind) {
    const std::size_t bytes = classes_.bytes(size_class);
    std::unique_ptr<CachedBuffer> b(new (std::nothrow) CachedBuffer(device_, kind, nullptr, bytes));
    RawBlock block;
    if (!b || !raw_->allocate(bytes, wanted, kind, block)) return nullptr;
    b->data_ = block.data;
    b->handle_ = block.handle;
    return b.release();
}

void CachingAllocator::fail(std::size_t bytes, MemoryKind kind) {
    const MemoryStats s = stats();
    std::int64_t free = raw_->free_bytes();
    if (free < 0) free = std::max<std::int64_t>(0, total_ - s.in_use - s.cached);
    if (s.limit) free = std::min(free, std::max<std::int64_t>(0, s.limit - s.in_use - s.cached));
    static constexpr const char* kinds[] = {"device", "shared", "host"};
    std::string text = "cannot allocate " + std::to_string(bytes) + " bytes ";
    if (policy_.kinds) text.append("of ").append(kinds[static_cast<int>(kind)]).append(" memory ");
    text += "on " + device_->id() + " (";
    if (bytes >= least_size_in_words) text += "that is " + size_text(static_cast<std::int64_t>(bytes)) + "; ";
    text += size_text(free) + " free";
    text += s.limit ? ", limit " + size_text(s.limit) : ", no limit";
    text += ", " + size_text(s.in_use) + " in use, " + size_text(s.cached) + " cached)";
    const std::int64_t largest = raw_->largest_block();
    if (largest > 0 && static_cast<std::int64_t>(bytes) > largest) text += "; one array may have " + size_text(largest) + " there";
    throw Error(ErrorCode::Memory, text);
}

Ref<Buffer> CachingAllocator::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release, void* handle,
                                     std::size_t handle_offset) {
    if (policy_.driver) check_not_forked("import", device_);
    auto* b = new CachedBuffer(device_, kind, data, bytes);
    b->allocator_ = this;
    b->foreign_ = true;
    b->handle_ = handle;
    b->handle_offset_ = handle_offset;
    b->host_visible_ = raw_->host_visible(kind);
    b->release_ = std::move(release);
    return Ref<Buffer>(b);
}

void CachingAllocator::give_back_foreign(CachedBuffer* b) {
    struct Countdown {
        std::function<void()> release;
        std::atomic<std::size_t> left;
    };
    const std::vector<Event> events = b->unfinished();
    std::function<void()> release = std::move(b->release_);
    delete b;
    if (!release) return;
    if (events.empty()) return release();
    // The owner's function may take locks of the host language: it runs on the helper thread, never on one that completes work.
    auto countdown = std::make_shared<Countdown>();
    countdown->release = std::move(release);
    countdown->left = events.size();
    for (const Event& e : events) {
        e.state()->subscribe([countdown] {
            if (countdown->left.fetch_sub(1) == 1) run_on_helper_thread(std::move(countdown->release));
        });
    }
}

void CachingAllocator::wait_for_borrowers(CachedBuffer& b) noexcept {
    try {
        b.note_read(device_->foreign_work(0));
    } catch (const Error& e) {
        log(LogLevel::Info, "memory that another library has used: " + e.message());  // a lost device: it is not used again
    }
}

void CachingAllocator::recycle(CachedBuffer* b) {
    if (policy_.driver && driver_gone())
        return;  // nothing of the driver's is touched any more; the process ends, or is a child that has no use for it
    if (b->lent_.exchange(false, std::memory_order_relaxed)) wait_for_borrowers(*b);
    if (b->foreign_) return give_back_foreign(b);
    if (b->busy() && !b->last_use_unfinished()) {
        std::vector<Event> dropped;
        b->prune_dependencies(dropped);
    }
    b->external_.store(0, std::memory_order_relaxed);
    b->read_only_ = false;
    if (b->timed_write_.state()) b->timed_write_ = Event();
    const auto capacity = static_cast<std::int64_t>(b->capacity_);
    const bool busy = b->busy();
    Lists& lists = lists_of(b->kind_);
    bool crowded;
    {
        std::lock_guard lock(lock_);
        CachedBuffer*& list = busy ? lists.pending[b->size_class_] : lists.idle[b->size_class_];
        b->next_ = list;
        list = b;
        if (b->slab_ && !busy) --b->slab_->live;
        in_use_ -= capacity;
        cached_ += capacity;
        crowded = cached_ > policy_.most_cached || (limit_ && in_use_ + cached_ > limit_);
    }
    if (crowded) trim();
}

void CachingAllocator::give_back(const RawBlock& block, std::size_t bytes, MemoryKind kind) {
    if (!policy_.driver || !driver_gone()) raw_->free(block, bytes, kind);
}

void CachingAllocator::destroy(CachedBuffer* b) {
    if (!b->slab_) give_back({b->data_, b->handle_}, b->capacity_, b->kind_);
    delete b;
}

void CachingAllocator::trim() {
    if (policy_.driver) sweep_driver_queues(device_);
    CachedBuffer* dead = nullptr;
    std::vector<Slab*> empty;
    std::vector<Event> dropped;
    {
        std::lock_guard lock(lock_);
        for (int kind = 0; kind < (policy_.kinds ? kind_count : 1); ++kind) {
            Lists& lists = lists_[kind];
            for (int c = 0; c < classes_.count(); ++c) {
                lists.next_look[c] = nullptr;
                for (CachedBuffer** link = &lists.pending[c]; *link;) {  // what has become ready meanwhile
                    CachedBuffer* b = *link;
                    b->prune_dependencies(dropped);
                    if (b->busy()) {
                        link = &b->next_;
                        continue;
                    }
                    *link = b->next_;
                    if (b->slab_) --b->slab_->live;
                    b->next_ = lists.idle[c];
                    lists.idle[c] = b;
                }
                for (CachedBuffer** link = &lists.idle[c]; *link;) {
                    CachedBuffer* b = *link;
                    if (b->slab_ && b->slab_->live > 0) {  // a neighbour is in use
                        link = &b->next_;
                        continue;
                    }
                    *link = b->next_;
                    cached_ -= static_cast<std::int64_t>(b->capacity_);
                    b->next_ = dead;
                    dead = b;
                }
                if (lists.open_slab[c] && lists.open_slab[c]->live == 0) lists.open_slab[c] = nullptr;
            }
        }
        const auto in_use = std::partition(slabs_.begin(), slabs_.end(), [](const Slab* s) { return s->live > 0; });
        empty.assign(in_use, slabs_.end());
        slabs_.erase(in_use, slabs_.end());
    }
    while (dead) destroy(std::exchange(dead, dead->next_));
    for (Slab* s : empty) {
        give_back(s->block, s->bytes, s->kind);
        delete s;
    }
}

MemoryStats CachingAllocator::stats() {
    if (policy_.driver && driver_gone()) return {in_use_, cached_, peak_, limit_};  // in a child no thread may be there to unlock
    std::lock_guard lock(lock_);
    return {in_use_, cached_, peak_, limit_};
}

void CachingAllocator::set_limit(std::int64_t bytes) {
    bool over;
    {
        std::lock_guard lock(lock_);
        limit_ = bytes;
        over = bytes && in_use_ + cached_ > bytes;
    }
    if (over) trim();
}

void CachingAllocator::reset_peak() {
    std::lock_guard lock(lock_);
    peak_ = in_use_;
}

}  // namespace pardo::device
