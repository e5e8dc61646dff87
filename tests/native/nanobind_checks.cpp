// tests/native/nanobind_checks.cpp: the checks by pardo/nanobind.h.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <pardo/nanobind.h>

#include "checks.hpp"

NB_MODULE(nanobind_checks, m) {
    pardo::native::setup(m);
    checks::define<nanobind::arg, nanobind::handle, nanobind::call_guard<nanobind::gil_scoped_release>>(m);
}
