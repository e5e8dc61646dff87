// tests/fake_cuda/cublas/fake_cublas.cpp: the functions of libcublas that pardo loads, over the fake driver.
#include "fake_cublas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using Status = int;
constexpr Status success = 0, wrong_handle = 1, internal_error = 14;

/// The fake driver's current context; two devices have two.
void* context() {
    using Get = int (*)(void**);
    static const auto get =
        reinterpret_cast<Get>(dlsym(dlopen(std::getenv("PARDO_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD), "cuCtxGetCurrent"));
    void* now = nullptr;
    if (get) get(&now);
    return now;
}

std::atomic<long> live{0}, made{0}, products{0};
std::string failing;

bool fails(const char* function) {
    if (failing != function) return false;
    failing.clear();
    return true;
}

struct Handle {
    void *context, *stream;
    bool exact;
};

Status product(const Handle* handle) {
    if (!handle || !handle->exact || handle->context != context()) return wrong_handle;
    ++products;
    return success;
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT long fake_cublas_live() { return live; }
EXPORT long fake_cublas_made() { return made; }
EXPORT long fake_cublas_products() { return products; }
EXPORT void fake_cublas_fail_next(const char* function) { failing = function; }

EXPORT Status cublasCreate_v2(Handle** handle) {
    if (fails("cublasCreate_v2")) return internal_error;
    *handle = new Handle{context(), nullptr, false};
    ++live, ++made;
    return success;
}
EXPORT Status cublasDestroy_v2(Handle* handle) {
    if (!handle || handle->context != context()) std::abort();  // the real one would free another device's workspace
    delete handle;
    --live;
    return success;
}
EXPORT Status cublasSetStream_v2(Handle* handle, void* stream) {
    if (fails("cublasSetStream_v2")) return internal_error;
    handle->stream = stream;
    return success;
}
EXPORT Status cublasSetMathMode(Handle* handle, int mode) {
    handle->exact = mode == 16;  // no TF32, no sums in floats of 16 bits
    return success;
}
EXPORT const char* cublasGetStatusName(Status status) {
    return status == internal_error ? "CUBLAS_STATUS_INTERNAL_ERROR" : "CUBLAS_STATUS_NOT_INITIALIZED";
}

// The tests look at handles only, so the other arguments are left where the caller put them.
EXPORT Status cublasSgemm_v2_64(Handle* h) { return product(h); }
EXPORT Status cublasDgemm_v2_64(Handle* h) { return product(h); }
EXPORT Status cublasCgemm_v2_64(Handle* h) { return product(h); }
EXPORT Status cublasZgemm_v2_64(Handle* h) { return product(h); }
EXPORT Status cublasGemmEx_64(Handle* h) { return product(h); }
EXPORT Status cublasGemmStridedBatchedEx_64(Handle* h) { return product(h); }
EXPORT Status cublasSgemmStridedBatched_64(Handle* h) { return product(h); }
EXPORT Status cublasDgemmStridedBatched_64(Handle* h) { return product(h); }
EXPORT Status cublasCgemmStridedBatched_64(Handle* h) { return product(h); }
EXPORT Status cublasZgemmStridedBatched_64(Handle* h) { return product(h); }
}
