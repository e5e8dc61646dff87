// src/backend/cuda/api.cpp: the CUDA back end as the registry sees it.
#include <mutex>
#include <new>

#include "backend/cuda/cuda.h"
#include "backend/cuda/device.h"
#include "backend/cuda/libraries/nvrtc.h"
#include "base/fork.h"

namespace pardo::cuda {
namespace {

class CudaBackend final : public device::Backend {
public:
    CudaBackend() { renew_at_fork(mutex_); }
    std::string_view name() const noexcept override { return "cuda"; }
    device::BackendFacts facts() const noexcept override { return {.text = "cuda", .text_name = "CUDA C++", .knows_addresses = true}; }

    const std::vector<device::Platform>& platforms() override {
        std::lock_guard lock(mutex_);
        look();
        return platforms_;
    }

    std::string unavailable() override {
        std::lock_guard lock(mutex_);
        look();
        return reason_;
    }

    std::string versions() override {
        std::string reason;
        const Driver* d = load_driver(reason);
        const std::string compiler = nvrtc_version();
        std::string text = d ? "driver CUDA " + version_text(d->version) : "";
        if (!compiler.empty()) text += (text.empty() ? "" : " · ") + compiler;
        return text;
    }

private:
    /// Finds the devices, once. Makes no context.
    void look() {
        if (looked_) return;
        looked_ = true;
        const Driver* d = load_driver(reason_);
        if (!d) return;
        int count = 0;
        if (const Result failed = d->cuDeviceGetCount(&count); failed != result::success) {
            reason_ = "cuDeviceGetCount failed: " + d->describe(failed);
            return;
        }
        device::Platform platform{"NVIDIA CUDA", "NVIDIA Corporation", version_text(d->version), {}};
        for (int i = 0; i < count; ++i) {
            DeviceHandle handle = 0;
            if (d->cuDeviceGet(&handle, i) == result::success) platform.devices.push_back(new CudaDevice(this, i, handle));  // for ever
        }
        if (platform.devices.empty()) {
            reason_ =
                "the driver (CUDA " + version_text(d->version) + ") has no devices; CUDA_VISIBLE_DEVICES hides those it does not list";
            return;
        }
        platforms_.push_back(std::move(platform));
    }

    std::mutex mutex_;
    bool looked_ = false;
    std::string reason_;
    std::vector<device::Platform> platforms_;
};

CudaBackend* instance = nullptr;  // set by register_backend, owned by the registry

}  // namespace

void register_backend() {
    auto backend = std::make_unique<CudaBackend>();
    instance = backend.get();
    device::register_backend(std::move(backend));
}

bool is_cuda(const device::Device* device) noexcept { return device && device->backend() == instance; }

}  // namespace pardo::cuda
