// src/array/dlpack.cpp: tensors of DLPack and arrays.
#include <array>
#include <string>

#include <pardo/binding/dlpack.h>
#include <pardo/error.h>

#include "array/lend.h"
#include "array/record.h"
#include "device/device.h"

namespace pardo::dlpack {
namespace {

/// DLPack's code of each dtype.
constexpr std::uint8_t type_codes[] = {6, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 5, 5, 4};
static_assert(std::size(type_codes) == dtype_count);

/// The dtype of each code and number of bytes; -1 where there is none.
constexpr auto dtypes_of_codes = [] {
    std::array<std::array<std::int8_t, 17>, 7> known{};
    for (auto& row : known) row.fill(-1);
    for (int t = 0; t < dtype_count; ++t)
        known[type_codes[t]][static_cast<std::size_t>(itemsize(static_cast<DType>(t)))] = static_cast<std::int8_t>(t);
    return known;
}();

constexpr std::int32_t most_dimensions = 32;

/// A tensor's parts as an array has them.
struct Parts {
    DType dtype;
    char* data;
    Extents shape;
    std::int64_t strides[most_dimensions];  // elements

    Extents steps() const { return {strides, shape.size()}; }
};

[[noreturn]] void refuse(const char* op_name, const std::string& what) {
    throw Error(ErrorCode::Buffer, std::string(op_name) + ": " + what);
}

/// Reads what a description says; whether it can be true of memory is for memory_range to say.
Parts parts_of(const char* op_name, const DLTensor& t) {
    const auto dtype = dtype_of(t.dtype);
    if (!dtype) {
        refuse(op_name, "elements of DLPack type code " + std::to_string(t.dtype.code) + " with " + std::to_string(t.dtype.bits) +
                            " bits and " + std::to_string(t.dtype.lanes) + " lanes are not supported");
    }
    if (t.ndim < 0 || t.ndim > most_dimensions) {
        refuse(op_name,
               "the tensor has " + std::to_string(t.ndim) + " dimensions; 0 to " + std::to_string(most_dimensions) + " are supported");
    }
    if (t.ndim > 0 && !t.shape) refuse(op_name, "the tensor has " + std::to_string(t.ndim) + " dimensions and no shape");
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(t.data);
    if (t.byte_offset > ~address) refuse(op_name, "byte_offset " + std::to_string(t.byte_offset) + " leaves the address space");
    const auto ndim = static_cast<std::size_t>(t.ndim);
    Parts p;
    p.dtype = *dtype;
    p.data = t.data ? reinterpret_cast<char*>(address + static_cast<std::uintptr_t>(t.byte_offset)) : nullptr;
    p.shape = {t.shape, ndim};
    std::uint64_t next = 1;  // unsigned: a product may overflow, of what is refused or empty
    for (std::size_t d = ndim; d-- > 0;) {
        p.strides[d] = t.strides ? t.strides[d] : static_cast<std::int64_t>(next);
        next *= static_cast<std::uint64_t>(p.shape[d]);
    }
    return p;
}

}  // namespace

DLDataType dl_type(DType t) noexcept { return {type_codes[static_cast<int>(t)], static_cast<std::uint8_t>(8 * itemsize(t)), 1}; }

std::optional<DType> dtype_of(const DLDataType& d) noexcept {
    if (d.code >= dtypes_of_codes.size() || d.bits % 8 != 0 || d.bits > 128 || d.lanes != 1) return {};
    const std::int8_t t = dtypes_of_codes[d.code][d.bits / 8];
    return t < 0 ? std::nullopt : std::optional(static_cast<DType>(t));
}

namespace {

/// One block of memory, each word of which is written once.
struct AtOnce {
    static constexpr int most_dimensions = 4;
    DLManagedTensorVersioned managed;
    device::Buffer* buffer;  // lent
    std::int64_t shape[most_dimensions], strides[most_dimensions];
};

void delete_at_once(DLManagedTensorVersioned* m) {
    const auto* made = static_cast<AtOnce*>(m->context);
    arrays::take_back(*made->buffer, (m->flags & flag_read_only) == 0);
    delete made;
}

}  // namespace

DLManagedTensorVersioned* tensor_at_once(const Array& x) {
    const graph::Node& node = arrays::node_of(x, "__dlpack__");
    const int ndim = node.shape.size();
    if (node.pending() || ndim > AtOnce::most_dimensions) return nullptr;
    if (!node.queue->device()->can(device::Feature::HostMemory) || !node.buffer->host_visible()) return nullptr;
    auto made = std::make_unique_for_overwrite<AtOnce>();
    std::int64_t count = 1;
    bool repeats = false;  // elements, which then cannot be written
    for (int d = 0; d < ndim; ++d) {
        const std::int64_t extent = node.shape[d], stride = node.strides[d];
        made->shape[d] = extent;
        made->strides[d] = stride;
        count *= extent;
        repeats |= stride == 0 && extent > 1;
    }
    const bool writable = !node.read_only && !node.buffer->read_only() && (!repeats || count == 0);
    if (!arrays::lend_at_once(node, writable)) return nullptr;
    made->buffer = node.buffer.get();
    char* const first = static_cast<char*>(node.buffer->data()) + node.offset * itemsize(node.dtype);
    made->managed = {{major_version, minor_version},
                     made.get(),
                     &delete_at_once,
                     writable ? 0 : flag_read_only,
                     {count == 0 ? nullptr : first, {dl_cpu, 0}, ndim, dl_type(node.dtype), made->shape, made->strides, 0}};
    return &made.release()->managed;
}

std::optional<DLDevice> place_of(const Array& x) {
    if (x.device().in_host_memory()) return DLDevice{dl_cpu, 0};
    const std::optional<std::pair<int, int>> place = dlpack_device(x);
    if (!place || (place->first == dl_cpu && x.memory_kind() == MemoryKind::Device)) return std::nullopt;
    return DLDevice{place->first, place->second};
}

void check_version(const char* op_name, const DLManagedTensorVersioned& m) {
    if (m.version.major != major_version)
        refuse(op_name, "DLPack version " + std::to_string(m.version.major) + " is not supported; 1.x is");
}

std::optional<Queue> home_of(int type, int id) {
    if (host_readable(type) && type != dl_cuda_managed) return {};
    const std::optional<Device> device = device_of_dlpack(type, id);
    return device ? std::optional(Queue::of(*device)) : std::nullopt;
}

Array share_tensor(const char* op_name, Imported i, const Queue& home) {
    const DLDevice device = i.tensor->device;
    if (device.device_type != dl_cuda && device.device_type != dl_cuda_managed)
        refuse(op_name, "the tensor's memory is on device (" + std::to_string(device.device_type) + ", " +
                            std::to_string(device.device_id) + "), and __dlpack_device__ says otherwise");
    const Parts p = parts_of(op_name, *i.tensor);
    const auto kind = device.device_type == dl_cuda_managed ? MemoryKind::Shared : MemoryKind::Device;
    const bool read_only = i.read_only;
    return std::move(i).owned_by(
        [&](auto release) { return import_memory(p.data, p.dtype, p.shape, p.steps(), kind, read_only, release, home, {}, op_name); });
}

namespace {

bool is_misaligned(const DLTensor& t) {
    const std::optional<DType> dtype = dtype_of(t.dtype);
    if (!dtype) return false;  // parts_of refuses it
    const auto alignment = static_cast<std::uintptr_t>(is_complex(*dtype) ? itemsize(*dtype) / 2 : itemsize(*dtype));
    return (reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset) % alignment != 0;
}

}  // namespace

bool shares(const DLTensor& t, const Queue& queue, std::optional<bool> copy) {
    return !copy.value_or(false) && queue.device().takes_host_memory() && !is_misaligned(t);
}

Array import_tensor(const char* op_name, Imported i, const Queue& queue, std::optional<bool> copy) {
    const DLTensor& t = *i.tensor;
    if (!host_readable(t.device.device_type)) refuse(op_name, "the tensor's memory is not readable by the host");
    Parts p = parts_of(op_name, t);
    if (shares(t, queue, copy)) {
        const bool read_only = i.read_only;
        return std::move(i).owned_by(
            [&](auto release) { return share_host(p.data, p.dtype, p.shape, p.steps(), read_only, release, queue, op_name); });
    }
    const std::int64_t size = itemsize(p.dtype);
    const bool is_empty = memory_range(op_name, p.data, p.dtype, p.shape, p.steps(), size).bytes == 0;
    if (copy == false) {
        throw Error(ErrorCode::Value,
                    std::string(op_name) + ": copy=False is impossible: " +
                        (is_misaligned(t) ? "the memory is not aligned for its dtype" : "the device does not share the host's memory"));
    }
    // Without elements strides may be any numbers: they are not computed with.
    for (std::size_t d = 0; d < p.shape.size(); ++d) p.strides[d] = p.shape[d] > 1 && !is_empty ? p.strides[d] * size : size;
    return from_host(p.data, p.dtype, p.shape, p.steps(), queue, MemoryKind::Device, op_name);
}

}  // namespace pardo::dlpack
