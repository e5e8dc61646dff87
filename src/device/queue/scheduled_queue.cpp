// src/device/queue/scheduled_queue.cpp: what submissions use, barriers, and checks of commands.
#include "device/queue/scheduled_queue.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <pardo/error.h>

namespace pardo::device {

ScheduledQueue::~ScheduledQueue() { scheduler_->close(); }

void ScheduledQueue::open(Scheduler* scheduler) {
    scheduler_ = scheduler;
    scheduler->open();
}

ScheduledQueue::Covered ScheduledQueue::collect(std::span<const BufferUse> uses, std::span<const Event> depends, Request& request) {
    for (const Event& e : depends) request.needs.push_back(needed_now(e, this));
    Covered covered;
    for (const BufferUse& u : uses) {
        covered.push_back(u.buffer->noted());
        // Blocks of this device wait for their uses before they are reused; what others do with theirs is not known here.
        if (u.buffer->device() != device_) request.kept.emplace_back(u.buffer);
        if (!u.buffer->busy()) continue;
        if (reads(u)) {
            const std::size_t known = request.needs.size();
            u.buffer->collect_for_read(u.view, request.needs, request.after, Buffer::Look::Take,
                                       [this](const Event& e, bool needed) { return scheduler_->implied(e, needed); });
            for (std::size_t i = known; i < request.needs.size(); ++i) request.needs[i] = needed_now(request.needs[i], this);
        }
        if (!writes(u)) continue;
        const auto implied = [this](const Event& e) { return scheduler_->implied(e, false); };
        writes_beside() ? u.buffer->collect_for_write(u.view, request.after, implied) : u.buffer->collect_for_write(request.after, implied);
    }
    return covered;
}

void ScheduledQueue::note(const Event& event, std::span<const BufferUse> uses, const Covered& covered) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const BufferUse& u = uses[i];
        if (reads(u)) u.buffer->note_read(event);
        if (!writes(u)) continue;
        if (scheduler_->before_next(event)) u.buffer->drop_writes(u.view, [this](const Event& e) { return scheduler_->implied(e, true); });
        if (!u.buffer->note_write(event, u.access, u.view, covered[i], writes_beside())) continue;
        // A reader needs all writes that have left elements as they were: one event stands for many of them.
        const std::vector<Event> writes = u.buffer->loose_writes(this);
        if (!writes.empty()) u.buffer->note_join(join("join", writes), writes);
    }
}

void ScheduledQueue::read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    check_range("read", from, offset, bytes);
    from->wait_for_read(View::bytes(offset, bytes));
    fetch(to, from, offset, bytes);
}

Event ScheduledQueue::join(const char* name, std::span<const Event> needs, std::vector<Event> after, std::uint64_t covered) {
    Request request;
    request.label.name = name;
    request.needs.assign(needs.begin(), needs.end());
    request.after = std::move(after);
    request.covered = covered;
    return submit_marker(std::move(request));
}

Event ScheduledQueue::barrier(std::span<const Event> depends) {
    const auto complete = [](const Event& e) { return e.status() == EventStatus::Complete; };
    if (!profiling_ && std::all_of(depends.begin(), depends.end(), complete) && scheduler_->idle()) return Event();
    std::vector<Event> needs;
    for (const Event& e : depends) needs.push_back(needed_now(e, this));
    if (order_ == QueueOrder::InOrder) return join("barrier", needs);
    Ends ends = scheduler_->unfinished_ends();
    return join("barrier", needs, std::move(ends.events), ends.covered);
}

void ScheduledQueue::order_after(const Event& event) {
    if (order_ == QueueOrder::InOrder) {
        (void)barrier({&event, 1});
    } else {
        scheduler_->order_after(event);
    }
}

void ScheduledQueue::wait() {
    scheduler_->wait_done();
    failures()->raise();
}

Event ScheduledQueue::copy_by_other(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                                    std::span<const Event> depends) {
    std::vector<Event> before(depends.begin(), depends.end());
    if (order_ == QueueOrder::InOrder) {
        for (Event& e : scheduler_->unfinished()) before.push_back(std::move(e));
    }
    const Event moved = to->device()->queue()->copy(to, to_offset, from, from_offset, bytes, before);
    return barrier({&moved, 1});
}

void ScheduledQueue::check_range(const char* op_name, const Buffer* buffer, std::size_t offset, std::size_t bytes) {
    if (offset <= buffer->bytes() && bytes <= buffer->bytes() - offset) return;
    throw Error(ErrorCode::Internal, std::string(op_name) + ": bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                                         " of a buffer of " + std::to_string(buffer->bytes()));
}

void FillPattern::repeat(char* to, std::size_t count) const noexcept {
    if (std::all_of(bytes, bytes + size, [&](char c) { return c == bytes[0]; })) {
        std::memset(to, bytes[0], count);
        return;
    }
    char block[256];  // the pattern repeated, so that large copies do the work
    for (std::size_t i = 0; i < sizeof block; i += size) std::memcpy(block + i, bytes, size);
    for (; count >= sizeof block; count -= sizeof block, to += sizeof block) std::memcpy(to, block, sizeof block);
    std::memcpy(to, block, count);
}

FillPattern ScheduledQueue::checked_pattern(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t size) {
    check_range("fill", to, offset, bytes);
    const bool known_size = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    if (!known_size || bytes % size != 0) {
        throw Error(ErrorCode::Internal, "fill: " + std::to_string(bytes) + " bytes with a pattern of " + std::to_string(size));
    }
    count_bytes(0, bytes);
    FillPattern checked{{}, size};
    std::memcpy(checked.bytes, pattern, size);
    return checked;
}

}  // namespace pardo::device
