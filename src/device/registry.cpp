// src/device/registry.cpp: knows the back ends, and filters their devices by PARDO_DEVICES.
#include "device/registry.h"

#include <atomic>
#include <mutex>

#include <pardo/error.h>

#include "base/env.h"
#include "device/selection.h"

namespace pardo::device {
namespace {

std::vector<std::unique_ptr<Backend>>& storage() {
    static auto* list = new std::vector<std::unique_ptr<Backend>>;  // devices live as long as the process
    return *list;
}

/// The default device, once it is known.
std::atomic<Device*> chosen{nullptr};

/// The parsed PARDO_DEVICES; throws Value naming the variable when it is malformed.
const Filter& visibility(const std::vector<Candidate>& all) {
    static const Filter filter = parse_filter("PARDO_DEVICES", env("PARDO_DEVICES").value_or(""), all);
    return filter;
}

}  // namespace

void register_backend(std::unique_ptr<Backend> backend) { storage().push_back(std::move(backend)); }

const std::vector<std::unique_ptr<Backend>>& backends() {
    static std::once_flag once;
    std::call_once(once, [] {
        install_fork_handlers();
        register_builtin_backends();
    });
    return storage();
}

std::vector<Candidate> all_candidates() {
    std::vector<Candidate> list;
    for (const auto& backend : backends()) {
        for (const Platform& platform : backend->platforms()) {
            for (Device* d : platform.devices) {
                list.push_back({d, std::string(backend->name()), d->info().type, d->id(), d->info().name, backend->hidden()});
            }
        }
    }
    return list;
}

std::vector<Device*> visible_devices(std::string_view backend) {
    const std::vector<Candidate> all = all_candidates();
    std::vector<Device*> devices;
    for (const Candidate& c : all) {
        if (backend.empty() ? c.hidden : c.backend != backend) continue;
        if (visibility(all).admits(c, all)) devices.push_back(c.device);
    }
    return devices;
}

Device* select(std::string_view selector) {
    const std::vector<Candidate> all = all_candidates();
    std::vector<Candidate> visible;
    std::string reasons;
    for (const Candidate& c : all) {
        if (visibility(all).admits(c, all)) visible.push_back(c);
    }
    for (const auto& backend : backends()) {
        const std::string reason = backend->unavailable();
        if (!reason.empty()) reasons += "; " + std::string(backend->name()) + ": " + reason;
    }
    return choose(selector, all, visible, reasons);
}

Device* default_device() {
    if (Device* d = chosen.load(std::memory_order_acquire)) return d;
    Device* device = nullptr;
    if (const std::optional<std::string> wish = env("PARDO_DEVICE")) {
        try {
            device = select(*wish);
        } catch (const Error& e) {
            throw Error(e.code(), "PARDO_DEVICE=" + *wish + ": " + e.message());
        }
    } else {
        const std::vector<Device*> cpus = visible_devices("cpu"), any = visible_devices();
        if (!cpus.empty()) {
            device = cpus.front();
        } else if (!any.empty()) {
            device = any.front();
        } else {
            throw Error(ErrorCode::Device, "Device: PARDO_DEVICES=" + env("PARDO_DEVICES").value_or("") + " leaves no device visible");
        }
    }
    chosen.store(device, std::memory_order_release);
    return device;
}

}  // namespace pardo::device

namespace pardo {

void set_default_device(std::optional<Device> device) {
    device::chosen.store(device ? device->impl() : nullptr, std::memory_order_release);
}

}  // namespace pardo
