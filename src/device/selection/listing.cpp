// src/device/selection/listing.cpp: what there is: devices, platforms, and for people what each back end found.
#include <pardo/device.h>
#include <pardo/error.h>

#include <algorithm>

#include "device/selection/selection.h"

namespace pardo {
namespace {

/// Throws Value unless `backend` is empty or names a back end; those that this build lacks have no devices.
void check_backend(std::string_view op_name, std::string_view backend) {
    if (backend.empty() || device::is_backend_name(backend)) return;
    std::string known;
    for (const auto& b : device::backends()) {
        if (b->name() == backend) return;
        if (!b->hidden()) known += (known.empty() ? "" : ", ") + std::string(b->name());
    }
    throw Error(ErrorCode::Value, std::string(op_name) + ": no back end \"" + std::string(backend) + "\"; this build has " + known);
}

}  // namespace

std::vector<Device> get_devices(std::string_view backend, std::optional<DeviceType> type) {
    check_backend("get_devices", backend);
    std::vector<Device> devices;
    for (device::Device* d : device::visible_devices(backend)) {
        if (!type || d->info().type == *type) devices.emplace_back(d);
    }
    return devices;
}

std::vector<Platform> get_platforms(std::string_view backend) {
    check_backend("get_platforms", backend);
    const std::vector<device::Device*> visible = device::visible_devices(backend);
    std::vector<Platform> platforms;
    for (const auto& b : device::backends()) {
        const auto own = [&](const device::Device* d) { return d->backend() == b.get(); };
        if (std::none_of(visible.begin(), visible.end(), own)) continue;
        for (const device::Platform& p : device::platforms_of(*b)) {
            Platform platform{std::string(b->name()), p.name, p.vendor, p.version, {}};
            for (device::Device* d : p.devices) {
                if (std::find(visible.begin(), visible.end(), d) != visible.end()) platform.devices.emplace_back(d);
            }
            if (!platform.devices.empty()) platforms.push_back(std::move(platform));
        }
    }
    return platforms;
}

std::vector<BackendInfo> get_backends() {
    std::vector<BackendInfo> list;
    for (const auto& backend : device::backends()) {
        if (backend->hidden()) continue;
        BackendInfo info;
        info.name = backend->name();
        if (!device::may_be_visible(*backend)) {
            info.unavailable = "hidden by PARDO_DEVICES";
            list.push_back(std::move(info));
            continue;
        }
        for (device::Device* d : device::visible_devices(info.name)) info.devices.emplace_back(d);
        info.versions = backend->versions();
        (void)device::platforms_of(*backend);
        info.unavailable = backend->unavailable();
        list.push_back(std::move(info));
    }
    return list;
}

}  // namespace pardo
