// python/bind/array/ufunc.cpp: the class ufunc: elementwise functions as the objects that NumPy's are. A call costs what a call of a C
// function does: the interpreter finds the address of `call` in the object. Its methods and properties are written in Python
// (pardo/_ufunc/methods.py) and attached to the class.
#include <cstddef>
#include <utility>

#include <pardo/binding/rows.h>

#include "bind.h"

#include <structmember.h>

namespace bind {
namespace {

// The limited API of CPython 3.11 has neither of these by name; both are part of its ABI from 3.9 on.
constexpr unsigned long have_vectorcall = 1UL << 11;
constexpr std::size_t vectorcall_offset = std::size_t{1} << (8 * sizeof(std::size_t) - 1);
using Call = PyObject* (*)(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names);

struct UFunc {
    PyObject_HEAD Call call;
    int row;  // of ops.def; -1: `function` does the work
    int nin, nout;
    PyObject *name, *function, *signature, *dict, *weak_references;
};

PyTypeObject* ufunc_type = nullptr;

UFunc* ufunc_of(PyObject* o) { return reinterpret_cast<UFunc*>(o); }

/// Arrays and nothing else: there is nothing to parse.
[[gnu::noinline]] PyObject* call_of_arrays(int row, PyObject* const* args, std::size_t count) {
    return guarded([&]() -> PyObject* {
        const pardo::Operand operands[] = {array_of(args[0]), array_of(args[count - 1])};
        return wrap(pardo::apply(row, {operands, count}));
    });
}

/// The place of a keyword among names, or -1.
Py_ssize_t place_of(PyObject* names, const char* keyword) {
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), keyword) == 0) return i;
    }
    return -1;
}

/// The call without its keyword `order`, whose result is then brought into that order.
PyObject* call_in_order(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names, Py_ssize_t place) {
    return guarded([&]() -> PyObject* {
        const auto positional = static_cast<Py_ssize_t>(count);
        const nb::module_ orders = nb::module_::import_("pardo._base.orders");
        const nb::object order = orders.attr("read_order")(nb::handle(args[positional + place]), nb::handle(ufunc_of(self)->name));
        nb::list arguments;
        nb::dict keywords;
        bool out = positional > ufunc_of(self)->nin;
        for (Py_ssize_t i = 0; i < positional; ++i) arguments.append(nb::handle(args[i]));
        for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
            if (i == place) continue;
            keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[positional + i]);
            out |= PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), "out") == 0;
        }
        const nb::object result = nb::steal(PyObject_Call(self, nb::tuple(arguments).ptr(), keywords.ptr()));
        if (!result) throw nb::python_error();
        if (out) return nb::object(result).release().ptr();
        return orders.attr("of_result")(result, order, arguments).release().ptr();
    });
}

/// What a function of Python is called with.
std::pair<nb::tuple, nb::dict> arguments_of(PyObject* const* args, std::size_t count, PyObject* names) {
    nb::list positional;
    nb::dict keywords;
    for (std::size_t i = 0; i < count; ++i) positional.append(nb::handle(args[i]));
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i)
        keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + static_cast<std::size_t>(i)]);
    return {nb::tuple(positional), keywords};
}

/// Whether a call names what it computes in: by `signature`, by `sig`, which is the same, or by the `dtype` of a function of Python's.
bool names_loop(const UFunc* f, PyObject* names) {
    const bool signature = place_of(names, "signature") >= 0 || place_of(names, "sig") >= 0;
    return signature || (f->row < 0 && f->signature == Py_None && place_of(names, "dtype") >= 0);
}

/// A call with keywords that are not read here: those that name a loop, and `order`. Null: there is none of these.
PyObject* call_otherwise(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names) {
    if (names_loop(ufunc_of(self), names)) {
        return guarded([&]() -> PyObject* {
            const auto [positional, keywords] = arguments_of(args, count, names);
            return nb::module_::import_("pardo._ufunc.signatures").attr("call")(nb::handle(self), positional, keywords).release().ptr();
        });
    }
    const Py_ssize_t place = place_of(names, "order");
    return place >= 0 ? call_in_order(self, args, count, names, place) : nullptr;
}

PyObject* call_of_row(PyObject* self, PyObject* const* args, std::size_t count_and_flag, PyObject* names) {
    const UFunc* f = ufunc_of(self);
    const std::size_t count = count_and_flag & ~vectorcall_offset;
    const bool arrays = !names && count == static_cast<std::size_t>(f->nin) && is_array(args[0]) && is_array(args[count - 1]);
    if (arrays) return call_of_arrays(f->row, args, count);
    if (is_taken_over(args, count, names)) return hand_over(self, args, count, names);
    if (names) {
        PyObject* const result = call_otherwise(self, args, count, names);
        if (result || PyErr_Occurred()) return result;
    }
    return call_row(f->row, args, static_cast<Py_ssize_t>(count), names);
}

/// What the function of a ufunc is called with: places of several results behind the operands are its `out`.
std::pair<nb::tuple, nb::dict> arguments_of_function(const UFunc* f, PyObject* const* args, std::size_t count, PyObject* names) {
    const auto nin = static_cast<std::size_t>(f->nin), nout = static_cast<std::size_t>(f->nout);
    const bool apart = nout > 1 && count > nin && count <= nin + nout && !PyTuple_Check(args[nin]) && place_of(names, "out") < 0;
    auto [positional, keywords] = arguments_of(args, apart ? nin : count, apart ? nullptr : names);
    if (!apart) return {positional, keywords};
    nb::list out;
    for (std::size_t i = nin; i < nin + nout; ++i) out.append(i < count ? nb::handle(args[i]) : nb::handle(Py_None));
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i)
        keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + static_cast<std::size_t>(i)]);
    keywords["out"] = nb::tuple(out);
    return {positional, keywords};
}

PyObject* call_of_function(PyObject* self, PyObject* const* args, std::size_t count_and_flag, PyObject* names) {
    const std::size_t count = count_and_flag & ~vectorcall_offset;
    if (is_taken_over(args, count, names)) return hand_over(self, args, count, names);
    if (names) {
        PyObject* const result = call_otherwise(self, args, count, names);
        if (result || PyErr_Occurred()) return result;
    }
    return guarded([&]() -> PyObject* {
        const auto [positional, keywords] = arguments_of_function(ufunc_of(self), args, count, names);
        PyObject* const result = PyObject_Call(ufunc_of(self)->function, positional.ptr(), keywords.ptr());
        if (!result) hide_frames(ufunc_of(self)->name);
        return result;
    });
}

/// For callers that have a tuple and a dict.
PyObject* call_with_tuple(PyObject* self, PyObject* args, PyObject* keywords) {
    return guarded([&]() -> PyObject* {
        std::vector<PyObject*> all;
        for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) all.push_back(PyTuple_GetItem(args, i));
        const std::size_t count = all.size();
        if (!keywords || PyDict_Size(keywords) == 0) return ufunc_of(self)->call(self, all.data(), count, nullptr);
        nb::list names, values;  // they keep what the dict, which others may have, lets go
        PyObject *name = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value);) {
            names.append(nb::handle(name));
            values.append(nb::handle(value));
            all.push_back(value);
        }
        const nb::tuple held(names);
        return ufunc_of(self)->call(self, all.data(), count, held.ptr());
    });
}

PyObject* show(PyObject* self) { return PyUnicode_FromFormat("<ufunc '%U'>", ufunc_of(self)->name); }

/// Pickles hold the name; copies are the object itself.
PyObject* reduce(PyObject* self, PyObject*) { return Py_NewRef(ufunc_of(self)->name); }

void destroy(PyObject* self) {
    UFunc* f = ufunc_of(self);
    PyTypeObject* type = Py_TYPE(self);
    if (f->weak_references) PyObject_ClearWeakRefs(self);
    for (PyObject* held : {f->name, f->function, f->signature, f->dict}) Py_XDECREF(held);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UFunc, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(UFunc, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(UFunc, weak_references), READONLY, nullptr},
    {"__name__", T_OBJECT, offsetof(UFunc, name), READONLY, nullptr},
    {"__qualname__", T_OBJECT, offsetof(UFunc, name), READONLY, nullptr},
    {"nin", T_INT, offsetof(UFunc, nin), READONLY, "Number of operands."},
    {"nout", T_INT, offsetof(UFunc, nout), READONLY, "Number of results."},
    {"signature", T_OBJECT, offsetof(UFunc, signature), READONLY,
     "Of a function of vectors or matrices the dimensions that it takes together, as '(n?,k),(k,m?)->(n?,m?)'; else None."},
    {"_row", T_INT, offsetof(UFunc, row), READONLY, nullptr},
    {"_function", T_OBJECT, offsetof(UFunc, function), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

constexpr const char* doc =
    "Functions that operate element by element on whole arrays.\n\n"
    "`pardo.add` is one, and so is every other function that is a `numpy.ufunc` in NumPy. Besides being called they have methods: those\n"
    "that take two operands and give one result reduce arrays, accumulate along an axis, and combine all pairs.\n\n"
    "Beside `out`, `where`, `dtype` and `casting` each call takes two more keywords of NumPy's: ``order='K'``, how the result lies in\n"
    "memory, and `signature`, what is computed in: text such as ``'dd->d'``, or a tuple of one dtype for each operand and result, with\n"
    "None where any will do. `types` lists what there is.\n\n"
    "See Also\n--------\nadd, vectorize, elementwise\n\nExamples\n--------\n"
    ">>> import pardo as pp\n"
    ">>> isinstance(pp.add, pp.ufunc)\n"
    "True\n"
    ">>> pp.add.nin, pp.add.nout, pp.add.identity\n"
    "(2, 1, 0)\n"
    ">>> pp.multiply.outer(pp.arange(3), pp.arange(4))\n"
    "array([[0, 0, 0, 0],\n"
    "       [0, 1, 2, 3],\n"
    "       [0, 2, 4, 6]])\n"
    ">>> pp.add(pp.arange(3), 1, signature='ff->f')\n"
    "array([1., 2., 3.], dtype=float32)";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(doc)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_repr, reinterpret_cast<void*>(show)},
    {Py_tp_call, reinterpret_cast<void*>(call_with_tuple)},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"pardo.ufunc", sizeof(UFunc), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | have_vectorcall, slots};

nb::object make(nb::handle name, int nin, int nout, Call call) {
    const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(ufunc_type, Py_tp_alloc));
    nb::object made = nb::steal(allocate(ufunc_type, 0));
    if (!made) throw nb::python_error();
    UFunc* f = ufunc_of(made.ptr());
    f->call = call;
    f->row = -1;
    f->nin = nin;
    f->nout = nout;
    f->name = Py_NewRef(name.ptr());
    return made;
}

}  // namespace

nb::object ufunc_of_row(int id, const char* name, int arity, const char* docstring) {
    nb::object f = make(nb::str(name), arity, 1, call_of_row);
    ufunc_of(f.ptr())->row = id;
    f.attr("__doc__") = nb::str(docstring);
    return f;
}

void bind_ufunc(nb::module_& m) {
    ufunc_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (!ufunc_type) throw nb::python_error();
    m.attr("ufunc") = nb::handle(reinterpret_cast<PyObject*>(ufunc_type));
    m.def(
        "_ufunc",
        [](nb::handle function, int nin, int nout, nb::handle signature) {
            nb::object f = make(function.attr("__name__"), nin, nout, call_of_function);
            ufunc_of(f.ptr())->function = Py_NewRef(function.ptr());
            ufunc_of(f.ptr())->signature = Py_NewRef(signature.ptr());
            f.attr("__doc__") = function.attr("__doc__");
            f.attr("__wrapped__") = function;
            return f;
        },
        nb::arg("function"), nb::arg("nin"), nb::arg("nout"), nb::arg("signature").none(),
        nb::sig("def _ufunc(function: Callable[..., Any], nin: int, nout: int, signature: str | None) -> Any"));
    m.def(
        "_loop_of",
        [](int row, const std::vector<pardo::DType>& operands, std::optional<pardo::DType> dtype) {
            const pardo::LoopTypes types = pardo::loop_of(row, operands, dtype);
            return nb::make_tuple(dtype_to_python(types.loop), dtype_to_python(types.result));
        },
        nb::arg("row"), nb::arg("operands"), nb::arg("dtype").none() = nb::none(),
        nb::sig("def _loop_of(row: int, operands: Sequence[DTypeLike], dtype: DTypeLike | None = None) -> tuple[numpy.dtype[Any], "
                "numpy.dtype[Any]]"));
    using MaybeArray = std::optional<pardo::Array>;
    m.def(
        "_fold",
        [](int row, const ArrayArgument& x, std::int64_t axis, const MaybeArray& initial, const MaybeArray& where) {
            const Unlocked u;
            return pardo::fold(row, x, axis, initial ? &*initial : nullptr, where ? &*where : nullptr);
        },
        nb::arg("row"), nb::arg("x"), nb::arg("axis"), nb::arg("initial").none(), nb::arg("where").none());
    m.def(
        "_fold_steps",
        [](int row, const ArrayArgument& x, std::int64_t axis) {
            const Unlocked u;
            return pardo::fold_steps(row, x, axis);
        },
        nb::arg("row"), nb::arg("x"), nb::arg("axis"));
    m.def(
        "_fold_segments",
        [](int row, const ArrayArgument& x, std::int64_t axis, const ArrayArgument& starts, const ArrayArgument& stops) {
            const Unlocked u;
            return pardo::fold_segments(row, x, axis, starts, stops);
        },
        nb::arg("row"), nb::arg("x"), nb::arg("axis"), nb::arg("starts"), nb::arg("stops"));
    m.def(
        "_fold_places",
        [](int row, const ArrayArgument& old, const MaybeArray& values, const ArrayArgument& keys, pardo::DType loop) {
            const Unlocked u;
            return pardo::fold_places(row, old, values ? &*values : nullptr, keys, loop);
        },
        nb::arg("row"), nb::arg("old"), nb::arg("values").none(), nb::arg("keys"), nb::arg("loop"));
    m.def(
        "_accumulates_at",
        [](int row, const ArrayArgument& target) {
            const Unlocked u;
            return pardo::accumulates_at(row, target);
        },
        nb::arg("row"), nb::arg("target"));
    m.def(
        "_accumulate_at",
        [](int row, const ArrayArgument& target, const ArrayArgument& places, const ArrayArgument& values, bool inside) {
            const Unlocked u;
            pardo::accumulate_at(row, target, places, values, inside);
        },
        nb::arg("row"), nb::arg("target"), nb::arg("places"), nb::arg("values"), nb::arg("inside"));
}

}  // namespace bind
