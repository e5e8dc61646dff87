// include/pardo/binding/dlpack.h: tensors of DLPack 1.3, as the specification lays them out, and arrays.
// For pardo's own bindings: no stability.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <pardo/array.h>
#include <pardo/binding/exchange.h>
#include <pardo/export.h>

namespace pardo::dlpack {

struct DLDevice {
    std::int32_t device_type, device_id;
};
struct DLDataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t *shape, *strides;  // strides in elements
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor tensor;
    void* context;
    void (*deleter)(DLManagedTensor*);
};
struct DLVersion {
    std::uint32_t major, minor;
};
struct DLManagedTensorVersioned {
    DLVersion version;
    void* context;
    void (*deleter)(DLManagedTensorVersioned*);
    std::uint64_t flags;
    DLTensor tensor;
};
constexpr std::uint64_t flag_read_only = 1, flag_copied = 2;
constexpr std::uint32_t major_version = 1, minor_version = 3;

/// Types of devices.
constexpr std::int32_t dl_cpu = 1, dl_cuda = 2, dl_cuda_host = 3, dl_rocm_host = 11, dl_cuda_managed = 13;
constexpr bool host_readable(std::int32_t type) {
    return type == dl_cpu || type == dl_cuda_host || type == dl_rocm_host || type == dl_cuda_managed;
}

PARDO_API DLDataType dl_type(DType t) noexcept;
/// Nothing for a type that no dtype is.
PARDO_API std::optional<DType> dtype_of(const DLDataType& d) noexcept;

/// A tensor with what it keeps: one block of memory.
template <class Managed> struct Exported {
    Managed managed;
    Loan loan;                     // of memory of the host
    std::function<void()> let_go;  // of a device's
    std::int64_t few[8];
    std::vector<std::int64_t> many;  // where there are more dimensions
};

template <class Managed> void delete_exported(Managed* m) {
    auto* e = static_cast<Exported<Managed>*>(m->context);
    if (e->let_go) e->let_go();
    delete e;
}

/// Of an array whose first element is at `data`; others may write it, or not, which versions before 1.0 cannot say.
template <class Managed> std::unique_ptr<Exported<Managed>> described(const Array& x, void* data, DLDevice device, bool writable) {
    auto e = std::make_unique<Exported<Managed>>();
    const auto ndim = static_cast<std::size_t>(x.ndim());
    if (2 * ndim > std::size(e->few)) e->many.resize(2 * ndim);
    std::int64_t* const shape = e->many.empty() ? e->few : e->many.data();
    std::ranges::copy(x.shape(), shape);
    std::ranges::copy(x.strides(), shape + ndim);
    e->managed.tensor = {x.size() == 0 ? nullptr : data, device, x.ndim(), dl_type(x.dtype()), shape, shape + ndim, 0};
    e->managed.context = e.get();
    e->managed.deleter = &delete_exported<Managed>;
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
        e->managed.version = {major_version, minor_version};
        e->managed.flags = writable ? 0 : flag_read_only;
    }
    return e;
}

/// A tensor of an array that is complete in memory of the host, in the least of time: others may write it unless it is read-only. Null
/// where that would compute or wait, or where there are many dimensions. The handle is the caller's own, as for `lend`.
PARDO_API DLManagedTensorVersioned* tensor_at_once(const Array& x);

/// Where other libraries find an array's memory; nothing where they do not reach it, as memory of kind 'device' of OpenCL. Forces.
PARDO_API std::optional<DLDevice> place_of(const Array& x);

/// A tensor of other code, which is deleted once; `drop` calls the deleter, at a time of its own.
struct Imported {
    using Deleter = void (*)(void* managed);
    using Drop = void (*)(Deleter deleter, void* managed);

    template <class Managed> Imported(Managed* m, Drop how) : managed(m), drop(how), tensor(&m->tensor) {
        if (m->deleter) deleter = [](void* p) { static_cast<Managed*>(p)->deleter(static_cast<Managed*>(p)); };
        if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) read_only = (m->flags & flag_read_only) != 0;
    }
    Imported(Imported&& other) noexcept
        : managed(other.managed),
          deleter(std::exchange(other.deleter, nullptr)),
          drop(other.drop),
          tensor(other.tensor),
          read_only(other.read_only) {}
    Imported& operator=(Imported&&) = delete;
    ~Imported() {
        if (deleter) drop(deleter, managed);
    }

    /// An array on its memory, which `share` makes of the function that deletes it.
    template <class F> Array owned_by(F&& share) && {
        const Array made = share([f = deleter, m = managed, how = drop] {
            if (f) how(f, m);
        });
        deleter = nullptr;
        return made;
    }

    void* managed;
    Deleter deleter = nullptr;
    Drop drop;
    const DLTensor* tensor;
    bool read_only = true;  // before version 1.0 a producer cannot say; nothing is damaged if it is not written
};

/// Throws Buffer for another major version.
PARDO_API void check_version(const char* op_name, const DLManagedTensorVersioned& m);
/// The canonical queue of the device that a tensor's memory is on, if that is one of ours that is not the host.
PARDO_API std::optional<Queue> home_of(int type, int id);

/// The tensor on the device where it is, without a copy. Throws Buffer as "<op_name>: …" of what does not describe memory there.
PARDO_API Array share_tensor(const char* op_name, Imported i, const Queue& home);
/// Whether import_tensor shares the memory: it copies nothing.
PARDO_API bool shares(const DLTensor& t, const Queue& queue, std::optional<bool> copy);
/// A tensor of memory that the host reads: shared, where the queue's device can use it, else copied; then it is deleted. Throws Buffer as
/// above, and Value where `copy` is false and there is no other way.
PARDO_API Array import_tensor(const char* op_name, Imported i, const Queue& queue, std::optional<bool> copy);

}  // namespace pardo::dlpack
