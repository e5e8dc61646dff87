// src/lib/cuda/optional_library.h: libraries of NVIDIA's that are looked for once, and used where they are installed.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "backend/cuda/libraries/driver.h"
#include "backend/cuda/libraries/search.h"
#include "base/env.h"
#include "base/fork.h"

namespace pardo::lib {

/// The functions of a library. It stays as long as the process; the object is never destroyed, because work may be in flight at exit.
template <class Functions> class OptionalLibrary {
public:
    using Find = std::unique_ptr<Functions> (*)();
    explicit OptionalLibrary(Find find) : find_(find) {
        // Not held while the process forks: a library that is being loaded may install handlers of its own. The child looks again.
        at_fork(ForkStage::Moments, {{}, {}, [this] { new (&mutex_) std::mutex; }});
    }
    /// Null where it is not installed. The first call looks for it.
    const Functions* get() {
        const std::lock_guard lock(mutex_);
        if (!looked_) found_ = find_();
        looked_ = true;
        return found_.get();
    }

private:
    Find find_;
    std::mutex mutex_;
    bool looked_ = false;
    std::unique_ptr<Functions> found_;
};

/// The major version of CUDA that the driver knows; 0 where there is no driver.
inline int driver_major() {
    std::string ignored;
    const cuda::Driver* driver = cuda::load_driver(ignored);
    return driver ? driver->version / 1000 : 0;
}

/// Opens the files that may be a library (library_candidates), until take(library) is true.
template <class F> void try_libraries(const char* variable, const char* stem, int newest, F&& take) {
    std::string ignored;
    for (const std::string& candidate : cuda::library_candidates(variable, stem, newest)) {
        const DynamicLibrary library = DynamicLibrary::open({candidate}, &ignored);
        if (library && take(library)) return;
    }
}

}  // namespace pardo::lib
