// src/base/launch_cost.h: what a launch of elementwise work or of reductions costs on a CPU, which decides about threads.
#pragma once

#include <cstdint>

namespace pardo {

/// An addition in lanes.
inline constexpr double addition_ns = 0.05;

/// Nanoseconds of one core; `element_cost` in additions.
inline double launch_cost(std::int64_t bytes_moved, std::int64_t elements, double element_cost) {
    constexpr std::int64_t cached_bytes = 1 << 20;
    constexpr double launch_ns = 100, cached_ns = 0.012, memory_ns = 0.08;
    return launch_ns + static_cast<double>(bytes_moved) * (bytes_moved < cached_bytes ? cached_ns : memory_ns) +
           static_cast<double>(elements) * element_cost * addition_ns;
}

}  // namespace pardo
