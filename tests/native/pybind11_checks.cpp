// tests/native/pybind11_checks.cpp: the checks by pardo/pybind11.h.
#include <pardo/pybind11.h>
#include <pybind11/stl.h>

#include "checks.hpp"

PYBIND11_MODULE(pybind11_checks, m) {
    pardo::native::setup(m);
    checks::define<pybind11::arg, pybind11::handle, pybind11::call_guard<pybind11::gil_scoped_release>>(m);
}
