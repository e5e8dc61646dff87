// python/bind/device/memory.cpp: pardo/memory.h for Python.
#include <pardo/binding/process_memory.h>
#include <pardo/memory.h>

#include "bind.h"

namespace bind {

void bind_memory(nb::module_& m) {
    m.def(
        "_memory_stats",
        [](const pardo::Device& device) {
            const pardo::MemoryStats s = pardo::memory_stats(device);
            nb::dict d;
            d["in_use"] = s.in_use;
            d["cached"] = s.cached;
            d["peak"] = s.peak;
            d["limit"] = s.limit;
            return d;
        },
        nb::arg("device"), nb::sig("def _memory_stats(device: Device) -> dict[str, int]"));
    m.def("_trim_memory", &pardo::trim_memory, nb::arg("device"));
    m.def("_set_memory_limit", &pardo::set_memory_limit, nb::arg("device"), nb::arg("bytes"));
    m.def("_reset_memory_peak", &pardo::reset_memory_peak, nb::arg("device"));
    m.def(
        "_name_memory",
        [](const pardo::Device& device, std::uintptr_t address) {
            const pardo::NamedMemory named = pardo::name_memory(device, address);
            return nb::make_tuple(nb::bytes(named.name.data(), named.name.size()), named.offset, named.bytes);
        },
        nb::arg("device"), nb::arg("address"), nb::sig("def _name_memory(device: Device, address: int) -> tuple[bytes, int, int]"));
    m.def(
        "_open_memory",
        [](const pardo::Device& device, const nb::bytes& name) {
            return pardo::open_memory(device, {name.c_str(), name.size()});
        },
        nb::arg("device"), nb::arg("name"));
    m.def("_close_memory", &pardo::close_memory, nb::arg("device"), nb::arg("address"));
    nb::class_<pardo::HeldMemory>(m, "_HeldMemory")
        .def(nb::init<const pardo::Array&>(), nb::arg("x"))
        .def("alone", &pardo::HeldMemory::alone)
        .def("number", &pardo::HeldMemory::number);
}

}  // namespace bind
