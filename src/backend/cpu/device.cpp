// src/backend/cpu/device.cpp: the CPU as a device: queues, memory, programs, parts.
#include "backend/cpu/device.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "backend/cpu/program.h"
#include "backend/cpu/queue.h"
#include "backend/cpu/threads/topology.h"
#include "base/env.h"
#include "base/fork.h"
#include "device/queue/scheduler.h"
#include "ir/ir.h"

namespace pardo::cpu {

CpuDevice::CpuDevice(device::Backend* backend)
    : backend_(backend),
      id_("cpu:0"),
      cores_(by_neighbourhood(cores_of_thread())),
      info_(machine_facts(cores_)),
      // Tests plan for groups here, so that these plans are computed and compared on machines without a GPU.
      execution_(env("PARDO_CPU_EXECUTION") == "groups" ? device::Execution::Groups : device::Execution::Lanes),
      pool_(configured_threads()),
      own_allocator_(std::make_unique<device::CachingAllocator>(
          this, std::make_unique<CpuMemory>(!env_flag("PARDO_CPU_DISCRETE", false), info_.global_mem_size))),
      allocator_(own_allocator_.get()) {
    device::hold_queues_at_fork();  // before what their work runs on
    std::atexit([] { device::finish_queues(device::Runner::Process); });
    at_fork(ForkStage::Queues, {[this] {
                                    pool_.stop_for_fork();
                                    allocator_->lock_for_fork();
                                },
                                [this] {
                                    allocator_->unlock_after_fork();
                                    pool_.go_on_after_fork();
                                },
                                [this] {
                                    allocator_->unlock_after_fork();
                                    pool_.revive_in_child();
                                }});
}

CpuDevice::CpuDevice(CpuDevice* parent, std::string id, CoreList cores, const Partition& how)
    : backend_(parent->backend_),
      parent_(parent),
      id_(std::move(id)),
      cores_(std::move(cores)),
      info_(facts_of_part(parent->info_, cores_, how)),
      execution_(parent->execution_),
      pool_(cores_),
      allocator_(parent->allocator_) {
    at_fork(ForkStage::Queues,
            {[this] { pool_.stop_for_fork(); }, [this] { pool_.go_on_after_fork(); }, [this] { pool_.revive_in_child(); }});
}

bool CpuDevice::supports(DType dtype) const noexcept { return info_.has_fp64 || (dtype != DType::Float64 && dtype != DType::Complex128); }

bool CpuDevice::can(device::Feature feature) const noexcept {
    using device::Feature;
    switch (feature) {
        case Feature::HostMemory: return info_.host_unified_memory.value_or(true);
        case Feature::TakesHostMemory:
        case Feature::StopsDependents:
        case Feature::HostCode:
        case Feature::OwnLanes: return true;
        case Feature::HostProcessor:  // reached through a driver: it is not
        case Feature::HostRoutines:
        case Feature::TakesAll:
        case Feature::LookBack: break;
    }
    return false;
}

std::optional<std::int64_t> CpuDevice::free_memory() {
    const std::int64_t system = available_memory();
    if (system == 0) return std::nullopt;
    const MemoryStats s = allocator_->stats();
    const std::int64_t free = system + s.cached;
    return s.limit ? std::min(free, std::max<std::int64_t>(0, s.limit - s.in_use)) : free;
}

Ref<device::Queue> CpuDevice::create_queue(QueueOrder order, bool profiling) { return new CpuQueue(this, &pool_, order, profiling); }

Ref<device::Buffer> CpuDevice::allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) {
    return allocator_->allocate(bytes, kind, queue);
}

Ref<device::Buffer> CpuDevice::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) {
    return allocator_->import(data, bytes, kind, std::move(release));
}

Ref<device::Program> CpuDevice::compile(const ir::Kernel& kernel, device::ShapeClass) {
    const std::int64_t most = info().max_work_group_size;
    std::int64_t items = 1;
    for (const std::int64_t n : kernel.group_size) items *= n;
    if (items > most)
        throw Error(ErrorCode::Value, kernel.name + ": groups of " + std::to_string(items) + " items: " + id() + " takes at most " +
                                          std::to_string(most) + "; make the groups smaller");
    return cpu::compile(kernel);
}

Ref<device::Program> CpuDevice::known_program(const ir::Kernel& kernel, device::ShapeClass) { return cpu::known_program(kernel); }

std::string CpuDevice::inspect(const ir::Kernel& kernel, device::ShapeClass, std::string_view what) { return cpu::inspect(kernel, what); }

namespace {

/// The cores of each part.
std::vector<CoreList> cut(const CoreList& cores, const Partition& p) {
    if (!p.domain.empty()) return domains_of(cores, p.domain == "next_partitionable" ? next_partitionable(cores) : p.domain);
    std::vector<int> counts = p.counts;
    if (counts.empty()) counts.assign(cores.size() / static_cast<std::size_t>(p.units), p.units);
    std::vector<CoreList> parts;
    auto at = cores.begin();
    for (const int n : counts) {
        parts.emplace_back(at, at + n);
        at += n;
    }
    return parts;
}

}  // namespace

std::vector<device::Device*> CpuDevice::make_sub_devices(const Partition& partition) {
    std::vector<device::Device*> parts;  // they live as long as the process
    for (CoreList& cores : cut(cores_, partition))
        parts.push_back(new CpuDevice(this, sub_device_id(*this, partition, parts.size()), std::move(cores), partition));
    return parts;
}

}  // namespace pardo::cpu
