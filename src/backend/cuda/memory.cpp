// src/backend/cuda/memory.cpp: asks the driver for memory of each kind.
#include "backend/cuda/memory.h"

#include "backend/cuda/device.h"
#include "device/queue/queue.h"

namespace pardo::cuda {

bool CudaMemory::allocate(std::size_t bytes, std::size_t, MemoryKind kind, device::RawBlock& block) {
    const ContextScope scope(*device_);
    const Driver& d = driver();
    DevicePointer pointer = 0;
    Result got = result::success;
    const char* call = "cuMemAlloc";
    switch (kind) {
        case MemoryKind::Device: got = d.cuMemAlloc(&pointer, bytes); break;
        case MemoryKind::Host: {
            call = "cuMemHostAlloc";
            void* host = nullptr;
            got = d.cuMemHostAlloc(&host, bytes, host_alloc_portable);
            pointer = reinterpret_cast<DevicePointer>(host);  // one address for the host and all devices
            break;
        }
        case MemoryKind::Shared:
            if (!device_->info().has_usm_shared_allocations)
                throw Error(ErrorCode::Value, "shared memory: device " + device_->id() + " has none");
            call = "cuMemAllocManaged";
            got = d.cuMemAllocManaged(&pointer, bytes, attach_global);
            break;
    }
    if (got == result::out_of_memory) return false;
    device_->check(got, call);
    block.data = reinterpret_cast<void*>(pointer);
    return true;
}

void CudaMemory::free(const device::RawBlock& block, std::size_t, MemoryKind kind) noexcept {
    if (device::driver_gone() || !device_->known_context()) return;
    const ContextScope scope(device_->known_context());
    // What goes wrong here went wrong before: the context is lost, and its memory with it.
    if (kind == MemoryKind::Host) {
        driver().cuMemFreeHost(block.data);
    } else {
        driver().cuMemFree(reinterpret_cast<DevicePointer>(block.data));
    }
}

std::int64_t CudaMemory::total_bytes() const noexcept { return device_->info().global_mem_size; }

std::int64_t CudaMemory::free_bytes() const noexcept {
    ContextHandle context = device_->known_context();
    if (!context || device::driver_gone()) return -1;
    const ContextScope scope(context);
    std::size_t free = 0, total = 0;
    return driver().cuMemGetInfo(&free, &total) == result::success ? static_cast<std::int64_t>(free) : -1;
}

}  // namespace pardo::cuda
