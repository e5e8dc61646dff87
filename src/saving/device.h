// src/saving/device.h: the device on which a function runs while it is exported: its memory is a number, and its work is noted.
// This folder: from a function to a saved program, and from a file to launches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "ir/ir.h"

namespace pardo::saving {

/// Throws Value: what cannot be exported, and why.
[[noreturn]] void refuse(const std::string& why);

/// A kernel that is to be compiled when all that the function does is known.
class NotedProgram final : public device::Program {
public:
    explicit NotedProgram(const ir::Kernel& of) : Program(of.name), kernel(of) {}
    const ir::Kernel kernel;
};

class Notes;

/// Memory that is not there.
class NotedBuffer final : public device::Buffer {
public:
    NotedBuffer(device::Device* device, const Notes& run, std::uint32_t number, std::size_t bytes);
    bool host_visible() const noexcept override { return false; }
    const std::uint64_t run;     // the serial number of the run of the function that it belongs to
    const std::uint32_t number;  // in the order of allocation within that run
    /// What the host, or another device, has written into it.
    std::vector<std::uint8_t> contents;
};

/// What a run of the function asks for.
class Notes {
public:
    Notes();
    virtual ~Notes() = default;
    /// Tells runs apart, also those that are over.
    std::uint64_t serial() const noexcept { return serial_; }
    /// The number of a block of memory; of which size it is, is one of the numbers of the run.
    virtual std::uint32_t allocated(std::size_t bytes) = 0;
    /// Contents that no launch may have seen before.
    virtual void wrote(NotedBuffer& buffer) = 0;

private:
    std::uint64_t serial_;
};

/// What a function is exported for: the planner and those that write kernels go by it.
enum class DeviceKind : std::uint8_t {
    Cpu,        // a processor whose kernels are vector code made here
    Processor,  // one that a driver compiles text for
    Groups,     // a device that runs groups of items
};

/// Stands for any device of a kind. Each export has one, which it leaves to later ones: devices live as long as the process.
class NotingDevice final : public device::Device {
public:
    /// One that no export has; give_back() is for when that is over.
    static NotingDevice& borrow(DeviceKind kind);
    static void give_back(NotingDevice& device);
    DeviceKind kind() const noexcept { return kind_; }
    /// Null: between two runs nothing may use the device.
    void note_to(Notes* notes) noexcept { notes_ = notes; }
    Notes& notes() const;

    device::Backend* backend() const noexcept override;
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return "export"; }
    bool supports(DType) const noexcept override { return true; }
    bool can(device::Feature feature) const noexcept override;
    device::Execution execution() const noexcept override {
        return kind_ == DeviceKind::Groups ? device::Execution::Groups : device::Execution::Lanes;
    }
    Ref<device::Queue> create_queue(QueueOrder order, bool profiling) override;
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    MemoryStats memory_stats() const override { return {}; }
    void trim_memory() override {}
    void set_memory_limit(std::int64_t) override {}
    void reset_memory_peak() override {}
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass) override { return new NotedProgram(kernel); }
    Ref<device::Program> known_program(const ir::Kernel& kernel, device::ShapeClass) override { return new NotedProgram(kernel); }
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

private:
    explicit NotingDevice(DeviceKind kind);
    const DeviceKind kind_;
    const std::unique_ptr<device::Backend> backend_;
    DeviceInfo info_;
    Notes* notes_ = nullptr;
};

}  // namespace pardo::saving
