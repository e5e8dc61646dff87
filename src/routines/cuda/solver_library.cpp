// src/routines/cuda/solver_library.cpp: loads cuSOLVER and cuBLAS, and keeps handles and workspaces of streams.
#include <algorithm>
#include <memory>
#include <string>

#include <pardo/error.h>

#include "backend/cuda/libraries/driver.h"
#include "base/size_text.h"
#include "base/text.h"
#include "routines/cuda/cusolver.h"
#include "routines/cuda/optional_library.h"

namespace pardo::routines::nvidia {
namespace {

constexpr LibraryFile solver_file{
    "cuSOLVER",
    "PARDO_CUSOLVER",
    "libcusolver",
    "nvidia-cusolver",
    "factorizations of matrices of more than 32 rows run on kernels of pardo, and those for `eig` on the CPU, on copies",
    1};

template <class T> bool bind_all(const DynamicLibrary& solver, const DynamicLibrary& blas, const char* letter, MatrixFunctions<T>& f) {
    constexpr bool complex = is_complex_number<T>;
    const std::string of_solver = std::string("cusolverDn") + letter, of_blas = std::string("cublas") + letter;
    const auto find = [&](auto*& function, const char* name) { return solver.bind(function, (of_solver + name).c_str()); };
    const auto find_both = [&](auto*& size, auto*& function, const std::string& name) {
        return find(size, (name + "_bufferSize").c_str()) && find(function, name.c_str());
    };
    return find_both(f.getrf_size, f.getrf, "getrf") && find(f.getrs, "getrs") && find(f.potrf_batched, "potrfBatched") &&
           find_both(f.geqrf_size, f.geqrf, "geqrf") && find_both(f.orgqr_size, f.orgqr, complex ? "ungqr" : "orgqr") &&
           find_both(f.gesvdj_size, f.gesvdj, "gesvdj") && find_both(f.syevd_size, f.syevd, complex ? "heevd" : "syevd") &&
           blas.bind(f.geam, (of_blas + "geam").c_str()) && blas.bind(f.getrf_batched, (of_blas + "getrfBatched").c_str()) &&
           blas.bind(f.getrs_batched, (of_blas + "getrsBatched").c_str());
}

std::unique_ptr<Solver> bind_solver(const DynamicLibrary& solver, const DynamicLibrary& blas) {
    auto made = std::make_unique<Solver>();
    const bool complete =
        solver.bind(made->create, "cusolverDnCreate") && solver.bind(made->destroy, "cusolverDnDestroy") &&
        solver.bind(made->set_stream, "cusolverDnSetStream") && solver.bind(made->create_svd, "cusolverDnCreateGesvdjInfo") &&
        solver.bind(made->destroy_svd, "cusolverDnDestroyGesvdjInfo") && blas.bind(made->create_blas, "cublasCreate_v2") &&
        blas.bind(made->destroy_blas, "cublasDestroy_v2") && blas.bind(made->set_blas_stream, "cublasSetStream_v2") &&
        solver.bind(made->create_parameters, "cusolverDnCreateParams") &&
        solver.bind(made->destroy_parameters, "cusolverDnDestroyParams") && solver.bind(made->potrf_size, "cusolverDnXpotrf_bufferSize") &&
        solver.bind(made->potrf, "cusolverDnXpotrf") && bind_all(solver, blas, "S", made->s) && bind_all(solver, blas, "D", made->d) &&
        bind_all(solver, blas, "C", made->c) && bind_all(solver, blas, "Z", made->z);
    if (!complete) return nullptr;
    if (!solver.bind(made->geev_size, "cusolverDnXgeev_bufferSize") || !solver.bind(made->geev, "cusolverDnXgeev")) made->geev = nullptr;
    if (!solver.bind(made->syev_batched_size, "cusolverDnXsyevBatched_bufferSize") ||
        !solver.bind(made->syev_batched, "cusolverDnXsyevBatched"))
        made->syev_batched = nullptr;
    return made;
}

std::unique_ptr<Solver> find_solver(std::string& problem) {
    const cuda::Driver* driver = cuda::load_driver(problem);
    if (!driver) return nullptr;
    // cuBLAS comes first: cuSOLVER needs it, and may not know where it is.
    DynamicLibrary blas;
    problem = find_library(cublas_file, [&](const DynamicLibrary& library) {
        blas = library;
        return true;
    });
    if (!blas) {
        problem = "needs cuBLAS: " + problem;
        return nullptr;
    }
    std::unique_ptr<Solver> found;
    problem = find_library(solver_file, [&](const DynamicLibrary& library) { return (found = bind_solver(library, blas)) != nullptr; });
    if (found) found->driver = driver;
    return found;
}

OptionalLibrary<Solver>& library_of_solver() {
    static auto* const library = new OptionalLibrary<Solver>(find_solver);
    return *library;
}

}  // namespace

const Solver* solver() { return library_of_solver().get(); }
std::string solver_problem() { return library_of_solver().problem(); }

void check(Status status, const char* op_name, const char* function) {
    if (status == 0) return;
    throw Error(ErrorCode::Device, std::string(op_name) + ": " + function + " failed: status " + std::to_string(status));
}

SolverState::SolverState(const Solver& of, cuda::StreamHandle on) : library(of), stream(on) {
    try {
        check(library.create(&handle), "linalg", "cusolverDnCreate");
        check(library.set_stream(handle, stream), "linalg", "cusolverDnSetStream");
        check(library.create_blas(&blas), "linalg", "cublasCreate");
        check(library.set_blas_stream(blas, stream), "linalg", "cublasSetStream");
        check(library.create_svd(&svd), "linalg", "cusolverDnCreateGesvdjInfo");
    } catch (...) {
        close();
        throw;
    }
}

SolverState::~SolverState() { close(); }

void SolverState::close() noexcept {
    if (parameters_) library.destroy_parameters(parameters_);
    if (svd) library.destroy_svd(svd);
    if (blas) library.destroy_blas(blas);
    if (handle) library.destroy(handle);
    if (memory_) library.driver->cuMemFree(memory_);
}

char* SolverState::workspace(std::size_t bytes) {
    if (bytes > bytes_) {
        // Freeing waits for what still uses it.
        if (memory_) library.driver->cuMemFree(memory_);
        memory_ = 0;
        bytes_ = 0;
        if (library.driver->cuMemAlloc(&memory_, bytes) != cuda::result::success)
            throw Error(ErrorCode::Memory,
                        "linalg: " + size_text(static_cast<std::int64_t>(bytes)) + " of workspace do not fit into the device's memory");
        bytes_ = bytes;
    }
    return reinterpret_cast<char*>(static_cast<std::uintptr_t>(memory_));
}

char* SolverState::host_workspace(std::size_t bytes) {
    if (host_memory_.empty() || host_memory_.back().size() < bytes) {
        const std::size_t twice = host_memory_.empty() ? 0 : 2 * host_memory_.back().size();
        host_memory_.emplace_back(std::max({bytes, twice, std::size_t{1}}));
    }
    return host_memory_.back().data();
}

SolverParameters SolverState::parameters() {
    if (!parameters_) check(library.create_parameters(&parameters_), "linalg", "cusolverDnCreateParams");
    return parameters_;
}

}  // namespace pardo::routines::nvidia
