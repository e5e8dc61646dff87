// src/device/queue/queue.cpp: what can be submitted to a queue whose work a driver runs.
#include "device/queue/queue.h"

#include <algorithm>
#include <cstring>

#include <pardo/error.h>

#include "base/counters.h"
#include "base/small_vector.h"
#include "device/memory/strided_copy.h"
#include "device/profile.h"

namespace pardo::device {
namespace {

/// Between drivers memory goes through the host in pieces of this size.
constexpr std::size_t staging_bytes = std::size_t{8} << 20;
/// A guess at what copies and fills take, to tell small ones from large ones.
constexpr double ns_per_byte = 0.01;

void check_range(const char* op_name, const Buffer* b, std::size_t offset, std::size_t bytes) {
    if (offset <= b->bytes() && bytes <= b->bytes() - offset) return;
    throw Error(ErrorCode::Internal, std::string(op_name) + ": bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                                         " of a buffer of " + std::to_string(b->bytes()));
}

char* at(const Buffer* b, std::size_t offset) { return static_cast<char*>(b->data()) + offset; }

/// All that a Launch points to.
struct KeptLaunch {
    explicit KeptLaunch(const Launch& l) : launch(l), program(l.program), extents(l.extents), args(l.args) {
        uses.assign(l.uses.begin(), l.uses.end());
        for (const BufferUse& u : l.uses) buffers.emplace_back(u.buffer);
        launch.label = nullptr;
        launch.label_data = nullptr;
        launch.check = nullptr;
    }
    void run(Stream& stream, const NativeOrder& order) {
        launch.extents = extents;
        launch.args = args;
        launch.uses = uses;
        stream.launch(launch, order);
    }
    Launch launch;
    Ref<Program> program;
    SmallVector<std::int64_t, 4> extents;
    SmallVector<std::uint64_t, 12> args;
    std::vector<BufferUse> uses;
    std::vector<Ref<Buffer>> buffers;
};

struct Pattern {
    char bytes[16];
    std::size_t size;
};

}  // namespace

DriverQueue::DriverQueue(Device* device, QueueOrder order, bool profiling, std::unique_ptr<Stream> stream)
    : Queue(device, order, profiling), core_(new DriverCore(this, std::move(stream))) {
    core_->open();
}

DriverQueue::~DriverQueue() { core_->close(); }

DriverQueue::Covered DriverQueue::collect(std::span<const BufferUse> uses, std::span<const Event> depends, Request& request) {
    request.needs.assign(depends.begin(), depends.end());
    Covered covered;
    for (const BufferUse& u : uses) {
        covered.push_back(u.buffer->noted());
        // Blocks of this device wait for their uses before they are reused; what others do with theirs is not known here.
        if (u.buffer->device() != device_) request.kept.emplace_back(u.buffer);
        if (!u.buffer->busy()) continue;
        if (reads(u)) u.buffer->collect_for_read(request.needs, [this](const Event& e) { return core_->implied(e, true); });
        if (writes(u)) u.buffer->collect_for_write(request.after, [this](const Event& e) { return core_->implied(e, false); });
    }
    return covered;
}

void DriverQueue::note(const Event& event, std::span<const BufferUse> uses, const Covered& covered) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const BufferUse& u = uses[i];
        if (reads(u)) u.buffer->note_read(event);
        if (!writes(u)) continue;
        if (core_->before_next(event)) u.buffer->drop_writes([this](const Event& e) { return core_->implied(e, true); });
        u.buffer->note_write(event, u.access, covered[i]);
        if (u.access != Access::WriteSome) continue;
        // A reader needs all writes that may have left elements as they were: one event stands for many of them.
        const std::vector<Event> writes = u.buffer->loose_writes(this);
        if (!writes.empty()) u.buffer->note_join(join("join", writes, {}), writes);
    }
}

template <class Now, class Keep>
Event DriverQueue::submit(std::optional<Activity> activity, Amount amount, Request&& request, std::span<const BufferUse> uses,
                          std::span<const Event> depends, Now now, Keep keep, bool by_worker) {
    struct Call final : NativeCall {
        Call(Now& now, Keep& keep) : now_(now), keep_(keep) {}
        void run(Stream& stream, const NativeOrder& order) override { now_(stream, order); }
        Owned keep() override { return keep_(); }
        Now& now_;
        Keep& keep_;
    } call(now, keep);
    check_not_forked(request.label.name.str(), device_);
    if (request.label.location.empty()) request.label.location = current_location();
    const Covered covered = collect(uses, depends, request);
    request.timed = activity && recording();
    const std::optional<Submission> noted =
        request.timed ? std::optional(Submission{*activity, this, request.label, amount}) : std::nullopt;
    Event event = core_->submit(std::move(request), call, by_worker);
    if (noted) record(*noted, event);
    note(event, uses, covered);
    return event;
}

Event DriverQueue::launch(const Launch& l, std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    counters.bytes_read.fetch_add(static_cast<std::uint64_t>(l.bytes_read), std::memory_order_relaxed);
    counters.bytes_written.fetch_add(static_cast<std::uint64_t>(l.bytes_written), std::memory_order_relaxed);
    Request request;
    if (l.label) request.label = l.label(l.label_data);
    if (request.label.name.empty()) request.label.name = l.program->name();
    request.cost_ns = l.cost_ns;
    request.check = l.check;
    return submit(
        Activity::Kernel, amount_of(l), std::move(request), l.uses, depends,
        [&l](Stream& stream, const NativeOrder& order) { stream.launch(l, order); },
        [&l] { return [kept = std::make_shared<KeptLaunch>(l)](Stream& stream, const NativeOrder& order) { kept->run(stream, order); }; });
}

Event DriverQueue::submit_native(NativeCall::Owned call, std::span<const BufferUse> uses, Label label, std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    Request request;
    request.label = std::move(label);
    return submit(
        Activity::Kernel, {}, std::move(request), uses, depends, [&](Stream& stream, const NativeOrder& order) { call(stream, order); },
        [&] {
            std::vector<Ref<Buffer>> kept;
            for (const BufferUse& u : uses) kept.emplace_back(u.buffer);
            return NativeCall::Owned([call, kept](Stream& stream, const NativeOrder& order) { call(stream, order); });
        });
}

Event DriverQueue::host_task(std::function<void()> f, std::span<const BufferUse> uses, Label label, double cost_ns,
                             std::span<const Event> depends) {
    check_not_forked(label.name.str(), device_);
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    Request request;
    request.label = std::move(label);
    if (request.label.location.empty()) request.label.location = current_location();
    request.cost_ns = cost_ns;
    const Covered covered = collect(uses, depends, request);
    request.timed = recording();
    const Submission noted{Activity::HostTask, this, request.label, request.label.amount};
    const bool timed = request.timed;
    Event event = core_->submit_task(std::move(request), std::move(f));
    if (timed) record(noted, event);
    note(event, uses, covered);
    return event;
}

template <class Call>
Event DriverQueue::submit_copy(Buffer* to, Buffer* from, std::size_t bytes, std::span<const Event> depends, bool may_block, Call call) {
    counters.bytes_read.fetch_add(bytes, std::memory_order_relaxed);
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    const BufferUse uses[] = {{from, Access::Read}, {to, written(to, bytes)}};
    Request request;
    const auto size = static_cast<std::int64_t>(bytes);
    request.label = {"copy", {}, {size, size, 0}};
    request.cost_ns = ns_per_byte * static_cast<double>(bytes);
    const auto keep = [&] {
        return NativeCall::Owned(
            [call, a = Ref<Buffer>(to), b = Ref<Buffer>(from)](Stream& stream, const NativeOrder& order) { call(stream, order); });
    };
    return submit(Activity::Copy, {size, size, 0}, std::move(request), uses, depends, call, keep, may_block);
}

Event DriverQueue::copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                        std::span<const Event> depends) {
    check_range("copy", to, to_offset, bytes);
    check_range("copy", from, from_offset, bytes);
    const auto go = [&](auto call, bool may_block) { return submit_copy(to, from, bytes, depends, may_block, call); };
    if (stream().copies(to, from)) {
        return go(
            [=](Stream& stream, const NativeOrder& order) {
                bytes ? stream.copy(to, to_offset, from, from_offset, bytes, order) : stream.marker(order);
            },
            false);
    }
    const bool to_mine = stream().copies(to, to), from_mine = stream().copies(from, from);
    if (to_mine && from->host_visible()) {
        return go(
            [=](Stream& stream, const NativeOrder& order) {
                bytes ? stream.write(to, to_offset, at(from, from_offset), bytes, order) : stream.marker(order);
            },
            true);
    }
    if (from_mine && to->host_visible()) {
        return go(
            [=](Stream& stream, const NativeOrder& order) {
                bytes ? stream.read(at(to, to_offset), from, from_offset, bytes, order) : stream.marker(order);
            },
            true);
    }
    if (from_mine) {  // the other side's queue can write its memory
        std::vector<Event> before(depends.begin(), depends.end());
        if (order_ == QueueOrder::InOrder) {
            for (Event& e : core_->unfinished()) before.push_back(std::move(e));
        }
        const Event moved = to->device()->queue()->copy(to, to_offset, from, from_offset, bytes, before);
        return barrier({&moved, 1});
    }
    if (!to_mine) throw Error(ErrorCode::Internal, "copy: neither buffer is of device " + device_->id());
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    const BufferUse uses[] = {{from, Access::Read}, {to, written(to, bytes)}};
    const auto size = static_cast<std::int64_t>(bytes);
    return host_task(
        [this, a = Ref<Buffer>(to), b = Ref<Buffer>(from), to_offset, from_offset, bytes] {
            const std::size_t piece = std::min(bytes, staging_bytes);
            const std::unique_ptr<char[]> staging(new char[piece]);
            for (std::size_t done = 0; done < bytes; done += piece) {
                const std::size_t n = std::min(piece, bytes - done);
                b->device()->queue()->fetch(staging.get(), b.get(), from_offset + done, n);
                core_->run_and_wait("copy", [&](Stream& stream, const NativeOrder& order) {
                    stream.write(a.get(), to_offset + done, staging.get(), n, order);
                });
            }
        },
        uses, {"copy", {}, {size, size, 0}}, ns_per_byte * static_cast<double>(bytes), depends);
}

Event DriverQueue::copy_strided(Buffer* to, Buffer* from, const StridedCopy& given, std::span<const Event> depends) {
    if (given.empty()) return Queue::copy_strided(to, from, given, depends);
    const StridedCopy region = normalized(given);
    const auto bytes_from = [](const RegionSide& s) { return static_cast<std::size_t>(s.end - s.begin); };
    const RegionSide target = to_side(region), source = from_side(region);
    check_range("copy_strided", to, static_cast<std::size_t>(target.begin), bytes_from(target));
    check_range("copy_strided", from, static_cast<std::size_t>(source.begin), bytes_from(source));
    const auto mine = [&](const Buffer* b) { return stream().copies(b, b); };
    const bool native = stream().copies(to, from);
    const bool with_host = !native && ((mine(to) && from->host_visible()) || (mine(from) && to->host_visible()));
    const std::int64_t rows = rows_of(region), most = (native || with_host) && rows > 1 ? stream().rows_at_once(to, from, region) : 0;
    if (most == 0) return Queue::copy_strided(to, from, region, depends);
    std::vector<Event> pieces;
    for_each_piece(region, most, [&](const StridedCopy& part) {
        const StridedCopy piece = normalized(part);
        const auto bytes = static_cast<std::size_t>(piece.extents[0] * rows_of(piece));
        pieces.push_back(submit_copy(to, from, bytes, depends, with_host,
                                     [to, from, piece](Stream& s, const NativeOrder& order) { s.copy_strided(to, from, piece, order); }));
    });
    return pieces.size() == 1 ? pieces[0] : join("copy", pieces, {});
}

Event DriverQueue::prefetch(Buffer* buffer, std::size_t offset, std::size_t bytes, std::span<const Event> depends) {
    if (bytes == 0 || !stream().prefetches(buffer)) return Queue::prefetch(buffer, offset, bytes, depends);
    check_range("prefetch", buffer, offset, bytes);
    const BufferUse uses[] = {{buffer, Access::Read}};
    Request request;
    request.label.name = "prefetch";
    const auto call = [=](Stream& stream, const NativeOrder& order) { stream.prefetch(buffer, offset, bytes, order); };
    return submit({}, {}, std::move(request), uses, depends, call, [&] {
        return NativeCall::Owned([call, kept = Ref<Buffer>(buffer)](Stream& stream, const NativeOrder& order) { call(stream, order); });
    });
}

std::vector<Event> DriverQueue::settle(Buffer* buffer, bool writing) {
    std::vector<Event> needs, after, ordered;
    if (!buffer->busy()) return needs;
    if (writing) buffer->write_anew();
    buffer->collect_for_read(needs);
    if (writing) buffer->collect_for_write(after);
    for (const Event& e : after) {
        if (!core_->before_next(e)) e.state()->wait_quietly();
    }
    for (const Event& e : needs) {
        if (core_->before_next(e)) {
            ordered.push_back(e);
        } else {
            Buffer::wait_for(e);
        }
    }
    return ordered;
}

void DriverQueue::write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes) {
    check_not_forked("write", device_);
    check_range("write", to, offset, bytes);
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes == 0) return to->wait_for_write();
    const auto describe = [&] { return Submission{Activity::Write, this, {"write", {}}, {0, static_cast<std::int64_t>(bytes), 0}}; };
    if (to->host_visible()) {
        to->wait_for_write();
        return record_around([&] { std::memcpy(at(to, offset), from, bytes); }, describe);
    }
    const std::vector<Event> ordered = settle(to, true);
    const auto go = [&](Stream& stream, const NativeOrder& order) { stream.write(to, offset, from, bytes, order); };
    record_around([&] { core_->run_and_wait("write", go); }, describe);
    for (const Event& e : ordered) Buffer::wait_for(e);
}

void DriverQueue::read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    check_not_forked("read", device_);
    check_range("read", from, offset, bytes);
    if (bytes == 0) return from->wait_for_read();
    std::vector<Event> ordered;
    if (from->host_visible()) {
        from->wait_for_read();
    } else {
        ordered = settle(from, false);
    }
    fetch(to, from, offset, bytes);
    for (const Event& e : ordered) Buffer::wait_for(e);
}

void DriverQueue::fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    check_not_forked("read", device_);
    counters.bytes_read.fetch_add(bytes, std::memory_order_relaxed);
    const auto describe = [&] { return Submission{Activity::Read, this, {"read", {}}, {static_cast<std::int64_t>(bytes), 0, 0}}; };
    if (from->host_visible()) return record_around([&] { std::memcpy(to, at(from, offset), bytes); }, describe);
    const auto go = [&](Stream& stream, const NativeOrder& order) { stream.read(to, from, offset, bytes, order); };
    record_around([&] { core_->run_and_wait("read", go); }, describe);
}

Event DriverQueue::fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                        std::span<const Event> depends) {
    check_range("fill", to, offset, bytes);
    const bool known_size = pattern_bytes == 1 || pattern_bytes == 2 || pattern_bytes == 4 || pattern_bytes == 8 || pattern_bytes == 16;
    if (!known_size || bytes % pattern_bytes != 0) {
        throw Error(ErrorCode::Internal, "fill: " + std::to_string(bytes) + " bytes with a pattern of " + std::to_string(pattern_bytes));
    }
    counters.bytes_written.fetch_add(bytes, std::memory_order_relaxed);
    Pattern p{{}, pattern_bytes};
    std::memcpy(p.bytes, pattern, pattern_bytes);
    const BufferUse uses[] = {{to, written(to, bytes)}};
    Request request;
    request.label.name = "fill";
    request.cost_ns = ns_per_byte * static_cast<double>(bytes);
    const auto call = [to, offset, bytes, p](Stream& stream, const NativeOrder& order) {
        if (bytes == 0) return stream.marker(order);
        stream.fill(to, offset, bytes, p.bytes, p.size, order);
    };
    return submit(Activity::Fill, {0, static_cast<std::int64_t>(bytes), 0}, std::move(request), uses, depends, call, [&] {
        return NativeCall::Owned([call, kept = Ref<Buffer>(to)](Stream& stream, const NativeOrder& order) { call(stream, order); });
    });
}

Event DriverQueue::barrier(std::span<const Event> depends) {
    check_not_forked("barrier", device_);
    if (!profiling_ && std::all_of(depends.begin(), depends.end(), [](const Event& e) { return e.status() == EventStatus::Complete; }) &&
        core_->idle()) {
        return Event();
    }
    if (order_ == QueueOrder::InOrder) return join("barrier", depends, {});
    Ends ends = core_->unfinished_ends();
    return join("barrier", depends, std::move(ends.events), ends.covered);
}

Event DriverQueue::join(const char* name, std::span<const Event> needs, std::vector<Event> after, std::uint64_t covered) {
    Request request;
    request.label.name = name;
    request.covered = covered;
    request.after = std::move(after);
    const auto call = [](Stream& stream, const NativeOrder& order) { stream.marker(order); };
    return submit({}, {}, std::move(request), {}, needs, call, [&] { return NativeCall::Owned(call); });
}

void DriverQueue::wait() {
    check_not_forked("wait", device_);
    core_->wait_done();
    failures()->raise();
}

void DriverQueue::order_after(const Event& event) {
    if (order_ == QueueOrder::InOrder) {
        (void)barrier({&event, 1});
    } else {
        core_->order_after(event);
    }
}

void DriverQueue::wait_quietly() { core_->wait_quietly(); }

Event call_library(Queue* queue, Stream::LibraryCall call, std::span<const BufferUse> uses, Label label) {
    // Back ends with native streams have this kind of queue.
    return static_cast<DriverQueue*>(queue)->submit_native(
        [call = std::move(call)](Stream& stream, const NativeOrder& order) { stream.call_library(call, order); }, uses, std::move(label));
}

}  // namespace pardo::device
