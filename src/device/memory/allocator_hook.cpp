// src/device/memory/allocator_hook.cpp: memory from the user's own allocator, in place of the caching one.
#include <algorithm>
#include <string>

#include <pardo/error.h>

#include "base/fork.h"
#include "device/device.h"

namespace pardo::device {
namespace {

/// Of the hooks of all devices.
std::mutex& hooks_lock() {
    static auto& lock = *new HeldMutex;  // never destroyed: threads may allocate while the process ends
    return lock;
}
[[maybe_unused]] const std::mutex& hooks_lock_at_start = hooks_lock();  // see at_fork

Ref<Buffer> from_hook(Device* device, const std::shared_ptr<const AllocatorHook>& hook, std::size_t bytes, MemoryKind kind) {
    constexpr const char* kinds[] = {"device", "shared", "host"};
    const std::size_t wanted = std::max<std::size_t>(bytes, 1);
    void* block = hook->allocate(wanted, kind);
    if (!block) {
        throw Error(ErrorCode::Memory, "cannot allocate " + std::to_string(bytes) + " bytes on " + device->id() +
                                           " (the allocator of set_allocator gave none, kind " + kinds[static_cast<int>(kind)] + ")");
    }
    const auto free = [hook, block, wanted] { hook->free(block, wanted); };
    try {
        return device->import(block, bytes, kind, free);
    } catch (...) {
        free();
        throw;
    }
}

}  // namespace

Ref<Buffer> Device::obtain(std::size_t bytes, MemoryKind kind, Queue* queue) {
    note_kind(kind);
    if (!hooked_.load(std::memory_order_acquire)) return allocate(bytes, kind, queue);
    std::shared_ptr<const AllocatorHook> hook;
    {
        std::lock_guard lock(hooks_lock());
        hook = hook_;
    }
    return hook ? from_hook(this, hook, bytes, kind) : allocate(bytes, kind, queue);
}

// The old hook is the parameter when this returns, and goes after the lock: letting it go may run the caller's code.
void Device::set_hook(std::shared_ptr<const AllocatorHook> hook) {
    std::lock_guard lock(hooks_lock());
    hook_.swap(hook);
    hooked_.store(hook_ != nullptr, std::memory_order_release);
}

}  // namespace pardo::device

namespace pardo {

void set_allocator(const Device& device, AllocatorHook hook) {
    if (!hook.allocate) return device.impl()->set_hook(nullptr);
    if (!hook.free) throw Error(ErrorCode::Value, "set_allocator: `free` must be given together with `allocate`");
    device.impl()->set_hook(std::make_shared<const AllocatorHook>(std::move(hook)));
}

}  // namespace pardo
