// src/backend/cuda/copies/transfer.cpp: copies between a user's pageable memory and a device, through pinned memory and several threads.
#include "backend/cuda/copies/transfer.h"

#include <sys/mman.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <sstream>

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
/// A huge page: threads that write two halves of a fresh one would both clear all of it.
constexpr std::size_t default_piece = std::size_t{4} << 20;  // on an H200 47 GB/s to the device, where 2 MiB make 34
/// Copies of fewer pieces than this are cut finer.
constexpr std::size_t many_pieces = 16;
constexpr std::size_t usual_lanes = 12;
/// What is read is not left in the caches where it would not fit them.
constexpr std::size_t stream_from = std::size_t{32} << 20;
/// Pinning costs a call that is worth it from here on.
constexpr std::size_t register_from = std::size_t{64} << 20;

[[noreturn]] void refuse(const std::string& word) {
    throw Error(ErrorCode::Value, "PARDO_CUDA_TRANSFER: \"" + word +
                                      "\" is not known; it holds words with commas between them: register, threads=1 to 16, piece=64 to "
                                      "65536 (KiB), populate=0 or 1, stream=0 or 1");
}

/// The number after "name=".
std::size_t number_of(const std::string& word, std::size_t least, std::size_t most) {
    const std::string digits = word.substr(word.find('=') + 1);
    std::size_t value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failed != std::errc() || end != digits.data() + digits.size() || value < least || value > most) refuse(word);
    return value;
}

/// Copies past the caches: a store of a whole line does not fetch the line first, which makes a third of the memory's work.
void copy_past_caches(char* to, const char* from, std::size_t bytes) {
#if defined(__SSE2__)
    constexpr std::size_t line = 64, ahead = 8 * line;
    const std::size_t head = std::min(bytes, -reinterpret_cast<std::uintptr_t>(to) % line);
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= line; bytes -= line, to += line, from += line) {
        _mm_prefetch(from + ahead, _MM_HINT_NTA);
        const auto* source = reinterpret_cast<const __m128i*>(from);
        const __m128i parts[] = {_mm_loadu_si128(source), _mm_loadu_si128(source + 1), _mm_loadu_si128(source + 2),
                                 _mm_loadu_si128(source + 3)};
        for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + k, parts[k]);
    }
    _mm_sfence();
#endif
    std::memcpy(to, from, bytes);
}

/// Blocks until a piece is free. Many threads ask at a time, and the driver has one lock for them.
Result await_piece(EventHandle event) noexcept {
    constexpr int tries = 200;
    for (int i = 0; i < tries; ++i) {
        const Result status = driver().cuEventQuery(event);
        if (status != result::not_ready) return status;
        std::this_thread::yield();
    }
    return driver().cuEventSynchronize(event);
}

}  // namespace

TransferOptions TransferOptions::from_environment() {
    TransferOptions options;
    std::istringstream words(env("PARDO_CUDA_TRANSFER").value_or(""));
    for (std::string word; std::getline(words, word, ',');) {
        if (word == "register") {
            options.registers = true;
        } else if (word.starts_with("threads=")) {
            options.threads = number_of(word, 1, 16);
        } else if (word.starts_with("piece=")) {
            options.piece_bytes = number_of(word, 64, 65536) << 10;
        } else if (word.starts_with("populate=")) {
            options.populates = number_of(word, 0, 1) != 0;
        } else if (word.starts_with("stream=")) {
            options.streams = number_of(word, 0, 1) != 0;
        } else {
            refuse(word);
        }
    }
    return options;
}

Transfer::Transfer(CudaDevice* device)
    : device_(device), options_(TransferOptions::from_environment()), registers_(options_.registers), populates_(options_.populates) {}

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

Transfer::Cut Transfer::cut(const void* host, std::size_t bytes) const {
    Cut c;
    c.bytes = bytes;
    c.piece = options_.piece_bytes ? options_.piece_bytes : default_piece;
    if (!options_.piece_bytes && bytes < many_pieces * c.piece) c.piece /= 4;
    const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    const std::size_t threads = options_.threads ? options_.threads : std::clamp<std::size_t>(cores * 3 / 4, 1, usual_lanes);
    c.lanes = std::clamp<std::size_t>(bytes / std::max(bytes_a_lane, c.piece), 1, threads);
    c.shift = reinterpret_cast<std::uintptr_t>(host) % c.piece;
    return c;
}

void Transfer::populate(char* to, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (!populates_.load(std::memory_order_relaxed)) return;
    // Memory that is there costs little: its page tables are read. A failure shows in the copy, unless it is the system's age.
    const std::uintptr_t page = 4096, first = reinterpret_cast<std::uintptr_t>(to) / page * page;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(to) + bytes;
    if (madvise(reinterpret_cast<void*>(first), (end - first + page - 1) / page * page, MADV_POPULATE_WRITE) != 0 && errno == EINVAL)
        populates_.store(false, std::memory_order_relaxed);
#else
    (void)to, (void)bytes;
#endif
}

void Transfer::prepare(std::size_t lanes) {
    const Driver& d = driver();
    if (!begin_) device_->check(d.cuEventCreate(&begin_, event_blocking_sync | event_disable_timing), "cuEventCreate");
    for (std::size_t i = 0; i < lanes; ++i) {
        Lane& lane = lanes_[i];
        if (!lane.stream) device_->check(d.cuStreamCreate(&lane.stream, stream_non_blocking), "cuStreamCreate");
        if (!lane.ready) device_->check(d.cuEventCreate(&lane.ready, event_blocking_sync | event_disable_timing), "cuEventCreate");
        for (Piece& piece : lane.pieces) {
            if (!piece.free) device_->check(d.cuEventCreate(&piece.free, event_blocking_sync | event_disable_timing), "cuEventCreate");
            if (!piece.host) {
                const std::size_t bytes = options_.piece_bytes ? options_.piece_bytes : default_piece;
                device_->check(d.cuMemHostAlloc(&piece.host, bytes, host_alloc_portable), "cuMemHostAlloc");
            }
        }
    }
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
    const Cut c = cut(from, bytes);
    prepare(c.lanes);
    settle(stream);
    run(c.lanes, [&](std::size_t i) { write_part(lanes_[i], i, c, to, static_cast<const char*>(from)); });
    join_lanes(stream, c.lanes);
}

void Transfer::read(StreamHandle stream, void* to, DevicePointer from, std::size_t bytes) {
    if (bytes <= direct_limit || on_pinned_memory(to))
        return device_->check(driver().cuMemcpyDtoHAsync(to, from, bytes, stream), "cuMemcpyDtoHAsync");
    const auto copy = [&] { return driver().cuMemcpyDtoHAsync(to, from, bytes, stream); };
    if (on_registered(stream, to, bytes, host_register_portable, copy)) return;
    std::lock_guard lock(mutex_);
    const Cut c = cut(to, bytes);
    prepare(c.lanes);
    settle(stream);
    run(c.lanes, [&](std::size_t i) { read_part(lanes_[i], i, c, static_cast<char*>(to), from); });
}

void Transfer::write_part(Lane& lane, std::size_t index, const Cut& cut, DevicePointer to, const char* from) {
    const Driver& d = driver();
    std::size_t turn = 0;
    for (std::size_t i = index; cut.begin(i) < cut.bytes; i += cut.lanes) {
        const Piece& piece = lane.pieces[turn++ % 2];
        const std::size_t at = cut.begin(i), part = cut.size(i);
        device_->check(await_piece(piece.free), "cuEventSynchronize");
        std::memcpy(piece.host, from + at, part);
        device_->check(d.cuMemcpyHtoDAsync(to + at, piece.host, part, lane.stream), "cuMemcpyHtoDAsync");
        device_->check(d.cuEventRecord(piece.free, lane.stream), "cuEventRecord");
    }
}

void Transfer::read_part(Lane& lane, std::size_t index, const Cut& cut, char* to, DevicePointer from) {
    const Driver& d = driver();
    const auto fetch = [&](std::size_t i, const Piece& piece) {
        const std::size_t at = cut.begin(i);
        if (at >= cut.bytes) return;
        device_->check(await_piece(piece.free), "cuEventSynchronize");  // an earlier write may still need it
        device_->check(d.cuMemcpyDtoHAsync(piece.host, from + at, cut.size(i), lane.stream), "cuMemcpyDtoHAsync");
        device_->check(d.cuEventRecord(piece.free, lane.stream), "cuEventRecord");
    };
    std::size_t i = index;
    fetch(i, lane.pieces[0]);
    fetch(i + cut.lanes, lane.pieces[1]);
    for (std::size_t turn = 0; cut.begin(i) < cut.bytes; i += cut.lanes, ++turn) {
        const Piece& piece = lane.pieces[turn % 2];
        populate(to + cut.begin(i), cut.size(i));  // while the bus is busy
        device_->check(await_piece(piece.free), "cuEventSynchronize");
        const auto* there = static_cast<const char*>(piece.host);
        if (options_.streams && cut.bytes >= stream_from)
            copy_past_caches(to + cut.begin(i), there, cut.size(i));
        else
            std::memcpy(to + cut.begin(i), there, cut.size(i));
        fetch(i + 2 * cut.lanes, piece);
    }
}

void Transfer::run(std::size_t parts, const std::function<void(std::size_t)>& f) {
    if (parts > 1) {
        std::lock_guard lock(work_mutex_);
        for (; helpers_ + 1 < parts; ++helpers_) {
            const Bound inherit_nothing(any_core());
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
