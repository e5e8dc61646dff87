// src/backend/opencl/platform_context.h: devices that share a context: one device of a platform, or the parts of one device.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "backend/opencl/loader.h"

namespace pardo::opencl {

/// Functions of cl_intel_unified_shared_memory; null where the platform has none.
struct UsmApi {
    clHostMemAllocINTEL_fn host_alloc = nullptr;
    clDeviceMemAllocINTEL_fn device_alloc = nullptr;
    clSharedMemAllocINTEL_fn shared_alloc = nullptr;
    clMemFreeINTEL_fn free = nullptr;
    clGetMemAllocInfoINTEL_fn info = nullptr;
    clSetKernelArgMemPointerINTEL_fn set_argument = nullptr;
    clEnqueueMemFillINTEL_fn fill = nullptr;
    clEnqueueMemcpyINTEL_fn copy = nullptr;
    clEnqueueMigrateMemINTEL_fn migrate = nullptr;  // a hint: what has all the others may lack it
    bool whole() const { return host_alloc && device_alloc && shared_alloc && free && info && set_argument && fill && copy; }
};

/// The last launch of the kernels whose names share a slot, for drivers that take no two of one kernel at the same time.
struct Turn {
    std::mutex mutex;
    cl_event last = nullptr;
};

/// A context, made when it is first needed, and the way to the driver. Lives as long as the process.
class PlatformContext {
public:
    PlatformContext(FoundPlatform platform, std::vector<cl_device_id> devices);

    const Api& api() const noexcept { return *platform_.api; }
    const UsmApi& usm() const noexcept { return usm_; }
    FoundPlatform platform() const noexcept { return platform_; }
    /// "Portable Computing Language", "OpenCL 3.0 PoCL 3.1".
    const std::string& name() const noexcept { return name_; }
    const std::string& vendor() const noexcept { return vendor_; }
    const std::string& version() const noexcept { return version_; }
    cl_context handle();
    Turn& turn_of(const std::string& kernel) { return turns_[std::hash<std::string>()(kernel) % turns_.size()]; }

private:
    FoundPlatform platform_;
    std::vector<cl_device_id> devices_;
    UsmApi usm_;
    std::string name_, vendor_, version_;
    std::mutex mutex_;
    std::atomic<cl_context> context_{nullptr};
    std::array<Turn, 64> turns_;
};

/// Information about an OpenCL device; what it cannot tell is zero, empty, false.
template <class T> T device_value(const Api& api, cl_device_id device, cl_device_info what, T otherwise = T()) {
    T value = otherwise;
    std::size_t bytes = 0;
    if (api.clGetDeviceInfo(device, what, sizeof value, &value, &bytes) != CL_SUCCESS || bytes != sizeof value) return otherwise;
    return value;
}
template <class T> std::vector<T> device_values(const Api& api, cl_device_id device, cl_device_info what) {
    std::size_t bytes = 0;
    if (api.clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
    std::vector<T> values(bytes / sizeof(T));
    if (!values.empty() && api.clGetDeviceInfo(device, what, bytes, values.data(), nullptr) != CL_SUCCESS) values.clear();
    return values;
}
std::string device_text(const Api& api, cl_device_id device, cl_device_info what);
/// True when the device's OpenCL is of this version or newer.
bool has_version(const Api& api, cl_device_id device, int major, int minor);
/// True when the device lists the extension.
bool has_extension(const Api& api, cl_device_id device, std::string_view name);

}  // namespace pardo::opencl
