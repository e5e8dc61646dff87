// include/pardo/library.h: where libraries that are loaded at run time may lie, and what a program may do before its end.
#pragma once

#include <string>
#include <vector>

#include <pardo/export.h>

namespace pardo {

/// Folders where Python packages are installed (site-packages): wheels that hold libraries are searched there, after the environment's
/// variables and before the system.
PARDO_API void set_package_folders(std::vector<std::string> folders);

/// Drops what is deferred on the host, and blocks until drivers have no work of this process and no thread is in their compilers; from then
/// on only the calling thread may compile for their devices. exit() does the same, but libraries that a driver's threads use may be gone by
/// then: programs that leave work in flight call this before they leave main().
PARDO_API void finish_driver_work();

}  // namespace pardo
