// src/base/status_text.cpp: numbers of a status block in a message.
#include "base/status_text.h"

namespace pardo {

std::string with_values(const std::string& message, std::span<const std::int64_t> words) {
    std::string text;
    for (std::size_t k = 0; k < message.size(); ++k) {
        const bool large = message.compare(k, 2, "$u") == 0;
        const std::size_t at = k + (large ? 2 : 1);  // of the value's number
        if (message[k] == '$' && at < message.size() && message[at] >= '0' && message[at] <= '2') {
            const std::int64_t word = words[static_cast<std::size_t>(1 + (message[at] - '0'))];
            text += large ? std::to_string(static_cast<std::uint64_t>(word)) : std::to_string(word);
            k = at;
        } else {
            text += message[k];
        }
    }
    return text;
}

std::string item_text(std::span<const std::int64_t> words, int rank) {
    if (rank == 0) return {};
    std::string text = " (item ";
    for (int d = 0; d < rank && d < 3; ++d)
        text += (d ? ", " : rank > 1 ? "(" : "") + std::to_string(words[static_cast<std::size_t>(4 + d)]);
    return text + (rank > 1 ? "))" : ")");
}

}  // namespace pardo
