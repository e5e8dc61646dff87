// python/bind/device/memory.cpp: pardo/memory.h for Python, memory of other processes, and that of OpenGL.
#include <pardo/binding/graphics.h>
#include <pardo/binding/process_memory.h>
#include <pardo/memory.h>

#include "bind.h"

namespace bind {
namespace {

pardo::Array map_graphics(pardo::GraphicsObject& object, const char* op_name, std::size_t offset, pardo::DType dtype, const Ints& shape,
                          bool read_only, nb::object owner, const pardo::Queue& queue) {
    PyObject* const kept = owner.release().ptr();
    const auto release = [kept] { let_go([](void* p) { Py_DECREF(static_cast<PyObject*>(p)); }, kept); };
    try {
        return object.map(op_name, offset, dtype, shape, read_only, release, queue);
    } catch (...) {
        release();
        throw;
    }
}

/// Objects of OpenGL. The calling thread's context is the thread's, so that the functions run on it.
void bind_graphics(nb::module_& m) {
    m.def("_graphics_devices", &pardo::graphics_devices, nb::arg("device"));
    nb::class_<pardo::GraphicsObject>(m, "_GraphicsObject", "A buffer or texture of OpenGL that a device's driver has registered.")
        .def(nb::init<const char*, const pardo::Device&, std::uint32_t, std::uint32_t>(), nb::arg("op_name"), nb::arg("device"),
             nb::arg("name"), nb::arg("target"))
        .def("map", &map_graphics, nb::arg("op_name"), nb::arg("offset"), nb::arg("dtype"), nb::arg("shape"), nb::arg("read_only"),
             nb::arg("owner"), nb::arg("queue"))
        .def(
            "unmap",
            [](pardo::GraphicsObject& object, const char* op_name, const ArrayArgument& x, const std::string& message) {
                const Unlocked unlocked;
                object.unmap(op_name, x, message);
            },
            nb::arg("op_name"), nb::arg("x"), nb::arg("message"))
        .def(
            "map_image",
            [](pardo::GraphicsObject& object, const char* op_name, const pardo::Image& image, int level, bool read) {
                const Unlocked unlocked;
                object.map_image(op_name, image, level, read);
            },
            nb::arg("op_name"), nb::arg("image"), nb::arg("level"), nb::arg("read"))
        .def(
            "unmap_image",
            [](pardo::GraphicsObject& object, const char* op_name, const pardo::Image& image, bool write, const std::string& message) {
                const Unlocked unlocked;
                object.unmap_image(op_name, image, write, message);
            },
            nb::arg("op_name"), nb::arg("image"), nb::arg("write"), nb::arg("message"))
        .def("close", &pardo::GraphicsObject::close);
}

}  // namespace

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
    bind_graphics(m);
}

}  // namespace bind
