// src/backend/cuda/memory.h: memory as the driver gives it, for the caching allocator.
#pragma once

#include "device/memory/caching_allocator.h"

namespace pardo::cuda {

class CudaDevice;

/// Device: cuMemAlloc; Host: pinned; Shared: managed.
class CudaMemory final : public device::RawMemory {
public:
    explicit CudaMemory(CudaDevice* device) : device_(device) {}
    bool allocate(std::size_t bytes, std::size_t wanted, MemoryKind kind, device::RawBlock& block) override;
    void free(const device::RawBlock& block, std::size_t bytes, MemoryKind kind) noexcept override;
    bool host_visible(MemoryKind kind) const noexcept override { return kind != MemoryKind::Device; }
    std::int64_t total_bytes() const noexcept override;
    std::int64_t largest_block() const noexcept override { return total_bytes(); }
    std::int64_t free_bytes() const noexcept override;

private:
    CudaDevice* device_;
};

}  // namespace pardo::cuda
