// src/launch/status.cpp: reads the words of a status block.
#include "launch/status.h"

#include <pardo/error.h>

namespace pardo::launch {
namespace {

/// The message with the kernel's values in it, the item, and the line.
Error failure_of(std::span<const std::int64_t> words, const std::vector<lang::Site>& sites, int rank) {
    const auto number = static_cast<std::size_t>(words[0] - 1);
    if (number >= sites.size()) return {ErrorCode::Internal, "a kernel's status block is damaged"};
    const lang::Site& site = sites[number];
    std::string text;
    for (std::size_t k = 0; k < site.message.size(); ++k) {
        const bool large = site.message.compare(k, 2, "$u") == 0;
        const std::size_t at = k + (large ? 2 : 1);  // of the value's number
        if (site.message[k] == '$' && at < site.message.size() && site.message[at] >= '0' && site.message[at] <= '2') {
            const std::int64_t word = words[static_cast<std::size_t>(1 + (site.message[at] - '0'))];
            text += large ? std::to_string(static_cast<std::uint64_t>(word)) : std::to_string(word);
            k = at;
        } else {
            text += site.message[k];
        }
    }
    if (rank == 0) return lang::problem(site.code, *site.function, site.place, text);
    text += " (item ";
    for (int d = 0; d < rank; ++d) text += (d ? ", " : rank > 1 ? "(" : "") + std::to_string(words[static_cast<std::size_t>(4 + d)]);
    text += rank > 1 ? "))" : ")";
    return lang::problem(site.code, *site.function, site.place, text);
}

}  // namespace

void check(std::span<const std::int64_t> words, const std::vector<lang::Site>& sites, int rank) {
    if (words[0] != 0) throw failure_of(words, sites, rank);
}

}  // namespace pardo::launch
