// python/bind/kernel/captured.cpp: whether names from outside stand for what they stood for, and numbers that launches read.
#include "captured.h"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <utility>

#include <pardo/binding/syntax.h>

namespace bind {
namespace {

using pardo::syntax::Outside;
using Puts = std::vector<std::pair<Outside*, pardo::Scalar>>;

/// A number of a type is an `_Outside`; a tuple or a struct a pair of its type and of what is for its parts; all else a list that holds it.
bool puts_of(nb::handle cells, nb::handle now, Puts& out) {
    if (PyList_CheckExact(cells.ptr())) return PyList_GetItem(cells.ptr(), 0) == now.ptr();
    if (PyTuple_CheckExact(cells.ptr())) {
        const nb::handle kind = PyTuple_GetItem(cells.ptr(), 0), parts = PyTuple_GetItem(cells.ptr(), 1);
        if (reinterpret_cast<PyObject*>(Py_TYPE(now.ptr())) != kind.ptr()) return false;
        const nb::object values = PyTuple_Check(now.ptr()) ? nb::borrow(now) : nb::object(now.attr("_values")());
        const Py_ssize_t size = PyTuple_Size(parts.ptr());
        if (!PyTuple_Check(values.ptr()) || PyTuple_Size(values.ptr()) != size) return false;
        for (Py_ssize_t k = 0; k < size; ++k)
            if (!puts_of(PyTuple_GetItem(parts.ptr(), k), PyTuple_GetItem(values.ptr(), k), out)) return false;
        return true;
    }
    Outside* const number = nb::inst_ptr<Outside>(cells);
    try {
        const auto scalar = scalar_from(now.ptr());
        if (!scalar || !number->takes(*scalar)) return false;
        out.emplace_back(number, *scalar);
        return true;
    } catch (const pardo::Error&) {  // beyond 64 bits: it is refused where the function is translated
        return false;
    }
}

bool put(nb::handle cells, nb::handle now) {
    Puts puts;
    if (!puts_of(cells, now, puts)) return false;
    Outside::put(puts);
    return true;
}

}  // namespace

Captured::Captured(nb::handle entry) : owner(entry[0]), name(entry[1]), value(entry[2]), cells(entry[3]), rest(entry[4]) {}

bool Captured::changed() const {
    nb::object now;
    if (PyDict_CheckExact(owner.ptr())) {
        now = value_in(owner.ptr(), name.ptr());
        if (cells.is_none()) return !now.is(value);
    } else {
        now = nb::steal(PyObject_GetAttr(owner.ptr(), name.ptr()));
    }
    for (Py_ssize_t k = 0; now.is_valid() && k < PyTuple_Size(rest.ptr()); ++k)
        now = nb::steal(PyObject_GetAttr(now.ptr(), PyTuple_GetItem(rest.ptr(), k)));
    if (!now.is_valid()) PyErr_Clear();
    if (cells.is_none()) return !now.is(value);
    return !now.is_valid() || !put(cells, now);
}

std::vector<Captured> captured_from(nb::handle list) {
    std::vector<Captured> out;
    for (nb::handle each : list) out.emplace_back(each);
    return out;
}

bool any_changed(const std::vector<Captured>& list) { return std::ranges::any_of(list, &Captured::changed); }

void bind_captured(nb::module_& m) {
    nb::class_<Outside>(m, "_Outside", "A number from outside of a function that launches read.")
        .def(nb::new_([](std::string name, nb::handle value) {
                 const auto scalar = scalar_from(value.ptr());
                 if (!scalar) throw pardo::Error(pardo::ErrorCode::Type, "a number is expected, not " + class_name(value));
                 return std::make_shared<Outside>(std::move(name), *scalar);
             }),
             nb::arg("name"), nb::arg("value"));
    m.def(
        "_put_outside", [](nb::handle cells, nb::handle now) { return put(cells, now); }, nb::arg("cells"), nb::arg("now").none(),
        "Give numbers that launches read another value; False where it is of another type.");
}

}  // namespace bind
