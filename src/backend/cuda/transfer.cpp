// src/backend/cuda/transfer.cpp: copies between a user's pageable memory and a device, through pinned memory and several threads.
#include "backend/cuda/transfer.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "backend/cuda/device.h"
#include "base/affinity.h"
#include "base/counters.h"
#include "base/env.h"

namespace pardo::cuda {
namespace {

/// Up to here the driver's own staging is as fast.
constexpr std::size_t direct_limit = std::size_t{256} << 10;
/// What a thread and a stream are worth starting for.
constexpr std::size_t bytes_a_lane = std::size_t{1} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
/// Pinning costs a call that is worth it from here on.
constexpr std::size_t register_from = std::size_t{64} << 20;

}  // namespace

Transfer::Transfer(CudaDevice* device) : device_(device), registers_(env("PARDO_CUDA_TRANSFER") == "register") {}

bool Transfer::on_registered(StreamHandle stream, void* host, std::size_t bytes, unsigned flags, const std::function<Result()>& copy) {
    if (!registers_ || bytes < register_from) return false;
    const Driver& d = driver();
    if (const Result refused = d.cuMemHostRegister(host, bytes, flags); refused != result::success) {
        counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
        log(LogLevel::Info,
            "cuda: " + std::to_string(bytes) + " bytes of the host cannot be pinned, and are staged: " + d.describe(refused));
        return false;
    }
    Result done = copy();
    std::lock_guard lock(mutex_);
    if (done == result::success) {
        prepare(0);
        done = d.cuEventRecord(begin_, stream);
        if (done == result::success) done = await(begin_);
    }
    d.cuMemHostUnregister(host);
    device_->check(done, "copy of pinned memory");
    return true;
}

bool Transfer::on_pinned_memory(const void* host) const {
    unsigned type = 0;
    return driver().cuPointerGetAttribute(&type, pointer_memory_type, reinterpret_cast<DevicePointer>(host)) == result::success;
}

std::size_t Transfer::prepare(std::size_t bytes) {
    const std::size_t threads = std::max<std::size_t>(1, std::thread::hardware_concurrency() / 2);
    const std::size_t lanes = std::clamp<std::size_t>(bytes / bytes_a_lane, 1, std::min(threads, most_lanes));
    const Driver& d = driver();
    if (!begin_) device_->check(d.cuEventCreate(&begin_, event_blocking_sync | event_disable_timing), "cuEventCreate");
    for (std::size_t i = 0; i < lanes; ++i) {
        Lane& lane = lanes_[i];
        if (!lane.stream) device_->check(d.cuStreamCreate(&lane.stream, stream_non_blocking), "cuStreamCreate");
        if (!lane.ready) device_->check(d.cuEventCreate(&lane.ready, event_blocking_sync | event_disable_timing), "cuEventCreate");
        for (Piece& piece : lane.pieces) {
            if (!piece.free) device_->check(d.cuEventCreate(&piece.free, event_blocking_sync | event_disable_timing), "cuEventCreate");
            if (!piece.host) device_->check(d.cuMemHostAlloc(&piece.host, piece_bytes, host_alloc_portable), "cuMemHostAlloc");
        }
    }
    return lanes;
}

void Transfer::settle(StreamHandle stream) {
    device_->check(driver().cuEventRecord(begin_, stream), "cuEventRecord");
    device_->check(await(begin_), "cuEventSynchronize");
}

void Transfer::join_lanes(StreamHandle stream, std::size_t lanes) {
    const Driver& d = driver();
    for (std::size_t i = 0; i < lanes; ++i) {
        device_->check(d.cuEventRecord(lanes_[i].ready, lanes_[i].stream), "cuEventRecord");
        device_->check(d.cuStreamWaitEvent(stream, lanes_[i].ready, 0), "cuStreamWaitEvent");
    }
}

void Transfer::write(StreamHandle stream, DevicePointer to, const void* from, std::size_t bytes) {
    if (bytes <= direct_limit || on_pinned_memory(from))
        return device_->check(driver().cuMemcpyHtoDAsync(to, from, bytes, stream), "cuMemcpyHtoDAsync");
    const auto copy = [&] { return driver().cuMemcpyHtoDAsync(to, from, bytes, stream); };
    if (on_registered(stream, const_cast<void*>(from), bytes, host_register_portable, copy)) return;
    std::lock_guard lock(mutex_);
    const std::size_t lanes = prepare(bytes);
    settle(stream);
    run(lanes, [&](std::size_t i) { write_part(lanes_[i], i, lanes, to, static_cast<const char*>(from), bytes); });
    join_lanes(stream, lanes);
}

void Transfer::read(StreamHandle stream, void* to, DevicePointer from, std::size_t bytes) {
    if (bytes <= direct_limit || on_pinned_memory(to))
        return device_->check(driver().cuMemcpyDtoHAsync(to, from, bytes, stream), "cuMemcpyDtoHAsync");
    const auto copy = [&] { return driver().cuMemcpyDtoHAsync(to, from, bytes, stream); };
    if (on_registered(stream, to, bytes, host_register_portable, copy)) return;
    std::lock_guard lock(mutex_);
    const std::size_t lanes = prepare(bytes);
    settle(stream);
    run(lanes, [&](std::size_t i) { read_part(lanes_[i], i, lanes, static_cast<char*>(to), from, bytes); });
    join_lanes(stream, lanes);
}

// Lane i has the pieces i, i + lanes, … of the copy, so that all work near each other.

void Transfer::write_part(Lane& lane, std::size_t index, std::size_t lanes, DevicePointer to, const char* from, std::size_t bytes) {
    const Driver& d = driver();
    std::size_t turn = 0;
    for (std::size_t at = index * piece_bytes; at < bytes; at += lanes * piece_bytes) {
        const Piece& piece = lane.pieces[turn++ % 2];
        const std::size_t part = std::min(piece_bytes, bytes - at);
        device_->check(await(piece.free), "cuEventSynchronize");
        std::memcpy(piece.host, from + at, part);
        device_->check(d.cuMemcpyHtoDAsync(to + at, piece.host, part, lane.stream), "cuMemcpyHtoDAsync");
        device_->check(d.cuEventRecord(piece.free, lane.stream), "cuEventRecord");
    }
}

void Transfer::read_part(Lane& lane, std::size_t index, std::size_t lanes, char* to, DevicePointer from, std::size_t bytes) {
    const Driver& d = driver();
    const auto fetch = [&](std::size_t at, const Piece& piece) {
        if (at >= bytes) return;
        device_->check(await(piece.free), "cuEventSynchronize");  // an earlier write may still need it
        device_->check(d.cuMemcpyDtoHAsync(piece.host, from + at, std::min(piece_bytes, bytes - at), lane.stream), "cuMemcpyDtoHAsync");
        device_->check(d.cuEventRecord(piece.free, lane.stream), "cuEventRecord");
    };
    const std::size_t step = lanes * piece_bytes;
    std::size_t at = index * piece_bytes;
    fetch(at, lane.pieces[0]);
    fetch(at + step, lane.pieces[1]);
    for (std::size_t turn = 0; at < bytes; at += step, ++turn) {
        const Piece& piece = lane.pieces[turn % 2];
        device_->check(await(piece.free), "cuEventSynchronize");
        std::memcpy(to + at, piece.host, std::min(piece_bytes, bytes - at));
        fetch(at + 2 * step, piece);
    }
}

void Transfer::run(std::size_t parts, const std::function<void(std::size_t)>& f) {
    if (parts > 1) {
        std::lock_guard lock(work_mutex_);
        for (; helpers_ + 1 < parts; ++helpers_) {
            const Bound inherit_nothing(any_core);
            std::thread([this, index = helpers_ + 1] { serve(index); }).detach();
        }
        work_ = &f;
        parts_ = parts;
        left_ = parts - 1;
        failure_ = nullptr;
        ++round_;
        wake_.notify_all();
    }
    std::exception_ptr failure;
    try {
        f(0);
    } catch (...) {
        failure = std::current_exception();
    }
    if (parts > 1) {
        std::unique_lock lock(work_mutex_);
        done_.wait(lock, [this] { return left_ == 0; });
        work_ = nullptr;
        if (!failure) failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
}

void Transfer::serve(std::size_t index) {
    driver().cuCtxSetCurrent(device_->known_context());
    std::uint64_t seen = 0;
    std::unique_lock lock(work_mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return round_ != seen && work_; });
        seen = round_;
        if (index >= parts_) continue;
        const auto* work = work_;
        lock.unlock();
        std::exception_ptr failure;
        try {
            (*work)(index);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure && !failure_) failure_ = failure;
        if (--left_ == 0) done_.notify_one();
    }
}

}  // namespace pardo::cuda
