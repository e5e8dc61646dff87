// src/backend/null/api.cpp: the null back end as the registry and tests see it.
#include <mutex>

#include "backend/null/device.h"
#include "backend/null/interpreted.h"
#include "base/fork.h"

namespace pardo::null {
namespace {

class NullBackend final : public device::Backend {
public:
    std::string_view name() const noexcept override { return "null"; }
    bool hidden() const noexcept override { return true; }

    const std::vector<device::Platform>& platforms() override {
        std::lock_guard lock(mutex_);
        if (platforms_.empty()) {  // devices live as long as the process
            platforms_.push_back({"pardo null", "pardo", PARDO_VERSION, {new NullDevice(this)}});
            platforms_.push_back({"pardo interpreter", "pardo", PARDO_VERSION, {new InterpretedDevice(this)}});
        }
        return platforms_;
    }

private:
    HeldMutex mutex_;
    std::vector<device::Platform> platforms_;
};

NullBackend* instance = nullptr;  // set by register_backend, owned by the registry

NullDevice* as_null(device::Device* device) {
    if (device->backend() != instance) throw Error(ErrorCode::Internal, device->id() + " is not a device of the null back end");
    return static_cast<NullDevice*>(device);
}

}  // namespace

void register_backend() {
    auto backend = std::make_unique<NullBackend>();
    instance = backend.get();
    device::register_backend(std::move(backend));
}

std::vector<Record> take_records(device::Device* device) { return as_null(device)->take_records(); }

void fail_next(device::Device* device, Error error) { as_null(device)->fail_next(std::move(error)); }

void on_compile(device::Device* device, std::function<void(const ir::Kernel&)> hook) { as_null(device)->on_compile(std::move(hook)); }

}  // namespace pardo::null
