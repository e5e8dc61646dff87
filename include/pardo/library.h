// include/pardo/library.h: where libraries that are loaded at run time may lie.
#pragma once

#include <string>
#include <vector>

#include <pardo/export.h>

namespace pardo {

/// Folders where Python packages are installed (site-packages): wheels that hold libraries are searched there, after the environment's
/// variables and before the system.
PARDO_API void set_package_folders(std::vector<std::string> folders);

}  // namespace pardo
