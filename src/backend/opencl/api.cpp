// src/backend/opencl/api.cpp: the OpenCL back end as the registry and tests see it.
#include <mutex>

#include <pardo/error.h>

#include "backend/opencl/device.h"
#include "backend/opencl/opencl.h"
#include "base/env.h"
#include "base/fork.h"
#include "device/queue/queue.h"

namespace pardo::opencl {
namespace {

class OpenClBackend final : public device::Backend {
public:
    std::string_view name() const noexcept override { return "opencl"; }
    device::BackendFacts facts() const noexcept override {
        return {.text = "opencl", .text_name = "OpenCL C", .takes_spirv = true, .has_offsets = true};
    }

    const std::vector<device::Platform>& platforms() override {
        std::lock_guard lock(mutex_);
        if (!looked_) look();
        return platforms_;
    }

    std::string unavailable() override { return platforms().empty() ? reason_ : broken_drivers(); }

    std::string versions() override {
        (void)platforms();
        std::string text;
        for (const device::Platform& p : platforms_) text += (text.empty() ? "" : " · ") + p.name + " (" + p.version + ")";
        if (!loader_.empty()) text += (text.empty() ? "" : " · ") + ("loader " + loader_);
        return text;
    }

private:
    void look() {
        const std::string memory = env("PARDO_OPENCL_MEMORY").value_or("usm");
        if (memory != "usm" && memory != "svm" && memory != "buffer")
            throw Error(ErrorCode::Value, "PARDO_OPENCL_MEMORY=" + memory + ": it is usm, svm or buffer");
        const std::string routines = env("PARDO_OPENCL_ROUTINES").value_or("host");
        if (routines != "host" && routines != "kernels")
            throw Error(ErrorCode::Value, "PARDO_OPENCL_ROUTINES=" + routines + ": it is host or kernels");
        device::driver_in_use();  // drivers start threads as soon as they are asked anything
        const Found found = find_platforms();
        loader_ = found.loader;
        reason_ = found.reason;
        int index = 0;
        for (const FoundPlatform& p : found.platforms) add(p, index);
        if (platforms_.empty() && reason_.empty()) reason_ = "OpenCL has platforms, but none of them has a device that compiles kernels";
        looked_ = true;
    }

    void add(const FoundPlatform& p, int& index) {
        cl_uint count = 0;
        if (p.api->clGetDeviceIDs(p.id, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) return;
        std::vector<cl_device_id> handles(count);
        if (p.api->clGetDeviceIDs(p.id, CL_DEVICE_TYPE_ALL, count, handles.data(), nullptr) != CL_SUCCESS) return;
        std::erase_if(handles, [&](cl_device_id d) {
            return !device_value<cl_bool>(*p.api, d, CL_DEVICE_AVAILABLE) ||
                   !device_value<cl_bool>(*p.api, d, CL_DEVICE_COMPILER_AVAILABLE);
        });
        if (handles.empty()) return;
        device::Platform platform;
        for (cl_device_id handle : handles) {
            // A context for each device: in one that two GPUs share, NVIDIA's driver refuses the arguments of kernels that were built
            // for one of them, and leaves memory that the other wrote stale. Both live as long as the process.
            auto* context = new PlatformContext(p, {handle});
            if (platform.devices.empty()) platform = {context->name(), context->vendor(), context->version(), {}};
            platform.devices.push_back(new OpenClDevice(this, context, handle, "opencl:" + std::to_string(index++), nullptr));
        }
        platforms_.push_back(std::move(platform));
    }

    HeldMutex mutex_;
    bool looked_ = false;
    std::vector<device::Platform> platforms_;
    std::string loader_, reason_;
};

OpenClBackend* instance = nullptr;  // set by register_backend, owned by the registry

}  // namespace

void register_backend() {
    auto backend = std::make_unique<OpenClBackend>();
    instance = backend.get();
    device::register_backend(std::move(backend));
}

std::string memory_path(device::Device* device) {
    if (device->backend() != instance) throw Error(ErrorCode::Internal, device->id() + " is not a device of the OpenCL back end");
    switch (static_cast<OpenClDevice*>(device)->path()) {
        case MemoryPath::Usm: return "usm";
        case MemoryPath::SvmFine:
        case MemoryPath::SvmCoarse: return "svm";
        default: return "buffer";
    }
}

}  // namespace pardo::opencl
