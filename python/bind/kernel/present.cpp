// python/bind/kernel/present.cpp: tables of the host's memory that devices have, for pardo._data.tables, which changes them.
#include "present.h"

#include <algorithm>

namespace bind {
namespace {

constexpr std::size_t most_parts = 8;

/// One a device; kept for ever, as devices are.
std::vector<PresentTable*>& tables = *new std::vector<PresentTable*>;
/// Set by the package: the environment as a dict, and the name PARDO_OFFLOAD in it.
PyObject *environment_of_data = nullptr, *offload_name = nullptr;

}  // namespace

Blocks blocks;  // set by the package

const pardo::Array& PresentEntry::part(pardo::DType dtype, pardo::Extents shape, pardo::Extents strides, std::int64_t place) {
    for (const Part& p : parts)
        if (p.place == place && p.dtype == dtype && std::ranges::equal(p.shape, shape) && std::ranges::equal(p.strides, strides))
            return p.array;
    if (parts.size() >= most_parts) parts.clear();
    pardo::Array made = pardo::strided(*image, dtype, shape, strides, place);
    parts.push_back({place, dtype, {shape.begin(), shape.end()}, {strides.begin(), strides.end()}, std::move(made)});
    return parts.back().array;
}

PresentEntry* PresentTable::from(std::uintptr_t begin) const {
    const auto found = std::ranges::upper_bound(sorted, begin, {}, &PresentEntry::end);  // ranges do not overlap
    return found == sorted.end() ? nullptr : *found;
}

PresentEntry* PresentTable::at(std::uintptr_t begin, std::uintptr_t end) const {
    PresentEntry* const entry = from(begin);
    return entry && entry->begin <= begin && end <= entry->end ? entry : nullptr;
}

PresentTable* present_table(const pardo::Device& device) {
    const auto found = std::ranges::find_if(tables, [&](const PresentTable* t) { return t->queue.device().impl() == device.impl(); });
    return found == tables.end() ? nullptr : *found;
}

PresentTable* table_of_block(LateResults** late) {
    if (!blocks.get) return nullptr;
    const nb::object entered = nb::steal(PyObject_CallNoArgs(blocks.get));
    if (!entered.is_valid()) throw nb::python_error();
    const Py_ssize_t count = PyTuple_Size(entered.ptr());
    if (count <= 0) return nullptr;
    PyObject* const block = PyTuple_GetItem(entered.ptr(), count - 1);
    (void)nb::try_cast<LateResults*>(nb::handle(PyTuple_GetItem(block, 1)), *late);
    return nb::inst_ptr<PresentTable>(PyTuple_GetItem(block, 0));
}

std::optional<bool> offload_is_off() {
    if (!environment_of_data) return {};
    const nb::object value = value_in(environment_of_data, offload_name);
    if (!value.is_valid()) return false;
    const std::string_view text = PyBytes_Check(value.ptr()) ? PyBytes_AsString(value.ptr()) : "?";
    if (text == "off" || text == "0") return true;
    if (text == "on" || text == "1" || text.empty()) return false;
    return {};
}

void bind_present(nb::module_& m) {
    nb::class_<PresentEntry>(m, "_PresentEntry", "A range of the host's memory that a device has.")
        .def(
            "__init__",
            [](PresentEntry* self, std::uintptr_t begin, std::uintptr_t end, std::optional<pardo::Array> image) {
                new (self) PresentEntry{begin, end, std::move(image), true, false, 1, {}};
            },
            nb::arg("begin"), nb::arg("end"), nb::arg("image").none())
        .def_rw("ready", &PresentEntry::ready)
        .def_rw("broken", &PresentEntry::broken)
        .def_rw("count", &PresentEntry::count);
    nb::class_<PresentTable>(m, "_PresentTable", "The entries of a device, by their addresses.")
        .def(
            "__init__",
            [](PresentTable* self, QueueArgument queue, bool shares) {
                new (self) PresentTable{*queue.queue, shares, nb::make_tuple(), {}};
                tables.push_back(self);
            },
            nb::arg("queue"), nb::arg("shares"))
        .def_ro("shares", &PresentTable::shares)
        .def_rw("held", &PresentTable::held)
        .def_ro("entries", &PresentTable::entries)
        .def(
            "_replace",
            [](PresentTable& self, nb::typed<nb::tuple, nb::any, nb::ellipsis> entries) {
                std::vector<PresentEntry*> sorted;
                for (nb::handle entry : entries) sorted.push_back(nb::inst_ptr<PresentEntry>(entry));
                std::swap(self.sorted, sorted);
                self.entries = std::move(entries);  // last, because what goes may run code
            },
            nb::arg("entries"))
        .def(
            "at",
            [](const PresentTable& self, std::uintptr_t begin, std::uintptr_t end) -> nb::object {
                const PresentEntry* entry = self.at(begin, end);
                if (!entry) return nb::none();
                return nb::borrow(
                    nb::handle(PyTuple_GetItem(self.entries.ptr(), std::ranges::find(self.sorted, entry) - self.sorted.begin())));
            },
            nb::arg("begin"), nb::arg("end"), nb::sig("def at(self, begin: int, end: int) -> Any"));
    hook("get_blocks", [](nb::handle function) { keep(blocks.get, function); });
    hook("set_blocks", [](nb::handle function) { keep(blocks.set, function); });
    hook("offload_variable", [](nb::handle name) { keep(offload_name, name); });
    hook("environment_of_data", [](nb::handle variables) {
        if (PyDict_Check(variables.ptr())) keep(environment_of_data, variables);
    });
    m.def(
        "_strided",
        [](const pardo::Array& bytes, pardo::DType dtype, const Ints& shape, const Ints& strides, std::int64_t offset) {
            return pardo::strided(bytes, dtype, shape, strides, offset);
        },
        nb::arg("bytes"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"), nb::arg("offset"));
}

}  // namespace bind
