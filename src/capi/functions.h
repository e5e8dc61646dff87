// src/capi/functions.h: the functions of the table, by their names there; pardo/c_api.h says what each does.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <pardo/c_api.h>
#include <pardo/dtype.h>
#include <pardo/event.h>

#include "capi/status.h"
#include "device/device.h"
#include "graph/node.h"

namespace pardo::capi {

// devices.cpp
pardo_status device_find(const char* selector, pardo_device* out);
pardo_status device_list(pardo_device* out, size_t capacity, size_t* count);
pardo_status device_text(pardo_device device, int32_t which, char* out, size_t capacity, size_t* needed);
pardo_status device_number(pardo_device device, int32_t which, int64_t* out);
pardo_status device_native(pardo_device device, pardo_native_device* out);

// queues.cpp
pardo_status queue_of(pardo_device device, pardo_queue* out);
pardo_status queue_new(pardo_device device, uint32_t flags, pardo_queue* out);
pardo_status queue_device(pardo_queue queue, pardo_device* out);
pardo_status queue_wait(pardo_queue queue);
pardo_status queue_barrier(pardo_queue queue, const pardo_event* after, size_t n_after, pardo_event* out);
pardo_status event_new(pardo_event* out);
pardo_status event_complete(pardo_event event, pardo_status code, const char* text);
pardo_status event_wait(pardo_event event, int64_t timeout_ns);
int32_t event_status(pardo_event event);
pardo_status event_then(pardo_event event, void (*f)(pardo_status, void*), void* user, void (*destroy)(void*));

// native_queues.cpp
pardo_status queue_from_native(pardo_device device, void* stream, void* owner, void (*destroy)(void*), pardo_queue* out);
pardo_status queue_native(pardo_queue queue, void** stream);
pardo_status event_from_native(pardo_device device, void* native, pardo_event* out);
pardo_status event_to_native(pardo_event event, pardo_device device, void** native);

// arrays.cpp
pardo_status array_info(pardo_array array, pardo_array_info* out);
pardo_status array_check(pardo_array array, const char* what, int32_t dtype, int32_t ndim, uint32_t flags, pardo_array_info* out);
pardo_status arrays_check(const char* name, const char* parameters, const pardo_array* arrays, size_t n, int64_t* extents);
pardo_status array_empty(pardo_queue queue, int32_t dtype, int32_t ndim, const int64_t* shape, int32_t memory_kind, pardo_array* out);
pardo_status array_wrap(pardo_queue queue, void* address, int32_t dtype, int32_t ndim, const int64_t* shape, const int64_t* strides,
                        uint32_t flags, pardo_event ready, void* owner, void (*destroy)(void*), pardo_array* out);
pardo_status array_force(pardo_array array, pardo_event* out);
pardo_status array_contiguous(pardo_array array, int32_t dtype, pardo_array* out);
pardo_status array_copy(pardo_queue queue, pardo_array to, pardo_array from, const pardo_event* after, size_t n_after, pardo_event* out);
pardo_status array_memory(pardo_array array, pardo_memory* out);

// dlpack.cpp
pardo_status array_to_dlpack(pardo_array array, void* stream, void** managed);
pardo_status array_from_dlpack(pardo_queue queue, void* managed, pardo_event ready, pardo_array* out);

// work.cpp
pardo_status submit(pardo_queue queue, const pardo_use* uses, size_t n_uses, pardo_work_fn fn, void* user,
                    const pardo_submit_options* options, pardo_event* out);
pardo_status parallel_for(pardo_queue queue, int64_t n, int64_t grain, void (*f)(int64_t, int64_t, void*), void* user);
int32_t thread_count(pardo_queue queue);
pardo_status opencl_set_array(const pardo_work* w, void* kernel, uint32_t index, size_t use);

// libraries.cpp
pardo_status library_functions(const char* libraries, const char* names, void** out);
pardo_status kept_for(const pardo_work* w, int (*make)(void** out), void** out);

// record.cpp
pardo_status record(pardo_queue queue, const pardo_array* inputs, size_t n_inputs, size_t n_results, pardo_shape_fn shape, pardo_work_fn fn,
                    void* user, const pardo_submit_options* options, pardo_array* results);

// programs.cpp
pardo_status program_new(pardo_device device, const char* text, size_t bytes, const char* language, const char* const* options,
                         size_t n_options, pardo_program* out);
pardo_status program_launch(pardo_queue queue, pardo_program program, const char* kernel, const pardo_argument* arguments, size_t n,
                            const pardo_range* range, const pardo_event* after, size_t n_after, pardo_event* out);
pardo_status launch_text(pardo_queue queue, const char* text, const char* kernel, const pardo_argument* arguments, size_t n,
                         const pardo_range* range, const pardo_event* after, size_t n_after, pardo_event* out);

// What several of them do.
/// PARDO_CPU … PARDO_NULL.
int32_t backend_of(const device::Device* device);
/// Throws as "<what>: …" unless an array is of that dtype, number of dimensions and layout, as array_check says.
void check_array(const char* what, const graph::Node& node, int32_t dtype, int32_t ndim, uint32_t flags);
/// As device_native.
pardo_native_device native_of(device::Device* device);
std::vector<Event> events_of(const char* function, const pardo_event* events, size_t count);
/// Throws Type for a number that is no dtype.
DType dtype_of(const char* function, int32_t number);
int32_t number_of(DType dtype) noexcept;
/// Facts of a node, which holds the shape that they point to.
pardo_array_info info_of(graph::Node* node);
/// Where a Leaf's first element is.
pardo_memory memory_of(const device::Device* device, const device::Buffer* buffer, int64_t byte);
/// Copies a struct into one whose first member says how much room it has. Throws Value where that is nothing.
template <class T> void put(const char* function, const T& value, T* out) {
    require(function, out, "out");
    const uint32_t size = out->size;
    if (size < sizeof out->size)
        throw Error(ErrorCode::Value, std::string(function) + ": out->size is " + std::to_string(size) + "; set it to sizeof *out");
    std::memcpy(out, &value, std::min<std::size_t>(size, sizeof value));
    out->size = size;
}
/// A struct as the caller's version of the header has it; the rest is 0. Throws Value where its first member says that there is nothing.
template <class T> T given_struct(const char* function, const T& given, const char* name) {
    if (given.size < sizeof given.size)
        throw Error(ErrorCode::Value,
                    std::string(function) + ": " + name + "->size is " + std::to_string(given.size) + "; set it to sizeof *" + name);
    T out{};
    std::memcpy(&out, &given, std::min<std::size_t>(given.size, sizeof out));
    return out;
}
/// The same of options; null for all of them is the usual.
pardo_submit_options options_of(const char* function, const pardo_submit_options* given);

}  // namespace pardo::capi
