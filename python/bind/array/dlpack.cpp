// python/bind/array/dlpack.cpp: DLPack 1.3, both ways: capsules, and the table of C functions.
#include <algorithm>
#include <functional>
#include <memory>

#include <pardo/binding/dlpack.h>

#include "exchange.h"

namespace bind {
namespace {

using namespace nb::literals;
using namespace pardo::dlpack;
using pardo::Array;

using SetError = void (*)(void* context, const char* kind, const char* message);
/// What C code finds as `__dlpack_c_exchange_api__` of a class: functions that need no Python call.
struct DLExchangeAPI {
    DLVersion version;
    void* previous;
    int (*allocate)(DLTensor* prototype, DLManagedTensorVersioned** out, void* context, SetError);
    int (*from_object)(void* object, DLManagedTensorVersioned** out);
    int (*to_object)(DLManagedTensorVersioned* tensor, void** out);
    int (*view_of_object)(void* object, DLTensor* out);
    int (*current_stream)(std::int32_t type, std::int32_t id, void** out);
};

// --- export ------------------------------------------------------------------------------------------------------------------------

template <class Managed> PyObject* new_capsule(Managed* m, const char* name) {
    PyObject* capsule = PyCapsule_New(m, name, [](PyObject* o) {
        const char* const mine = PyCapsule_GetName(o);
        if (mine && std::string_view(mine).starts_with("used_")) return;
        if (auto* t = static_cast<Managed*>(PyCapsule_GetPointer(o, mine))) t->deleter(t);
    });
    if (!capsule) {
        m->deleter(m);
        throw nb::python_error();
    }
    return capsule;
}

/// Where the tensor of an export is, and what uses it next.
struct Destination {
    DLDevice device{dl_cpu, 0};
    std::optional<pardo::ForeignStream> stream;
};

/// Memory of the host is complete when this returns; a device's is when the stream of `to` gets there.
template <class Managed> Managed* export_tensor(const Array& of, bool writable, const Destination& to) {
    const Array x = of;  // another thread may give it other memory while this one waits
    if (to.device.device_type == dl_cpu) {
        pardo::Loan loan = lent(x, writable);
        auto e = described<Managed>(x, const_cast<void*>(x.data()), to.device, writable);
        e->loan = std::move(loan);
        return &e.release()->managed;
    }
    pardo::ExportedMemory memory;
    {
        const Unlocked unlocked;
        memory = pardo::export_memory(x, to.stream, writable);
    }
    auto e = described<Managed>(x, memory.data, to.device, writable);
    e->let_go = std::move(memory.let_go);
    return &e.release()->managed;
}

DLManagedTensorVersioned* versioned_tensor(const Array& x, const Destination& to, bool copied = false) {
    if (!copied && to.device.device_type == dl_cpu) {
        if (auto* const now = tensor_at_once(x)) return now;
    }
    auto* const m = export_tensor<DLManagedTensorVersioned>(x, x.writeable(), to);
    if (copied) m->flags |= flag_copied;
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

constexpr int no_order = -1;

/// The array API's words for CUDA: None and 1 are the legacy default stream, 2 is the thread's, -1 asks for none, others are addresses.
std::optional<pardo::ForeignStream> stream_from(nb::handle stream) {
    if (stream.is_none()) return pardo::legacy_stream;
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

/// Where the array itself is, in DLPack's terms; throws Buffer where no other library can use it, as for np.asarray(x).
DLDevice place_of(const Array& of, const char* op_name) {
    if (of.device().in_host_memory()) return {dl_cpu, 0};
    const Array x = of;
    std::optional<DLDevice> place;
    {
        const Unlocked unlocked;
        place = pardo::dlpack::place_of(x);
    }
    if (!place) {
        refuse(std::string(op_name) + ": memory of kind 'device' on " + x.device().id() +
               " cannot be shared with other libraries; ask for a copy, numpy.from_dlpack(x, device=\"cpu\") or pardo.asnumpy(x)");
    }
    return *place;
}

/// What `__dlpack__` was asked for.
struct Request {
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
};

bool newest_is_read(PyObject* max_version) {
    if (max_version == Py_None) return false;
    if (PyTuple_CheckExact(max_version) && PyTuple_Size(max_version) == 2 && PyLong_CheckExact(PyTuple_GetItem(max_version, 0))) {
        int overflow = 0;
        return PyLong_AsLongAndOverflow(PyTuple_GetItem(max_version, 0), &overflow) >= static_cast<long>(major_version) || overflow > 0;
    }
    return pair_from(max_version, "__dlpack__: max_version").first >= static_cast<int>(major_version);
}

PyObject* exported(const Array& source, const Destination& to, const Request& asked, bool copied) {
    if (newest_is_read(asked.max_version)) return new_capsule(versioned_tensor(source, to, copied), "dltensor_versioned");
    if (!source.writeable())
        refuse("__dlpack__: the array is read-only, and DLPack before version 1.0 cannot say so; ask with max_version=(1, 0)");
    return new_capsule(export_tensor<DLManagedTensor>(source, true, to), "dltensor");
}

PyObject* dlpack(const Array& of, const Request& asked) {
    const bool plain = asked.stream == Py_None && asked.device == Py_None && (asked.copy == Py_None || asked.copy == Py_False);
    if (plain && of.device().in_host_memory()) return exported(of, {}, asked, false);
    const Array x = of;
    std::optional<bool> copy;
    if (asked.copy != Py_None) {
        if (!PyBool_Check(asked.copy))
            throw pardo::Error(pardo::ErrorCode::Type, "__dlpack__: copy must be a bool or None, not " + class_name(asked.copy));
        copy = asked.copy == Py_True;
    }
    bool to_host = false;
    Destination to;
    if (asked.device != Py_None) {
        const auto [type, id] = pair_from(asked.device, "__dlpack__: dl_device");
        to_host = !on_host(x) && type == dl_cpu && id == 0 && copy != false;
        if (!to_host) to.device = place_of(x, "__dlpack__");
        if (!to_host && (type != to.device.device_type || id != to.device.device_id)) {
            refuse("__dlpack__: dl_device is " + text_of({type, id}) + "; an array on " + x.device().id() + " can be exported to " +
                   text_of(to.device) + (to.device.device_type == dl_cpu ? " only" : ", and copied to (1, 0)"));
        }
    } else {
        to.device = place_of(x, "__dlpack__");
    }
    if (to.device.device_type == dl_cpu && !to_host && asked.stream != Py_None)
        throw pardo::Error(pardo::ErrorCode::Value, "__dlpack__: stream must be None for an array on the CPU");
    if (to.device.device_type == dl_cuda || to.device.device_type == dl_cuda_managed) to.stream = stream_from(asked.stream);
    const bool copied = to_host || copy.value_or(false);
    if (to_host) note_transfer("__dlpack__", x.nbytes(), x.device().id(), false);
    const Array source = to_host ? x.to_device(pardo::Device::host()) : copied ? x.copy() : x;
    return exported(source, to, asked, copied);
}

/// Objects that calls name their keywords by.
struct Names {
    PyObject* of[4];
    Names() {
        constexpr const char* texts[] = {"stream", "max_version", "dl_device", "copy"};
        for (std::size_t k = 0; k < 4; ++k) of[k] = PyUnicode_InternFromString(texts[k]);
    }
};

PyObject* call_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        static const Names known;
        if (count > 0) {
            throw pardo::Error(pardo::ErrorCode::Type,
                               "__dlpack__: takes keywords alone, and " + std::to_string(count) + " positional arguments were given");
        }
        Request asked;
        PyObject** const places[] = {&asked.stream, &asked.max_version, &asked.device, &asked.copy};
        for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i) {
            PyObject* const name = PyTuple_GetItem(names, i);
            std::size_t k = 0;
            while (k < 4 && name != known.of[k]) ++k;
            for (std::size_t j = 0; k == 4 && j < 4; ++j)
                if (PyUnicode_Compare(name, known.of[j]) == 0) k = j;
            if (k == 4) throw pardo::Error(pardo::ErrorCode::Type, "__dlpack__: unexpected keyword argument '" + text_from(name) + "'");
            *places[k] = args[i];
        }
        return dlpack(array_of(self), asked);
    });
}

PyMethodDef method = {
    "__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_dlpack)), METH_FASTCALL | METH_KEYWORDS,
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
    "Export the array to another library, as a DLPack capsule.\n\n"
    "Parameters\n----------\n"
    "stream : int, optional\n"
    "    Where an array on a CUDA device is used next: that stream waits for its value, the host does not. None elsewhere.\n"
    "max_version : (int, int), optional\n"
    "    The newest version of DLPack that the caller reads. Arrays that are read-only need (1, 0).\n"
    "dl_device : (int, int), optional\n"
    "    The type and index of the device where the memory is needed.\n"
    "copy : bool, optional\n"
    "    True: the capsule holds a copy. False: it shares this array's memory. None: it shares it if that is possible.\n\n"
    "Returns\n-------\nPyCapsule\n    Others may write the array as long as the tensor in it lives.\n\n"
    "Raises\n------\nBufferError\n"
    "    The protocol cannot say it without a copy, or other libraries do not reach the memory.\n"};

// --- import --------------------------------------------------------------------------------------------------------------

template <class Managed> Imported take(PyObject* capsule, const char* name, const char* used) {
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    if (!m || PyCapsule_SetName(capsule, used) != 0) throw nb::python_error();
    return Imported(m, let_go);
}

Imported open_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        check_version("from_dlpack", *static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned")));
        return take<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) return take<DLManagedTensor>(capsule, "dltensor", "used_dltensor");
    refuse("from_dlpack: __dlpack__ returned no capsule that holds a tensor");
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

/// The canonical queue of the CPU; looked up once.
const pardo::Queue& cpu_queue() {
    static const auto* const queue = new pardo::Queue(pardo::Queue::of(pardo::Device::host()));
    return *queue;
}

/// A tensor of a dtype that Python can be told of; else the package is missing that brings it.
Imported checked(Imported i) {
    if (const auto dtype = dtype_of(i.tensor->dtype)) (void)dtype_to_python(*dtype);
    return i;
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
        return delivered("from_dlpack", share_tensor("from_dlpack", checked(open_capsule(capsule.ptr())), where), queue ? &*queue : nullptr,
                         copy);
    }
    if (!queue) queue = cpu_queue();
    const bool to_host = !host_readable(type);
    if (to_host && copy == false) {
        throw pardo::Error(pardo::ErrorCode::Value, "from_dlpack: copy=False is impossible: the tensor is on another device (DLPack type " +
                                                        std::to_string(type) + ")");
    }
    const nb::object capsule = ask(x, to_host, copy);
    Imported i = checked(open_capsule(capsule.ptr()));
    std::optional<Unlocked> unlocked;
    if (!shares(*i.tensor, *queue, copy)) unlocked.emplace();
    return import_tensor("from_dlpack", std::move(i), *queue, copy);
}

// --- C functions that other libraries call -------------------------------------------------------------------------------------------

/// Memory of a device is used on the canonical queue's stream next, which `current_stream` names.
Destination on_current_stream(const Array& x) {
    Destination to{place_of(x, "__dlpack_c_exchange_api__"), {}};
    if (to.device.device_type != dl_cpu) {
        const pardo::ForeignStream own = pardo::native_stream(pardo::Queue::of(x.device()));
        to.stream = own ? own : pardo::legacy_stream;
    }
    return to;
}

int tensor_from_object(void* object, DLManagedTensorVersioned** out) {
    return guarded(-1, [&] {
        const Array& of = array_of(static_cast<PyObject*>(object));
        if ((*out = tensor_at_once(of))) return 0;
        const Array x = of;
        *out = versioned_tensor(x, x.device().in_host_memory() ? Destination{} : on_current_stream(x));
        return 0;
    });
}

/// The caller uses it before control returns to us, and may write: what has been recorded is computed before, and nothing is marked.
int view_from_object(void* object, DLTensor* out) {
    return guarded(-1, [&] {
        const Array x = array_of(static_cast<PyObject*>(object));
        if (!x.writeable()) refuse("__dlpack_c_exchange_api__: the array is read-only, and a DLTensor cannot say so; pass a copy");
        const Destination to = x.device().in_host_memory() ? Destination{} : on_current_stream(x);
        void* data = nullptr;
        if (to.device.device_type == dl_cpu) {
            const pardo::Loan complete = lent(x, true);
            data = const_cast<void*>(x.data());
        } else {
            const Unlocked unlocked;
            pardo::ExportedMemory memory = pardo::export_memory(x, to.stream, true);
            data = memory.data;
            memory.let_go();
        }
        *out = {x.size() == 0 ? nullptr : data,
                to.device,
                x.ndim(),
                dl_type(x.dtype()),
                const_cast<std::int64_t*>(x.shape().data()),
                const_cast<std::int64_t*>(x.strides().data()),
                0};
        return 0;
    });
}

int object_from_tensor(DLManagedTensorVersioned* tensor, void** out) {
    return guarded(-1, [&] {
        Imported i(tensor, let_go);
        check_version("from_dlpack", *tensor);
        const DLDevice device = tensor->tensor.device;
        if (const std::optional<pardo::Queue> home = home_of(device.device_type, device.device_id)) {
            *out = wrap(share_tensor("from_dlpack", checked(std::move(i)), *home));
        } else {
            *out = wrap(import_tensor("from_dlpack", checked(std::move(i)), cpu_queue(), {}));
        }
        return 0;
    });
}

/// New memory for a result; may be called without the GIL, so errors go to the caller's function.
int allocate_tensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* context, SetError fail) {
    try {
        const DLDevice device = prototype->device;
        const std::optional<pardo::Queue> home = home_of(device.device_type, device.device_id);
        if (!home && device.device_type != dl_cpu) refuse("memory on device " + text_of(device) + " is not pardo's to allocate");
        const auto dtype = dtype_of(prototype->dtype);
        if (!dtype) refuse("elements of DLPack type code " + std::to_string(prototype->dtype.code) + " are not supported");
        const pardo::Extents shape(prototype->shape, static_cast<std::size_t>(prototype->ndim));
        const Array x = pardo::empty(shape, *dtype, home ? *home : cpu_queue());
        x.force();
        std::optional<pardo::Loan> loan = home ? std::nullopt : pardo::lend(x, true);
        pardo::ExportedMemory memory = home ? pardo::export_memory(x, pardo::native_stream(*home), true) : pardo::ExportedMemory{};
        auto e = described<DLManagedTensorVersioned>(x, home ? memory.data : const_cast<void*>(x.data()), device, true);
        if (loan) e->loan = std::move(*loan);
        e->let_go = std::move(memory.let_go);
        *out = &e.release()->managed;
        return 0;
    } catch (const pardo::Error& e) {
        fail(context, e.code() == pardo::ErrorCode::Memory ? "MemoryError" : "BufferError", e.what());
    } catch (const std::exception& e) {
        fail(context, "RuntimeError", e.what());
    }
    return -1;
}

int current_stream(std::int32_t type, std::int32_t id, void** out) {
    return guarded(-1, [&] {
        const std::optional<pardo::Queue> home = home_of(type, id);
        *out = home ? reinterpret_cast<void*>(pardo::native_stream(*home)) : nullptr;
        return 0;
    });
}

constexpr DLExchangeAPI exchange_api = {{major_version, minor_version},
                                        nullptr,
                                        &allocate_tensor,
                                        &tensor_from_object,
                                        &object_from_tensor,
                                        &view_from_object,
                                        &current_stream};

}  // namespace

void bind_dlpack(nb::module_& m, nb::class_<Array>& c) {
    const nb::object descriptor = nb::steal(PyDescr_NewMethod(array_type, &method));
    const nb::object api = nb::steal(PyCapsule_New(const_cast<DLExchangeAPI*>(&exchange_api), "dlpack_exchange_api", nullptr));
    if (!descriptor || !api) throw nb::python_error();
    c.attr("__dlpack__") = descriptor;
    c.attr("__dlpack_c_exchange_api__") = api;
    c.def(
        "__dlpack_device__",
        [](const Array& x) {
            const DLDevice place = place_of(x, "__dlpack_device__");
            return std::pair(place.device_type, place.device_id);
        },
        "DLPack's device type and index: (1, 0) on the CPU and for memory that an OpenCL device shares with it, (2, i) on the i-th GPU of "
        "CUDA.");
    m.def("_from_dlpack", &from_dlpack, nb::arg("x"), nb::arg("queue").none(), nb::arg("copy").none());
}

}  // namespace bind
