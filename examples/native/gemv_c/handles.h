/* handles.h: functions of libraries that are opened when they are needed, and what these need for each thread and device. */
#include <dlfcn.h>

const pardo_api* P; /* of the binding, as is the next */
void (*cblas_dgemv)(int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
static int (*cublas_create)(void**), (*cublas_set_stream)(void*, void*);
static int (*cublas_dgemv)(void*, int, int, int, const double*, const double*, int, const double*, int, const double*, double*, int);
static void* (*cl_program)(void*, unsigned, const char**, const size_t*, int*), *(*cl_kernel)(void*, const char*, int*);
static int (*cl_build)(void*, unsigned, void* const*, const char*, void*, void*), (*cl_set)(void*, unsigned, size_t, const void*);
static int (*cl_enqueue)(void*, void*, unsigned, const size_t*, const size_t*, const size_t*, unsigned, void* const*, void**);
static const char* source =
    "kernel void gemv(global const double* a, global const double* x, global double* y, int n) { double s = 0;"
    "for (size_t j = 0; j < n; ++j) s += a[n * get_global_id(0) + j] * x[j]; y[get_global_id(0)] = s; }";

/* A cublasHandle_t or cl_kernel, which threads do not share; NULL where there is none. */
static void* handle_of(const pardo_work* w) {
    static __thread struct { void *device, *handle; } kept[8];
    void* const device = w->backend == PARDO_CUDA ? w->native.context : w->native.device;
    int k = 0;
    while (k < 7 && kept[k].device && kept[k].device != device) ++k;
    if (kept[k].device == device) return kept[k].handle;
    void* library = dlopen(w->backend == PARDO_CUDA ? "libcublas.so.13" : "libOpenCL.so.1", RTLD_LAZY);
    if (!library && w->backend == PARDO_CUDA) library = dlopen("libcublas.so.12", RTLD_LAZY);
    if (!library) return NULL;
    if (w->backend == PARDO_CUDA) {
        *(void**)&cublas_create = dlsym(library, "cublasCreate_v2");
        *(void**)&cublas_set_stream = dlsym(library, "cublasSetStream_v2");
        *(void**)&cublas_dgemv = dlsym(library, "cublasDgemv_v2");
        if (cublas_create(&kept[k].handle)) return NULL;
    } else {
        *(void**)&cl_program = dlsym(library, "clCreateProgramWithSource");
        *(void**)&cl_build = dlsym(library, "clBuildProgram");
        *(void**)&cl_kernel = dlsym(library, "clCreateKernel");
        *(void**)&cl_set = dlsym(library, "clSetKernelArg");
        *(void**)&cl_enqueue = dlsym(library, "clEnqueueNDRangeKernel");
        void* const program = cl_program(w->native.context, 1, &source, NULL, NULL);
        if (!program || cl_build(program, 1, &w->native.device, "", NULL, NULL)) return NULL;
        kept[k].handle = cl_kernel(program, "gemv", NULL);
    }
    kept[k].device = device;
    return kept[k].handle;
}

/* What ctypes calls, the first two with the GIL. */
int handle_from(void* object, int kind, void** out) { return P->from_py(object, kind, out); }
void* object_from(void* handle, int kind) { return P->to_py(handle, kind); }
void release(void* handle) { P->release(handle); }
const char* error_text(void) {
    const char* text = "";
    P->last_error(&text);
    return text;
}
