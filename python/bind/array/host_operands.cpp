// python/bind/array/host_operands.cpp: values of the host that meet arrays of pardo: which objects are data, and their copies on a queue.
#include <algorithm>
#include <utility>

#include <pardo/binding/hooks.h>
#include <pardo/binding/layout.h>
#include <pardo/log.h>

#include "bind.h"

namespace bind {
namespace {

/// Called with the function's name, bytes and device before each implicit copy; null while transfer_guard allows all. Kept for ever.
PyObject* guard = nullptr;

/// Called with an operand and a queue: gives the array that is its copy there, or None. Null while no data is mapped.
PyObject* mapped = nullptr;

/// The question may come from a call that has let go of the GIL.
void ask_for_routine(const pardo::HostRoutine& routine) {
    const WithGil gil;
    if (!gil || !guard) return;
    if (routine.to_device) return note_transfer(routine.op_name, routine.bytes, routine.device, true);
    nb::borrow(guard)(routine.op_name, routine.bytes, routine.device, false, routine.why);
}

nb::object attribute_of_class(PyObject* o, const char* name) {
    PyObject* const value = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), name);
    if (!value) PyErr_Clear();
    return nb::steal(value);
}

/// Objects of other libraries that compute with our arrays themselves, as NumPy's operators ask: `x + o` is theirs. Those of pandas have
/// `__array_ufunc__` too, but hold values of the host, which follow the array that they meet.
bool computes_itself(PyObject* o) {
    const nb::object ufunc = attribute_of_class(o, "__array_ufunc__");
    if (!ufunc.is_valid()) return false;
    if (ufunc.is_none()) return true;
    if (ufunc.is(made_once([] { return nb::object(numpy().attr("ndarray").attr("__array_ufunc__")); }))) return false;
    const nb::object module = attribute_of_class(o, "__module__");
    if (!module.is_valid() || !PyUnicode_Check(module.ptr())) return true;
    const std::string name = text_from(module);
    return name != "pandas" && !name.starts_with("pandas.");
}

/// The array in a list or tuple, and in those inside of it, whose queue others follow. True when no other can take its place.
bool find_home(PyObject* o, PyObject*& home, int depth) {
    constexpr int deepest = 64;  // a list may hold itself
    const bool list = PyList_CheckExact(o), tuple = !list && PyTuple_CheckExact(o);
    if ((!list && !tuple) || depth > deepest) return false;
    const Py_ssize_t count = list ? PyList_Size(o) : PyTuple_Size(o);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
        if (!item) {  // another thread has made it shorter
            PyErr_Clear();
            break;
        }
        if (!is_array(item)) {
            if (find_home(item, home, depth + 1)) return true;
        } else if (const int pull = pull_of(array_of(item)); !home || pull > pull_of(array_of(home))) {
            home = item;
            if (pull == 2) return true;
        }
    }
    return false;
}

/// Whether an array, or one of several, may be of another kind than its operands.
bool may_lack_kind(PyObject* o) {
    if (is_array(o)) return pardo::may_lack_kind(array_of(o));
    if (!PyTuple_Check(o)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) {
        if (may_lack_kind(PyTuple_GetItem(o, i))) return true;
    }
    return false;
}

constexpr auto no_kind = static_cast<pardo::MemoryKind>(static_cast<int>(pardo::MemoryKind::Host) + 1);

/// device > shared > host of the arrays in a list or tuple, and in those inside of it.
void kind_among(PyObject* o, pardo::MemoryKind& kind, int depth) {
    constexpr int deepest = 64;
    if (is_array(o)) {
        const Unlocked unlocked;  // to know the kind of memory may take the value
        if (const auto its = pardo::kind_for_results(array_of(o))) kind = std::min(kind, *its);
        return;
    }
    const bool list = PyList_CheckExact(o), tuple = !list && PyTuple_CheckExact(o);
    if ((!list && !tuple) || depth > deepest) return;
    for (Py_ssize_t i = 0; i < (list ? PyList_Size(o) : PyTuple_Size(o)); ++i) {
        PyObject* const item = list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
        if (!item) return PyErr_Clear();  // another thread has made it shorter
        const nb::object kept = nb::borrow(item);
        kind_among(item, kind, depth + 1);
    }
}

}  // namespace

bool is_host_data(PyObject* o) {
    if (is_exact_numpy_array(o) || PyList_Check(o) || PyTuple_Check(o) || PyRange_Check(o)) return true;
    if (o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || computes_itself(o)) return false;
    return PyObject_CheckBuffer(o) || attribute_of_class(o, "__array_interface__").is_valid() ||
           attribute_of_class(o, "__array__").is_valid() || PyObject_HasAttrString(o, "__array_interface__");
}

pardo::Array copy_operand(nb::handle host, pardo::DType dtype, const pardo::Queue& queue, const char* op_name) {
    if (guard) note_transfer(op_name, nb::cast<std::int64_t>(host.attr("nbytes")), queue.device().id(), true);
    return copy_buffer(host, dtype, queue, pardo::MemoryKind::Device, op_name);
}

bool data_is_mapped() { return mapped != nullptr; }

pardo::Array host_operand(PyObject* o, const char* op_name, const pardo::Queue& queue, bool follows) {
    PyObject* inner = nullptr;
    find_home(o, inner, 0);
    if (inner) follows = false;  // what is made of arrays is no copy of the host
    const auto noted = [follows](pardo::Array copy) { return follows ? pardo::note_following(std::move(copy)) : copy; };
    if (mapped) {
        const nb::object found = nb::borrow(mapped)(nb::handle(o), queue);
        if (!found.is_none()) return array_of(found.ptr());
    }
    if (is_exact_numpy_array(o)) {
        const nb::object dtype = nb::handle(o).attr("dtype");
        if (const auto known = dtype_at_sight(dtype.ptr())) return noted(copy_operand(o, *known, queue, op_name));
    }
    const nb::object made = nb::module_::import_("pardo._array.interop").attr("host_operand")(nb::handle(o), queue, op_name, follows);
    return noted(array_of(made.ptr()));
}

void note_transfer(const char* op_name, std::int64_t bytes, const std::string& device, bool to_device) {
    if (guard) nb::borrow(guard)(op_name, bytes, device, to_device);
}

void bind_host_operands(nb::module_& m) {
    hook("transfer_guard", [](nb::handle function) {
        keep(guard, function);
        pardo::set_transfer_hook(guard ? &ask_for_routine : nullptr);
    });
    hook("mapped_data", [](nb::handle function) { keep(mapped, function); });
    m.def(
        "_is_host_data", [](nb::handle o) { return is_host_data(o.ptr()); }, nb::arg("object").none());
    m.def(
        "_host_operand",
        [](nb::handle o, QueueArgument queue, const char* op_name, bool follows) { return host_operand(o.ptr(), op_name, queue, follows); },
        nb::arg("object"), nb::arg("queue"), nb::arg("op_name"), nb::arg("follows") = true);
    m.def(
        "_array_among",
        [](nb::handle objects) -> nb::object {
            PyObject* home = nullptr;
            find_home(objects.ptr(), home, 0);
            return home ? nb::borrow(nb::handle(home)) : nb::none();
        },
        nb::arg("objects"), nb::sig("def _array_among(objects: Sequence[Any]) -> Array | None"));
    // Each call of a public function of Python's asks it: nanobind's way takes ten times as long.
    static PyMethodDef check = {"_may_lack_kind", [](PyObject*, PyObject* result) { return PyBool_FromLong(may_lack_kind(result)); },
                                METH_O, nullptr};
    m.attr("_may_lack_kind") = nb::steal(PyCFunction_NewEx(&check, nullptr, nullptr));
    m.def(
        "_kind_among",
        [](nb::handle objects) -> nb::object {
            pardo::MemoryKind kind = no_kind;
            kind_among(objects.ptr(), kind, 0);
            if (kind == no_kind || kind == pardo::MemoryKind::Device) return nb::none();
            return nb::str(kind == pardo::MemoryKind::Shared ? "shared" : "host");
        },
        nb::arg("objects"), nb::sig("def _kind_among(objects: Sequence[Any]) -> str | None"));
    m.def(
        "_pull", [](const pardo::Array& x) { return pull_of(x); }, nb::arg("x"));
    m.def(
        "_follow",
        [](const pardo::Array& x, QueueArgument queue, const char* op_name) {
            const pardo::Queue& to = queue;
            if (guard && !(x.queue() == to)) note_transfer(op_name, x.nbytes(), to.device().id(), true);
            return x.to_queue(to);
        },
        nb::arg("x"), nb::arg("queue"), nb::arg("op_name"));
    m.def(
        "_copy_operand",
        [](nb::handle host, pardo::DType dtype, QueueArgument queue, const char* op_name, bool follows) {
            const pardo::Array copy = copy_operand(host, dtype, queue, op_name);
            return follows ? pardo::note_following(copy) : copy;
        },
        nb::arg("host"), nb::arg("dtype"), nb::arg("queue"), nb::arg("op_name"), nb::arg("follows") = true);
    m.def(
        "_note_transfer",
        [](const char* op_name, std::int64_t bytes, const char* device, bool to_device) {
            note_transfer(op_name, bytes, device, to_device);
        },
        nb::arg("op_name"), nb::arg("bytes"), nb::arg("device"), nb::arg("to_device"));
}

}  // namespace bind
