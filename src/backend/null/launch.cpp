// src/backend/null/launch.cpp: submissions to the null device.
#include <atomic>
#include <cstring>

#include "backend/null/device.h"
#include "base/counters.h"
#include "device/pending_program.h"
#include "device/profile.h"
#include "device/queue/scheduler.h"

namespace pardo::null {
namespace {

using device::Access;
using device::Buffer;
using device::BufferUse;
using device::Label;
using device::View;

char* at(Buffer* b, std::size_t offset) { return reinterpret_cast<char*>(place_of(reinterpret_cast<std::uintptr_t>(b->data()))) + offset; }

}  // namespace

/// Waits for other devices, acts, and gives a complete event; or a failed one when a test or a dependency says so. What waits for the
/// user's code acts later, on the thread that brings the last of it.
template <class F>
Event NullQueue::submit(std::optional<Activity> activity, Record record, const Label& label, std::span<const BufferUse> uses,
                        std::span<const Event> depends, F&& act) {
    std::vector<Event> needs(depends.begin(), depends.end()), after;
    for (const BufferUse& u : uses) {
        if (reads(u)) u.buffer->collect_for_read(u.view, needs, after, Buffer::Look::Take);
        if (writes(u)) u.buffer->collect_for_write(after);
    }
    if (order_ == QueueOrder::InOrder || record.kind == "barrier") {
        std::vector<Event> before = unfinished();
        if (order_ == QueueOrder::InOrder && !before.empty()) before.erase(before.begin(), before.end() - 1);
        after.insert(after.end(), before.begin(), before.end());
    } else {
        std::lock_guard lock(mutex_);
        if (!fence_.done()) after.push_back(fence_);
    }
    bool deferred = false;
    for (Event& e : needs) e = device::needed_now(e, this);
    for (const auto* list : {&needs, &after}) {
        for (const Event& e : *list) {
            if (e.done()) continue;
            if (e.state()->waits_for_host()) {
                deferred = true;
            } else {
                e.state()->wait_quietly();
            }
        }
    }
    const device::Amount amount{record.bytes_read, record.bytes_written, record.operations};
    const auto describe = [&] { return device::Submission{*activity, this, label, amount}; };
    null_->record(std::move(record));
    std::optional<Error> injected = null_->take_injected();
    if (deferred) {
        Event later = defer(std::move(needs), std::move(after), label, uses, std::forward<F>(act), injected);
        if (activity && device::recording()) device::record(describe(), later);
        return later;
    }
    std::shared_ptr<device::Failure> inherited = device::inherited_from(needs);
    const std::int64_t begin = profiling_ ? device::now_ns() : 0;
    try {
        if (!injected && !inherited) activity && !profiling_ ? device::record_around(act, describe) : act();
    } catch (const Error& e) {
        injected = e;
    }
    if (!injected && !inherited && !profiling_) {
        for (const BufferUse& u : uses) {  // what failed before matters no more where all is written anew
            if (writes(u)) u.buffer->note_write({}, u.access, u.view);
        }
        return Event();
    }
    Ref<device::EventState> state(new device::EventState(this));
    if (profiling_) {
        state->queued_at = state->submitted_at = state->started_at = begin;
        state->ended_at = device::now_ns();
    }
    device::settle(*state, {std::move(inherited), std::move(injected)}, label);
    Event event(state.get());
    if (activity && device::recording()) device::record(describe(), event);
    for (const BufferUse& u : uses) {
        if (writes(u)) u.buffer->note_write(event, u.access, u.view);
    }
    return event;
}

Event NullQueue::defer(std::vector<Event> needs, std::vector<Event> after, const Label& label, std::span<const BufferUse> uses,
                       std::function<void()> act, const std::optional<Error>& injected) {
    Ref<device::EventState> state(new device::EventState(this));
    state->inherit_host_signals(needs);
    state->inherit_host_signals(after);
    if (profiling_) state->queued_at = state->submitted_at = device::now_ns();
    std::vector<Ref<Buffer>> kept;
    for (const BufferUse& u : uses) kept.emplace_back(u.buffer);
    Event event(state.get());
    {
        std::lock_guard lock(mutex_);
        deferred_.push_back(event);
    }
    for (const BufferUse& u : uses) {
        if (reads(u)) u.buffer->note_read(event);
        if (writes(u)) u.buffer->note_write(event, u.access, u.view);
    }
    struct Deferred {
        std::vector<Event> needs;
        std::vector<Ref<Buffer>> kept;
        std::function<void()> act;
        std::atomic<int> missing;
    };
    auto deferred = std::make_shared<Deferred>();
    deferred->needs = std::move(needs);
    deferred->kept = std::move(kept);
    deferred->act = std::move(act);
    after.insert(after.end(), deferred->needs.begin(), deferred->needs.end());
    device::after_all(after, deferred->missing, [deferred, state, label, injected, profiling = profiling_] {
        device::Outcome outcome = device::run_task(*state, device::inherited_from(deferred->needs), profiling, [&] {
            if (!injected) deferred->act();
        });
        if (injected) outcome.raised = injected;
        deferred->kept.clear();
        device::settle(*state, std::move(outcome), label);
    });
    return event;
}

std::vector<Event> NullQueue::unfinished() {
    std::lock_guard lock(mutex_);
    std::erase_if(deferred_, [](const Event& e) { return e.done(); });
    return deferred_;
}

void NullQueue::order_after(const Event& event) {
    if (order_ == QueueOrder::InOrder) {
        (void)barrier({&event, 1});
        return;
    }
    std::lock_guard lock(mutex_);
    fence_ = event;
}

Event NullQueue::fence() {
    std::lock_guard lock(mutex_);
    return fence_;
}

void NullQueue::wait_quietly() {
    for (const Event& e : unfinished()) e.state()->wait_quietly();
}

Event NullQueue::launch(const device::Launch& l, std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    counters.bytes_read.fetch_add(static_cast<std::uint64_t>(l.bytes_read), std::memory_order_relaxed);
    counters.bytes_written.fetch_add(static_cast<std::uint64_t>(l.bytes_written), std::memory_order_relaxed);
    const auto* program = static_cast<const NullProgram*>(device::compiled_program(l.program));
    Record r{"launch",     program->name(), program->text(), {l.extents.begin(), l.extents.end()}, {l.args.begin(), l.args.end()},
             l.bytes_read, l.bytes_written, l.operations};
    return submit(Activity::Kernel, std::move(r), device::label_of(l), l.uses, depends, null_->work_of(l));
}

Event NullQueue::host_task(std::function<void()> f, std::span<const BufferUse> uses, Label label, double, std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    Record r;
    r.kind = "host_task";
    r.name = label.name;
    return submit(Activity::HostTask, std::move(r), label, uses, depends, f);
}

Event NullQueue::copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                      std::span<const Event> depends) {
    Record r;
    r.kind = "copy";
    r.bytes_read = r.bytes_written = static_cast<std::int64_t>(bytes);
    const BufferUse uses[] = {{from, Access::Read, View::bytes(from_offset, bytes)}, {to, Access::Write, View::bytes(to_offset, bytes)}};
    const auto strange = [this](const Buffer* b) { return !b->host_visible() && b->device() != null_; };
    return submit(Activity::Copy, std::move(r), {"copy", {}}, uses, depends, [=] {
        if (strange(from)) return from->device()->queue()->fetch(at(to, to_offset), from, from_offset, bytes);
        if (strange(to)) return to->device()->queue()->write(to, to_offset, at(from, from_offset), bytes);
        std::memmove(at(to, to_offset), at(from, from_offset), bytes);
    });
}

void NullQueue::write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes) {
    to->wait_for_write(View::bytes(offset, bytes));
    device::record_around([&] { std::memcpy(at(to, offset), from, bytes); },
                          [&] {
                              return device::Submission{Activity::Write, this, {"write", {}}, {0, static_cast<std::int64_t>(bytes), 0}};
                          });
}

void NullQueue::read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    from->wait_for_read(View::bytes(offset, bytes));
    fetch(to, from, offset, bytes);
}

void NullQueue::fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    device::record_around([&] { std::memcpy(to, at(from, offset), bytes); },
                          [&] {
                              return device::Submission{Activity::Read, this, {"read", {}}, {static_cast<std::int64_t>(bytes), 0, 0}};
                          });
}

Event NullQueue::fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                      std::span<const Event> depends) {
    Record r;
    r.kind = "fill";
    r.bytes_written = static_cast<std::int64_t>(bytes);
    const BufferUse uses[] = {{to, Access::Write, View::bytes(offset, bytes)}};
    std::string copy(static_cast<const char*>(pattern), pattern_bytes);
    return submit(Activity::Fill, std::move(r), {"fill", {}}, uses, depends, [to, offset, bytes, copy = std::move(copy)] {
        for (std::size_t i = 0; i + copy.size() <= bytes; i += copy.size()) std::memcpy(at(to, offset + i), copy.data(), copy.size());
    });
}

Event NullQueue::barrier(std::span<const Event> depends) {
    Record r;
    r.kind = "barrier";
    return submit({}, std::move(r), {"barrier", {}}, {}, depends, [] {});
}

void NullQueue::wait() {
    wait_quietly();
    failures()->raise();
}

}  // namespace pardo::null
