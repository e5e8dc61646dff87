// src/backend/cpu/queue.cpp: what can be submitted to a CPU device.
#include "backend/cpu/queue.h"

#include <algorithm>
#include <cstring>

#include <pardo/error.h>

#include "backend/cpu/launch.h"
#include "base/counters.h"
#include "device/profile.h"

namespace pardo::cpu {
namespace {

using device::Access;
using device::Buffer;
using device::BufferUse;
using device::Label;
using device::Request;
using device::Submission;

/// One core moves about ten bytes a nanosecond; used only to tell small copies from large ones.
constexpr double ns_per_byte = 0.1;

void check_range(const char* op_name, const Buffer* b, std::size_t offset, std::size_t bytes) {
    if (offset <= b->bytes() && bytes <= b->bytes() - offset) return;
    throw Error(ErrorCode::Internal, std::string(op_name) + ": bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                                         " of a buffer of " + std::to_string(b->bytes()));
}

void copy_bytes(ThreadPool& pool, char* to, const char* from, std::size_t bytes) {
    const bool overlap = to < from + bytes && from < to + bytes;
    if (overlap) {
        std::memmove(to, from, bytes);
        return;
    }
    run_range(pool, static_cast<std::int64_t>(bytes), ns_per_byte * static_cast<double>(bytes),
              [&](std::int64_t begin, std::int64_t end) { std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin)); });
}

struct Pattern {
    char bytes[16];
    std::size_t size;
};

void fill_bytes(ThreadPool& pool, char* to, std::size_t bytes, const Pattern& pattern) {
    const auto uniform = [&] {
        return std::all_of(pattern.bytes, pattern.bytes + pattern.size, [&](char c) { return c == pattern.bytes[0]; });
    };
    const bool one_byte = uniform();
    char block[256];  // the pattern repeated, so that large copies do the work
    for (std::size_t i = 0; i < sizeof block; i += pattern.size) std::memcpy(block + i, pattern.bytes, pattern.size);
    run_range(pool, static_cast<std::int64_t>(bytes / pattern.size), ns_per_byte * static_cast<double>(bytes),
              [&](std::int64_t begin, std::int64_t end) {
                  char* first = to + begin * static_cast<std::int64_t>(pattern.size);
                  std::size_t left = static_cast<std::size_t>(end - begin) * pattern.size;
                  if (one_byte) {
                      std::memset(first, pattern.bytes[0], left);
                      return;
                  }
                  for (; left >= sizeof block; left -= sizeof block, first += sizeof block) std::memcpy(first, block, sizeof block);
                  std::memcpy(first, block, left);
              });
}

}  // namespace

CpuQueue::CpuQueue(device::Device* device, ThreadPool* pool, QueueOrder order, bool profiling)
    : Queue(device, order, profiling), pool_(pool), core_(new QueueCore(this, pool)) {
    core_->open();
}

CpuQueue::~CpuQueue() { core_->close(); }

bool CpuQueue::may_run_now(double cost_ns, std::span<const BufferUse> uses, std::span<const Event> depends) {
    if (cost_ns >= at_once_limit_ns) return false;
    if (!core_->idle() && (order_ == QueueOrder::InOrder || !core_->fence().done())) return false;
    for (const Event& e : depends) {
        if (e.status() != EventStatus::Complete) return false;
    }
    for (const BufferUse& u : uses) {
        if (!u.buffer->busy()) continue;
        std::vector<Event> events;
        if (writes(u)) {
            u.buffer->collect_for_write(events);
        } else {
            u.buffer->collect_for_read(events);
        }
        if (!events.empty()) return false;
    }
    return true;
}

template <class F, class Describe> Event CpuQueue::run_now(F&& f, std::span<const BufferUse> uses, Describe&& describe) {
    if (!profiling_) {
        device::record_around(f, describe);
        return Event();
    }
    Event event = run_profiled(f, uses);
    if (device::recording()) device::record(describe(), event);
    return event;
}

template <class F> Event CpuQueue::run_profiled(F&& f, std::span<const BufferUse> uses) {
    Ref<device::EventState> state(new device::EventState(this));
    const std::int64_t start = device::now_ns();
    state->queued_at = state->submitted_at = state->started_at = start;
    f();
    state->ended_at = device::now_ns();
    state->set_complete();
    Event event(state.get());
    for (const BufferUse& u : uses) {
        if (writes(u)) u.buffer->note_write(event, u.access);
    }
    return event;
}

Event CpuQueue::submit(Request&& request, Work&& work, std::span<const BufferUse> uses, std::span<const Event> depends,
                       const Submission* submission) {
    request.needs.assign(depends.begin(), depends.end());
    SmallVector<std::uint64_t, 8> covered;
    for (const BufferUse& u : uses) {
        covered.push_back(u.buffer->noted());
        // Blocks of this back end wait for their uses before they are reused; what others do with theirs is not known here.
        if (u.buffer->device()->backend() != device_->backend()) request.kept.emplace_back(u.buffer);
        if (!u.buffer->busy()) continue;
        if (reads(u)) u.buffer->collect_for_read(request.needs);
        if (writes(u)) u.buffer->collect_for_write(request.after);
    }
    std::erase_if(request.needs, [](const Event& e) { return e.status() == EventStatus::Complete; });
    if (order_ == QueueOrder::InOrder) std::erase_if(request.after, [this](const Event& e) { return e.state()->queue() == this; });
    request.timed = submission && device::recording();
    const bool noted = request.timed;
    Event event = core_->submit(std::move(request), std::move(work));
    if (noted) device::record(*submission, event);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const BufferUse& u = uses[i];
        if (reads(u)) u.buffer->note_read(event);
        if (!writes(u)) continue;
        u.buffer->note_write(event, u.access, covered[i]);
        if (u.access == Access::WriteSome) join_writes(u.buffer);
    }
    return event;
}

/// A reader needs all writes that may have left elements as they were: one event stands for many of them.
void CpuQueue::join_writes(Buffer* buffer) {
    std::vector<Event> writes = buffer->loose_writes(this);
    if (writes.empty()) return;
    Request request;
    request.label.name = "join";
    request.needs = writes;
    buffer->note_join(core_->submit(std::move(request), {}), writes);
}

Event CpuQueue::launch(const device::Launch& l, std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    counters.bytes_read.fetch_add(static_cast<std::uint64_t>(l.bytes_read), std::memory_order_relaxed);
    counters.bytes_written.fetch_add(static_cast<std::uint64_t>(l.bytes_written), std::memory_order_relaxed);
    auto* program = static_cast<CpuProgram*>(l.program);
    const auto describe = [&] { return Submission{Activity::Kernel, this, device::label_of(l), device::amount_of(l)}; };
    // A caller that may be interrupted does not run what may never end.
    if (!(l.guessed && device::interruptible()) && may_run_now(l.cost_ns, l.uses, depends)) {
        const auto go = [&] {
            run_program(*pool_, *program, l.extents, l.args.data(), l.cost_ns, l.chunk, nullptr);
            if (l.check) l.check();
        };
        return run_now(go, l.uses, describe);
    }
    Work work;
    work.program = Ref<CpuProgram>(program);
    work.extents = SmallVector<std::int64_t, 4>(l.extents);
    work.args = SmallVector<std::uint64_t, 12>(l.args);
    work.guessed = l.guessed;
    work.chunk = l.chunk;
    Request request;
    request.cost_ns = l.cost_ns;
    request.check = l.check;
    const Submission submission = describe();
    request.label = submission.label;
    return submit(std::move(request), std::move(work), l.uses, depends, &submission);
}

template <class F>
Event CpuQueue::run(Activity activity, F&& f, std::span<const BufferUse> uses, Label&& label, double cost_ns,
                    std::span<const Event> depends) {
    const auto describe = [&] {
        Label own = std::move(label);
        if (own.location.empty()) own.location = device::current_location();
        const device::Amount amount = own.amount;
        return Submission{activity, this, std::move(own), amount};
    };
    if (may_run_now(cost_ns, uses, depends)) return run_now(f, uses, describe);
    Work work;
    work.function = std::forward<F>(f);
    Request request;
    request.cost_ns = cost_ns;
    const Submission submission = describe();
    request.label = submission.label;
    return submit(std::move(request), std::move(work), uses, depends, &submission);
}

Event CpuQueue::host_task(std::function<void()> f, std::span<const BufferUse> uses, Label label, double cost_ns,
                          std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    return run(Activity::HostTask, std::move(f), uses, std::move(label), cost_ns, depends);
}

Event CpuQueue::copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                     std::span<const Event> depends) {
    check_range("copy", to, to_offset, bytes);
    check_range("copy", from, from_offset, bytes);
    counters.bytes_read.fetch_add(bytes, std::memory_order_relaxed);
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    const BufferUse uses[] = {{from, Access::Read}, {to, device::written(to, bytes)}};
    const auto size = static_cast<std::int64_t>(bytes);
    const auto shares_memory = [&](const Buffer* b) { return b->device()->backend() == device_->backend() || b->host_visible(); };
    char* target = static_cast<char*>(to->data()) + to_offset;
    const char* source = static_cast<const char*>(from->data()) + from_offset;
    if (shares_memory(to) && shares_memory(from)) {
        return run(
            Activity::Copy, [pool = pool_, target, source, bytes] { copy_bytes(*pool, target, source, bytes); }, uses,
            {"copy", {}, {size, size, 0}}, ns_per_byte * static_cast<double>(bytes), depends);
    }
    if (!shares_memory(to)) {  // its own queue can write it, and readers there come after that
        std::vector<Event> before(depends.begin(), depends.end());
        if (order_ == QueueOrder::InOrder) {
            for (Event& e : core_->unfinished()) before.push_back(std::move(e));
        }
        const Event moved = to->device()->queue()->copy(to, to_offset, from, from_offset, bytes, before);
        return barrier({&moved, 1});
    }
    return run(
        Activity::Copy,
        [other = Ref<Buffer>(from), target, from_offset, bytes] {
            other->device()->queue()->fetch(target, other.get(), from_offset, bytes);
        },
        uses, {"copy", {}, {size, size, 0}}, at_once_limit_ns, depends);
}

void CpuQueue::write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes) {
    check_range("write", to, offset, bytes);
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    to->wait_for_write();
    device::record_around([&] { copy_bytes(*pool_, static_cast<char*>(to->data()) + offset, static_cast<const char*>(from), bytes); },
                          [&] {
                              return Submission{Activity::Write, this, {"write", {}}, {0, static_cast<std::int64_t>(bytes), 0}};
                          });
}

void CpuQueue::read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    check_range("read", from, offset, bytes);
    from->wait_for_read();
    fetch(to, from, offset, bytes);
}

void CpuQueue::fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    counters.bytes_read.fetch_add(bytes, std::memory_order_relaxed);
    device::record_around([&] { copy_bytes(*pool_, static_cast<char*>(to), static_cast<const char*>(from->data()) + offset, bytes); },
                          [&] {
                              return Submission{Activity::Read, this, {"read", {}}, {static_cast<std::int64_t>(bytes), 0, 0}};
                          });
}

Event CpuQueue::fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                     std::span<const Event> depends) {
    check_range("fill", to, offset, bytes);
    const bool known_size = pattern_bytes == 1 || pattern_bytes == 2 || pattern_bytes == 4 || pattern_bytes == 8 || pattern_bytes == 16;
    if (!known_size || bytes % pattern_bytes != 0) {
        throw Error(ErrorCode::Internal, "fill: " + std::to_string(bytes) + " bytes with a pattern of " + std::to_string(pattern_bytes));
    }
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    Pattern p{{}, pattern_bytes};
    std::memcpy(p.bytes, pattern, pattern_bytes);
    char* target = static_cast<char*>(to->data()) + offset;
    const BufferUse uses[] = {{to, device::written(to, bytes)}};
    return run(
        Activity::Fill, [pool = pool_, target, bytes, p] { fill_bytes(*pool, target, bytes, p); }, uses,
        {"fill", {}, {0, static_cast<std::int64_t>(bytes), 0}}, ns_per_byte * static_cast<double>(bytes), depends);
}

Event CpuQueue::barrier(std::span<const Event> depends) {
    if (!profiling_ && core_->idle() &&
        std::all_of(depends.begin(), depends.end(), [](const Event& e) { return e.status() == EventStatus::Complete; })) {
        return Event();
    }
    Request request;
    request.label.name = "barrier";
    if (order_ == QueueOrder::OutOfOrder) {
        device::Ends ends = core_->unfinished_ends();
        request.after = std::move(ends.events);
        request.covered = ends.covered;
    }
    return submit(std::move(request), {}, {}, depends, nullptr);
}

void CpuQueue::order_after(const Event& event) {
    if (order_ == QueueOrder::InOrder) {
        (void)barrier({&event, 1});
    } else {
        core_->order_after(event);
    }
}

Event CpuQueue::copy_strided(Buffer* to, Buffer* from, const device::StridedCopy& region, std::span<const Event> depends) {
    const auto shares_memory = [&](const Buffer* b) { return b->device()->backend() == device_->backend() || b->host_visible(); };
    if (region.empty() || !shares_memory(to) || !shares_memory(from)) return Queue::copy_strided(to, from, region, depends);
    const std::int64_t rows = region.extents[1] * region.extents[2], bytes = rows * region.extents[0];
    counters.bytes_read.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
    counters.bytes_written.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
    const BufferUse uses[] = {{from, Access::Read}, {to, device::written(to, static_cast<std::size_t>(bytes))}};
    const double cost_ns = ns_per_byte * static_cast<double>(bytes) + 2.0 * static_cast<double>(rows);
    auto* target = static_cast<char*>(to->data());
    const auto* source = static_cast<const char*>(from->data());
    return run(
        Activity::Copy,
        [pool = pool_, target, source, region, rows, cost_ns] {
            run_range(*pool, rows, cost_ns, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t row = begin; row < end; ++row) {
                    const std::int64_t y = row % region.extents[1], z = row / region.extents[1];
                    std::memcpy(target + region.to_offset + y * region.to_pitches[0] + z * region.to_pitches[1],
                                source + region.from_offset + y * region.from_pitches[0] + z * region.from_pitches[1],
                                static_cast<std::size_t>(region.extents[0]));
                }
            });
        },
        uses, {"copy", {}, {bytes, bytes, 0}}, cost_ns, depends);
}

void CpuQueue::wait() {
    core_->wait_done();
    failures()->raise();
}

void CpuQueue::wait_quietly() { core_->wait_quietly(); }

}  // namespace pardo::cpu
