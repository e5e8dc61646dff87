// src/launch/status.h: how a kernel's first failure becomes an exception.
#pragma once

#include <span>
#include <vector>

#include "lang/lower.h"

namespace pardo::launch {

/// Throws what a kernel has written into its status block, if anything: the message with the kernel's values, the item, and the line.
void check(std::span<const std::int64_t> words, const std::vector<lang::Site>& sites, int rank);

}  // namespace pardo::launch
