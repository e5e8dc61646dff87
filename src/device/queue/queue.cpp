// src/device/queue/queue.cpp: what can be submitted to a queue whose work a driver runs.
#include "device/queue/queue.h"

#include <algorithm>
#include <cstring>

#include <pardo/error.h>

#include "base/small_vector.h"
#include "device/memory/strided_copy.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

/// Between drivers memory goes through the host in pieces of this size.
constexpr std::size_t staging_bytes = std::size_t{8} << 20;
/// A guess at what copies and fills take, to tell small ones from large ones.
constexpr double ns_per_byte = 0.01;

char* at(const Buffer* b, std::size_t offset) { return static_cast<char*>(b->data()) + offset; }

/// All that a Launch points to.
struct KeptLaunch {
    explicit KeptLaunch(const Launch& l) : launch(l), program(l.program), extents(l.extents), args(l.args) {
        uses.assign(l.uses.begin(), l.uses.end());
        for (BufferUse& u : uses) u.view = {};  // it is noted by now, and points to the caller's
        for (const BufferUse& u : l.uses) buffers.emplace_back(u.buffer);
        launch.label = nullptr;
        launch.label_data = nullptr;
        launch.check = nullptr;
    }
    void run(Stream& stream, const NativeOrder& order) {
        launch.program = compiled_program(program.get());
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
    std::vector<KeptForWork> buffers;
};

/// Of code that others have written, or that runs on the host.
Request task_request(const Device* device, Label&& label, double cost_ns) {
    check_not_forked(label.name.str(), device);
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    Request request;
    request.label = std::move(label);
    if (request.label.location.empty()) request.label.location = current_location();
    request.cost_ns = cost_ns;
    return request;
}

}  // namespace

DriverQueue::DriverQueue(Device* device, QueueOrder order, bool profiling, std::unique_ptr<Stream> stream)
    : ScheduledQueue(device, order, profiling) {
    open(new DriverCore(this, std::move(stream)));
}

template <class Now, class Keep>
Event DriverQueue::submit_call(std::optional<Activity> activity, Amount amount, Request&& request, std::span<const BufferUse> uses,
                               std::span<const Event> depends, Now now, Keep keep, bool by_worker) {
    struct BorrowedCall final : NativeCall {
        BorrowedCall(Now& now, Keep& keep) : now_(now), keep_(keep) {}
        void run(Stream& stream, const NativeOrder& order) override { now_(stream, order); }
        Owned keep() override { return keep_(); }
        Now& now_;
        Keep& keep_;
    } call(now, keep);
    check_not_forked(request.label.name.str(), device_);
    if (request.label.location.empty()) request.label.location = current_location();
    return submit(std::move(request), uses, depends, activity, amount,
                  [&](Request&& ordered) { return core().submit(std::move(ordered), call, by_worker); });
}

Event DriverQueue::launch(const Launch& l, std::span<const Event> depends) {
    Program* const program = ready_program(l.program);
    if (program && program != l.program) {
        Launch compiled = l;
        compiled.program = program;
        return launch(compiled, depends);
    }
    count_launch(l);
    Request request;
    request.label = label_of(l);
    request.cost_ns = l.cost_ns;
    request.check = l.check;
    if (!program) request.program = compile_ahead(l.program);
    return submit_call(
        Activity::Kernel, amount_of(l), std::move(request), l.uses, depends,
        [&l](Stream& stream, const NativeOrder& order) { stream.launch(l, order); },
        [&l] { return [kept = std::make_shared<KeptLaunch>(l)](Stream& stream, const NativeOrder& order) { kept->run(stream, order); }; },
        !program);
}

Event DriverQueue::submit_native(NativeCall::Owned call, std::span<const BufferUse> uses, Label label, std::span<const Event> depends) {
    counters.launched.fetch_add(1, std::memory_order_relaxed);
    Request request;
    request.label = std::move(label);
    return submit_call(
        Activity::Kernel, {}, std::move(request), uses, depends, [&](Stream& stream, const NativeOrder& order) { call(stream, order); },
        [&] {
            std::vector<KeptForWork> kept;
            for (const BufferUse& u : uses) kept.emplace_back(u.buffer);
            return NativeCall::Owned([call, kept](Stream& stream, const NativeOrder& order) { call(stream, order); });
        });
}

Event DriverQueue::host_task(std::function<void()> f, std::span<const BufferUse> uses, Label label, double cost_ns,
                             std::span<const Event> depends) {
    Request request = task_request(device_, std::move(label), cost_ns);
    const Amount amount = request.label.amount;
    return submit(std::move(request), uses, depends, Activity::HostTask, amount,
                  [&](Request&& ordered) { return core().submit_task(std::move(ordered), std::move(f)); });
}

Event DriverQueue::native_task(NativeCode code, std::span<const BufferUse> uses, Label label, double cost_ns,
                               std::span<const Event> depends) {
    Request request = task_request(device_, std::move(label), cost_ns);
    for (const BufferUse& u : uses) request.kept.emplace_back(u.buffer);
    const Amount amount = request.label.amount;
    return submit(std::move(request), uses, depends, Activity::Kernel, amount,
                  [&](Request&& ordered) { return core().submit_turn(std::move(ordered), std::move(code)); });
}

template <class Call>
Event DriverQueue::submit_copy(const BufferUse& to, const BufferUse& from, std::size_t bytes, std::span<const Event> depends,
                               bool may_block, Call call) {
    count_bytes(bytes, bytes);
    const BufferUse uses[] = {from, to};
    Request request;
    const auto size = static_cast<std::int64_t>(bytes);
    request.label = {"copy", {}, {size, size, 0}};
    request.cost_ns = ns_per_byte * static_cast<double>(bytes);
    const auto keep = [&] {
        return NativeCall::Owned([call, a = KeptForWork(to.buffer), b = KeptForWork(from.buffer)](
                                     Stream& stream, const NativeOrder& order) { call(stream, order); });
    };
    return submit_call(Activity::Copy, {size, size, 0}, std::move(request), uses, depends, call, keep, may_block);
}

Event DriverQueue::copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                        std::span<const Event> depends) {
    check_range("copy", to, to_offset, bytes);
    check_range("copy", from, from_offset, bytes);
    const BufferUse target{to, Access::Write, View::bytes(to_offset, bytes)}, source{from, Access::Read, View::bytes(from_offset, bytes)};
    const auto go = [&](auto call, bool may_block) { return submit_copy(target, source, bytes, depends, may_block, call); };
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
    if (from_mine) return copy_by_other(to, to_offset, from, from_offset, bytes, depends);
    if (!to_mine) throw Error(ErrorCode::Internal, "copy: neither buffer is of device " + device_->id());
    count_bytes(0, bytes);
    const BufferUse uses[] = {{from, Access::Read, View::bytes(from_offset, bytes)}, {to, Access::Write, View::bytes(to_offset, bytes)}};
    const auto size = static_cast<std::int64_t>(bytes);
    return host_task(
        [this, a = Ref<Buffer>(to), b = Ref<Buffer>(from), to_offset, from_offset, bytes] {
            const std::size_t piece = std::min(bytes, staging_bytes);
            const std::unique_ptr<char[]> staging(new char[piece]);
            for (std::size_t done = 0; done < bytes; done += piece) {
                const std::size_t n = std::min(piece, bytes - done);
                b->device()->queue()->fetch(staging.get(), b.get(), from_offset + done, n);
                core().run_and_wait("copy", [&](Stream& stream, const NativeOrder& order) {
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
        pieces.push_back(submit_copy({to, Access::Write, written_view(piece)}, {from, Access::Read, read_view(piece)}, bytes, depends,
                                     with_host,
                                     [to, from, piece](Stream& s, const NativeOrder& order) { s.copy_strided(to, from, piece, order); }));
    });
    return pieces.size() == 1 ? pieces[0] : join("copy", pieces);
}

Event DriverQueue::prefetch(Buffer* buffer, std::size_t offset, std::size_t bytes, std::span<const Event> depends) {
    if (bytes == 0 || !stream().prefetches(buffer)) return Queue::prefetch(buffer, offset, bytes, depends);
    check_range("prefetch", buffer, offset, bytes);
    const BufferUse uses[] = {{buffer, Access::Read, View::bytes(offset, bytes)}};
    Request request;
    request.label.name = "prefetch";
    const auto call = [=](Stream& stream, const NativeOrder& order) { stream.prefetch(buffer, offset, bytes, order); };
    return submit_call({}, {}, std::move(request), uses, depends, call, [&] {
        return NativeCall::Owned([call, kept = KeptForWork(buffer)](Stream& stream, const NativeOrder& order) { call(stream, order); });
    });
}

std::vector<Event> DriverQueue::settle(Buffer* buffer, const View& view, bool writing) {
    std::vector<Event> needs, after, ordered;
    if (!buffer->busy()) return needs;
    if (writing) {
        buffer->collect_for_write(after);
    } else {
        buffer->collect_for_read(view, needs, after, Buffer::Look::Take);
    }
    for (const Event& e : after) {
        if (!core().before_next(e)) e.state()->wait_quietly();
    }
    if (writing) (void)buffer->note_write(Event(), Access::Write, view);
    for (const Event& e : needs) {
        if (core().before_next(e)) {
            ordered.push_back(e);
        } else {
            buffer->wait_for(e);
        }
    }
    return ordered;
}

void DriverQueue::write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes) {
    check_not_forked("write", device_);
    check_range("write", to, offset, bytes);
    count_bytes(0, bytes);
    if (bytes == 0) return to->wait_for_write(View::bytes(offset, 0));
    const auto describe = [&] { return Submission{Activity::Write, this, {"write", {}}, {0, static_cast<std::int64_t>(bytes), 0}}; };
    if (to->host_visible()) {
        to->wait_for_write(View::bytes(offset, bytes));
        return record_around([&] { std::memcpy(at(to, offset), from, bytes); }, describe);
    }
    if (bytes <= stream().takes_at_once()) {
        const auto* first = static_cast<const char*>(from);
        const auto kept = std::make_shared<const std::vector<char>>(first, first + bytes);  // the caller's memory may be pinned
        const BufferUse uses[] = {{to, Access::Write, View::bytes(offset, bytes)}};
        Request request;
        request.label.name = small_write;
        const auto call = [=](Stream& stream, const NativeOrder& order) { stream.write(to, offset, kept->data(), bytes, order); };
        submit_call(Activity::Write, {0, static_cast<std::int64_t>(bytes), 0}, std::move(request), uses, {}, call, [&] {
            return NativeCall::Owned([call, buffer = KeptForWork(to)](Stream& stream, const NativeOrder& order) { call(stream, order); });
        });
        return;
    }
    (void)settle(to, View::bytes(offset, bytes), true);
    const auto go = [&](Stream& stream, const NativeOrder& order) { stream.write(to, offset, from, bytes, order); };
    record_around([&] { core().run_and_wait("write", go); }, describe);
}

void DriverQueue::read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    check_not_forked("read", device_);
    check_range("read", from, offset, bytes);
    if (bytes == 0) return from->wait_for_read(View::bytes(offset, 0));
    std::vector<Event> ordered;
    if (from->host_visible()) {
        from->wait_for_read(View::bytes(offset, bytes));
    } else {
        ordered = settle(from, View::bytes(offset, bytes), false);
    }
    fetch(to, from, offset, bytes);
    for (const Event& e : ordered) from->wait_for(e);
}

void DriverQueue::fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) {
    check_not_forked("read", device_);
    count_bytes(bytes, 0);
    const auto describe = [&] { return Submission{Activity::Read, this, {"read", {}}, {static_cast<std::int64_t>(bytes), 0, 0}}; };
    if (from->host_visible()) return record_around([&] { std::memcpy(to, at(from, offset), bytes); }, describe);
    const auto go = [&](Stream& stream, const NativeOrder& order) { stream.read(to, from, offset, bytes, order); };
    record_around([&] { core().run_and_wait("read", go); }, describe);
}

Event DriverQueue::fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                        std::span<const Event> depends) {
    const FillPattern p = checked_pattern(to, offset, bytes, pattern, pattern_bytes);
    const BufferUse uses[] = {{to, Access::Write, View::bytes(offset, bytes)}};
    Request request;
    request.label.name = "fill";
    request.cost_ns = ns_per_byte * static_cast<double>(bytes);
    const auto call = [to, offset, bytes, p](Stream& stream, const NativeOrder& order) {
        if (bytes == 0) return stream.marker(order);
        stream.fill(to, offset, bytes, p.bytes, p.size, order);
    };
    return submit_call(Activity::Fill, {0, static_cast<std::int64_t>(bytes), 0}, std::move(request), uses, depends, call, [&] {
        return NativeCall::Owned([call, kept = KeptForWork(to)](Stream& stream, const NativeOrder& order) { call(stream, order); });
    });
}

Event DriverQueue::barrier(std::span<const Event> depends) {
    check_not_forked("barrier", device_);
    return ScheduledQueue::barrier(depends);
}

Event DriverQueue::submit_marker(Request&& request) {
    const auto call = [](Stream& stream, const NativeOrder& order) { stream.marker(order); };
    const std::vector<Event> needs = std::move(request.needs);
    return submit_call({}, {}, std::move(request), {}, needs, call, [&] { return NativeCall::Owned(call); });
}

void DriverQueue::wait() {
    check_not_forked("wait", device_);
    ScheduledQueue::wait();
}

Event call_library(Queue* queue, Stream::LibraryCall call, std::span<const BufferUse> uses, Label label) {
    // Back ends with native streams have this kind of queue.
    return static_cast<DriverQueue*>(queue)->submit_native(
        [call = std::move(call)](Stream& stream, const NativeOrder& order) { stream.call_library(call, order); }, uses, std::move(label));
}

}  // namespace pardo::device
