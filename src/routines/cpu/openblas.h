// src/routines/cpu/openblas.h: the functions of OpenBLAS that matmul calls, from a library loaded at first use.
#pragma once

#include <complex>
#include <string>

#include "base/env.h"
#include "routines/element_types.h"

namespace pardo::routines {

/// CBLAS's constants.
enum class BlasOrder : int { RowMajor = 101 };
enum class BlasTranspose : int { No = 111, Yes = 112, Conjugate = 113 };
enum class BlasTriangle : int { Upper = 121, Lower = 122 };

/// CBLAS passes real scalars by value, complex ones by address.
template <class T> struct BlasScalar { using type = T; };
template <class R> struct BlasScalar<std::complex<R>> { using type = const std::complex<R>*; };

/// What matmul calls, for one element type.
template <class T> struct BlasFunctions {
    using S = typename BlasScalar<T>::type;
    void (*gemm)(BlasOrder, BlasTranspose, BlasTranspose, int m, int n, int k, S alpha, const T* a, int lda, const T* b, int ldb, S beta,
                 T* c, int ldc) = nullptr;
    void (*gemv)(BlasOrder, BlasTranspose, int m, int n, S alpha, const T* a, int lda, const T* x, int incx, S beta, T* y,
                 int incy) = nullptr;
    void (*syrk)(BlasOrder, BlasTriangle, BlasTranspose, int n, int k, S alpha, const T* a, int lda, S beta, T* c, int ldc) = nullptr;
};

/// The loaded library.
struct OpenBlas : ByElementType<BlasFunctions> {
    DynamicLibrary file;
    std::string prefix;              // of the names of its functions
    int (*get_threads)() = nullptr;  // null, both, in a build without threads
    void (*set_threads)(int) = nullptr;
};

/// Loads OpenBLAS once: PARDO_OPENBLAS, set_openblas_path's, the system's. Throws Import as "<op_name>: …" with what to install.
const OpenBlas& openblas(const char* op_name);

/// One function of the OpenBLAS that NumPy has loaded, whose integers have 64 bits.
template <class T> struct NumpyFunctions {
    using S = typename BlasScalar<T>::type;
    void (*gemv)(BlasOrder, BlasTranspose, std::int64_t m, std::int64_t n, S alpha, const T* a, std::int64_t lda, const T* x,
                 std::int64_t incx, S beta, T* y, std::int64_t incy) = nullptr;
};
struct NumpyOpenBlas : ByElementType<NumpyFunctions> {
    int (*get_threads)() = nullptr;
};

/// The one that use_openblas_of_numpy found; null without one.
const NumpyOpenBlas* openblas_of_numpy() noexcept;

/// While one lives, OpenBLAS uses at most so many threads in this process: one where tiles or matrices are shared out among the device's
/// threads. With the last of them the number of its threads is what it was, for others may use the same library.
class BlasThreads {
public:
    BlasThreads(const OpenBlas& library, int most);
    BlasThreads(const BlasThreads&) = delete;
    BlasThreads& operator=(const BlasThreads&) = delete;
    ~BlasThreads();

private:
    const OpenBlas& library_;
    int most_;
};

}  // namespace pardo::routines
