// python/bind/array/exchange.cpp: memory shared with other libraries: the buffer protocol, DLPack 1.1, CUDA's array interface, both ways.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <pardo/exchange.h>

#include "bind.h"

namespace bind {
namespace {

using namespace nb::literals;
using pardo::Array;
using pardo::DType;

// --- DLPack's structures, as its specification lays them out -------------------------------------------------------------------

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
struct DLManagedTensorVersioned {
    std::uint32_t major, minor;
    void* context;
    void (*deleter)(DLManagedTensorVersioned*);
    std::uint64_t flags;
    DLTensor tensor;
};
constexpr std::int32_t dl_cpu = 1, dl_cuda = 2, dl_cuda_host = 3, dl_rocm_host = 11, dl_cuda_managed = 13;
constexpr std::uint64_t flag_read_only = 1, flag_copied = 2;
constexpr std::uint32_t major_version = 1, minor_version = 1;

/// One row a dtype: DLPack's code, and the format letter of the buffer protocol.
struct ExchangeType {
    std::uint8_t code;
    const char* format;
};
constexpr ExchangeType exchange_types[pardo::dtype_count] = {
    {6, "?"}, {0, "b"}, {0, "h"}, {0, "i"}, {0, "l"}, {1, "B"},  {1, "H"},
    {1, "I"}, {1, "L"}, {2, "e"}, {2, "f"}, {2, "d"}, {5, "Zf"}, {5, "Zd"},
};
static_assert(sizeof(long) == 8, "the format of 64-bit integers is 'l' here, as NumPy's");

DLDataType dl_type(DType t) { return {exchange_types[static_cast<int>(t)].code, static_cast<std::uint8_t>(8 * pardo::itemsize(t)), 1}; }

std::optional<DType> dtype_of(const DLDataType& d) {
    for (int t = 0; t < pardo::dtype_count; ++t) {
        const DLDataType mine = dl_type(static_cast<DType>(t));
        if (d.code == mine.code && d.bits == mine.bits && d.lanes == 1) return static_cast<DType>(t);
    }
    return {};
}

[[noreturn]] void refuse(const std::string& message) { throw pardo::Error(pardo::ErrorCode::Buffer, message); }

bool host_readable(std::int32_t type) { return type == dl_cpu || type == dl_cuda_host || type == dl_rocm_host || type == dl_cuda_managed; }

/// True when the host reads the memory where it is: on the CPU, and of other devices what is of a kind that is shared with it. Memory of
/// the kind 'device' is not, also where a driver would let the host read it: what programs may do is the same on all of these devices.
bool on_host(const Array& x) {
    if (x.device().in_host_memory()) return true;
    const Unlocked unlocked;  // to know the kind of memory may take the value
    if (x.memory_kind() == pardo::MemoryKind::Device) return false;
    const auto place = pardo::dlpack_device(x);
    return place && host_readable(place->first);
}

// --- export: the buffer protocol -----------------------------------------------------------------------------------------------

struct HeldView {
    Ints shape, strides;
    std::function<void()> let_go;
};

bool is_fortran_contiguous(const Array& x) {
    std::int64_t expected = 1;
    for (int d = 0; d < x.ndim(); ++d) {
        if (x.shape()[d] > 1 && x.strides()[d] != expected) return false;
        expected *= x.shape()[d];
    }
    return true;
}

void check_layout(const Array& x, int flags) {
    const bool c = x.is_contiguous(), f = is_fortran_contiguous(x);
    const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c) refuse("the array is not C-contiguous");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f) refuse("the array is not Fortran-contiguous");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !f) refuse("the array is not contiguous");
    if (!strided && !c) refuse("the array is not C-contiguous, and the consumer takes no strides");
}

// --- export: DLPack --------------------------------------------------------------------------------------------------------------

struct Exported {
    Array array;  // keeps shape and handle
    Ints shape, strides;
    std::function<void()> let_go;
};

template <class Managed> void delete_exported(Managed* m) {
    auto* e = static_cast<Exported*>(m->context);
    e->let_go();
    delete e;
    delete m;
}

template <class Managed> PyObject* new_capsule(std::unique_ptr<Managed> m, const char* name) {
    PyObject* capsule = PyCapsule_New(m.get(), name, [](PyObject* o) {
        const char* const mine = PyCapsule_GetName(o);
        if (mine && std::string_view(mine).starts_with("used_")) return;
        if (auto* t = static_cast<Managed*>(PyCapsule_GetPointer(o, mine))) t->deleter(t);
    });
    if (!capsule) {
        m->deleter(m.release());
        throw nb::python_error();
    }
    (void)m.release();  // the capsule's
    return capsule;
}

/// What lets go of the exported memory; one that others may write is waited for.
std::function<void()> held(const Array& x, bool writable) {
    if (!writable) return x.hold();
    const Unlocked unlocked;
    return x.share_writable();
}

/// Where the tensor of an export is, and what uses it next.
struct Destination {
    DLDevice device{dl_cpu, 0};
    std::optional<pardo::ForeignStream> stream;
};

/// The first element and what lets go of it. Memory of the host is complete when this returns; a device's is when `stream` gets there.
pardo::ExportedMemory memory_for(const Array& x, const Destination& to, bool writable) {
    if (to.device.device_type == dl_cpu) return {const_cast<void*>(x.data()), held(x, writable)};
    const Unlocked unlocked;
    return pardo::export_memory(x, to.stream, writable);
}

template <class Managed> std::unique_ptr<Managed> export_tensor(const Array& x, bool writable, const Destination& to) {
    auto e = std::make_unique<Exported>();
    pardo::ExportedMemory memory = memory_for(x, to, writable);
    e->array = x;
    e->shape.assign(x.shape().begin(), x.shape().end());
    e->strides.assign(x.strides().begin(), x.strides().end());
    e->let_go = std::move(memory.let_go);
    auto m = std::make_unique<Managed>();
    m->tensor = {x.size() == 0 ? nullptr : memory.data, to.device, x.ndim(), dl_type(x.dtype()), e->shape.data(), e->strides.data(), 0};
    m->deleter = &delete_exported<Managed>;
    m->context = e.release();
    return m;
}

/// A pair of integers that the protocol exchanges: a device, a version.
std::pair<int, int> pair_from(nb::handle o, const char* what) {
    std::pair<int, int> pair;
    if (!nb::try_cast<std::pair<int, int>>(o, pair)) {
        throw pardo::Error(pardo::ErrorCode::Type, std::string(what) + " must be a pair of integers, not " + text_from(nb::repr(o)));
    }
    return pair;
}

constexpr int legacy_stream = 1, no_order = -1;

/// The array API's words for CUDA: None and 1 are the legacy default stream, 2 is the thread's, -1 asks for none, others are addresses.
std::optional<pardo::ForeignStream> stream_from(nb::handle stream) {
    if (stream.is_none()) return legacy_stream;
    std::int64_t value = 0;
    if (!nb::try_cast<std::int64_t>(stream, value))
        throw pardo::Error(pardo::ErrorCode::Type, "__dlpack__: stream must be an integer or None, not " + class_name(stream));
    if (value == no_order) return std::nullopt;
    if (value <= 0) {
        throw pardo::Error(pardo::ErrorCode::Value, "__dlpack__: stream is " + std::to_string(value) +
                                                        "; with CUDA it is 1, 2, the address of a stream, -1 for no order, or None");
    }
    return static_cast<pardo::ForeignStream>(value);
}

std::string text_of(DLDevice d) { return "(" + std::to_string(d.device_type) + ", " + std::to_string(d.device_id) + ")"; }

/// Where the array itself is, in DLPack's terms; throws Buffer where no other library can use it.
DLDevice place_of(const Array& x, const char* op_name) {
    if (x.device().in_host_memory()) return {dl_cpu, 0};
    std::optional<std::pair<int, int>> place;
    {
        const Unlocked unlocked;
        place = pardo::dlpack_device(x);
    }
    if (!place) refuse(std::string(op_name) + ": device " + x.device().id() + " cannot be exported");
    return {place->first, place->second};
}

nb::object dlpack(nb::handle_t<Array> self, nb::object stream, nb::object max_version, nb::object dl_device, std::optional<bool> copy) {
    const Array& x = array_of(self.ptr());
    Destination to{place_of(x, "__dlpack__"), {}};
    bool to_host = false;
    if (!dl_device.is_none()) {
        const auto [type, id] = pair_from(dl_device, "__dlpack__: dl_device");
        to_host = to.device.device_type != dl_cpu && type == dl_cpu && id == 0 && copy != false;
        if (!to_host && (type != to.device.device_type || id != to.device.device_id)) {
            refuse("__dlpack__: dl_device is " + text_of({type, id}) + "; an array on " + x.device().id() + " can be exported to " +
                   text_of(to.device) + (to.device.device_type == dl_cpu ? " only" : ", and copied to (1, 0)"));
        }
    }
    if (to_host) to.device = {dl_cpu, 0};
    if (to.device.device_type == dl_cpu && !to_host && !stream.is_none())
        throw pardo::Error(pardo::ErrorCode::Value, "__dlpack__: stream must be None for an array on the CPU");
    if (to.device.device_type == dl_cuda || to.device.device_type == dl_cuda_managed) to.stream = stream_from(stream);
    const bool versioned =
        !max_version.is_none() && pair_from(max_version, "__dlpack__: max_version").first >= static_cast<int>(major_version);
    const bool copied = to_host || copy.value_or(false);
    const Array source = to_host ? x.to_device(pardo::Device("cpu")) : copied ? x.copy() : x;
    if (to.device.device_type == dl_cpu) settle(source);
    const bool writable = source.writeable();
    if (versioned) {
        auto m = export_tensor<DLManagedTensorVersioned>(source, writable, to);
        m->major = major_version;
        m->minor = minor_version;
        m->flags = (writable ? 0 : flag_read_only) | (copied ? flag_copied : 0);
        return nb::steal(new_capsule(std::move(m), "dltensor_versioned"));
    }
    if (!writable) refuse("__dlpack__: the array is read-only, and DLPack before version 1.0 cannot say so; ask with max_version=(1, 0)");
    return nb::steal(new_capsule(export_tensor<DLManagedTensor>(source, true, to), "dltensor"));
}

// --- export: CUDA's array interface ------------------------------------------------------------------------------------------------

/// Version 3 of the protocol. Its consumer keeps the array alive and may write, so the memory is shared from now on; work of theirs may
/// outlast the array, which the memory's next user waits for.
nb::object cuda_array_interface(nb::handle_t<Array> self) {
    const Array& x = array_of(self.ptr());
    const bool on_cuda = x.device().dlpack_device().first == dl_cuda;
    if (!on_cuda) throw nb::attribute_error("__cuda_array_interface__: the array is on a device that CUDA does not know");
    const bool writable = x.writeable();
    const Array shared = x;
    void* data = nullptr;
    const pardo::ForeignStream own = pardo::native_stream(x.queue());
    {
        const Unlocked unlocked;
        data = pardo::lend_memory(shared, own ? std::optional(own) : std::nullopt, writable);
    }
    nb::dict d;
    d["shape"] = tuple_of(x.shape());
    d["typestr"] = dtype_to_python(x.dtype()).attr("str");
    d["data"] = nb::make_tuple(x.size() == 0 ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(data), !writable);
    d["version"] = 3;
    if (x.is_contiguous()) {
        d["strides"] = nb::none();
    } else {
        Ints strides(x.strides().begin(), x.strides().end());
        for (auto& s : strides) s *= pardo::itemsize(x.dtype());
        d["strides"] = tuple_of(strides);
    }
    d["stream"] = own ? nb::object(nb::int_(own)) : nb::object(nb::none());
    return d;
}

// --- import: DLPack --------------------------------------------------------------------------------------------------------------

/// A tensor taken out of its capsule; deleted once, when the GIL is held: some deleters need it.
struct Imported {
    void* managed = nullptr;
    void (*deleter)(void*) = nullptr;
    const DLTensor* tensor = nullptr;
    bool read_only = true;  // before version 1.0 a producer cannot say; nothing is damaged if it is not written
};

void delete_imported(void* p) {
    const std::unique_ptr<Imported> i(static_cast<Imported*>(p));
    if (i->deleter) i->deleter(i->managed);
}

struct LaterDeleter {
    void operator()(Imported* i) const { call_later(&delete_imported, i); }
};
using ImportedHandle = std::unique_ptr<Imported, LaterDeleter>;

template <class Managed> ImportedHandle take(PyObject* capsule, const char* name, const char* used) {
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    if (!m) throw nb::python_error();
    ImportedHandle i(new Imported);
    i->managed = m;
    i->tensor = &m->tensor;
    if (m->deleter) i->deleter = [](void* p) { static_cast<Managed*>(p)->deleter(static_cast<Managed*>(p)); };
    if (PyCapsule_SetName(capsule, used) != 0) throw nb::python_error();
    return i;
}

ImportedHandle open_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const auto* m = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        if (m->major != major_version) refuse("from_dlpack: DLPack version " + std::to_string(m->major) + " is not supported; 1.x is");
        auto i = take<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned");
        i->read_only = (static_cast<DLManagedTensorVersioned*>(i->managed)->flags & flag_read_only) != 0;
        return i;
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) return take<DLManagedTensor>(capsule, "dltensor", "used_dltensor");
    refuse("from_dlpack: __dlpack__ returned no capsule that holds a tensor");
}

/// The canonical queue of the device that a tensor's memory is on, if that is one of ours that is not the host.
std::optional<pardo::Queue> home_of(int type, int id) {
    if (type != dl_cuda && type != dl_cuda_managed) return {};
    for (const pardo::Device& d : pardo::get_devices("cuda")) {
        if (d.dlpack_device().second == id) return pardo::Queue::of(d);
    }
    return {};
}

/// The producer's capsule; keywords that an old producer does not know are left out the second time. `stream`: where the tensor will be
/// used.
nb::object ask(nb::handle x, bool to_host, std::optional<bool> copy, pardo::ForeignStream stream = 0) {
    nb::dict keywords;
    keywords["max_version"] = nb::make_tuple(major_version, minor_version);
    if (stream) keywords["stream"] = nb::int_(stream);
    if (to_host) {
        keywords["dl_device"] = nb::make_tuple(dl_cpu, 0);
        if (copy) keywords["copy"] = *copy;
    }
    const nb::object method = x.attr("__dlpack__");
    try {
        return method(**keywords);
    } catch (nb::python_error& e) {
        if (to_host || !e.matches(PyExc_TypeError)) throw;
    }
    return stream ? method("stream"_a = nb::int_(stream)) : method();
}

/// A tensor's parts as an array has them.
struct Parts {
    DType dtype;
    Ints shape, strides;  // elements
    char* data;
};
constexpr std::int32_t most_dimensions = 32;

/// Reads what a description says; whether it can be true of memory is for pardo::memory_range to say.
Parts parts_of(const DLTensor& t) {
    const auto dtype = dtype_of(t.dtype);
    if (!dtype) {
        refuse("from_dlpack: elements of DLPack type code " + std::to_string(t.dtype.code) + " with " + std::to_string(t.dtype.bits) +
               " bits and " + std::to_string(t.dtype.lanes) + " lanes are not supported");
    }
    if (t.ndim < 0 || t.ndim > most_dimensions) {
        refuse("from_dlpack: the tensor has " + std::to_string(t.ndim) + " dimensions; 0 to " + std::to_string(most_dimensions) +
               " are supported");
    }
    if (t.ndim > 0 && !t.shape) refuse("from_dlpack: the tensor has " + std::to_string(t.ndim) + " dimensions and no shape");
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(t.data);
    if (t.byte_offset > ~address) refuse("from_dlpack: byte_offset " + std::to_string(t.byte_offset) + " leaves the address space");
    const auto ndim = static_cast<std::size_t>(t.ndim);
    Parts p{*dtype, Ints(t.shape, t.shape + ndim), Ints(ndim),
            t.data ? reinterpret_cast<char*>(address + static_cast<std::uintptr_t>(t.byte_offset)) : nullptr};
    std::uint64_t next = 1;  // unsigned: a product may overflow, of what is refused or empty
    for (std::size_t d = ndim; d-- > 0;) {
        p.strides[d] = t.strides ? t.strides[d] : static_cast<std::int64_t>(next);
        next *= static_cast<std::uint64_t>(p.shape[d]);
    }
    return p;
}

/// The tensor on the device where it is, without a copy.
Array share_tensor(ImportedHandle i, const pardo::Queue& home) {
    const DLDevice device = i->tensor->device;
    if (device.device_type != dl_cuda && device.device_type != dl_cuda_managed)
        refuse("from_dlpack: the tensor's memory is on device " + text_of(device) + ", and __dlpack_device__ says otherwise");
    const Parts p = parts_of(*i->tensor);
    const auto kind = device.device_type == dl_cuda_managed ? pardo::MemoryKind::Shared : pardo::MemoryKind::Device;
    const bool read_only = i->read_only;
    Imported* const raw = i.release();
    try {
        return pardo::import_memory(
            p.data, p.dtype, p.shape, p.strides, kind, read_only, [raw] { call_later(&delete_imported, raw); }, home, {}, "from_dlpack");
    } catch (...) {
        i.reset(raw);
        throw;
    }
}

/// Of memory that other code may write at once: a copy is complete when this returns.
Array copied_now(const Array& x) {
    const Array y = x.copy();
    const Unlocked unlocked;
    y.wait();
    return y;
}

/// An array that shares a device's memory, where it is wanted.
Array delivered(const char* op_name, const Array& shared, const pardo::Queue* queue, std::optional<bool> copy) {
    if (queue && !(*queue == shared.queue())) {
        if (copy == false)
            throw pardo::Error(pardo::ErrorCode::Value,
                               std::string(op_name) + ": copy=False is impossible: the memory is on " + shared.device().id());
        const Unlocked unlocked;
        Array moved = shared.to_queue(*queue);
        moved.wait();
        return moved;
    }
    return copy.value_or(false) ? copied_now(shared) : shared;
}

Array import_tensor(ImportedHandle i, const pardo::Queue& queue, std::optional<bool> copy) {
    const DLTensor& t = *i->tensor;
    if (!host_readable(t.device.device_type)) refuse("from_dlpack: the tensor's memory is not readable by the host");
    Parts p = parts_of(t);
    const std::int64_t size = pardo::itemsize(p.dtype);
    (void)pardo::memory_range("from_dlpack", p.data, p.dtype, p.shape, p.strides, size);
    // Without elements strides may be any numbers: they are not computed with.
    if (std::find(p.shape.begin(), p.shape.end(), 0) != p.shape.end()) std::fill(p.strides.begin(), p.strides.end(), 1);
    const auto alignment = static_cast<std::uintptr_t>(pardo::is_complex(p.dtype) ? size / 2 : size);
    const bool misaligned = reinterpret_cast<std::uintptr_t>(p.data) % alignment != 0;
    const bool elsewhere = !queue.device().takes_host_memory();
    if (copy == false && (misaligned || elsewhere)) {
        throw pardo::Error(pardo::ErrorCode::Value,
                           misaligned ? "from_dlpack: copy=False is impossible: the memory is not aligned for its dtype"
                                      : "from_dlpack: copy=False is impossible: the device does not share the host's memory");
    }
    if (copy.value_or(false) || misaligned || elsewhere) {
        for (std::size_t d = 0; d < p.strides.size(); ++d) p.strides[d] = p.shape[d] > 1 ? p.strides[d] * size : size;
        const Unlocked unlocked;
        return pardo::from_host(p.data, p.dtype, p.shape, p.strides, queue, pardo::MemoryKind::Device, "from_dlpack");
    }
    const bool read_only = i->read_only;
    Imported* const raw = i.release();
    try {
        return pardo::share_host(
            p.data, p.dtype, p.shape, p.strides, read_only, [raw] { call_later(&delete_imported, raw); }, queue, "from_dlpack");
    } catch (...) {
        i.reset(raw);
        throw;
    }
}

/// Without a queue the array is where the tensor is, if that is a device of ours, and else on the CPU.
Array from_dlpack(nb::handle x, std::optional<pardo::Queue> queue, std::optional<bool> copy) {
    if (!nb::hasattr(x, "__dlpack_device__")) {
        throw pardo::Error(pardo::ErrorCode::Type, "from_dlpack: " + class_name(x) + " has no __dlpack_device__ method");
    }
    const auto [type, id] = pair_from(nb::object(x.attr("__dlpack_device__")()), "from_dlpack: __dlpack_device__");
    if (const std::optional<pardo::Queue> home = home_of(type, id)) {
        const pardo::Queue& where = queue && queue->device() == home->device() ? *queue : *home;
        const nb::object capsule = ask(x, false, {}, pardo::native_stream(where));
        return delivered("from_dlpack", share_tensor(open_capsule(capsule.ptr()), where), queue ? &*queue : nullptr, copy);
    }
    if (!queue) queue = pardo::Queue::of(pardo::Device("cpu"));
    const bool to_host = !host_readable(type);
    if (to_host && copy == false) {
        throw pardo::Error(pardo::ErrorCode::Value, "from_dlpack: copy=False is impossible: the tensor is on another device (DLPack type " +
                                                        std::to_string(type) + ")");
    }
    const nb::object capsule = ask(x, to_host, copy);
    return import_tensor(open_capsule(capsule.ptr()), *queue, copy);
}

constexpr const char* of_cuda = "asarray: __cuda_array_interface__";

/// What CUDA's array interface says, taken apart in Python (strides in bytes); `owner` is kept while the memory is used. The stream is 0
/// when nothing is to be waited for.
Array from_cuda_memory(std::uintptr_t address, DType dtype, const Ints& shape, Ints strides, bool read_only, std::uintptr_t stream,
                       nb::object owner, std::optional<pardo::Queue> queue, std::optional<bool> copy) {
    void* const data = reinterpret_cast<void*>(address);
    const pardo::MemoryRange range = pardo::memory_range(of_cuda, data, dtype, shape, strides, 1);
    const std::optional<pardo::Device> device = range.bytes > 0 ? pardo::device_of_memory(range)
                                                : queue         ? std::optional(queue->device())
                                                                : std::nullopt;
    if (!device) refuse("asarray: the memory of __cuda_array_interface__ is not in one allocation of a device that pardo sees");
    const pardo::Queue where = queue && queue->device() == *device ? *queue : pardo::Queue::of(*device);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        if (range.bytes == 0 || shape[d] < 2) strides[d] = pardo::itemsize(dtype);
        if (strides[d] % pardo::itemsize(dtype) != 0)
            refuse("asarray: strides that are not multiples of the element size are not supported");
        strides[d] /= pardo::itemsize(dtype);
    }
    PyObject* const kept = owner.release().ptr();
    const auto let_go = [kept] { call_later([](void* p) { Py_DECREF(static_cast<PyObject*>(p)); }, kept); };
    std::optional<Array> shared;
    try {
        shared = pardo::import_memory(data, dtype, shape, strides, pardo::MemoryKind::Device, read_only, let_go, where,
                                      stream && range.bytes > 0 ? std::optional(stream) : std::nullopt, of_cuda);
    } catch (...) {
        let_go();
        throw;
    }
    return delivered("asarray", *shared, queue ? &*queue : nullptr, copy);
}

}  // namespace

namespace {
/// NumPy takes every exception of the buffer protocol for "there is no buffer", and tries __array__ next: Ctrl-C would be lost.
thread_local PyObject* interrupted = nullptr;
}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    return guarded(-1, [&] {
        const Array& x = array_of(self);
        if (!on_host(x)) refuse("the array is on " + x.device().id() + "; copy it to the host with pardo.asnumpy(x)");
        const bool writable = flags & PyBUF_WRITABLE;
        interrupted = nullptr;
        try {
            settle(x);
        } catch (nb::python_error& e) {
            if (e.matches(PyExc_KeyboardInterrupt)) interrupted = self;
            throw;
        }
        check_layout(x, flags);
        if (writable && !x.writeable()) refuse("the array is read-only");
        auto exported = std::make_unique<HeldView>();
        exported->shape.assign(x.shape().begin(), x.shape().end());
        exported->strides.assign(x.strides().begin(), x.strides().end());
        for (auto& s : exported->strides) s *= pardo::itemsize(x.dtype());
        // What nobody else can see may be written too, whether that was asked for or not: NumPy asks for less than it can use.
        const bool written = writable || (looks_temporary(self) && x.writeable() && pardo::only_holder(x));
        exported->let_go = held(x, written);
        static char nothing[16];
        view->buf = x.size() == 0 ? nothing : const_cast<void*>(x.data());
        view->len = static_cast<Py_ssize_t>(x.nbytes());
        view->itemsize = pardo::itemsize(x.dtype());
        view->readonly = !written;
        view->ndim = x.ndim();
        view->format = flags & PyBUF_FORMAT ? const_cast<char*>(exchange_types[static_cast<int>(x.dtype())].format) : nullptr;
        view->shape = flags & PyBUF_ND ? reinterpret_cast<Py_ssize_t*>(exported->shape.data()) : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? reinterpret_cast<Py_ssize_t*>(exported->strides.data()) : nullptr;
        view->suboffsets = nullptr;
        view->internal = exported.release();
        view->obj = Py_NewRef(self);
        return 0;
    });
}

void release_buffer(PyObject*, Py_buffer* view) {
    const std::unique_ptr<HeldView> held(static_cast<HeldView*>(view->internal));
    if (held) held->let_go();
}

void bind_exchange(nb::module_& m, nb::class_<Array>& c) {
    c.def("_dlpack", &dlpack, nb::arg("stream").none(), nb::arg("max_version").none(), nb::arg("dl_device").none(), nb::arg("copy").none());
    c.def(
        "__dlpack_device__",
        [](const Array& x) {
            const DLDevice place = place_of(x, "__dlpack_device__");
            return std::pair(place.device_type, place.device_id);
        },
        "DLPack's device type and index: (1, 0) on the CPU and for memory that an OpenCL device shares with it, (2, i) on the i-th GPU of "
        "CUDA.");
    c.def_prop_ro("__cuda_array_interface__", &cuda_array_interface,
                  "The array's memory for other CUDA libraries, version 3 of the protocol.\n\nOther devices do not have the attribute.");
    m.def(
        "_was_interrupted", [](nb::handle x) { return std::exchange(interrupted, nullptr) == x.ptr(); }, nb::arg("x"),
        "True when Ctrl-C ended the last export of this very array, on this thread.");
    m.def(
        "_noted_uses",
        [](const Array& x) -> std::optional<std::tuple<std::uintptr_t, std::int64_t, std::uint64_t>> {
            const Unlocked unlocked;
            const std::optional<pardo::NotedUses> uses = pardo::noted_uses(x);
            if (!uses) return {};
            return std::tuple(uses->memory, uses->offset, uses->number);
        },
        nb::arg("x"),
        "Which memory of a device an array has, where in it it begins, and a number that every write changes; None for other memory.");
    m.def("_from_dlpack", &from_dlpack, nb::arg("x"), nb::arg("queue").none(), nb::arg("copy").none());
    m.def(
        "_memory_range",
        [](const char* op_name, std::uintptr_t address, DType dtype, const Ints& shape, const Ints& strides) {
            const pardo::MemoryRange range = pardo::memory_range(op_name, reinterpret_cast<void*>(address), dtype, shape, strides, 1);
            return std::pair(range.low, range.bytes);
        },
        nb::arg("op_name"), nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"),
        "The lowest address of described elements (strides in bytes), and how many bytes they reach over.");
    m.def("_from_cuda_memory", &from_cuda_memory, nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"),
          nb::arg("read_only"), nb::arg("stream"), nb::arg("owner"), nb::arg("queue").none(), nb::arg("copy").none());
}

}  // namespace bind
