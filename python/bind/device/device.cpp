// python/bind/device/device.cpp: pardo/device.h for Python.
// This folder: devices, queues, events, what they are asked to run or to report, and their memory.
#include <pardo/binding/activity.h>
#include <pardo/binding/hooks.h>
#include <pardo/binding/library.h>
#include <pardo/device.h>
#include <pardo/ops.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "bind.h"

namespace bind {

using pardo::Device;

namespace {

// A property as Python shows it: None where the back end cannot tell.
nb::object shown(const std::string& text) { return text.empty() ? nb::none() : nb::object(text_to_python(text)); }
nb::object shown(bool truth) { return nb::bool_(truth); }
template <class T>
requires std::is_integral_v<T> nb::object shown(T number) { return number == 0 ? nb::none() : nb::object(nb::int_(number)); }
template <class T> nb::object shown(const std::vector<T>& values) {
    return values.empty() ? nb::none() : nb::object(nb::tuple(nb::cast(values)));
}
template <class T> nb::object shown(const std::optional<T>& value) { return value ? nb::cast(*value) : nb::none(); }
nb::object shown(const pardo::NameSet& names) { return names ? nb::object(nb::tuple(nb::cast(*names))) : nb::none(); }

std::optional<pardo::DeviceType> type_from(const std::string& name, const char* op_name) {
    if (name.empty() || name == "all") return std::nullopt;
    for (const pardo::DeviceType type : pardo::device_types) {
        if (name == pardo::type_name(type)) return type;
    }
    throw pardo::Error(pardo::ErrorCode::Value,
                       std::string(op_name) + ": device_type is '" + name + "'; it must be 'cpu', 'gpu', 'accelerator' or 'all'");
}

std::string_view backend_from(std::string_view name) { return name == "all" ? std::string_view() : name; }

std::vector<pardo::Aspect> aspects_from(const std::vector<std::string>& names) {
    std::vector<pardo::Aspect> aspects;
    aspects.reserve(names.size());
    for (const std::string& name : names) aspects.push_back(pardo::parse_aspect(name, "select_device"));
    return aspects;
}

/// 4, [3, 1] or "numa".
pardo::Partition partition_from(nb::handle o) {
    pardo::Partition p;
    if (PyUnicode_Check(o.ptr())) {
        p.domain = text_from(o);
        return p;
    }
    const auto count = [](nb::handle n) {
        if (PyBool_Check(n.ptr()) || !PyIndex_Check(n.ptr())) {
            throw pardo::Error(pardo::ErrorCode::Type,
                               "create_sub_devices: a number of compute units, a list of them or the name of an "
                               "affinity domain is expected, not " +
                                   class_name(n));
        }
        const std::int64_t value = int_from(n.ptr());
        return static_cast<int>(std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    };
    if (!PyList_Check(o.ptr()) && !PyTuple_Check(o.ptr())) {
        p.units = count(o);
        return p;
    }
    for (nb::handle n : o) p.counts.push_back(count(n));
    if (p.counts.empty()) throw pardo::Error(pardo::ErrorCode::Value, "create_sub_devices: the list of compute units is empty");
    return p;
}

// --- the default device of a context (device_context in pardo/_array/contexts.py) ---

PyObject* context_variable = nullptr;  // a contextvars.ContextVar of Device or None; kept for ever

std::optional<Device> device_of_context() {
    if (!Py_IsInitialized()) return std::nullopt;
    std::optional<WithGil> gil;
    if (!holds_gil() && !gil.emplace()) return std::nullopt;
    static PyObject* const get = PyUnicode_InternFromString("get");
    const nb::object value = nb::steal(nb::detail::nb_backend.vectorcall_method(get, &context_variable, 1, nullptr));
    Device* device = nullptr;
    if (!value) {
        PyErr_Clear();
        return std::nullopt;
    }
    if (value.is_none() || !nb::try_cast<Device*>(value, device)) return std::nullopt;
    return *device;
}

}  // namespace

bool in_device_context() { return context_variable && device_of_context().has_value(); }

Device device_from(nb::handle o, const char* op_name) {
    if (o.is_none()) return Device();
    if (PyUnicode_Check(o.ptr())) {
        try {
            return Device(text_from(o));
        } catch (const pardo::Error& e) {  // names the class, and here another one was called
            constexpr std::string_view own = "Device: ";
            if (!e.message().starts_with(own)) throw;
            throw e.with_message(std::string(op_name) + ": " + e.message().substr(own.size()));
        }
    }
    Device* device = nullptr;
    if (!nb::try_cast<Device*>(o, device) || !device) {
        throw pardo::Error(pardo::ErrorCode::Type,
                           std::string(op_name) + ": a pardo.Device or a selection string such as 'cpu' is expected, not " + class_name(o));
    }
    return *device;
}

void bind_device(nb::module_& m) {
    auto c = nb::class_<Device>(
        m, "Device", nb::is_final(),
        "A processor that computes.\n\n"
        "Parameters\n----------\nselector : str or Device, optional\n"
        "    ``backend:type:index``, every part optional, alternatives by comma: ``\"cuda:gpu:1\"``, ``\"gpu,cpu\"``, ``\"cpu\"``;\n"
        "    ``\"cpu:0/2.1\"`` is part 1 of what `create_sub_devices(2)` cuts the CPU into.\n"
        "    Without it, the default device: that of `device_context` or `set_default_device`, of PARDO_DEVICE, else the CPU.\n\n"
        "Raises\n------\nValueError\n    No device matches; the message lists what exists."
        "\n\nSee Also\n--------\nget_devices, select_device, set_default_device, device_context\n\nExamples\n--------\n"
        ">>> import pardo as pp\n"
        ">>> cpu = pp.Device(\"cpu\")\n"
        ">>> cpu.id, cpu.type, cpu.supports(\"float64\")\n"
        "('cpu:0', 'cpu', True)");
    c.def(
         "__init__", [](Device* self, nb::handle selector) { new (self) Device(device_from(selector, "Device")); },
         nb::arg("selector").none() = nb::none(), nb::sig("def __init__(self, selector: Device | str | None = None) -> None"))
        .def_prop_ro("id", &Device::id, "A selection string that gives this device back: 'cpu:0'.")
        .def("supports", &Device::supports, nb::arg("dtype"), "True if arrays of this dtype can be computed here.")
        .def_prop_ro("_in_host_memory", &Device::in_host_memory, "True where the host reads and writes all of its memory in place.")
        .def_prop_ro("_takes_host_memory", &Device::takes_host_memory, "True where it uses memory of the host in place.")
        .def_prop_ro("_failures_stop_dependents", &Device::failures_stop_dependents,
                     "True where work that needs what failed never runs; elsewhere it may have run when the failure is known.")
        .def(
            "__eq__",
            [](const Device& a, nb::object b) -> nb::object {
                Device* other = nullptr;
                if (!nb::try_cast<Device*>(b, other) || !other) return nb::borrow(nb::handle(Py_NotImplemented));
                return nb::bool_(a == *other);
            },
            nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__",
             [](const Device& d) {
                 return (reinterpret_cast<std::intptr_t>(d.impl()) >> 4) ^ (reinterpret_cast<std::intptr_t>(d.remembered()) >> 2);
             })
        .def("__repr__",
             [](const Device& d) {
                 if (!d.remembered()) return "Device('" + d.id() + "')";
                 char address[32];
                 std::snprintf(address, sizeof address, "%p", static_cast<const void*>(d.remembered()));
                 return "<Device '" + d.id() + "' with Queue " + address + ">";
             })
        .def("__str__", &Device::id)
        .def(
            "__reduce__",
            [](nb::handle_t<Device> self) { return nb::make_tuple(self.type(), nb::make_tuple(nb::cast<const Device&>(self).id())); },
            nb::sig("def __reduce__(self) -> tuple[Any, ...]"))
        .def(
            "__copy__", [](nb::handle_t<Device> self) { return nb::borrow(self); }, nb::sig("def __copy__(self) -> Device"))
        .def(
            "__deepcopy__", [](nb::handle_t<Device> self, nb::handle) { return nb::borrow(self); }, nb::arg("memo"),
            nb::sig("def __deepcopy__(self, memo: Any, /) -> Device"));
    static auto& names = *new std::vector<std::string>;
#define PARDO_FACT(name, type, doc) \
    names.emplace_back(#name);      \
    c.def_prop_ro(                  \
        #name, [](const Device& d) { return shown(d.info().name); }, doc, nb::for_getter(nb::sig("def " #name "(self, /) -> " type)))
    PARDO_FACT(backend, "str", "'cpu', 'opencl', 'cuda' or 'null'.");
    PARDO_FACT(platform, "str", "What the driver calls its platform.");
    PARDO_FACT(name, "str", "The processor's name.");
    PARDO_FACT(vendor, "str | None", "The maker of the device.");
    PARDO_FACT(vendor_id, "int | None", "The vendor's number.");
    PARDO_FACT(driver_version, "str | None", "Driver, or compiler and instruction sets for the CPU.");
    PARDO_FACT(version, "str | None", "Version of the interface to the device: 'OpenCL 3.0 ...'; of pardo for the CPU.");
    PARDO_FACT(profile, "str | None", "OpenCL's profile: 'FULL_PROFILE' or 'EMBEDDED_PROFILE'.");
    PARDO_FACT(extensions, "tuple[str, ...] | None", "Names of the interface's extensions.");
    PARDO_FACT(pci_address, "str | None", "Where a card is plugged in: '0000:3b:00.0'. The same card through two back ends has the same.");
    PARDO_FACT(uuid, "str | None", "The card's own identity, the same through each back end.");
    PARDO_FACT(architecture, "str | None",
               "What machine code is made for: 'sm_90' of NVIDIA's GPUs, LLVM's name of a processor, as 'znver3'.");
    PARDO_FACT(max_compute_units, "int | None", "Cores, or multiprocessors.");
    PARDO_FACT(max_work_item_dimensions, "int | None", "Dimensions of an index space.");
    PARDO_FACT(max_work_item_sizes, "tuple[int, ...] | None", "Items of a work-group along each dimension, at most.");
    PARDO_FACT(max_work_group_size, "int | None", "Items in the largest work-group.");
    PARDO_FACT(max_num_sub_groups, "int | None", "Sub-groups in the largest work-group.");
    PARDO_FACT(sub_group_sizes, "tuple[int, ...] | None", "Items that a sub-group may have.");
    PARDO_FACT(max_clock_frequency, "int | None", "In MHz.");
    PARDO_FACT(address_bits, "int | None", "Bits of an address.");
    PARDO_FACT(native_vector_bytes, "int | None", "Bytes of a vector register: 64 with AVX-512.");
    PARDO_FACT(preferred_vector_width_char, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(preferred_vector_width_short, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(preferred_vector_width_int, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(preferred_vector_width_long, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(preferred_vector_width_float, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(preferred_vector_width_double, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(preferred_vector_width_half, "int | None", "Elements of a good vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_char, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_short, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_int, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_long, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_float, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_double, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(native_vector_width_half, "int | None", "Elements of a native vector; 0 where the type is not supported.");
    PARDO_FACT(global_mem_size, "int | None", "Memory in bytes.");
    PARDO_FACT(max_mem_alloc_size, "int | None", "Largest block in bytes.");
    PARDO_FACT(local_mem_size, "int | None", "Memory of a work-group in bytes.");
    PARDO_FACT(local_mem_type, "str | None",
               "Where that is: 'local' (of its own), 'global' (in the device's memory, with caches) or 'none'.");
    PARDO_FACT(global_mem_cache_type, "str | None", "'read_write', 'read_only' or 'none'.");
    PARDO_FACT(global_mem_cache_size, "int | None", "Last cache in bytes.");
    PARDO_FACT(global_mem_cache_line_size, "int | None", "A cache line in bytes.");
    PARDO_FACT(mem_base_addr_align, "int | None", "Alignment of allocations in bits.");
    PARDO_FACT(max_constant_buffer_size, "int | None", "Constant memory in bytes.");
    PARDO_FACT(max_parameter_size, "int | None", "Arguments of a kernel in bytes, at most.");
    PARDO_FACT(printf_buffer_size, "int | None", "Buffer of a kernel's printf in bytes.");
    PARDO_FACT(error_correction_support, "bool | None", "True if memory corrects errors.");
    PARDO_FACT(host_unified_memory, "bool | None", "True if device and host share their memory.");
    PARDO_FACT(is_endian_little, "bool | None", "True if the lowest byte comes first.");
    PARDO_FACT(is_available, "bool | None", "True if the device can be used now.");
    PARDO_FACT(profiling_timer_resolution, "int | None", "Of event times, in nanoseconds.");
    PARDO_FACT(half_fp_config, "tuple[str, ...] | None",
               "What float16 arithmetic can do: 'denorm', 'inf_nan', 'round_to_nearest', 'fma' and so on.");
    PARDO_FACT(single_fp_config, "tuple[str, ...] | None", "What float32 arithmetic can do.");
    PARDO_FACT(double_fp_config, "tuple[str, ...] | None", "What float64 arithmetic can do; empty without float64.");
    PARDO_FACT(execution_capabilities, "tuple[str, ...] | None", "'exec_kernel', 'exec_native_kernel'.");
    PARDO_FACT(atomic_memory_order_capabilities, "tuple[str, ...] | None", "Memory orders of atomic operations: 'relaxed' to 'seq_cst'.");
    PARDO_FACT(atomic_fence_order_capabilities, "tuple[str, ...] | None", "Memory orders of fences.");
    PARDO_FACT(atomic_memory_scope_capabilities, "tuple[str, ...] | None", "Scopes of atomic operations: 'work_item' to 'system'.");
    PARDO_FACT(atomic_fence_scope_capabilities, "tuple[str, ...] | None", "Scopes of fences.");
    PARDO_FACT(partition_max_sub_devices, "int | None", "Parts it can be cut into, at most.");
    PARDO_FACT(partition_properties, "tuple[str, ...] | None",
               "How it can be cut: 'partition_equally', 'partition_by_counts', 'partition_by_affinity_domain'.");
    PARDO_FACT(partition_affinity_domains, "tuple[str, ...] | None",
               "Domains it can be cut by: 'numa', 'L3_cache', 'next_partitionable' and so on.");
    PARDO_FACT(partition_type_property, "str | None", "How a sub-device was cut from its parent.");
    PARDO_FACT(partition_type_affinity_domain, "str | None", "The domain it was cut by.");
    PARDO_FACT(has_fp64, "bool", "True if float64 can be computed.");
    PARDO_FACT(has_fp16, "bool", "True if float16 can be computed.");
#undef PARDO_FACT
    m.def("_device_info_names", [] { return names; });
    c.def_prop_ro(
         "type", [](const Device& d) { return pardo::type_name(d.info().type); }, "'cpu', 'gpu' or 'accelerator'.")
        .def_prop_ro(
            "without_queue", &Device::without_queue,
            "The device by itself, which stands for its canonical queue. The device of an array on a queue of one's own remembers\n"
            "that queue: new arrays on it are on that queue too, and devices are equal if their queues are. This compares hardware.")
        .def_prop_ro("free_memory", &Device::free_memory,
                     "Bytes that could be allocated now, what others use taken into account; None where the back end cannot tell.")
        .def_prop_ro("parent", &Device::parent, "The device that this one was cut from; None for a whole device.")
        .def(
            "create_sub_devices", [](const Device& d, nb::handle partition) { return d.create_sub_devices(partition_from(partition)); },
            nb::arg("partition").none(),
            "Cut the device into parts, each with a queue of its own.\n\n"
            "Parameters\n----------\npartition : int, list of int, or str\n"
            "    Compute units of each part (what is left over belongs to none); or of the first, second and so on; or an affinity\n"
            "    domain: ``\"numa\"``, ``\"L4_cache\"`` to ``\"L1_cache\"`` (``\"l3\"`` for short), or ``\"next_partitionable\"``, the "
            "widest "
            "that has\n    several parts.\n\n"
            "Returns\n-------\nlist of Device\n    The parts; the same cut gives the same ones again. Their ids are selection strings: "
            "``cpu:0/2.1``.\n\n"
            "Raises\n------\nValueError\n    A count is below 1, they add up to more than there is, or there is no such domain.\n"
            "DeviceError\n    The device cannot be cut so; the message says what it offers.",
            nb::sig("def create_sub_devices(self, partition: int | Sequence[int] | str) -> list[Device]"))
        .def(
            "has_aspect",
            [](const Device& d, nb::handle name) {
                if (!PyUnicode_Check(name.ptr()))
                    throw pardo::Error(pardo::ErrorCode::Type, "has_aspect: the name of an aspect is expected, not " + class_name(name));
                return d.has_aspect(pardo::parse_aspect(text_from(name), "has_aspect"));
            },
            nb::arg("aspect").none(), nb::sig("def has_aspect(self, aspect: str) -> bool"),
            "True if the device has an aspect, by its SYCL name: ``\"fp64\"``, ``\"usm_shared_allocations\"``.")
        .def_prop_ro(
            "aspects",
            [](const Device& d) {
                std::vector<std::string> names;
                for (const pardo::Aspect a : pardo::all_aspects()) {
                    if (d.has_aspect(a)) names.emplace_back(pardo::aspect_name(a));
                }
                return nb::tuple(nb::cast(names));
            },
            "Names of the aspects that the device has.", nb::for_getter(nb::sig("def aspects(self, /) -> tuple[str, ...]")));

    m.def(
        "_get_devices",
        [](const std::string& backend, const std::string& type) {
            return pardo::get_devices(backend_from(backend), type_from(type, "get_devices"));
        },
        nb::arg("backend"), nb::arg("device_type"));
    m.def(
        "_get_platforms",
        [](const std::string& backend) {
            nb::list all;
            for (const pardo::Platform& p : pardo::get_platforms(backend_from(backend)))
                all.append(nb::make_tuple(p.backend, p.name, p.vendor, p.version, nb::tuple(nb::cast(p.devices))));
            return all;
        },
        nb::arg("backend"), nb::sig("def _get_platforms(backend: str) -> list[tuple[Any, ...]]"));
    m.def(
        "_select_device",
        [](const std::vector<std::string>& required, const std::vector<std::string>& excluded) {
            return pardo::select_device(aspects_from(required), aspects_from(excluded));
        },
        nb::arg("required"), nb::arg("excluded"));
    m.def(
        "_set_default_device",
        [](nb::handle device) {
            pardo::set_default_device(device.is_none() ? std::nullopt : std::optional<Device>(device_from(device, "set_default_device")));
        },
        nb::arg("device").none(), nb::sig("def _set_default_device(device: Device | str | None) -> None"));
    hook("context_variable", [](nb::handle variable) {
        keep(context_variable, variable);
        pardo::set_default_device_hook(device_of_context);
    });
    m.def("_get_devices_in_use", &pardo::get_devices_in_use);
    m.def(
        "_compilations",
        [] {
            nb::list all;
            for (const pardo::Compilation& c : pardo::compilations())
                all.append(nb::make_tuple(text_to_python(c.name), c.device, c.seconds));
            return all;
        },
        nb::sig("def _compilations() -> list[tuple[str, str, float]]"),
        "What compilers are working on, the oldest first: the kernel, the device or '', seconds since it began.");
    m.def(
        "_unfinished_work",
        [] {
            std::vector<pardo::QueueWork> found;
            {
                const Unlocked unlocked;
                found = pardo::unfinished_work();
            }
            nb::list all;
            for (const pardo::QueueWork& w : found) {
                const nb::object name = text_to_python(w.name), location = text_to_python(w.location);
                all.append(nb::make_tuple(w.queue >> 4, w.device, w.unfinished, name, location));
            }
            return all;
        },
        nb::sig("def _unfinished_work() -> list[tuple[int, str, int, str, str]]"),
        "Of queues with unfinished work: the queue's hash, its device, how many submissions, and of the oldest its name and line, or ''.");
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
    m.def(
        "_missing_libraries",
        [](const pardo::Device& device) {
            find_openblas();
            return pardo::missing_libraries(device);
        },
        nb::arg("device"));
}

}  // namespace bind
