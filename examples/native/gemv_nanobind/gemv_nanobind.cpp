// gemv_nanobind.cpp: gemv for Python, by nanobind.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <pardo/nanobind.h>

#include "gemv.hpp"

namespace nb = nanobind;
using Matrix = pn::arr<double, 2, pn::c_contig>;
using Vector = pn::arr<double, 1, pn::c_contig>;
using Result = pn::arr<double, 1, pn::c_contig, pn::writable>;

NB_MODULE(gemv_nanobind, m) {
    pn::setup(m);
    openblas = nb::cast<std::string>(nb::module_::import_("scipy_openblas32").attr("get_lib_dir")()) + "/libscipy_openblas.so";
    const auto call = [](const pn::queue& queue, const Matrix& a, const Vector& x, const Result& y, const std::vector<pn::event>& after) {
        return gemv(queue, a, x, y, after);
    };
    m.def("gemv", call, nb::arg("queue"), nb::arg("a"), nb::arg("x"), nb::arg("y"), nb::arg("after") = nb::list());
}
