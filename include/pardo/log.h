// include/pardo/log.h: where the library's messages go, who is told of copies, and floating-point errors of operations; the library itself
// never prints.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <pardo/export.h>

namespace pardo {

enum class LogLevel : std::uint8_t { Off, Warn, Info, Debug };
/// Receives log lines, from any thread, at times when locks are held: it may store them, but not call back into the library.
using LogSink = void (*)(LogLevel, std::string_view);
/// Where log lines go; the default drops them.
PARDO_API void set_log_sink(LogSink sink);
/// Receives a line about slow work that is under way, from any thread and without any lock held; an empty one when it is over.
using ProgressSink = void (*)(std::string_view line);
/// Where such lines go. By default, and with null, nothing is told.
PARDO_API void set_progress_sink(ProgressSink sink);
/// The level of PARDO_LOG (off, warn, info, debug). Default: warn.
PARDO_API LogLevel log_level();
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
