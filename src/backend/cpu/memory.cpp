// src/backend/cpu/memory.cpp: memory of the host: from the C library, and in huge pages from the system.
#include "backend/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "backend/cpu/device.h"
#include "device/queue/scheduler.h"

namespace pardo::cpu {

namespace {

constexpr std::size_t line = 64, page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;     // from here on blocks are mapped
constexpr std::size_t spread_from = std::size_t{32} << 10;  // from here on blocks begin anywhere in their first page

void* page_of(void* data) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) & ~(page - 1)); }

/// In huge pages, from `place` of the first page on; null when the system has none left.
void* map(std::size_t bytes, std::size_t wanted, std::size_t place) {
    const std::size_t mapped = bytes + page, padded = mapped + huge_page;
    void* raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    const auto start = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t aligned = (start + huge_page - 1) & ~(huge_page - 1);
    if (aligned > start) munmap(raw, aligned - start);
    if (const std::size_t tail = start + padded - (aligned + mapped)) munmap(reinterpret_cast<void*>(aligned + mapped), tail);
    auto* base = reinterpret_cast<char*>(aligned);
    madvise(base, mapped, MADV_HUGEPAGE);
    // A huge page of which less than half is wanted would waste more than a megabyte: small ones there.
    const std::size_t end = place + wanted, whole = end & ~(huge_page - 1), rest = end - whole;
    if (whole > 0 && rest < huge_page / 2 && whole < mapped) madvise(base + whole, std::min(huge_page, mapped - whole), MADV_NOHUGEPAGE);
    return base + place;
}

}  // namespace

device::MemoryPolicy CpuMemory::policy() const {
    device::MemoryPolicy policy;
    policy.granule = line;
    policy.small_limit = 4096;
    policy.most_slab = policy.least_slab;
    policy.most_cached = total_ / 2;
    policy.kinds = policy.driver = false;
    return policy;
}

bool CpuMemory::allocate(std::size_t bytes, std::size_t wanted, MemoryKind, device::RawBlock& block) {
    if (bytes < spread_from) {
        block.data = std::aligned_alloc(line, bytes);
    } else if (bytes < huge_page) {
        auto* base = static_cast<char*>(std::aligned_alloc(page, bytes + page));
        block.data = base ? base + next_place() : nullptr;
    } else {
        block.data = map(bytes, wanted, next_place());
    }
    return block.data != nullptr;
}

void CpuMemory::free(const device::RawBlock& block, std::size_t bytes, MemoryKind) noexcept {
    if (bytes < spread_from) {
        std::free(block.data);
    } else if (bytes < huge_page) {
        std::free(page_of(block.data));
    } else {
        munmap(page_of(block.data), bytes + page);
    }
}

/// Where in its first page the next block begins. A load waits for a store shortly before if both addresses end in the same twelve bits,
/// as they would wherever a kernel goes through several arrays that all begin pages. Steps by the golden section keep any few blocks apart.
std::size_t CpuMemory::next_place() {
    constexpr std::size_t lines = page / line, step = 25;
    return (place_.fetch_add(step, std::memory_order_relaxed) + step) % lines * line;
}

std::int64_t CpuMemory::free_bytes() const noexcept {
    const std::int64_t bytes = available_memory();
    return bytes == 0 ? -1 : bytes;
}

void CpuMemory::wait_for_work() { device::wait_for_queues(device::Runner::Process); }

}  // namespace pardo::cpu
