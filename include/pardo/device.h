// include/pardo/device.h: platforms and devices, and how one is chosen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pardo/dtype.h>
#include <pardo/export.h>

namespace pardo {

namespace device {
class Device;
}

enum class DeviceType : std::uint8_t { Cpu, Gpu, Accelerator };

/// Facts about a device, by their SYCL names; zero or empty where the back end cannot tell.
struct DeviceInfo {
    std::string backend;   // "cpu", "opencl", "cuda", "null"
    std::string platform;  // "pardo CPU"
    std::string name;      // "Intel(R) Xeon(R) Processor"
    std::string vendor;
    std::string driver_version;  // CPU: "LLVM 19.1.7, avx512f"
    DeviceType type = DeviceType::Cpu;
    int max_compute_units = 0;
    std::int64_t max_work_group_size = 0;
    std::int64_t global_mem_size = 0;     // bytes
    std::int64_t local_mem_size = 0;      // bytes
    std::int64_t max_mem_alloc_size = 0;  // bytes
    std::int64_t global_mem_cache_size = 0;
    int max_clock_frequency = 0;  // MHz
    int native_vector_bytes = 0;  // 64 with AVX-512
    bool has_fp64 = true, has_fp16 = true;
};

/// A device of the machine. Two handles to the same device are equal. Devices live as long as the process.
class PARDO_API Device {
public:
    /// The default device (PARDO_DEVICE, else the CPU).
    Device();
    /// Selects by `backend:type:index`, every part optional, alternatives by comma. Throws Value and lists what exists.
    explicit Device(std::string_view selector);
    explicit Device(device::Device* impl) : impl_(impl) {}

    const DeviceInfo& info() const;
    /// "cpu:0": a selection string that gives this device back.
    std::string id() const;
    bool supports(DType dtype) const;
    friend bool operator==(const Device& a, const Device& b) { return a.impl_ == b.impl_; }
    device::Device* impl() const { return impl_; }

private:
    device::Device* impl_;
};

/// All visible devices (after PARDO_DEVICES), optionally of one back end ("" = all).
PARDO_API std::vector<Device> get_devices(std::string_view backend = "");

/// What one back end found, for listings.
struct BackendInfo {
    std::string name;         // "cpu"
    std::string versions;     // "LLVM 19.1.7 · SLEEF 3.5.1 · oneTBB 2021.8"
    std::string unavailable;  // why it has no devices; empty when it has some
    std::vector<Device> devices;
};
/// All back ends but hidden ones, in order of preference.
PARDO_API std::vector<BackendInfo> get_backends();

}  // namespace pardo
