// src/backend/cpu/device.cpp: the CPU as a device: queues, memory, programs.
#include "backend/cpu/device.h"

#include "backend/cpu/program.h"
#include "backend/cpu/queue.h"
#include "base/env.h"

namespace pardo::cpu {

CpuDevice::CpuDevice(device::Backend* backend)
    : backend_(backend),
      info_(machine_facts()),
      // Tests plan for groups here, so that these plans are computed and compared on machines without a GPU.
      execution_(env("PARDO_CPU_EXECUTION") == "groups" ? device::Execution::Groups : device::Execution::Lanes),
      pool_(configured_threads()),
      allocator_(this, !env_flag("PARDO_CPU_DISCRETE", false), info_.global_mem_size) {
    allocator_.wait_for_work = wait_for_all_queues;
    install_process_handlers({[this] {
                                  pool_.stop_for_fork();
                                  allocator_.lock_for_fork();
                              },
                              [this] {
                                  allocator_.unlock_after_fork();
                                  pool_.go_on_after_fork();
                              },
                              [this] {
                                  allocator_.unlock_after_fork();
                                  pool_.revive_in_child();
                              }});
}

Ref<device::Queue> CpuDevice::create_queue(QueueOrder order, bool profiling) { return new CpuQueue(this, &pool_, order, profiling); }

Ref<device::Buffer> CpuDevice::allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) {
    return allocator_.allocate(bytes, kind, queue);
}

Ref<device::Buffer> CpuDevice::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) {
    return allocator_.import(data, bytes, kind, std::move(release));
}

Ref<device::Program> CpuDevice::compile(const ir::Kernel& kernel, device::ShapeClass) { return cpu::compile(kernel); }

std::string CpuDevice::inspect(const ir::Kernel& kernel, device::ShapeClass, std::string_view what) { return cpu::inspect(kernel, what); }

}  // namespace pardo::cpu
