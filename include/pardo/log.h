// include/pardo/log.h: where the library's messages go; the library itself never prints.
#pragma once

#include <cstdint>
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

}  // namespace pardo
