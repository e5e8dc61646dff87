// src/routines/cuda/cublas.cpp: matrix products by NVIDIA's cuBLAS where it is installed: row-major ones in its column-major terms.
// This folder: routines of NVIDIA's libraries, used on CUDA devices where they are installed.
#include <complex>
#include <memory>
#include <optional>
#include <utility>

#include <pardo/error.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/libraries/driver.h"
#include "base/narrow.h"
#include "device/queue/queue.h"
#include "routines/cuda/optional_library.h"
#include "routines/element_types.h"
#include "routines/routines.h"

namespace pardo::routines {
namespace cublas {

using Handle = struct CublasOpaque*;
using Status = int;
constexpr Status status_success = 0;
enum class Operation : int { None = 0, Transpose = 1 };
constexpr int exact_math = 16;  // float32 products are float32's: no TF32; and those of floats of 16 bits are added up as float32
constexpr int computed_in_float32 = 68, usual_algorithm = -1;

/// Stacks of column-major matrices; the functions with 64-bit sizes.
template <class T>
using Gemm = Status (*)(Handle, Operation, Operation, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* a,
                        std::int64_t lda, long long stride_a, const T* b, std::int64_t ldb, long long stride_b, const T* beta, T* c,
                        std::int64_t ldc, long long stride_c, std::int64_t count);

/// The same for one product, for which cuBLAS has more to choose from.
template <class T>
using Single = Status (*)(Handle, Operation, Operation, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t,
                          const T*, std::int64_t, const T*, T*, std::int64_t);

/// cuBLAS's number for a float of 16 bits.
constexpr int number_of(DType dtype) { return dtype == DType::BFloat16 ? 14 : 2; }
/// The same two, of floats of 16 bits.
using NarrowGemm = Status (*)(Handle, Operation, Operation, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                              const void* a, int of_a, std::int64_t lda, long long stride_a, const void* b, int of_b, std::int64_t ldb,
                              long long stride_b, const void* beta, void* c, int of_c, std::int64_t ldc, long long stride_c,
                              std::int64_t count, int compute, int algorithm);
using NarrowSingle = Status (*)(Handle, Operation, Operation, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, int,
                                std::int64_t, const void*, int, std::int64_t, const void*, void*, int, std::int64_t, int, int);

template <class T> struct Functions {
    Gemm<T> batch = nullptr;
    Single<T> single = nullptr;
};
struct Cublas : ByElementType<Functions> {
    Status (*create)(Handle*) = nullptr;
    Status (*destroy)(Handle) = nullptr;
    Status (*set_stream)(Handle, cuda::StreamHandle) = nullptr;
    Status (*set_math)(Handle, int) = nullptr;
    const char* (*status_name)(Status) = nullptr;
    NarrowGemm narrow_batch = nullptr;
    NarrowSingle narrow_single = nullptr;
};

}  // namespace cublas

namespace {

using namespace cublas;

std::unique_ptr<Cublas> bind(const DynamicLibrary& library) {
    auto blas = std::make_unique<Cublas>();
    const bool complete =
        library.bind(blas->create, "cublasCreate_v2") && library.bind(blas->destroy, "cublasDestroy_v2") &&
        library.bind(blas->set_stream, "cublasSetStream_v2") && library.bind(blas->set_math, "cublasSetMathMode") &&
        library.bind(blas->status_name, "cublasGetStatusName") && library.bind(blas->s.batch, "cublasSgemmStridedBatched_64") &&
        library.bind(blas->d.batch, "cublasDgemmStridedBatched_64") && library.bind(blas->c.batch, "cublasCgemmStridedBatched_64") &&
        library.bind(blas->z.batch, "cublasZgemmStridedBatched_64") && library.bind(blas->s.single, "cublasSgemm_v2_64") &&
        library.bind(blas->d.single, "cublasDgemm_v2_64") && library.bind(blas->c.single, "cublasCgemm_v2_64") &&
        library.bind(blas->z.single, "cublasZgemm_v2_64") && library.bind(blas->narrow_batch, "cublasGemmStridedBatchedEx_64") &&
        library.bind(blas->narrow_single, "cublasGemmEx_64");
    return complete ? std::move(blas) : nullptr;
}

std::unique_ptr<Cublas> find_cublas(std::string& problem) {
    std::unique_ptr<Cublas> found;
    problem = find_library(cublas_file, [&](const DynamicLibrary& library) { return (found = bind(library)) != nullptr; });
    return found;
}

OptionalLibrary<Cublas>& cublas_library() {
    static auto* const library = new OptionalLibrary<Cublas>(find_cublas);
    return *library;
}
/// Null where cuBLAS is not installed.
const Cublas* load() { return cublas_library().get(); }

/// A column-major view of a row-major operand or its transpose.
struct Operand {
    Operation operation;
    std::int64_t leading;
};
std::optional<Operand> operand(const Memory& x) {
    const int rank = x.shape.size();
    const std::int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1];
    const std::int64_t row_stride = rows == 1 ? columns : x.strides[rank - 2], column_stride = columns == 1 ? 1 : x.strides[rank - 1];
    if (column_stride == 1 && row_stride >= columns) return Operand{Operation::None, row_stride};
    // One row is also a column with steps.
    const std::int64_t down = rows == 1 ? 1 : x.strides[rank - 2], across = columns == 1 ? rows : x.strides[rank - 1];
    if (down == 1 && across >= rows) return Operand{Operation::Transpose, across};
    return std::nullopt;
}

/// The batch as equal steps in all three, for the innermost dimensions that have them; the outer ones are gone through one by one.
struct Batch {
    int outer = 0;  // dimensions that are left
    std::int64_t count = 1;
    std::int64_t a = 0, b = 0, out = 0;  // steps, elements
};
Batch batch_of(const Memory& a, const Memory& b, const Memory& out) {
    Batch batch;
    batch.outer = out.shape.size() - 2;
    while (batch.outer > 0) {
        const int d = batch.outer - 1;
        const std::int64_t n = out.shape[d];
        if (n > 1) {
            const bool first = batch.count == 1;
            const auto follows = [&](const Memory& m, std::int64_t step) { return m.strides[d] == step * batch.count; };
            if (!first && !(follows(a, batch.a) && follows(b, batch.b) && follows(out, batch.out))) break;
            if (first) {
                batch.a = a.strides[d];
                batch.b = b.strides[d];
                batch.out = out.strides[d];
            }
            batch.count *= n;
        }
        --batch.outer;
    }
    return batch;
}

void check(const Cublas& blas, Status status, const char* call) {
    if (status != status_success) throw Error(ErrorCode::Device, std::string("matmul: ") + call + " failed: " + blas.status_name(status));
}

/// A stream's handle, with a workspace of its own. Made whole or not at all, with the device's context current.
class StreamHandle final : public device::LibraryState {
public:
    StreamHandle(const Cublas& blas, cuda::StreamHandle stream) : blas_(blas) {
        check(blas, blas.create(&handle_), "cublasCreate");
        try {
            check(blas, blas.set_math(handle_, exact_math), "cublasSetMathMode");
            check(blas, blas.set_stream(handle_, stream), "cublasSetStream");
        } catch (...) {
            blas.destroy(handle_);
            throw;
        }
    }
    ~StreamHandle() override { blas_.destroy(handle_); }
    Handle get() const noexcept { return handle_; }

private:
    const Cublas& blas_;
    Handle handle_ = nullptr;
};

/// Everything that a product needs, by value: it may run later.
template <class T> struct Product {
    const Cublas* blas;
    T *a, *b, *out;
    Operand a_operand, b_operand;
    std::int64_t rows, columns, inner, out_leading;
    Batch batch;
    Shape outer;
    Strides a_steps, b_steps, out_steps;

    void run(void* stream, device::LibraryStates& states) const {
        Handle handle = states.get<StreamHandle>(*blas, static_cast<cuda::StreamHandle>(stream)).get();
        Shape index(outer.size(), 0);
        T *x = a, *y = b, *z = out;
        for (std::int64_t left = element_count(outer); left > 0; --left) {
            check(*blas, multiply(handle, x, y, z), "gemm");
            for (int d = outer.size() - 1; d >= 0; --d) {
                x += a_steps[d];
                y += b_steps[d];
                z += out_steps[d];
                if (++index[d] < outer[d]) break;
                x -= a_steps[d] * outer[d];
                y -= b_steps[d] * outer[d];
                z -= out_steps[d] * outer[d];
                index[d] = 0;
            }
        }
    }

    /// Row-major memory is the transpose in column-major terms: outᵀ = bᵀ aᵀ.
    Status multiply(Handle handle, const T* x, const T* y, T* z) const {
        const Operation first = b_operand.operation, second = a_operand.operation;
        const std::int64_t of_y = b_operand.leading, of_x = a_operand.leading;
        if constexpr (NarrowFloat<T>) {
            const float one = 1, zero = 0;
            const int type = number_of(dtype_of<T>);
            if (batch.count == 1)
                return blas->narrow_single(handle, first, second, columns, rows, inner, &one, y, type, of_y, x, type, of_x, &zero, z, type,
                                           out_leading, computed_in_float32, usual_algorithm);
            return blas->narrow_batch(handle, first, second, columns, rows, inner, &one, y, type, of_y, batch.b, x, type, of_x, batch.a,
                                      &zero, z, type, out_leading, batch.out, batch.count, computed_in_float32, usual_algorithm);
        } else {
            const T one(1), zero(0);
            const Functions<T>& gemm = blas->get<T>();
            if (batch.count == 1)
                return gemm.single(handle, first, second, columns, rows, inner, &one, y, of_y, x, of_x, &zero, z, out_leading);
            return gemm.batch(handle, first, second, columns, rows, inner, &one, y, of_y, batch.b, x, of_x, batch.a, &zero, z, out_leading,
                              batch.out, batch.count);
        }
    }
};

template <class T> void submit(const Cublas& blas, device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const std::optional<Operand> left = operand(a), right = operand(b), result = operand(out);
    Product<T> p;
    p.blas = &blas;
    p.a = reinterpret_cast<T*>(a.address());
    p.b = reinterpret_cast<T*>(b.address());
    p.out = reinterpret_cast<T*>(out.address());
    p.a_operand = *left;
    p.b_operand = *right;
    const int rank = out.shape.size();
    p.rows = out.shape[rank - 2];
    p.columns = out.shape[rank - 1];
    p.inner = a.shape[rank - 1];
    p.out_leading = result->leading;
    p.batch = batch_of(a, b, out);
    p.outer.append(out.shape.begin(), out.shape.begin() + p.batch.outer);
    p.a_steps.append(a.strides.begin(), a.strides.begin() + p.batch.outer);
    p.b_steps.append(b.strides.begin(), b.strides.begin() + p.batch.outer);
    p.out_steps.append(out.strides.begin(), out.strides.begin() + p.batch.outer);
    const device::BufferUse uses[] = {use_of(a, device::Access::Read), use_of(b, device::Access::Read), use_of(out, device::Access::Write)};
    device::call_library(queue, [p](void* stream, device::LibraryStates& states) { p.run(stream, states); }, uses, {"matmul", {}});
}

/// Floats and complex numbers (float32 never by TF32), matrices whose rows or columns are contiguous.
bool applies(device::Queue*, const Memory& a, const Memory& b, const Memory& out) {
    if (out.size() == 0 || a.size() == 0 || !is_inexact(out.dtype)) return false;
    const std::optional<Operand> result = operand(out);
    return operand(a) && operand(b) && result && result->operation == Operation::None;
}

void cublas_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const Cublas& blas = *load();
    if (out.dtype == DType::Float16) return submit<Half>(blas, queue, a, b, out);
    if (out.dtype == DType::BFloat16) return submit<BFloat16>(blas, queue, a, b, out);
    visit_element_type(out.dtype, [&]<class T>(std::type_identity<T>) { submit<T>(blas, queue, a, b, out); });
}

const Registered by_cublas(routines::matmul, {"cuBLAS", DeviceKinds::Text, cublas_matmul, applies, 0.1, "cuda",
                                              [] { return load() != nullptr; }, [] { return cublas_library().problem(); }});

}  // namespace
}  // namespace pardo::routines
