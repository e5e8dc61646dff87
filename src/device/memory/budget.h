// src/device/memory/budget.h: how much of each device's memory the process may have, by the environment.
#pragma once

#include <cstdint>

namespace pardo::device {

/// PARDO_MEMORY in bytes: "4GiB", "512MB", "1073741824", or "50%" of `total`; 0 when it is not set. Throws Value for anything else.
std::int64_t memory_budget(std::int64_t total);

}  // namespace pardo::device
