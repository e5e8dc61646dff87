// src/device/queue/scheduled_queue.h: what queues with a Scheduler do alike: uses of memory, barriers, waits, checks of commands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "base/small_vector.h"
#include "device/profile.h"
#include "device/queue/scheduler.h"

namespace pardo::device {

/// What a fill repeats.
struct FillPattern {
    char bytes[16];
    std::size_t size;

    /// Fills memory of the host, `count` bytes: a multiple of the size.
    void repeat(char* to, std::size_t count) const noexcept;
};

/// Everything of a queue that does not depend on where its work runs. Who derives makes the Scheduler, and submits to it.
class ScheduledQueue : public Queue {
public:
    ~ScheduledQueue() override;
    void read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) override;
    Event barrier(std::span<const Event> depends) override;
    void order_after(const Event& event) override;
    Event fence() override { return scheduler_->fence(); }
    bool waits_for_host() override { return scheduler_->waits_for_host(); }
    bool may_last() override { return scheduler_->may_last(); }
    void wait() override;
    void wait_quietly() override { scheduler_->wait_quietly(); }

protected:
    using Queue::Queue;
    /// At the end of the constructor.
    void open(Scheduler* scheduler);
    /// True where its work may write elements of a block while that of other queues writes others.
    virtual bool writes_beside() const noexcept { return false; }
    /// Nothing but the order: complete after what the request names.
    virtual Event submit_marker(Request&& request) = 0;

    /// Adds to a request what it has to come after for what it uses, has `go` submit it, and remembers it with the memory and with open
    /// profiles. These leave out what has no activity.
    template <class Go>
    Event submit(Request&& request, std::span<const BufferUse> uses, std::span<const Event> depends, std::optional<Activity> activity,
                 Amount amount, Go&& go) {
        const Covered covered = collect(uses, depends, request);
        const bool noted = activity && recording();
        request.timed = noted;
        const std::optional<Submission> submission =
            noted ? std::optional(Submission{*activity, this, request.label, amount}) : std::nullopt;
        Event event = go(std::move(request));
        if (noted) record(*submission, event);
        note(event, uses, covered);
        return event;
    }
    /// Complete after all of them; fails with those it needs.
    Event join(const char* name, std::span<const Event> needs, std::vector<Event> after = {}, std::uint64_t covered = 0);
    /// Where only the queue of the other side can write its memory: readers there come after that.
    Event copy_by_other(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                        std::span<const Event> depends);

    static void check_range(const char* op_name, const Buffer* buffer, std::size_t offset, std::size_t bytes);
    static FillPattern checked_pattern(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes);
    static void count_bytes(std::size_t read, std::size_t written) noexcept {
        if (read) counters.bytes_read.fetch_add(read, std::memory_order_relaxed);
        if (written) counters.bytes_written.fetch_add(written, std::memory_order_relaxed);
    }
    static void count_launch(const Launch& launch) noexcept {
        counters.launched.fetch_add(1, std::memory_order_relaxed);
        counters.bytes_read.fetch_add(static_cast<std::uint64_t>(launch.bytes_read), std::memory_order_relaxed);
        counters.bytes_written.fetch_add(static_cast<std::uint64_t>(launch.bytes_written), std::memory_order_relaxed);
    }

    Ref<Scheduler> scheduler_;

private:
    using Covered = SmallVector<std::uint64_t, 8>;  // as of Buffer::note_write, by use
    Covered collect(std::span<const BufferUse> uses, std::span<const Event> depends, Request& request);
    void note(const Event& event, std::span<const BufferUse> uses, const Covered& covered);
};

}  // namespace pardo::device
