// offloading.cpp: which devices there are, memory of one's own as an array, and work whose errors come late, with their line.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <pardo/nanobind.h>

#include <cmath>

namespace nb = nanobind;
namespace pn = pardo::native;

/// Find: the devices, and how many cores or multiprocessors each has.
static std::vector<std::pair<std::string, std::int64_t>> find() {
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const pn::device& d : pn::device::all()) found.emplace_back(d.id(), d.number(PARDO_DEVICE_COMPUTE_UNITS));
    return found;
}

/// Share: a vector of this library's as an array, without a copy. It lives until the array's last use is over.
static pn::array share(const pn::queue& queue, std::int64_t n) {
    auto values = std::make_unique<std::vector<double>>(static_cast<std::size_t>(n), 2.0);
    const auto destroy = [](void* owner) { delete static_cast<std::vector<double>*>(owner); };
    const pn::array shared = pn::array::wrap(queue, values->data(), PARDO_FLOAT64, {n}, values.get(), destroy);
    values.release();  // the array owns it now
    return shared;
}

/// Offload: returns at once. What is wrong with the values shows later, as the failure of the event and of the array.
static pn::event roots(const pn::queue& queue, const pn::arr<double, 1, pn::on_cpu, pn::writable>& x) {
    const auto work = [](const pn::work& w) {
        for (double& value : w.elements<double, 1>(0)) {
            if (value < 0) throw pn::error(PARDO_E_VALUE, "roots: " + std::to_string(value) + " has no real root");
            value = std::sqrt(value);
        }
    };
    return pn::submit(queue, {pn::update(x)}, work, {"roots"});
}

NB_MODULE(offloading, m) {
    pn::setup(m);
    m.def("find", find);
    m.def("share", share, nb::arg("queue"), nb::arg("n"));
    m.def("roots", roots, nb::arg("queue"), nb::arg("x"));
}
