// src/backend/builtin.cpp: the back ends of this build, in order of preference.
#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"
#include "backend/null/null.h"
#include "device/device.h"

namespace pardo::device {

void register_builtin_backends() {
    cpu::register_backend();
    cuda::register_backend();
    null::register_backend();
}

}  // namespace pardo::device
