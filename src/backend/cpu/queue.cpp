// src/backend/cpu/queue.cpp: what can be submitted to a CPU device.
#include "backend/cpu/queue.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/launch.h"
#include "base/counters.h"
#include "device/memory/strided_copy.h"
#include "device/waiting.h"

namespace pardo::cpu {
namespace {

using device::Access;
using device::Buffer;
using device::BufferUse;
using device::Label;
using device::Request;
using device::Submission;
using device::View;

/// One core moves about ten bytes a nanosecond; used only to tell small copies from large ones.
constexpr double ns_per_byte = 0.1;

void copy_bytes(ThreadPool& pool, char* to, const char* from, std::size_t bytes) {
    const bool overlap = to < from + bytes && from < to + bytes;
    if (overlap) {
        std::memmove(to, from, bytes);
        return;
    }
    run_range(pool, static_cast<std::int64_t>(bytes), ns_per_byte * static_cast<double>(bytes),
              [&](std::int64_t begin, std::int64_t end) { std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin)); });
}

void fill_bytes(ThreadPool& pool, char* to, std::size_t bytes, const device::FillPattern& pattern) {
    run_range(pool, static_cast<std::int64_t>(bytes / pattern.size), ns_per_byte * static_cast<double>(bytes),
              [&](std::int64_t begin, std::int64_t end) {
                  pattern.repeat(to + begin * static_cast<std::int64_t>(pattern.size),
                                 static_cast<std::size_t>(end - begin) * pattern.size);
              });
}

}  // namespace

CpuQueue::CpuQueue(device::Device* device, ThreadPool* pool, QueueOrder order, bool profiling)
    : ScheduledQueue(device, order, profiling), pool_(pool) {
    open(new QueueCore(this, pool));
}

bool CpuQueue::shares_memory(const Buffer* buffer) const noexcept {
    return buffer->device()->backend() == device_->backend() || buffer->host_visible();
}

bool CpuQueue::may_run_now(double cost_ns, double limit_ns, std::span<const BufferUse> uses, std::span<const Event> depends) {
    double& left_ns = device::WaitsNext::left_ns();
    if (cost_ns >= std::max(limit_ns, left_ns)) return false;
    if (order_ == QueueOrder::InOrder ? !core().idle() : core().fenced()) return false;
    for (const Event& e : depends) {
        if (e.status() != EventStatus::Complete) return false;
    }
    for (const BufferUse& u : uses) {
        if (!u.buffer->busy()) continue;
        std::vector<Event> needs, after;
        if (reads(u)) u.buffer->collect_for_read(u.view, needs, after);
        if (writes(u)) u.buffer->collect_for_write(after);
        if (!needs.empty() || !after.empty()) return false;
    }
    left_ns = std::max(left_ns - cost_ns, 0.0);
    return true;
}

template <class F, class Describe> Event CpuQueue::run_now(F&& f, std::span<const BufferUse> uses, Describe&& describe) {
    const std::int64_t start = profiling_ ? device::now_ns() : 0;
    try {
        profiling_ ? f() : device::record_around(f, describe);
    } catch (...) {
        std::optional<Error> raised = device::current_error();
        return ended(start, std::move(raised), describe().label, uses);
    }
    if (profiling_) {
        Event event = ended(start, std::nullopt, {}, uses);
        if (device::recording()) device::record(describe(), event);
        return event;
    }
    for (const BufferUse& u : uses) {  // elements that had failed are whole again
        if (u.access == Access::Write && u.buffer->busy()) u.buffer->note_write(Event(), u.access, u.view);
    }
    return Event();
}

Event CpuQueue::ended(std::int64_t start, std::optional<Error>&& raised, const Label& label, std::span<const BufferUse> uses) {
    Ref<device::EventState> state(new device::EventState(this));
    if (profiling_) {
        state->queued_at = state->submitted_at = state->started_at = start;
        state->ended_at = device::now_ns();
    }
    device::settle(*state, {nullptr, std::move(raised)}, label);
    Event event(state.get());
    for (const BufferUse& u : uses) {
        if (writes(u)) u.buffer->note_write(event, u.access, u.view);
    }
    return event;
}

Event CpuQueue::submit_work(Activity activity, device::Amount amount, Request&& request, Work&& work, std::span<const BufferUse> uses,
                            std::span<const Event> depends) {
    return submit(std::move(request), uses, depends, activity, amount,
                  [&](Request&& ordered) { return core().submit(std::move(ordered), std::move(work)); });
}

Event CpuQueue::launch(const device::Launch& l, std::span<const Event> depends) {
    count_launch(l);
    auto* program = static_cast<CpuProgram*>(device::ready_program(l.program));
    const auto describe = [&] { return Submission{Activity::Kernel, this, device::label_of(l), device::amount_of(l)}; };
    // A caller that may be interrupted does not run what may never end.
    const double limit_ns = l.waited ? waited_limit_ns : at_once_limit_ns;
    if (program && !(l.guessed && device::interruptible()) && may_run_now(l.cost_ns, limit_ns, l.uses, depends)) {
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
    request.label = device::label_of(l);
    if (!program) request.program = device::compile_ahead(l.program);
    return submit_work(Activity::Kernel, device::amount_of(l), std::move(request), std::move(work), l.uses, depends);
}

template <class F>
Event CpuQueue::run(Activity activity, F&& f, std::span<const BufferUse> uses, Label&& label, double cost_ns,
                    std::span<const Event> depends) {
    const device::Amount amount = label.amount;
    const auto named = [&] {
        if (label.location.empty()) label.location = device::current_location();
        return std::move(label);
    };
    if (may_run_now(cost_ns, at_once_limit_ns, uses, depends))
        return run_now(f, uses, [&] { return Submission{activity, this, named(), amount}; });
    Work work;
    work.function = std::forward<F>(f);
    Request request;
    request.label = named();
    request.cost_ns = cost_ns;
    return submit_work(activity, amount, std::move(request), std::move(work), uses, depends);
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
    if (!shares_memory(to)) return copy_by_other(to, to_offset, from, from_offset, bytes, depends);
    count_bytes(bytes, bytes);
    const BufferUse uses[] = {{from, Access::Read, View::bytes(from_offset, bytes)}, {to, Access::Write, View::bytes(to_offset, bytes)}};
    const auto size = static_cast<std::int64_t>(bytes);
    char* target = static_cast<char*>(to->data()) + to_offset;
    const char* source = static_cast<const char*>(from->data()) + from_offset;
    if (shares_memory(from)) {
        return run(
            Activity::Copy, [pool = pool_, target, source, bytes] { copy_bytes(*pool, target, source, bytes); }, uses,
            {"copy", {}, {size, size, 0}}, ns_per_byte * static_cast<double>(bytes), depends);
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
    count_bytes(0, bytes);
    to->wait_for_write(View::bytes(offset, bytes));
    device::record_around([&] { copy_bytes(*pool_, static_cast<char*>(to->data()) + offset, static_cast<const char*>(from), bytes); },
                          [&] {
                              return Submission{Activity::Write, this, {"write", {}}, {0, static_cast<std::int64_t>(bytes), 0}};
                          });
}

void CpuQueue::fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    count_bytes(bytes, 0);
    device::record_around([&] { copy_bytes(*pool_, static_cast<char*>(to), static_cast<const char*>(from->data()) + offset, bytes); },
                          [&] {
                              return Submission{Activity::Read, this, {"read", {}}, {static_cast<std::int64_t>(bytes), 0, 0}};
                          });
}

Event CpuQueue::fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                     std::span<const Event> depends) {
    const device::FillPattern p = checked_pattern(to, offset, bytes, pattern, pattern_bytes);
    char* target = static_cast<char*>(to->data()) + offset;
    const BufferUse uses[] = {{to, Access::Write, View::bytes(offset, bytes)}};
    return run(
        Activity::Fill, [pool = pool_, target, bytes, p] { fill_bytes(*pool, target, bytes, p); }, uses,
        {"fill", {}, {0, static_cast<std::int64_t>(bytes), 0}}, ns_per_byte * static_cast<double>(bytes), depends);
}

Event CpuQueue::copy_strided(Buffer* to, Buffer* from, const device::StridedCopy& region, std::span<const Event> depends) {
    if (region.empty() || !shares_memory(to) || !shares_memory(from)) return Queue::copy_strided(to, from, region, depends);
    const std::int64_t rows = region.extents[1] * region.extents[2], bytes = rows * region.extents[0];
    count_bytes(static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes));
    const BufferUse uses[] = {{from, Access::Read, device::read_view(region)}, {to, Access::Write, device::written_view(region)}};
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

}  // namespace pardo::cpu
