// python/bind/exchange.cpp: memory shared with other libraries: the buffer protocol and DLPack 1.1, both ways.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "bind.h"

namespace bind {
namespace {

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
constexpr std::int32_t dl_cpu = 1, dl_cuda_host = 3, dl_rocm_host = 11, dl_cuda_managed = 13;
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

bool on_cpu(const Array& x) { return x.device().info().type == pardo::DeviceType::Cpu && x.device().info().backend != "null"; }

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
    m.release();
    return capsule;
}

/// What lets go of the exported memory; one that others may write is waited for.
std::function<void()> held(const Array& x, bool writable) {
    if (!writable) return x.hold();
    const Unlocked unlocked;
    return x.share_writable();
}

template <class Managed> std::unique_ptr<Managed> export_tensor(const Array& x, bool writable) {
    auto e = std::make_unique<Exported>();
    e->array = x;
    e->shape.assign(x.shape().begin(), x.shape().end());
    e->strides.assign(x.strides().begin(), x.strides().end());
    void* const data = x.size() == 0 ? nullptr : const_cast<void*>(x.data());
    e->let_go = held(x, writable);
    auto m = std::make_unique<Managed>();
    m->tensor = {data, {dl_cpu, 0}, x.ndim(), dl_type(x.dtype()), e->shape.data(), e->strides.data(), 0};
    m->deleter = &delete_exported<Managed>;
    m->context = e.release();
    return m;
}

/// A pair of integers that the protocol exchanges: a device, a version.
std::pair<int, int> pair_from(nb::handle o, const char* what) {
    std::pair<int, int> pair;
    if (!nb::try_cast<std::pair<int, int>>(o, pair)) {
        const nb::str text = nb::steal<nb::str>(PyObject_Repr(o.ptr()));
        throw pardo::Error(pardo::ErrorCode::Type, std::string(what) + " must be a pair of integers, not " + text.c_str());
    }
    return pair;
}

nb::object dlpack(nb::handle_t<Array> self, nb::object stream, nb::object max_version, nb::object dl_device, std::optional<bool> copy) {
    const Array& x = array_of(self.ptr());
    if (!on_cpu(x)) refuse("__dlpack__: device " + x.device().id() + " cannot be exported");
    if (!stream.is_none()) throw pardo::Error(pardo::ErrorCode::Value, "__dlpack__: stream must be None for an array on the CPU");
    if (!dl_device.is_none()) {
        const auto [type, id] = pair_from(dl_device, "__dlpack__: dl_device");
        if (type != dl_cpu || id != 0)
            refuse("__dlpack__: dl_device is (" + std::to_string(type) + ", " + std::to_string(id) +
                   "); an array on the CPU can be exported to (1, 0) only");
    }
    const bool versioned =
        !max_version.is_none() && pair_from(max_version, "__dlpack__: max_version").first >= static_cast<int>(major_version);
    const Array source = copy.value_or(false) ? x.copy() : x;
    settle(source);
    const bool writable = source.writeable();
    if (versioned) {
        auto m = export_tensor<DLManagedTensorVersioned>(source, writable);
        m->major = major_version;
        m->minor = minor_version;
        m->flags = (writable ? 0 : flag_read_only) | (copy.value_or(false) ? flag_copied : 0);
        return nb::steal(new_capsule(std::move(m), "dltensor_versioned"));
    }
    if (!writable) refuse("__dlpack__: the array is read-only, and DLPack before version 1.0 cannot say so; ask with max_version=(1, 0)");
    return nb::steal(new_capsule(export_tensor<DLManagedTensor>(source, true), "dltensor"));
}

// --- import: DLPack --------------------------------------------------------------------------------------------------------------

/// A tensor taken out of its capsule; deleted once, when the GIL is held: some deleters need it.
struct Imported {
    void* managed = nullptr;
    void (*deleter)(void*) = nullptr;
    const DLTensor* tensor = nullptr;
    bool read_only = true;  // before version 1.0 a producer cannot say; nothing is damaged if nobody writes
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

bool host_readable(std::int32_t type) { return type == dl_cpu || type == dl_cuda_host || type == dl_rocm_host || type == dl_cuda_managed; }

/// The producer's capsule; keywords that an old producer does not know are left out the second time.
nb::object ask(nb::handle x, bool to_host, std::optional<bool> copy) {
    nb::dict keywords;
    keywords["max_version"] = nb::make_tuple(major_version, minor_version);
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
    return method();
}

Array import_tensor(ImportedHandle i, const pardo::Queue& queue, std::optional<bool> copy) {
    const DLTensor& t = *i->tensor;
    const auto dtype = dtype_of(t.dtype);
    if (!dtype) {
        refuse("from_dlpack: elements of DLPack type code " + std::to_string(t.dtype.code) + " with " + std::to_string(t.dtype.bits) +
               " bits and " + std::to_string(t.dtype.lanes) + " lanes are not supported");
    }
    if (!host_readable(t.device.device_type)) refuse("from_dlpack: the tensor's memory is not readable by the host");
    const auto ndim = static_cast<std::size_t>(t.ndim);
    const pardo::Extents shape(t.shape, ndim);
    Ints strides(ndim);
    std::int64_t next = 1;
    for (std::size_t d = ndim; d-- > 0;) {
        strides[d] = t.strides ? t.strides[d] : next;
        next *= shape[d];
    }
    char* const data = static_cast<char*>(t.data) + (t.data ? t.byte_offset : 0);
    const auto size = static_cast<std::uintptr_t>(pardo::itemsize(*dtype));
    const std::uintptr_t alignment = pardo::is_complex(*dtype) ? size / 2 : size;
    const bool misaligned = reinterpret_cast<std::uintptr_t>(data) % alignment != 0;
    const bool elsewhere = queue.device().info().type != pardo::DeviceType::Cpu;
    if (copy == false && (misaligned || elsewhere)) {
        throw pardo::Error(pardo::ErrorCode::Value,
                           misaligned ? "from_dlpack: copy=False is impossible: the memory is not aligned for its dtype"
                                      : "from_dlpack: copy=False is impossible: the device does not share the host's memory");
    }
    if (copy.value_or(false) || misaligned || elsewhere) {
        for (auto& s : strides) s *= static_cast<std::int64_t>(size);
        const Unlocked unlocked;
        return pardo::from_host(data, *dtype, shape, strides, queue);
    }
    const bool read_only = i->read_only;
    Imported* const raw = i.release();
    try {
        return pardo::share_host(
            data, *dtype, shape, strides, read_only, [raw] { call_later(&delete_imported, raw); }, queue);
    } catch (...) {
        i.reset(raw);
        throw;
    }
}

Array from_dlpack(nb::handle x, QueueArgument queue, std::optional<bool> copy) {
    if (!nb::hasattr(x, "__dlpack_device__")) {
        throw pardo::Error(pardo::ErrorCode::Type, "from_dlpack: " + class_name(x) + " has no __dlpack_device__ method");
    }
    const auto [type, id] = pair_from(nb::object(x.attr("__dlpack_device__")()), "from_dlpack: __dlpack_device__");
    const bool to_host = !host_readable(type);
    if (to_host && copy == false) {
        throw pardo::Error(pardo::ErrorCode::Value, "from_dlpack: copy=False is impossible: the tensor is on another device (DLPack type " +
                                                        std::to_string(type) + ")");
    }
    const nb::object capsule = ask(x, to_host, copy);
    return import_tensor(open_capsule(capsule.ptr()), queue, copy);
}

}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    return guarded(-1, [&] {
        const Array& x = array_of(self);
        if (!on_cpu(x)) refuse("the array is on " + x.device().id() + "; copy it to the host with pardo.asnumpy(x)");
        const bool writable = flags & PyBUF_WRITABLE;
        settle(x);
        check_layout(x, flags);
        if (writable && !x.writeable()) refuse("the array is read-only");
        auto exported = std::make_unique<HeldView>();
        exported->shape.assign(x.shape().begin(), x.shape().end());
        exported->strides.assign(x.strides().begin(), x.strides().end());
        for (auto& s : exported->strides) s *= pardo::itemsize(x.dtype());
        exported->let_go = held(x, writable);
        static char nothing[16];
        view->buf = x.size() == 0 ? nothing : const_cast<void*>(x.data());
        view->len = static_cast<Py_ssize_t>(x.nbytes());
        view->itemsize = pardo::itemsize(x.dtype());
        view->readonly = !writable;
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
    c.def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig(
              "def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = "
              "None, copy: bool | None = None) -> Any"),
          "A DLPack capsule that shares this array's memory (`copy=True`: that holds a copy).\n\nRaises BufferError for what the protocol "
          "cannot express without a copy, and for devices other than the host.");
    c.def(
        "__dlpack_device__",
        [](const Array& x) {
            if (!on_cpu(x)) refuse("__dlpack_device__: device " + x.device().id() + " has no DLPack type here");
            return std::pair(dl_cpu, 0);
        },
        "DLPack's device type and index: (1, 0) on the CPU.");
    m.def("_from_dlpack", &from_dlpack, nb::arg("x"), nb::arg("queue"), nb::arg("copy").none());
}

}  // namespace bind
