// python/bind/kernel/saved_program.cpp: pardo/saved_program.h for Python.
#include <exception>

#include <pardo/saved_program.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::SavedProgram;

/// Calls Python's function with stand-ins, and takes what it gives apart.
pardo::Exported call_python(nb::handle function, pardo::ListOf<pardo::Array> arguments) {
    const WithGil gil;
    if (!gil) throw pardo::Error(pardo::ErrorCode::Internal, "export: the interpreter ends");
    nb::list given;
    for (const pardo::Array& a : arguments) given.append(nb::steal(wrap(a)));
    nb::object results;
    try {
        results = function(*nb::tuple(given));
    } catch (nb::python_error& e) {
        if (!e.matches(PyExc_Exception)) throw;  // an interruption ends the export; what else is raised may be so for some sizes alone
        if (e.matches(PyExc_MemoryError)) throw pardo::Error(pardo::ErrorCode::Memory, e.what());
        e.restore();
        throw error_from_python();
    }
    pardo::Exported out;
    if (results.is_none()) return out;
    const auto add = [&](nb::handle o) {
        if (!is_array(o.ptr())) throw pardo::Error(pardo::ErrorCode::Type, "export: the function gives arrays, not " + class_name(o));
        out.arrays.push_back(array_of(o.ptr()));
    };
    out.tuple = PyTuple_Check(results.ptr()) || PyList_Check(results.ptr());
    if (!out.tuple) {
        add(results);
        return out;
    }
    for (nb::handle o : results) add(o);
    return out;
}

}  // namespace

void bind_saved_program(nb::module_& m) {
    m.def(
        "_export",
        [](nb::handle function, const std::vector<pardo::Array>& examples, const std::string& path, const std::vector<std::string>& targets,
           const std::string& name, const std::string& doc, const std::vector<std::string>& arguments, bool any_size) {
            pardo::ExportOptions options;
            options.targets = targets;
            options.name = name;
            options.doc = doc;
            options.arguments = arguments;
            options.any_size = any_size;
            const Unlocked unlocked;
            return pardo::export_program([&](pardo::ListOf<pardo::Array> given) { return call_python(function, given); }, examples, path,
                                         options);
        },
        nb::arg("function"), nb::arg("examples"), nb::arg("path"), nb::arg("targets"), nb::arg("name"), nb::arg("doc"),
        nb::arg("arguments"), nb::arg("any_size"));
    m.def(
        "_is_saved_program", [](const std::string& path) { return pardo::is_saved_program(path); }, nb::arg("path"));
    nb::class_<SavedProgram>(m, "_SavedProgram", "A program that was exported.")
        .def_static(
            "load",
            [](const std::string& path) {
                const Unlocked unlocked;
                return SavedProgram::load(path);
            },
            nb::arg("path"))
        .def(
            "__call__",
            [](const SavedProgram& p, const std::vector<pardo::Array>& arguments) {
                note_line();
                std::vector<pardo::Array> results;
                {
                    const Unlocked unlocked;
                    results = p(arguments);
                }
                nb::list out;
                for (pardo::Array& a : results) out.append(nb::steal(wrap(std::move(a))));
                return out;
            },
            nb::arg("arguments"))
        .def_prop_ro("name", &SavedProgram::name)
        .def_prop_ro("doc", &SavedProgram::doc)
        .def_prop_ro("signature", &SavedProgram::signature)
        .def_prop_ro("made_by", &SavedProgram::made_by)
        .def_prop_ro("targets", &SavedProgram::targets)
        .def_prop_ro("target", &SavedProgram::target)
        .def(
            "target_on",
            [](const SavedProgram& p, const pardo::Device& device) {
                const Unlocked unlocked;
                return p.target_on(device);
            },
            nb::arg("device"))
        .def_prop_ro("arguments", &SavedProgram::arguments)
        .def_prop_ro("dtypes",
                     [](const SavedProgram& p) {
                         nb::list out;
                         for (const pardo::DType t : p.dtypes()) out.append(dtype_to_python(t));
                         return out;
                     })
        .def_prop_ro("tuple", &SavedProgram::tuple);
}

}  // namespace bind
