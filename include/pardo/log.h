// include/pardo/log.h: where the library's messages go; the library itself never prints.
#pragma once

#include <cstdint>
#include <string_view>

#include <pardo/export.h>

namespace pardo {

/// How much is logged.
enum class LogLevel : std::uint8_t { Off, Warn, Info, Debug };
/// Receives log lines, from any thread, at times when locks are held: it may store them, but not call back into the library.
using LogSink = void (*)(LogLevel, std::string_view);
/// Where log lines go; the default drops them.
PARDO_API void set_log_sink(LogSink sink);
/// The level of PARDO_LOG (off, warn, info, debug). Default: warn.
PARDO_API LogLevel log_level();

}  // namespace pardo
