// src/routines/cpu/bounds.cpp: index arrays are looked through before they are used.
#include "routines/cpu/bounds.h"

#include <atomic>

#include "routines/cpu/task.h"

namespace pardo::routines {

namespace {

constexpr std::int64_t chunk = 1024;

/// Position of the first index outside [-size, size); `count` when there is none.
std::int64_t first_bad(device::Device* device, const std::int64_t* index, std::int64_t count, std::int64_t size) {
    std::atomic<std::int64_t> bad{count};
    const auto limit = static_cast<std::uint64_t>(size);
    cpu::parallel_for(device, (count + chunk - 1) / chunk, static_cast<double>(count) * 0.4 + 100,
                      [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t c = begin; c < end; ++c) {
                              const std::int64_t first = c * chunk, last = std::min(count, first + chunk);
                              // index in [-size, size) is index + size in [0, 2 size).
                              std::uint64_t wrong = 0;
                              for (std::int64_t i = first; i < last; ++i)
                                  wrong |= static_cast<std::uint64_t>(static_cast<std::uint64_t>(index[i]) + limit >= 2 * limit);
                              if (!wrong) continue;
                              std::int64_t at = first;
                              while (static_cast<std::uint64_t>(index[at]) + limit < 2 * limit) ++at;
                              std::int64_t known = bad.load(std::memory_order_relaxed);
                              while (at < known && !bad.compare_exchange_weak(known, at, std::memory_order_relaxed)) {
                              }
                              return;
                          }
                      });
    return bad;
}

}  // namespace

void check_bounds(device::Device* device, const Bounds& bounds) {
    for (const Bounds::Row& row : bounds.rows) {
        const auto* index = reinterpret_cast<const std::int64_t*>(row.indices.address());
        const std::int64_t at = first_bad(device, index, row.indices.size(), row.size);
        if (at < row.indices.size()) fail_bounds(bounds, row, index[at]);
    }
}

}  // namespace pardo::routines
