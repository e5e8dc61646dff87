// tests/fake_cuda/cusparse/fake_cusparse.cpp: the functions of libcusparse that pardo loads, on the memory of the fake driver.
#include "fake_cusparse.h"

#include <dlfcn.h>

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

namespace {

using Status = int;
constexpr Status success = 0, invalid_value = 3, internal_error = 7;
constexpr std::size_t workspace_bytes = 1000;

template <class F> F driver_function(const char* name) {
    return reinterpret_cast<F>(dlsym(dlopen(std::getenv("PARDO_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD), name));
}
void* host(void* device) {
    static const auto address = driver_function<void* (*)(std::uint64_t, std::size_t)>("fake_cuda_host_address");
    return address(reinterpret_cast<std::uint64_t>(device), 1);
}

struct Handle {
    void* stream;
};
struct Matrix {
    std::int64_t rows, columns, entries;
    void *ptr, *column, *value;
    int of_ptr, of_column, base, type;
};
struct Dense {  // a vector has a width of one
    std::int64_t rows, width, leading;
    void* values;
    int type, order;
};

std::mutex mutex;  // guards what follows
std::string failing;
std::atomic<long> live{0}, products{0};

bool fails(const char* function) {
    const std::lock_guard lock(mutex);
    if (failing != function) return false;
    failing.clear();
    return true;
}

std::int64_t index_at(void* list, int type, std::int64_t i) {
    return type == 2 ? static_cast<const std::int32_t*>(list)[i] : static_cast<const std::int64_t*>(list)[i];
}

template <class T> void multiply(const Matrix& a, bool transposed, T alpha, const Dense& x, T beta, const Dense& out) {
    const auto* value = static_cast<const T*>(host(a.value));
    const auto* from = static_cast<const T*>(host(x.values));
    auto* to = static_cast<T*>(host(out.values));
    void *ptr = host(a.ptr), *column = host(a.column);
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.width; ++j) {
            T& place = to[i * out.leading + j];
            place = beta == T(0) ? T(0) : beta * place;
        }
    }
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (std::int64_t k = index_at(ptr, a.of_ptr, row); k < index_at(ptr, a.of_ptr, row + 1); ++k) {
            const std::int64_t other = index_at(column, a.of_column, k);
            const std::int64_t target = transposed ? other : row, source = transposed ? row : other;
            for (std::int64_t j = 0; j < out.width; ++j) to[target * out.leading + j] += alpha * value[k] * from[source * x.leading + j];
        }
    }
}

template <class T> void compute(const Matrix& a, bool transposed, const void* alpha, const Dense& x, const void* beta, const Dense& out) {
    multiply(a, transposed, *static_cast<const T*>(alpha), x, *static_cast<const T*>(beta), out);
}

bool fits(const Matrix& a, int operation, const Dense& x, const Dense& out, int type) {
    const std::int64_t inner = operation ? a.rows : a.columns, outer = operation ? a.columns : a.rows;
    return a.type == type && x.type == type && out.type == type && x.rows == inner && out.rows == outer && x.width == out.width &&
           a.base == 0 && x.order == 2 && out.order == 2;
}

Status product(const Handle* handle, int operation, const void* alpha, const Matrix* a, const Dense* x, const void* beta, const Dense* out,
               int type, const void* workspace) {
    if (!workspace || !fits(*a, operation, *x, *out, type)) return invalid_value;
    static const auto wait = driver_function<int (*)(void*)>("cuStreamSynchronize");
    wait(handle->stream);
    const bool transposed = operation != 0;
    switch (type) {
        case 0: compute<float>(*a, transposed, alpha, *x, beta, *out); break;
        case 1: compute<double>(*a, transposed, alpha, *x, beta, *out); break;
        case 4: compute<std::complex<float>>(*a, transposed, alpha, *x, beta, *out); break;
        case 5: compute<std::complex<double>>(*a, transposed, alpha, *x, beta, *out); break;
        default: return invalid_value;
    }
    ++products;
    return success;
}

template <class T> Status destroyed(const T* object) {
    delete object;
    --live;
    return success;
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT long fake_cusparse_live() { return live; }
EXPORT long fake_cusparse_products() { return products; }
EXPORT void fake_cusparse_fail_next(const char* function) {
    const std::lock_guard lock(mutex);
    failing = function;
}

EXPORT Status cusparseCreate(Handle** handle) {
    if (fails("cusparseCreate")) return internal_error;
    *handle = new Handle{nullptr};
    ++live;
    return success;
}
EXPORT Status cusparseDestroy(Handle* handle) { return destroyed(handle); }
EXPORT Status cusparseSetStream(Handle* handle, void* stream) {
    if (fails("cusparseSetStream")) return internal_error;
    handle->stream = stream;
    return success;
}
EXPORT const char* cusparseGetErrorName(Status status) {
    return status == internal_error ? "CUSPARSE_STATUS_INTERNAL_ERROR" : "CUSPARSE_STATUS_INVALID_VALUE";
}
EXPORT Status cusparseCreateCsr(Matrix** matrix, std::int64_t rows, std::int64_t columns, std::int64_t entries, void* ptr, void* column,
                                void* value, int of_ptr, int of_column, int base, int type) {
    if (fails("cusparseCreateCsr")) return internal_error;
    *matrix = new Matrix{rows, columns, entries, ptr, column, value, of_ptr, of_column, base, type};
    ++live;
    return success;
}
EXPORT Status cusparseDestroySpMat(Matrix* matrix) { return destroyed(matrix); }
EXPORT Status cusparseCreateDnVec(Dense** vector, std::int64_t size, void* values, int type) {
    if (fails("cusparseCreateDnVec")) return internal_error;
    *vector = new Dense{size, 1, 1, values, type, 2};
    ++live;
    return success;
}
EXPORT Status cusparseDestroyDnVec(Dense* vector) { return destroyed(vector); }
EXPORT Status cusparseCreateDnMat(Dense** matrix, std::int64_t rows, std::int64_t columns, std::int64_t leading, void* values, int type,
                                  int order) {
    *matrix = new Dense{rows, columns, leading, values, type, order};
    ++live;
    return success;
}
EXPORT Status cusparseDestroyDnMat(Dense* matrix) { return destroyed(matrix); }
EXPORT Status cusparseSpMV_bufferSize(Handle*, int, const void*, Matrix*, Dense*, const void*, Dense*, int, int, std::size_t* bytes) {
    *bytes = workspace_bytes;
    return success;
}
EXPORT Status cusparseSpMV(Handle* handle, int operation, const void* alpha, Matrix* a, Dense* x, const void* beta, Dense* out, int type,
                           int, void* workspace) {
    if (fails("cusparseSpMV")) return internal_error;
    return product(handle, operation, alpha, a, x, beta, out, type, workspace);
}
EXPORT Status cusparseSpMM_bufferSize(Handle*, int, int, const void*, Matrix*, Dense*, const void*, Dense*, int, int, std::size_t* bytes) {
    *bytes = workspace_bytes;
    return success;
}
EXPORT Status cusparseSpMM(Handle* handle, int operation, int of_x, const void* alpha, Matrix* a, Dense* x, const void* beta, Dense* out,
                           int type, int, void* workspace) {
    if (of_x != 0 || fails("cusparseSpMM")) return internal_error;
    return product(handle, operation, alpha, a, x, beta, out, type, workspace);
}
}
