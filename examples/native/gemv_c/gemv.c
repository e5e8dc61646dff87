/* gemv.c: y = A @ x in float64, asynchronous: OpenBLAS on the CPU, cuBLAS on CUDA, a kernel of its own on OpenCL. Plain C: no Python.h. */
#include <pardo/c_api.h>

const pardo_api* P; /* of the binding, as is the next */
void (*cblas_dgemv)(int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
static struct {
    int (*create)(void**), (*set_stream)(void*, void*);
    int (*dgemv)(void*, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
} cublas;
static const char* const text =
    "kernel void gemv(global const double* a, global const double* x, global double* y, long n) { double s = 0;"
    "for (long j = 0; j < n; ++j) s += a[n * get_global_id(0) + j] * x[j]; y[get_global_id(0)] = s; }";

static int start(void** handle) {
    const char* const names = "cublasCreate_v2 cublasSetStream_v2 cublasDgemv_v2";
    return P->library_functions("libcublas.so.13 libcublas.so.12", names, (void**)&cublas) || cublas.create(handle);
}

static int gemv_work(const pardo_work* w, void* unused, void** done) {
    const int m = (int)w->info[0].shape[0], n = (int)w->info[0].shape[1];
    const double *a = w->memory[0].address, *x = w->memory[1].address, one = 1, zero = 0;
    void *const y = w->memory[2].address, *handle;
    if (w->backend == PARDO_CPU) return cblas_dgemv(101, 111, m, n, 1, a, n, x, 1, 0, y, 1), 0; /* row-major, not transposed */
    if (P->kept_for(w, start, &handle) || cublas.set_stream(handle, w->stream)) return 1;
    return cublas.dgemv(handle, 1, n, m, &one, a, n, x, 1, &zero, y, 1);
}

/* Of a queue, a, x, y, and events that it waits for; *out: its own. */
static pardo_status gemv(void* const* handles, size_t n, void* unused, void** out) {
    const pardo_array a = handles[1], x = handles[2], y = handles[3], all[] = {a, x, y};
    pardo_array_info facts = {sizeof facts};
    int64_t size[2];
    if (P->arrays_check("gemv", "float64 a[m,n], float64 x[n], float64 y[m]", all, 3, size)) return P->last_error(NULL);
    if (P->array_info(a, &facts) == PARDO_OK && facts.backend == PARDO_OPENCL) {
        const pardo_argument given[] = {PARDO_ARRAY(a), PARDO_ARRAY(x), PARDO_ARRAY(y), PARDO_NUMBER(PARDO_INT64, size + 1)};
        const pardo_range rows = {sizeof rows, 1, {size[0]}};
        return P->launch_text(handles[0], text, "gemv", given, 4, &rows, (const pardo_event*)handles + 4, n - 4, (pardo_event*)out);
    }
    const pardo_use uses[] = {{a, PARDO_READ}, {x, PARDO_READ}, {y, PARDO_WRITE | PARDO_DISCARD}};
    const pardo_submit_options options = {sizeof options, "gemv", 100 + 0.3 * (double)facts.count, (const pardo_event*)handles + 4, n - 4};
    return P->submit(handles[0], uses, 3, gemv_work, NULL, &options, (pardo_event*)out);
}
