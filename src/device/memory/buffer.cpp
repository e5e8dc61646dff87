// src/device/memory/buffer.cpp: which unfinished work uses a block of memory.
#include "device/buffer.h"

#include <algorithm>

#include "base/fork.h"
#include "device/device.h"

namespace pardo::device {
namespace {

/// A failed write still matters: what reads the memory has to fail for the same reason, until it is acknowledged.
bool matters_to_readers(const Event& e) {
    if (!known_done(e)) return true;
    const std::shared_ptr<Failure> failure = e.state() ? e.state()->failure() : nullptr;
    return failure && !failure->acknowledged.load(std::memory_order_acquire);
}

bool failed(const Event& e) { return e.state() && e.state()->known_status() == EventStatus::Failed; }

/// Removes those for which `which(use)` is true and gives each to `taken`.
template <class Uses, class Which, class Taken> void take_if(Uses& uses, Which&& which, Taken&& taken) {
    const auto over = std::stable_partition(uses.begin(), uses.end(), [&](const auto& u) { return !which(u); });
    for (auto u = over; u != uses.end(); ++u) taken(std::move(*u));
    uses.erase(over, uses.end());
}

/// Held for moments; enough of them that threads seldom meet.
struct alignas(64) Stripe {
    std::mutex mutex;
};
constexpr std::size_t stripe_count = 64;
Stripe stripes[stripe_count];

}  // namespace

void Buffer::wait_for(const Event& write) {
    write.wait();
    if (const std::shared_ptr<Failure> failure = failure_of(write)) throw Error(failure->error);
}

std::mutex& Buffer::mutex() const noexcept {
    // By the address's middle bits, spread by a multiplication: neighbours get different locks.
    const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(this) / alignof(Buffer) * 0x9e3779b97f4a7c15u;
    return stripes[bits >> 58 & (stripe_count - 1)].mutex;
}

void hold_buffers_at_fork() {
    for (Stripe& stripe : stripes) hold_at_fork(stripe.mutex);
}

void Buffer::prune() {
    prune_reads();
    prune_writes();
    note_busy();
}

void Buffer::prune_reads() {
    std::erase_if(reads_, [](const Use& u) { return known_done(u.event); });
    look_at_reads_ = std::max(few, 2 * reads_.size());
}

void Buffer::prune_writes() {
    // The youngest write that was stopped in the middle, unless all was overwritten after it.
    const auto look = [this](const Use& u) {
        if (u.number <= origin_number_ || !failed(u.event) || u.event.state()->reach != Reach::Part) return;
        origin_ = u.event;
        origin_number_ = u.number;
    };
    for (const Use& u : writes_) look(u);
    // What stands for a write that was stopped has failed too.
    const bool suspect = std::any_of(writes_.begin(), writes_.end(), [](const Use& u) { return failed(u.event); });
    if (!replaced_.empty() && (suspect || replaced_.size() >= look_at_replaced_ || writes_.empty())) {
        for (const Use& u : replaced_) look(u);
        std::erase_if(replaced_, [](const Use& u) { return known_done(u.event); });
        look_at_replaced_ = std::max(few, 2 * replaced_.size());
    }
    std::erase_if(writes_, [](const Use& u) { return !matters_to_readers(u.event); });
    if (origin_.state() && known_done(origin_) && !undefined()) origin_ = Event();
}

/// On an in-order queue a newer event stands for the older ones.
void Buffer::add_read(const Event& event, std::uint64_t number) {
    const Queue* queue = event.state()->queue();
    if (queue && queue->order() == QueueOrder::InOrder)
        std::erase_if(reads_, [&](const Use& u) { return u.event.state()->queue() == queue && !failed(u.event); });
    reads_.push_back({event, number});
}

/// A driver's work is never stopped in the middle.
void Buffer::replace(Use&& write) {
    if (!write.event.state()->polled()) replaced_.push_back(std::move(write));
}

bool Buffer::undefined() const noexcept {
    return origin_.state() && origin_.state()->known_status() == EventStatus::Failed && origin_.state()->reach != Reach::Everything;
}

void Buffer::note_busy() noexcept {
    const bool writes = !writes_.empty() || undefined();
    const auto bits = static_cast<std::uint8_t>((reads_.empty() ? 0 : reads_bit) | (writes ? writes_bit : 0));
    busy_.store(bits, std::memory_order_release);
}

void Buffer::note_read(const Event& event) {
    if (known_done(event)) return;
    std::lock_guard lock(mutex());
    if (reads_.size() < few || reads_.size() >= look_at_reads_) prune_reads();
    const std::uint64_t number = noted_.load(std::memory_order_relaxed) + 1;
    add_read(event, number);
    note_busy();
    noted_.store(number, std::memory_order_release);  // last: a thread that reads it finds the buffer busy
}

void Buffer::note_write(const Event& event, Access access, std::uint64_t covered) {
    const bool inherits = reads(access);
    const bool complete = !event.state() || event.state()->known_status() == EventStatus::Complete;
    const Queue* queue = event.state() ? event.state()->queue() : nullptr;
    const bool timed = queue && queue->profiling();
    const bool counts_only = complete && !timed && (inherits || !written());
    if (counts_only && host_visible()) return;
    std::lock_guard lock(mutex());
    if (counts_only) {  // so that noted() tells of every write of a device
        noted_.fetch_add(1, std::memory_order_release);
        return;
    }
    if (timed) timed_write_ = event;
    if (reads_.size() < few || reads_.size() >= look_at_reads_) prune_reads();
    prune_writes();
    const std::uint64_t number = noted_.load(std::memory_order_relaxed) + 1;
    if (!inherits || access == Access::Check) {
        origin_ = complete ? Event() : event;
        origin_number_ = number;
    }
    if (!inherits) replaced_.clear();
    // Work that failed when it was submitted has waited for nothing.
    const auto waited_for = [covered = failed(event) ? 0 : covered](const Use& u) { return u.number <= covered; };
    std::erase_if(reads_, waited_for);
    if (access == Access::Write) {  // only writers have to wait for the older ones too
        for (const Use& u : writes_) {
            if (known_done(u.event) || waited_for(u)) continue;
            // The queue of another event may end at any time.
            if (u.event.state()->queue() == queue) {
                add_read(u.event, u.number);
            } else {
                reads_.push_back(u);
            }
        }
        writes_.clear();
    } else if (inherits && !complete) {  // it fails whenever they do
        const bool in_order = queue && queue->order() == QueueOrder::InOrder;
        const auto stands_for = [&](const Use& u) {
            return !failed(u.event) && (waited_for(u) || (in_order && u.event.state()->queue() == queue));
        };
        take_if(writes_, stands_for, [this](Use&& u) { replace(std::move(u)); });
    }
    if (!complete) writes_.push_back({event, number});
    note_busy();
    noted_.store(number, std::memory_order_release);
}

std::vector<Event> Buffer::loose_writes(const Queue* queue) {
    std::vector<Event> events;
    std::lock_guard lock(mutex());
    if (writes_.size() < few) return events;
    for (const Use& u : writes_) {
        if (!known_done(u.event) && u.event.state()->queue() == queue) events.push_back(u.event);
    }
    if (events.size() < few) events.clear();
    return events;
}

void Buffer::note_join(const Event& event, const std::vector<Event>& writes) {
    if (known_done(event)) return;
    std::lock_guard lock(mutex());
    const auto joined = [&](const Use& u) {
        return std::any_of(writes.begin(), writes.end(), [&](const Event& e) { return e.state() == u.event.state(); });
    };
    const std::size_t before = writes_.size();
    take_if(writes_, joined, [this](Use&& u) { replace(std::move(u)); });
    if (writes_.size() == before) return;  // all was overwritten meanwhile
    const std::uint64_t number = noted_.load(std::memory_order_relaxed) + 1;
    writes_.push_back({event, number});
    note_busy();
    noted_.store(number, std::memory_order_release);
}

Event Buffer::timed_write() const {
    std::lock_guard lock(mutex());
    return timed_write_;
}

void Buffer::collect_for_read(std::vector<Event>& out) {
    if (!busy()) return;
    std::lock_guard lock(mutex());
    prune_writes();
    note_busy();
    for (const Use& u : writes_) out.push_back(u.event);
    const auto is_origin = [&](const Use& u) { return u.event.state() == origin_.state(); };
    if (undefined() && std::none_of(writes_.begin(), writes_.end(), is_origin)) out.push_back(origin_);
}

void Buffer::collect_for_write(std::vector<Event>& out) {
    if (!busy()) return;
    std::lock_guard lock(mutex());
    prune();
    for (const auto* list : {&writes_, &reads_}) {
        for (const Use& u : *list) out.push_back(u.event);
    }
    if (undefined()) out.push_back(origin_);  // so that no reader passes over it
}

void Buffer::wait_for_read() {
    if (!busy()) return;
    std::vector<Event> events;
    collect_for_read(events);
    for (const Event& e : events) wait_for(e);
}

void Buffer::write_anew() {
    if (!busy()) return;
    std::lock_guard lock(mutex());
    origin_ = Event();
    prune();
}

void Buffer::wait_for_write() {
    if (!busy()) return;
    write_anew();
    std::vector<Event> events;
    collect_for_write(events);
    for (const Event& e : events) {
        if (e.state()) e.state()->wait_done();
    }
    wait_for_read();
}

}  // namespace pardo::device
