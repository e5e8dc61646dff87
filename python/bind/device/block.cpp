// python/bind/device/block.cpp: a block of bytes of a chosen kind of memory, with the buffer protocol: what MemoryDevice is made of.
#include <bit>

#include "bind.h"

namespace bind {

using pardo::Array;
using pardo::MemoryKind;

namespace {

/// Bytes as an array; `whole` keeps what alignment has added.
struct Block {
    Array whole, bytes;
};

constexpr std::int64_t always_aligned = 64;

Block make_block(std::int64_t bytes, MemoryKind kind, std::int64_t alignment, const pardo::Queue& queue, const char* op_name) {
    if (bytes <= 0)
        throw pardo::Error(pardo::ErrorCode::Value,
                           std::string(op_name) + ": nbytes is " + std::to_string(bytes) + "; it must be positive");
    if (alignment < 0 || (alignment > 0 && !std::has_single_bit(static_cast<std::uint64_t>(alignment)))) {
        throw pardo::Error(pardo::ErrorCode::Value, std::string(op_name) + ": alignment is " + std::to_string(alignment) +
                                                        "; it must be a power of two, or 0 for the device's own");
    }
    const std::int64_t more = alignment > always_aligned ? alignment : 0;
    std::int64_t extent[] = {0};
    if (__builtin_add_overflow(bytes, more, &extent[0]))
        throw pardo::Error(pardo::ErrorCode::Memory,
                           std::string(op_name) + ": " + std::to_string(bytes) + " bytes are more than there can be");
    Block block;
    block.whole = pardo::empty(extent, pardo::DType::UInt8, queue, kind, op_name);
    const std::uint64_t address = block.whole.address();
    const auto skip = more ? static_cast<std::int64_t>(-address & (static_cast<std::uint64_t>(alignment) - 1)) : 0;
    const pardo::IndexPart part[] = {pardo::Slice{skip, skip + bytes, 1}};
    block.bytes = more ? block.whole[part] : block.whole;
    return block;
}

struct BlockView {
    Py_ssize_t extent, stride = 1;
    std::function<void()> let_go;
};

int get_block_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    return guarded(-1, [&] {
        const Array& x = nb::inst_ptr<Block>(nb::handle(self))->bytes;
        if (x.memory_kind() == MemoryKind::Device)
            throw pardo::Error(pardo::ErrorCode::Buffer, "device memory has no buffer for the host; copy it with copy_to_host()");
        auto held = std::make_unique<BlockView>();
        held->extent = x.size();
        {
            const Unlocked unlocked;
            view->buf = x.mutable_data();
            held->let_go = x.share_writable();
        }
        view->len = x.nbytes();
        view->itemsize = 1;
        view->readonly = 0;
        view->ndim = 1;
        static char format[] = "B";
        view->format = flags & PyBUF_FORMAT ? format : nullptr;
        view->shape = (flags & PyBUF_ND) == PyBUF_ND ? &held->extent : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &held->stride : nullptr;
        view->suboffsets = nullptr;
        view->internal = held.release();
        view->obj = self;
        Py_INCREF(self);
        return 0;
    });
}

void release_block_buffer(PyObject*, Py_buffer* view) {
    const std::unique_ptr<BlockView> held(static_cast<BlockView*>(view->internal));
    if (held && held->let_go) held->let_go();
}

PyType_Slot block_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_block_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_block_buffer)},
                             {0, nullptr}};

// An array on the default device when extents and dtype can be read at sight; else None, and `empty` looks closer.
nb::object empty_at_sight(nb::handle shape, nb::handle dtype) {
    constexpr Py_ssize_t most = 8;
    std::int64_t extents[most];
    const bool several = PyTuple_CheckExact(shape.ptr());
    const Py_ssize_t rank = several ? PyTuple_Size(shape.ptr()) : 1;
    if (rank > most) return nb::none();
    for (Py_ssize_t i = 0; i < rank; ++i) {
        PyObject* const extent = several ? PyTuple_GetItem(shape.ptr(), i) : shape.ptr();
        int overflow = 0;
        extents[i] = PyLong_CheckExact(extent) ? PyLong_AsLongLongAndOverflow(extent, &overflow) : -1;
        if (extents[i] < 0) return nb::none();
    }
    std::optional<pardo::DType> element;
    if (!dtype.is_none() && !(element = dtype_at_sight(dtype.ptr()))) return nb::none();
    return nb::cast(pardo::empty(pardo::Extents(extents, static_cast<std::size_t>(rank)), element));
}

}  // namespace

MemoryKind kind_from(nb::handle o, const char* op_name) {
    if (!PyUnicode_Check(o.ptr())) {
        throw pardo::Error(pardo::ErrorCode::Type,
                           std::string(op_name) + ": usm_type must be a string ('device', 'shared' or 'host'), not " + class_name(o));
    }
    const std::string name = text_from(o);
    constexpr std::pair<const char*, MemoryKind> kinds[] = {
        {"device", MemoryKind::Device}, {"shared", MemoryKind::Shared}, {"host", MemoryKind::Host}};
    for (const auto& [known, kind] : kinds) {
        if (name == known) return kind;
    }
    throw pardo::Error(pardo::ErrorCode::Value,
                       std::string(op_name) + ": usm_type is '" + name + "'; it must be 'device', 'shared' or 'host'");
}

void bind_block(nb::module_& m) {
    nb::class_<Block>(m, "_Block", nb::type_slots(block_slots), "Bytes of one kind of memory.")
        .def(
            "__init__",
            [](Block* self, std::int64_t nbytes, nb::handle kind, std::int64_t alignment, QueueArgument queue, const char* op_name) {
                new (self) Block(make_block(nbytes, kind_from(kind, op_name), alignment, queue, op_name));
            },
            nb::arg("nbytes"), nb::arg("kind"), nb::arg("alignment"), nb::arg("queue"), nb::arg("op_name"))
        .def_prop_ro("_array", [](const Block& b) { return b.bytes; })
        .def_prop_ro(
            "_pointer", [](const Block& b) { return b.bytes.address(); }, "The address, as kernels of the device see it.");
    m.def(
        "_in_memory", [](const Array& x, nb::handle kind, const char* op_name) { return pardo::in_memory(x, kind_from(kind, op_name)); },
        nb::arg("x"), nb::arg("kind"), nb::arg("op_name"));
    m.def(
        "_empty_in",
        [](const Ints& shape, std::optional<pardo::DType> dtype, QueueArgument queue, nb::handle kind, const char* op_name) {
            return pardo::empty(shape, dtype, queue, kind_from(kind, op_name), op_name);
        },
        nb::arg("shape"), nb::arg("dtype").none(), nb::arg("queue"), nb::arg("kind"), nb::arg("op_name"));
    m.def("_empty_at_sight", &empty_at_sight, nb::arg("shape").none(), nb::arg("dtype").none(),
          nb::sig("def _empty_at_sight(shape: Any, dtype: Any) -> Array | None"));
    m.def(
        "_view_bytes",
        [](const Array& bytes, pardo::DType dtype, const Ints& shape, std::int64_t offset) {
            return pardo::reinterpret(bytes, dtype, shape, offset);
        },
        nb::arg("bytes"), nb::arg("dtype"), nb::arg("shape"), nb::arg("offset"));
}

}  // namespace bind
