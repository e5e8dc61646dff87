// src/backend/cpu/device.h: the CPU as a device, and parts of it.
#pragma once

#include <memory>
#include <string>

#include "backend/cpu/memory.h"
#include "backend/cpu/threads/threads.h"
#include "device/device.h"

namespace pardo::cpu {

/// All cores that the process may use, or some of them, with the memory of the machine.
class CpuDevice final : public device::Device {
public:
    explicit CpuDevice(device::Backend* backend);
    /// A part of `parent` whose work stays on `cores`. It shares the parent's memory and allocator.
    CpuDevice(CpuDevice* parent, std::string id, CoreList cores, const Partition& how);

    device::Backend* backend() const noexcept override { return backend_; }
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return id_; }
    device::Device* parent() const noexcept override { return parent_; }
    bool supports(DType dtype) const noexcept override;
    std::optional<std::int64_t> free_memory() override;
    Ref<device::Queue> create_queue(QueueOrder order, bool profiling) override;
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    MemoryStats memory_stats() const override { return allocator_->stats(); }
    void trim_memory() override { allocator_->trim(); }
    void set_memory_limit(std::int64_t bytes) override { allocator_->set_limit(bytes); }
    void reset_memory_peak() override { allocator_->reset_peak(); }
    device::Execution execution() const noexcept override { return execution_; }
    device::NativeApi native_api() const noexcept override { return device::NativeApi::Host; }
    bool can(device::Feature feature) const noexcept override;
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass shape) override;
    Ref<device::Program> known_program(const ir::Kernel& kernel, device::ShapeClass shape) override;
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

    ThreadPool& pool() noexcept { return pool_; }
    int threads() const noexcept { return pool_.threads(); }
    /// Whether its threads stay on its cores: those of a sub-device do.
    bool bound() const noexcept { return !pool_.cores().empty(); }
    /// The cores that work may run on; empty when the system does not tell.
    const CoreList& cores() const noexcept { return cores_; }

protected:
    std::vector<device::Device*> make_sub_devices(const Partition& partition) override;

private:
    device::Backend* backend_;
    CpuDevice* parent_ = nullptr;
    std::string id_;
    CoreList cores_;  // neighbours next to each other
    DeviceInfo info_;
    device::Execution execution_;
    ThreadPool pool_;
    std::unique_ptr<device::CachingAllocator> own_allocator_;
    device::CachingAllocator* allocator_;  // of the whole device
};

/// What the system says about this machine; fields that it does not tell stay zero, empty or without a value.
DeviceInfo machine_facts(const CoreList& cores);
/// The facts of a part: those of the whole, with what depends on the number of cores.
DeviceInfo facts_of_part(DeviceInfo whole, const CoreList& cores, const Partition& how);
/// MemAvailable of the machine in bytes, or less in a container; 0 when it cannot be read.
std::int64_t available_memory();

}  // namespace pardo::cpu
