// python/bind/device/external.cpp: pardo/binding/external.h for Python.
#include <pardo/binding/external.h>

#include "bind.h"

namespace bind {
namespace {

pardo::ExternalUse use_from(const std::string& name) {
    if (name == "open") return pardo::ExternalUse::Open;
    if (name == "make") return pardo::ExternalUse::Make;
    return name == "timeline" ? pardo::ExternalUse::Timeline : pardo::ExternalUse::Binary;
}

}  // namespace

void bind_external(nb::module_& m) {
    m.def(
        "_external_lack", [](const pardo::Device& device, const std::string& use) { return pardo::external_lack(device, use_from(use)); },
        nb::arg("device"), nb::arg("use"));
    m.def(
        "_make_external",
        [](const pardo::Device& device, std::size_t bytes) {
            const pardo::ExternalMemory made = pardo::make_external(device, bytes);
            return nb::make_tuple(made.address, made.bytes);
        },
        nb::arg("device"), nb::arg("bytes"), nb::sig("def _make_external(device: Device, bytes: int) -> tuple[int, int]"));
    m.def("_export_external", &pardo::export_external, nb::arg("device"), nb::arg("address"));
    m.def("_open_external", &pardo::open_external, nb::arg("device"), nb::arg("fd"), nb::arg("bytes"), nb::arg("dedicated"));
    m.def("_close_external", &pardo::close_external, nb::arg("device"), nb::arg("address"));
    m.def("_same_open_file", &pardo::same_open_file, nb::arg("a"), nb::arg("b"));
    m.def(
        "_leave_memory",
        [](const pardo::Array& x) {
            const Unlocked unlocked;
            pardo::leave_memory(x);
        },
        nb::arg("x"));
    m.def(
        "_take_memory", [](const pardo::Array& x, const std::vector<pardo::Event>& since) { pardo::take_memory(x, since); }, nb::arg("x"),
        nb::arg("since"), nb::sig("def _take_memory(x: Array, since: Sequence[Event]) -> None"));
    m.def("_uses_of_memory", &pardo::uses_of_memory, nb::arg("x"));
    m.def(
        "_finish_memory",
        [](const pardo::Array& x) {
            const Unlocked unlocked;
            pardo::finish_memory(x);
        },
        nb::arg("x"));
    nb::class_<pardo::ExternalSemaphore>(m, "_ExternalSemaphore")
        .def(nb::init<const pardo::Device&, int, bool>(), nb::arg("device"), nb::arg("fd"), nb::arg("timeline"))
        .def(
            "wait",
            [](pardo::ExternalSemaphore& s, const pardo::Queue& queue, std::uint64_t value) {
                const Unlocked unlocked;
                return s.wait(queue, value);
            },
            nb::arg("queue"), nb::arg("value"))
        .def(
            "signal",
            [](pardo::ExternalSemaphore& s, const pardo::Queue& queue, std::uint64_t value) {
                const Unlocked unlocked;
                return s.signal(queue, value);
            },
            nb::arg("queue"), nb::arg("value"));
}

}  // namespace bind
