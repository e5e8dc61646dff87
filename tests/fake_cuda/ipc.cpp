// tests/fake_cuda/ipc.cpp: memory of the fake CUDA driver that other processes open.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "world.h"

namespace fake {
namespace {

constexpr std::size_t page = 4096;

/// What a handle holds: the allocation, in the file of its process.
struct Named {
    int pid, file, ordinal;
    std::uint64_t offset;
    std::size_t bytes;
};
static_assert(sizeof(Named) <= sizeof(IpcHandle));

}  // namespace

std::size_t pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

std::uint64_t last_free_pages(Device* d, std::size_t size) {
    std::uint64_t top = d->base + d->memory;
    for (auto block = d->blocks.rbegin(); block != d->blocks.rend() && block->first + pages(block->second) + page > top - size; ++block)
        top = block->first / page * page;
    return top - size;
}

bool show_file(Device* d, std::uint64_t first, std::size_t size, int file, std::uint64_t offset) {
    return mmap(d->storage + (first - d->base), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset)) !=
           MAP_FAILED;
}

}  // namespace fake

using namespace fake;

extern "C" {

Result cuIpcGetMemHandle(IpcHandle* handle, DevicePointer pointer) {
    ENTER_CONTEXT("cuIpcGetMemHandle");
    std::lock_guard lock(world().mutex);
    const auto at = current->blocks.find(pointer);
    if (at == current->blocks.end() || current->opened.contains(pointer)) return result::invalid_value;
    const Named named{getpid(), current->file, current->ordinal, pointer - current->base, at->second};
    *handle = {};
    std::memcpy(handle->bytes, &named, sizeof named);
    return 0;
}

/// Pages of the other process's file take the place of the last free ones of this device's.
Result cuIpcOpenMemHandle_v2(DevicePointer* pointer, IpcHandle handle, unsigned) {
    ENTER_CONTEXT("cuIpcOpenMemHandle");
    Named named{};
    std::memcpy(&named, handle.bytes, sizeof named);
    if (named.pid == getpid() || named.ordinal != current->ordinal) return invalid_context;
    const std::string path = "/proc/" + std::to_string(named.pid) + "/fd/" + std::to_string(named.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return result::invalid_value;
    std::lock_guard lock(world().mutex);
    const std::size_t begin = named.offset % page, size = pages(begin + named.bytes);
    const std::uint64_t first = last_free_pages(current, size);
    const bool mapped = show_file(current, first, size, file, named.offset - begin);
    close(file);
    if (!mapped) return result::out_of_memory;
    current->blocks[first + begin] = named.bytes;
    current->opened[first + begin] = size;
    ++world().live["opened memory"];
    *pointer = first + begin;
    return 0;
}

Result cuIpcCloseMemHandle(DevicePointer pointer) {
    ENTER_CONTEXT("cuIpcCloseMemHandle");
    std::lock_guard lock(world().mutex);
    const auto at = current->opened.find(pointer);
    if (at == current->opened.end()) return result::invalid_value;
    const std::uint64_t first = pointer / page * page;
    (void)show_file(current, first, at->second, current->file, first - current->base);
    current->blocks.erase(pointer);
    current->opened.erase(at);
    --world().live["opened memory"];
    return 0;
}

}  // extern "C"
