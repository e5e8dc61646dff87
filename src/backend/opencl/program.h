// src/backend/opencl/program.h: kernels built for one OpenCL device.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/opencl/device.h"
#include "device/program.h"
#include "device/text.h"
#include "emit/c/geometry.h"

namespace pardo::opencl {

class OpenClProgram final : public device::Program {
public:
    /// `params`: as of device::SourceKernel, and 'h' and 'b' for scalars of two bytes and one. `shape`: how groups cover the extents of a
    /// launch, which follow the arguments then; 0: one group for each of extents[0]. `reversible`: the last parameter says whether the
    /// groups come in reverse order. `groups`: of a kernel in groups. Takes the objects over.
    OpenClProgram(std::string name, const Api& api, cl_program program, cl_kernel kernel, std::string params, device::ShapeClass shape,
                  bool reversible, int group_size, emit::CGroups groups);
    ~OpenClProgram() override;

    const std::string& params() const noexcept { return params_; }
    device::ShapeClass shape() const noexcept { return shape_; }
    bool reversible() const noexcept { return reversible_; }
    int group_size() const noexcept { return group_size_; }
    const emit::CGroups& groups() const noexcept { return groups_; }
    /// Arguments belong to the kernel, not to the launch: the thread that sets them holds the lock until the launch is enqueued.
    cl_kernel kernel() const noexcept { return kernel_; }
    std::mutex& mutex() noexcept { return mutex_; }

private:
    const Api& api_;
    cl_program program_;
    cl_kernel kernel_;
    std::string params_;
    device::ShapeClass shape_;
    bool reversible_;
    int group_size_;
    emit::CGroups groups_;
    std::mutex mutex_;
};

struct ReleaseKernel {
    const Api* api;
    void operator()(cl_kernel kernel) const { api->clReleaseKernel(kernel); }
};
using KernelHandle = std::unique_ptr<std::remove_pointer_t<cl_kernel>, ReleaseKernel>;
struct ReleaseProgram {
    const Api* api;
    void operator()(cl_program program) const { api->clReleaseProgram(program); }
};
using ProgramHandle = std::unique_ptr<std::remove_pointer_t<cl_program>, ReleaseProgram>;

/// Text of the user, built for one OpenCL device.
class OpenClTextProgram final : public device::TextProgram {
public:
    OpenClTextProgram(const OpenClDevice& device, ProgramHandle program, std::vector<device::TextKernel> kernels,
                      std::vector<KernelHandle> handles, device::ProgramBinary binary, std::string log);
    ~OpenClTextProgram() override;
    void enqueue(device::Stream& stream, std::size_t kernel, const device::TextLaunch& launch, const device::NativeOrder& order) override;

private:
    ProgramHandle program_;
    std::vector<KernelHandle> handles_;
    std::mutex mutex_;  // as OpenClProgram's, of all its kernels
};

}  // namespace pardo::opencl
