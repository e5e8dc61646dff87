// bench/native/calls_pybind11.cpp: what bench/native.py calls: functions that do nothing with three arrays and a queue.
#include <pardo/pybind11.h>
#include <pybind11/numpy.h>

namespace py = pybind11;
namespace pn = pardo::native;
using Pardos = pn::arr<double, 1, pn::c_contig>;
using Numpys = py::array_t<double, py::array::c_style>;

PYBIND11_MODULE(calls_pybind11, m) {
    pn::setup(m);
    m.def("pardo", [](const pn::queue&, const Pardos& a, const Pardos& b, const Pardos& c) { return a.size() + b.size() + c.size(); });
    m.def("numpy", [](const py::handle&, const Numpys& a, const Numpys& b, const Numpys& c) { return a.size() + b.size() + c.size(); });
}
