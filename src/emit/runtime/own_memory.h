// src/emit/runtime/own_memory.h: memory of a thread for arrays whose size is known when a kernel runs.
#pragma once

#include <cstdint>

namespace pardo::emit {

/// As a count: the memory is the caller's from now on, who frees it.
inline constexpr std::int64_t handed_over = -1;

/// Room for `count` elements of the kernel's array with this number; what was there is lost. Null if there is none. Array -1: the kernel
/// has ended, and large pieces go back; -2 - k: what uses array k has, and its piece goes back if it is large.
void* own_memory(std::int64_t array, std::int64_t count, std::int64_t itemsize) noexcept;

}  // namespace pardo::emit
