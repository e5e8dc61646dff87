// python/bind/device/event.cpp: pardo/event.h for Python.
#include <chrono>

#include <pardo/event.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::Event;

constexpr const char* status_names[] = {"queued", "running", "complete", "failed"};
const char* status_name(const Event& e) { return status_names[static_cast<int>(e.status())]; }

/// True while this thread runs a done-callback, and so on the library's helper thread.
thread_local bool in_callback = false;
struct CallbackScope {
    bool outer = std::exchange(in_callback, true);
    ~CallbackScope() { in_callback = outer; }
};

/// Calls a Python function from the library's helper thread. An exception goes to sys.unraisablehook: there is no caller to catch it.
struct Callback {
    std::shared_ptr<void> function, argument;
    void operator()() const {
        const WithGil gil;
        if (!gil) return;
        const CallbackScope scope;
        PyObject* const f = object_in(function).ptr();
        PyObject* const result = argument ? call_python(f, {object_in(argument).ptr()}) : PyObject_CallNoArgs(f);
        if (!result) PyErr_WriteUnraisable(f);
        Py_XDECREF(result);
    }
};

/// What a future of asyncio waits for: its loop is told through `call_soon`, with `resolve(future)`.
struct LoopCallback {
    std::shared_ptr<void> call_soon, resolve, future;
    void operator()() const {
        const WithGil gil;
        if (!gil) return;
        const CallbackScope scope;
        PyObject* const result = call_python(object_in(call_soon).ptr(), {object_in(resolve).ptr(), object_in(future).ptr()});
        if (!result) PyErr_Clear();  // the loop is closed: nothing is left to resume
        Py_XDECREF(result);
    }
};

nb::dict times(const Event& e) {
    const pardo::Profiling p = e.profiling();
    nb::dict d;
    d["queued"] = p.queued;
    d["submitted"] = p.submitted;
    d["start"] = p.start;
    d["end"] = p.end;
    return d;
}

void wait_or_time_out(const Event& e, nb::handle timeout) {
    if (wait_for(e, timeout_from(timeout, "Event.wait"))) return;
    PyErr_SetString(PyExc_TimeoutError, "Event.wait: the work was not complete in time; it goes on");
    throw nb::python_error();
}

nb::object failure(const Event& e, bool acknowledge) {
    const std::optional<pardo::Error> error = e.failure(acknowledge);
    return error ? exception_from(*error) : nb::none();
}

nb::object value(const Event& e) {
    const std::shared_ptr<void> v = e.value();
    return v ? nb::borrow(object_in(v)) : nb::none();
}

/// Asks for some microseconds: a callback from another thread takes longer than small work.
bool done_soon(const Event& e) {
    constexpr auto patience = std::chrono::microseconds(10);
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!e.done()) {
        if (std::chrono::steady_clock::now() >= until) return false;
    }
    return true;
}

Event event_from(nb::handle o, const char* op_name) {
    Event* event = nullptr;
    if (nb::try_cast<Event*>(o, event) && event) return *event;
    if (is_array(o.ptr())) {
        const pardo::Array& x = array_of(o.ptr());
        x.force();
        return x.event();
    }
    throw pardo::Error(pardo::ErrorCode::Type,
                       std::string(op_name) + ": an event or an array is expected to wait for, not " + class_name(o));
}

}  // namespace

std::vector<Event> depends_from(nb::handle o, const char* op_name) {
    std::vector<Event> events;
    if (o.is_none()) return events;
    const bool one = is_array(o.ptr()) || nb::isinstance<Event>(o);
    if (one || !PyObject_HasAttrString(o.ptr(), "__iter__")) {
        events.push_back(event_from(o, op_name));
        return events;
    }
    for (nb::handle each : nb::iter(o)) events.push_back(event_from(each, op_name));
    return events;
}

void bind_event(nb::module_& m) {
    nb::class_<Event>(m, "Event", nb::sig("class Event(pardo._runtime.events.EventMethods)"), nb::is_weak_referenceable(),
                      "Work that has been submitted.\n\n"
                      "A failure is raised once, by the first `wait()` on an event or queue that the work concerns. `await`\n"
                      "and futures raise it each time they are asked, which acknowledges it."
                      "\n\nSee Also\n--------\nUserEvent, wait_all, wait_any, as_completed\n\nExamples\n--------\n"
                      ">>> import pardo as pp\n"
                      ">>> x = pp.arange(4.0) + 1\n"
                      ">>> event = x.force().event\n"
                      ">>> event.wait()\n"
                      ">>> event.done(), event.status\n"
                      "(True, 'complete')")
        .def(nb::init<>(), "An event that is complete.")
        .def("wait", &wait_or_time_out, nb::arg("timeout").none() = nb::none(),
             nb::sig("def wait(self, timeout: float | None = None) -> None"),
             "Blocks until the work is complete; raises its failure, once.\n\n"
             "Parameters\n----------\ntimeout : float, optional\n    Seconds, after which TimeoutError is raised; the work goes on. "
             "Default: no "
             "limit.")
        .def("done", &Event::done, "True when the work is complete or has failed.")
        .def_prop_ro("status", &status_name, "'queued', 'running', 'complete' or 'failed'.")
        .def_prop_ro("profiling", &times, nb::sig("def profiling(self) -> dict[str, int]"),
                     "Host-clock times in nanoseconds: queued, submitted, start, end. Raises ValueError unless the queue was made with "
                     "profiling=True, or a profile was open.")
        .def(
            "add_done_callback",
            [](const Event& e, nb::object f) {
                if (!PyCallable_Check(f.ptr()))
                    throw pardo::Error(pardo::ErrorCode::Type, "Event.add_done_callback: a function is expected, not " + class_name(f));
                check_callbacks_begin("Event.add_done_callback");
                e.add_done_callback(Callback{kept(std::move(f)), nullptr});
            },
            nb::arg("f"), nb::sig("def add_done_callback(self, f: Callable[[], object]) -> None"),
            "Calls `f()` on the library's helper thread when the work is complete or has failed, at once if it already has.")
        .def(
            "_notify",
            [](const Event& e, nb::object f, nb::object argument) {
                check_callbacks_begin("as_future");
                return e.add_done_callback(Callback{kept(std::move(f)), kept(std::move(argument))});
            },
            nb::arg("f"), nb::arg("argument").none())
        .def(
            "_notify_loop",
            [](const Event& e, nb::object call_soon, nb::object resolve, nb::object future) {
                check_callbacks_begin("await");
                return e.add_done_callback(LoopCallback{kept(std::move(call_soon)), kept(std::move(resolve)), kept(std::move(future))});
            },
            nb::arg("call_soon"), nb::arg("resolve"), nb::arg("future"))
        .def("_done_soon", &done_soon)
        .def("_forget", &Event::remove_done_callback, nb::arg("id"))
        .def("_failure", &failure, nb::arg("acknowledge") = true,
             nb::sig("def _failure(self, acknowledge: bool = True) -> BaseException | None"))
        .def("_value", &value, nb::sig("def _value(self) -> Any"))
        .def("__repr__", [](const Event& e) { return std::string("<Event ") + status_name(e) + ">"; });
    m.def(
        "_events", [](nb::handle o, const char* op_name) { return depends_from(o, op_name); }, nb::arg("depends").none(),
        nb::arg("op_name"));
    m.def(
        "_in_callback", [] { return in_callback; }, "True in a done-callback, on the library's helper thread.");
    m.def(
        "_wait_any",
        [](const std::vector<Event>& events, nb::handle timeout, const char* op_name) {
            return wait_any(events, timeout_from(timeout, op_name));
        },
        nb::arg("events"), nb::arg("timeout").none(), nb::arg("op_name"),
        nb::sig("def _wait_any(events: list[Event], timeout: float | None, op_name: str) -> int"));
    m.def(
        "_wait_all",
        [](const std::vector<Event>& events, nb::handle timeout) { return wait_all(events, timeout_from(timeout, "wait_all")); },
        nb::arg("events"), nb::arg("timeout").none(), nb::sig("def _wait_all(events: list[Event], timeout: float | None) -> bool"));
}

}  // namespace bind
