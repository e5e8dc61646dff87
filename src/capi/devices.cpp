// src/capi/devices.cpp: devices as native code finds and asks them.
#include <algorithm>
#include <cstring>
#include <string>

#include <pardo/device.h>

#include "capi/functions.h"
#include "capi/handle.h"

namespace pardo::capi {
namespace {

using device::NativeApi;
static_assert(static_cast<int>(NativeApi::Host) == PARDO_CPU && static_cast<int>(NativeApi::OpenCl) == PARDO_OPENCL);
static_assert(static_cast<int>(NativeApi::Cuda) == PARDO_CUDA && static_cast<int>(NativeApi::None) == PARDO_NULL);

std::string text_of(device::Device* device, int32_t which) {
    const DeviceInfo& info = device->info();
    switch (which) {
        case PARDO_DEVICE_ID: return device->id();
        case PARDO_DEVICE_NAME: return info.name;
        case PARDO_DEVICE_VENDOR: return info.vendor;
        case PARDO_DEVICE_DRIVER: return info.driver_version;
        case PARDO_DEVICE_BACKEND: return info.backend;
        case PARDO_DEVICE_ARCHITECTURE: return info.architecture;
        default: throw Error(ErrorCode::Value, "device_text: there is no text number " + std::to_string(which));
    }
}

int64_t number_of(device::Device* device, int32_t which) {
    const DeviceInfo& info = device->info();
    switch (which) {
        case PARDO_DEVICE_KIND: return backend_of(device);
        case PARDO_DEVICE_COMPUTE_UNITS: return info.max_compute_units;
        case PARDO_DEVICE_MEMORY: return info.global_mem_size;
        case PARDO_DEVICE_GROUP_ITEMS: return info.max_work_group_size;
        case PARDO_DEVICE_GROUP_MEMORY: return info.local_mem_size;
        case PARDO_DEVICE_SUB_GROUP: return info.sub_group_sizes.empty() ? 0 : info.sub_group_sizes.back();
        case PARDO_DEVICE_FLOAT64: return info.has_fp64;
        case PARDO_DEVICE_HOST_MEMORY: return device->can(device::Feature::HostMemory);
        default: throw Error(ErrorCode::Value, "device_number: there is no number " + std::to_string(which));
    }
}

}  // namespace

int32_t backend_of(const device::Device* device) { return static_cast<int32_t>(device->native_api()); }

pardo_native_device native_of(device::Device* device) {
    const device::NativeDevice native = device->native();
    return {sizeof(pardo_native_device), backend_of(device), native.device, native.context, native.platform};
}

pardo_status device_find(const char* selector, pardo_device* out) {
    return guarded("device_find", [&] {
        require("device_find", out, "out");
        *out = give((selector ? Device(selector) : Device()).impl());
    });
}

pardo_status device_list(pardo_device* out, size_t capacity, size_t* count) {
    return guarded("device_list", [&] {
        require("device_list", count, "count");
        if (capacity > 0) require("device_list", out, "out");
        const std::vector<Device> all = get_devices();
        *count = all.size();
        for (size_t k = 0; k < std::min(capacity, all.size()); ++k) out[k] = give(all[k].impl());
    });
}

pardo_status device_text(pardo_device device, int32_t which, char* out, size_t capacity, size_t* needed) {
    return guarded("device_text", [&] {
        if (capacity > 0) require("device_text", out, "out");
        const std::string text = text_of(as_device("device_text", device), which);
        if (needed) *needed = text.size() + 1;
        if (capacity == 0) return;
        const size_t kept = std::min(text.size(), capacity - 1);
        std::memcpy(out, text.data(), kept);
        out[kept] = 0;
    });
}

pardo_status device_number(pardo_device device, int32_t which, int64_t* out) {
    return guarded("device_number", [&] {
        require("device_number", out, "out");
        *out = number_of(as_device("device_number", device), which);
    });
}

pardo_status device_native(pardo_device device, pardo_native_device* out) {
    return guarded("device_native", [&] { put("device_native", native_of(as_device("device_native", device)), out); });
}

}  // namespace pardo::capi
