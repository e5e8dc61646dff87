// python/bind/queue.cpp: pardo/queue.h for Python.
#include <cstdio>

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

void wait_for_all(const Queue& q) {
    const pardo::Event barrier = q.submit_barrier();
    if (!barrier.done()) wait(barrier);
    q.wait();
}

}  // namespace

void bind_queue(nb::module_& m) {
    nb::class_<Queue>(m, "Queue", nb::is_final(),
                      "Where work for one device is submitted. Safe from any thread.\n\n"
                      "Parameters\n----------\ndevice : Device or str, optional\n    Default: the default device.\n"
                      "order : {'in_order', 'out_of_order'}\n    Whether work runs in the order of its submission, or as soon as what it "
                      "reads is there.\n"
                      "profiling : bool\n    Whether events have times.")
        .def(
            "__init__",
            [](Queue* self, nb::handle device, nb::handle order, bool profiling) {
                if (!PyUnicode_Check(order.ptr())) {
                    throw pardo::Error(pardo::ErrorCode::Type, "Queue: order must be a string, not " + class_name(order));
                }
                new (self) Queue(device_from(device, "Queue"), order_from(nb::cast<std::string>(order)), profiling);
            },
            nb::arg("device").none() = nb::none(), nb::kw_only(), nb::arg("order") = "in_order", nb::arg("profiling") = false,
            nb::sig("def __init__(self, device: Device | str | None = None, *, order: str = 'in_order', profiling: bool = False) -> None"))
        .def_static(
            "of", [](nb::handle device) { return Queue::of(device_from(device, "Queue.of")); }, nb::arg("device").none(),
            nb::sig("def of(device: Device | str | None) -> Queue"), "The canonical queue of a device: the one that arrays use by default.")
        .def_prop_ro("device", &Queue::device, "The device that it feeds.")
        .def_prop_ro("order", &order_name, "'in_order' or 'out_of_order'.")
        .def_prop_ro("profiling", &Queue::profiling, "True if its events have times.")
        .def("wait", &wait_for_all, "Blocks until everything submitted is complete; raises the first failure nobody has heard of, once.")
        .def("submit_barrier", &Queue::submit_barrier, "An event that completes after everything submitted so far.")
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
