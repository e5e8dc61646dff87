// python/bind/device.cpp: pardo/device.h for Python.
#include <pardo/device.h>

#include "bind.h"

namespace bind {

using pardo::Device;

Device device_from(nb::handle o, const char* who) {
    if (o.is_none()) return Device();
    if (PyUnicode_Check(o.ptr())) return Device(nb::cast<std::string_view>(o));
    Device* device = nullptr;
    if (!nb::try_cast<Device*>(o, device) || !device) {
        throw pardo::Error(pardo::ErrorCode::Type,
                           std::string(who) + ": a pardo.Device or a selection string such as 'cpu' is expected, not " + class_name(o));
    }
    return *device;
}

void bind_device(nb::module_& m) {
    constexpr auto type_name = [](const Device& d) {
        constexpr const char* names[] = {"cpu", "gpu", "accelerator"};
        return names[static_cast<int>(d.info().type)];
    };
    auto c = nb::class_<Device>(
        m, "Device", nb::is_final(),
        "A processor that computes.\n\n"
        "Parameters\n----------\nselector : str or Device, optional\n"
        "    ``backend:type:index``, every part optional, alternatives by comma: ``\"cuda:gpu:1\"``, ``\"gpu,cpu\"``, ``\"cpu\"``.\n"
        "    Without it, the default device: that of PARDO_DEVICE, else the CPU.\n\n"
        "Raises\n------\nValueError\n    No device matches; the message lists what exists.");
    c.def(
         "__init__", [](Device* self, nb::handle selector) { new (self) Device(device_from(selector, "Device")); },
         nb::arg("selector").none() = nb::none(), nb::sig("def __init__(self, selector: Device | str | None = None) -> None"))
        .def_prop_ro("id", &Device::id, "A selection string that gives this device back: 'cpu:0'.")
        .def("supports", &Device::supports, nb::arg("dtype"), "True if arrays of this dtype can be computed here.")
        .def(
            "__eq__",
            [](const Device& a, nb::object b) -> nb::object {
                Device* other = nullptr;
                if (!nb::try_cast<Device*>(b, other) || !other) return nb::borrow(nb::handle(Py_NotImplemented));
                return nb::bool_(a == *other);
            },
            nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const Device& d) { return reinterpret_cast<std::intptr_t>(d.impl()) >> 4; })
        .def("__repr__", [](const Device& d) { return "Device('" + d.id() + "')"; })
        .def("__str__", &Device::id)
        .def(
            "__reduce__",
            [](nb::handle_t<Device> self) { return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<const Device&>(self).id())); },
            nb::sig("def __reduce__(self) -> tuple[Any, ...]"));
#define PARDO_INFO(name, doc) \
    c.def_prop_ro(            \
        #name, [](const Device& d) { return d.info().name; }, doc)
    PARDO_INFO(backend, "'cpu', 'opencl', 'cuda' or 'null'.");
    PARDO_INFO(platform, "What the driver calls its platform.");
    PARDO_INFO(name, "The processor's name.");
    PARDO_INFO(vendor, "Who made it.");
    PARDO_INFO(driver_version, "Driver, or compiler and instruction sets for the CPU.");
    PARDO_INFO(max_compute_units, "Cores, or multiprocessors.");
    PARDO_INFO(max_work_group_size, "Items in the largest work-group.");
    PARDO_INFO(global_mem_size, "Memory in bytes.");
    PARDO_INFO(local_mem_size, "Memory of a work-group in bytes.");
    PARDO_INFO(max_mem_alloc_size, "Largest block in bytes.");
    PARDO_INFO(global_mem_cache_size, "Last cache in bytes.");
    PARDO_INFO(max_clock_frequency, "In MHz.");
    PARDO_INFO(native_vector_bytes, "Bytes of a vector register: 64 with AVX-512.");
    PARDO_INFO(has_fp64, "True if float64 can be computed.");
    PARDO_INFO(has_fp16, "True if float16 can be computed.");
#undef PARDO_INFO
    c.def_prop_ro("type", type_name, "'cpu', 'gpu' or 'accelerator'.");

    m.def(
        "get_devices", [](std::string_view backend) { return pardo::get_devices(backend); }, nb::arg("backend") = "",
        "All visible devices (PARDO_DEVICES filters them), optionally of one back end.");
    m.def(
        "_get_backends",
        [] {
            nb::list all;
            for (const pardo::BackendInfo& b : pardo::get_backends()) {
                nb::dict d;
                d["name"] = b.name;
                d["versions"] = b.versions;
                d["unavailable"] = b.unavailable;
                d["devices"] = b.devices;
                all.append(d);
            }
            return all;
        },
        nb::sig("def _get_backends() -> list[dict[str, Any]]"));
}

}  // namespace bind
