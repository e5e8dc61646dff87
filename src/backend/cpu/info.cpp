// src/backend/cpu/info.cpp: reads /proc and /sys for what the CPU is.
#include <llvm/Config/llvm-config.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "backend/cpu/container.h"
#include "backend/cpu/device.h"
#include "backend/cpu/threads/topology.h"
#include "base/env.h"
#include "emit/llvm/module.h"

namespace pardo::cpu {
namespace {

/// Value of a "key : value" line of /proc/cpuinfo; the first of `keys` that is there.
std::string cpuinfo(std::initializer_list<const char*> keys) {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto end = line.find_last_not_of(" \t", colon - 1);
        const std::string key = line.substr(0, end + 1);
        if (std::none_of(keys.begin(), keys.end(), [&](const char* k) { return key == k; })) continue;
        const auto start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? "" : line.substr(start);
    }
    return {};
}

/// "512K", "32M" or "491520 KB" in bytes.
std::int64_t parse_size(const std::string& text) {
    char* end = nullptr;
    const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
    while (*end == ' ') ++end;
    return *end == 'K' || *end == 'k' ? value << 10 : *end == 'M' ? value << 20 : *end == 'G' ? value << 30 : value;
}

/// Bytes of the data or unified cache of a level, as the first core sees it; 0 when the system does not tell.
std::int64_t cache_bytes(int level) {
    for (int i = 0; i < 8; ++i) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
        if (first_line(folder + "level") != std::to_string(level) || first_line(folder + "type") == "Instruction") continue;
        return parse_size(first_line(folder + "size"));
    }
    return 0;
}

/// Memory that this process may use: the machine's, or less in a container.
std::int64_t total_memory() {
    const std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE),
                       limit = container_limits().memory;
    return limit ? std::min(bytes, limit) : bytes;
}

std::string instruction_set() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512f";
    if (__builtin_cpu_supports("avx2")) return "avx2";
    if (__builtin_cpu_supports("avx")) return "avx";
    return "sse2";
#else
    return "neon";
#endif
}

int clock_mhz() {
    const std::int64_t khz = std::atoll(first_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").c_str());
    return khz > 0 ? static_cast<int>(khz / 1000) : std::atoi(cpuinfo({"cpu MHz"}).c_str());
}

int cache_line_bytes() {
    const int line = std::atoi(first_line("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size").c_str());
    return line > 0 ? line : 64;
}

void add_vector_widths(DeviceInfo& info) {
    const int bytes = info.native_vector_bytes;
    info.preferred_vector_width_char = info.native_vector_width_char = bytes;
    info.preferred_vector_width_short = info.native_vector_width_short = bytes / 2;
    info.preferred_vector_width_int = info.native_vector_width_int = bytes / 4;
    info.preferred_vector_width_long = info.native_vector_width_long = bytes / 8;
    info.preferred_vector_width_float = info.native_vector_width_float = bytes / 4;
    info.preferred_vector_width_double = info.native_vector_width_double = info.has_fp64 ? bytes / 8 : 0;
    info.preferred_vector_width_half = info.native_vector_width_half = bytes / 4;  // computed as float
}

void add_memory(DeviceInfo& info) {
    info.global_mem_size = total_memory();
    info.max_mem_alloc_size = info.global_mem_size;
    info.local_mem_size = std::max<std::int64_t>(cache_bytes(1), 32 << 10);  // work-groups keep their local memory in the first cache
    info.local_mem_type = "global";
    info.global_mem_cache_size = std::max(cache_bytes(3), cache_bytes(2));
    if (info.global_mem_cache_size == 0) info.global_mem_cache_size = parse_size(cpuinfo({"cache size"}));
    info.global_mem_cache_type = "read_write";
    info.global_mem_cache_line_size = cache_line_bytes();
    info.mem_base_addr_align = 8 * 64;  // of every block that is allocated
    info.max_constant_buffer_size = info.max_mem_alloc_size;
    info.host_unified_memory = true;
    info.has_usm_device_allocations = info.has_usm_host_allocations = info.has_usm_shared_allocations = true;
    info.has_usm_system_allocations = info.has_usm_atomic_host_allocations = info.has_usm_atomic_shared_allocations = true;
    if (!env_flag("PARDO_CPU_DISCRETE", false)) return;  // memory of its own, for tests
    info.host_unified_memory = info.has_usm_system_allocations = false;
}

void add_arithmetic(DeviceInfo& info) {
    const std::vector<std::string> ieee = {"denorm", "inf_nan", "round_to_nearest", "fma", "correctly_rounded_divide_sqrt"};
    info.has_fp16 = true;
    info.has_fp64 = env_flag("PARDO_CPU_FP64", true);  // off: as a device without float64, for tests
    info.half_fp_config = std::vector<std::string>{"denorm", "inf_nan", "round_to_nearest", "soft_float"};
    info.single_fp_config = ieee;
    info.double_fp_config = info.has_fp64 ? ieee : std::vector<std::string>();
    info.has_atomic64 = true;
    info.atomic_memory_order_capabilities = info.atomic_fence_order_capabilities = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    info.atomic_memory_scope_capabilities =
        info.atomic_fence_scope_capabilities = {"work_item", "sub_group", "work_group", "device", "system"};
}

void add_partitions(DeviceInfo& info, const CoreList& cores) {
    info.partition_max_sub_devices = std::max(1, static_cast<int>(cores.size()));
    info.partition_properties = std::vector<std::string>();
    info.partition_affinity_domains = domains_offered(cores);
    if (cores.size() < 2) return;
    info.partition_properties = {"partition_equally", "partition_by_counts"};
    if (!info.partition_affinity_domains->empty()) info.partition_properties->emplace_back("partition_by_affinity_domain");
}

}  // namespace

DeviceInfo machine_facts(const CoreList& cores) {
    DeviceInfo info;
    info.backend = "cpu";
    info.platform = "pardo CPU";
    info.name = cpuinfo({"model name", "Model", "Hardware"});
    if (info.name.empty()) info.name = "CPU";
    info.vendor = cpuinfo({"vendor_id", "CPU implementer"});
    info.driver_version = std::string("LLVM ") + LLVM_VERSION_STRING + ", " + instruction_set();
    info.version = PARDO_VERSION;
    info.architecture = emit::host_target().cpu;
    info.type = DeviceType::Cpu;
    info.max_compute_units = available_cores();
    info.max_work_item_dimensions = 3;
    info.max_work_item_sizes = {8192, 8192, 8192};
    info.max_work_group_size = 8192;
    info.max_clock_frequency = clock_mhz();
    info.address_bits = 8 * sizeof(void*);
    info.native_vector_bytes = emit::host_target().vector_bytes;
    info.is_endian_little = std::endian::native == std::endian::little;
    info.is_available = true;
    info.has_queue_profiling = true;
    info.profiling_timer_resolution = 1;
    info.execution_capabilities = {"exec_kernel", "exec_native_kernel"};
    add_arithmetic(info);
    add_vector_widths(info);
    add_memory(info);
    add_partitions(info, cores);
    return info;
}

DeviceInfo facts_of_part(DeviceInfo info, const CoreList& cores, const Partition& how) {
    info.max_compute_units = static_cast<int>(cores.size());
    add_partitions(info, cores);
    info.partition_type_property = !how.domain.empty()  ? "partition_by_affinity_domain"
                                   : how.counts.empty() ? "partition_equally"
                                                        : "partition_by_counts";
    info.partition_type_affinity_domain = how.domain;
    return info;
}

std::int64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    std::int64_t kib = 0;
    while (file >> word) {
        if (word == "MemAvailable:" && file >> kib) break;
    }
    const std::int64_t machine = kib << 10;
    const ContainerLimits limits = container_limits();
    return limits.memory == 0 ? machine : std::min(machine, std::max<std::int64_t>(0, limits.memory - limits.memory_used));
}

}  // namespace pardo::cpu
