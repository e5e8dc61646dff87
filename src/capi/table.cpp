// src/capi/table.cpp: the table that native code gets, and handles of what bindings have.
#include <cstddef>

#include <pardo/binding/native.h>

#include "capi/functions.h"
#include "capi/handle.h"

namespace pardo {
namespace {

pardo_status no_objects(void*, std::int32_t, void**) {
    return capi::keep(PARDO_E_IMPORT, "from_py: this process has no Python, or it has not imported pardo");
}
void* no_object(void*, std::int32_t) {
    capi::keep(PARDO_E_IMPORT, "to_py: this process has no Python, or it has not imported pardo");
    return nullptr;
}
void* no_call(const char*, const char*, void* const*, std::size_t, std::int32_t, pardo_call_fn, void*) {
    capi::keep(PARDO_E_IMPORT, "call_from_py: this process has no Python, or it has not imported pardo");
    return nullptr;
}

pardo_api& table() noexcept {
    static pardo_api made = {
        sizeof(pardo_api),
        PARDO_ABI_MAJOR,
        PARDO_ABI_MINOR,
        PARDO_VERSION,
        capi::last_error,
        capi::keep,
        capi::retain,
        capi::release,
        capi::device_find,
        capi::device_list,
        capi::device_text,
        capi::device_number,
        capi::device_native,
        capi::queue_of,
        capi::queue_new,
        capi::queue_device,
        capi::queue_from_native,
        capi::queue_native,
        capi::queue_wait,
        capi::queue_barrier,
        capi::event_new,
        capi::event_complete,
        capi::event_wait,
        capi::event_status,
        capi::event_from_native,
        capi::event_to_native,
        capi::event_then,
        capi::array_info,
        capi::array_check,
        capi::arrays_check,
        capi::array_empty,
        capi::array_wrap,
        capi::array_to_dlpack,
        capi::array_from_dlpack,
        capi::array_force,
        capi::array_contiguous,
        capi::array_copy,
        capi::array_memory,
        capi::submit,
        capi::parallel_for,
        capi::thread_count,
        capi::opencl_set_array,
        capi::library_functions,
        capi::kept_for,
        capi::record,
        capi::program_new,
        capi::program_launch,
        capi::launch_text,
        no_objects,
        no_object,
        no_call,
    };
    return made;
}

}  // namespace

const pardo_api* native_api() noexcept { return &table(); }
void set_native_objects(const NativeObjects& objects) noexcept {
    table().from_py = objects.from_py;
    table().to_py = objects.to_py;
    table().call_from_py = objects.call_from_py;
}

pardo_status keep_native_error(const Error& error) noexcept { return capi::keep(capi::status_of(error), error.what()); }
Error native_error() { return capi::own_error(); }

void* native_handle(const Device& x) { return capi::give(x.impl()); }
void* native_handle(const Queue& x) { return capi::give(x.impl()); }
void* native_handle(const Event& x) { return capi::give(x); }
void* native_handle(const Array& x) { return capi::give(x.node()); }
Device device_of_native(void* handle) { return Device(capi::as_device("to_py", handle)); }
Queue queue_of_native(void* handle) { return Queue(capi::as_queue("to_py", handle)); }
Event event_of_native(void* handle) { return capi::as_event("to_py", handle); }
Array array_of_native(void* handle) { return Array(capi::as_node("to_py", handle)); }

}  // namespace pardo
