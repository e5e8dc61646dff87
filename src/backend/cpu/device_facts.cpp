// src/backend/cpu/device_facts.cpp: reads /proc and /sys for what the CPU is.
#include <llvm/Config/llvm-config.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "backend/cpu/device.h"
#include "emit/llvm.h"

namespace pardo::cpu {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

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
    std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        const std::int64_t limit = std::atoll(first_line(path).c_str());  // "max" and a missing file give 0
        if (limit > 0) bytes = std::min(bytes, limit);
    }
    return bytes;
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

}  // namespace

DeviceInfo machine_facts() {
    DeviceInfo info;
    info.backend = "cpu";
    info.platform = "pardo CPU";
    info.name = cpuinfo({"model name", "Model", "Hardware"});
    if (info.name.empty()) info.name = "CPU";
    info.vendor = cpuinfo({"vendor_id", "CPU implementer"});
    info.driver_version = std::string("LLVM ") + LLVM_VERSION_STRING + ", " + instruction_set();
    info.type = DeviceType::Cpu;
    info.max_compute_units = available_cores();
    info.max_work_group_size = 8192;
    info.global_mem_size = total_memory();
    info.max_mem_alloc_size = info.global_mem_size;
    info.local_mem_size = std::max<std::int64_t>(cache_bytes(1), 32 << 10);  // work-groups keep their local memory in the first cache
    info.global_mem_cache_size = std::max(cache_bytes(3), cache_bytes(2));
    if (info.global_mem_cache_size == 0) info.global_mem_cache_size = parse_size(cpuinfo({"cache size"}));
    info.max_clock_frequency = clock_mhz();
    info.native_vector_bytes = emit::host_target().vector_bytes;
    info.has_fp64 = info.has_fp16 = true;
    return info;
}

}  // namespace pardo::cpu
