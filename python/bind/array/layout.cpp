// python/bind/array/layout.cpp: pardo/binding/layout.h for Python: flags, base, other dtypes and shapes of the same memory, the order of
// axes.
#include <pardo/binding/layout.h>

#include "bind.h"

namespace bind {

using pardo::Array;

void assign_shape(Array& x, nb::handle shape) {
    Ints extents;
    std::int64_t one = 0;
    if (!nb::try_cast<Ints>(shape, extents)) {
        if (!nb::try_cast<std::int64_t>(shape, one))
            throw pardo::Error(pardo::ErrorCode::Type,
                               "shape: an integer or a sequence of integers is needed, not " + text_from(nb::repr(shape)));
        extents = {one};
    }
    std::int64_t known = 1;  // wrong sizes are ValueErrors of reshape, as NumPy's; what strides cannot express is an AttributeError
    bool open = false, counted = true;
    for (const std::int64_t extent : extents) {
        if (extent < 0) {
            open = true;
        } else {
            counted = counted && !__builtin_mul_overflow(known, extent, &known);
        }
    }
    const bool fits = counted && (open ? known != 0 && x.size() % known == 0 : known == x.size());
    try {
        pardo::set_shape(x, extents);
    } catch (const pardo::Error& e) {
        if (!fits || e.code() != pardo::ErrorCode::Value) throw;
        throw nb::attribute_error(
            "shape: Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.");
    }
}

void bind_layout(nb::module_& m, nb::class_<Array>& c) {
    c.def(
         "_memory_flags",
         [](const Array& x) {
             x.force();
             return nb::make_tuple(x.is_contiguous(), pardo::is_column_major(x), pardo::owns_data(x), x.writeable());
         },
         nb::sig("def _memory_flags(self) -> tuple[bool, bool, bool, bool]"))
        .def(
            "_base",
            [](const Array& x) {
                const Array base = pardo::base_of(x);
                return base.node() ? nb::steal(wrap(base)) : nb::object(nb::none());
            },
            nb::sig("def _base(self) -> Array | None"))
        .def("_set_writeable", &pardo::set_writeable, nb::arg("writeable"))
        .def("_view_as", &pardo::view_as, nb::arg("dtype"))
        .def("_unreferenced", &pardo::unreferenced)
        .def(
            "_become", [](Array& x, const Array& other) { x = other; }, nb::arg("other"),
            "This object stands for another value from now on.")
        .def("_surely_row_major", &pardo::surely_row_major);
    m.def(
        "_axis_order", [](const std::vector<Array>& operands) { return tuple_of(pardo::axis_order(operands)); }, nb::arg("operands"),
        nb::sig("def _axis_order(operands: Sequence[Array]) -> tuple[int, ...]"));
    m.def(
        "_laid_out", [](const Array& fresh, const Ints& axes) { return pardo::laid_out(fresh, axes); }, nb::arg("fresh"), nb::arg("axes"));
}

}  // namespace bind
