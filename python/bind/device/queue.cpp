// python/bind/device/queue.cpp: pardo/queue.h for Python.
#include <algorithm>
#include <cstdio>
#include <functional>

#include <pardo/queue.h>

#include "bind.h"

namespace bind {

using pardo::Queue;

namespace {

pardo::QueueOrder order_from(const std::string& name) {
    if (name == "in_order") return pardo::QueueOrder::InOrder;
    if (name == "out_of_order") return pardo::QueueOrder::OutOfOrder;
    throw pardo::Error(pardo::ErrorCode::Value, "Queue: order is '" + name + "'; it must be 'in_order' or 'out_of_order'");
}

const char* order_name(const Queue& q) { return q.order() == pardo::QueueOrder::InOrder ? "in_order" : "out_of_order"; }

void wait_for_queue(const Queue& q, nb::handle timeout) {
    const auto seconds = timeout_from(timeout, "Queue.wait");
    const pardo::Event all = q.marker();
    if (!done_within(all, seconds)) {  // the queue raises what has failed and is not acknowledged
        PyErr_SetString(PyExc_TimeoutError, "Queue.wait: the work was not complete in time; it goes on");
        throw nb::python_error();
    }
    q.wait();
}

using Events = std::vector<pardo::Event>;

/// What outside code may write or read is over when the call returns, but for what waits for a UserEvent.
pardo::Event over(const pardo::Event& event, const pardo::Array& to, const pardo::Array& from) {
    const bool shared = to.externally_readable() || from.externally_writable();
    if (shared && !event.done() && !event.waits_for_user_event()) wait(event);
    return event;
}

pardo::Event copy_rect(const Queue& q, const pardo::Array& to, const pardo::Array& from, const Ints& numbers, const Events& depends) {
    pardo::Rect rect;
    const std::int64_t* next = numbers.data();
    for (auto* list : {rect.region, rect.to_origin, rect.from_origin}) {
        std::copy(next, next + 3, list);
        next += 3;
    }
    for (auto* list : {rect.to_pitches, rect.from_pitches}) {
        std::copy(next, next + 2, list);
        next += 2;
    }
    return over(q.copy_rect(to, from, rect, depends), to, from);
}

pardo::Context context_from(nb::handle o) {
    std::vector<pardo::Device> devices;
    const bool one = PyUnicode_Check(o.ptr()) || nb::isinstance<pardo::Device>(o);
    if (one || !PyObject_HasAttrString(o.ptr(), "__iter__")) {
        devices.push_back(device_from(o, "Context"));
    } else {
        for (nb::handle each : nb::iter(o)) devices.push_back(device_from(each, "Context"));
    }
    return pardo::Context(devices);
}

void bind_context(nb::module_& m) {
    using pardo::Context;
    nb::class_<Context>(m, "Context", nb::is_final(),
                        "Devices of one platform that work together: queues made of it touch the memory of these devices only.\n\n"
                        "Parameters\n----------\ndevices : Device, str, or sequence of them\n    All of one platform.\n\n"
                        "Raises\n------\nValueError\n    There is no device, one is given twice, or they are of different platforms."
                        "\n\nSee Also\n--------\nQueue, get_platforms\n\nExamples\n--------\n"
                        ">>> import pardo as pp\n"
                        ">>> context = pp.Context(\"cpu\")\n"
                        ">>> len(context), pp.Device(\"cpu\") in context\n"
                        "(1, True)\n"
                        ">>> x = pp.ones(3, queue=pp.Queue(\"cpu\", context=context))")
        .def(
            "__init__", [](Context* self, nb::handle devices) { new (self) Context(context_from(devices)); }, nb::arg("devices"),
            nb::sig("def __init__(self, devices: Device | str | Iterable[Device | str]) -> None"))
        .def_prop_ro(
            "devices", [](const Context& c) { return nb::tuple(nb::cast(c.devices())); },
            nb::sig("def devices(self) -> tuple[Device, ...]"), "Its devices, in the order in which they were given.")
        .def_prop_ro(
            "platform", [](const Context& c) { return c.devices()[0].info().platform; }, "The name of their platform.")
        .def("__contains__", &Context::contains, nb::arg("device"))
        .def("__len__", [](const Context& c) { return c.devices().size(); })
        .def(
            "__eq__",
            [](const Context& a, nb::object b) -> nb::object {
                Context* other = nullptr;
                if (!nb::try_cast<Context*>(b, other) || !other) return nb::borrow(nb::handle(Py_NotImplemented));
                return nb::bool_(a == *other);
            },
            nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__",
             [](const Context& c) {
                 std::size_t hash = c.devices().size();
                 for (const pardo::Device& d : c.devices()) hash = hash * 31 + std::hash<const void*>()(d.impl());
                 return static_cast<std::int64_t>(hash >> 4);
             })
        .def("__repr__", [](const Context& c) {
            std::string text;
            for (const pardo::Device& d : c.devices()) text += (text.empty() ? "" : ", ") + d.id();
            return "<Context of " + text + ">";
        });
}

}  // namespace

void bind_queue(nb::module_& m) {
    bind_context(m);
    nb::class_<Queue>(m, "Queue", nb::sig("class Queue(pardo._runtime.queues.QueueMethods)"), nb::is_final(), nb::is_weak_referenceable(),
                      "Where work for one device is submitted. Safe from any thread.\n\n"
                      "As a context manager it waits for its work at the end of the block.\n\n"
                      "Parameters\n----------\ndevice : Device or str, optional\n    Default: the default device.\n"
                      "order : {'in_order', 'out_of_order'}\n    Whether work runs in the order of its submission, or as soon as what it "
                      "reads is there.\n"
                      "profiling : bool\n    Whether events have times.\n"
                      "context : Context, optional\n    Bounds whose memory it may touch. Default: that of all devices."
                      "\n\nSee Also\n--------\nEvent, Timer, profile\n\nExamples\n--------\n"
                      ">>> import pardo as pp\n"
                      ">>> with pp.Queue(\"cpu\", profiling=True) as queue:\n"
                      "...     x = (pp.arange(3, queue=queue) + 1).force()\n"
                      ">>> x\n"
                      "array([1, 2, 3])\n"
                      ">>> x.event.profiling[\"end\"] >= x.event.profiling[\"start\"]\n"
                      "True")
        .def(
            "__init__",
            [](Queue* self, nb::handle device, nb::handle order, nb::handle profiling, nb::handle context) {
                const auto expect = [](bool right, const char* what, nb::handle o) {
                    if (!right) throw pardo::Error(pardo::ErrorCode::Type, std::string("Queue: ") + what + ", not " + class_name(o));
                };
                pardo::Context* group = nullptr;
                expect(PyUnicode_Check(order.ptr()), "order must be a string", order);
                expect(PyBool_Check(profiling.ptr()), "profiling must be True or False", profiling);
                expect(context.is_none() || nb::try_cast(context, group), "context must be a pardo.Context", context);
                const pardo::QueueOrder read = order_from(text_from(order));
                const bool timed = profiling.is(nb::bool_(true));
                if (!group) {
                    new (self) Queue(device_from(device, "Queue"), read, timed);
                } else {
                    new (self) Queue(*group, device.is_none() ? group->devices()[0] : device_from(device, "Queue"), read, timed);
                }
            },
            nb::arg("device").none() = nb::none(), nb::kw_only(), nb::arg("order") = "in_order", nb::arg("profiling") = false,
            nb::arg("context").none() = nb::none(),
            nb::sig("def __init__(self, device: Device | str | None = None, *, order: str = 'in_order', profiling: bool = False, "
                    "context: Context | None = None) -> None"))
        .def_static(
            "of", [](nb::handle device) { return Queue::of(device_from(device, "Queue.of")); }, nb::arg("device").none(),
            nb::sig("def of(device: Device | str | None) -> Queue"), "The canonical queue of a device: the one that arrays use by default.")
        .def_prop_ro("device", &Queue::device, "The device that it feeds.")
        .def_prop_ro("order", &order_name, "'in_order' or 'out_of_order'.")
        .def_prop_ro("profiling", &Queue::profiling, "True if its events have times.")
        .def_prop_ro("context", &Queue::context, "The devices whose memory it may touch; those of its device's platform if none was given.")
        .def("wait", &wait_for_queue, nb::arg("timeout").none() = nb::none(),
             nb::sig("def wait(self, timeout: float | None = None) -> None"),
             "Blocks until everything submitted is complete; raises the first failure that has not been raised yet, once.\n\n"
             "Parameters\n----------\ntimeout : float, optional\n    Seconds, after which TimeoutError is raised; the work goes on. "
             "Default: no "
             "limit.")
        .def("marker", &Queue::marker, "An event that completes after everything submitted so far; later work does not wait for it.")
        .def(
            "_barrier", [](const Queue& q, const Events& depends) { return q.barrier(depends); }, nb::arg("depends"))
        .def(
            "_submit",
            [](const Queue& q, const std::vector<pardo::Array>& arrays, const Events& depends) { return q.submit(arrays, depends); },
            nb::arg("arrays"), nb::arg("depends"))
        .def(
            "_copy",
            [](const Queue& q, const pardo::Array& to, const pardo::Array& from, const Events& depends) {
                return over(q.copy(to, from, depends), to, from);
            },
            nb::arg("to"), nb::arg("from_"), nb::arg("depends"))
        .def("_copy_rect", &copy_rect, nb::arg("to"), nb::arg("from_"), nb::arg("numbers"), nb::arg("depends"))
        .def(
            "_fill",
            [](const Queue& q, const pardo::Array& to, const pardo::Scalar& value, const Events& depends) {
                return over(q.fill(to, value, depends), to, to);
            },
            nb::arg("to"), nb::arg("value"), nb::arg("depends"))
        .def(
            "_prefetch", [](const Queue& q, const pardo::Array& x, const Events& depends) { return q.prefetch(x, depends); }, nb::arg("x"),
            nb::arg("depends"))
        .def(
            "__eq__",
            [](const Queue& a, nb::object b) -> nb::object {
                Queue* other = nullptr;
                if (!nb::try_cast<Queue*>(b, other) || !other) return nb::borrow(nb::handle(Py_NotImplemented));
                return nb::bool_(a == *other);
            },
            nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const Queue& q) { return reinterpret_cast<std::intptr_t>(q.impl()) >> 4; })
        .def("__repr__", [](const Queue& q) {
            char address[32];
            std::snprintf(address, sizeof address, "%p", static_cast<const void*>(q.impl()));
            return std::string("<Queue ") + address + " of " + q.device().id() + ", " + order_name(q) +
                   (q.profiling() ? ", profiling" : "") + ">";
        });
}

}  // namespace bind
