// gemv.hpp: y = A @ x in float64, asynchronous: OpenBLAS on the CPU, cuBLAS on CUDA, a kernel of its own on OpenCL.
#include <pardo/native.hpp>
namespace pn = pardo::native;

inline std::string openblas, cublas = "libcublas.so.13 libcublas.so.12";
inline const char* const text =
    "kernel void gemv(global const double* a, global const double* x, global double* y, int n) { double s = 0;"
    "for (size_t j = 0; j < n; ++j) s += a[n * get_global_id(0) + j] * x[j]; y[get_global_id(0)] = s; }";

inline void on_cpu(const pn::work& w, int m, int n) {
    using F = void(int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
    static F* const dgemv = pn::function<F>(openblas.c_str(), "scipy_cblas_dgemv");
    dgemv(101, 111, m, n, 1, w.data<double>(0), n, w.data<double>(1), 1, 0, w.data<double>(2), 1);  // row-major, not transposed
}

inline void on_cuda(const pn::work& w, int m, int n) {
    using F = int(void*, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
    static F* const dgemv = pn::function<F>(cublas.c_str(), "cublasDgemv_v2");
    static auto* const set_stream = pn::function<int(void*, void*)>(cublas.c_str(), "cublasSetStream_v2");
    void* const handle = pn::kept_for(
        w, [](void** made) { pn::check_code(pn::function<int(void**)>(cublas.c_str(), "cublasCreate_v2")(made), "cublasCreate"); });
    const double one = 1, zero = 0;
    pn::check_code(set_stream(handle, w->stream), "cublasSetStream");
    pn::check_code(dgemv(handle, 1, n, m, &one, w.data<double>(0), n, w.data<double>(1), 1, &zero, w.data<double>(2), 1), "cublasDgemv");
}

inline pn::event gemv(const pn::queue& q, const pn::array& a, const pn::array& x, const pn::array& y, const std::vector<pn::event>& after) {
    const pardo_array_info facts = a.info();
    const int m = static_cast<int>(facts.shape[0]), n = static_cast<int>(facts.shape[1]);
    if (x.info().shape[0] != n || y.info().shape[0] != m) throw pn::error(PARDO_E_VALUE, "gemv: the shapes do not fit");
    if (facts.backend == PARDO_OPENCL) return pn::launch(q, text, "gemv", pn::range({m}), after, a, x, y, n);
    const auto work = [m, n](const pn::work& w) { w.on_cpu() ? on_cpu(w, m, n) : on_cuda(w, m, n); };
    return pn::submit(q, {pn::read(a), pn::read(x), pn::discard(y)}, work, {"gemv", 100 + 0.3 * m * n, after});
}
