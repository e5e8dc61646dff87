// src/routines/cpu/lapack/lapack.h: the functions of LAPACK that are called, from OpenBLAS.
// This folder: factorizations of stacks of matrices on the CPU, a file for each, all by `stack.h`.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include "routines/cpu/openblas.h"

namespace pardo::routines {

/// Floating-point operations of a complex multiplication and addition, against those of a real one.
template <class T> constexpr double flop = is_complex_number<T> ? 4 : 1;

/// CBLAS's constants for triangular matrices.
enum class BlasDiagonal : int { Any = 131, Ones = 132 };
enum class BlasSide : int { Left = 141 };

/// The number 1 as BLAS takes it.
template <class T> typename BlasScalar<T>::type blas_one() {
    static constexpr T one = T(1);
    if constexpr (std::is_pointer_v<typename BlasScalar<T>::type>)
        return &one;
    else
        return one;
}

/// For one element type, by Fortran's names and conventions: all by address, matrices column by column, and the lengths of texts at the
/// end.
template <class T> struct LapackFunctions {
    using R = Real<T>;
    using Int = const int*;
    using Text = const char*;
    template <class OfReal, class OfComplex> using By = std::conditional_t<is_complex_number<T>, OfComplex, OfReal>*;

    void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info) = nullptr;
    void (*getrs)(Text trans, Int n, Int nrhs, const T* a, Int lda, Int pivots, T* b, Int ldb, int* info, std::size_t) = nullptr;
    void (*potrf)(Text uplo, Int n, T* a, Int lda, int* info, std::size_t) = nullptr;
    void (*gelqf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info) = nullptr;
    void (*gelqt)(Int m, Int n, Int block, T* a, Int lda, T* t, Int ldt, T* work, int* info) = nullptr;
    void (*larfb)(Text side, Text trans, Text direct, Text storage, Int m, Int n, Int k, const T* v, Int ldv, const T* t, Int ldt, T* c,
                  Int ldc, T* work, Int ldwork, std::size_t, std::size_t, std::size_t, std::size_t) = nullptr;
    By<void(Text jobz, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork, int* iwork, int* info,
            std::size_t),
       void(Text jobz, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork, R* rwork, int* iwork,
            int* info, std::size_t)>
        gesdd = nullptr;
    By<void(Text jobz, Text uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork, int* iwork, Int liwork, int* info, std::size_t,
            std::size_t),
       void(Text jobz, Text uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork, R* rwork, Int lrwork, int* iwork, Int liwork, int* info,
            std::size_t, std::size_t)>
        syevd = nullptr;
    By<void(Text jobvl, Text jobvr, Int n, T* a, Int lda, T* real, T* imag, T* vl, Int ldvl, T* vr, Int ldvr, T* work, Int lwork, int* info,
            std::size_t, std::size_t),
       void(Text jobvl, Text jobvr, Int n, T* a, Int lda, T* w, T* vl, Int ldvl, T* vr, Int ldvr, T* work, Int lwork, R* rwork, int* info,
            std::size_t, std::size_t)>
        geev = nullptr;
    By<void(Int m, Int n, Int nrhs, T* a, Int lda, T* b, Int ldb, R* s, const R* rcond, int* rank, T* work, Int lwork, int* iwork,
            int* info),
       void(Int m, Int n, Int nrhs, T* a, Int lda, T* b, Int ldb, R* s, const R* rcond, int* rank, T* work, Int lwork, R* rwork, int* iwork,
            int* info)>
        gelsd = nullptr;
    void (*gbsv)(Int n, Int below, Int above, Int nrhs, T* a, Int lda, int* pivots, T* b, Int ldb, int* info) = nullptr;
    void (*pbsv)(Text uplo, Int n, Int above, Int nrhs, T* a, Int lda, T* b, Int ldb, int* info, std::size_t) = nullptr;
    By<void(Text jobz, Text range, Text uplo, Int n, T* a, Int lda, const R* vl, const R* vu, Int il, Int iu, const R* tolerance, int* m,
            R* w, T* z, Int ldz, int* support, T* work, Int lwork, int* iwork, Int liwork, int* info, std::size_t, std::size_t,
            std::size_t),
       void(Text jobz, Text range, Text uplo, Int n, T* a, Int lda, const R* vl, const R* vu, Int il, Int iu, const R* tolerance, int* m,
            R* w, T* z, Int ldz, int* support, T* work, Int lwork, R* rwork, Int lrwork, int* iwork, Int liwork, int* info, std::size_t,
            std::size_t, std::size_t)>
        syevr = nullptr;
    /// CBLAS's, whose first argument says that matrices are row-major.
    void (*trsm)(BlasOrder, BlasSide, BlasTriangle, BlasTranspose, BlasDiagonal, int m, int n, typename BlasScalar<T>::type alpha,
                 const T* a, int lda, T* b, int ldb) = nullptr;
};

/// The functions of all four types.
struct Lapack : ByElementType<LapackFunctions> {
    const OpenBlas* blas = nullptr;
};

/// Looks the functions up once. Throws Import as "<op_name>: …" where OpenBLAS is not installed, or has been built without LAPACK.
const Lapack& lapack(const char* op_name);

}  // namespace pardo::routines
