// src/routines/cuda/optional_library.h: libraries of NVIDIA's that are looked for once, and used where they are installed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "base/env.h"
#include "base/fork.h"

namespace pardo::routines {

/// The functions of a library. It stays as long as the process; the object is never destroyed, because work may be in flight at exit.
template <class Functions> class OptionalLibrary {
public:
    /// Null with the reason in `problem`.
    using Find = std::unique_ptr<Functions> (*)(std::string& problem);
    explicit OptionalLibrary(Find find) : find_(find) {
        // Not held while the process forks: a library that is being loaded may install handlers of its own. The child looks again.
        renew_at_fork(mutex_);
    }
    /// Null where it is not installed. The first call looks for it.
    const Functions* get() {
        const std::lock_guard lock(mutex_);
        if (!looked_) found_ = find_(problem_);
        looked_ = true;
        return found_.get();
    }
    /// Why there is none, without its name: what was found, what to install, where it was looked for.
    const std::string& problem() {
        (void)get();
        return problem_;
    }

private:
    Find find_;
    std::mutex mutex_;
    bool looked_ = false;
    std::unique_ptr<Functions> found_;
    std::string problem_;
};

/// What is known of a library before it is found.
struct LibraryFile {
    const char* name;      // "cuBLAS"
    const char* variable;  // of the environment, which says where it is
    const char* stem;      // "libcublas"
    const char* wheel;     // "nvidia-cublas"
    const char* without;   // what is done where there is none
    int behind = 0;        // its major version is so much less than that of its CUDA
};

/// Products and factorizations need it.
inline constexpr LibraryFile cublas_file{"cuBLAS", "PARDO_CUBLAS", "libcublas", "nvidia-cublas",
                                         "products of matrices run on kernels of pardo"};

/// The major version of CUDA that the driver knows; 0 where there is no driver.
int driver_major();
/// Opens the files that may be the library, but those of a CUDA that is newer than the driver's, until take(library) is true. Why there is
/// none, as in OptionalLibrary::problem; empty where there is one. Logs either.
std::string find_library(const LibraryFile& of, const std::function<bool(const DynamicLibrary&)>& take);

}  // namespace pardo::routines
