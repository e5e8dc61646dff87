// src/capi/arrays.cpp: arrays as native code asks, makes, shares and copies them.
#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include <pardo/array.h>
#include <pardo/binding/exchange.h>
#include <pardo/queue.h>

#include "array/record.h"
#include "array/views/views.h"
#include "capi/functions.h"
#include "capi/handle.h"
#include "graph/node.h"

namespace pardo::capi {
namespace {

/// Of each row of dtype.def, in its order; the numbers of the header never change.
constexpr std::array numbers{
    PARDO_BOOL,   PARDO_INT8,    PARDO_INT16,   PARDO_INT32,   PARDO_INT64,     PARDO_UINT8,      PARDO_UINT16,   PARDO_UINT32,
    PARDO_UINT64, PARDO_FLOAT16, PARDO_FLOAT32, PARDO_FLOAT64, PARDO_COMPLEX64, PARDO_COMPLEX128, PARDO_BFLOAT16,
};
static_assert(numbers.size() == dtype_count);
static_assert(numbers[static_cast<std::size_t>(DType::Bool)] == PARDO_BOOL &&
              numbers[static_cast<std::size_t>(DType::UInt8)] == PARDO_UINT8 &&
              numbers[static_cast<std::size_t>(DType::Float16)] == PARDO_FLOAT16 &&
              numbers[static_cast<std::size_t>(DType::Complex64)] == PARDO_COMPLEX64 &&
              numbers[static_cast<std::size_t>(DType::BFloat16)] == PARDO_BFLOAT16);

MemoryKind kind_of(const char* function, int32_t number) {
    if (number < PARDO_MEM_DEVICE || number > PARDO_MEM_HOST)
        throw Error(ErrorCode::Value, std::string(function) + ": there is no kind of memory " + std::to_string(number));
    return static_cast<MemoryKind>(number);
}

Extents extents_of(const char* function, int32_t ndim, const int64_t* values, const char* name) {
    if (ndim < 0 || ndim > PARDO_MAX_NDIM)
        throw Error(ErrorCode::Value, std::string(function) + ": " + std::to_string(ndim) + " dimensions; 0 to " +
                                          std::to_string(PARDO_MAX_NDIM) + " are supported");
    if (ndim > 0) require(function, values, name);
    return std::span(values, static_cast<std::size_t>(ndim));
}

uint32_t flags_of(const graph::Node& node) {
    uint32_t flags = node.read_only ? PARDO_READ_ONLY : 0;
    if (node.pending()) {
        const Strides rows = contiguous_strides(node.shape);
        return flags | PARDO_PENDING | PARDO_C_CONTIGUOUS | (arrays::is_column_major(node.shape, rows) ? PARDO_F_CONTIGUOUS : 0);
    }
    if (is_contiguous(node.shape, node.strides)) flags |= PARDO_C_CONTIGUOUS;
    if (arrays::is_column_major(node.shape, node.strides)) flags |= PARDO_F_CONTIGUOUS;
    if (node.buffer->read_only()) flags |= PARDO_READ_ONLY;
    if (node.buffer->foreign()) flags |= PARDO_FOREIGN;
    return flags;
}

constexpr std::pair<uint32_t, const char*> layouts[] = {{PARDO_C_CONTIGUOUS, "row-major and without gaps"},
                                                        {PARDO_F_CONTIGUOUS, "column-major and without gaps"}};

}  // namespace

DType dtype_of(const char* function, int32_t number) {
    const auto at = std::find(numbers.begin(), numbers.end(), number);
    if (at == numbers.end()) throw Error(ErrorCode::Type, std::string(function) + ": there is no dtype " + std::to_string(number));
    return static_cast<DType>(at - numbers.begin());
}

int32_t number_of(DType dtype) noexcept { return numbers[static_cast<std::size_t>(dtype)]; }

pardo_array_info info_of(graph::Node* node) {
    device::Device* const device = node->queue->device();
    const bool pending = node->pending();
    pardo_array_info info{};
    info.size = sizeof info;
    info.dtype = number_of(node->dtype);
    info.ndim = node->shape.size();
    info.flags = flags_of(*node);
    info.shape = node->shape.data();
    info.strides = pending ? nullptr : node->strides.data();
    info.count = node->size();
    info.itemsize = itemsize(node->dtype);
    info.nbytes = info.count * info.itemsize;
    info.backend = backend_of(device);
    info.memory_kind = pending ? PARDO_MEM_DEVICE : static_cast<int32_t>(node->buffer->kind());
    info.device = lent(device);
    info.queue = lent(node->queue.get());
    return info;
}

pardo_memory memory_of(const device::Device* device, const device::Buffer* buffer, int64_t byte) {
    if (device->native_api() == device::NativeApi::None && !buffer->host_visible()) return {sizeof(pardo_memory), nullptr, nullptr, 0};
    const device::NativePlace place = device->native_place(buffer, static_cast<std::size_t>(byte));
    return {sizeof(pardo_memory), place.address, place.object, place.offset};
}

pardo_status array_info(pardo_array array, pardo_array_info* out) {
    return guarded("array_info", [&] { put("array_info", info_of(as_node("array_info", array)), out); });
}

void check_array(const char* what, const graph::Node& node, int32_t dtype, int32_t ndim, uint32_t flags) {
    const auto wrong = [&](ErrorCode code, const std::string& text) { throw Error(code, std::string(what) + ": " + text); };
    if (dtype != PARDO_ANY && dtype != number_of(node.dtype)) {
        const std::string wanted(dtype_name(dtype_of("array_check", dtype)));
        wrong(ErrorCode::Type, "an array of " + wanted + " is expected, not of " + std::string(dtype_name(node.dtype)) +
                                   "; convert it with x.astype(\"" + wanted + "\")");
    }
    if (ndim != PARDO_ANY && ndim != node.shape.size())
        wrong(ErrorCode::Value, "an array of " + std::to_string(ndim) + (ndim == 1 ? " dimension" : " dimensions") +
                                    " is expected, not of the shape " + to_string(node.shape));
    const uint32_t present = flags_of(node);
    for (const auto& [flag, text] : layouts)
        if ((flags & flag) && !(present & flag)) wrong(ErrorCode::Value, std::string("the elements are to be ") + text + "; give x.copy()");
}

pardo_status array_check(pardo_array array, const char* what, int32_t dtype, int32_t ndim, uint32_t flags, pardo_array_info* out) {
    return guarded("array_check", [&] {
        require("array_check", what, "what");
        graph::Node* const node = as_node("array_check", array, what);
        check_array(what, *node, dtype, ndim, flags);
        if (out) put("array_check", info_of(node), out);
    });
}

pardo_status array_empty(pardo_queue queue, int32_t dtype, int32_t ndim, const int64_t* shape, int32_t memory_kind, pardo_array* out) {
    return guarded("array_empty", [&] {
        require("array_empty", out, "out");
        const Extents extents = extents_of("array_empty", ndim, shape, "shape");
        for (const int64_t extent : extents)
            if (extent < 0) throw Error(ErrorCode::Value, "array_empty: the extent " + std::to_string(extent) + " is negative");
        device::Queue* const own = as_queue("array_empty", queue);
        const DType type = dtype_of("array_empty", dtype);
        (void)graph::byte_count(type, Shape(extents), "array_empty");
        const Array made = arrays::make_empty(own, type, Shape(extents), "array_empty", kind_of("array_empty", memory_kind));
        *out = give(made.node());
    });
}

pardo_status array_wrap(pardo_queue queue, void* address, int32_t dtype, int32_t ndim, const int64_t* shape, const int64_t* strides,
                        uint32_t flags, pardo_event ready, void* owner, void (*destroy)(void*), pardo_array* out) {
    return guarded("array_wrap", [&] {
        require("array_wrap", out, "out");
        if (flags & ~uint32_t{PARDO_READ_ONLY})
            throw Error(ErrorCode::Value, "array_wrap: of the flags only PARDO_READ_ONLY can be given, not " + std::to_string(flags));
        const Queue own(as_queue("array_wrap", queue));
        const DType type = dtype_of("array_wrap", dtype);
        const Event written = as_event("array_wrap", ready);
        const Extents extents = extents_of("array_wrap", ndim, shape, "shape");
        const Strides rows = strides ? Strides(extents_of("array_wrap", ndim, strides, "strides")) : contiguous_strides(extents);
        const bool read_only = (flags & PARDO_READ_ONLY) != 0;
        const std::function<void()> release = [owner, destroy] {
            if (destroy) destroy(owner);
        };
        const Array made = own.device().in_host_memory()
                               ? share_host(address, type, extents, rows, read_only, release, own, "array_wrap")
                               : import_memory(address, type, extents, rows, MemoryKind::Device, read_only, release, own, {}, "array_wrap");
        if (made.node()->size() > 0) (void)made.node()->buffer->note_write(written, device::Access::Write, graph::view_of(*made.node()));
        *out = give(made.node());
    });
}

pardo_status array_force(pardo_array array, pardo_event* out) {
    return guarded("array_force", [&] {
        const Array x(as_node("array_force", array));
        InWork::refuse("array_force");
        x.force();
        if (out) *out = give(arrays::joined(x.node()->queue.get(), x.writes()));
    });
}

pardo_status array_contiguous(pardo_array array, int32_t dtype, pardo_array* out) {
    return guarded("array_contiguous", [&] {
        require("array_contiguous", out, "out");
        const Array x(as_node("array_contiguous", array));
        const DType type = dtype == PARDO_ANY ? x.dtype() : dtype_of("array_contiguous", dtype);
        InWork::refuse("array_contiguous");
        *out = give(arrays::as_contiguous(x, type).node());
    });
}

pardo_status array_copy(pardo_queue queue, pardo_array to, pardo_array from, const pardo_event* after, size_t n_after, pardo_event* out) {
    return guarded("array_copy", [&] {
        const Queue own(as_queue("array_copy", queue));
        const Array target(as_node("array_copy", to, "to")), source(as_node("array_copy", from, "from"));
        const std::vector<Event> depends = events_of("array_copy", after, n_after);
        const Event event = own.copy(target, source, depends);
        if (out) *out = give(event);
    });
}

pardo_status array_memory(pardo_array array, pardo_memory* out) {
    return guarded("array_memory", [&] {
        const Array x(as_node("array_memory", array));
        if (x.pending()) InWork::refuse("array_memory");
        x.force();
        const graph::Bound bound(*x.node());
        put("array_memory", memory_of(x.node()->queue->device(), bound.buffer(), bound.first()), out);
    });
}

}  // namespace pardo::capi
