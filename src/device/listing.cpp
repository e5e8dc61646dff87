// src/device/listing.cpp: what each back end found, for people: `python -m pardo`.
#include <pardo/device.h>

#include "device/device.h"

namespace pardo {

std::vector<BackendInfo> get_backends() {
    std::vector<BackendInfo> list;
    for (const auto& backend : device::backends()) {
        if (backend->hidden()) continue;
        BackendInfo info;
        info.name = backend->name();
        info.versions = backend->versions();
        for (device::Device* d : device::visible_devices(info.name)) info.devices.emplace_back(d);
        if (backend->platforms().empty()) info.unavailable = backend->unavailable();
        list.push_back(std::move(info));
    }
    return list;
}

}  // namespace pardo
