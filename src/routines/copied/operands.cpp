// src/routines/copied/operands.cpp: copies of operands on the CPU.
#include "routines/copied/operands.h"

#include <algorithm>

#include "backend/cpu/cpu.h"
#include "base/counters.h"
#include "device/waiting.h"
#include "routines/routines.h"

namespace pardo::routines {
namespace {

/// The bytes from the first to the last element of a memory.
struct Stretch {
    std::int64_t low = 0, bytes = 0;  // of the first element against the one with all indices 0
};

Stretch stretch_of(const Memory& x) {
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < x.shape.size(); ++d) {
        if (x.shape[d] == 0) return {};
        const std::int64_t reach = (x.shape[d] - 1) * x.strides[d];
        (reach < 0 ? low : high) += reach;
    }
    const std::int64_t size = itemsize(x.dtype);
    return {low * size, (high - low + 1) * size};
}

}  // namespace

device::Queue* queue_of_copies() {
    static device::Queue* const queue = cpu::whole_cpu()->create_queue(QueueOrder::OutOfOrder, false).detach();  // leaked, as devices are
    return queue;
}

CopiedOperands::CopiedOperands(device::Queue* queue) : queue_(queue), host_(queue_of_copies()) {
    counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
}

Memory CopiedOperands::read(const Memory& x) {
    if (!x) return x;
    const Stretch stretch = stretch_of(x);
    Memory there = x;
    there.buffer = make_scratch_bytes(host_, stretch.bytes).buffer;
    there.offset = -stretch.low / itemsize(x.dtype);
    if (stretch.bytes == 0) return there;
    const std::int64_t from = x.offset * itemsize(x.dtype) + stretch.low;
    count_copy(stretch.bytes);
    (void)queue_->copy(there.buffer.get(), 0, x.buffer.get(), static_cast<std::size_t>(from), static_cast<std::size_t>(stretch.bytes));
    return there;
}

Memory CopiedOperands::written(const Memory& x) {
    if (!x) return x;
    Memory there = x;
    there.buffer = make_scratch_bytes(host_, x.nbytes()).buffer;
    there.offset = 0;
    results_.push_back({there, x});
    return there;
}

Memory CopiedOperands::updated(const Memory& x) {
    Memory there = read(x);
    if (there) results_.push_back({there, x});
    return there;
}

std::vector<Memory> CopiedOperands::written(std::span<const Memory> list) {
    std::vector<Memory> there;
    for (const Memory& x : list) there.push_back(written(x));
    return there;
}

Bounds CopiedOperands::read(const Bounds& bounds) {
    Bounds there = bounds;
    for (Bounds::Row& row : there.rows) row.indices = read(row.indices);
    return there;
}

void CopiedOperands::finish() {
    for (const auto& [there, here] : results_) {
        const Stretch stretch = stretch_of(here);
        if (stretch.bytes == 0) continue;
        const std::int64_t to = here.offset * itemsize(here.dtype) + stretch.low;
        count_copy(stretch.bytes);
        const Event event =
            queue_->copy(here.buffer.get(), static_cast<std::size_t>(to), there.buffer.get(), 0, static_cast<std::size_t>(stretch.bytes));
        if (device::externally_visible(here.buffer.get(), device::Access::Write)) device::finish_without_locks(event);
    }
}

}  // namespace pardo::routines
