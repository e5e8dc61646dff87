// src/backend/cuda/queue.cpp: copies, fills and events of a queue's streams.
#include "backend/cuda/queue.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/cuda.h"
#include "backend/cuda/submission.h"
#include "device/queue/queue.h"

namespace pardo::cuda {

CudaStream::CudaStream(CudaDevice* device, QueueOrder order, bool profiling)
    : device_(device), in_order_(order == QueueOrder::InOrder), profiling_(profiling), lane_count_(in_order_ ? 1 : most_lanes) {
    const ContextScope scope(*device);
    try {
        for (int i = 0; i < lane_count_; ++i)
            device->check(driver().cuStreamCreate(&lanes_[static_cast<std::size_t>(i)].stream, stream_non_blocking), "cuStreamCreate");
    } catch (...) {
        for (const Lane& lane : lanes_) {
            if (lane.stream) driver().cuStreamDestroy(lane.stream);
        }
        throw;
    }
}

CudaStream::CudaStream(CudaDevice* device, StreamHandle stream, std::shared_ptr<void> owner)
    : device_(device), in_order_(true), profiling_(false), borrowed_(true), owner_(std::move(owner)) {
    lanes_[0].stream = stream;
}

CudaStream::~CudaStream() {
    end_libraries();
    if (borrowed_ || device::driver_gone()) return;
    const ContextScope scope(device_->known_context());
    for (const Lane& lane : lanes_) {
        if (lane.stream) driver().cuStreamDestroy(lane.stream);
    }
}

void CudaStream::end_libraries() noexcept {
    if (device::driver_gone()) {
        for (Lane& lane : lanes_) lane.libraries.abandon();
        return;
    }
    const ContextScope scope(device_->known_context());
    for (Lane& lane : lanes_) lane.libraries.clear();
}

// Events of its work, which may outlive the queue, do not need the stream.
void CudaStream::close() noexcept {
    if (!borrowed_) return;
    end_libraries();
    owner_ = nullptr;
}

CudaStream::Lane& CudaStream::lane_for(const device::NativeOrder& order) {
    if (in_order_) return lanes_[0];
    // After what it needs, if nothing else has come there since; otherwise on the next stream in turn.
    for (const device::NativeEvent event : order.after) {
        for (Lane& lane : lanes_) {
            if (lane.last == event) return lane;
        }
    }
    next_lane_ = (next_lane_ + 1) % lane_count_;
    return lanes_[static_cast<std::size_t>(next_lane_)];
}

bool CudaStream::copies(const device::Buffer* to, const device::Buffer* from) const noexcept {
    return is_cuda(to->device()) && is_cuda(from->device());
}

void CudaStream::copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
                      const device::NativeOrder& order) {
    auto &target = static_cast<CudaDevice&>(*to->device()), &source = static_cast<CudaDevice&>(*from->device());
    const bool on_devices = to->kind() == MemoryKind::Device && from->kind() == MemoryKind::Device;
    const bool between = on_devices && &target != &source;
    if (between) {
        target.enable_peer(source);
        source.enable_peer(target);
    }
    Submission submission(*this, order);
    const DevicePointer to_address = address_of(to, to_offset), from_address = address_of(from, from_offset);
    if (bytes == 0) return submission.finish();
    if (between) {
        submission.check(
            driver().cuMemcpyPeerAsync(to_address, target.context(), from_address, source.context(), bytes, submission.stream()),
            "cuMemcpyPeerAsync");
    } else if (on_devices) {
        submission.check(driver().cuMemcpyDtoDAsync(to_address, from_address, bytes, submission.stream()), "cuMemcpyDtoDAsync");
    } else {
        submission.check(driver().cuMemcpyAsync(to_address, from_address, bytes, submission.stream()), "cuMemcpyAsync");
    }
    submission.finish();
}

void CudaStream::write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const device::NativeOrder& order) {
    Submission submission(*this, order);
    if (bytes > 0) device_->transfer().write(submission.stream(), address_of(to, offset), from, bytes);
    submission.finish();
}

void CudaStream::read(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes, const device::NativeOrder& order) {
    Submission submission(*this, order);
    if (bytes > 0) device_->transfer().read(submission.stream(), to, address_of(from, offset), bytes);
    submission.finish();
}

namespace {

/// The value that a pattern repeats in words of `T`, if it does.
template <class T> std::optional<T> repeated(const void* pattern, std::size_t bytes) {
    if (bytes % sizeof(T) != 0) return std::nullopt;
    const auto* parts = static_cast<const char*>(pattern);
    for (std::size_t i = sizeof(T); i < bytes; i += sizeof(T)) {
        if (std::memcmp(parts, parts + i, sizeof(T)) != 0) return std::nullopt;
    }
    T value;
    std::memcpy(&value, parts, sizeof value);
    return value;
}

}  // namespace

void CudaStream::fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                      const device::NativeOrder& order) {
    Submission submission(*this, order);
    const Driver& d = driver();
    const DevicePointer at = address_of(to, offset);
    if (bytes == 0) return submission.finish();
    if (const auto byte = repeated<unsigned char>(pattern, pattern_bytes)) {
        submission.check(d.cuMemsetD8Async(at, *byte, bytes, submission.stream()), "cuMemsetD8Async");
    } else if (const auto half = repeated<unsigned short>(pattern, pattern_bytes)) {
        submission.check(d.cuMemsetD16Async(at, *half, bytes / 2, submission.stream()), "cuMemsetD16Async");
    } else if (const auto word = repeated<unsigned>(pattern, pattern_bytes)) {
        submission.check(d.cuMemsetD32Async(at, *word, bytes / 4, submission.stream()), "cuMemsetD32Async");
    } else {
        // Words of 8 and 16 bytes: columns of 4, one fill each.
        unsigned words[4];
        std::memcpy(words, pattern, pattern_bytes);
        for (std::size_t i = 0; i < pattern_bytes / 4; ++i) {
            submission.check(d.cuMemsetD2D32Async(at + 4 * i, pattern_bytes, words[i], 1, bytes / pattern_bytes, submission.stream()),
                             "cuMemsetD2D32Async");
        }
    }
    submission.finish();
}

void CudaStream::call_library(const LibraryCall& call, const device::NativeOrder& order) {
    Submission submission(*this, order);
    call(submission.stream(), submission.libraries());
    submission.finish();
}

device::NativeTurn CudaStream::begin_turn(const device::NativeOrder& order) {
    Lane& lane = lane_for(order);
    Submission submission(*this, order, lane);
    device::NativeTurn turn;
    turn.stream = lane.stream;
    turn.lane = &lane;
    if (profiling_ || order.timed) turn.started = submission.begin_turn();
    lane.last.store(nullptr, std::memory_order_relaxed);  // no marker tells of what comes now
    return turn;
}

void CudaStream::end_turn(device::NativeTurn& turn, const device::NativeOrder& order) {
    Submission submission(*this, order, *static_cast<Lane*>(turn.lane), static_cast<StreamEvent*>(turn.started));
    turn.started = nullptr;
    if (turn.done) {
        auto* const done = static_cast<EventHandle>(turn.done);
        const Result waited = driver().cuStreamWaitEvent(submission.stream(), done, 0);
        (void)driver().cuEventDestroy(done);
        submission.check(waited, "cuStreamWaitEvent");
    }
    submission.finish();
}

void CudaStream::with_context(const std::function<void()>& f) {
    const ContextScope scope(*device_);
    f();
}

void CudaStream::marker(const device::NativeOrder& order) { Submission(*this, order).finish(); }

device::NativeStatus CudaStream::query(device::NativeEvent event, std::optional<Error>& error) noexcept {
    const auto* e = static_cast<StreamEvent*>(event);
    const Result status = driver().cuEventQuery(e->end);
    if (status == result::success) return device::NativeStatus::Complete;
    if (status == result::not_ready) return device::NativeStatus::Unfinished;
    error = e->device->failure(status, "cuEventQuery");
    return device::NativeStatus::Failed;
}

std::optional<device::NativeStatus> CudaStream::query_all(std::optional<Error>& error) noexcept {
    if (!in_order_) return std::nullopt;
    const ContextScope scope(device_->known_context());
    const Result status = driver().cuStreamQuery(lanes_[0].stream);
    if (status == result::success) return device::NativeStatus::Complete;
    if (status == result::not_ready) return device::NativeStatus::Unfinished;
    error = device_->failure(status, "cuStreamQuery");
    return device::NativeStatus::Failed;
}

void CudaStream::wait(device::NativeEvent event) noexcept { await(static_cast<StreamEvent*>(event)->end); }

void CudaStream::release(device::NativeEvent event) noexcept {
    auto* e = static_cast<StreamEvent*>(event);
    for (Lane& lane : lanes_) {
        const StreamEvent* expected = e;
        lane.last.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
    }
    (e->start ? e->device->timed_events() : e->device->events()).give(e);
}

void CudaStream::times(device::NativeEvent event, std::int64_t& submitted, std::int64_t& start, std::int64_t& end) noexcept {
    const auto* e = static_cast<StreamEvent*>(event);
    if (!e->start || !e->base) return;
    start = host_time(*e->base, e->start);
    end = host_time(*e->base, e->end);
    // The two clocks agree to some microseconds.
    if (submitted != 0) start = std::max(start, submitted);
    end = std::max(start, end);
}

}  // namespace pardo::cuda
