// python/bind/array/array.cpp: pardo/array.h for Python: the class Array and the functions that make and explain arrays.
// This folder: arrays: the class, its operators and indices, functions on arrays, and memory shared with other libraries.
#include <algorithm>
#include <new>

#include <pardo/binding/hooks.h>
#include <pardo/binding/layout.h>
#include <pardo/binding/plan.h>
#include <pardo/log.h>
#include <pardo/profile.h>

#include "bind.h"

/// The class's destructor.
template <> void nanobind::detail::wrap_destruct<pardo::Array>(void* array) noexcept { bind::destroy_array(array); }

namespace bind {

using pardo::Array;

PyTypeObject* array_type = nullptr;

PyObject* wrap(Array array) {
    nb::object o = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(array_type)));
    new (nb::inst_ptr<Array>(o)) Array(std::move(array));
    nb::inst_mark_ready(o);
    return o.release().ptr();
}

namespace {

/// A view of a Python object's memory, given back when it goes out of scope.
struct BufferView {
    Py_buffer buffer{};
    BufferView(PyObject* o, int flags) {
        if (PyObject_GetBuffer(o, &buffer, flags) != 0) throw nb::python_error();
    }
    ~BufferView() { PyBuffer_Release(&buffer); }
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;
    pardo::Extents shape() const { return {reinterpret_cast<const std::int64_t*>(buffer.shape), static_cast<std::size_t>(buffer.ndim)}; }
    pardo::Extents strides() const {
        return {reinterpret_cast<const std::int64_t*>(buffer.strides), static_cast<std::size_t>(buffer.ndim)};
    }
};
static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

constexpr std::int64_t long_copy = 1 << 16;  // bytes, from which on it pays to give the GIL away

void check_itemsize(const Py_buffer& b, pardo::DType dtype) {
    if (b.itemsize != pardo::itemsize(dtype)) {
        throw pardo::Error(pardo::ErrorCode::Buffer, "asarray: the buffer's elements have " + std::to_string(b.itemsize) + " bytes, but " +
                                                         std::string(pardo::dtype_name(dtype)) + " has " +
                                                         std::to_string(pardo::itemsize(dtype)));
    }
}

void release_view(void* view) {
    auto* v = static_cast<Py_buffer*>(view);
    PyBuffer_Release(v);
    delete v;
}

/// Memory of a Python object as an array, without a copy; the object's buffer is held until the last use is over.
Array share_buffer(nb::handle object, pardo::DType dtype, const pardo::Queue& queue) {
    auto view = std::make_unique<Py_buffer>();
    bool read_only = false;
    if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_STRIDES | PyBUF_WRITABLE) != 0) {
        PyErr_Clear();
        read_only = true;
        if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_STRIDES) != 0) throw nb::python_error();
    }
    Py_buffer* const raw = view.get();
    Ints strides;
    try {
        check_itemsize(*raw, dtype);
        for (int d = 0; d < raw->ndim; ++d) {
            if (raw->strides[d] % raw->itemsize) {
                throw pardo::Error(pardo::ErrorCode::Value,
                                   "asarray: copy=False is impossible: a stride is not a multiple of the element size");
            }
            strides.push_back(raw->strides[d] / raw->itemsize);
        }
        const pardo::Extents shape(reinterpret_cast<const std::int64_t*>(raw->shape), static_cast<std::size_t>(raw->ndim));
        Array a = pardo::share_host(
            raw->buf, dtype, shape, strides, read_only, [raw] { let_go(&release_view, raw); }, queue);
        (void)view.release();  // whoever owns the array's memory releases it
        return a;
    } catch (...) {
        if (view) PyBuffer_Release(raw);
        throw;
    }
}

void copy_to_buffer(const ArrayArgument& of, nb::handle object) {
    const Array& x = of;
    settle(x);
    const BufferView view(object.ptr(), PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    if (view.buffer.len != x.nbytes()) throw pardo::Error(pardo::ErrorCode::Value, "asnumpy: the target has the wrong size");
    if (x.nbytes() < long_copy) {
        x.copy_to(view.buffer.buf);
        return;
    }
    const Unlocked unlocked;
    x.copy_to(view.buffer.buf);
}

/// The elements, row-major, in the machine's byte order.
nb::bytes to_bytes(const ArrayArgument& of) {
    const Array& x = of;
    settle(x);
    auto bytes = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(x.nbytes())));
    if (!bytes.is_valid()) throw nb::python_error();
    char* const to = PyBytes_AsString(bytes.ptr());
    if (x.nbytes() < long_copy) {
        x.copy_to(to);
    } else {
        const Unlocked unlocked;
        x.copy_to(to);
    }
    return bytes;
}

nb::tuple byte_strides(const Array& x) {
    Ints bytes(x.strides().begin(), x.strides().end());
    for (auto& s : bytes) s *= pardo::itemsize(x.dtype());
    return tuple_of(bytes);
}

PyType_Slot* all_slots() { return operator_slots; }

nb::list as_list(const std::vector<pardo::PlanValue>& values) {
    nb::list list;
    for (const pardo::PlanValue& v : values) {
        nb::dict d;
        d["id"] = v.id;
        d["dtype"] = std::string(pardo::dtype_name(v.dtype));
        d["shape"] = nb::tuple(nb::cast(v.shape));
        d["why"] = v.why;
        list.append(d);
    }
    return list;
}

/// The plan as text, and its steps.
nb::tuple explain(const std::vector<Array>& roots) {
    const pardo::PlanReport report = pardo::plan_report(roots);
    nb::list steps;
    for (const pardo::PlanStep& s : report.steps) {
        nb::dict d;
        d["call"] = s.call;
        d["name"] = s.name;
        d["location"] = s.location;
        d["how"] = s.how;
        d["rejected"] = s.rejected;
        d["cut"] = s.cut;
        d["operations"] = s.operations;
        d["reads"] = as_list(s.reads);
        d["writes"] = as_list(s.writes);
        d["bytes_read"] = s.bytes_read;
        d["bytes_written"] = s.bytes_written;
        steps.append(d);
    }
    return nb::make_tuple(report.text, steps);
}

}  // namespace

Array copy_buffer(nb::handle object, pardo::DType dtype, const pardo::Queue& queue, pardo::MemoryKind kind, const char* op_name) {
    const BufferView view(object.ptr(), PyBUF_STRIDED_RO);
    check_itemsize(view.buffer, dtype);
    if (view.buffer.len < long_copy) return pardo::from_host(view.buffer.buf, dtype, view.shape(), view.strides(), queue, kind, op_name);
    const Unlocked unlocked;
    return pardo::from_host(view.buffer.buf, dtype, view.shape(), view.strides(), queue, kind, op_name);
}

void bind_array(nb::module_& m) {
    auto c =
        nb::class_<Array>(m, "Array", nb::sig("class Array(pardo._array.methods.Methods)"), nb::type_slots(all_slots()), nb::is_final(),
                          nb::is_weak_referenceable(), nb::pooled(64),
                          "An n-dimensional array on a device; its value may be recorded and not yet computed.\n\n"
                          "Arrays are made by functions such as `pardo.asarray` and `pardo.zeros`. Operations on arrays are recorded and\n"
                          "run when a value is needed; `x.wait()` asks for it explicitly. Indexing gives views that write through."
                          "\n\nSee Also\n--------\nasarray, zeros, arange, Device\n\nExamples\n--------\n"
                          ">>> import pardo as pp\n"
                          ">>> x = pp.asarray([1.0, 2.0, 3.0])\n"
                          ">>> y = 2 * x + 1\n"
                          ">>> y\n"
                          "array([3., 5., 7.])\n"
                          ">>> y.shape, y.dtype\n"
                          "((3,), dtype('float64'))\n"
                          ">>> y[1:] = 0.0\n"
                          ">>> y.sum()\n"
                          "array(3.)");
    array_type = reinterpret_cast<PyTypeObject*>(c.ptr());
    // Not nb::new_, which gives the signature to __init__ too.
    c.def_static(
        "__new__",
        [](nb::handle, const nb::args& arguments, const nb::kwargs& keywords) -> nb::object {
            const nb::object made = nb::module_::import_("pardo._array.creation").attr("constructed");
            return nb::steal(shown_result(PyObject_Call(made.ptr(), arguments.ptr(), keywords.ptr()), "Array"));
        },
        nb::sig("def __new__(cls, shape: int | Sequence[int], dtype: DTypeLike | None = None, buffer: Any = None, offset: int = 0, "
                "strides: Sequence[int] | None = None, order: str | None = None) -> Array"));
    c.def(
        "__init__", [](nb::handle, const nb::args&, const nb::kwargs&) {},
        nb::sig("def __init__(self, *arguments: Any, **keywords: Any) -> None"));
    c.def_prop_rw("dtype", &Array::dtype, &pardo::set_dtype, nb::for_getter(nb::sig("def dtype(self) -> numpy.dtype[Any]")),
                  nb::for_setter(nb::sig("def dtype(self, dtype: DTypeLike) -> None")), nb::for_setter(nb::arg("dtype")),
                  "Element type, a `numpy.dtype`. Setting it shows the same memory with another one, as `view` does.")
        .def_prop_ro(
            "_kind", [](const Array& x) { return nb::str(&"biufc"[static_cast<int>(pardo::kind_of(x.dtype()))], 1); },
            "The letter of NumPy's for the kind of its dtype: 'f' also for bfloat16, whose own says 'V'.")
        .def_prop_ro("ndim", &Array::ndim, "Number of dimensions.")
        .def_prop_rw(
            "shape", [](const Array& x) { return tuple_of(x.shape()); }, &assign_shape,
            nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")),
            nb::for_setter(nb::sig("def shape(self, shape: int | Sequence[int]) -> None")),
            "Extent of each dimension. Setting it reshapes the array in place, which strides have to be able to express.")
        .def_prop_ro("size", &Array::size, "Number of elements.")
        .def_prop_ro("nbytes", &Array::nbytes, "Bytes that the elements take up.")
        .def_prop_ro(
            "itemsize", [](const Array& x) { return pardo::itemsize(x.dtype()); }, "Bytes of one element.")
        .def_prop_ro(
            "strides", [](const ArrayArgument& x) { return byte_strides(x.array.force()); },
            nb::sig("def strides(self) -> tuple[int, ...]"),
            "Bytes between neighbours along each dimension, as NumPy counts them; computes the array.")
        .def_prop_ro("device", &Array::device, "Where the elements are.")
        .def_prop_ro("queue", &Array::queue, "Where work on this array is submitted.")
        .def_prop_ro("pending", &Array::pending, "True while the value is recorded and not computed.")
        .def_prop_ro("writeable", &Array::writeable,
                     "False for memory that was shared read-only, for what is marked so, and for elements that share memory.")
        .def_prop_ro("event", &Array::event, "Event of the last write to this array's memory.")
        .def_prop_ro(
            "memory_kind",
            [](const Array& x) {
                constexpr const char* names[] = {"device", "shared", "host"};
                return names[static_cast<int>(x.memory_kind())];
            },
            "'device', 'shared' or 'host'.")
        .def_prop_ro(
            "usm_type",
            [](const Array& x) {
                constexpr const char* names[] = {"device", "shared", "host"};
                return names[static_cast<int>(x.memory_kind())];
            },
            "The kind of its memory: 'device', 'shared' or 'host'. A result has the first of them that one of its operands has.")
        .def(
            "force",
            [](nb::handle_t<Array> self) {
                array_of(self.ptr()).force();
                return nb::borrow(self);
            },
            nb::sig("def force(self) -> Array"),
            "Hands the computation over, if that has not happened, and returns the array; does not wait.")
        .def(
            "wait",
            [](nb::handle_t<Array> self) {
                settle(array_of(self.ptr()));
                return nb::borrow(self);
            },
            nb::sig("def wait(self) -> Array"), "Computes the array, waits, raises late failures, and returns the array.")
        .def(
            "failure",
            [](const Array& x) -> nb::object {
                const Array held = x;  // others may rebind the handle meanwhile
                const std::optional<pardo::Error> error = held.failure();
                return error ? exception_from(*error) : nb::none();
            },
            nb::sig("def failure(self) -> BaseException | None"),
            "Waits, and gives the exception that reading the array raises, or None.\n\n"
            "Elements that failed work was to write have failed for every reader, until they are overwritten.\n"
            "The exception counts as seen: no wait for a queue raises it any more.\n\n"
            "Returns\n-------\nBaseException or None\n\n"
            "See Also\n--------\nArray.accept, Array.wait\n\nExamples\n--------\n"
            ">>> import pardo as pp\n"
            ">>> x = pp.ones(3)\n"
            ">>> x.failure() is None\n"
            "True")
        .def(
            "accept",
            [](nb::handle_t<Array> self) {
                const Array held = array_of(self.ptr());
                (void)held.accept();
                return nb::borrow(self);
            },
            nb::sig("def accept(self) -> Array"),
            "Makes failed elements of the array readable as they are, and returns the array.\n\n"
            "Waits first. Which values such elements have is unspecified: those from before the work that failed, some that it\n"
            "had computed, or any others. An array that has no memory, as one that was too large, raises its exception.\n\n"
            "Returns\n-------\nArray\n    The same array.\n\n"
            "See Also\n--------\nArray.failure\n\nExamples\n--------\n"
            ">>> import pardo as pp\n"
            ">>> x = pp.ones(3)\n"
            ">>> x.accept().failure() is None\n"
            "True")
        .def("_address", &Array::address)
        .def("_is_contiguous", &Array::is_contiguous)
        .def("_is_scalar_value", &Array::is_scalar_value)
        .def(
            "_item",
            [](const ArrayArgument& x) {
                const std::optional<pardo::Scalar> known = pardo::known_item(x);
                return known ? *known : settle(x).item();
            },
            nb::sig("def _item(self) -> Any"))
        .def(
            "_astype",
            [](const Array& x, std::optional<pardo::DType> dtype, bool copy) {
                return x.astype(dtype.value_or(pardo::DType::Float64), copy);  // None is float64, as NumPy's
            },
            nb::arg("dtype").none(), nb::arg("copy") = true)
        .def("_copy", &Array::copy)
        .def(
            "_to_queue",
            [](nb::handle_t<Array> self, QueueArgument queue) {
                const Array& x = array_of(self.ptr());
                return x.queue() == queue ? nb::borrow(self) : nb::steal(wrap(x.to_queue(queue)));
            },
            nb::arg("queue"), nb::sig("def _to_queue(self, queue: Queue) -> Array"))
        .def(
            "_assign", [](const Array& x, const Array& value) { x.assign(value); }, nb::arg("value"))
        .def(
            "_fill", [](const Array& x, const pardo::Scalar& value) { x.assign(value); }, nb::arg("value"))
        .def(
            "_copy_to", [](const ArrayArgument& x, nb::object target) { copy_to_buffer(x, target); }, nb::arg("target"))
        .def("_to_bytes", &to_bytes);

    bind_exchange(m, c);
    bind_layout(m, c);

    m.def(
        "_copy_buffer",
        [](nb::handle object, pardo::DType dtype, QueueArgument queue, nb::handle kind, bool follows) {
            const Array copy = copy_buffer(object, dtype, queue, kind_from(kind, "asarray"));
            return follows ? pardo::note_following(copy) : copy;
        },
        nb::arg("object"), nb::arg("dtype"), nb::arg("queue"), nb::arg("kind") = "device", nb::arg("follows") = false);
    m.def(
        "_share_buffer", [](nb::handle object, pardo::DType dtype, QueueArgument queue) { return share_buffer(object, dtype, queue); },
        nb::arg("object"), nb::arg("dtype"), nb::arg("queue"));
    m.def(
        "_dtype_of_values", [](const char* op_name, nb::handle object, nb::handle host) { return dtype_of_values(op_name, object, host); },
        nb::arg("op_name"), nb::arg("object").none(), nb::arg("host"),
        nb::sig("def _dtype_of_values(op_name: str, object: Any, host: Any) -> numpy.dtype[Any]"));
    m.def("_explain", &explain, nb::arg("roots"), nb::sig("def _explain(roots: Sequence[Array]) -> tuple[str, list[dict[str, Any]]]"));
    m.def(
        "_force", [](const std::vector<Array>& roots) { pardo::force(roots); }, nb::arg("roots"));
    m.def(
        "_fail_where",
        [](const Array& values, const Array& wrong, nb::str message, bool overflow) {
            const pardo::ErrorCode code = overflow ? pardo::ErrorCode::Overflow : pardo::ErrorCode::Value;
            pardo::fail_where(values, wrong, code, text_from(message));
        },
        nb::arg("values"), nb::arg("wrong"), nb::arg("message"), nb::arg("overflow") = false);
    m.def(
        "_counters",
        [] {
            nb::dict d;
            for (const auto& c : pardo::counters_now()) d[c.name] = c.value;
            return d;
        },
        nb::sig("def _counters() -> dict[str, int]"));
    m.def(
        "_note_fallback", [](const std::string& text) { pardo::note_fallback(text); }, nb::arg("text"));
    m.def(
        "_note_copy", [](std::int64_t bytes) { pardo::note_copy(bytes); }, nb::arg("bytes"));
}

}  // namespace bind
