// include/pardo/binding/library.h: where libraries that are loaded at run time may lie, and the end of what drivers run.
// For pardo's own bindings: no stability.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <pardo/device.h>
#include <pardo/export.h>

namespace pardo {

/// Folders where Python packages are installed (site-packages): wheels that hold libraries are searched there, after the environment's
/// variables and before the system.
PARDO_API void set_package_folders(std::vector<std::string> folders);

/// Of libraries that routines would call on a device and that are not there: what was found, what to install, where they were looked for.
PARDO_API std::vector<std::string> missing_libraries(const Device& device);
/// Where OpenBLAS is to be found (the Python layer knows the wheel's folder).
PARDO_API void set_openblas_path(std::string_view path);
/// For how long threads of OpenBLAS without work look for some before they sleep: OPENBLAS_THREAD_TIMEOUT, 2 to the power of this cycles.
inline constexpr const char* openblas_thread_timeout = "14";
/// The same for each OpenBLAS that the process has loaded already, NumPy's for instance: their threads are ended, and come again with the
/// next product. No thread may be in one of them. The number of those where that was possible.
PARDO_API int shorten_openblas_timeouts();
/// Products of a matrix and a vector may be computed by the OpenBLAS that NumPy has loaded, whose threads are awake after NumPy's own.
/// Whether it is there: that of NumPy's wheels is known, unless PARDO_OPENBLAS names one for all products.
PARDO_API bool use_openblas_of_numpy();

/// At exit, before what compilers have made is destroyed: what is submitted is compiled, and from now on nothing is compiled by other
/// threads than those that need it.
PARDO_API void finish_compiling();

/// Work at a driver.
struct UnfinishedWork {
    std::string name, location, device;
};
/// As finish_driver_work, for at most `limit`; what is not over then. Empty: all is.
PARDO_API std::vector<UnfinishedWork> finish_driver_work_within(std::chrono::milliseconds limit);

}  // namespace pardo
