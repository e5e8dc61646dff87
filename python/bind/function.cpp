// python/bind/function.cpp: what users call where a function is written in Python: an object around it that costs a few nanoseconds, and
// that lets no frame of the package out when an exception leaves (pardo/_base/tracebacks.py says which frames are whose).
#include <algorithm>
#include <cstddef>
#include <utility>

#include "bind.h"

#include <structmember.h>

namespace bind {
namespace {

// As in array/ufunc.cpp: part of CPython's ABI from 3.9 on, and not by name of the limited API of 3.11.
constexpr unsigned long have_vectorcall = 1UL << 11;
using Call = PyObject* (*)(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names);

/// A function; `said` is the name of which its messages are to speak, or null where they say what they say.
struct Function {
    PyObject_HEAD Call call;
    bool is_method;
    PyObject *inner, *said, *name, *qualname, *module, *weak_references;
};

/// A generator of the package's that users run: the same for what leaves it.
struct Generator {
    PyObject_HEAD PyObject* inner;
};

PyTypeObject *function_type = nullptr, *generator_type = nullptr;
PyObject *plain_generator = nullptr, *plain_function = nullptr, *method_type = nullptr;  // classes of Python's

// Installed by the package: `leave(exception, traceback, name) -> traceback`, and `show(result) -> result` of generators and functions.
PyObject *leave = nullptr, *show = nullptr;

Function* function_of(PyObject* o) { return reinterpret_cast<Function*>(o); }
PyObject* inner_of(PyObject* generator) { return reinterpret_cast<Generator*>(generator)->inner; }

PyObject* allocated(PyTypeObject* type) {
    PyObject* const made = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!made) throw nb::python_error();
    return made;
}

void free_object(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/// A generator or a function that the package made, as one that users meet; others as they are.
[[gnu::noinline]] PyObject* shown(PyObject* result) {
    PyObject* const other = show ? call_python(show, {result}) : nullptr;
    if (!other) {
        PyErr_Clear();
        return result;
    }
    Py_DECREF(result);
    return other;
}

bool may_be_ours(PyObject* result) {
    PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(result));
    return type == plain_generator || type == plain_function;
}

// --- calls that an argument takes over ------------------------------------------------------------------------------------------

PyObject* take_over = nullptr;  // installed by the package: what is called with the function, a tuple and a dict

/// Deeper lists, and what comes after the first items of long ones, are data.
bool takes_over(PyObject* o, int depth) {
    constexpr int deepest = 2;
    constexpr Py_ssize_t most = 64;
    PyTypeObject* const kind = Py_TYPE(o);
    if (kind == taking_over[0] || kind == taking_over[1]) return true;
    const bool list = PyList_CheckExact(o), tuple = !list && PyTuple_CheckExact(o);
    if ((!list && !tuple) || depth > deepest) return false;
    const Py_ssize_t count = std::min(most, list ? PyList_Size(o) : PyTuple_Size(o));
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
        if (!item) {  // another thread has made it shorter
            PyErr_Clear();
            return false;
        }
        if (takes_over(item, depth + 1)) return true;
    }
    return false;
}

bool are_taken_over(PyObject* args, PyObject* keywords) {
    if (takes_over(args, 0)) return true;
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &name, &value);) {
        if (takes_over(value, 0)) return true;
    }
    return false;
}

PyObject* call_taken_over(PyObject* function, PyObject* args, PyObject* keywords) {
    PyObject* const result = call_python(take_over, {function, args, keywords});
    if (!result) hide_frames();
    return result;
}

// --- functions ------------------------------------------------------------------------------------------------------------------

constexpr std::size_t vectorcall_offset = std::size_t{1} << (8 * sizeof(std::size_t) - 1);

PyObject* call(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names) {
    if (!function_of(self)->is_method && is_taken_over(args, count & ~vectorcall_offset, names)) [[unlikely]]
        return hand_over(self, args, count & ~vectorcall_offset, names);
    PyObject* const result = nb::detail::vectorcall(function_of(self)->inner, args, count, names);
    if (result) [[likely]] {
        if (may_be_ours(result)) [[unlikely]]
            return shown(result);
        return result;
    }
    hide_frames(function_of(self)->said);
    return nullptr;
}

/// For callers that have a tuple and a dict.
PyObject* call_with_tuple(PyObject* self, PyObject* args, PyObject* keywords) {
    if (!function_of(self)->is_method && taking_over[0] && are_taken_over(args, keywords))
        return call_taken_over(self, args, keywords ? keywords : nb::dict().ptr());
    PyObject* const result = PyObject_Call(function_of(self)->inner, args, keywords);
    if (result) return may_be_ours(result) ? shown(result) : result;
    hide_frames(function_of(self)->said);
    return nullptr;
}

PyObject* bound(PyObject* self, PyObject* owner, PyObject*) {
    if (!owner || owner == Py_None) return Py_NewRef(self);
    return call_python(method_type, {self, owner});
}

bool is(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

/// What is not found here is the inner function's: its signature, defaults, code, and what others have put there. Of its class come first
/// the names that classes themselves have.
PyObject* attribute(PyObject* self, PyObject* name) {
    if (is(name, "__module__")) return Py_NewRef(function_of(self)->module);
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (found || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError))) return found;
    PyErr_Clear();
    return PyObject_GetAttr(function_of(self)->inner, name);
}

int exchange(PyObject*& held, PyObject* value) {
    PyObject* const before = std::exchange(held, Py_NewRef(value));
    Py_DECREF(before);
    return 0;
}

/// As Python's functions.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
    if (is(name, "__module__")) return exchange(function_of(self)->module, value ? value : Py_None);
    const bool qualified = is(name, "__qualname__");
    if (!qualified && !is(name, "__name__")) return PyObject_SetAttr(function_of(self)->inner, name, value);
    if (value && PyUnicode_Check(value)) return exchange(qualified ? function_of(self)->qualname : function_of(self)->name, value);
    PyErr_Format(PyExc_TypeError, "%U must be set to a string object", name);
    return -1;
}

/// A descriptor, because `help` asks for it past `attribute`.
PyObject* documentation(PyObject* self, void*) { return PyObject_GetAttrString(function_of(self)->inner, "__doc__"); }

PyObject* represent(PyObject* self) { return PyUnicode_FromFormat("<function %U at %p>", function_of(self)->qualname, self); }

/// Pickles hold the name; copies are the object itself.
PyObject* reduce(PyObject* self, PyObject*) { return Py_NewRef(function_of(self)->qualname); }

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(function_of(self)->inner);
    return 0;
}

void destroy(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Function* const f = function_of(self);
    if (f->weak_references) PyObject_ClearWeakRefs(self);
    for (PyObject* held : {f->inner, f->said, f->name, f->qualname, f->module}) Py_XDECREF(held);
    free_object(self);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak_references), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(Function, inner), READONLY, nullptr},
    {"__name__", T_OBJECT, offsetof(Function, name), READONLY, nullptr},
    {"__qualname__", T_OBJECT, offsetof(Function, qualname), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"__doc__", documentation, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_call, reinterpret_cast<void*>(call_with_tuple)},
    {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
    {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bound)},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {
    "pardo.function", sizeof(Function), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_METHOD_DESCRIPTOR | have_vectorcall, slots};

// --- generators -----------------------------------------------------------------------------------------------------------------

PySendResult send(PyObject* self, PyObject* value, PyObject** result) {
    const PySendResult what = PyIter_Send(inner_of(self), value, result);
    if (what == PYGEN_ERROR) hide_frames();
    return what;
}

/// As Python's own generators: what has returned raises StopIteration with its value.
PyObject* step(PyObject* self, PyObject* value) {
    PyObject* result = nullptr;
    const PySendResult what = send(self, value, &result);
    if (what != PYGEN_RETURN) return result;
    if (result != Py_None) {
        PyObject* const stop = call_python(PyExc_StopIteration, {result});
        if (stop) PyErr_SetObject(PyExc_StopIteration, stop);
        Py_XDECREF(stop);
    } else {
        PyErr_SetNone(PyExc_StopIteration);
    }
    Py_DECREF(result);
    return nullptr;
}

PyObject* next(PyObject* self) { return step(self, Py_None); }

PyObject* call_inner(PyObject* self, const char* method, PyObject* args) {
    PyObject* const function = PyObject_GetAttrString(inner_of(self), method);
    if (!function) return nullptr;
    PyObject* const result = args ? PyObject_CallObject(function, args) : PyObject_CallNoArgs(function);
    Py_DECREF(function);
    if (!result) hide_frames();
    return result;
}

PyObject* throw_in(PyObject* self, PyObject* args) { return call_inner(self, "throw", args); }
PyObject* close_generator(PyObject* self, PyObject*) { return call_inner(self, "close", nullptr); }

int traverse_generator(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(inner_of(self));
    return 0;
}

void destroy_generator(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Py_XDECREF(inner_of(self));
    free_object(self);
}

PyObject* generator_attribute(PyObject* self, PyObject* name) {
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(inner_of(self), name);
}

PyMethodDef generator_methods[] = {
    {"send", step, METH_O, nullptr},
    {"throw", throw_in, METH_VARARGS, nullptr},
    {"close", close_generator, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot generator_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_generator)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_generator)},
    {Py_tp_getattro, reinterpret_cast<void*>(generator_attribute)},
    {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
    {Py_tp_iternext, reinterpret_cast<void*>(next)},
    {Py_am_send, reinterpret_cast<void*>(send)},
    {Py_tp_methods, generator_methods},
    {0, nullptr},
};

PyType_Spec generator_spec = {"pardo.generator", sizeof(Generator), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, generator_slots};

}  // namespace

PyTypeObject* taking_over[2] = {nullptr, nullptr};

bool holds_taking_over(PyObject* const* args, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (takes_over(args[i], 0)) return true;
    }
    return false;
}

PyObject* hand_over(PyObject* function, PyObject* const* args, std::size_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        const nb::object positional = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
        if (!positional.is_valid()) throw nb::python_error();
        for (std::size_t i = 0; i < count; ++i) PyTuple_SetItem(positional.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
        nb::dict keywords;
        for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i)
            keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + static_cast<std::size_t>(i)]);
        return call_taken_over(function, positional.ptr(), keywords.ptr());
    });
}

void hide_frames(PyObject* name) noexcept {
    if (!leave || !PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration)) return;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject* const kept = call_python(leave, {value, traceback ? traceback : Py_None, name ? name : Py_None});
    if (kept) {
        PyException_SetTraceback(value, kept);
        Py_XDECREF(traceback);
        traceback = kept == Py_None ? nullptr : Py_NewRef(kept);
        Py_DECREF(kept);
    } else {
        PyErr_Clear();  // at the end of the stack or of memory: all frames stay
    }
    PyErr_Restore(type, value, traceback);
}

void keep_message(PyObject* exception) {
    PyObject* const mark = PyUnicode_InternFromString("_pardo_keeps_message");
    // Past a __setattr__ of the user's class. Where memory ends, the message may get a name: no harm.
    if (!mark || PyObject_GenericSetAttr(exception, mark, Py_True) != 0) PyErr_Clear();
    Py_XDECREF(mark);
}

PyObject* shown_result(PyObject* result, const char* name) {
    if (result) return result;
    hide_frames(name ? nb::str(name).ptr() : nullptr);
    throw nb::python_error();
}

void bind_function(nb::module_& m) {
    function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    generator_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&generator_spec));
    if (!function_type || !generator_type) throw nb::python_error();
    const nb::module_ types = nb::module_::import_("types");
    plain_generator = nb::object(types.attr("GeneratorType")).release().ptr();
    plain_function = nb::object(types.attr("FunctionType")).release().ptr();
    method_type = nb::object(types.attr("MethodType")).release().ptr();
    m.attr("_Shown") = nb::handle(reinterpret_cast<PyObject*>(function_type));
    m.def(
        "_show",
        [](nb::handle inner, nb::str name, nb::str qualname, nb::handle module, bool says_its_name) {
            PyObject* const made = allocated(function_type);
            Function* const f = function_of(made);
            f->call = call;
            f->is_method = PyUnicode_Compare(name.ptr(), qualname.ptr()) != 0;
            f->inner = Py_NewRef(inner.ptr());
            f->name = Py_NewRef(name.ptr());
            f->qualname = Py_NewRef(qualname.ptr());
            f->module = Py_NewRef(module.ptr());
            if (says_its_name) f->said = Py_NewRef(name.ptr());
            return nb::steal(made);
        },
        nb::arg("inner"), nb::arg("name"), nb::arg("qualname"), nb::arg("module").none(), nb::arg("says_its_name"),
        nb::sig("def _show(inner: Callable[..., Any], name: str, qualname: str, module: str | None, says_its_name: bool) -> Any"));
#ifdef NDEBUG
    m.attr("_is_debug_build") = false;
#else
    m.attr("_is_debug_build") = true;
#endif
    hook("leave", [](nb::handle function) { keep(leave, function); });
    hook("take_over", [](nb::handle value) {
        const nb::tuple given = nb::cast<nb::tuple>(value);
        keep(take_over, given[0]);
        taking_over[1] = reinterpret_cast<PyTypeObject*>(nb::object(given[2]).release().ptr());
        taking_over[0] = reinterpret_cast<PyTypeObject*>(nb::object(given[1]).release().ptr());
    });
    hook("show_result", [](nb::handle function) { keep(show, function); });
    m.def(
        "_show_generator",
        [](nb::handle inner) {
            PyObject* const made = allocated(generator_type);
            reinterpret_cast<Generator*>(made)->inner = Py_NewRef(inner.ptr());
            return nb::steal(made);
        },
        nb::arg("inner"), nb::sig("def _show_generator(inner: Any) -> Any"));
}

}  // namespace bind
