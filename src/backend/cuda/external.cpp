// src/backend/cuda/external.cpp: memory and semaphores that the driver has in common with Vulkan's, by file descriptors.
#include "device/external.h"

#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "backend/cuda/queue.h"
#include "base/fork.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

/// A descriptor that the driver gets for its own when it takes it, and that is closed else.
class OwnDescriptor {
public:
    explicit OwnDescriptor(int fd) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 3)) {
        if (fd_ < 0) throw Error(ErrorCode::Value, std::to_string(fd) + " is not an open file descriptor");
    }
    ~OwnDescriptor() {
        if (fd_ >= 0) close(fd_);
    }
    OwnDescriptor(const OwnDescriptor&) = delete;
    int get() const noexcept { return fd_; }
    void taken() noexcept { fd_ = -1; }

private:
    int fd_;
};

/// On the stream of a queue, in its order; what it waits for may never come.
class SemaphoreCall final : public device::NativeCall {
public:
    explicit SemaphoreCall(device::Stream::LibraryCall call) : call_(std::move(call)) {}
    void run(device::Stream& stream, const device::NativeOrder& order) override { stream.call_library(call_, order); }
    Owned keep() override {
        return [call = call_](device::Stream& stream, const device::NativeOrder& order) { stream.call_library(call, order); };
    }

private:
    device::Stream::LibraryCall call_;
};

class CudaSemaphore final : public device::SharedSemaphore {
public:
    CudaSemaphore(CudaDevice* device, int fd, bool timeline) : device_(device) {
        OwnDescriptor own(fd);
        ExternalSemaphoreDescriptor descriptor{};
        descriptor.type = timeline ? external_timeline_fd : external_opaque_fd;
        descriptor.fd = own.get();
        const ContextScope scope(*device);
        device->check_foreign(driver().cuImportExternalSemaphore(&handle_, &descriptor), "cuImportExternalSemaphore");
        own.taken();
    }
    ~CudaSemaphore() override {
        if (device::driver_gone() || !device_->known_context()) return;
        const ContextScope scope(device_->known_context());
        (void)driver().cuDestroyExternalSemaphore(handle_);  // what goes wrong here: the context is lost
    }

    Event wait(device::Queue* queue, std::uint64_t value) override {
        const Event reached = submit(queue, value, false, {});
        if (queue->order() == QueueOrder::OutOfOrder) queue->order_after(reached);
        return reached;
    }
    Event signal(device::Queue* queue, std::uint64_t value) override {
        Event all;
        if (queue->order() == QueueOrder::OutOfOrder) all = queue->barrier();
        return submit(queue, value, true, all);
    }

private:
    Event submit(device::Queue* queue, std::uint64_t value, bool signals, const Event& after) {
        SemaphoreCall call([this, value, signals](void* stream, device::LibraryStates&) {
            SemaphoreParameters parameters{};
            parameters.value = value;
            auto* const handle = static_cast<StreamHandle>(stream);
            if (signals)
                device_->check(driver().cuSignalExternalSemaphoresAsync(&handle_, &parameters, 1, handle),
                               "cuSignalExternalSemaphoresAsync");
            else
                device_->check(driver().cuWaitExternalSemaphoresAsync(&handle_, &parameters, 1, handle), "cuWaitExternalSemaphoresAsync");
        });
        device::Request request;
        request.label.name = signals ? "signal of a semaphore" : "wait for a semaphore";
        request.lasts = !signals;
        if (after.state()) request.after.push_back(after);
        return static_cast<CudaQueue*>(queue)->core().submit(std::move(request), call);
    }

    CudaDevice* device_;
    ExternalSemaphoreHandle handle_ = nullptr;
};

class CudaExternal final : public device::External {
public:
    explicit CudaExternal(CudaDevice* device) : External(device), cuda_(device) { renew_at_fork(mutex_); }

    std::string lacks(ExternalUse) const override { return {}; }

    ExternalMemory make(std::size_t bytes) override {
        const ContextScope scope(*cuda_);
        const Driver& d = driver();
        AllocationProperties properties{};
        properties.type = allocation_pinned;
        properties.handle_types = handle_of_file;
        properties.location = {location_device, cuda_->ordinal()};
        std::size_t unit = 0;
        cuda_->check(d.cuMemGetAllocationGranularity(&unit, &properties, 0), "cuMemGetAllocationGranularity");
        Block block;
        block.bytes = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
        Result made = d.cuMemCreate(&block.allocation, block.bytes, &properties, 0);
        if (made == result::out_of_memory) {
            cuda_->trim_memory();  // blocks that wait for reuse
            made = d.cuMemCreate(&block.allocation, block.bytes, &properties, 0);
        }
        cuda_->check(made, "cuMemCreate");
        DevicePointer pointer = 0;
        bool mapped = false;
        try {
            cuda_->check(d.cuMemAddressReserve(&pointer, block.bytes, 0, 0, 0), "cuMemAddressReserve");
            cuda_->check(d.cuMemMap(pointer, block.bytes, 0, block.allocation, 0), "cuMemMap");
            mapped = true;
            const AccessDescriptor access{properties.location, access_read_write};
            cuda_->check(d.cuMemSetAccess(pointer, block.bytes, &access, 1), "cuMemSetAccess");
            const std::lock_guard lock(mutex_);
            blocks_[pointer] = block;
        } catch (...) {
            if (mapped) (void)d.cuMemUnmap(pointer, block.bytes);
            if (pointer) (void)d.cuMemAddressFree(pointer, block.bytes);
            (void)d.cuMemRelease(block.allocation);
            throw;
        }
        return {pointer, block.bytes};
    }

    int export_fd(std::uintptr_t address) override {
        AllocationHandle allocation = 0;
        {
            const std::lock_guard lock(mutex_);
            allocation = blocks_.at(address).allocation;
        }
        const ContextScope scope(*cuda_);
        int fd = -1;
        cuda_->check(driver().cuMemExportToShareableHandle(&fd, allocation, handle_of_file, 0), "cuMemExportToShareableHandle");
        return fd;
    }

    std::uintptr_t open(int fd, std::size_t bytes, bool dedicated) override {
        OwnDescriptor own(fd);
        ExternalMemoryDescriptor descriptor{};
        descriptor.type = external_opaque_fd;
        descriptor.fd = own.get();
        descriptor.bytes = bytes;
        descriptor.flags = dedicated ? external_dedicated : 0;
        const ContextScope scope(*cuda_);
        const Driver& d = driver();
        Block block;
        block.bytes = bytes;
        cuda_->check_foreign(d.cuImportExternalMemory(&block.external, &descriptor), "cuImportExternalMemory");
        own.taken();
        ExternalBufferDescriptor whole{};
        whole.bytes = bytes;
        DevicePointer pointer = 0;
        try {
            cuda_->check_foreign(d.cuExternalMemoryGetMappedBuffer(&pointer, block.external, &whole), "cuExternalMemoryGetMappedBuffer");
            const std::lock_guard lock(mutex_);
            blocks_[pointer] = block;
        } catch (...) {
            if (pointer) (void)d.cuMemFree(pointer);
            (void)d.cuDestroyExternalMemory(block.external);
            throw;
        }
        return pointer;
    }

    void close(std::uintptr_t address) noexcept override {
        if (device::driver_gone() || !cuda_->known_context()) return;
        Block block;
        {
            const std::lock_guard lock(mutex_);
            const auto at = blocks_.find(address);
            if (at == blocks_.end()) return;
            block = at->second;
            blocks_.erase(at);
        }
        // What goes wrong here went wrong before: the context is lost, and its memory with it.
        const ContextScope scope(cuda_->known_context());
        const Driver& d = driver();
        if (block.external) {
            (void)d.cuMemFree(address);
            (void)d.cuDestroyExternalMemory(block.external);
            return;
        }
        (void)d.cuMemUnmap(address, block.bytes);
        (void)d.cuMemAddressFree(address, block.bytes);
        (void)d.cuMemRelease(block.allocation);
    }

    std::unique_ptr<device::SharedSemaphore> open_semaphore(int fd, bool timeline) override {
        return std::make_unique<CudaSemaphore>(cuda_, fd, timeline);
    }

private:
    struct Block {
        AllocationHandle allocation = 0;          // of memory that was made here
        ExternalMemoryHandle external = nullptr;  // of memory that was opened
        std::size_t bytes = 0;
    };
    CudaDevice* cuda_;
    std::mutex mutex_;
    std::map<std::uintptr_t, Block> blocks_;  // by address
};

}  // namespace

std::shared_ptr<device::External> CudaDevice::make_external() { return std::make_shared<CudaExternal>(this); }

}  // namespace pardo::cuda
