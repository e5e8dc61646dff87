// python/bind/device/task.cpp: Python code that the library runs or waits for: host tasks and user events.
#include <pardo/queue.h>

#include "bind.h"

namespace bind {
namespace {

/// A Python function as the library runs it; what it returns becomes the event's value.
struct HostTask {
    std::shared_ptr<void> function;
    std::shared_ptr<void> operator()() const {
        const WithGil gil;
        if (!gil) throw pardo::NotRun(pardo::ErrorCode::Device, "host_task: not run: the interpreter is exiting");
        PyObject* const result = PyObject_CallNoArgs(object_in(function).ptr());
        if (!result) throw error_from_python();
        return kept(nb::steal(result));
    }
};

/// An event of the user's; an Event to all who wait for it.
struct UserEvent : pardo::Event {
    UserEvent() : UserEvent(pardo::UserEvent(users_line())) {}
    explicit UserEvent(const pardo::UserEvent& o) : pardo::Event(o.event()), owner(o) {}
    pardo::UserEvent owner;
};

void check_set(bool set, const char* op_name) {
    if (set) return;
    throw pardo::Error(pardo::ErrorCode::Value,
                       std::string("UserEvent.") + op_name + ": the event is complete already; it can be set only once");
}

void set_complete(const UserEvent& e, nb::object value) {
    std::shared_ptr<void> keeper = value.is_none() ? nullptr : kept(std::move(value));
    check_set(e.owner.set_complete(std::move(keeper)), "set_complete");
}

void set_failed(const UserEvent& e, nb::object exception) {
    if (PyType_Check(exception.ptr()) && PyObject_IsSubclass(exception.ptr(), PyExc_BaseException) == 1) exception = exception();
    if (PyObject_IsInstance(exception.ptr(), PyExc_BaseException) != 1) {
        throw pardo::Error(pardo::ErrorCode::Type, "UserEvent.set_failed: an exception is expected, not " + class_name(exception));
    }
    check_set(e.owner.set_failed(error_from_exception(std::move(exception))), "set_failed");
}

}  // namespace

void bind_task(nb::module_& m) {
    nb::class_<UserEvent, pardo::Event>(m, "UserEvent", nb::is_final(),
                                        "An event that your own code completes; work submitted with `depends=` on it waits.\n\n"
                                        "If it is dropped before it is set, it fails, and so does what waits for it."
                                        "\n\nSee Also\n--------\nEvent, wait_any\n\nExamples\n--------\n"
                                        ">>> import pardo as pp\n"
                                        ">>> go = pp.UserEvent()\n"
                                        ">>> queue = pp.Queue(\"cpu\")\n"
                                        ">>> x = pp.zeros(3, queue=queue)\n"
                                        ">>> filled = queue.fill(x, 7.0, depends=[go])\n"
                                        ">>> filled.done()\n"
                                        "False\n"
                                        ">>> go.set_complete()\n"
                                        ">>> filled.wait()\n"
                                        ">>> x\n"
                                        "array([7., 7., 7.])")
        .def(nb::init<>(), "An event that is not complete.")
        .def("set_complete", &set_complete, nb::arg("value").none() = nb::none(),
             nb::sig("def set_complete(self, value: object = None) -> None"),
             "Completes it; futures and `await` give `value`. Raises ValueError if it is complete already.")
        .def("set_failed", &set_failed, nb::arg("exception"), nb::sig("def set_failed(self, exception: BaseException) -> None"),
             "Makes it fail with an exception, which waiting for it raises. Raises ValueError if it is complete already.");
    m.def(
        "_host_task",
        [](const pardo::Queue& queue, nb::object f, const std::string& name, const std::vector<pardo::Event>& depends) {
            return queue.host_task(HostTask{kept(std::move(f))}, name, depends);
        },
        nb::arg("queue"), nb::arg("f"), nb::arg("name"), nb::arg("depends"));
}

}  // namespace bind
