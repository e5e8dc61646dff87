// python/bind/event.cpp: pardo/event.h for Python.
#include <pardo/event.h>

#include "bind.h"

namespace bind {
namespace {

/// Calls a Python function from the library's helper thread. An exception goes to sys.unraisablehook: nobody is there to catch it.
struct Callback {
    PyObject* function;
    void operator()() const {
        if (!Py_IsInitialized()) return;
        const PyGILState_STATE state = PyGILState_Ensure();
        PyObject* result = PyObject_CallNoArgs(function);
        if (!result) PyErr_WriteUnraisable(function);
        Py_XDECREF(result);
        Py_DECREF(function);
        PyGILState_Release(state);
    }
};

}  // namespace

void bind_event(nb::module_& m) {
    using pardo::Event;
    nb::class_<Event>(m, "Event", nb::is_final(), "Work that has been submitted.")
        .def(nb::init<>(), "An event that is complete.")
        .def(
            "wait", [](const Event& e) { wait(e); }, "Blocks until the work is complete; raises its failure, once.")
        .def("done", &Event::done, "True when the work is complete or has failed.")
        .def_prop_ro(
            "status",
            [](const Event& e) {
                constexpr const char* names[] = {"queued", "running", "complete", "failed"};
                return names[static_cast<int>(e.status())];
            },
            "'queued', 'running', 'complete' or 'failed'.")
        .def_prop_ro(
            "profiling",
            [](const Event& e) {
                const pardo::Profiling p = e.profiling();
                nb::dict d;
                d["queued"] = p.queued;
                d["submitted"] = p.submitted;
                d["start"] = p.start;
                d["end"] = p.end;
                return d;
            },
            nb::sig("def profiling(self) -> dict[str, int]"),
            "Host-clock times in nanoseconds: queued, submitted, start, end. Raises ValueError unless the queue was made with "
            "profiling=True, or a profile was open.")
        .def(
            "add_done_callback", [](const Event& e, nb::callable f) { e.add_done_callback(Callback{f.release().ptr()}); }, nb::arg("f"),
            nb::sig("def add_done_callback(self, f: Callable[[], object]) -> None"),
            "Calls `f()` on the library's helper thread when the work is complete or has failed, at once if it already has.")
        .def("__repr__", [](const Event& e) {
            constexpr const char* names[] = {"queued", "running", "complete", "failed"};
            return std::string("<Event ") + names[static_cast<int>(e.status())] + ">";
        });
}

}  // namespace bind
