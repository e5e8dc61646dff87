// src/base/counters.h: what the process has done so far; shown by `pp.counters()`.
#pragma once

#include <atomic>
#include <cstdint>

namespace pardo {

/// Monotonic process-wide counts. Relaxed atomics: they order nothing.
struct Counters {
    std::atomic<std::uint64_t> recorded{0};    // operations made into Nodes
    std::atomic<std::uint64_t> forced{0};      // calls of plan::force that had work to do
    std::atomic<std::uint64_t> planned{0};     // plans made: graphs of a structure that the device had not seen
    std::atomic<std::uint64_t> flushed{0};     // times that a flush bound handed pending work over
    std::atomic<std::uint64_t> launched{0};    // kernels and library tasks submitted
    std::atomic<std::uint64_t> compiled{0};    // kernels compiled by a code generator
    std::atomic<std::uint64_t> from_disk{0};   // kernels loaded from the disk cache
    std::atomic<std::uint64_t> from_pack{0};   // kernels loaded from what was compiled when pardo was built
    std::atomic<std::uint64_t> bytes_read{0};  // by launches, each buffer region once a launch
    std::atomic<std::uint64_t> bytes_written{0};
    std::atomic<std::uint64_t> copies{0};        // whole-array copies (imports, exports, layout changes, overlaps)
    std::atomic<std::uint64_t> copied_bytes{0};  // by these copies
    std::atomic<std::uint64_t> fallbacks{0};     // slow paths taken in place of the fast one; see log
    std::atomic<std::uint64_t> handles{0};       // references that native code has been given (pardo/c_api.h)
    std::atomic<std::uint64_t> handles_back{0};  // and has given back
};
extern Counters counters;

/// Counts the copy of an array of so many bytes.
inline void count_copy(std::int64_t bytes) {
    counters.copies.fetch_add(1, std::memory_order_relaxed);
    counters.copied_bytes.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
}

}  // namespace pardo
