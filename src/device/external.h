// src/device/external.h: memory and semaphores that a device's driver and another one (Vulkan's) have in common, by file descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <pardo/binding/external.h>

#include "device/event.h"

namespace pardo::device {

class Device;
class Queue;

/// A semaphore of another driver's, open here until the last owner goes.
class SharedSemaphore {
public:
    virtual ~SharedSemaphore() = default;
    /// Everything that is submitted to the queue from now on waits until the semaphore has reached the value; one of two states is taken.
    virtual Event wait(Queue* queue, std::uint64_t value) = 0;
    /// When all that has been submitted to the queue is complete, the semaphore gets the value, or is signalled.
    virtual Event signal(Queue* queue, std::uint64_t value) = 0;
};

/// What a device has in common with other drivers. Here: nothing, and each function throws Device with what it lacks.
class External {
public:
    explicit External(Device* device) : device_(device) {}
    virtual ~External() = default;
    External(const External&) = delete;
    /// What the device lacks for that, as words that follow its name; empty where it lacks nothing.
    virtual std::string lacks(ExternalUse use) const;
    /// New memory, of at least so many bytes, that other drivers can open; it stays until it is closed.
    virtual ExternalMemory make(std::size_t bytes);
    /// A descriptor of memory that `make` gave, for the caller to close.
    virtual int export_fd(std::uintptr_t address);
    /// Memory that a descriptor of another driver's names, until it is closed. The descriptor stays the caller's.
    virtual std::uintptr_t open(int fd, std::size_t bytes, bool dedicated);
    /// After all work with it.
    virtual void close(std::uintptr_t address) noexcept;
    /// A semaphore that a descriptor names. The descriptor stays the caller's.
    virtual std::unique_ptr<SharedSemaphore> open_semaphore(int fd, bool timeline);

protected:
    [[noreturn]] void refuse(ExternalUse use) const;
    Device* device_;
};

}  // namespace pardo::device
