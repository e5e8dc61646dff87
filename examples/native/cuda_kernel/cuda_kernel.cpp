// cuda_kernel.cpp: the kernel for Python, by nanobind.
#include <pardo/nanobind.h>

namespace nb = nanobind;
namespace pn = pardo::native;
using Values = pn::arr<float, 1, pn::c_contig, pn::on_cuda>;
using Result = pn::arr<float, 1, pn::c_contig, pn::on_cuda, pn::writable>;

int clamp_on(void* stream, const float* x, float* y, long long n, float least, float greatest);  // kernel.cu

static pn::event clamp(const pn::queue& queue, const Values& x, const Result& y, float least, float greatest) {
    if (x.size() != y.size()) throw pn::error(PARDO_E_VALUE, "clamp: x and y are of different lengths");
    const auto work = [least, greatest](const pn::work& w) {
        pn::check_code(clamp_on(w->stream, w.data<float>(0), w.data<float>(1), w.extent(0, 0), least, greatest), "clamp's launch");
    };
    return pn::submit(queue, {pn::read(x), pn::discard(y)}, work, {"clamp"});
}

NB_MODULE(cuda_kernel, m) {
    pn::setup(m);
    m.def("clamp", clamp, nb::arg("queue"), nb::arg("x"), nb::arg("y"), nb::arg("least"), nb::arg("greatest"));
}
