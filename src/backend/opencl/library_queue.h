// src/backend/opencl/library_queue.h: a command queue as libraries use it: their commands come one after the other, in whatever order it
// is.
#pragma once

#include <vector>

#include "backend/opencl/device.h"
#include "device/queue/stream.h"

namespace pardo::opencl {

/// What Stream::call_library gives to a library as the native queue; it lasts as long as that call.
class LibraryQueue {
public:
    LibraryQueue(OpenClDevice& device, cl_command_queue handle, const device::NativeOrder& order);
    LibraryQueue(const LibraryQueue&) = delete;
    ~LibraryQueue();

    OpenClDevice& device() const noexcept { return device_; }
    cl_command_queue handle() const noexcept { return handle_; }
    /// The next command comes after this event too, which stays until then.
    void after(cl_event event) { after_.push_back(event); }
    /// Enqueues one command, by `command(count, events, event)`, whose code it gives back: after those before it.
    template <class F> cl_int enqueue(F&& command) {
        cl_event event = nullptr;
        const cl_int code = command(static_cast<cl_uint>(after_.size()), after_.empty() ? nullptr : after_.data(), &event);
        if (code == CL_SUCCESS) take(event);
        return code;
    }
    /// The event of the last command; null where there was none.
    cl_event last() const noexcept { return last_; }
    /// A buffer of OpenCL for a part of ours, until this is gone. Where memory has no addresses it may begin only where such may.
    cl_mem part(const device::Buffer* buffer, std::size_t offset, std::size_t bytes);
    /// Ends the call; `order` of the constructor gets its marker.
    void finish(device::Stream& stream);

private:
    void take(cl_event event);

    OpenClDevice& device_;
    cl_command_queue handle_;
    const device::NativeOrder& order_;
    std::vector<cl_event> after_;
    std::vector<cl_mem> parts_;
    cl_event last_ = nullptr;
};

/// A part of the driver's object behind a buffer, which the caller releases. Where memory has no addresses it may begin only where such
/// may.
cl_mem part_of(const OpenClDevice& device, const device::Buffer* buffer, std::size_t offset, std::size_t bytes);
/// Sets an argument to an address, where memory has such.
cl_int set_address(const OpenClDevice& device, cl_kernel kernel, cl_uint index, const void* address);

}  // namespace pardo::opencl
