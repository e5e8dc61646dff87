// src/device/buffer.cpp: which unfinished work uses a block of memory.
#include "device/buffer.h"

#include <algorithm>

#include "base/fork.h"
#include "device/device.h"

namespace pardo::device {
namespace {

/// A failed write still matters: what reads the memory has to fail for the same reason, until somebody has heard of it.
bool matters_to_readers(const Event& e) {
    if (!known_done(e)) return true;
    const std::shared_ptr<Failure> failure = e.state() ? e.state()->failure() : nullptr;
    return failure && !failure->heard.load(std::memory_order_acquire);
}

/// On an in-order queue a newer event stands for the older ones, if it fails whenever they do; otherwise all are kept.
void add(std::vector<Event>& uses, const Event& event, bool stands_for_older) {
    const Queue* queue = event.state()->queue();
    if (stands_for_older && queue && queue->order() == QueueOrder::InOrder) {
        std::erase_if(uses,
                      [&](const Event& e) { return e.state()->queue() == queue && e.state()->known_status() != EventStatus::Failed; });
    }
    uses.push_back(event);
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
    std::erase_if(reads_, [](const Event& e) { return known_done(e); });
    // The youngest write that was stopped in the middle, unless all was written anew after it.
    for (auto e = writes_.rbegin(); e != writes_.rend() && !(e->state() && e->state() == origin_.state()); ++e) {
        if (!e->state() || e->state()->known_status() != EventStatus::Failed || e->state()->reach != Reach::Part) continue;
        origin_ = *e;
        break;
    }
    std::erase_if(writes_, [](const Event& e) { return !matters_to_readers(e); });
    if (origin_.state() && known_done(origin_) && !undefined()) origin_ = Event();
    note_busy();
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
    prune();
    add(reads_, event, true);
    note_busy();
}

void Buffer::note_write(const Event& event, Access access) {
    const bool inherits = reads(access);
    const bool complete = !event.state() || event.state()->known_status() == EventStatus::Complete;
    const bool timed = event.state() && event.state()->queue() && event.state()->queue()->profiling();
    if (complete && !timed && (inherits || !written())) return;
    std::lock_guard lock(mutex());
    if (timed) timed_write_ = event;
    prune();
    if (!inherits) origin_ = complete ? Event() : event;
    if (access == Access::Write) {  // only who writes has to wait for the older ones too
        for (const Event& e : writes_) {
            if (!known_done(e)) add(reads_, e, true);
        }
        writes_.clear();
    }
    if (complete) return note_busy();
    add(writes_, event, inherits);
    note_busy();
}

Event Buffer::timed_write() const {
    std::lock_guard lock(mutex());
    return timed_write_;
}

void Buffer::collect_for_read(std::vector<Event>& out) {
    if (!busy()) return;
    std::lock_guard lock(mutex());
    prune();
    out.insert(out.end(), writes_.begin(), writes_.end());
    const auto is_origin = [&](const Event& e) { return e.state() == origin_.state(); };
    if (undefined() && std::none_of(writes_.begin(), writes_.end(), is_origin)) out.push_back(origin_);
}

void Buffer::collect_for_write(std::vector<Event>& out) {
    if (!busy()) return;
    std::lock_guard lock(mutex());
    prune();
    out.insert(out.end(), writes_.begin(), writes_.end());
    out.insert(out.end(), reads_.begin(), reads_.end());
    if (undefined()) out.push_back(origin_);  // so that nobody passes over it
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
