// src/jit/build_log.h: what compilers of text say, for people.
#pragma once

#include <string>
#include <string_view>

namespace pardo::jit {

/// A line of a text, from 1; empty beyond its end.
std::string_view line_of(std::string_view text, int number);
/// The line of the text that the first error of a log is about, if the log says which, and the log without its end if that is long. Both
/// begin with a line break.
std::string format_build_log(std::string_view log, std::string_view text);

}  // namespace pardo::jit
