// src/launch/status.cpp: reads the words of a status block.
#include "launch/status.h"

#include <pardo/error.h>

#include "base/status_text.h"

namespace pardo::launch {
namespace {

/// The message with the kernel's values in it, the item, and the line.
Error failure_of(std::span<const std::int64_t> words, const std::vector<lang::Site>& sites, int rank) {
    const auto number = static_cast<std::size_t>(words[0] - 1);
    if (number >= sites.size()) return {ErrorCode::Internal, "a kernel's status block is damaged"};
    const lang::Site& site = sites[number];
    return lang::problem(site.code, *site.function, site.place, with_values(site.message, words) + item_text(words, rank));
}

}  // namespace

void check(std::span<const std::int64_t> words, const std::vector<lang::Site>& sites, int rank) {
    if (words[0] != 0) throw failure_of(words, sites, rank);
}

}  // namespace pardo::launch
