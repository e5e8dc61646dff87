// python/bind/device/memory.cpp: pardo/memory.h for Python.
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
}

}  // namespace bind
