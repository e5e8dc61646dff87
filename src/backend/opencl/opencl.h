// src/backend/opencl/opencl.h: the OpenCL back end as the registry and tests see it.
#pragma once

#include <string>

#include "device/device.h"

namespace pardo::opencl {

/// Registers the OpenCL back end; called once by the registry.
void register_backend();
/// How a device's memory is reached: "usm", "svm" (fine-grained or coarse) or "buffer". Throws Internal for a device of another back end.
std::string memory_path(device::Device* device);

}  // namespace pardo::opencl
