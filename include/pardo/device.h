// include/pardo/device.h: platforms and devices, and how one is chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pardo/dtype.h>
#include <pardo/export.h>

namespace pardo {

namespace device {
class Device;
class Queue;
}  // namespace device

/// What kind of processor a device is.
enum class DeviceType : std::uint8_t { Cpu, Gpu, Accelerator };

/// What a device can do, by SYCL's names: "fp64", "usm_device_allocations" (src/device/selection/aspects.cpp has the table).
enum class Aspect : std::uint8_t {
    Cpu,
    Gpu,
    Accelerator,
    Fp16,
    Fp64,
    Atomic64,
    Image,
    OnlineCompiler,
    QueueProfiling,
    UsmDeviceAllocations,
    UsmHostAllocations,
    UsmSharedAllocations,
    UsmSystemAllocations,
    UsmAtomicHostAllocations,
    UsmAtomicSharedAllocations,
    Partitionable,
};

/// A set of SYCL's names: {"inf_nan", "fma"}. No value: the back end cannot tell; an empty one: it has none.
using NameSet = std::optional<std::vector<std::string>>;

/// Facts about a device, by their SYCL names. Zero, empty or without a value where the back end cannot tell: Python shows None.
struct DeviceInfo {
    std::string backend;                ///< "cpu", "opencl", "cuda", "null"
    std::string platform;               ///< "pardo CPU"
    std::string name;                   ///< "Intel(R) Xeon(R) Processor"
    std::string vendor;                 ///< "GenuineIntel"
    std::string driver_version;         ///< CPU: "LLVM 19.1.7, avx512f"
    std::string version;                ///< of the interface: "OpenCL 3.0 ...", "CUDA 12.8, sm_90"
    std::string profile;                ///< OpenCL: "FULL_PROFILE", "EMBEDDED_PROFILE"
    NameSet extensions;                 ///< OpenCL's names: "cl_khr_fp64"
    DeviceType type = DeviceType::Cpu;  ///< processor, graphics card or accelerator
    std::uint32_t vendor_id = 0;        ///< the vendor's number, of PCI
    std::string pci_address;            ///< "0000:3b:00.0", lower case: the same card through two back ends has the same
    std::string uuid;                   ///< 32 hexadecimal digits in groups "8-4-4-4-12", lower case

    std::string architecture;                       ///< what machine code is for: "sm_90", "znver3"
    int max_compute_units = 0;                      ///< cores of a CPU, multiprocessors of a GPU
    int max_work_item_dimensions = 0;               ///< of an index space
    std::vector<std::int64_t> max_work_item_sizes;  ///< of a group, along each dimension
    std::int64_t max_work_group_size = 0;           ///< items of a group
    int max_num_sub_groups = 0;                     ///< of a group
    std::vector<int> sub_group_sizes;               ///< items of a sub-group
    int max_clock_frequency = 0;                    ///< MHz
    int address_bits = 0;                           ///< 32 or 64
    int native_vector_bytes = 0;                    ///< 64 with AVX-512
    /// Elements that fit a vector; no value: cannot tell; 0: the type is not supported.
    std::optional<int> preferred_vector_width_char, preferred_vector_width_short, preferred_vector_width_int, preferred_vector_width_long,
        preferred_vector_width_float, preferred_vector_width_double, preferred_vector_width_half;
    /// Elements of a vector as the hardware has them; without a value or 0 as above.
    std::optional<int> native_vector_width_char, native_vector_width_short, native_vector_width_int, native_vector_width_long,
        native_vector_width_float, native_vector_width_double, native_vector_width_half;

    std::int64_t global_mem_size = 0;                                   ///< bytes
    std::int64_t local_mem_size = 0;                                    ///< bytes
    std::int64_t max_mem_alloc_size = 0;                                ///< bytes
    std::string local_mem_type;                                         ///< "local", "global" or "none"
    std::string global_mem_cache_type;                                  ///< "read_write", "read_only" or "none"
    std::int64_t global_mem_cache_size = 0;                             ///< bytes
    int global_mem_cache_line_size = 0;                                 ///< bytes
    int mem_base_addr_align = 0;                                        ///< bits
    std::int64_t max_constant_buffer_size = 0;                          ///< bytes
    std::int64_t max_parameter_size = 0;                                ///< bytes, of a kernel's arguments
    std::int64_t printf_buffer_size = 0;                                ///< bytes
    std::optional<bool> error_correction_support, host_unified_memory;  ///< of its memory
    std::optional<bool> is_endian_little;                               ///< the order of bytes
    std::optional<bool> is_available;                                   ///< as the driver says
    std::int64_t profiling_timer_resolution = 0;                        ///< ns

    /// Of "denorm", "inf_nan", "round_to_nearest", "round_to_zero", "round_to_inf", "fma", "correctly_rounded_divide_sqrt", "soft_float".
    NameSet half_fp_config, single_fp_config, double_fp_config;
    NameSet execution_capabilities;  ///< "exec_kernel", "exec_native_kernel"
    /// Of "relaxed", "acquire", "release", "acq_rel", "seq_cst".
    NameSet atomic_memory_order_capabilities, atomic_fence_order_capabilities;
    /// Of "work_item", "sub_group", "work_group", "device", "system".
    NameSet atomic_memory_scope_capabilities, atomic_fence_scope_capabilities;

    std::optional<int> partition_max_sub_devices;  ///< 0 or 1: it cannot be cut
    NameSet partition_properties;                  ///< "partition_equally", "partition_by_counts", "partition_by_affinity_domain"
    NameSet partition_affinity_domains;            ///< "numa", "L4_cache" … "L1_cache", "next_partitionable"
    std::string partition_type_property;           ///< of a sub-device: how it was cut from its parent
    std::string partition_type_affinity_domain;    ///< the domain that it shares, where it was cut by one

    // What is behind the aspects of the same names.
    bool has_fp64 = true, has_fp16 = true;         ///< computes with such floats
    bool has_atomic64 = false, has_image = false;  ///< atomics of 64 bits; images
    bool has_online_compiler = true;               ///< programs can be compiled for it: without, there is no use for the device
    bool has_queue_profiling = false;              ///< queues can be made with times
    /// Memory of these kinds; system: any pointer of the process can be used on the device.
    bool has_usm_device_allocations = false, has_usm_host_allocations = false, has_usm_shared_allocations = false,
         has_usm_system_allocations = false;
    /// Atomics work on it, also beside the host's.
    bool has_usm_atomic_host_allocations = false, has_usm_atomic_shared_allocations = false;
};

/// How a device is to be cut: into parts of `units` compute units; or of `counts`; or by an affinity domain. One of the three is set.
struct Partition {
    int units = 0;            ///< compute units of each part
    std::vector<int> counts;  ///< compute units of each part, one after another
    std::string domain;       ///< "numa", "L4_cache" … "L1_cache", "next_partitionable"
    /// "4", "3+1", "numa": as in the ids of sub-devices.
    std::string text() const;
};

/// A device of the machine, which lives as long as the process. What an array on a queue that the user made tells of its device remembers
/// that queue: `Queue::of` gives it back, and two handles are equal if device and queue are. Others stand for the canonical queue.
class PARDO_API Device {
public:
    /// The default device (PARDO_DEVICE, else the CPU).
    Device();
    /// Selects by `backend:type:index`, every part optional, alternatives by comma. Throws Value and lists what exists.
    explicit Device(std::string_view selector);
    explicit Device(device::Device* impl) : impl_(impl) {}  ///< internal
    /// The device that runs the host's own code, on all of its processors.
    static Device host();
    /// The device of a queue, which it remembers unless that is the canonical one.
    explicit Device(device::Queue* queue);
    Device(const Device&);
    Device(Device&& other) noexcept : impl_(other.impl_), queue_(std::exchange(other.queue_, nullptr)) {}
    Device& operator=(Device other) noexcept {
        std::swap(impl_, other.impl_);
        std::swap(queue_, other.queue_);
        return *this;
    }
    ~Device();

    const DeviceInfo& info() const;  ///< its facts
    /// "cpu:0": a selection string that gives this device back.
    std::string id() const;
    bool supports(DType dtype) const;      ///< true where kernels compute with it
    bool has_aspect(Aspect aspect) const;  ///< true where the device can do that
    /// True where all of its memory is the host's, who reads and writes it in place.
    bool in_host_memory() const;
    /// True where it uses memory of the host in place: arrays can share it.
    bool takes_host_memory() const;
    /// True where work that needs what failed never runs; elsewhere it may have run when the failure is known.
    bool failures_stop_dependents() const;
    /// DLPack's numbers {type, number of the device} for memory of its own; type 0 where other libraries cannot reach it.
    std::pair<int, int> dlpack_device() const;
    /// Bytes that could be allocated now, other processes' use included; no value where the back end cannot tell.
    std::optional<std::int64_t> free_memory() const;
    /// The device that this one was cut from.
    std::optional<Device> parent() const;
    /// Parts of this device, each with its own queue; the same cut gives the same devices. Throws Device when it cannot be cut so.
    std::vector<Device> create_sub_devices(const Partition& partition) const;
    /// The larger the better, for select_device: GPUs first, then accelerators and CPUs; more compute units first among those.
    std::int64_t score() const;
    /// The same device without a queue that the user made: to compare hardware.
    Device without_queue() const { return Device(impl_); }
    friend bool operator==(const Device& a, const Device& b) { return a.impl_ == b.impl_ && a.queue_ == b.queue_; }
    device::Device* impl() const { return impl_; }  ///< internal
    /// The queue that the user made and it remembers, or null.
    device::Queue* remembered() const { return queue_; }

private:
    device::Device* impl_;
    device::Queue* queue_ = nullptr;  // holds a reference
};

/// All visible devices (after PARDO_DEVICES), optionally of one back end ("" = all) and type.
PARDO_API std::vector<Device> get_devices(std::string_view backend = "", std::optional<DeviceType> type = std::nullopt);
/// The visible device of the highest score that has all of `required` and none of `excluded`. Throws Device and says of each what it lacks.
PARDO_API Device select_device(const std::vector<Aspect>& required = {}, const std::vector<Aspect>& excluded = {});
/// Changes what Device() gives, for the whole process; no value: PARDO_DEVICE, else the CPU, as at start.
PARDO_API void set_default_device(std::optional<Device> device);
/// Drops what is deferred on the host, and blocks until drivers have no work of this process and no thread is in their compilers; from then
/// on only the calling thread may compile for their devices. exit() does the same, but libraries that a driver's threads use may be gone by
/// then: programs that leave work in flight call this before they leave main().
PARDO_API void finish_driver_work();
/// Devices whose canonical queue has been made, sub-devices among them: where work may be outstanding. Looks for no devices.
PARDO_API std::vector<Device> get_devices_in_use();

/// SYCL's name of an aspect.
PARDO_API std::string_view aspect_name(Aspect aspect) noexcept;
/// Types are aspects too: "cpu", "gpu", "accelerator".
constexpr DeviceType device_types[] = {DeviceType::Cpu, DeviceType::Gpu, DeviceType::Accelerator};
inline std::string_view type_name(DeviceType type) noexcept { return aspect_name(static_cast<Aspect>(type)); }  ///< the name of a type
/// The aspect of a name. Throws Value, starting with `op_name`, and lists the names.
PARDO_API Aspect parse_aspect(std::string_view name, std::string_view op_name = "aspect");
/// All of them, in order.
PARDO_API const std::vector<Aspect>& all_aspects();

/// What a driver calls a platform: devices of one vendor's implementation.
struct Platform {
    std::string backend;          ///< "opencl"
    std::string name;             ///< "Portable Computing Language"
    std::string vendor;           ///< "The pocl project"
    std::string version;          ///< "OpenCL 3.0 PoCL 5.0"
    std::vector<Device> devices;  ///< the visible ones
};
/// The platforms that have visible devices, optionally of one back end ("" = all).
PARDO_API std::vector<Platform> get_platforms(std::string_view backend = "");

/// What one back end found, for listings.
struct BackendInfo {
    std::string name;             ///< "cpu"
    std::string versions;         ///< "LLVM 19.1.7 · SLEEF 3.5.1 · oneTBB 2021.8"
    std::string unavailable;      ///< why it has no devices, or which installed drivers do not load; empty if all is well
    std::vector<Device> devices;  ///< the visible ones
};
/// All back ends but hidden ones, in order of preference.
PARDO_API std::vector<BackendInfo> get_backends();

}  // namespace pardo
