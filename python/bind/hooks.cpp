// python/bind/hooks.cpp: the table of what the package installs: functions and classes of Python that the core calls and looks for.
#include <string>
#include <vector>

#include "bind.h"

namespace bind {
namespace {

struct Hook {
    PyObject* name;
    void (*install)(nb::handle value);
};

std::vector<Hook>& hooks = *new std::vector<Hook>;

const Hook* hook_of(PyObject* name) {
    for (const Hook& each : hooks) {
        if (each.name == name) return &each;
    }
    for (const Hook& each : hooks) {
        if (PyUnicode_Compare(each.name, name) == 0) return &each;
    }
    return nullptr;
}

std::string names_of_hooks() {
    std::string all;
    for (const Hook& each : hooks) all += (all.empty() ? "" : ", ") + nb::cast<std::string>(nb::handle(each.name));
    return all;
}

/// Nothing is installed where a name is not known.
void install(const nb::dict& given) {
    for (const auto& [name, value] : given) {
        if (!PyUnicode_Check(name.ptr()) || !hook_of(name.ptr())) {
            const std::string text =
                "_install: " + nb::cast<std::string>(nb::repr(name)) + " is no hook; the hooks are " + names_of_hooks();
            throw nb::value_error(text.c_str());
        }
    }
    for (const auto& [name, value] : given) hook_of(name.ptr())->install(value);
}

}  // namespace

void hook(const char* name, void (*install)(nb::handle value)) { hooks.push_back({PyUnicode_InternFromString(name), install}); }

void keep(PyObject*& place, nb::handle value) {
    PyObject* const former = place;
    place = value.is_none() ? nullptr : value.inc_ref().ptr();
    Py_XDECREF(former);
}

void bind_hooks(nb::module_& m) {
    m.def("_install", &install, nb::arg("hooks"), nb::sig("def _install(hooks: dict[str, Any]) -> None"),
          "Installs what the core calls in Python, by its names; None takes one out that may be missing.");
    m.def(
        "_hook_names",
        [] {
            nb::list names;
            for (const Hook& each : hooks) names.append(nb::borrow(each.name));
            return names;
        },
        nb::sig("def _hook_names() -> list[str]"));
}

}  // namespace bind
