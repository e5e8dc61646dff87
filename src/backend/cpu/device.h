// src/backend/cpu/device.h: the CPU as a device.
#pragma once

#include <mutex>

#include "backend/cpu/memory.h"
#include "backend/cpu/threads.h"
#include "device/device.h"

namespace pardo::cpu {

/// All cores that the process may use, with the memory of the machine.
class CpuDevice final : public device::Device {
public:
    explicit CpuDevice(device::Backend* backend);

    device::Backend* backend() const noexcept override { return backend_; }
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return "cpu:0"; }
    bool supports(DType) const noexcept override { return true; }
    Ref<device::Queue> create_queue(QueueOrder order, bool profiling) override;
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    MemoryStats memory_stats() const override { return allocator_.stats(); }
    void trim_memory() override { allocator_.trim(); }
    void set_memory_limit(std::int64_t bytes) override { allocator_.set_limit(bytes); }
    void reset_memory_peak() override { allocator_.reset_peak(); }
    device::Execution execution() const noexcept override { return execution_; }
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass shape) override;
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

    ThreadPool& pool() noexcept { return pool_; }
    int threads() const noexcept { return pool_.threads(); }

private:
    device::Backend* backend_;
    DeviceInfo info_;
    device::Execution execution_;
    ThreadPool pool_;
    mutable Allocator allocator_;
};

/// What the system says about this machine; fields that it does not tell stay zero or empty.
DeviceInfo machine_facts();

}  // namespace pardo::cpu
