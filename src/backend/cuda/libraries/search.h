// src/backend/cuda/libraries/search.h: where NVIDIA's optional libraries are looked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pardo::cuda {

/// Files that may be the library `stem` ("libnvrtc"), best first: what `variable` names (a file or a folder), wheels, toolkits, and last
/// names for the system's loader. Versions up to the driver's come before newer ones; `driver_major` is 0 when there is no driver.
std::vector<std::string> library_candidates(const char* variable, std::string_view stem, int driver_major);
/// Where those were looked for, for messages.
std::string searched_places(const char* variable, std::string_view stem);

}  // namespace pardo::cuda
