// python/bind/kernel/program.cpp: pardo/program.h for Python.
#include <cstring>
#include <variant>

#include <nanobind/stl/variant.h>

#include <pardo/program.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::Program;
using pardo::ProgramArgument;

/// A value by its bytes: NumPy's scalar of a structured dtype.
std::vector<std::byte> bytes_of(nb::handle o) {
    const auto bytes = nb::cast<nb::bytes>(o.attr("tobytes")());
    std::vector<std::byte> out(bytes.size());
    std::memcpy(out.data(), bytes.c_str(), out.size());
    return out;
}

ProgramArgument argument_from(nb::handle o, const char* op_name, std::size_t k) {
    if (is_array(o.ptr())) return array_of(o.ptr());
    if (o.is_none()) return nullptr;
    if (local_class && PyObject_IsInstance(o.ptr(), local_class) == 1) {
        pardo::LocalMemory memory{nb::cast<std::int64_t>(o.attr("dtype").attr("itemsize"))};
        for (const std::int64_t n : nb::cast<Ints>(o.attr("shape"))) memory.bytes *= n;
        return memory;
    }
    const nb::object& structure = made_once([] { return nb::object(numpy().attr("void")); });
    if (PyObject_IsInstance(o.ptr(), structure.ptr()) == 1) return bytes_of(o);
    if (const auto scalar = scalar_from(o.ptr())) return *scalar;
    if (nb::isinstance<pardo::Image>(o)) return nb::cast<const pardo::Image&>(o);
    if (nb::isinstance<pardo::SampledImage>(o)) return nb::cast<const pardo::SampledImage&>(o);
    if (nb::isinstance<pardo::Sampler>(o)) return nb::cast<const pardo::Sampler&>(o);
    if (is_number_of_numpy(o.ptr())) return argument_from(o[nb::tuple()], op_name, k);
    refuse_argument(o, std::string(op_name) + ": argument " + std::to_string(k), "an array or a number");
}

std::vector<ProgramArgument> arguments_from(nb::handle list, const char* op_name) {
    std::vector<ProgramArgument> out;
    for (nb::handle o : nb::borrow<nb::tuple>(list)) out.push_back(argument_from(o, op_name, out.size()));
    return out;
}

using Tuple = nb::typed<nb::tuple, nb::any, nb::ellipsis>;

}  // namespace

void bind_program(nb::module_& m) {
    nb::class_<Program>(m, "_Program", "Text compiled for a device.")
        .def(
            "__init__",
            [](Program* self, nb::handle device, const std::variant<std::string, nb::bytes>& source, const std::string& language,
               const std::vector<std::string>& options, const std::vector<std::pair<std::string, std::string>>& headers,
               const std::vector<std::string>& others) {
                const auto* module = std::get_if<nb::bytes>(&source);
                const std::string text = module ? std::string(module->c_str(), module->size()) : std::get<std::string>(source);
                const pardo::Device on = device_from(device, "Program");
                const Unlocked unlocked;
                new (self) Program(on, text, language, options, headers, others);
            },
            nb::arg("device").none(), nb::arg("text"), nb::arg("language"), nb::arg("options"), nb::arg("headers"), nb::arg("others"))
        .def_prop_ro("device", &Program::device)
        .def_prop_ro("language", &Program::language)
        .def_prop_ro("kernels", &Program::kernels)
        .def("signature", &Program::signature, nb::arg("kernel"))
        .def(
            "facts",
            [](const Program& p, const std::string& kernel) {
                const pardo::KernelFacts f = p.facts(kernel);
                return Ints{f.most_items, f.multiple, f.local_bytes, f.private_bytes, f.registers, f.group[0], f.group[1], f.group[2]};
            },
            nb::arg("kernel"))
        .def_prop_ro("build_log", &Program::build_log)
        .def_prop_ro("binary",
                     [](const Program& p) {
                         const std::string bytes = p.binary();
                         return nb::bytes(bytes.data(), bytes.size());
                     })
        .def(
            "launch",
            [](const Program& p, const std::string& kernel, Tuple arguments, const pardo::NdRange& range, nb::handle queue,
               nb::handle depends, const Ints& offset) {
                const char* op_name = kernel.c_str();
                const std::vector<ProgramArgument> given = arguments_from(arguments, op_name);
                const pardo::Queue* on = queue_from(queue);
                const std::vector<pardo::Event> after = depends.is_none() ? std::vector<pardo::Event>() : depends_from(depends, op_name);
                const Unlocked unlocked;
                return p.launch(kernel, given, range, on, after, offset);
            },
            nb::arg("kernel"), nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("depends").none(),
            nb::arg("offset") = Ints())
        .def(
            "uses",
            [](const Program& p, const std::string& kernel, Tuple arguments) {
                std::vector<int> out;
                const std::vector<ProgramArgument> given = arguments_from(arguments, kernel.c_str());
                for (const pardo::ArgumentUse u : p.uses(kernel, given)) out.push_back(static_cast<int>(u));
                return out;
            },
            nb::arg("kernel"), nb::arg("arguments"));
}

}  // namespace bind
