// tests/unit/backend_cpu/queue_support.h: queues, memory and programs for tests of CPU queues.
#pragma once

#include <pardo/array.h>
#include <pardo/error.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "../message_of.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/queue.h"

namespace pardo::cpu {

using namespace std::chrono_literals;
using device::Access;
using device::Buffer;
using device::BufferUse;
using device::Label;

constexpr double slow = 1e6, quick = 0;  // estimated costs

inline device::Device* cpu_device() { return device::select("cpu"); }
inline Ref<device::Queue> new_queue(QueueOrder order = QueueOrder::InOrder, bool profiling = false) {
    return cpu_device()->create_queue(order, profiling);
}
inline Ref<Buffer> new_buffer(std::size_t bytes) { return cpu_device()->allocate(bytes, MemoryKind::Device, cpu_device()->queue()); }
template <class T> T* data(const Ref<Buffer>& b) { return static_cast<T*>(b->data()); }

/// args: pointer to int64 counters, one an item (row-major), each increased once.
inline void count_items(const std::uint64_t* args, const std::int64_t* extents, const std::int64_t* begin, const std::int64_t* end,
                        const std::uint8_t*) {
    auto* items = reinterpret_cast<std::int64_t*>(args[0]);
    for (std::int64_t i = begin[0]; i < end[0]; ++i) {
        for (std::int64_t j = begin[1]; j < end[1]; ++j) ++items[i * extents[1] + j];
    }
}

inline std::atomic<int> ran{0};
inline void mark(const std::uint64_t*, const std::int64_t*, const std::int64_t*, const std::int64_t*, const std::uint8_t*) { ++ran; }

inline Ref<device::Program> program(CpuProgram::Entry entry, int rank) { return new CpuProgram("hand_made", entry, rank, 64, nullptr); }

/// A gate that a task waits at.
struct Gate {
    std::atomic<bool> open{false};
    void pass() const {
        while (!open) std::this_thread::yield();
    }
};

}  // namespace pardo::cpu
