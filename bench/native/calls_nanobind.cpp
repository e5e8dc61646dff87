// bench/native/calls_nanobind.cpp: what bench/native.py calls: functions that do nothing with three arrays and a queue.
#include <nanobind/ndarray.h>
#include <pardo/nanobind.h>

namespace nb = nanobind;
namespace pn = pardo::native;
using Pardos = pn::arr<double, 1, pn::c_contig>;
using Numpys = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

NB_MODULE(calls_nanobind, m) {
    pn::setup(m);
    m.def("pardo", [](const pn::queue&, const Pardos& a, const Pardos& b, const Pardos& c) { return a.size() + b.size() + c.size(); });
    m.def("numpy", [](nb::handle, const Numpys& a, const Numpys& b, const Numpys& c) { return a.size() + b.size() + c.size(); });
}
