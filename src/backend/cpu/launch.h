// src/backend/cpu/launch.h: runs a kernel's index space on the threads of a device.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "backend/cpu/program.h"
#include "backend/cpu/threads/threads.h"

namespace pardo::cpu {

/// How a box is cut: `parts` slices of dimension `dimension`, borders at multiples of `unit`.
struct Split {
    int dimension = 0;
    int parts = 1;
    std::int64_t unit = 1;
};
/// The outermost dimension that can be cut evenly enough, else the one that can be cut best.
Split split(std::span<const std::int64_t> extents, int parts, int granularity);
/// First index of slice `part` of `parts` over [0, extent), rounded to `unit`.
std::int64_t slice_begin(std::int64_t extent, std::int64_t unit, int parts, int part);

/// Slices of `chunk` in the first dimension, of more where that were too many.
Split split_by(std::int64_t chunk, std::span<const std::int64_t> extents, int granularity);

/// Runs all items; on the calling thread alone when `cost_ns` is small and no `chunk` is given, which is that of device::Launch. Returns
/// before that soon after `stop` has become 1 (null: it never does). Throws Internal when the extents do not fit the program.
void run_program(ThreadPool& pool, const CpuProgram& program, std::span<const std::int64_t> extents, const std::uint64_t* args,
                 double cost_ns, std::int64_t chunk = 0, const std::atomic<std::uint8_t>* stop = nullptr);
/// As cpu::parallel_for, on a pool.
template <class F> void run_range(ThreadPool& pool, std::int64_t count, double cost_ns, F&& f) {
    if (count <= 0) return;
    const std::int64_t unit = count >= 4096 ? 64 : 1;
    const auto parts = static_cast<int>(cost_ns < serial_limit_ns ? 1 : std::min<std::int64_t>(pool.threads(), (count + unit - 1) / unit));
    pool.run(parts, [&](int part) {
        const std::int64_t begin = slice_begin(count, unit, parts, part), end = slice_begin(count, unit, parts, part + 1);
        if (begin < end) f(begin, end);
    });
}

}  // namespace pardo::cpu
