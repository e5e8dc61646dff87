// src/backend/builtin.cpp: the back ends of this build, in order of preference.
#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"
#include "backend/null/null.h"
#include "backend/opencl/opencl.h"
#include "device/device.h"

namespace pardo {
namespace {

void register_all() {
    cpu::register_backend();
    cuda::register_backend();
    opencl::register_backend();
    null::register_backend();
}

/// Known before main begins: nothing refers to this file.
[[maybe_unused]] const bool known = device::set_builtin_backends(register_all);

}  // namespace
}  // namespace pardo
