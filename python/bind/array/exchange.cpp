// python/bind/array/exchange.cpp: memory shared with other libraries: the buffer protocol, NumPy's and CUDA's array interfaces.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "exchange.h"

#include "numpy_layout.h"

namespace bind {

using pardo::Array;
using pardo::DType;

void refuse(const std::string& message) { throw pardo::Error(pardo::ErrorCode::Buffer, message); }

bool on_host(const Array& of) {
    if (of.device().in_host_memory()) return true;
    const Array x = of;
    const Unlocked unlocked;  // to know the kind of memory may take the value
    if (x.memory_kind() == pardo::MemoryKind::Device) return false;
    const auto place = pardo::dlpack_device(x);
    return place && (place->first == pardo::dlpack::dl_cpu || place->first == pardo::dlpack::dl_cuda_host ||
                     place->first == pardo::dlpack::dl_cuda_managed);
}

pardo::Loan lent(const Array& of, bool writable) {
    if (std::optional<pardo::Loan> now = pardo::lend(of, writable, true)) return std::move(*now);
    const Array x = of;
    settle(x);
    if (!writable) return std::move(*pardo::lend(x, false));
    const Unlocked unlocked;
    return std::move(*pardo::lend(x, true));
}

namespace {

/// Of memory that other code may write at once: a copy is complete when this returns.
Array copied_now(const Array& x) {
    const Array y = x.copy();
    const Unlocked unlocked;
    y.wait();
    return y;
}

}  // namespace

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

namespace {

// --- export: the buffer protocol -----------------------------------------------------------------------------------------------

/// The letter of the buffer protocol for each dtype; null: it has none.
constexpr const char* formats[] = {"?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "Zf", "Zd", nullptr};
static_assert(std::size(formats) == pardo::dtype_count);
static_assert(sizeof(long) == 8, "the format of 64-bit integers is 'l' here, as NumPy's");

struct HeldView {
    pardo::Loan loan;
    Py_ssize_t few[8];
    std::vector<Py_ssize_t> many;  // where there are more dimensions
};
// The one that was given back last, for most views do not live for long. With the GIL alone, as both functions of a buffer are called.
HeldView* spare_view = nullptr;

std::unique_ptr<HeldView> make_view() {
    HeldView* const spare = std::exchange(spare_view, nullptr);
    return std::unique_ptr<HeldView>(spare ? spare : new HeldView);
}

void keep_spare(HeldView* view) {
    view->loan.give_back();
    view->many.clear();
    delete std::exchange(spare_view, view);
}

bool is_fortran_contiguous(const Array& x) {
    std::int64_t expected = 1;
    for (int d = 0; d < x.ndim(); ++d) {
        if (x.shape()[d] > 1 && x.strides()[d] != expected) return false;
        expected *= x.shape()[d];
    }
    return true;
}

void check_layout(const Array& x, int flags) {
    const auto asked = [&](int what) { return (flags & what) == what; };
    const bool strided = asked(PyBUF_STRIDES);
    const bool by_rows = asked(PyBUF_C_CONTIGUOUS), by_columns = asked(PyBUF_F_CONTIGUOUS), either = asked(PyBUF_ANY_CONTIGUOUS);
    if (asked(PyBUF_FORMAT) && !formats[static_cast<int>(x.dtype())])
        refuse("the buffer protocol has no letter for " + std::string(pardo::dtype_name(x.dtype())) + ": take x.view('uint16') or DLPack");
    if (strided && !by_rows && !by_columns && !either) return;
    const bool c = x.is_contiguous(), f = is_fortran_contiguous(x);
    if (by_rows && !c) refuse("the array is not C-contiguous");
    if (by_columns && !f) refuse("the array is not Fortran-contiguous");
    if (either && !c && !f) refuse("the array is not contiguous");
    if (!strided && !c) refuse("the array is not C-contiguous, and the consumer takes no strides");
}

// --- export: CUDA's array interface ------------------------------------------------------------------------------------------------

/// Version 3 of the protocol. Its consumer keeps the array alive and may write, so the memory is shared from now on; work of theirs may
/// outlast the array, which the memory's next user waits for.
nb::object cuda_array_interface(nb::handle_t<Array> self) {
    const Array x = array_of(self.ptr());
    const bool on_cuda = x.device().dlpack_device().first == pardo::dlpack::dl_cuda;
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
    const auto release = [kept] { let_go([](void* p) { Py_DECREF(static_cast<PyObject*>(p)); }, kept); };
    std::optional<Array> shared;
    try {
        shared = pardo::import_memory(data, dtype, shape, strides, pardo::MemoryKind::Device, read_only, release, where,
                                      stream && range.bytes > 0 ? std::optional(stream) : std::nullopt, of_cuda);
    } catch (...) {
        release();
        throw;
    }
    return delivered("asarray", *shared, queue ? &*queue : nullptr, copy);
}

/// Memory that `owner` leaves to pardo until retire().
Array borrow(const char* op_name, std::uintptr_t address, DType dtype, const Ints& shape, bool read_only, nb::object owner,
             const pardo::Queue& queue) {
    PyObject* const kept = owner.release().ptr();
    const auto release = [kept] { let_go([](void* p) { Py_DECREF(static_cast<PyObject*>(p)); }, kept); };
    try {
        return pardo::borrow_memory(op_name, reinterpret_cast<void*>(address), dtype, shape, read_only, release, queue);
    } catch (...) {
        release();
        throw;
    }
}

void retire(const ArrayArgument& x, const std::string& message, std::optional<std::uintptr_t> stream) {
    const Unlocked unlocked;
    pardo::retire_memory(x, message, stream);
}

}  // namespace

namespace {
/// NumPy takes every exception of the buffer protocol for "there is no buffer", and tries __array__ next: Ctrl-C would be lost. A weak
/// reference, since others let it through: what takes the array's place in memory later was not interrupted.
thread_local PyObject* interrupted = nullptr;

void note_interrupted(PyObject* array) {
    const nb::object former = nb::steal(std::exchange(interrupted, array ? PyWeakref_NewRef(array, nullptr) : nullptr));
    if (array && !interrupted) PyErr_Clear();
}

bool was_interrupted(PyObject* array) {
    const nb::object noted = nb::steal(std::exchange(interrupted, nullptr));
    return noted.is_valid() && noted().is(array);
}
}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    return guarded(-1, [&] {
        const Array& now = array_of(self);
        if (!on_host(now)) refuse("the array is on " + now.device().id() + "; copy it to the host with pardo.asnumpy(x)");
        const bool writable = flags & PyBUF_WRITABLE;
        note_interrupted(nullptr);
        try {
            settle(now);
        } catch (nb::python_error& e) {
            if (e.matches(PyExc_KeyboardInterrupt)) note_interrupted(self);
            throw;
        }
        const bool is_alone = looks_temporary(self) && pardo::only_holder(now);
        const Array x = now;  // another thread may give `now` other memory while this one waits
        check_layout(x, flags);
        // What others may write already, and what no other reader can see, may be written too: NumPy asks for less than it can use.
        bool written = writable || is_alone || x.externally_writable();
        if (written && !x.writeable()) {
            if (writable) refuse("the array is read-only");
            written = false;
        }
        auto exported = make_view();
        exported->loan = lent(x, written);
        const auto ndim = static_cast<std::size_t>(x.ndim());
        if (2 * ndim > std::size(exported->few)) exported->many.resize(2 * ndim);
        Py_ssize_t* const shape = exported->many.empty() ? exported->few : exported->many.data();
        const auto size = static_cast<Py_ssize_t>(pardo::itemsize(x.dtype()));
        for (std::size_t d = 0; d < ndim; ++d) {
            shape[d] = x.shape()[d];
            shape[ndim + d] = x.strides()[d] * size;
        }
        static char nothing[16];
        view->len = static_cast<Py_ssize_t>(x.nbytes());
        view->buf = view->len == 0 ? nothing : const_cast<void*>(x.data());
        view->itemsize = size;
        view->readonly = !written;
        view->ndim = x.ndim();
        view->format = flags & PyBUF_FORMAT ? const_cast<char*>(formats[static_cast<int>(x.dtype())]) : nullptr;
        view->shape = flags & PyBUF_ND ? shape : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape + ndim : nullptr;
        view->suboffsets = nullptr;
        view->internal = exported.release();
        view->obj = Py_NewRef(self);
        return 0;
    });
}

void release_buffer(PyObject*, Py_buffer* view) { keep_spare(static_cast<HeldView*>(view->internal)); }

namespace {

/// Whether all elements of one dimension are finite at `data`, `step` elements apart.
template <class T> bool are_finite(const void* data, std::int64_t count, std::int64_t step) {
    const T* at = static_cast<const T*>(data);
    for (std::int64_t k = 0; k < count; ++k)
        if (!std::isfinite(at[k * step])) return false;
    return true;
}

/// True where the few elements of a sequence are complete in memory of the host, and all are finite; false where that is not known at once.
bool known_finite(const Array& of) {
    constexpr std::int64_t few = 4096;
    const Array x = of;
    const DType dtype = x.dtype(), part = is_complex(dtype) ? real_of(dtype) : dtype;
    if (!is_inexact(dtype)) return true;
    if (x.ndim() != 1 || x.size() > few || x.pending() || pardo::is_narrow_float(part) || !x.device().in_host_memory()) return false;
    const std::optional<pardo::Loan> loan = pardo::lend(x, false, true);
    if (!loan) return false;
    const std::int64_t numbers = is_complex(dtype) ? 2 : 1, step = x.strides()[0] * numbers;
    const auto finite = part == DType::Float32 ? are_finite<float> : are_finite<double>;
    const std::size_t size = static_cast<std::size_t>(pardo::itemsize(part));
    for (std::int64_t k = 0; k < numbers; ++k)
        if (!finite(static_cast<const char*>(x.data()) + static_cast<std::size_t>(k) * size, x.size(), step)) return false;
    return true;
}

}  // namespace

std::optional<Array> shared_at_sight(PyObject* o, const pardo::Queue& queue) {
    NumPyLayout x;
    if (!queue.device().takes_host_memory() || !numpy_layout(o, x)) return {};
    const std::optional<DType> dtype = dtype_at_sight(x.dtype);
    if (!dtype) return {};
    const std::int64_t size = pardo::itemsize(*dtype);
    std::int64_t few[8];
    if (x.rank > std::size(few)) return {};
    for (std::size_t d = 0; d < x.rank; ++d) {
        few[d] = x.strides[d] / size;
        if (x.strides[d] != few[d] * size) return {};
    }
    const auto release = [o] { let_go([](void* p) { Py_DECREF(static_cast<PyObject*>(p)); }, o); };
    Py_INCREF(o);
    try {
        return pardo::share_host(x.data, *dtype, {x.shape, x.rank}, {few, x.rank}, !x.writeable, release, queue);
    } catch (...) {
        Py_DECREF(o);
        throw;
    }
}

namespace {

/// Texts that the array interface has for each dtype, and its keys.
struct InterfaceNames {
    nb::object shape = key("shape"), typestr = key("typestr"), data = key("data"), strides = key("strides"), version = key("version"),
               descr = key("descr"), none = key("");
    nb::object types[pardo::dtype_count];

    InterfaceNames() {
        for (int t = 0; t < pardo::dtype_count; ++t)
            if (formats[t]) types[t] = dtype_to_python(static_cast<DType>(t)).attr("str");
    }
    static nb::object key(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }
};

/// Version 3 of NumPy's protocol. Whoever reads it says neither when he is done nor whether he writes.
nb::object array_interface(nb::handle_t<Array> self) {
    static const auto* const names = new InterfaceNames;
    const Array x = array_of(self.ptr());
    if (was_interrupted(self.ptr())) {  // NumPy asked for the buffer first, and has swallowed that
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
    if (!on_host(x)) {
        const std::string text =
            "__array_interface__: the host cannot read the memory of an array on " + x.device().id() + ": use pardo.asnumpy(x)";
        throw nb::attribute_error(text.c_str());
    }
    const nb::object& type = names->types[static_cast<int>(x.dtype())];
    if (!type) {
        const std::string text = "__array_interface__: it has no text for " + std::string(pardo::dtype_name(x.dtype())) +
                                 ": use pardo.asnumpy(x), x.view('uint16') or DLPack";
        throw nb::attribute_error(text.c_str());
    }
    const bool writable = x.writeable();
    const pardo::Loan complete = lent(x, writable);
    if (writable) pardo::share_for_good(x);
    nb::dict d;
    d[names->data] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(x.data()), !writable);
    if (x.is_contiguous()) {
        d[names->strides] = nb::none();
    } else {
        Ints strides(x.strides().begin(), x.strides().end());
        for (auto& s : strides) s *= pardo::itemsize(x.dtype());
        d[names->strides] = tuple_of(strides);
    }
    nb::list descr;
    descr.append(nb::make_tuple(names->none, type));
    d[names->descr] = descr;
    d[names->typestr] = type;
    d[names->shape] = tuple_of(x.shape());
    d[names->version] = 3;
    return d;
}

/// Memory that others may write until this is closed.
struct WritableBuffers {
    WritableBuffers() = default;
    WritableBuffers(const WritableBuffers&) = delete;
    WritableBuffers(WritableBuffers&&) = default;

    std::vector<pardo::Loan> loans;
};

}  // namespace

void bind_exchange(nb::module_& m, nb::class_<Array>& c) {
    bind_dlpack(m, c);
    bind_arrow(m);
    c.def_prop_ro("__array_interface__", &array_interface,
                  "The array's memory for other libraries of the host, version 3 of the protocol; arrays of other devices do not have it."
                  "\n\nConsumers may write, so the memory is shared from now on: operations on it run at once.");
    c.def(
        "__sizeof__",
        [](nb::handle_t<Array> self) {
            const Array& x = array_of(self.ptr());
            return static_cast<std::int64_t>(
                       nb::cast<std::int64_t>(nb::handle(reinterpret_cast<PyObject*>(array_type)).attr("__basicsize__"))) +
                   pardo::owned_bytes(x);
        },
        "Bytes of the object and of memory that it owns: views own none.");
    nb::class_<WritableBuffers>(m, "_WritableBuffers", "Memory of arrays that others may write.")
        .def(
            "__init__",
            [](WritableBuffers* self, const std::vector<Array>& arrays) {
                WritableBuffers made;
                for (const Array& x : arrays) made.loans.push_back(lent(x, true));
                new (self) WritableBuffers(std::move(made));
            },
            nb::arg("arrays"))
        .def("close", [](WritableBuffers& w) { w.loans.clear(); });
    m.def("_is_on_host", &on_host, nb::arg("x"), "Whether the host reads the array's memory where it is.");
    m.def(
        "_is_only_array", [](const Array& x) { return pardo::only_array(x); }, nb::arg("x"),
        "Whether the array is in memory that no other array shows, and no other library has.");
    m.def("_known_finite", &known_finite, nb::arg("x"), "Whether a short sequence is complete in the host's memory, and finite.");
    m.def(
        "_shared_at_sight",
        [](nb::handle x, std::optional<pardo::Queue> queue) {
            return shared_at_sight(x.ptr(), queue ? *queue : pardo::Queue::of(pardo::Device()));
        },
        nb::arg("x"), nb::arg("queue") = nb::none(),
        "NumPy's memory as an array of a queue, or of the default device's; None where it has to be looked at more closely.");
    c.def_prop_ro("__cuda_array_interface__", &cuda_array_interface,
                  "The array's memory for other CUDA libraries, version 3 of the protocol.\n\nOther devices do not have the attribute.");
    m.def(
        "_was_interrupted", [](nb::handle x) { return was_interrupted(x.ptr()); }, nb::arg("x"),
        "True when Ctrl-C ended the last export of this very array, on this thread.");
    m.def(
        "_noted_uses",
        [](const ArrayArgument& x) -> std::optional<std::tuple<std::uintptr_t, std::int64_t, std::uint64_t>> {
            const Unlocked unlocked;
            const std::optional<pardo::NotedUses> uses = pardo::noted_uses(x);
            if (!uses) return {};
            return std::tuple(uses->memory, uses->offset, uses->number);
        },
        nb::arg("x"),
        "Which memory of a device an array has, where in it it begins, and a number that every write changes; None for other memory.");
    m.def(
        "_failed_first_on",
        [](const ArrayArgument& x, const pardo::Queue& queue) {
            const Unlocked unlocked;
            return pardo::failed_first_on(x, queue);
        },
        nb::arg("x"), nb::arg("queue"), "Whether what the array has failed by happened to work of that queue.");
    m.def(
        "_memory_range",
        [](const char* op_name, std::uintptr_t address, DType dtype, const Ints& shape, const Ints& strides) {
            const pardo::MemoryRange range = pardo::memory_range(op_name, reinterpret_cast<void*>(address), dtype, shape, strides, 1);
            return std::pair(range.low, range.bytes);
        },
        nb::arg("op_name"), nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"),
        "The lowest address of described elements (strides in bytes), and how many bytes they reach over.");
    m.def("_borrow", &borrow, nb::arg("op_name"), nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("read_only"),
          nb::arg("owner"), nb::arg("queue"), "Array on row-major memory that its owner leaves to pardo until _retire.");
    m.def("_retire", &retire, nb::arg("x"), nb::arg("message"), nb::arg("stream").none() = nb::none(),
          "Ends the use of the array's memory: computes and waits for what is pending; later uses raise ValueError.");
    m.def("_from_cuda_memory", &from_cuda_memory, nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"),
          nb::arg("read_only"), nb::arg("stream"), nb::arg("owner"), nb::arg("queue").none(), nb::arg("copy").none());
}

}  // namespace bind
