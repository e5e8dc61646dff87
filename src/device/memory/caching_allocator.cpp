// src/device/memory/caching_allocator.cpp: blocks of a driver's memory, kept for reuse.
#include "device/memory/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <utility>

#include <pardo/error.h>

#include "base/env.h"
#include "device/memory/budget.h"
#include "device/queue/queue.h"

namespace pardo::device {

/// A piece of memory that is cut into equal small blocks.
struct DriverBuffer::Slab {
    RawBlock block;
    MemoryKind kind = MemoryKind::Device;
    std::size_t bytes = 0;
    std::size_t used = 0;  // bytes cut off so far
    int live = 0;          // blocks handed out, or pending
};

struct CachingAllocator::Lists {
    DriverBuffer* idle[class_count] = {};        // ready for anybody
    DriverBuffer* pending[class_count] = {};     // freed, used by unfinished work; the youngest first
    DriverBuffer** next_look[class_count] = {};  // where in that list the next search goes on; null: at its begin
    Slab* open_slab[class_count] = {};           // has room for more blocks
};

namespace {

constexpr std::size_t small_limit = std::size_t{128} << 10;  // up to here blocks are cut from slabs
constexpr std::size_t least_slab = std::size_t{256} << 10, most_slab = std::size_t{2} << 20;
constexpr std::size_t loose_fit_from = std::size_t{64} << 10;  // from here on a block up to two classes larger will do
constexpr int young_looks = 2, pending_looks = 8;

}  // namespace

void DriverBuffer::dispose() { allocator_->recycle(this); }

std::vector<Event> DriverBuffer::unfinished() {
    std::lock_guard lock(mutex());
    std::vector<Event> events;
    for (auto* list : {&reads_, &writes_}) {
        for (Use& u : *list) {
            if (!known_done(u.event)) events.push_back(std::move(u.event));
        }
        list->clear();
    }
    note_busy();
    return events;
}

bool DriverBuffer::last_use_unfinished() {
    std::lock_guard lock(mutex());
    const auto last_unfinished = [](const std::vector<Use>& list) { return !list.empty() && !known_done(list.back().event); };
    return last_unfinished(writes_) || last_unfinished(reads_);
}

bool DriverBuffer::hand_over(const Queue* queue) {
    const auto own = [&](const Use& u) { return known_done(u.event) || u.event.state()->queue() == queue; };
    if (queue && queue->order() == QueueOrder::InOrder) {
        std::vector<Use> reads, writes, replaced;  // after the lock: an event may hold the last reference to a buffer
        Event origin;
        std::lock_guard lock(mutex());
        if (std::all_of(reads_.begin(), reads_.end(), own) && std::all_of(writes_.begin(), writes_.end(), own)) {
            // Whoever writes first waits for them; their failures are not the new owner's. In order the last ones stand for all.
            if (reads_.size() > 1 || writes_.size() > 1) {
                reads.swap(reads_);
                writes.swap(writes_);
                if (!reads.empty()) reads_.push_back(std::move(reads.back()));
                if (!writes.empty()) writes_.push_back(std::move(writes.back()));
            }
            if (!writes_.empty()) reads_.push_back(std::move(writes_.back()));
            writes_.clear();
            origin = std::exchange(origin_, Event());
            replaced.swap(replaced_);
            note_busy();
            return true;
        }
    }
    forget_uses();
    return !busy();
}

void DriverBuffer::forget_uses() {
    std::vector<Use> dropped;  // after the lock: an event may hold the last reference to a buffer
    std::lock_guard lock(mutex());
    // Failures of what used the block before are not the next owner's.
    for (auto* list : {&reads_, &writes_}) {
        const auto over = std::partition(list->begin(), list->end(), [](const Use& u) { return !known_done(u.event); });
        dropped.insert(dropped.end(), over, list->end());
        list->erase(over, list->end());
    }
    dropped.insert(dropped.end(), replaced_.begin(), replaced_.end());
    replaced_.clear();
    dropped.push_back({std::exchange(origin_, Event()), 0});
    note_busy();
}

CachingAllocator::CachingAllocator(Device* device, std::unique_ptr<RawMemory> raw)
    : device_(device), raw_(std::move(raw)), lists_(new Lists[kind_count]) {
    limit_ = memory_budget(raw_->total_bytes());
}

CachingAllocator::~CachingAllocator() {
    if (!driver_gone()) trim();
}

int CachingAllocator::class_of(std::size_t bytes) {
    if (bytes <= 1024) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / granule);
    // 1024 < bytes: eight steps between two powers of two.
    const int log = std::bit_width(bytes - 1) - 1;
    const auto step = static_cast<int>((bytes - 1) >> (log - 3) & 7);
    return std::min(8 + 8 * (log - 10) + step, class_count);
}

std::size_t CachingAllocator::class_bytes(int size_class) {
    if (size_class < 8) return granule * static_cast<std::size_t>(size_class + 1);
    const int log = 10 + (size_class - 8) / 8, step = (size_class - 8) % 8;
    return (std::size_t{1} << log) + (static_cast<std::size_t>(step + 1) << (log - 3));
}

Ref<Buffer> CachingAllocator::allocate(std::size_t bytes, MemoryKind kind, Queue* queue) {
    check_not_forked("allocate", device_);
    const int size_class = class_of(bytes);
    Lists& lists = lists_[static_cast<int>(kind)];
    DriverBuffer* b = nullptr;
    if (size_class < class_count) {
        const auto cached = [&] {
            std::lock_guard lock(lock_);
            b = take_cached(lists, size_class, queue);
        };
        cached();
        if (!b) {
            // The driver is slow: first look whether what is pending is complete by now.
            sweep_driver_queues(device_);
            cached();
        }
        if (!b) b = fresh(size_class, kind);
        if (!b) {
            trim();
            b = fresh(size_class, kind);
        }
        if (!b && static_cast<std::int64_t>(class_bytes(size_class)) <= bound()) {
            wait_for_driver_queues(device_);
            trim();
            b = fresh(size_class, kind);
        }
    }
    if (!b) fail(bytes, kind);
    b->bytes_ = bytes;
    return Ref<Buffer>(b);
}

DriverBuffer* CachingAllocator::take_cached(Lists& lists, int size_class, const Queue* queue) {
    const auto take_idle = [&](int c) {
        DriverBuffer* b = lists.idle[c];
        if (b) lists.idle[c] = b->next_;
        return b;
    };
    DriverBuffer* b = take_idle(size_class);
    if (!b) b = take_pending(lists, size_class, queue);
    if (class_bytes(size_class) >= loose_fit_from) {
        for (int c = size_class + 1; c <= std::min(size_class + 2, class_count - 1) && !b; ++c) b = take_idle(c);
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
// out-of-order queues those that have long been ready are found behind many that are not.
DriverBuffer* CachingAllocator::take_pending(Lists& lists, int size_class, const Queue* queue) {
    DriverBuffer** const head = &lists.pending[size_class];
    DriverBuffer**& next_look = lists.next_look[size_class];
    DriverBuffer** link = head;
    for (int looks = 0; looks < pending_looks; ++looks) {
        if (looks == young_looks && next_look) link = next_look;
        DriverBuffer* b = *link;
        if (!b) break;
        if (!b->busy() || b->hand_over(queue)) {
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

std::int64_t CachingAllocator::bound() {
    std::lock_guard lock(lock_);
    const std::int64_t total = raw_->total_bytes();
    return limit_ ? std::min(limit_, total) : total;
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

DriverBuffer* CachingAllocator::fresh(int size_class, MemoryKind kind) {
    const std::size_t bytes = class_bytes(size_class);
    if (!reserve(bytes)) return nullptr;
    DriverBuffer* b = nullptr;
    try {
        b = bytes <= small_limit ? carve(size_class, kind) : whole(size_class, kind);
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

CachingAllocator::Slab* CachingAllocator::new_slab(int size_class, MemoryKind kind) {
    auto slab = std::make_unique<Slab>();
    slab->kind = kind;
    slab->bytes = std::clamp(16 * class_bytes(size_class), least_slab, most_slab);
    return raw_->allocate(slab->bytes, kind, slab->block) ? slab.release() : nullptr;
}

DriverBuffer* CachingAllocator::carve(int size_class, MemoryKind kind) {
    const std::size_t bytes = class_bytes(size_class), alignment = raw_->block_alignment();
    auto b = std::make_unique<DriverBuffer>(device_, kind, nullptr, bytes);
    const auto cut = [&](Slab* slab) {
        b->slab_ = slab;
        b->data_ = static_cast<char*>(slab->block.data) + slab->used;
        b->handle_ = slab->block.handle;
        b->handle_offset_ = slab->used;
        slab->used += (bytes + alignment - 1) / alignment * alignment;
        ++slab->live;
    };
    Slab*& open = lists_[static_cast<int>(kind)].open_slab[size_class];
    {
        std::lock_guard lock(lock_);
        if (open && open->used + bytes <= open->bytes) {
            cut(open);
            return b.release();
        }
    }
    Slab* slab = new_slab(size_class, kind);
    if (!slab) return nullptr;
    std::lock_guard lock(lock_);
    slabs_.push_back(slab);
    open = slab;
    cut(slab);
    return b.release();
}

DriverBuffer* CachingAllocator::whole(int size_class, MemoryKind kind) {
    const std::size_t bytes = class_bytes(size_class);
    auto b = std::make_unique<DriverBuffer>(device_, kind, nullptr, bytes);
    RawBlock block;
    if (!raw_->allocate(bytes, kind, block)) return nullptr;
    b->data_ = block.data;
    b->handle_ = block.handle;
    return b.release();
}

void CachingAllocator::fail(std::size_t bytes, MemoryKind kind) {
    const MemoryStats s = stats();
    std::int64_t free = raw_->free_bytes();
    if (free < 0) free = std::max<std::int64_t>(0, raw_->total_bytes() - s.in_use - s.cached);
    if (s.limit) free = std::min(free, std::max<std::int64_t>(0, s.limit - s.in_use - s.cached));
    static constexpr const char* kinds[] = {"device", "shared", "host"};
    std::string text = "cannot allocate " + std::to_string(bytes) + " bytes of " + kinds[static_cast<int>(kind)] + " memory on " +
                       device_->id() + " (" + std::to_string(free) + " free";
    text += s.limit ? ", limit " + std::to_string(s.limit) : ", no limit";
    text += ", " + std::to_string(s.in_use) + " in use, " + std::to_string(s.cached) + " cached)";
    const std::int64_t largest = raw_->largest_block();
    if (largest > 0 && static_cast<std::int64_t>(bytes) > largest) text += "; one array may have " + std::to_string(largest) + " there";
    throw Error(ErrorCode::Memory, text);
}

Ref<Buffer> CachingAllocator::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release, void* handle,
                                     std::size_t handle_offset) {
    check_not_forked("import", device_);
    auto* b = new DriverBuffer(device_, kind, data, bytes);
    b->allocator_ = this;
    b->foreign_ = true;
    b->handle_ = handle;
    b->handle_offset_ = handle_offset;
    b->host_visible_ = raw_->host_visible(kind);
    b->release_ = std::move(release);
    return Ref<Buffer>(b);
}

void CachingAllocator::give_back_foreign(DriverBuffer* b) {
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

void CachingAllocator::wait_for_borrowers(DriverBuffer& b) noexcept {
    try {
        b.note_read(device_->foreign_work(0));
    } catch (const Error& e) {
        log(LogLevel::Info, "memory that another library has used: " + e.message());  // a lost device: nobody uses it again
    }
}

void CachingAllocator::recycle(DriverBuffer* b) {
    if (driver_gone()) return;  // nothing of the driver's is touched any more; the process ends, or is a child that has no use for it
    if (b->lent_.exchange(false, std::memory_order_relaxed)) wait_for_borrowers(*b);
    if (b->foreign_) return give_back_foreign(b);
    if (b->busy() && !b->last_use_unfinished()) b->forget_uses();
    b->strangers_.store(0, std::memory_order_relaxed);
    b->read_only_ = false;
    if (b->timed_write_.state()) b->timed_write_ = Event();
    const auto capacity = static_cast<std::int64_t>(b->capacity_);
    const bool busy = b->busy();
    Lists& lists = lists_[static_cast<int>(b->kind_)];
    bool crowded;
    {
        std::lock_guard lock(lock_);
        DriverBuffer*& list = busy ? lists.pending[b->size_class_] : lists.idle[b->size_class_];
        b->next_ = list;
        list = b;
        if (b->slab_ && !busy) --b->slab_->live;
        in_use_ -= capacity;
        cached_ += capacity;
        crowded = limit_ && in_use_ + cached_ > limit_;
    }
    if (crowded) trim();
}

void CachingAllocator::destroy(DriverBuffer* b) {
    if (!b->slab_ && !driver_gone()) raw_->free({b->data_, b->handle_}, b->kind_);
    delete b;
}

void CachingAllocator::trim() {
    sweep_driver_queues(device_);
    DriverBuffer* dead = nullptr;
    std::vector<Slab*> empty;
    {
        std::lock_guard lock(lock_);
        for (int kind = 0; kind < kind_count; ++kind) {
            Lists& lists = lists_[kind];
            for (int c = 0; c < class_count; ++c) {
                lists.next_look[c] = nullptr;
                for (DriverBuffer** link = &lists.pending[c]; *link;) {  // what has become ready meanwhile
                    DriverBuffer* b = *link;
                    b->forget_uses();
                    if (b->busy()) {
                        link = &b->next_;
                        continue;
                    }
                    *link = b->next_;
                    if (b->slab_) --b->slab_->live;
                    b->next_ = lists.idle[c];
                    lists.idle[c] = b;
                }
                for (DriverBuffer** link = &lists.idle[c]; *link;) {
                    DriverBuffer* b = *link;
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
        if (!driver_gone()) raw_->free(s->block, s->kind);
        delete s;
    }
}

MemoryStats CachingAllocator::stats() {
    if (driver_gone()) return {in_use_, cached_, peak_, limit_};  // in a child nobody may be there to unlock
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
