// src/backend/cuda/ptx.h: what PTX says of its kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/text.h"

namespace pardo::cuda {

/// The declarations of a text's kernels, and nothing else of it.
std::string declarations_of(std::string_view ptx);
/// The kernels of such declarations, or of the whole text: names and parameters.
std::vector<device::TextKernel> kernels_of(std::string_view declarations);

}  // namespace pardo::cuda
