// python/bind/numpy_layout.cpp: the fields of numpy.ndarray, which are part of NumPy's ABI; they are looked at once before use.
#include "numpy_layout.h"

namespace bind {
namespace {

/// As in NumPy's ndarraytypes.h, PyArrayObject_fields, up to what is needed.
struct Fields {
    PyObject head;
    void* data;
    int rank;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
};
static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

constexpr int aligned = 0x100, writeable = 0x400, warns_when_written = 1 << 31;

const Fields& fields(nb::handle array) { return *reinterpret_cast<const Fields*>(array.ptr()); }

/// Whether an array has the fields where they are expected.
bool looks_right() {
    const nb::object whole = numpy().attr("zeros")(nb::make_tuple(3, 4), "float32"), x = whole.attr("T");
    const Fields& f = fields(x);
    const bool placed = f.data == reinterpret_cast<void*>(nb::cast<std::uintptr_t>(x.attr("__array_interface__")["data"][0])) &&
                        f.rank == 2 && x.attr("dtype").is(f.dtype) && whole.is(f.base);
    if (!placed || f.shape[0] != 4 || f.shape[1] != 3 || f.strides[0] != 4 || f.strides[1] != 16) return false;
    const int before = f.flags;
    x.attr("setflags")(false);
    return (before & (aligned | writeable)) == (aligned | writeable) && f.flags == (before & ~writeable);
}

}  // namespace

bool numpy_layout(PyObject* o, NumPyLayout& out) {
    if (!is_exact_numpy_array(o)) return false;
    const bool known = made_once([] { return looks_right(); });
    const Fields& f = fields(o);
    if (!known || (f.flags & (aligned | warns_when_written)) != aligned) return false;
    out = {f.dtype,
           f.data,
           static_cast<std::size_t>(f.rank),
           reinterpret_cast<const std::int64_t*>(f.shape),
           reinterpret_cast<const std::int64_t*>(f.strides),
           (f.flags & writeable) != 0};
    return true;
}

}  // namespace bind
