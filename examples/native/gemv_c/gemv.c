/* gemv.c: y = A @ x in float64, asynchronous: OpenBLAS on the CPU, cuBLAS on CUDA, a kernel of its own on OpenCL. Plain C: no Python.h. */
#include <pardo/c_api.h>

#include "handles.h"

static int gemv_work(const pardo_work* w, void* unused, void** done) {
    const int m = (int)w->info[0].shape[0], n = (int)w->info[0].shape[1];
    const double *a = w->memory[0].address, *x = w->memory[1].address, one = 1, zero = 0;
    double* const y = w->memory[2].address;
    const size_t rows = (size_t)m;
    if (w->backend == PARDO_CPU) {
        cblas_dgemv(101, 111, m, n, 1, a, n, x, 1, 0, y, 1); /* row-major, not transposed */
        return 0;
    }
    void* const handle = handle_of(w);
    if (!handle) return P->set_error(PARDO_E_DEVICE, "gemv: cuBLAS or OpenCL did not start");
    if (w->backend == PARDO_CUDA) {
        const int code = cublas_set_stream(handle, w->stream);
        return code ? code : cublas_dgemv(handle, 1, n, m, &one, a, n, x, 1, &zero, y, 1);
    }
    for (uint32_t k = 0; k < 3; ++k)
        if (P->opencl_set_array(w, handle, k, k)) return 1;
    const int code = cl_set(handle, 3, sizeof n, &n);
    return code ? code : cl_enqueue(w->stream, handle, 1, NULL, &rows, NULL, w->n_wait, w->wait, done);
}

/* The event; NULL: it is complete, or *status says what is wrong. */
pardo_event gemv(pardo_queue q, pardo_array a, pardo_array x, pardo_array y, const pardo_event* after, size_t n_after, int* status) {
    pardo_array_info A = {sizeof A}, X = {sizeof X}, Y = {sizeof Y};
    const pardo_use uses[] = {{a, PARDO_READ}, {x, PARDO_READ}, {y, PARDO_WRITE | PARDO_DISCARD}};
    pardo_event out = NULL;
    if ((*status = P->array_check(a, "gemv: a", PARDO_FLOAT64, 2, PARDO_C_CONTIGUOUS, &A))) return NULL;
    if ((*status = P->array_check(x, "gemv: x", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS, &X))) return NULL;
    if ((*status = P->array_check(y, "gemv: y", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS, &Y))) return NULL;
    if (A.shape[1] != X.shape[0] || A.shape[0] != Y.shape[0]) *status = P->set_error(PARDO_E_VALUE, "gemv: the shapes do not fit");
    if (*status || Y.count == 0) return NULL;
    const pardo_submit_options options = {sizeof options, "gemv", 100 + 0.3 * (double)A.count, after, n_after, 0, NULL};
    *status = P->submit(q, uses, 3, gemv_work, NULL, &options, &out);
    return out;
}
