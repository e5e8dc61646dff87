// src/array/generated/own_kernel.h: launches of kernels that calls make themselves, in the IR, for whatever device computes them.
#pragma once

#include "array/operand.h"
#include "device/device.h"
#include "device/signature.h"
#include "ir/ir.h"

namespace pardo::arrays {

inline void add(device::LaunchArguments& arguments, const Memory& memory, device::Access access) {
    arguments.add(memory.address(), routines::use_of(memory, access));
}

/// `op_name` is of static life; `cost_ns` is what one core takes.
void launch_own_kernel(device::Queue* queue, const char* op_name, const ir::Kernel& kernel, Extents extents,
                       const device::LaunchArguments& arguments, double cost_ns);

}  // namespace pardo::arrays
