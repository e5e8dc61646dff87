// src/backend/null/interpreted.h: the null device's twin, which lacks what a device may lack, and computes: by the interpreter of IR.
#pragma once

#include "backend/null/device.h"
#include "emit/c/target.h"
#include "ir/ir.h"

namespace pardo::null {

/// A kernel as a compiler of text would get it.
class InterpretedProgram final : public NullProgram {
public:
    explicit InterpretedProgram(ir::Kernel kernel) : NullProgram(kernel.name, {}), kernel_(std::move(kernel)) {}
    const ir::Kernel& kernel() const noexcept { return kernel_; }

private:
    ir::Kernel kernel_;
};

/// A device without float64, float16, 64-bit atomics, sub-groups, shared memory, addresses of the host, or a compiler of text; with groups
/// of 16 items and 1 KiB for each. What layers above take for granted fails here.
class InterpretedDevice final : public NullDevice {
public:
    explicit InterpretedDevice(device::Backend* backend);

    std::string id() const override { return "null:1"; }
    bool supports(DType dtype) const noexcept override { return dtype != DType::Float64 && dtype != DType::Complex128; }
    bool can(device::Feature) const noexcept override { return false; }
    device::Execution execution() const noexcept override { return device::Execution::Groups; }
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    device::ShapeClass shape_class(const ir::Kernel& kernel, const device::LaunchShape& shape) const override;
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass shape) override;
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

    std::function<void()> work_of(const device::Launch& launch) override;
    void record(Record) override {}

private:
    /// Lowered for it; throws as the emitter of text does.
    ir::Kernel lowered(const ir::Kernel& kernel, device::ShapeClass shape) const;

    emit::CFeatures features_;
    std::mutex running_;  // one kernel at a time: the interpreter's atomics rely on it
};

}  // namespace pardo::null
