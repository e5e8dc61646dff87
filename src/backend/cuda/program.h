// src/backend/cuda/program.h: loaded kernels.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/libraries/driver.h"
#include "device/program.h"
#include "device/text.h"
#include "emit/c/geometry.h"
#include "jit/cache.h"

namespace pardo::cuda {

class CudaDevice;

/// How a kernel's range becomes blocks of threads.
struct Grid {
    bool by_geometry = false;  // the kernel takes the extents after its arguments; else the launch says how many groups
    emit::CGeometry geometry;
    int group_size = 1;
    int rank = 1;               // dimensions of a launch
    int params = 0;             // slots of a launch's arguments
    bool overlap = false;       // begins while the launch before ends, and waits for that itself
    bool reversible = false;    // takes one more: whether the groups come in reverse order
    emit::CGroups groups;       // of a kernel in groups
    unsigned shared_bytes = 0;  // of a group's arrays that the launch asks for
};

/// Machine code for one architecture; each device loads it when it first launches it.
class CudaProgram final : public device::Program {
public:
    CudaProgram(std::string name, std::string entry, const Grid& grid, jit::Binary binary);
    ~CudaProgram() override;

    const Grid& grid() const noexcept { return grid_; }
    /// The kernel on a device whose context is current. Throws Device when the driver refuses it.
    FunctionHandle function_on(CudaDevice& device) {
        const auto i = static_cast<std::size_t>(ordinal_of(device));
        FunctionHandle f = i < fast_.size() ? fast_[i].load(std::memory_order_acquire) : nullptr;
        return f ? f : load_on(device);
    }

private:
    struct Loaded {
        CudaDevice* device;
        ModuleHandle module;
        FunctionHandle function;
    };
    static int ordinal_of(const CudaDevice& device) noexcept;
    FunctionHandle load_on(CudaDevice& device);

    const std::string entry_;
    const Grid grid_;
    const jit::Binary binary_;
    std::array<std::atomic<FunctionHandle>, 16> fast_{};  // by the device's ordinal
    std::mutex mutex_;
    std::vector<Loaded> loaded_;
};

/// Loads machine code or PTX on a device whose context is current. Throws Device with the driver's words and what to do.
ModuleHandle load_module(CudaDevice& device, const std::string& name, const jit::Binary& image);

/// Text of the user, loaded on one device.
class CudaTextProgram final : public device::TextProgram {
public:
    /// Loads `image`, the kernels of which `declared` describes.
    static Ref<device::Program> load(CudaDevice& device, std::vector<device::TextKernel> declared, const jit::Binary& image,
                                     device::ProgramBinary binary, std::string log);
    ~CudaTextProgram() override;

private:
    /// A module that is unloaded in the end.
    class Module;
    CudaTextProgram(std::unique_ptr<Module> module, std::vector<FunctionHandle> functions, std::vector<device::TextKernel> kernels,
                    device::ProgramBinary binary, std::string log);
    void enqueue(device::Stream& stream, std::size_t kernel, const device::TextLaunch& launch, const device::NativeOrder& order) override;

    const std::unique_ptr<Module> module_;
    const std::vector<FunctionHandle> functions_;
};

}  // namespace pardo::cuda
