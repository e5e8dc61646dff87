// src/device/selection/aspects.cpp: what devices can do, by SYCL's names, and the choice of one by what it can do.
#include <algorithm>
#include <iterator>

#include <pardo/error.h>

#include "base/constant.h"
#include "device/device.h"

namespace pardo {
namespace {

template <DeviceType type> bool is_type(const DeviceInfo& info) { return info.type == type; }
template <bool DeviceInfo::*fact> bool has(const DeviceInfo& info) { return info.*fact; }
bool partitionable(const DeviceInfo& info) { return info.partition_properties && !info.partition_properties->empty(); }

struct AspectRow {
    Aspect aspect;
    std::string_view name;
    bool (*holds)(const DeviceInfo&);
};

constexpr AspectRow rows[] = {
    {Aspect::Cpu, "cpu", is_type<DeviceType::Cpu>},
    {Aspect::Gpu, "gpu", is_type<DeviceType::Gpu>},
    {Aspect::Accelerator, "accelerator", is_type<DeviceType::Accelerator>},
    {Aspect::Fp16, "fp16", has<&DeviceInfo::has_fp16>},
    {Aspect::Fp64, "fp64", has<&DeviceInfo::has_fp64>},
    {Aspect::Atomic64, "atomic64", has<&DeviceInfo::has_atomic64>},
    {Aspect::Image, "image", has<&DeviceInfo::has_image>},
    {Aspect::OnlineCompiler, "online_compiler", has<&DeviceInfo::has_online_compiler>},
    {Aspect::QueueProfiling, "queue_profiling", has<&DeviceInfo::has_queue_profiling>},
    {Aspect::UsmDeviceAllocations, "usm_device_allocations", has<&DeviceInfo::has_usm_device_allocations>},
    {Aspect::UsmHostAllocations, "usm_host_allocations", has<&DeviceInfo::has_usm_host_allocations>},
    {Aspect::UsmSharedAllocations, "usm_shared_allocations", has<&DeviceInfo::has_usm_shared_allocations>},
    {Aspect::UsmSystemAllocations, "usm_system_allocations", has<&DeviceInfo::has_usm_system_allocations>},
    {Aspect::UsmAtomicHostAllocations, "usm_atomic_host_allocations", has<&DeviceInfo::has_usm_atomic_host_allocations>},
    {Aspect::UsmAtomicSharedAllocations, "usm_atomic_shared_allocations", has<&DeviceInfo::has_usm_atomic_shared_allocations>},
    {Aspect::Partitionable, "partitionable", partitionable},
};

const AspectRow& row(Aspect aspect) { return rows[static_cast<std::size_t>(aspect)]; }

/// What keeps a device from being taken: "fp64, not cpu"; empty when nothing does.
std::string lacks(const Device& device, const std::vector<Aspect>& required, const std::vector<Aspect>& excluded) {
    std::string text;
    const auto add = [&](const char* prefix, Aspect a) { text += (text.empty() ? "" : ", ") + (prefix + std::string(aspect_name(a))); };
    for (const Aspect a : required) {
        if (!device.has_aspect(a)) add("lacks ", a);
    }
    for (const Aspect a : excluded) {
        if (device.has_aspect(a)) add("has ", a);
    }
    return text;
}

}  // namespace

std::string_view aspect_name(Aspect aspect) noexcept { return row(aspect).name; }

const std::vector<Aspect>& all_aspects() {
    static constinit Constant<std::vector<Aspect>> all;
    return all.get([] {
        std::vector<Aspect> list;
        for (const AspectRow& r : rows) list.push_back(r.aspect);
        return list;
    });
}

Aspect parse_aspect(std::string_view name, std::string_view op_name) {
    std::string known;
    for (const AspectRow& r : rows) {
        if (r.name == name) return r.aspect;
        known += (known.empty() ? "" : ", ") + std::string(r.name);
    }
    throw Error(ErrorCode::Value, std::string(op_name) + ": \"" + std::string(name) + "\" is not an aspect; there are " + known);
}

bool Device::has_aspect(Aspect aspect) const { return row(aspect).holds(info()); }

std::int64_t Device::score() const {
    const std::int64_t type = info().type == DeviceType::Gpu ? 2 : info().type == DeviceType::Accelerator ? 1 : 0;
    return (type << 32) + info().max_compute_units;
}

Device select_device(const std::vector<Aspect>& required, const std::vector<Aspect>& excluded) {
    std::optional<Device> best;
    std::string refused;
    for (const Device& d : get_devices()) {
        const std::string reason = lacks(d, required, excluded);
        if (!reason.empty()) {
            refused += (refused.empty() ? "" : "; ") + d.id() + " (" + d.info().name + ") " + reason;
        } else if (!best || d.score() > best->score()) {
            best = d;
        }
    }
    if (!best) throw Error(ErrorCode::NoDevice, "select_device: no device will do: " + (refused.empty() ? "none is visible" : refused));
    return *best;
}

}  // namespace pardo
