// src/lib/cuda/solver_library.cpp: loads cuSOLVER and cuBLAS, and keeps handles and workspaces of streams.
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <pardo/error.h>

#include "backend/cuda/libraries/search.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/text.h"
#include "lib/cuda/cusolver.h"

namespace pardo::lib::nvidia {
namespace {

/// Guarded by `mutex`, until `looked`; the libraries stay.
struct SolverLibraries {
    std::mutex mutex;
    bool looked = false;
    std::unique_ptr<Solver> found;
};
SolverLibraries& solver_libraries() {
    static SolverLibraries* const instance = [] {
        auto* made = new SolverLibraries;  // never destroyed: work may be in flight at exit
        at_fork(ForkStage::Moments, {{}, {}, [made] { new (&made->mutex) std::mutex; }});
        return made;
    }();
    return *instance;
}

DynamicLibrary open_library(const char* variable, const char* stem, int driver_major) {
    std::string ignored;
    for (const std::string& candidate : cuda::library_candidates(variable, stem, driver_major)) {
        if (const DynamicLibrary library = DynamicLibrary::open({candidate}, &ignored)) return library;
    }
    return {};
}

template <class T> bool bind_all(const DynamicLibrary& solver, const DynamicLibrary& blas, const char* letter, MatrixFunctions<T>& f) {
    constexpr bool complex = !std::is_same_v<T, Real<T>>;
    const std::string of_solver = std::string("cusolverDn") + letter, of_blas = std::string("cublas") + letter;
    const auto find = [&](auto*& function, const char* name) { return solver.bind(function, (of_solver + name).c_str()); };
    const auto find_both = [&](auto*& size, auto*& function, const std::string& name) {
        return find(size, (name + "_bufferSize").c_str()) && find(function, name.c_str());
    };
    return find_both(f.getrf_size, f.getrf, "getrf") && find(f.getrs, "getrs") && find_both(f.potrf_size, f.potrf, "potrf") &&
           find(f.potrf_batched, "potrfBatched") && find_both(f.geqrf_size, f.geqrf, "geqrf") &&
           find_both(f.orgqr_size, f.orgqr, complex ? "ungqr" : "orgqr") && find_both(f.gesvdj_size, f.gesvdj, "gesvdj") &&
           find_both(f.syevd_size, f.syevd, complex ? "heevd" : "syevd") && blas.bind(f.geam, (of_blas + "geam").c_str()) &&
           blas.bind(f.getrf_batched, (of_blas + "getrfBatched").c_str()) && blas.bind(f.getrs_batched, (of_blas + "getrsBatched").c_str());
}

std::unique_ptr<Solver> bind_solver(const DynamicLibrary& solver, const DynamicLibrary& blas) {
    auto made = std::make_unique<Solver>();
    const bool complete =
        solver.bind(made->create, "cusolverDnCreate") && solver.bind(made->destroy, "cusolverDnDestroy") &&
        solver.bind(made->set_stream, "cusolverDnSetStream") && solver.bind(made->create_svd, "cusolverDnCreateGesvdjInfo") &&
        solver.bind(made->destroy_svd, "cusolverDnDestroyGesvdjInfo") && blas.bind(made->create_blas, "cublasCreate_v2") &&
        blas.bind(made->destroy_blas, "cublasDestroy_v2") && blas.bind(made->set_blas_stream, "cublasSetStream_v2") &&
        bind_all(solver, blas, "S", made->s) && bind_all(solver, blas, "D", made->d) && bind_all(solver, blas, "C", made->c) &&
        bind_all(solver, blas, "Z", made->z);
    return complete ? std::move(made) : nullptr;
}

}  // namespace

const Solver* solver() {
    SolverLibraries& s = solver_libraries();
    const std::lock_guard lock(s.mutex);
    if (s.looked) return s.found.get();
    s.looked = true;
    std::string ignored;
    const cuda::Driver* driver = cuda::load_driver(ignored);
    if (!driver) return nullptr;
    // cuBLAS comes first: cuSOLVER needs it, and may not know where it is.
    const DynamicLibrary blas = open_library("PARDO_CUBLAS", "libcublas", driver->version / 1000);
    const DynamicLibrary library = blas ? open_library("PARDO_CUSOLVER", "libcusolver", driver->version / 1000) : DynamicLibrary();
    if (library) s.found = bind_solver(library, blas);
    if (s.found) s.found->driver = driver;
    log(LogLevel::Info, s.found ? "cuda: cuSOLVER is " + library.path()
                                : "cuda: no cuSOLVER (pip install nvidia-cusolver): factorizations of matrices are computed on the host");
    return s.found.get();
}

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
            throw Error(ErrorCode::Memory, "linalg: " + std::to_string(bytes) + " bytes of workspace do not fit into the device's memory");
        bytes_ = bytes;
    }
    return reinterpret_cast<char*>(static_cast<std::uintptr_t>(memory_));
}

}  // namespace pardo::lib::nvidia
