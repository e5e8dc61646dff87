// src/routines/cpu/mask.h: what routines share that look at masks.
#pragma once

#include <cstdint>

namespace pardo::routines {

/// How many of the bytes are not 0: foreign memory may hold other bools than 0 and 1.
std::int64_t count_true(const std::uint8_t* mask, std::int64_t count);

}  // namespace pardo::routines
