// include/pardo/binding/native.h: the table of pardo/c_api.h, and handles of it for what a host language has.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <memory>

#include <pardo/array.h>
#include <pardo/c_api.h>
#include <pardo/device.h>
#include <pardo/event.h>
#include <pardo/export.h>
#include <pardo/queue.h>

namespace pardo {

/// The table; it lives as long as the process.
PARDO_API const pardo_api* native_api() noexcept;
/// Its functions of a host language; without one they are errors.
struct NativeObjects {
    decltype(pardo_api::from_py) from_py;
    decltype(pardo_api::to_py) to_py;
    decltype(pardo_api::call_from_py) call_from_py;
};
PARDO_API void set_native_objects(const NativeObjects& objects) noexcept;

/// Makes it the calling thread's last error.
PARDO_API pardo_status keep_native_error(const Error& error) noexcept;
/// The calling thread's last error.
PARDO_API Error native_error();

/// What drivers call a device: CUdevice and CUcontext; cl_device_id, cl_context and cl_platform_id. Throws Device where there is no driver.
struct NativeHandles {
    void *device, *context, *platform;
};
PARDO_API NativeHandles native_handles(const Device& device);
/// A queue on a CUstream or cl_command_queue; `owner` goes when its last work is over. Throws as "<op_name>: …": Device where there is no
/// driver, Value for one of another device or context.
PARDO_API Queue adopt_queue(const char* op_name, const Device& device, void* stream, const std::shared_ptr<void>& owner);
/// The CUstream or cl_command_queue of a queue; null where there is none, or several.
PARDO_API void* native_queue(const Queue& queue) noexcept;
/// Complete when a CUevent or cl_event is, which stays the caller's. Throws as above.
PARDO_API Event adopt_event(const char* op_name, const Device& device, void* native);
/// A new CUevent or cl_event, which the caller destroys, complete when `event` is. Throws as above, and the event's failure.
PARDO_API void* native_event(const char* op_name, const Event& event, const Device& device);

/// New references.
PARDO_API void* native_handle(const Device& x);
PARDO_API void* native_handle(const Queue& x);
PARDO_API void* native_handle(const Event& x);
PARDO_API void* native_handle(const Array& x);
/// What a handle stands for; the reference stays the caller's. Throw Value of a handle of another kind, or of one that is not alive.
PARDO_API Device device_of_native(void* handle);
PARDO_API Queue queue_of_native(void* handle);
PARDO_API Event event_of_native(void* handle);
PARDO_API Array array_of_native(void* handle);

}  // namespace pardo
