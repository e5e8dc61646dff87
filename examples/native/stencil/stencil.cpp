// stencil.cpp: one step of heat conduction on the cores of a queue, without threads of one's own.
#include <pardo/nanobind.h>

namespace nb = nanobind;
namespace pn = pardo::native;
using Grid = pn::arr<double, 2, pn::c_contig, pn::on_cpu>;
using Result = pn::arr<double, 2, pn::c_contig, pn::on_cpu, pn::writable>;

static void step(const pn::work& w, double speed) {
    const auto u = w.elements<const double, 2>(0);
    const auto v = w.elements<double, 2>(1);
    const std::int64_t rows = u.extent(0), columns = u.extent(1), worth_a_core = 1 + 20000 / (columns + 1);
    w.parallel_for(rows, worth_a_core, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
                const bool edge = i == 0 || j == 0 || i == rows - 1 || j == columns - 1;
                v(i, j) = u(i, j);
                if (!edge) v(i, j) += speed * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j));
            }
    });
}

static pn::event heat(const pn::queue& queue, const Grid& u, const Result& v, double speed) {
    if (u.extent(0) != v.extent(0) || u.extent(1) != v.extent(1)) throw pn::error(PARDO_E_VALUE, "heat: the grids are of different shapes");
    return pn::submit(queue, {pn::read(u), pn::discard(v)}, [speed](const pn::work& w) { step(w, speed); }, {"heat"});
}

NB_MODULE(stencil, m) {
    pn::setup(m);
    m.def("heat", heat, nb::arg("queue"), nb::arg("u"), nb::arg("v"), nb::arg("speed") = 0.1);
}
