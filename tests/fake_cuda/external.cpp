// tests/fake_cuda/external.cpp: memory and semaphores of the fake CUDA driver that have file descriptors, really shared between processes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "world.h"

namespace fake {
namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr const char *memory_name = "fake CUDA memory", *semaphore_name = "fake CUDA semaphore";

struct Allocation {
    int file = -1;
    std::size_t bytes = 0;
};
struct Mapping {
    std::size_t size;
    int file;
};
struct External {
    int file = -1;
    std::size_t bytes = 0;
};
struct SemaphoreState {
    std::atomic<std::uint64_t> value;
    std::uint64_t timeline;
};
struct Semaphore {
    SemaphoreState* state = nullptr;
};

/// Of all devices, under the lock of the world.
std::map<std::uint64_t, Mapping>& mappings() {
    static std::map<std::uint64_t, Mapping> all;
    return all;
}

/// Whether a descriptor is of a file of memfd_create with that name, of at least so many bytes.
bool is_of(int fd, const char* name, std::size_t bytes) {
    char path[64], target[128] = {};
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct stat found {};
    return readlink(path, target, sizeof target - 1) > 0 && std::strncmp(target, "/memfd:", 7) == 0 &&
           std::strncmp(target + 7, name, std::strlen(name)) == 0 && fstat(fd, &found) == 0 &&
           static_cast<std::size_t>(found.st_size) >= bytes;
}

}  // namespace

bool end_external_mapping(Device* d, std::uint64_t pointer) {
    const auto at = mappings().find(pointer);
    if (at == mappings().end()) return false;
    (void)show_file(d, pointer, at->second.size, d->file, pointer - d->base);
    d->blocks.erase(pointer);
    mappings().erase(at);
    return true;
}

}  // namespace fake

using namespace fake;

extern "C" {

// --- memory that is made here --------------------------------------------------------------------------------------------------------

Result cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties*, int) {
    ENTER_CONTEXT("cuMemGetAllocationGranularity");
    *bytes = unit;
    return 0;
}
Result cuMemCreate(AllocationHandle* handle, std::size_t bytes, const AllocationProperties* properties, std::uint64_t) {
    ENTER_CONTEXT("cuMemCreate");
    if (bytes == 0 || bytes % unit != 0 || properties->handle_types != handle_of_file || properties->type != allocation_pinned)
        return result::invalid_value;
    std::lock_guard lock(world().mutex);
    if (bytes > current->memory - current->used) return result::out_of_memory;
    const int file = memfd_create(memory_name, MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return result::out_of_memory;
    ++world().live["allocation"];
    *handle = number(new Allocation{file, bytes});
    return 0;
}
Result cuMemRelease(AllocationHandle handle) {
    ENTER_CONTEXT("cuMemRelease");
    auto* const made = reinterpret_cast<Allocation*>(handle);
    close(made->file);
    delete made;
    std::lock_guard lock(world().mutex);
    --world().live["allocation"];
    return 0;
}
Result cuMemAddressReserve(DevicePointer* pointer, std::size_t bytes, std::size_t, DevicePointer, std::uint64_t) {
    ENTER_CONTEXT("cuMemAddressReserve");
    std::lock_guard lock(world().mutex);
    const std::uint64_t first = last_free_pages(current, bytes);
    if (first < current->base) return result::out_of_memory;
    current->reserved[first] = bytes;
    current->blocks[first] = bytes;  // nothing else is put there
    ++world().live["reservation"];
    *pointer = first;
    return 0;
}
Result cuMemAddressFree(DevicePointer pointer, std::size_t bytes) {
    ENTER_CONTEXT("cuMemAddressFree");
    std::lock_guard lock(world().mutex);
    const auto at = current->reserved.find(pointer);
    if (at == current->reserved.end() || at->second != bytes) return result::invalid_value;
    current->reserved.erase(at);
    current->blocks.erase(pointer);
    --world().live["reservation"];
    return 0;
}
Result cuMemMap(DevicePointer pointer, std::size_t bytes, std::size_t offset, AllocationHandle handle, std::uint64_t) {
    ENTER_CONTEXT("cuMemMap");
    const auto* const made = reinterpret_cast<Allocation*>(handle);
    std::lock_guard lock(world().mutex);
    if (!current->reserved.contains(pointer) || offset + bytes > made->bytes) return result::invalid_value;
    return show_file(current, pointer, bytes, made->file, offset) ? result::success : result::out_of_memory;
}
Result cuMemUnmap(DevicePointer pointer, std::size_t bytes) {
    ENTER_CONTEXT("cuMemUnmap");
    Lock lock(world().mutex);
    if (!current->reserved.contains(pointer)) return result::invalid_value;
    wait_idle(lock, current);
    (void)show_file(current, pointer, bytes, current->file, pointer - current->base);
    return 0;
}
Result cuMemSetAccess(DevicePointer pointer, std::size_t, const AccessDescriptor* access, std::size_t count) {
    ENTER_CONTEXT("cuMemSetAccess");
    std::lock_guard lock(world().mutex);
    const bool right = count == 1 && access->flags == access_read_write && access->location.type == location_device;
    return right && current->reserved.contains(pointer) ? result::success : result::invalid_value;
}
Result cuMemExportToShareableHandle(void* shared, AllocationHandle handle, int type, std::uint64_t) {
    ENTER_CONTEXT("cuMemExportToShareableHandle");
    if (type != handle_of_file) return result::invalid_value;
    const int fd = fcntl(reinterpret_cast<Allocation*>(handle)->file, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) return result::unknown;
    std::memcpy(shared, &fd, sizeof fd);
    return 0;
}

// --- memory of others ----------------------------------------------------------------------------------------------------------------

Result cuImportExternalMemory(ExternalMemoryHandle* memory, const ExternalMemoryDescriptor* descriptor) {
    ENTER_CONTEXT("cuImportExternalMemory");
    if (descriptor->type != external_opaque_fd || !is_of(descriptor->fd, memory_name, descriptor->bytes)) return result::invalid_value;
    std::lock_guard lock(world().mutex);
    ++world().live["external memory"];
    *memory = reinterpret_cast<ExternalMemoryHandle>(new External{descriptor->fd, descriptor->bytes});
    return 0;
}
Result cuExternalMemoryGetMappedBuffer(DevicePointer* pointer, ExternalMemoryHandle memory, const ExternalBufferDescriptor* descriptor) {
    ENTER_CONTEXT("cuExternalMemoryGetMappedBuffer");
    const auto* const opened = reinterpret_cast<External*>(memory);
    if (descriptor->offset != 0 || descriptor->bytes == 0 || descriptor->bytes > opened->bytes) return result::invalid_value;
    std::lock_guard lock(world().mutex);
    const std::size_t size = pages(descriptor->bytes);
    const std::uint64_t first = last_free_pages(current, size);
    if (first < current->base || !show_file(current, first, size, opened->file, 0)) return result::out_of_memory;
    current->blocks[first] = descriptor->bytes;
    mappings()[first] = {size, opened->file};
    *pointer = first;
    return 0;
}
Result cuDestroyExternalMemory(ExternalMemoryHandle memory) {
    ENTER_CONTEXT("cuDestroyExternalMemory");
    auto* const opened = reinterpret_cast<External*>(memory);
    close(opened->file);
    delete opened;
    std::lock_guard lock(world().mutex);
    --world().live["external memory"];
    return 0;
}

// --- semaphores ----------------------------------------------------------------------------------------------------------------------

Result cuImportExternalSemaphore(ExternalSemaphoreHandle* semaphore, const ExternalSemaphoreDescriptor* descriptor) {
    ENTER_CONTEXT("cuImportExternalSemaphore");
    const bool timeline = descriptor->type == external_timeline_fd;
    if ((!timeline && descriptor->type != external_opaque_fd) || !is_of(descriptor->fd, semaphore_name, sizeof(SemaphoreState)))
        return result::invalid_value;
    void* const shown = mmap(nullptr, sizeof(SemaphoreState), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor->fd, 0);
    if (shown == MAP_FAILED) return result::invalid_value;
    auto* const state = static_cast<SemaphoreState*>(shown);
    if ((state->timeline != 0) != timeline) {
        munmap(shown, sizeof(SemaphoreState));
        return result::invalid_value;
    }
    close(descriptor->fd);
    std::lock_guard lock(world().mutex);
    ++world().live["external semaphore"];
    *semaphore = reinterpret_cast<ExternalSemaphoreHandle>(new Semaphore{state});
    return 0;
}
Result cuDestroyExternalSemaphore(ExternalSemaphoreHandle semaphore) {
    ENTER_CONTEXT("cuDestroyExternalSemaphore");
    auto* const opened = reinterpret_cast<Semaphore*>(semaphore);
    munmap(opened->state, sizeof(SemaphoreState));
    delete opened;
    std::lock_guard lock(world().mutex);
    --world().live["external semaphore"];
    return 0;
}
Result cuSignalExternalSemaphoresAsync(const ExternalSemaphoreHandle* semaphores, const SemaphoreParameters* parameters, unsigned count,
                                       StreamHandle stream) {
    ENTER_CONTEXT("cuSignalExternalSemaphoresAsync");
    if (count != 1) return result::invalid_value;
    SemaphoreState* const state = reinterpret_cast<Semaphore*>(*semaphores)->state;
    return push(stream, [state, value = parameters->value] {
        state->value.store(state->timeline ? value : 1);
        return result::success;
    });
}
Result cuWaitExternalSemaphoresAsync(const ExternalSemaphoreHandle* semaphores, const SemaphoreParameters* parameters, unsigned count,
                                     StreamHandle stream) {
    ENTER_CONTEXT("cuWaitExternalSemaphoresAsync");
    if (count != 1) return result::invalid_value;
    SemaphoreState* const state = reinterpret_cast<Semaphore*>(*semaphores)->state;
    return push(stream, [state, value = parameters->value] {
        for (;;) {
            std::uint64_t signalled = 1;
            if (state->timeline ? state->value.load() >= value : state->value.compare_exchange_strong(signalled, 0)) return result::success;
            std::this_thread::sleep_for(std::chrono::microseconds(200));  // other processes change it
        }
    });
}

}  // extern "C"
