// src/backend/cuda/cuda.h: what the rest of the library knows of the CUDA back end.
#pragma once

#include "device/device.h"

namespace pardo::cuda {

/// Adds the back end to the registry; touches no library yet.
void register_backend();
bool is_cuda(const device::Device* device) noexcept;

}  // namespace pardo::cuda
