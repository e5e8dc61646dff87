// gemv_pybind11.cpp: gemv for Python, by pybind11.
#include <pardo/pybind11.h>
#include <pybind11/stl.h>

#include "gemv.hpp"

namespace py = pybind11;
using Matrix = pn::arr<double, 2, pn::c_contig>;
using Vector = pn::arr<double, 1, pn::c_contig>;
using Result = pn::arr<double, 1, pn::c_contig, pn::writable>;

PYBIND11_MODULE(gemv_pybind11, m) {
    pn::setup(m);
    openblas = py::module_::import("scipy_openblas32").attr("get_lib_dir")().cast<std::string>() + "/libscipy_openblas.so";
    const auto call = [](const pn::queue& queue, const Matrix& a, const Vector& x, const Result& y, const std::vector<pn::event>& after) {
        return gemv(queue, a, x, y, after);
    };
    m.def("gemv", call, py::arg("queue"), py::arg("a"), py::arg("x"), py::arg("y"), py::arg("after") = py::list());
}
