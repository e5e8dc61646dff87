// my_filter.cpp: a function of one's own as a node: recorded, computed when it is needed, and what surrounds it is fused.
#include <pardo/nanobind.h>

namespace nb = nanobind;
namespace pn = pardo::native;
using Signal = pn::arr<double, 1, pn::on_cpu>;

/// Exponential smoothing: each value needs the one before it, which no operation on arrays says.
static void smooth(const pn::work& w, double weight) {
    const auto x = w.elements<const double, 1>(0);
    const auto y = w.elements<double, 1>(1);
    double last = x.size() > 0 ? x[0] : 0;
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = last += weight * (x[i] - last);
}

static pn::array my_filter(const pn::queue& queue, const Signal& x, double weight) {
    if (!(weight > 0 && weight <= 1)) throw pn::error(PARDO_E_VALUE, "my_filter: the weight is to be in (0, 1]");
    const auto shape = [](const pardo_array_info* in) { return pn::result_like(in[0]); };
    return pn::record(queue, {x}, shape, [weight](const pn::work& w) { smooth(w, weight); }, {"my_filter", 3.0 * x.size()});
}

NB_MODULE(my_filter, m) {
    pn::setup(m);
    m.def("my_filter", my_filter, nb::arg("queue"), nb::arg("x"), nb::arg("weight") = 0.5);
}
