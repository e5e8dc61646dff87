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
        const bool value =
            site.message[k] == '$' && k + 1 < site.message.size() && site.message[k + 1] >= '0' && site.message[k + 1] <= '2';
        if (value) {
            text += std::to_string(words[static_cast<std::size_t>(1 + (site.message[k + 1] - '0'))]);
            ++k;
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
