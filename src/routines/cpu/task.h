// src/routines/cpu/task.h: how the CPU's routines hand their loops over, share them out among threads, and choose code by dtype.
// This folder: loops that the CPU's threads share, compiled with the library.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "backend/cpu/cpu.h"
#include "routines/routines.h"

// Of a function: compiled for each of these, and chosen by the processor when the library is loaded.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)  // which is not there yet when clones are chosen
#define PARDO_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define PARDO_CLONES
#endif

namespace pardo::routines {

/// True of what BLAS computes with.
constexpr bool is_blas(DType dtype) { return is_inexact(dtype) && !is_narrow_float(dtype); }

/// The CPU whose threads compute for a queue: its device, or the host's where OpenCL has that as a device.
inline device::Device* processor_of(const device::Queue* queue) {
    return queue->device()->can(device::Feature::HostCode) ? queue->device() : cpu::whole_cpu();
}

/// Submits `f` as a task of that name that reads and writes these memories; waits when outside code can write them. Of memory that is
/// written in part only it reads the rest. `operations` as in device::Amount.
Event submit(device::Queue* queue, const char* name, double cost_ns, std::initializer_list<const Memory*> reads,
             std::initializer_list<const Memory*> writes, std::function<void()> f, std::int64_t operations = 0);
Event submit(device::Queue* queue, const char* name, double cost_ns, std::span<const Memory* const> reads,
             std::span<const Memory* const> writes, std::function<void()> f, std::int64_t operations = 0);

/// Runs f(i) for i in [0, count), each on some thread, given out one after the other, in order: for parts of uneven cost, and for parts
/// that wait for earlier ones.
template <class F> void for_each_part(device::Device* device, std::int64_t count, double cost_ns, F&& f) {
    std::atomic<std::int64_t> next{0};
    const std::int64_t workers = std::min<std::int64_t>(cpu::thread_count(device), count);
    cpu::parallel_for(device, workers, cost_ns, [&](std::int64_t, std::int64_t) {
        for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) f(i);
    });
}

/// The parts of a loop, in as many rows as there are threads: each takes those of its own row, and then of others'.
class PartRows {
public:
    PartRows(std::int64_t count, std::int64_t threads);
    std::int64_t rows() const noexcept { return static_cast<std::int64_t>(rows_.size()); }
    /// The next part for the thread of that row; -1 when there is none.
    std::int64_t next(std::int64_t row) noexcept;

private:
    struct alignas(64) Row {
        std::int64_t begin = 0, end = 0;
        std::int64_t front = 0;              // parts that its own thread has begun, the first ones
        std::atomic<std::int64_t> back{0};   // and others, the last ones: mostly the same as the time before
        std::atomic<std::int64_t> taken{0};  // by anyone
        bool take() noexcept;
    };
    std::vector<Row> rows_;
};

/// As for_each_part, for parts that wait for nothing: a thread takes parts that lie beside each other, and the next time the same ones, as
/// far as all are equally fast. What it left in its cache is used there.
template <class F> void for_each_near_part(device::Device* device, std::int64_t count, double cost_ns, F&& f) {
    PartRows parts(count, cpu::thread_count(device));
    cpu::parallel_for(device, parts.rows(), cost_ns, [&](std::int64_t row, std::int64_t) {
        for (std::int64_t i; (i = parts.next(row)) >= 0;) f(i);
    });
}

/// As for_each_part; f(own, i) gets what `make()` gave the thread: scratch memory.
template <class Make, class F> void for_each_part_with(device::Device* device, std::int64_t count, double cost_ns, Make&& make, F&& f) {
    std::atomic<std::int64_t> next{0};
    const std::int64_t workers = std::min<std::int64_t>(cpu::thread_count(device), count);
    cpu::parallel_for(device, workers, cost_ns, [&](std::int64_t, std::int64_t) {
        std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= count) return;
        auto own = make();
        for (; i < count; i = next.fetch_add(1, std::memory_order_relaxed)) f(own, i);
    });
}

/// Calls f(std::type_identity<T>) with the dtype's C++ type.
template <class F> decltype(auto) visit_dtype(DType dtype, F&& f) {
    // clang-format off
    switch (dtype) {
#define PARDO_DTYPE(name, text, type, ...) \
    case DType::name: return f(std::type_identity<type>());
#include <pardo/dtype.def>
    }
    // clang-format on
    std::abort();
}

/// An element that is only moved about: 16 bytes.
struct Bytes16 {
    std::uint64_t lo, hi;
};
/// Calls f(std::type_identity<T>) with a plain type of the dtype's size.
template <class F> decltype(auto) visit_size(DType dtype, F&& f) {
    switch (itemsize(dtype)) {
        case 1: return f(std::type_identity<std::uint8_t>());
        case 2: return f(std::type_identity<std::uint16_t>());
        case 4: return f(std::type_identity<std::uint32_t>());
        case 8: return f(std::type_identity<std::uint64_t>());
        default: return f(std::type_identity<Bytes16>());
    }
}

/// Vector extensions that the code here has versions for.
enum class Simd : std::uint8_t { Portable, Avx2, Avx512 };
Simd host_simd() noexcept;

#if defined(__x86_64__)
#define PARDO_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt")))
#define PARDO_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c,bmi,bmi2,popcnt")))
#endif

}  // namespace pardo::routines
