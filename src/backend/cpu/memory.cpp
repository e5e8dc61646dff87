// src/backend/cpu/memory.cpp: blocks of host memory, kept for reuse.
#include "backend/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include <pardo/error.h>

#include "backend/cpu/device.h"
#include "device/memory/budget.h"

namespace pardo::cpu {

/// A piece of memory that is cut into equal small blocks.
struct Slab {
    char* base = nullptr;
    std::size_t used = 0;  // bytes cut off so far
    int live = 0;          // blocks handed out, or pending
};

namespace {

constexpr std::size_t slab_bytes = std::size_t{256} << 10;
constexpr std::size_t small_limit = 4096;                      // up to here blocks are cut from slabs
constexpr std::size_t huge_page = std::size_t{2} << 20;        // from here on blocks are mapped
constexpr std::size_t loose_fit_from = std::size_t{64} << 10;  // from here on a block up to two classes larger will do
constexpr std::size_t page = 4096;
constexpr std::size_t spread_from = std::size_t{32} << 10;  // from here on blocks begin anywhere in their first page
constexpr int young_looks = 2, pending_looks = 8;

void* page_of(void* data) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) & ~(page - 1)); }

}  // namespace

bool CpuBuffer::host_visible() const noexcept { return !allocator_ || allocator_->host_visible(); }

void CpuBuffer::dispose() { allocator_->recycle(this); }

std::vector<Event> CpuBuffer::unfinished() {
    std::lock_guard lock(mutex());
    std::vector<Event> events;
    for (auto* list : {&reads_, &writes_}) {
        for (Use& u : *list) {
            if (!device::known_done(u.event)) events.push_back(std::move(u.event));
        }
        list->clear();
    }
    replaced_.clear();
    note_busy();
    return events;
}

bool CpuBuffer::only_of(const device::Queue* queue) {
    if (!queue || queue->order() != QueueOrder::InOrder) return false;
    std::lock_guard lock(mutex());
    const auto own = [&](const Use& u) { return device::known_done(u.event) || u.event.state()->queue() == queue; };
    return std::all_of(reads_.begin(), reads_.end(), own) && std::all_of(writes_.begin(), writes_.end(), own);
}

void CpuBuffer::forget_uses() {
    std::lock_guard lock(mutex());
    std::erase_if(writes_, [](const Use& u) { return device::known_done(u.event); });
    std::erase_if(replaced_, [](const Use& u) { return device::known_done(u.event); });
    origin_ = Event();
    prune();
}

void CpuBuffer::start_over(std::size_t bytes, MemoryKind kind) {
    bytes_ = bytes;
    kind_ = kind;
}

Allocator::Allocator(device::Device* device, bool host_visible, std::int64_t total_memory)
    : device_(device), host_visible_(host_visible), total_(total_memory) {
    limit_ = device::memory_budget(total_memory);
}

int Allocator::class_of(std::size_t bytes) {
    if (bytes <= 1024) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
    // 1024 < bytes: eight steps between two powers of two.
    const int log = std::bit_width(bytes - 1) - 1;
    const auto step = static_cast<int>((bytes - 1) >> (log - 3) & 7);
    return std::min(16 + 8 * (log - 10) + step, class_count);
}

std::size_t Allocator::class_bytes(int size_class) {
    if (size_class < 16) return 64 * static_cast<std::size_t>(size_class + 1);
    const int log = 10 + (size_class - 16) / 8, step = (size_class - 16) % 8;
    return (std::size_t{1} << log) + (static_cast<std::size_t>(step + 1) << (log - 3));
}

Ref<device::Buffer> Allocator::allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) {
    const int size_class = class_of(bytes);
    CpuBuffer* b = nullptr;
    if (size_class < class_count) {
        {
            std::lock_guard lock(lock_);
            b = take_cached(size_class, queue);
        }
        if (!b) b = fresh(size_class, bytes);
        if (!b) {
            trim();
            b = fresh(size_class, bytes);
        }
        if (!b && static_cast<std::int64_t>(class_bytes(size_class)) <= bound()) {
            if (wait_for_work) wait_for_work();
            trim();
            b = fresh(size_class, bytes);
        }
    }
    if (!b) fail(bytes);
    b->start_over(bytes, kind);
    return Ref<device::Buffer>(b);
}

CpuBuffer* Allocator::take_cached(int size_class, const device::Queue* queue) {
    CpuBuffer* b = idle_[size_class];
    if (b) {
        idle_[size_class] = b->next_;
    } else {
        b = take_pending(size_class, queue);
        if (!b && class_bytes(size_class) >= loose_fit_from) {
            for (int c = size_class + 1; c <= std::min(size_class + 2, class_count - 1) && !b; ++c) {
                b = idle_[c];
                if (b) idle_[c] = b->next_;
            }
        }
        if (!b) return nullptr;
    }
    const auto capacity = static_cast<std::int64_t>(b->capacity_);
    if (b->slab_) ++b->slab_->live;
    cached_ -= capacity;
    in_use_ += capacity;
    peak_ = std::max(peak_, in_use_);
    return b;
}

// As CachingAllocator::take_pending: first the youngest, then on from where the last search ended.
CpuBuffer* Allocator::take_pending(int size_class, const device::Queue* queue) {
    CpuBuffer** link = &pending_[size_class];
    CpuBuffer**& next_look = next_look_[size_class];
    for (int looks = 0; looks < pending_looks; ++looks) {
        if (looks == young_looks && next_look) link = next_look;
        CpuBuffer* b = *link;
        if (!b) break;
        if (!b->only_of(queue)) b->forget_uses();
        if (!b->busy() || b->only_of(queue)) {
            *link = b->next_;
            if (looks >= young_looks || next_look == &b->next_) next_look = link;
            if (b->slab_) --b->slab_->live;  // pending blocks count as live; the caller counts it again
            // What used the block before is only an order to keep: whoever writes first waits for it, and its failures are not the new
            // owner's.
            std::lock_guard lock(b->mutex());
            b->reads_.insert(b->reads_.end(), b->writes_.begin(), b->writes_.end());
            b->writes_.clear();
            b->replaced_.clear();
            b->origin_ = Event();
            return b;
        }
        link = &b->next_;
    }
    next_look = *link ? link : nullptr;
    return nullptr;
}

std::int64_t Allocator::bound() {
    std::lock_guard lock(lock_);
    return limit_ ? std::min(limit_, total_) : total_;
}

bool Allocator::reserve(std::size_t bytes) {
    const auto n = static_cast<std::int64_t>(bytes);
    const std::int64_t most = bound();
    std::lock_guard lock(lock_);
    if (in_use_ + cached_ + n > most) return false;
    in_use_ += n;
    peak_ = std::max(peak_, in_use_);
    return true;
}

void Allocator::unreserve(std::size_t bytes) {
    std::lock_guard lock(lock_);
    in_use_ -= static_cast<std::int64_t>(bytes);
}

CpuBuffer* Allocator::fresh(int size_class, std::size_t wanted) {
    const std::size_t bytes = class_bytes(size_class);
    if (!reserve(bytes)) return nullptr;
    CpuBuffer* b = bytes <= small_limit ? carve(size_class) : map(size_class, wanted);
    if (!b) {
        unreserve(bytes);
        return nullptr;
    }
    b->allocator_ = this;
    b->capacity_ = bytes;
    b->size_class_ = size_class;
    return b;
}

CpuBuffer* Allocator::carve(int size_class) {
    const std::size_t bytes = class_bytes(size_class);
    std::unique_ptr<CpuBuffer> b(new (std::nothrow) CpuBuffer(device_, MemoryKind::Device, nullptr, bytes));
    if (!b) return nullptr;
    b->block_origin_ = CpuBuffer::Origin::Slab;
    const auto cut = [&](Slab* slab) {
        b->slab_ = slab;
        b->data_ = slab->base + slab->used;
        slab->used += bytes;
        ++slab->live;
    };
    {
        std::lock_guard lock(lock_);
        Slab* slab = open_slab_[size_class];
        if (slab && slab->used + bytes <= slab_bytes) {
            cut(slab);
            return b.release();
        }
    }
    std::unique_ptr<Slab> slab(new (std::nothrow) Slab);
    if (!slab) return nullptr;
    slab->base = static_cast<char*>(std::aligned_alloc(page, slab_bytes));
    if (!slab->base) return nullptr;
    std::lock_guard lock(lock_);
    cut(slab.get());
    try {
        slabs_.push_back(slab.get());
    } catch (const std::bad_alloc&) {
        std::free(slab->base);
        return nullptr;
    }
    open_slab_[size_class] = slab.release();
    return b.release();
}

CpuBuffer* Allocator::map(int size_class, std::size_t wanted) {
    const std::size_t bytes = class_bytes(size_class);
    std::unique_ptr<CpuBuffer> b(new (std::nothrow) CpuBuffer(device_, MemoryKind::Device, nullptr, bytes));
    if (!b) return nullptr;
    if (bytes < spread_from) {
        b->block_origin_ = CpuBuffer::Origin::Heap;
        b->data_ = std::aligned_alloc(64, bytes);
        return b->data_ ? b.release() : nullptr;
    }
    const std::size_t place = next_place();
    if (bytes < huge_page) {
        b->block_origin_ = CpuBuffer::Origin::Pages;
        auto* base = static_cast<char*>(std::aligned_alloc(page, bytes + page));
        if (!base) return nullptr;
        b->data_ = base + place;
        return b.release();
    }
    b->block_origin_ = CpuBuffer::Origin::Mapped;
    const std::size_t mapped = bytes + page, padded = mapped + huge_page;
    void* raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    const auto start = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t aligned = (start + huge_page - 1) & ~(huge_page - 1);
    if (aligned > start) munmap(raw, aligned - start);
    if (const std::size_t tail = start + padded - (aligned + mapped)) munmap(reinterpret_cast<void*>(aligned + mapped), tail);
    auto* base = reinterpret_cast<char*>(aligned);
    b->data_ = base + place;
    madvise(base, mapped, MADV_HUGEPAGE);
    // A huge page of which less than half is wanted would waste more than a megabyte: small ones there.
    const std::size_t end = place + wanted, whole = end & ~(huge_page - 1), rest = end - whole;
    if (whole > 0 && rest < huge_page / 2 && whole < mapped) madvise(base + whole, std::min(huge_page, mapped - whole), MADV_NOHUGEPAGE);
    return b.release();
}

/// Where in its first page the next block begins. A load waits for a store shortly before if both addresses end in the same twelve bits,
/// as they would wherever a kernel goes through several arrays that all begin pages. Steps by the golden section keep any few blocks apart.
std::size_t Allocator::next_place() {
    std::lock_guard lock(lock_);
    constexpr std::size_t line = 64, lines = page / line, step = 25;
    place_ = (place_ + step) % lines;
    return place_ * line;
}

void Allocator::fail(std::size_t bytes) {
    const MemoryStats s = stats();
    std::int64_t free = available_memory();
    if (s.limit) free = std::min(free, std::max<std::int64_t>(0, s.limit - s.in_use));
    std::string text = "cannot allocate " + std::to_string(bytes) + " bytes on " + device_->id() + " (" + std::to_string(free) + " free";
    text += s.limit ? ", limit " + std::to_string(s.limit) : ", no limit";
    throw Error(ErrorCode::Memory, text + ", " + std::to_string(s.in_use) + " in use)");
}

Ref<device::Buffer> Allocator::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) {
    auto* b = new CpuBuffer(device_, kind, data, bytes);
    b->allocator_ = this;
    b->block_origin_ = CpuBuffer::Origin::Foreign;
    b->release_ = std::move(release);
    return Ref<device::Buffer>(b);
}

void Allocator::give_back_foreign(CpuBuffer* b) {
    struct Countdown {
        std::function<void()> release;
        std::atomic<std::size_t> left;
    };
    const std::vector<Event> events = b->unfinished();
    std::function<void()> release = std::move(b->release_);
    delete b;
    if (!release) return;
    if (events.empty()) return release();
    // The owner's function may take locks of the host language: it runs on the helper thread, never on one that computes.
    auto countdown = std::make_shared<Countdown>();
    countdown->release = std::move(release);
    countdown->left = events.size();
    for (const Event& e : events) {
        e.state()->subscribe([countdown] {
            if (countdown->left.fetch_sub(1) == 1) device::run_on_helper_thread(std::move(countdown->release));
        });
    }
}

void Allocator::recycle(CpuBuffer* b) {
    if (b->block_origin_ == CpuBuffer::Origin::Foreign) return give_back_foreign(b);
    if (b->busy()) b->forget_uses();
    b->strangers_.store(0, std::memory_order_relaxed);
    b->read_only_ = false;
    if (b->timed_write_.state()) b->timed_write_ = Event();
    const auto capacity = static_cast<std::int64_t>(b->capacity_);
    const bool busy = b->busy();
    bool crowded;
    {
        std::lock_guard lock(lock_);
        CpuBuffer*& list = busy ? pending_[b->size_class_] : idle_[b->size_class_];
        b->next_ = list;
        list = b;
        if (b->slab_ && !busy) --b->slab_->live;
        in_use_ -= capacity;
        cached_ += capacity;
        crowded = cached_ > total_ / 2;
    }
    if (crowded) trim();
}

void Allocator::destroy(CpuBuffer* b) {
    if (b->block_origin_ == CpuBuffer::Origin::Heap) std::free(b->data_);
    if (b->block_origin_ == CpuBuffer::Origin::Pages) std::free(page_of(b->data_));
    if (b->block_origin_ == CpuBuffer::Origin::Mapped) munmap(page_of(b->data_), b->capacity_ + page);
    delete b;
}

void Allocator::trim() {
    CpuBuffer* dead = nullptr;
    std::vector<Slab*> empty;
    {
        std::lock_guard lock(lock_);
        for (int c = 0; c < class_count; ++c) {
            next_look_[c] = nullptr;
            for (CpuBuffer** link = &pending_[c]; *link;) {  // what has become ready meanwhile
                CpuBuffer* b = *link;
                b->forget_uses();
                if (b->busy()) {
                    link = &b->next_;
                    continue;
                }
                *link = b->next_;
                if (b->slab_) --b->slab_->live;
                b->next_ = idle_[c];
                idle_[c] = b;
            }
            for (CpuBuffer** link = &idle_[c]; *link;) {
                CpuBuffer* b = *link;
                if (b->slab_ && b->slab_->live > 0) {  // a neighbour is in use
                    link = &b->next_;
                    continue;
                }
                *link = b->next_;
                cached_ -= static_cast<std::int64_t>(b->capacity_);
                b->next_ = dead;
                dead = b;
            }
            if (open_slab_[c] && open_slab_[c]->live == 0) open_slab_[c] = nullptr;
        }
        const auto in_use = std::partition(slabs_.begin(), slabs_.end(), [](const Slab* s) { return s->live > 0; });
        empty.assign(in_use, slabs_.end());
        slabs_.erase(in_use, slabs_.end());
    }
    while (dead) destroy(std::exchange(dead, dead->next_));
    for (Slab* s : empty) {
        std::free(s->base);
        delete s;
    }
}

MemoryStats Allocator::stats() {
    std::lock_guard lock(lock_);
    return {in_use_, cached_, peak_, limit_};
}

void Allocator::set_limit(std::int64_t bytes) {
    bool over;
    {
        std::lock_guard lock(lock_);
        limit_ = bytes;
        over = bytes && in_use_ + cached_ > bytes;
    }
    if (over) trim();
}

void Allocator::reset_peak() {
    std::lock_guard lock(lock_);
    peak_ = in_use_;
}

}  // namespace pardo::cpu
