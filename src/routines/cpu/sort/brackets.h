// src/routines/cpu/sort/brackets.h: keys between which the elements of some ranks are expected: what a sample of a long line says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "routines/cpu/sort/bits.h"

namespace pardo::routines {

/// Both ends belong to it.
template <class K> struct Bracket {
    K low, high;
    std::size_t first_rank, ranks;  // of the list of ranks
};

/// One for each of `ranks`, which ascend, or for several whose brackets meet, in order. `encode` makes integer keys of elements. The chance
/// that one is wrong is below 1 in 10,000: four standard deviations.
template <class K>
std::vector<Bracket<K>> find_brackets(const K* in, std::int64_t n, std::span<const std::int64_t> ranks,
                                      void (*encode)(const K*, K*, std::int64_t, bool)) {
    const auto size = static_cast<std::size_t>(std::clamp<std::int64_t>(n / 128, 1024, 32768));
    std::vector<K> sample(2 * size);
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (std::size_t i = 0; i < size; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sample[size + i] = in[(state >> 33) % static_cast<std::uint64_t>(n)];
    }
    encode(sample.data() + size, sample.data(), static_cast<std::int64_t>(size), false);
    bool sorted = false;
    if constexpr (sizeof(K) >= 4) {
        if ((sorted = quicksort::available())) quicksort::sort(sample.data(), sample.data() + size, static_cast<std::int64_t>(size));
    }
    if (!sorted) std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(size));
    const double m = static_cast<double>(size), wide = 4;
    std::vector<Bracket<K>> brackets;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const double q = static_cast<double>(ranks[r]) / static_cast<double>(n), spread = wide * std::sqrt(m * q * (1 - q)) + wide;
        const double first = m * q - spread, last = m * q + spread;
        const K low = first < 0 ? K{0} : sample[static_cast<std::size_t>(first)];
        const K high = last >= m ? std::numeric_limits<K>::max() : sample[static_cast<std::size_t>(last)];
        if (!brackets.empty() && low <= brackets.back().high) {
            brackets.back().high = std::max(high, brackets.back().high);
            ++brackets.back().ranks;
        } else {
            brackets.push_back({low, high, r, 1});
        }
    }
    return brackets;
}

}  // namespace pardo::routines
