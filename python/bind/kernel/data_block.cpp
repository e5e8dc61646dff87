// python/bind/kernel/data_block.cpp: `with data(...)` of what is present: counted up and down, without Python in between.
#include <array>

#include "present.h"

namespace bind {
namespace {

/// What a block mapped when it was entered before; empty where Python code has to look the arrays up again.
struct DataBlock {
    nb::object block, device, entries, arrays;  // arrays: tuples of one, its shape and its strides
    std::array<nb::object*, 4> objects() { return {&block, &device, &entries, &arrays}; }
    PresentTable& table() const { return *nb::inst_ptr<PresentTable>(PyTuple_GetItem(block.ptr(), 0)); }
};

PresentEntry& entry_at(const nb::object& entries, Py_ssize_t k) { return *nb::inst_ptr<PresentEntry>(PyTuple_GetItem(entries.ptr(), k)); }

bool is_what_it_was(PyObject* array_shape_strides) {
    const nb::handle t(array_shape_strides), x(PyTuple_GetItem(t.ptr(), 0));
    return nb::object(x.attr("shape")).equal(nb::handle(PyTuple_GetItem(t.ptr(), 1))) &&
           nb::object(x.attr("strides")).equal(nb::handle(PyTuple_GetItem(t.ptr(), 2)));
}

/// Sets the blocks that this task is in.
void set_blocks(const nb::object& now) {
    if (!nb::steal(call_python(blocks.set, {now.ptr()})).is_valid()) throw nb::python_error();
}

nb::object blocks_now() {
    nb::object now = nb::steal(PyObject_CallNoArgs(blocks.get));
    if (!now.is_valid()) throw nb::python_error();
    return now;
}

nb::object enter(nb::handle self) {
    const DataBlock& b = *nb::inst_ptr<DataBlock>(self);
    const auto off = offload_is_off();
    bool ready = b.block.is_valid() && off && !*off && b.table().held == 0;
    for (Py_ssize_t k = 0; ready && k < PyTuple_Size(b.arrays.ptr()); ++k) ready = is_what_it_was(PyTuple_GetItem(b.arrays.ptr(), k));
    const Py_ssize_t count = ready ? PyTuple_Size(b.entries.ptr()) : 0;
    for (Py_ssize_t k = 0; ready && k < count; ++k) ready = entry_at(b.entries, k).count > 0;
    if (!ready) return nb::steal(shown_result(PyObject_CallMethod(self.ptr(), "_enter", nullptr)));
    const nb::object now = blocks_now();
    set_blocks(nb::steal(PySequence_Concat(now.ptr(), nb::make_tuple(b.block).ptr())));
    for (Py_ssize_t k = 0; k < count; ++k) ++entry_at(b.entries, k).count;
    return b.device;
}

void leave_block(nb::handle self, nb::handle error) {
    const DataBlock& b = *nb::inst_ptr<DataBlock>(self);
    if (b.block.is_valid() && error.is_none() && b.table().held == 0) {
        const nb::object now = blocks_now();
        const Py_ssize_t depth = PyTuple_Size(now.ptr()), count = PyTuple_Size(b.entries.ptr());
        bool stay = depth > 0 && PyTuple_GetItem(now.ptr(), depth - 1) == b.block.ptr();
        for (Py_ssize_t k = 0; stay && k < count; ++k) stay = entry_at(b.entries, k).count > 1 && entry_at(b.entries, k).ready;
        if (stay) {
            set_blocks(nb::steal(PyTuple_GetSlice(now.ptr(), 0, depth - 1)));
            for (Py_ssize_t k = 0; k < count; ++k) --entry_at(b.entries, k).count;
            return;
        }
    }
    nb::steal(shown_result(PyObject_CallMethod(self.ptr(), "_exit", "O", error.ptr())));
}

// A block keeps what it has mapped, which names the block: the collector has to see that.

int traverse_block(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    for (const nb::object* o : nb::inst_ptr<DataBlock>(self)->objects()) Py_VISIT(o->ptr());
    return 0;
}

int clear_block(PyObject* self) {
    for (nb::object* o : nb::inst_ptr<DataBlock>(self)->objects()) o->reset();
    return 0;
}

PyType_Slot block_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse_block)}, {Py_tp_clear, reinterpret_cast<void*>(&clear_block)}, {0, nullptr}};

}  // namespace

void bind_data_block(nb::module_& m) {
    nb::class_<DataBlock>(m, "_DataBlock", nb::type_slots(block_slots), "A block of data that may be entered again.")
        .def(nb::init<>())
        .def(
            "_set_kept",
            [](DataBlock& b, nb::tuple block, nb::object device, nb::tuple entries, nb::tuple arrays) {
                b = {std::move(block), std::move(device), std::move(entries), std::move(arrays)};
            },
            nb::arg("block"), nb::arg("device"), nb::arg("entries"), nb::arg("arrays"))
        .def("__enter__", &enter, nb::sig("def __enter__(self) -> Device"))
        .def(
            "__exit__", [](nb::handle self, nb::handle, nb::handle error, nb::handle) { leave_block(self, error); }, nb::arg("kind").none(),
            nb::arg("error").none(), nb::arg("trace").none(),
            nb::sig("def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None"));
}

}  // namespace bind
