// src/backend/opencl/info.cpp: what a driver tells about its device, by their SYCL names.
#include <algorithm>
#include <cstdio>

#include "backend/opencl/device.h"

namespace pardo::opencl {
namespace {

constexpr cl_device_info uuid_khr = 0x106A, pci_bus_info_khr = 0x410F, pci_bus_nv = 0x4008, pci_slot_nv = 0x4009, pci_domain_nv = 0x400A,
                         compute_capability_major_nv = 0x4000, compute_capability_minor_nv = 0x4001, sub_group_sizes_intel = 0x4108;

struct FlagName {
    cl_bitfield flag;
    const char* name;
};
constexpr FlagName fp_names[] = {
    {CL_FP_DENORM, "denorm"},
    {CL_FP_INF_NAN, "inf_nan"},
    {CL_FP_ROUND_TO_NEAREST, "round_to_nearest"},
    {CL_FP_ROUND_TO_ZERO, "round_to_zero"},
    {CL_FP_ROUND_TO_INF, "round_to_inf"},
    {CL_FP_FMA, "fma"},
    {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "correctly_rounded_divide_sqrt"},
    {CL_FP_SOFT_FLOAT, "soft_float"},
};
constexpr FlagName execution_names[] = {{CL_EXEC_KERNEL, "exec_kernel"}, {CL_EXEC_NATIVE_KERNEL, "exec_native_kernel"}};
constexpr FlagName domain_names[] = {
    {CL_DEVICE_AFFINITY_DOMAIN_NUMA, "numa"},         {CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, "L4_cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, "L3_cache"}, {CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, "L2_cache"},
    {CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, "L1_cache"}, {CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, "next_partitionable"},
};
constexpr FlagName order_names[] = {{CL_DEVICE_ATOMIC_ORDER_RELAXED, "relaxed"},
                                    {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acquire"},
                                    {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "release"},
                                    {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acq_rel"},
                                    {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, "seq_cst"}};
constexpr FlagName scope_names[] = {{CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM, "work_item"},
                                    {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, "work_group"},
                                    {CL_DEVICE_ATOMIC_SCOPE_DEVICE, "device"},
                                    {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, "system"}};

template <std::size_t N> std::vector<std::string> names_of(const FlagName (&table)[N], cl_bitfield flags) {
    std::vector<std::string> out;
    for (const FlagName& row : table) {
        if (flags & row.flag) out.emplace_back(row.name);
    }
    return out;
}

/// Asks one device; a question that its driver does not know has no answer.
class Asker {
public:
    Asker(const Api& api, cl_device_id device) : api_(api), device_(device) {}
    template <class T> T get(cl_device_info what, T otherwise = T()) const { return device_value<T>(api_, device_, what, otherwise); }
    std::string text(cl_device_info what) const { return device_text(api_, device_, what); }
    template <class T> std::vector<T> list(cl_device_info what) const { return device_values<T>(api_, device_, what); }
    bool knows(cl_device_info what) const {
        std::size_t bytes = 0;
        return api_.clGetDeviceInfo(device_, what, 0, nullptr, &bytes) == CL_SUCCESS && bytes > 0;
    }
    template <std::size_t N> NameSet names(const FlagName (&table)[N], cl_device_info what) const {
        if (!knows(what)) return std::nullopt;
        return names_of(table, get<cl_bitfield>(what));
    }
    std::optional<int> width(cl_device_info what) const {
        if (!knows(what)) return std::nullopt;
        return static_cast<int>(get<cl_uint>(what));
    }
    std::optional<bool> flag(cl_device_info what) const {
        if (!knows(what)) return std::nullopt;
        return get<cl_bool>(what) != 0;
    }
    int number(cl_device_info what) const { return static_cast<int>(get<cl_uint>(what)); }
    std::int64_t bytes(cl_device_info what) const { return static_cast<std::int64_t>(get<cl_ulong>(what)); }
    std::int64_t size(cl_device_info what) const { return static_cast<std::int64_t>(get<std::size_t>(what)); }

private:
    const Api& api_;
    cl_device_id device_;
};

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find(' ', start), text.size());
        if (end > start) out.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return out;
}

std::string uuid_text(const std::vector<unsigned char>& bytes) {
    std::string out;
    char digits[3];
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
        out += digits;
    }
    return out;
}

void identify(const Asker& ask, DeviceInfo& info) {
    struct PciBus {
        cl_uint domain, bus, device, function;
    };
    char text[32];
    if (ask.knows(pci_bus_info_khr)) {
        const auto pci = ask.get<PciBus>(pci_bus_info_khr);
        std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
        info.pci_address = text;
    } else if (ask.knows(pci_bus_nv)) {
        const cl_uint slot = ask.get<cl_uint>(pci_slot_nv);
        std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", ask.get<cl_uint>(pci_domain_nv), ask.get<cl_uint>(pci_bus_nv), slot >> 3,
                      slot & 7);
        info.pci_address = text;
    }
    if (ask.knows(compute_capability_major_nv))
        info.architecture = "sm_" + std::to_string(ask.get<cl_uint>(compute_capability_major_nv)) +
                            std::to_string(ask.get<cl_uint>(compute_capability_minor_nv));
    const auto uuid = ask.list<unsigned char>(uuid_khr);
    if (uuid.size() == 16) info.uuid = uuid_text(uuid);
}

void vectors(const Asker& ask, DeviceInfo& info) {
    info.preferred_vector_width_char = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR);
    info.preferred_vector_width_short = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT);
    info.preferred_vector_width_int = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT);
    info.preferred_vector_width_long = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG);
    info.preferred_vector_width_float = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
    info.preferred_vector_width_double = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE);
    info.preferred_vector_width_half = ask.width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF);
    info.native_vector_width_char = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR);
    info.native_vector_width_short = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT);
    info.native_vector_width_int = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT);
    info.native_vector_width_long = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG);
    info.native_vector_width_float = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    info.native_vector_width_double = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE);
    info.native_vector_width_half = ask.width(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF);
    info.native_vector_bytes = 4 * info.native_vector_width_float.value_or(0);
}

void memory(const Asker& ask, DeviceInfo& info) {
    info.global_mem_size = ask.bytes(CL_DEVICE_GLOBAL_MEM_SIZE);
    info.local_mem_size = ask.bytes(CL_DEVICE_LOCAL_MEM_SIZE);
    info.max_mem_alloc_size = ask.bytes(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    const auto local = ask.get<cl_device_local_mem_type>(CL_DEVICE_LOCAL_MEM_TYPE);
    info.local_mem_type = local == CL_LOCAL ? "local" : local == CL_GLOBAL ? "global" : "none";
    const auto cache = ask.get<cl_device_mem_cache_type>(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE);
    info.global_mem_cache_type = cache == CL_READ_WRITE_CACHE ? "read_write" : cache == CL_READ_ONLY_CACHE ? "read_only" : "none";
    info.global_mem_cache_size = ask.bytes(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    info.global_mem_cache_line_size = ask.number(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    info.mem_base_addr_align = ask.number(CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    info.max_constant_buffer_size = ask.bytes(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    info.max_parameter_size = ask.size(CL_DEVICE_MAX_PARAMETER_SIZE);
    info.printf_buffer_size = ask.size(CL_DEVICE_PRINTF_BUFFER_SIZE);
    info.error_correction_support = ask.flag(CL_DEVICE_ERROR_CORRECTION_SUPPORT);
    info.host_unified_memory = ask.flag(CL_DEVICE_HOST_UNIFIED_MEMORY);
}

void parts(const Asker& ask, DeviceInfo& info) {
    constexpr FlagName kinds[] = {{CL_DEVICE_PARTITION_EQUALLY, "partition_equally"},
                                  {CL_DEVICE_PARTITION_BY_COUNTS, "partition_by_counts"},
                                  {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, "partition_by_affinity_domain"}};
    const auto name = [&](cl_device_partition_property property) -> std::string {
        for (const FlagName& row : kinds) {
            if (row.flag == static_cast<cl_bitfield>(property)) return row.name;
        }
        return {};
    };
    info.partition_max_sub_devices = ask.width(CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
    std::vector<std::string> properties;
    for (const auto property : ask.list<cl_device_partition_property>(CL_DEVICE_PARTITION_PROPERTIES)) {
        if (!name(property).empty()) properties.push_back(name(property));
    }
    info.partition_properties = std::move(properties);
    info.partition_affinity_domains = ask.names(domain_names, CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
    const auto type = ask.list<cl_device_partition_property>(CL_DEVICE_PARTITION_TYPE);
    if (type.empty() || type[0] == 0) return;
    info.partition_type_property = name(type[0]);
    if (type[0] != CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN || type.size() < 2) return;
    const std::vector<std::string> domain = names_of(domain_names, static_cast<cl_bitfield>(type[1]));
    if (!domain.empty()) info.partition_type_affinity_domain = domain[0];
}

void abilities(const Asker& ask, DeviceInfo& info, bool usm) {
    info.half_fp_config = ask.names(fp_names, CL_DEVICE_HALF_FP_CONFIG);
    info.single_fp_config = ask.names(fp_names, CL_DEVICE_SINGLE_FP_CONFIG);
    info.double_fp_config = ask.names(fp_names, CL_DEVICE_DOUBLE_FP_CONFIG);
    info.execution_capabilities = ask.names(execution_names, CL_DEVICE_EXECUTION_CAPABILITIES);
    info.atomic_memory_order_capabilities = ask.names(order_names, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
    info.atomic_fence_order_capabilities = ask.names(order_names, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES);
    info.atomic_memory_scope_capabilities = ask.names(scope_names, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
    info.atomic_fence_scope_capabilities = ask.names(scope_names, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES);
    const std::vector<std::string> extensions = info.extensions.value_or(std::vector<std::string>());
    const auto has = [&](const char* name) { return std::find(extensions.begin(), extensions.end(), name) != extensions.end(); };
    info.has_fp64 = ask.get<cl_bitfield>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0 || has("cl_khr_fp64");
    info.has_fp16 = has("cl_khr_fp16");
    info.has_atomic64 = has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
    info.has_image = ask.flag(CL_DEVICE_IMAGE_SUPPORT).value_or(false);
    info.has_online_compiler = ask.flag(CL_DEVICE_COMPILER_AVAILABLE).value_or(true);
    info.has_queue_profiling = ask.get<cl_command_queue_properties>(CL_DEVICE_QUEUE_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE;
    if (usm) {
        const auto can = [&](cl_device_info what, cl_bitfield access) { return (ask.get<cl_bitfield>(what) & access) != 0; };
        constexpr cl_bitfield access = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL, atomic = CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
        info.has_usm_device_allocations = can(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, access);
        info.has_usm_host_allocations = can(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, access);
        info.has_usm_shared_allocations = can(CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, access);
        info.has_usm_system_allocations = can(CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL, access);
        info.has_usm_atomic_host_allocations = can(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, atomic);
        info.has_usm_atomic_shared_allocations = can(CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, atomic);
    }
    if (ask.get<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)
        info.has_usm_system_allocations = true;
}

}  // namespace

DeviceInfo device_info(const PlatformContext& context, cl_device_id device, bool usm) {
    const Asker ask(context.api(), device);
    DeviceInfo info;
    info.backend = "opencl";
    info.platform = context.name();
    info.name = ask.text(CL_DEVICE_NAME);
    info.vendor = ask.text(CL_DEVICE_VENDOR);
    info.driver_version = ask.text(CL_DRIVER_VERSION);
    info.version = ask.text(CL_DEVICE_VERSION);
    info.profile = ask.text(CL_DEVICE_PROFILE);
    info.extensions = words(ask.text(CL_DEVICE_EXTENSIONS));
    const auto type = ask.get<cl_device_type>(CL_DEVICE_TYPE);
    info.type = type & CL_DEVICE_TYPE_CPU ? DeviceType::Cpu : type & CL_DEVICE_TYPE_GPU ? DeviceType::Gpu : DeviceType::Accelerator;
    info.vendor_id = ask.get<cl_uint>(CL_DEVICE_VENDOR_ID);
    identify(ask, info);
    info.max_compute_units = ask.number(CL_DEVICE_MAX_COMPUTE_UNITS);
    info.max_work_item_dimensions = ask.number(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    for (const std::size_t n : ask.list<std::size_t>(CL_DEVICE_MAX_WORK_ITEM_SIZES))
        info.max_work_item_sizes.push_back(static_cast<std::int64_t>(n));
    info.max_work_group_size = ask.size(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info.max_num_sub_groups = ask.number(CL_DEVICE_MAX_NUM_SUB_GROUPS);
    for (const std::size_t n : ask.list<std::size_t>(sub_group_sizes_intel)) info.sub_group_sizes.push_back(static_cast<int>(n));
    info.max_clock_frequency = ask.number(CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info.address_bits = ask.number(CL_DEVICE_ADDRESS_BITS);
    info.is_endian_little = ask.flag(CL_DEVICE_ENDIAN_LITTLE);
    info.is_available = ask.flag(CL_DEVICE_AVAILABLE);
    info.profiling_timer_resolution = ask.size(CL_DEVICE_PROFILING_TIMER_RESOLUTION);
    vectors(ask, info);
    memory(ask, info);
    parts(ask, info);
    abilities(ask, info, usm);
    return info;
}

cl_device_affinity_domain affinity_domain(std::string_view name) {
    const auto* at = std::find_if(std::begin(domain_names), std::end(domain_names), [&](const FlagName& d) { return name == d.name; });
    return static_cast<cl_device_affinity_domain>(at->flag);
}

}  // namespace pardo::opencl
