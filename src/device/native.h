// src/device/native.h: what native code of others gets of a device, of memory, and of a queue whose turn has come.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace pardo::device {

/// Whose handles native code gets. The numbers are those of pardo/c_api.h.
enum class NativeApi : std::uint8_t { Host = 1, OpenCl = 2, Cuda = 3, None = 4 };

/// A device as its driver knows it: CUdevice (a number) and CUcontext; cl_device_id, cl_context and cl_platform_id. Null without a driver.
struct NativeDevice {
    void *device = nullptr, *context = nullptr, *platform = nullptr;
};

/// A place in memory: an address; or, where memory has none, an object of the driver's and bytes into it.
struct NativePlace {
    void* address = nullptr;
    void* object = nullptr;
    std::int64_t offset = 0;
};

/// A queue whose turn has come.
struct NativeTurn {
    void* stream = nullptr;          // CUstream, cl_command_queue; null where the code computes on the host
    std::span<void* const> after{};  // cl_events that the first command waits for; other streams wait already
    void* done = nullptr;            // set by the code, and taken over: a CUevent or cl_event that is complete when its commands are

    // Of the stream that has begun it:
    void* lane = nullptr;
    void* started = nullptr;
};
/// Enqueues on the stream, or computes. What it throws is its work's failure.
using NativeCode = std::function<void(NativeTurn& turn)>;

}  // namespace pardo::device
