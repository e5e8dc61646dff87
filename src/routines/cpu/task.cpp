// src/routines/cpu/task.cpp: how the CPU's routines hand their loops over.
#include "routines/cpu/task.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/constant.h"
#include "base/counters.h"
#include "base/env.h"
#include "device/waiting.h"

namespace pardo::routines {
namespace {

bool same_view(const device::BufferUse& use, const Memory& memory) {
    const device::View view = memory.view();
    return use.buffer == memory.buffer.get() && use.view.offset == view.offset && use.view.item == view.item &&
           std::ranges::equal(use.view.shape, view.shape) && std::ranges::equal(use.view.strides, view.strides);
}

}  // namespace

Event submit(device::Queue* queue, const char* name, double cost_ns, std::span<const Memory* const> reads,
             std::span<const Memory* const> writes, std::function<void()> f, std::int64_t operations) {
    SmallVector<device::BufferUse, 8> uses;
    bool foreign = false;
    const auto add = [&](const Memory* memory, device::Access access) {
        if (!memory || !*memory) return;
        device::BufferUse* known =
            std::find_if(uses.begin(), uses.end(), [&](const device::BufferUse& u) { return same_view(u, *memory); });
        if (known == uses.end())
            uses.push_back({memory->buffer.get(), access, memory->view()});
        else if (known->access != access)
            known->access = device::Access::ReadWrite;
        foreign |= device::externally_visible(memory->buffer.get(), access);
    };
    std::int64_t bytes_read = 0, bytes_written = 0;
    for (const Memory* memory : reads) {
        add(memory, device::Access::Read);
        if (memory && *memory) bytes_read += memory->nbytes();
    }
    for (const Memory* memory : writes) {
        add(memory, device::Access::Write);
        if (memory && *memory) bytes_written += memory->nbytes();
    }
    counters.bytes_read.fetch_add(static_cast<std::uint64_t>(bytes_read), std::memory_order_relaxed);
    counters.bytes_written.fetch_add(static_cast<std::uint64_t>(bytes_written), std::memory_order_relaxed);
    const device::WaitsNext waits(foreign);
    Event event = queue->host_task(std::move(f), uses, device::Label{name, {}, {bytes_read, bytes_written, operations}}, cost_ns);
    if (foreign) device::finish_without_locks(event);
    return event;
}

Event submit(device::Queue* queue, const char* name, double cost_ns, std::initializer_list<const Memory*> reads,
             std::initializer_list<const Memory*> writes, std::function<void()> f, std::int64_t operations) {
    return submit(queue, name, cost_ns, std::span(reads.begin(), reads.size()), std::span(writes.begin(), writes.size()), std::move(f),
                  operations);
}

PartRows::PartRows(std::int64_t count, std::int64_t threads) : rows_(static_cast<std::size_t>(std::min(threads, count))) {
    const std::int64_t rows = this->rows();
    for (std::int64_t r = 0; r < rows; ++r) {
        rows_[static_cast<std::size_t>(r)].begin = count * r / rows;
        rows_[static_cast<std::size_t>(r)].end = count * (r + 1) / rows;
    }
}
bool PartRows::Row::take() noexcept {
    return taken.load(std::memory_order_relaxed) < end - begin && taken.fetch_add(1, std::memory_order_relaxed) < end - begin;
}
std::int64_t PartRows::next(std::int64_t row) noexcept {
    Row& own = rows_[static_cast<std::size_t>(row)];
    if (own.take()) return own.begin + own.front++;
    for (std::size_t tried = 1; tried < rows_.size(); ++tried) {
        Row& from = rows_[(static_cast<std::size_t>(row) + tried) % rows_.size()];
        if (from.take()) return from.end - 1 - from.back.fetch_add(1, std::memory_order_relaxed);
    }
    return -1;
}

Simd host_simd() noexcept {
#if defined(__x86_64__)
    static constinit Constant<Simd> found;
    return found.get([] {
        // Tests lower it, as they do for emitted code.
        const auto limit = env("PARDO_CPU_VECTOR_BYTES");
        if (limit == "16") return Simd::Portable;
        if (limit != "32" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
            return Simd::Avx512;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return Simd::Avx2;
        return Simd::Portable;
    });
#else
    return Simd::Portable;
#endif
}

}  // namespace pardo::routines
