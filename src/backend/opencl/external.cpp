// src/backend/opencl/external.cpp: what a driver of OpenCL lacks for memory and semaphores that other drivers have too.
#include "device/external.h"

#include "backend/opencl/device.h"

namespace pardo::opencl {
namespace {

/// Memory of others would be an object without an address, which the paths of addresses cannot hold, and no driver of OpenCL's makes memory
/// for others or has timeline semaphores. So it is said what is missing first.
class OpenClExternal final : public device::External {
public:
    explicit OpenClExternal(OpenClDevice* device) : External(device), opencl_(device) {}

    std::string lacks(ExternalUse use) const override {
        const auto missing = [&](const char* extension) { return !has_extension(opencl_->api(), opencl_->handle(), extension); };
        switch (use) {
            case ExternalUse::Make: return "makes no memory for other drivers, which OpenCL has no function for";
            case ExternalUse::Timeline: return "has no timeline semaphores, which OpenCL does not know";
            case ExternalUse::Open:
                if (missing("cl_khr_external_memory_opaque_fd")) return "lacks cl_khr_external_memory_opaque_fd";
                break;
            case ExternalUse::Binary:
                if (missing("cl_khr_external_semaphore_opaque_fd")) return "lacks cl_khr_external_semaphore_opaque_fd";
                break;
        }
        return "takes descriptors, but pardo gives them to CUDA's driver only: take the same GPU as a device of 'cuda'";
    }

private:
    OpenClDevice* opencl_;
};

}  // namespace

std::shared_ptr<device::External> OpenClDevice::make_external() { return std::make_shared<OpenClExternal>(this); }

}  // namespace pardo::opencl
