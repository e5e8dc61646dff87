// src/routines/cuda/cusolver.h: the functions of NVIDIA's cuSOLVER, and of cuBLAS for matrices, that are called; loaded at run time.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "backend/cuda/libraries/driver.h"
#include "device/queue/library_state.h"
#include "routines/element_types.h"

namespace pardo::routines::nvidia {

using SolverHandle = struct MatrixSolverOpaque*;
using BlasHandle = struct MatrixBlasOpaque*;
using SvdParameters = struct GesvdjOpaque*;
using SolverParameters = struct SolverParametersOpaque*;
using Status = int;
enum class Taken : int { AsIs = 0, Transposed = 1, Adjoint = 2 };
enum class Triangle : int { Lower = 0, Upper = 1 };
enum class Vectors : int { No = 0, Yes = 1 };
/// cudaDataType.
enum class Element : int { Float32 = 0, Float64 = 1, Complex64 = 4, Complex128 = 5 };
template <class T>
inline constexpr Element element_of = std::is_same_v<Real<T>, float> ? (is_complex_number<T> ? Element::Complex64 : Element::Float32)
                                                                     : (is_complex_number<T> ? Element::Complex128 : Element::Float64);

/// For one element type; matrices lie column by column.
template <class T> struct MatrixFunctions {
    using R = Real<T>;
    using H = SolverHandle;
    Status (*getrf_size)(H, int m, int n, T* a, int lda, int* size) = nullptr;
    Status (*getrf)(H, int m, int n, T* a, int lda, T* work, int* pivots, int* info) = nullptr;
    Status (*getrs)(H, Taken, int n, int k, const T* a, int lda, const int* pivots, T* b, int ldb, int* info) = nullptr;
    Status (*potrf_batched)(H, Triangle, int n, T* a[], int lda, int* info, int count) = nullptr;
    Status (*geqrf_size)(H, int m, int n, T* a, int lda, int* size) = nullptr;
    Status (*geqrf)(H, int m, int n, T* a, int lda, T* factors, T* work, int size, int* info) = nullptr;
    Status (*orgqr_size)(H, int m, int n, int k, const T* a, int lda, const T* factors, int* size) = nullptr;
    Status (*orgqr)(H, int m, int n, int k, T* a, int lda, const T* factors, T* work, int size, int* info) = nullptr;
    Status (*gesvdj_size)(H, Vectors, int economic, int m, int n, const T* a, int lda, const R* s, const T* u, int ldu, const T* v, int ldv,
                          int* size, SvdParameters) = nullptr;
    Status (*gesvdj)(H, Vectors, int economic, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int size,
                     int* info, SvdParameters) = nullptr;
    Status (*syevd_size)(H, Vectors, Triangle, int n, const T* a, int lda, const R* w, int* size) = nullptr;
    Status (*syevd)(H, Vectors, Triangle, int n, T* a, int lda, R* w, T* work, int size, int* info) = nullptr;
    // cuBLAS.
    Status (*geam)(BlasHandle, Taken, Taken, int m, int n, const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c,
                   int ldc) = nullptr;
    Status (*getrf_batched)(BlasHandle, int n, T* const a[], int lda, int* pivots, int* info, int count) = nullptr;
    Status (*getrs_batched)(BlasHandle, Taken, int n, int k, const T* const a[], int lda, const int* pivots, T* const b[], int ldb,
                            int* host_info, int count) = nullptr;
};

/// Both libraries.
struct Solver : ByElementType<MatrixFunctions> {
    Status (*create)(SolverHandle*) = nullptr;
    Status (*destroy)(SolverHandle) = nullptr;
    Status (*set_stream)(SolverHandle, cuda::StreamHandle) = nullptr;
    Status (*create_svd)(SvdParameters*) = nullptr;
    Status (*destroy_svd)(SvdParameters) = nullptr;
    Status (*create_parameters)(SolverParameters*) = nullptr;
    Status (*destroy_parameters)(SolverParameters) = nullptr;
    Status (*potrf_size)(SolverHandle, SolverParameters, Triangle, std::int64_t n, Element, const void* a, std::int64_t lda,
                         Element computed_in, std::size_t* on_device, std::size_t* on_host) = nullptr;
    Status (*potrf)(SolverHandle, SolverParameters, Triangle, std::int64_t n, Element, void* a, std::int64_t lda, Element computed_in,
                    void* on_device, std::size_t device_bytes, void* on_host, std::size_t host_bytes, int* info) = nullptr;
    // Since CUDA 12.6; null in older ones.
    Status (*geev_size)(SolverHandle, SolverParameters, Vectors left, Vectors right, std::int64_t n, Element, const void* a,
                        std::int64_t lda, Element of_values, const void* w, Element of_left, const void* l, std::int64_t ldl,
                        Element of_right, const void* r, std::int64_t ldr, Element computed_in, std::size_t* on_device,
                        std::size_t* on_host) = nullptr;
    Status (*geev)(SolverHandle, SolverParameters, Vectors left, Vectors right, std::int64_t n, Element, void* a, std::int64_t lda,
                   Element of_values, void* w, Element of_left, void* l, std::int64_t ldl, Element of_right, void* r, std::int64_t ldr,
                   Element computed_in, void* on_device, std::size_t device_bytes, void* on_host, std::size_t host_bytes,
                   int* info) = nullptr;
    Status (*syev_batched_size)(SolverHandle, SolverParameters, Vectors, Triangle, std::int64_t n, Element, const void* a, std::int64_t lda,
                                Element of_values, const void* w, Element computed_in, std::size_t* on_device, std::size_t* on_host,
                                std::int64_t count) = nullptr;
    Status (*syev_batched)(SolverHandle, SolverParameters, Vectors, Triangle, std::int64_t n, Element, void* a, std::int64_t lda,
                           Element of_values, void* w, Element computed_in, void* on_device, std::size_t device_bytes, void* on_host,
                           std::size_t host_bytes, int* info, std::int64_t count) = nullptr;
    Status (*create_blas)(BlasHandle*) = nullptr;
    Status (*destroy_blas)(BlasHandle) = nullptr;
    Status (*set_blas_stream)(BlasHandle, cuda::StreamHandle) = nullptr;
    const cuda::Driver* driver = nullptr;
};
/// Null where one of them is not installed.
const Solver* solver();
/// Why.
std::string solver_problem();

/// What a stream keeps: handles, and a workspace that its calls use one after the other. Made with the device's context current.
class SolverState final : public device::LibraryState {
public:
    SolverState(const Solver& library, cuda::StreamHandle stream);
    ~SolverState() override;
    /// Memory of the device, until the next call.
    char* workspace(std::size_t bytes);
    /// Memory of the host, that calls may use after they have returned.
    char* host_workspace(std::size_t bytes);
    SolverParameters parameters();

    const Solver& library;
    cuda::StreamHandle stream;
    SolverHandle handle = nullptr;
    BlasHandle blas = nullptr;
    SvdParameters svd = nullptr;

private:
    void close() noexcept;
    cuda::DevicePointer memory_ = 0;
    std::size_t bytes_ = 0;
    SolverParameters parameters_ = nullptr;
    std::vector<std::vector<char>> host_memory_;  // the last one is in use; earlier ones may still be
};

/// Throws Device as "<op_name>: getrf failed: status 7".
void check(Status status, const char* op_name, const char* function);

}  // namespace pardo::routines::nvidia
