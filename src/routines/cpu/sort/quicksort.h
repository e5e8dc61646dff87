// src/routines/cpu/sort/quicksort.h: vectorised quicksort of unsigned keys, for CPUs that have AVX-512.
#pragma once

#include <cstdint>

namespace pardo::routines::quicksort {

/// True when this machine has the instructions; without them the functions below must not be called.
bool available() noexcept;

/// Sorts n keys in place on the calling thread; `tmp` has room for n.
void sort(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n);
void sort(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n);

/// Rearranges keys such that keys[kth] is what sorting would put there, none before it is larger and none after it smaller.
void select(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n, std::int64_t kth);
void select(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n, std::int64_t kth);

/// Puts keys below pivot first, others after them, both in order; returns how many are below. `tmp` has room for n.
std::int64_t partition(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n, std::uint32_t pivot);
std::int64_t partition(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n, std::uint64_t pivot);

}  // namespace pardo::routines::quicksort
