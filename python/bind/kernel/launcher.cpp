// python/bind/kernel/launcher.cpp: `k[range](…)` without Python in between.
#include <pardo/binding/kernel.h>

#include <array>
#include <memory>
#include <utility>

#include "captured.h"
#include "present.h"

namespace bind {
namespace {

/// What a launcher does by itself once a launch has shown that it may: so many arguments for one program.
struct Prepared {
    nb::object kernel, space, queue, depends;
    std::string op_name;
    Py_ssize_t count = -1;
    std::uint64_t constants = 0;  // one bit for each argument that becomes part of the program
    std::vector<Captured> captured{};
};

/// Never changed but replaced: a launch that is under way, without the GIL, keeps what it began with.
struct Launcher {
    std::shared_ptr<const Prepared> prepared;
};

// Set by the package: the environment as a dict, and names of variables that make kernels run as plain Python.
PyObject* environment = nullptr;
std::array<PyObject*, 2> plain_python = {};

/// Arguments by name, NumPy's inside device_context or where data is mapped, and what the environment asks for are the package's.
PyObject* call(PyObject* self, PyObject* arguments, PyObject* keywords) {
    return guarded([&]() -> PyObject* {
        const std::shared_ptr<const Prepared> l = nb::inst_ptr<Launcher>(self)->prepared;
        const bool ready = l && l->count == PyTuple_Size(arguments) && !keywords && !in_device_context() && !data_is_mapped() &&
                           !may_be_plain_python() && !any_changed(l->captured);
        if (!ready) return PyObject_Call(nb::object(nb::handle(self).attr("_launch")).ptr(), arguments, keywords);
        return nb::cast(launch(*nb::inst_ptr<pardo::Kernel>(l->kernel), arguments, *nb::inst_ptr<pardo::NdRange>(l->space), l->queue,
                               l->depends, l->op_name.c_str(), l->constants))
            .release()
            .ptr();
    });
}

// A kernel keeps its launchers, and each of them keeps the kernel: the collector has to see that.

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const Prepared* l = nb::inst_ptr<Launcher>(self)->prepared.get();
    if (!l) return 0;
    for (const nb::object* o : {&l->kernel, &l->space, &l->queue, &l->depends}) Py_VISIT(o->ptr());
    int failed = 0;
    visit_captured(l->captured, [&](const nb::object& o) {
        if (failed == 0 && o.is_valid()) failed = visit(o.ptr(), arg);
    });
    return failed;
}

int clear(PyObject* self) {
    const auto gone = std::exchange(nb::inst_ptr<Launcher>(self)->prepared, nullptr);
    return 0;
}

PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call)},
                       {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                       {0, nullptr}};

}  // namespace

bool may_be_plain_python() {
    if (!environment) return true;
    for (PyObject* name : plain_python) {
        if (value_in(environment, name).is_valid()) return true;
    }
    return false;
}

void bind_launcher(nb::module_& m) {
    hook("interpret_variable", [](nb::handle name) { keep(plain_python[0], name); });
    hook("race_check_variable", [](nb::handle name) { keep(plain_python[1], name); });
    hook("environment", [](nb::handle variables) { keep(environment, variables); });
    nb::class_<Launcher>(m, "_Launcher", nb::type_slots(slots), "A kernel with its range.")
        .def(nb::init<>())
        .def(
            "_prepare",
            [](Launcher& l, nb::object kernel, nb::object space, nb::object queue, nb::object depends, std::string op_name,
               Py_ssize_t count, std::uint64_t constants, const nb::typed<nb::list, nb::tuple>& captured) {
                Prepared made{std::move(kernel), std::move(space),       std::move(queue), std::move(depends), std::move(op_name), count,
                              constants,         captured_from(captured)};
                const auto gone = std::exchange(l.prepared, std::make_shared<const Prepared>(std::move(made)));  // may run code
            },
            nb::arg("kernel"), nb::arg("space"), nb::arg("queue").none(), nb::arg("depends").none(), nb::arg("op_name"), nb::arg("count"),
            nb::arg("constants"), nb::arg("captured"));
}

}  // namespace bind
