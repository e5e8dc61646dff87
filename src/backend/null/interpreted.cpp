// src/backend/null/interpreted.cpp: the device that lacks what a device may lack, and interprets its kernels.
#include "backend/null/interpreted.h"

#include <memory>
#include <vector>

#include <pardo/error.h>

#include "base/counters.h"
#include "device/pending_program.h"
#include "emit/c/family.h"
#include "emit/c/geometry.h"
#include "ir/interpret.h"

namespace pardo::null {
namespace {

constexpr int most_items = 16;             // of a group
constexpr std::int64_t most_local = 1024;  // bytes of its arrays

DeviceInfo facts() {
    DeviceInfo info;
    info.backend = "null";
    info.platform = "pardo interpreter";
    info.name = "Interpreter of kernels, without features";
    info.vendor = "pardo";
    info.driver_version = PARDO_VERSION;
    info.type = DeviceType::Accelerator;
    info.max_compute_units = 1;
    info.max_work_item_dimensions = 3;
    info.max_work_item_sizes = {most_items, most_items, most_items};
    info.max_work_group_size = most_items;
    info.global_mem_size = std::int64_t{1} << 40;
    info.max_mem_alloc_size = std::int64_t{1} << 34;
    info.local_mem_size = most_local;
    info.local_mem_type = "local";
    info.native_vector_bytes = 4;
    info.host_unified_memory = false;
    info.half_fp_config.emplace();
    info.double_fp_config.emplace();
    info.single_fp_config = {{"denorm", "inf_nan", "round_to_nearest", "fma", "correctly_rounded_divide_sqrt"}};
    info.partition_max_sub_devices = 0;
    info.partition_properties.emplace();
    info.partition_affinity_domains.emplace();
    info.has_fp64 = info.has_fp16 = false;
    info.has_usm_device_allocations = false;
    return info;
}

}  // namespace

InterpretedDevice::InterpretedDevice(device::Backend* backend) : NullDevice(backend, facts()) {
    renew_at_fork(running_);  // a kernel that prints may wait for the thread that forks
    features_.fp64 = false;
    features_.split_pointers = true;
    features_.max_group_size = most_items;
    features_.wide_atomics = false;
    features_.system_atomics = false;
    features_.most_shared = most_local;
}

Ref<device::Buffer> InterpretedDevice::allocate(std::size_t bytes, MemoryKind kind, device::Queue*) {
    if (kind != MemoryKind::Device)
        throw Error(ErrorCode::Device, "allocate: " + id() + " has no memory that it shares with the host; use device memory");
    return allocate_at(bytes, kind, out_of_reach);
}

Ref<device::Buffer> InterpretedDevice::import(void*, std::size_t, MemoryKind, std::function<void()>) {
    throw Error(ErrorCode::Buffer, "import: " + id() + " cannot use memory that it has not allocated; copy it");
}

device::ShapeClass InterpretedDevice::shape_class(const ir::Kernel& kernel, const device::LaunchShape& shape) const {
    return emit::choose_geometry(kernel, shape, features_).encode();
}

ir::Kernel InterpretedDevice::lowered(const ir::Kernel& kernel, device::ShapeClass shape) const {
    ir::Kernel plain = emit::lowered_for_c(kernel, features_);
    emit::check_groups(plain, {info_.max_work_group_size, info_.max_work_item_sizes, info_.local_mem_size}, id());
    (void)emit::emit_c(plain, features_, emit::CGeometry::decode(shape));  // refuses what the device lacks
    return plain;
}

Ref<device::Program> InterpretedDevice::compile(const ir::Kernel& kernel, device::ShapeClass shape) {
    counters.compiled.fetch_add(1, std::memory_order_relaxed);
    return keep(kernel, shape, new InterpretedProgram(lowered(kernel, shape)));
}

std::string InterpretedDevice::inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    if (what == "lowered") return ir::print(lowered(kernel, shape));
    throw Error(ErrorCode::Value, "inspect: " + id() + " has no \"" + std::string(what) + "\", only \"ir\" and \"lowered\"");
}

std::function<void()> InterpretedDevice::work_of(const device::Launch& launch) {
    const Ref<device::Program> program(device::compiled_program(launch.program));
    const auto& kernel = static_cast<const InterpretedProgram*>(program.get())->kernel();
    std::vector<std::uint64_t> args(launch.args.begin(), launch.args.end());
    std::size_t slot = 0;
    for (const ir::Param& p : kernel.params) {
        if (p.pointer && slot < args.size()) args[slot] = place_of(args[slot]);
        ++slot;  // lowered: no complex scalar takes two
    }
    return [this, program, &kernel, args = std::move(args), extents = std::vector(launch.extents.begin(), launch.extents.end()),
            check = launch.check] {
        {
            const std::lock_guard lock(running_);
            ir::interpret(kernel, args, extents);
        }
        if (check) check();
    };
}

}  // namespace pardo::null
