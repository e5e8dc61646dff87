// src/backend/cuda/info.cpp: what the driver tells about a GPU, by SYCL's names; makes no context.
#include <array>
#include <cstdio>

#include "backend/cuda/device.h"

namespace pardo::cuda {
namespace {

int attribute(DeviceHandle device, Attribute which) {
    int value = 0;
    return driver().cuDeviceGetAttribute(&value, which, device) == result::success ? value : 0;
}

std::string pci_address(DeviceHandle device) {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", static_cast<unsigned>(attribute(device, Attribute::PciDomain)),
                  static_cast<unsigned>(attribute(device, Attribute::PciBus)),
                  static_cast<unsigned>(attribute(device, Attribute::PciDevice)));
    return text;
}

std::string uuid_text(DeviceHandle device) {
    Uuid uuid{};
    if (driver().cuDeviceGetUuid(&uuid, device) != result::success) return {};
    std::string text;
    for (int i = 0; i < 16; ++i) {
        char hex[3];
        std::snprintf(hex, sizeof hex, "%02x", uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += hex;
    }
    return text;
}

void set_vector_widths(DeviceInfo& info) {
    // Each item is a thread with scalar registers.
    for (std::optional<int>* width :
         {&info.preferred_vector_width_char, &info.preferred_vector_width_short, &info.preferred_vector_width_int,
          &info.preferred_vector_width_long, &info.preferred_vector_width_float, &info.preferred_vector_width_double,
          &info.preferred_vector_width_half, &info.native_vector_width_char, &info.native_vector_width_short, &info.native_vector_width_int,
          &info.native_vector_width_long, &info.native_vector_width_float, &info.native_vector_width_double,
          &info.native_vector_width_half})
        *width = 1;
}

void set_capabilities(DeviceInfo& info, DeviceHandle device) {
    const std::vector<std::string> ieee = {"denorm", "inf_nan", "round_to_nearest", "round_to_zero", "round_to_inf", "fma"};
    info.half_fp_config = info.double_fp_config = info.single_fp_config = ieee;
    info.single_fp_config->emplace_back("correctly_rounded_divide_sqrt");
    info.execution_capabilities = std::vector<std::string>{"exec_kernel"};
    info.atomic_memory_order_capabilities = std::vector<std::string>{"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    info.atomic_fence_order_capabilities = info.atomic_memory_order_capabilities;
    info.atomic_memory_scope_capabilities = std::vector<std::string>{"work_item", "sub_group", "work_group", "device", "system"};
    info.atomic_fence_scope_capabilities = info.atomic_memory_scope_capabilities;
    info.partition_max_sub_devices = 0;
    info.partition_properties.emplace();
    info.partition_affinity_domains.emplace();
    info.has_fp64 = info.has_fp16 = info.has_atomic64 = info.has_image = info.has_online_compiler = info.has_queue_profiling = true;
    info.has_usm_device_allocations = info.has_usm_host_allocations = true;
    info.has_usm_shared_allocations = attribute(device, Attribute::ManagedMemory) != 0;
    info.has_usm_system_allocations = false;
    info.has_usm_atomic_host_allocations = true;
    info.has_usm_atomic_shared_allocations = attribute(device, Attribute::ConcurrentManagedAccess) != 0;
}

}  // namespace

DeviceInfo device_info(int ordinal, DeviceHandle device) {
    DeviceInfo info;
    info.backend = "cuda";
    info.platform = "NVIDIA CUDA";
    std::array<char, 256> name{};
    driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()), device);
    info.name = name[0] ? name.data() : "GPU " + std::to_string(ordinal);
    info.vendor = "NVIDIA Corporation";
    info.vendor_id = 0x10de;
    info.driver_version = "CUDA " + version_text(driver().version);
    const int major = attribute(device, Attribute::ComputeMajor), minor = attribute(device, Attribute::ComputeMinor);
    info.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
    info.version = "CUDA " + version_text(driver().version) + ", " + info.architecture;
    info.extensions.emplace();
    info.type = DeviceType::Gpu;
    info.pci_address = pci_address(device);
    info.uuid = uuid_text(device);
    info.max_compute_units = attribute(device, Attribute::Multiprocessors);
    info.max_work_group_size = attribute(device, Attribute::MaxThreadsPerBlock);
    info.max_work_item_dimensions = 3;
    info.max_work_item_sizes = {attribute(device, Attribute::MaxBlockX), attribute(device, Attribute::MaxBlockY),
                                attribute(device, Attribute::MaxBlockZ)};
    const int warp = attribute(device, Attribute::WarpSize);
    info.sub_group_sizes = {warp > 0 ? warp : 32};
    info.max_num_sub_groups = static_cast<int>(info.max_work_group_size) / info.sub_group_sizes.front();
    info.max_clock_frequency = attribute(device, Attribute::ClockRate) / 1000;
    info.address_bits = 64;
    info.native_vector_bytes = 16;  // of one load
    set_vector_widths(info);
    std::size_t memory = 0;
    driver().cuDeviceTotalMem(&memory, device);
    info.global_mem_size = info.max_mem_alloc_size = static_cast<std::int64_t>(memory);
    info.local_mem_size = attribute(device, Attribute::MaxSharedMemoryPerBlock);
    info.local_mem_type = "local";
    info.global_mem_cache_type = "read_write";
    info.global_mem_cache_size = attribute(device, Attribute::L2CacheSize);
    info.global_mem_cache_line_size = 128;
    info.mem_base_addr_align = 2048;
    info.max_constant_buffer_size = attribute(device, Attribute::TotalConstantMemory);
    info.max_parameter_size = 4096;
    info.error_correction_support = attribute(device, Attribute::EccEnabled) != 0;
    info.host_unified_memory = attribute(device, Attribute::Integrated) != 0;
    info.is_endian_little = true;
    info.is_available = true;
    info.profiling_timer_resolution = 500;  // of the driver's events
    set_capabilities(info, device);
    return info;
}

}  // namespace pardo::cuda
