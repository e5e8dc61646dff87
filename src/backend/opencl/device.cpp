// src/backend/opencl/device.cpp: an OpenCL device: queues, memory, parts.
#include "backend/opencl/device.h"

#include <algorithm>
#include <bit>

#include <pardo/error.h>

#include "backend/opencl/quirks.h"
#include "base/env.h"
#include "device/queue/queue.h"

namespace pardo::opencl {
namespace {

constexpr int wanted_sub_group = 16, most_sub_group = 32;

}  // namespace

OpenClDevice::OpenClDevice(device::Backend* backend, PlatformContext* context, cl_device_id handle, std::string id, OpenClDevice* parent)
    : backend_(backend), context_(context), handle_(handle), id_(std::move(id)), parent_(parent) {
    path_ = choose_path(*context, handle, id_, no_path_);
    info_ = device_info(*context, handle, path_ == MemoryPath::Usm);
    if (path_ == MemoryPath::SvmFine)
        info_.has_usm_device_allocations = info_.has_usm_host_allocations = info_.has_usm_shared_allocations = true;
    if (path_ == MemoryPath::Buffer) info_.has_usm_system_allocations = false;  // kernels take no addresses
    const auto runs = device_value<cl_device_exec_capabilities>(api(), handle, CL_DEVICE_EXECUTION_CAPABILITIES);
    shares_memory_ =
        info_.type == DeviceType::Cpu && (runs & CL_EXEC_NATIVE_KERNEL) && (path_ == MemoryPath::Usm || path_ == MemoryPath::SvmFine);
    host_routines_ = shares_memory_ && env("PARDO_OPENCL_ROUTINES") != "kernels";
    features_.target = &emit::opencl_c;
    features_.fp64 = info_.has_fp64;
    features_.split_pointers = path_ == MemoryPath::Buffer;
    features_.cpu = info_.type == DeviceType::Cpu && env("PARDO_OPENCL_EXECUTION") != "groups";  // a switch for tests
    features_.max_group_size = static_cast<int>(std::min<std::int64_t>(info_.max_work_group_size, features_.cpu ? 8192 : 1024));
    if (!info_.max_work_item_sizes.empty())
        features_.max_group_size = static_cast<int>(std::min<std::int64_t>(features_.max_group_size, info_.max_work_item_sizes[0]));
    features_.compute_units = info_.max_compute_units;
    features_.half = info_.has_fp16 ? emit::CHalf::Type : features_.cpu ? emit::CHalf::Integers : emit::CHalf::Builtins;
    const auto has = [&](Quirk quirk) {
        return has_quirk(quirk, context->name(), context->version(), info_.type == DeviceType::Cpu, features_.cpu);
    };
    features_.vector_loops = has(Quirk::VectorLoops);
    features_.conditional_barriers = !has(Quirk::BarriersInConditions);
    features_.masked_abs = has(Quirk::MaskedAbs);
    features_.hidden_masks = has(Quirk::HiddenMasks);
    features_.split_longs = has(Quirk::ConvertedLongs);
    features_.scalar_counts = has(Quirk::CountedDoubles);
    features_.scalar_pairs = has(Quirk::FoldedPairs);
    features_.own_starts = has(Quirk::PassedNames);
    takes_turns_ = has(Quirk::CountedLaunches);
    features_.wide_atomics = info_.has_atomic64;
    const NameSet& scopes = info_.atomic_memory_scope_capabilities;
    features_.system_atomics =
        info_.type == DeviceType::Cpu || (scopes && std::find(scopes->begin(), scopes->end(), "system") != scopes->end());
    choose_sub_group();
    features_.native_erf = info_.vendor.find("NVIDIA") != std::string::npos;
}

/// Items of a team exchange values by shuffles where kernels can say how large sub-groups are; elsewhere through local memory.
void OpenClDevice::choose_sub_group() {
    if (lacks_sub_groups(context_->name(), context_->version())) return;
    const auto has = [&](const char* name) { return has_extension(api(), handle_, name); };
    const bool shuffles = has("cl_khr_subgroup_shuffle");
    if (!has("cl_intel_required_subgroup_size") || !(shuffles || has("cl_intel_subgroups"))) return;
    features_.intel_shuffles = !shuffles;
    int best = 0;
    for (const int size : info_.sub_group_sizes) {
        if (!std::has_single_bit(static_cast<unsigned>(size))) continue;
        features_.shuffles |= size;
        if (features_.cpu || size < 2 || size > most_sub_group || size > features_.max_group_size) continue;
        // The smallest of at least wanted_sub_group items: larger ones leave each less registers. Else the largest.
        const bool better = best < wanted_sub_group ? size > best : size >= wanted_sub_group && size < best;
        if (better) best = size;
    }
    if (best != 0) features_.sub_group = best;
}

bool OpenClDevice::supports(DType dtype) const noexcept {
    return info_.has_fp64 || (dtype != DType::Float64 && dtype != DType::Complex128);
}

bool OpenClDevice::can(device::Feature feature) const noexcept {
    using device::Feature;
    switch (feature) {
        case Feature::TakesHostMemory: return info_.type == DeviceType::Cpu && info_.has_usm_system_allocations;
        case Feature::HostProcessor: return shares_memory_;
        case Feature::HostRoutines: return host_routines_;
        case Feature::HostMemory:
        case Feature::StopsDependents:
        case Feature::HostCode:
        case Feature::OwnLanes:
        case Feature::LookBack: break;
    }
    return false;
}

MemoryPath OpenClDevice::path() const {
    if (!no_path_.empty()) throw Error(ErrorCode::Device, no_path_);
    return path_;
}

device::CachingAllocator& OpenClDevice::allocator() const {
    std::call_once(allocator_made_, [this] {
        // The parameter of a Buffer's device is not const: what is allocated here changes the device in the sense of its users.
        allocator_ = std::make_unique<device::CachingAllocator>(const_cast<OpenClDevice*>(this), make_memory(*this));
    });
    return *allocator_;
}

Ref<device::Queue> OpenClDevice::create_queue(QueueOrder order, bool profiling) {
    device::check_not_forked("Queue", this);
    (void)path();
    return new device::DriverQueue(this, order, profiling, make_stream(*this, order, profiling));
}

cl_command_queue OpenClDevice::take_idle_queue() {
    std::lock_guard lock(idle_mutex_);
    if (idle_queues_.empty()) return nullptr;
    cl_command_queue queue = idle_queues_.back();
    idle_queues_.pop_back();
    return queue;
}

void OpenClDevice::keep_idle_queue(cl_command_queue queue) {
    std::lock_guard lock(idle_mutex_);
    idle_queues_.push_back(queue);
}

Ref<device::Buffer> OpenClDevice::allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) {
    return allocator().allocate(bytes, kind, queue);
}

Ref<device::Buffer> OpenClDevice::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) {
    bool known = info_.has_usm_system_allocations;
    if (!known && path() == MemoryPath::Usm) {
        cl_unified_shared_memory_type_intel type = CL_MEM_TYPE_UNKNOWN_INTEL;
        const char* begin = nullptr;
        std::size_t size = 0;
        const auto ask = [&](cl_mem_info_intel what, auto& value) {
            return context_->usm().info(context_->handle(), data, what, sizeof value, &value, nullptr) == CL_SUCCESS;
        };
        known = ask(CL_MEM_ALLOC_TYPE_INTEL, type) && type != CL_MEM_TYPE_UNKNOWN_INTEL && ask(CL_MEM_ALLOC_BASE_PTR_INTEL, begin) &&
                ask(CL_MEM_ALLOC_SIZE_INTEL, size) && bytes <= size &&
                static_cast<std::size_t>(static_cast<char*>(data) - begin) <= size - bytes;
    }
    if (!known) throw Error(ErrorCode::Buffer, "import: " + id_ + " cannot use memory that its driver has not allocated; copy it");
    return allocator().import(data, bytes, kind, std::move(release));
}

std::pair<int, int> OpenClDevice::dlpack_device(MemoryKind kind) const noexcept {
    constexpr int host = 1;  // DLPack's number for OpenCL means cl_mem objects, which no library takes
    return {opencl::host_visible(path_, kind) ? host : 0, 0};
}

MemoryStats OpenClDevice::memory_stats() const { return no_path_.empty() ? allocator().stats() : MemoryStats(); }
void OpenClDevice::trim_memory() { allocator().trim(); }
void OpenClDevice::set_memory_limit(std::int64_t bytes) { allocator().set_limit(bytes); }
void OpenClDevice::reset_memory_peak() { allocator().reset_peak(); }

device::Execution OpenClDevice::execution() const noexcept { return features_.cpu ? device::Execution::Lanes : device::Execution::Groups; }

namespace {

std::vector<cl_device_partition_property> properties_of(const Partition& p) {
    std::vector<cl_device_partition_property> out;
    if (!p.domain.empty()) {
        out = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, static_cast<cl_device_partition_property>(affinity_domain(p.domain))};
    } else if (!p.counts.empty()) {
        out.push_back(CL_DEVICE_PARTITION_BY_COUNTS);
        out.insert(out.end(), p.counts.begin(), p.counts.end());
        out.push_back(CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
    } else {
        out = {CL_DEVICE_PARTITION_EQUALLY, p.units};
    }
    out.push_back(0);
    return out;
}

}  // namespace

std::vector<device::Device*> OpenClDevice::make_sub_devices(const Partition& partition) {
    device::check_not_forked("create_sub_devices", this);
    const std::vector<cl_device_partition_property> properties = properties_of(partition);
    cl_uint count = 0;
    cl_int code = api().clCreateSubDevices(handle_, properties.data(), 0, nullptr, &count);
    std::vector<cl_device_id> handles(count);
    if (code == CL_SUCCESS) code = api().clCreateSubDevices(handle_, properties.data(), count, handles.data(), nullptr);
    if (code != CL_SUCCESS) {
        throw Error(ErrorCode::Device,
                    "create_sub_devices: the driver does not cut " + id_ + " by " + partition.text() + ": " + error_name(code));
    }
    // A context holds devices or their parts: the parts of a cut have their own, which they share.
    auto* shared = new PlatformContext(context_->platform(), handles);  // lives as long as the process
    std::vector<Device*> parts;
    for (std::size_t i = 0; i < handles.size(); ++i)
        parts.push_back(new OpenClDevice(backend_, shared, handles[i], device::sub_device_id(*this, partition, i), this));
    return parts;
}

}  // namespace pardo::opencl
