// src/jit/build_log.cpp: finds the line that an error is about.
#include "jit/build_log.h"

#include <algorithm>
#include <cctype>

namespace pardo::jit {
namespace {

constexpr std::size_t most_log = 2000;

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The number that ends before `end`; 0 if none does.
int number_before(std::string_view s, std::size_t end) {
    std::size_t begin = end;
    while (begin > 0 && digit(s[begin - 1])) --begin;
    int number = 0;
    for (; begin < end && number < 100'000'000; ++begin) number = 10 * number + (s[begin] - '0');
    return number;
}

/// Of "<kernel>:3:12: error: …" and "program.cu(3): error: …"; 0 where there is no such place, or it is in another file.
int line_in(std::string_view message) {
    if (message.find(".h:") != std::string_view::npos || message.find(".h(") != std::string_view::npos) return 0;
    for (std::size_t at = message.find(": "); at != std::string_view::npos; at = message.find(": ", at + 1)) {
        if (at > 0 && message[at - 1] == ')') return number_before(message, at - 1);
        std::size_t column = at;
        while (column > 0 && digit(message[column - 1])) --column;
        if (column < at && column > 0 && message[column - 1] == ':') {
            if (const int line = number_before(message, column - 1)) return line;
        }
    }
    return 0;
}

}  // namespace

std::string_view line_of(std::string_view text, int number) {
    for (; number > 1; --number) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

std::string format_build_log(std::string_view log, std::string_view text) {
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.remove_suffix(1);
    std::string out;
    for (std::string_view rest = log; !rest.empty() && out.empty();) {
        const std::string_view message = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), message.size() + 1));
        const int number = message.find("error") == std::string_view::npos ? 0 : line_in(message);
        const std::string_view line = number > 0 ? line_of(text, number) : std::string_view();
        if (!line.empty()) out = "\nline " + std::to_string(number) + ": " + std::string(line);
    }
    std::size_t shown = std::min(log.size(), most_log);
    while (shown < log.size() && (log[shown] & 0xc0) == 0x80) --shown;  // no character is cut in two
    if (shown > 0) out.append("\n").append(log.substr(0, shown));
    if (shown < log.size()) out += "\n… (" + std::to_string(log.size() - shown) + " more bytes)";
    return out;
}

}  // namespace pardo::jit
