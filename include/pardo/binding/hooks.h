// include/pardo/binding/hooks.h: what a host language is asked and told: its lock, interrupts, lines of code, default device,
// failures that nobody has seen, copies, and floating-point errors.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pardo/device.h>
#include <pardo/error.h>
#include <pardo/export.h>

namespace pardo {

/// Called when work is handed over asynchronously, to name the user's line in late failures; may return null. It is called often: a hook
/// that gives the same string again need not make it again.
PARDO_API void set_location_hook(std::shared_ptr<const std::string> (*hook)());

/// Asked first for what Device() gives: a host language's thread- or task-local choice; no value: there is none. Null removes it.
PARDO_API void set_default_device_hook(std::optional<Device> (*hook)());

/// Called around waits that block: languages with a global lock let go of it, since what is waited for may need it. `leave` may give null,
/// and then `enter` is not called. Null functions remove them.
PARDO_API void set_blocking_hooks(void* (*leave)(), void (*enter)(void*));

/// Asked a few times a second by threads that wait, from any thread: an error ends the wait, is thrown out of it, and stops what the thread
/// waited for, where that can be (Ctrl-C). `later`: nothing can be thrown from where it is asked; the wait ends, and the error has to come
/// up again where the caller's language looks next. Null removes it.
PARDO_API void set_interrupt_hook(std::optional<Error> (*asked)(bool later));

/// Failures that are not acknowledged, of all queues, each given once; waits still raise them. Lost: those to which no event and no array
/// leads any more. Known: all that have been noticed. Last: and how many there are that no queue kept.
enum class Unseen : unsigned char { Lost, Known, Last };
struct UnseenFailure {
    Error error;
    std::string location;  // the line that submitted the work, as of set_location_hook; empty where unknown
};
PARDO_API std::vector<UnseenFailure> take_unseen_failures(Unseen which);
/// Called when there is a lost one, from any thread, which may hold locks of the library: `hook` only leaves word. Null removes it.
PARDO_API void set_lost_failure_hook(void (*hook)());

/// Receives a line about slow work that is under way, from any thread and without any lock held; an empty one when it is over.
using ProgressSink = void (*)(std::string_view line);
/// Where such lines go. By default, and with null, nothing is told.
PARDO_API void set_progress_sink(ProgressSink sink);
/// Counts a slow path that is taken in place of the fast one, and logs at level info which one and why.
PARDO_API void note_fallback(std::string_view text);
/// Counts a copy of so many bytes that a caller of the library has made.
PARDO_API void note_copy(std::int64_t bytes);

/// A routine whose operands are copied to the host, and its results back, because their device has no code for it; or an operand, a 0-d
/// array of the CPU, that is copied `to_device`.
struct HostRoutine {
    const char* op_name;     // what the user called
    std::int64_t bytes = 0;  // of the operands
    std::string device;      // that they are on
    std::string why;         // cheaper code is not taken: "cuFFT: not installed; …"; may be empty
    bool to_device = false;
};
/// Told on the calling thread before anything is recorded or copied; what it throws, the call throws.
using TransferHook = void (*)(const HostRoutine&);
/// Null, which is the default, calls nothing, and costs one read of memory a call.
PARDO_API void set_transfer_hook(TransferHook hook);

// Divisions by zero, overflows and the like in operations on arrays, for callers that ask for them.

/// Exceptions of IEEE 754 that an operation can note; bits of a mask.
enum class FloatEvent : std::uint8_t { Divide = 1, Over = 2, Under = 4, Invalid = 8 };

/// What is to be noted while operations are recorded.
struct FloatErrors {
    std::uint8_t watched = 0;        // events
    std::uint8_t raised = 0;         // those of `watched` that fail the operation, with ErrorCode::Float; others are reported
    std::shared_ptr<void> reporter;  // opaque to the library
};

/// Asked by each operation that is recorded, on the thread that records it.
using FloatErrorsHook = FloatErrors (*)();
/// Told once per operation and event, on any thread, before a wait for the operation returns: what happened in which operation
/// ("divide by zero encountered in divide"), and the line that recorded it ("model.py:42"). `found` is a mask of all events of the
/// operation that are watched.
using FloatReportHook = void (*)(const std::shared_ptr<void>& reporter, FloatEvent event, std::uint8_t found, std::string_view text,
                                 std::string_view location);
/// With null, the default, nothing is noted, and nothing is paid.
PARDO_API void set_float_errors_hooks(FloatErrorsHook errors, FloatReportHook report);

}  // namespace pardo
