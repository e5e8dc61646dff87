// src/backend/cuda/libraries/search.h: where NVIDIA's optional libraries are looked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pardo::cuda {

/// Files that may be the library `stem` ("libnvrtc"), best first: what `variable` names (a file or a folder), wheels, toolkits, and last
/// names for the system's loader. Versions up to the driver's come before newer ones; `driver_major` is 0 when there is no driver. The
/// library's own major version is `behind` less than that of its CUDA.
std::vector<std::string> library_candidates(const char* variable, std::string_view stem, int driver_major, int behind = 0);
/// The major version of CUDA that a candidate belongs to; 0 where its name does not tell.
int cuda_major(const std::string& candidate, std::string_view stem, int behind = 0);
/// Where those were looked for, for messages.
std::string searched_places(const char* variable, std::string_view stem, int behind = 0);

}  // namespace pardo::cuda
