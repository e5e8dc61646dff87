// src/backend/opencl/kernel_info.h: what a driver tells of the kernels in the user's text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/opencl/program.h"
#include "device/text.h"

namespace pardo::opencl {

KernelHandle create_kernel(const Api& api, cl_program program, const std::string& name);
/// The kernels of a program that was built from text, with their parameters, as text: programs of binaries may not know them any more.
/// For each a line "2 name", then here 2 lines with what the driver tells. Throws Compile when there is no kernel.
std::string described(const Api& api, cl_program program);
/// The kernels of such a description, without their limits.
std::vector<device::TextKernel> kernels_of(const std::string& description);
/// Sets the limits of groups. `local_bytes`: that the device has for one.
void ask_limits(const Api& api, cl_kernel handle, cl_device_id device, std::int64_t local_bytes, device::TextKernel& kernel);

}  // namespace pardo::opencl
