// src/lang/problem.cpp: messages with the user's line and a caret.
#include "lang/problem.h"

#include <algorithm>

namespace pardo::lang {

std::string line_text(const Place& place) { return "line " + std::to_string(place.line); }

void Source::fail(ErrorCode code, const Place& place, const std::string& message) const {
    if (function->library && entry.caller) throw problem(code, *entry.caller, entry.place, entry.called + ": " + message);
    throw problem(code, *function, place, message);
}

Error problem(ErrorCode code, const Function& function, const Place& place, const std::string& message) {
    std::string text =
        function.name + ": " + message + "\n  File \"" + function.file + "\", line " + std::to_string(place.line) + ", in " + function.name;
    const int at = place.line - function.first_line;
    if (at < 0 || at >= static_cast<int>(function.lines.size())) return {code, text};
    const std::string& line = function.lines[static_cast<std::size_t>(at)];
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    const auto column = std::min(static_cast<std::size_t>(std::max(place.column, 0)), line.size());
    std::size_t end = place.end_line == place.line ? static_cast<std::size_t>(std::max(place.end_column, 0)) : line.size();
    end = std::max(std::min(end, line.size()), column + 1);
    text += "\n    " + line.substr(first) + "\n    ";
    text.append(column > first ? column - first : 0, ' ');
    text.append(end - std::max(column, first), '^');
    return {code, text};
}

}  // namespace pardo::lang
