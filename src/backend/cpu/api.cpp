// src/backend/cpu/api.cpp: the CPU back end as the registry and library routines see it.
#include <llvm/Config/llvm-config.h>
#include <sleef.h>
#include <tbb/version.h>

#include <mutex>

#include <pardo/error.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/device.h"
#include "backend/cpu/launch.h"
#include "base/fork.h"

namespace pardo::cpu {
namespace {

class CpuBackend final : public device::Backend {
public:
    std::string_view name() const noexcept override { return "cpu"; }

    const std::vector<device::Platform>& platforms() override {
        std::lock_guard lock(mutex_);
        if (!platforms_.empty()) return platforms_;
        auto* device = new CpuDevice(this);  // lives as long as the process
        platforms_.push_back({"pardo CPU", "pardo", PARDO_VERSION, {device}});
        return platforms_;
    }

    std::string versions() override {
        return std::string("LLVM ") + LLVM_VERSION_STRING + " · SLEEF " + std::to_string(SLEEF_VERSION_MAJOR) + "." +
               std::to_string(SLEEF_VERSION_MINOR) + "." + std::to_string(SLEEF_VERSION_PATCHLEVEL) + " · oneTBB " + TBB_runtime_version();
    }

private:
    HeldMutex mutex_;
    std::vector<device::Platform> platforms_;
};

CpuBackend* instance = nullptr;  // set by register_backend, owned by the registry

}  // namespace

void register_backend() {
    auto backend = std::make_unique<CpuBackend>();
    instance = backend.get();
    device::register_backend(std::move(backend));
}

bool is_cpu(const device::Device* device) noexcept { return device && device->backend() == instance; }

device::Device* whole_cpu() { return instance->platforms().front().devices.front(); }

void parallel_for(device::Device* device, std::int64_t count, double cost_ns, const std::function<void(std::int64_t, std::int64_t)>& f) {
    if (is_cpu(device)) return run_range(static_cast<CpuDevice*>(device)->pool(), count, cost_ns, f);
    if (count > 0) f(0, count);
}

int thread_count(const device::Device* device) noexcept { return is_cpu(device) ? static_cast<const CpuDevice*>(device)->threads() : 1; }
bool has_own_cores(const device::Device* device) noexcept { return is_cpu(device) && static_cast<const CpuDevice*>(device)->bound(); }

}  // namespace pardo::cpu
