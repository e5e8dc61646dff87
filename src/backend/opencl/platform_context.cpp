// src/backend/opencl/platform_context.cpp: contexts, made late, and questions to a driver.
#include "backend/opencl/platform_context.h"

#include <cstdio>
#include <utility>

#include "backend/opencl/quirks.h"
#include "device/queue/queue.h"

namespace pardo::opencl {
namespace {

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
    text.erase(0, text.find_first_not_of(' ') == std::string::npos ? text.size() : text.find_first_not_of(' '));
    return text;
}

std::string platform_text(FoundPlatform p, cl_platform_info what) {
    std::size_t bytes = 0;
    if (p.api->clGetPlatformInfo(p.id, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
    std::string text(bytes, '\0');
    if (p.api->clGetPlatformInfo(p.id, what, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
    return trimmed(std::move(text));
}

}  // namespace

PlatformContext::PlatformContext(FoundPlatform platform, std::vector<cl_device_id> devices)
    : platform_(platform),
      devices_(std::move(devices)),
      name_(platform_text(platform, CL_PLATFORM_NAME)),
      vendor_(platform_text(platform, CL_PLATFORM_VENDOR)),
      version_(platform_text(platform, CL_PLATFORM_VERSION)) {
    set_environment(name_, version_);
    const auto load = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            api().clGetExtensionFunctionAddressForPlatform(platform.id, name));
    };
    load(usm_.host_alloc, "clHostMemAllocINTEL");
    load(usm_.device_alloc, "clDeviceMemAllocINTEL");
    load(usm_.shared_alloc, "clSharedMemAllocINTEL");
    load(usm_.free, "clMemFreeINTEL");
    load(usm_.info, "clGetMemAllocInfoINTEL");
    load(usm_.set_argument, "clSetKernelArgMemPointerINTEL");
    load(usm_.fill, "clEnqueueMemFillINTEL");
    load(usm_.copy, "clEnqueueMemcpyINTEL");
    load(usm_.migrate, "clEnqueueMigrateMemINTEL");
}

cl_context PlatformContext::handle() {
    if (cl_context known = context_.load(std::memory_order_acquire)) return known;
    std::lock_guard lock(mutex_);
    if (cl_context known = context_.load(std::memory_order_acquire)) return known;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform_.id), 0};
    cl_int code = CL_SUCCESS;
    cl_context made = api().clCreateContext(properties, static_cast<cl_uint>(devices_.size()), devices_.data(), nullptr, nullptr, &code);
    check(code, "clCreateContext");
    context_.store(made, std::memory_order_release);
    return made;
}

std::string device_text(const Api& api, cl_device_id device, cl_device_info what) {
    const std::vector<char> text = device_values<char>(api, device, what);
    return trimmed(std::string(text.begin(), text.end()));
}

bool has_version(const Api& api, cl_device_id device, int major, int minor) {
    int has_major = 0, has_minor = 0;  // "OpenCL 3.0 PoCL 3.1"
    if (std::sscanf(device_text(api, device, CL_DEVICE_VERSION).c_str(), "OpenCL %d.%d", &has_major, &has_minor) != 2) return false;
    return std::pair(has_major, has_minor) >= std::pair(major, minor);
}

bool has_extension(const Api& api, cl_device_id device, std::string_view name) {
    const std::string all = " " + device_text(api, device, CL_DEVICE_EXTENSIONS) + " ";
    return all.find(" " + std::string(name) + " ") != std::string::npos;
}

}  // namespace pardo::opencl
