// python/bind/array/protocols.cpp: NumPy's universal functions on arrays: the fast way from `np.sqrt(x)` to a record.
#include "bind.h"

namespace bind {
namespace {

PyObject* functions = nullptr;  // NumPy's universal function -> ours, for calls without keywords
PyObject* others = nullptr;     // what takes all other calls: pardo._numpy.protocols.call_ufunc. Both are kept for ever

bool is_plain_operand(PyObject* o) { return is_array(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o) || is_exact_numpy_array(o); }

/// The function for a plain call; not valid for all that Python code looks at.
nb::object function_for(PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (names && PyTuple_Size(names) > 0) return {};
    if (PyUnicode_CompareWithASCIIString(args[1], "__call__") != 0) return {};
    for (Py_ssize_t i = 2; i < count; ++i) {
        if (!is_plain_operand(args[i])) return {};
    }
    return value_in(functions, args[0]);
}

nb::tuple tuple_from(PyObject* const* args, Py_ssize_t count) {
    PyObject* const t = PyTuple_New(count);
    if (!t) throw nb::python_error();
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(t, i, Py_NewRef(args[i]));
    return nb::steal<nb::tuple>(t);
}

PyObject* array_ufunc(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        if (count < 2 || !PyUnicode_Check(args[1]))
            throw pardo::Error(pardo::ErrorCode::Type, "__array_ufunc__: a universal function of NumPy, a method and inputs are expected");
        if (const nb::object f = function_for(args, count, names); f.is_valid())
            return PyObject_Call(f.ptr(), tuple_from(args + 2, count - 2).ptr(), nullptr);
        nb::dict keywords;
        for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i)
            keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + i]);
        return PyObject_Call(others, tuple_from(args, count).ptr(), keywords.ptr());
    });
}

PyMethodDef method = {"__array_ufunc__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&array_ufunc)),
                      METH_FASTCALL | METH_KEYWORDS,
                      "__array_ufunc__($self, ufunc, method, /, *inputs, **kwargs)\n--\n\n"
                      "NumPy's universal functions on arrays of pardo: they are those of pardo, and stay on the device."};

}  // namespace

void bind_protocols() {
    const nb::object descriptor = nb::steal(PyDescr_NewMethod(array_type, &method));
    if (!descriptor) throw nb::python_error();
    nb::handle(reinterpret_cast<PyObject*>(array_type)).attr("__array_ufunc__") = descriptor;
    hook("ufuncs", [](nb::handle table) { keep(functions, table); });
    hook("call_ufunc", [](nb::handle function) { keep(others, function); });
}

}  // namespace bind
