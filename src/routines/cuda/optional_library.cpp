// src/routines/cuda/optional_library.cpp: looks for a library of NVIDIA's, and says why there is none.
#include "routines/cuda/optional_library.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "backend/cuda/libraries/driver.h"
#include "backend/cuda/libraries/search.h"

namespace pardo::routines {

int driver_major() {
    std::string ignored;
    const cuda::Driver* driver = cuda::load_driver(ignored);
    return driver ? driver->version / 1000 : 0;
}

std::string find_library(const LibraryFile& of, const std::function<bool(const DynamicLibrary&)>& take) {
    const int newest = driver_major();
    std::string unfit;
    std::set<std::filesystem::path> seen;
    const auto note = [&](const std::string& why) { unfit.append(unfit.empty() ? "" : "; ").append(why); };
    for (const std::string& candidate : cuda::library_candidates(of.variable, of.stem, newest, of.behind)) {
        // A name that only the system's loader knows is no news if it does not load; a file is.
        const bool is_file = candidate.find('/') != std::string::npos;
        std::error_code error;
        if (is_file && !seen.insert(std::filesystem::weakly_canonical(candidate, error)).second) continue;  // links to one file
        const int major = cuda::cuda_major(candidate, of.stem, of.behind);
        if (newest > 0 && major > newest) {
            if (is_file) note(candidate + " is of CUDA " + std::to_string(major) + ", and the driver knows CUDA " + std::to_string(newest));
            continue;
        }
        std::string reason;
        const DynamicLibrary library = DynamicLibrary::open({candidate}, &reason);
        if (!library) {
            if (is_file) note(reason);
        } else if (take(library)) {
            log(LogLevel::Info, std::string("cuda: ") + of.name + " is " + library.path());
            return "";
        } else {
            note(library.path() + " lacks functions of CUDA 12: it is too old, or something else");
        }
    }
    const std::string wheel = of.wheel + std::string(newest == 12 ? "-cu12" : "");
    const std::string problem = (unfit.empty() ? "not installed" : "does not fit: " + unfit) + "; `pip install " + wheel +
                                "` brings it, or set " + of.variable + " to its path; looked in " +
                                cuda::searched_places(of.variable, of.stem, of.behind);
    log(unfit.empty() ? LogLevel::Info : LogLevel::Warn, std::string("cuda: ") + of.name + ": " + problem + ". Without it " + of.without);
    return problem;
}

}  // namespace pardo::routines
