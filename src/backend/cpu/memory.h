// src/backend/cpu/memory.h: memory of the host, for the caching allocator.
#pragma once

#include "device/memory/caching_allocator.h"

namespace pardo::cpu {

/// 64-byte aligned, huge pages from 2 MiB on; large blocks begin at different places of a page.
class CpuMemory final : public device::RawMemory {
public:
    CpuMemory(bool host_visible, std::int64_t total) : host_visible_(host_visible), total_(total) {}
    device::MemoryPolicy policy() const override;
    bool allocate(std::size_t bytes, std::size_t wanted, MemoryKind kind, device::RawBlock& block) override;
    void free(const device::RawBlock& block, std::size_t bytes, MemoryKind kind) noexcept override;
    bool host_visible(MemoryKind) const noexcept override { return host_visible_; }
    std::int64_t total_bytes() const noexcept override { return total_; }
    std::int64_t largest_block() const noexcept override { return total_; }
    std::int64_t free_bytes() const noexcept override;
    void wait_for_work() override;

private:
    std::size_t next_place();
    const bool host_visible_;
    const std::int64_t total_;
    std::atomic<std::size_t> place_{0};  // where the youngest large block begins, in lines of its first page
};

}  // namespace pardo::cpu
