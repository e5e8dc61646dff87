// src/device/queue/stream.h: what a back end whose driver runs the work supplies for a queue: thin native operations, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <pardo/error.h>

#include "device/buffer.h"
#include "device/native.h"
#include "device/program.h"
#include "device/queue/library_state.h"

namespace pardo::device {

struct StridedCopy;

/// An event of a driver, or whatever the Stream makes of it (a pair of events with a profiling queue). Never null.
using NativeEvent = void*;

/// What a native submission waits for, and whether its completion gets an event.
struct NativeOrder {
    std::span<const NativeEvent> after;  // of this stream (out of order only) or of streams whose events it understands
    NativeEvent* marker = nullptr;       // not null: gets an event that is complete when the submission is; given back by `release`
    bool timed = false;                  // that event keeps times, as all do on a profiling queue
};

/// Where a native event is.
enum class NativeStatus : std::uint8_t { Unfinished, Complete, Failed };

/// One native queue. Submissions come one at a time, from any thread, and are asynchronous unless said otherwise. Functions that are not
/// noexcept throw Error (Device, Memory) with the driver's words.
class Stream {
public:
    virtual ~Stream() = default;

    // Submissions.
    /// A launch; `launch.uses` holds every buffer that a pointer argument points into.
    virtual void launch(const Launch& launch, const NativeOrder& order) = 0;
    /// Between two buffers for which `copies` is true.
    virtual void copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                      const NativeOrder& order) = 0;
    /// From and to host memory, which stays valid until the marker is complete. May block until the host memory is not needed any more.
    virtual void write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const NativeOrder& order) = 0;
    virtual void read(void* to, Buffer* from, std::size_t offset, std::size_t bytes, const NativeOrder& order) = 0;
    /// A pattern of 1, 2, 4, 8 or 16 bytes, which is valid during the call only.
    virtual void fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                      const NativeOrder& order) = 0;
    /// A region, normalised, of at most `rows_at_once` rows between two buffers that do not overlap in it: of two for which `copies` is
    /// true, or of such a one and one that the host sees. May block until host memory that is not the driver's is not needed any more.
    virtual void copy_strided(Buffer* /*to*/, Buffer* /*from*/, const StridedCopy&, const NativeOrder&) {}
    /// Moves memory for which `prefetches` is true to where this device reads it fastest.
    virtual void prefetch(Buffer*, std::size_t /*offset*/, std::size_t /*bytes*/, const NativeOrder& order) { marker(order); }
    /// Nothing but the order: complete after all of `order.after`, and in order after everything submitted.
    virtual void marker(const NativeOrder& order) = 0;
    /// A library's own submissions: calls `call` with the native stream, what libraries keep with it, and the device's context current.
    using LibraryCall = std::function<void(void* native, LibraryStates& states)>;
    virtual void call_library(const LibraryCall&, const NativeOrder&) {
        throw Error(ErrorCode::Device, "a stream that libraries do not know");
    }
    /// A turn for native code after `order.after`, with the device's context current on this thread. Others may submit before it ends.
    virtual NativeTurn begin_turn(const NativeOrder&) { throw Error(ErrorCode::Device, "a stream that native code does not know"); }
    /// Ends it: the marker is complete when all that the code has enqueued is.
    virtual void end_turn(NativeTurn&, const NativeOrder& order) { marker(order); }
    /// Runs `f` with the device's context current on this thread.
    virtual void with_context(const std::function<void()>& f) { f(); }
    /// Its queue goes, and all is complete: from now on there are calls about events alone.
    virtual void close() noexcept {}
    /// Makes the driver begin with what was submitted.
    virtual void flush() {}

    // Events; from any thread, several at a time.
    /// Cheap. `error` gets the reason of a failure.
    virtual NativeStatus query(NativeEvent event, std::optional<Error>& error) noexcept = 0;
    /// Blocks until the event is complete or failed, without burning a core for long.
    virtual void wait(NativeEvent event) noexcept = 0;
    /// The event is not needed any more; a pool may keep it for the next marker.
    virtual void release(NativeEvent event) noexcept = 0;
    /// Start and end of a marked submission to a profiling stream, on the clock of now_ns(); called once, after completion. `submitted`
    /// may be set better than it is.
    virtual void times(NativeEvent, std::int64_t& /*submitted*/, std::int64_t& /*start*/, std::int64_t& /*end*/) noexcept {}
    /// Calls `f(context)` on any thread when the event is complete, for streams out of order; false where the driver has no such call.
    virtual bool notify(NativeEvent, void (*)(void*), void* /*context*/) noexcept { return false; }

    // Facts.
    /// The CUstream or cl_command_queue, if it is one.
    virtual void* native_queue() const noexcept { return nullptr; }
    /// True when events of `other` may be in `NativeOrder::after` here.
    virtual bool understands(const Stream& other) const noexcept = 0;
    /// True when `copy` reaches both buffers.
    virtual bool copies(const Buffer* to, const Buffer* from) const noexcept = 0;
    /// The rows of a normalised region that one call of `copy_strided` takes; 0 where each row is better a copy of its own.
    virtual std::int64_t rows_at_once(const Buffer* /*to*/, const Buffer* /*from*/, const StridedCopy&) const noexcept { return 0; }
    /// Up to so many bytes of pageable memory have been read when `write` returns, which does not wait for earlier work then.
    virtual std::size_t takes_at_once() const noexcept { return 0; }
    /// True where a submission may write elements of a block while one of another stream writes others.
    virtual bool writes_beside() const noexcept { return false; }
    /// True when `prefetch` has something to do.
    virtual bool prefetches(const Buffer*) const noexcept { return false; }
    /// In order only. True: a submission needs no marker of its own, because a failure shows at every later marker too; the queue then
    /// marks small work late, when it is waited for, which saves a driver call. False: each submission is marked and asked for its failure.
    virtual bool marks_late() const noexcept { return false; }
    /// Where markers may come late: how far everything is that has been submitted until now, when the driver tells it without a marker.
    /// Called between submissions.
    virtual std::optional<NativeStatus> query_all(std::optional<Error>& /*error*/) noexcept { return std::nullopt; }
};

}  // namespace pardo::device
