// python/bind/array/arrow.cpp: arrays of one dimension for polars, pyarrow and others that read Arrow's C data interface.
#include <memory>

#include "exchange.h"

namespace bind {
namespace {

using pardo::Array;
using pardo::DType;

/// As the specification lays them out.
struct ArrowSchema {
    const char *format, *name, *metadata;
    std::int64_t flags, n_children;
    ArrowSchema **children, *dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    std::int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray **children, *dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

/// Arrow's letters; null: it has no such type. Truth values are bits there.
constexpr const char* arrow_formats[] = {"b", "c", "s", "i", "l", "C", "S", "I", "L", "e", "f", "g", nullptr, nullptr, nullptr};
static_assert(std::size(arrow_formats) == pardo::dtype_count);

/// What an export keeps.
struct HeldForArrow {
    pardo::Loan loan;
    const void* buffers[2] = {nullptr, nullptr};  // which elements there are: all; and the elements
};

template <class T> PyObject* arrow_capsule(std::unique_ptr<T> what, const char* name) {
    PyObject* const made = PyCapsule_New(what.get(), name, [](PyObject* o) {
        auto* const t = static_cast<T*>(PyCapsule_GetPointer(o, PyCapsule_GetName(o)));
        if (t->release) t->release(t);  // it has not been taken
        delete t;
    });
    if (!made) {
        if (what->release) what->release(what.get());
        throw nb::python_error();
    }
    (void)what.release();
    return made;
}

/// Schema and array. `elements`: contiguous, on the host; of truth values their bits, as bytes.
nb::tuple arrow(const Array& elements, DType dtype, std::int64_t length) {
    const char* const format = arrow_formats[static_cast<int>(dtype)];
    if (!format) {
        throw pardo::Error(pardo::ErrorCode::Type, "__arrow_c_array__: Arrow has no " + std::string(pardo::dtype_name(dtype)) +
                                                       "; export " +
                                                       (pardo::is_complex(dtype) ? "x.real and x.imag" : "x.astype('float32')"));
    }
    auto schema = std::make_unique<ArrowSchema>();
    *schema = {format, "", nullptr, 0, 0, nullptr, nullptr, [](ArrowSchema* s) { s->release = nullptr; }, nullptr};
    auto kept = std::make_unique<HeldForArrow>();
    kept->loan = lent(elements, false);
    static const char nothing[64] = {};
    kept->buffers[1] = elements.size() == 0 ? nothing : elements.data();
    auto array = std::make_unique<ArrowArray>();
    *array = {length,
              0,
              0,
              2,
              0,
              kept->buffers,
              nullptr,
              nullptr,
              [](ArrowArray* a) {
                  delete static_cast<HeldForArrow*>(a->private_data);
                  a->release = nullptr;
              },
              kept.get()};
    (void)kept.release();
    const nb::object first = nb::steal(arrow_capsule(std::move(schema), "arrow_schema"));
    return nb::make_tuple(first, nb::steal(arrow_capsule(std::move(array), "arrow_array")));
}

}  // namespace

void bind_arrow(nb::module_& m) { m.def("_arrow", &arrow, nb::arg("elements"), nb::arg("dtype"), nb::arg("length")); }

}  // namespace bind
