// src/device/memory/buffer.cpp: which unfinished work uses a block of memory.
#include "device/buffer.h"

#include <algorithm>

#include <pardo/error.h>

#include "base/fork.h"
#include "device/device.h"

namespace pardo::device {
namespace {

/// Removes those for which `which(use)` is true, and gives them.
template <class Uses, class Which> Uses take_if(Uses& uses, Which&& which) {
    const auto over = std::stable_partition(uses.begin(), uses.end(), [&](const auto& u) { return !which(u); });
    Uses taken(std::make_move_iterator(over), std::make_move_iterator(uses.end()));
    uses.erase(over, uses.end());
    return taken;
}

/// Up to here it is looked exactly which bytes of a write in progress another use has: that is done for work that does not fail, too.
constexpr std::int64_t most_exact_runs = 4096;

/// Held for moments; enough of them that threads seldom meet.
struct alignas(64) Stripe {
    std::mutex mutex;
};
constexpr std::size_t stripe_count = 64;
Stripe stripes[stripe_count];

}  // namespace

void Buffer::wait_for(const Event& write) {
    if (!write.state()) return;
    write.state()->wait_done();
    const std::shared_ptr<Failure> failure = failure_of(write);
    if (!failure) return;
    write.state()->acknowledge();
    if (externally_writable()) throw Error(failure->error);  // raised once, as it is not kept
    throw FailedElements(failure->error);
}

std::mutex& Buffer::mutex() const noexcept {
    // By the address's middle bits, spread by a multiplication: neighbours get different locks.
    const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(this) / alignof(Buffer) * 0x9e3779b97f4a7c15u;
    return stripes[bits >> 58 & (stripe_count - 1)].mutex;
}

void hold_buffers_at_fork() {
    for (Stripe& stripe : stripes) hold_at_fork(stripe.mutex);
}

bool Buffer::known_failed(const Event& e) noexcept { return e.state() && e.state()->known_status() == EventStatus::Failed; }

bool Buffer::has_failed_data(const Event& e) {
    if (!known_failed(e)) return false;
    e.state()->failure()->of_data.store(true, std::memory_order_release);
    return true;
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
    if (std::none_of(writes_.begin(), writes_.end(), [](const WriteUse& u) { return known_done(u.event); })) return;
    std::vector<WriteUse> done = take_if(writes_, [](const WriteUse& u) { return known_done(u.event); });
    for (WriteUse& u : done) note_failed(std::move(u));
}

/// The newest failure of an element is the one that counts.
void Buffer::note_failed(WriteUse&& write) {
    if (!write.parts.empty()) {  // each for itself
        for (WriteUse& part : write.parts) known_done(part.event) ? note_failed(std::move(part)) : writes_.push_back(std::move(part));
        return;
    }
    if (!has_failed_data(write.event) || write.region.empty() || (write.left && write.left->empty())) return;
    if (!write.left) overwrite(write.region);
    failed_.push_back({write.left ? std::move(*write.left) : ByteSet(write.region), std::move(write.event)});
}

bool Buffer::touches(const WriteUse& write, const ByteRegion& region) {
    return write.left ? write.left->intersects(region) : meet(write.region, region);
}

bool Buffer::meet(const ByteRegion& one, const ByteRegion& other) {
    const ByteRange a = one.bounds(), b = other.bounds();
    if (a.begin >= b.end || b.begin >= a.end) return false;
    if ((one.dense() && other.dense()) || one.runs() > most_exact_runs || other.runs() > most_exact_runs) return true;
    return ByteSet(one).intersects(other);
}

void Buffer::overwrite(const ByteRegion& region) {
    for (FailedRange& f : failed_) f.bytes.remove(region);
    std::erase_if(failed_, [](const FailedRange& f) { return f.bytes.empty(); });
}

void Buffer::cut(WriteUse& write, const ByteRegion& region) {
    for (WriteUse& part : write.parts) cut(part, region);
    if (!write.left && (write.region.runs() > most_exact_runs || region.runs() > most_exact_runs || !touches(write, region))) return;
    if (!write.left) write.left = std::make_shared<ByteSet>(write.region);
    write.left->remove(region);
}

void Buffer::add_failed(const ByteRegion& region, std::vector<Event>& out, Look look) {
    const auto found = [&](const FailedRange& f) { return f.bytes.intersects(region); };
    for (const FailedRange& f : failed_) {
        if (found(f)) out.push_back(f.event);
    }
    if (look == Look::Only || failed_.empty() || !externally_writable()) return;
    std::erase_if(failed_, found);
    note_busy();
}

/// On an in-order queue a newer event stands for the older ones.
void Buffer::add_read(const Event& event, std::uint64_t number) {
    const Queue* queue = event.state()->queue();
    if (queue && queue->order() == QueueOrder::InOrder)
        std::erase_if(reads_, [&](const Use& u) { return u.event.state()->queue() == queue && !known_failed(u.event); });
    reads_.push_back({event, number});
}

void Buffer::note_busy() noexcept {
    const bool writes = retired_ || !writes_.empty() || !failed_.empty();
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

bool Buffer::note_write(const Event& event, Access access, const View& view, std::uint64_t covered, bool beside) {
    const bool complete = !event.state() || event.state()->known_status() == EventStatus::Complete;
    const Queue* queue = event.state() ? event.state()->queue() : nullptr;
    const bool timed = queue && queue->profiling();
    const bool counts_only = complete && !timed && (access != Access::Write || !written());
    if (counts_only && host_visible()) return false;
    std::lock_guard lock(mutex());
    if (counts_only) {  // so that noted() tells of every write of a device
        noted_.fetch_add(1, std::memory_order_release);
        return false;
    }
    if (timed) timed_write_ = event;
    if (reads_.size() < few || reads_.size() >= look_at_reads_) prune_reads();
    prune_writes();
    const std::uint64_t number = noted_.load(std::memory_order_relaxed) + 1;
    ByteRegion region(view, bytes_);
    // Work that failed when it was submitted has waited for nothing.
    const auto waited_for = [covered = known_failed(event) ? 0 : covered](const Use& u) { return u.number <= covered; };
    // It stands for earlier readers to those who wait for it: for all, where no other work may write beside it.
    if (!beside || reads(access) || region.covers(ByteRegion(ByteRange{0, static_cast<std::int64_t>(bytes_)})))
        std::erase_if(reads_, waited_for);
    if (access == Access::Write) {
        overwrite(region);
        // Only writers have to wait for older ones of which nothing is left.
        for (WriteUse& u : take_if(writes_, [&](const WriteUse& u) { return region.covers(u.region); })) {
            if (known_done(u.event) || waited_for(u)) continue;
            // As new: who has collected what it waits for, and wrote beside it, does not wait for it.
            reads_.push_back({u.event, number});
        }
        for (WriteUse& u : writes_) cut(u, region);
    } else if (reads(access) && !complete) {  // it fails whenever those do of which it reads all
        const bool in_order = queue && queue->order() == QueueOrder::InOrder;
        std::erase_if(writes_, [&](const WriteUse& u) {
            const bool after = waited_for(u) || (in_order && u.event.state()->queue() == queue);
            return after && !known_failed(u.event) && region.covers(u.region);
        });
    }
    if (known_failed(event)) {
        note_failed({event, number, std::move(region)});
    } else if (!complete) {
        writes_.emplace_back(event, number, std::move(region)).beside = beside;
    }
    note_busy();
    noted_.store(number, std::memory_order_release);
    return writes_.size() >= few;
}

std::vector<Event> Buffer::loose_writes(const Queue* queue) {
    std::vector<Event> events;
    std::lock_guard lock(mutex());
    for (const WriteUse& u : writes_) {
        if (!known_done(u.event) && u.event.state()->queue() == queue) events.push_back(u.event);
    }
    if (events.size() < few) events.clear();
    return events;
}

void Buffer::note_join(const Event& event, const std::vector<Event>& writes) {
    if (known_done(event)) return;
    std::lock_guard lock(mutex());
    std::vector<WriteUse> parts = take_if(writes_, [&](const WriteUse& u) {
        return std::any_of(writes.begin(), writes.end(), [&](const Event& e) { return e.state() == u.event.state(); });
    });
    if (parts.empty()) return;  // all was overwritten meanwhile
    ByteRange bounds = parts[0].region.bounds();
    for (const WriteUse& u : parts) {
        bounds.begin = std::min(bounds.begin, u.region.bounds().begin);
        bounds.end = std::max(bounds.end, u.region.bounds().end);
    }
    const std::uint64_t number = noted_.load(std::memory_order_relaxed) + 1;
    writes_.emplace_back(event, number, ByteRegion(bounds));
    writes_.back().parts = std::move(parts);
    note_busy();
    noted_.store(number, std::memory_order_release);
}

Event Buffer::timed_write() const {
    std::lock_guard lock(mutex());
    return timed_write_;
}

void Buffer::collect_for_read(const View& view, std::vector<Event>& needs, std::vector<Event>& after, Look look) {
    collect_for_read(view, needs, after, look, [](const Event&, bool) { return false; });
}

void Buffer::collect_for_write(std::vector<Event>& out) {
    collect_for_write(out, [](const Event&) { return false; });
}

void Buffer::wait_for_read(const View& view) {
    if (!written()) return;
    std::vector<Event> needs, after;
    collect_for_read(view, needs, after, Look::Take);
    for (const Event& e : after) e.state()->wait_done();
    for (const Event& e : needs) wait_for(e);
}

void Buffer::wait_for_update(const View& view) {
    if (!busy()) return;
    std::vector<Event> uses;
    collect_for_write(uses);
    for (const Event& e : uses) e.state()->wait_done();
    wait_for_read(view);
}

void Buffer::wait_for_write(const View& view) {
    if (!busy()) return;
    std::vector<Event> uses;
    collect_for_write(uses);
    for (const Event& e : uses) e.state()->wait_done();
    (void)note_write(Event(), Access::Write, view);
}

bool Buffer::has_failed(const View& view) {
    if (!written()) return false;
    const std::lock_guard lock(mutex());
    prune_writes();
    note_busy();
    if (failed_.empty()) return false;
    const ByteRegion region(view, bytes_);
    return std::any_of(failed_.begin(), failed_.end(), [&](const FailedRange& f) { return f.bytes.intersects(region); });
}

Event Buffer::failed_write(const View& view) {
    if (!written()) return {};
    std::vector<Event> needs, after;
    collect_for_read(view, needs, after);
    for (const Event& e : needs) {
        e.state()->wait_done();
        if (known_failed(e)) return e;
    }
    return {};
}

void Buffer::accept(const View& view) {
    if (!written()) return;
    std::vector<Event> needs, after;
    collect_for_read(view, needs, after);
    for (const auto* list : {&needs, &after}) {
        for (const Event& e : *list) e.state()->wait_done();
    }
    for (const Event& e : needs) e.state()->acknowledge();  // whoever accepts the elements knows
    std::lock_guard lock(mutex());
    prune_writes();
    overwrite(ByteRegion(view, bytes_));
    note_busy();
}

void Buffer::retire(std::string message, std::vector<Event>& needs, std::vector<Event>& after) {
    const std::lock_guard lock(mutex());
    refuse_if_retired();
    prune();
    // The failures that readers have not been told yet are the caller's, too.
    for (const FailedRange& f : failed_) needs.push_back(f.event);
    for (const WriteUse& u : writes_) needs.push_back(u.event);
    for (const Use& u : reads_) after.push_back(u.event);
    failed_.clear();
    writes_.clear();
    reads_.clear();
    retired_ = std::make_unique<const std::string>(std::move(message));
    set_externally_writable();  // uses are run when they are recorded, and so refused there
    note_busy();
}

bool Buffer::retired() const {
    const std::lock_guard lock(mutex());
    return retired_ != nullptr;
}

void Buffer::throw_retired() const { throw Error(ErrorCode::Value, *retired_); }

}  // namespace pardo::device
