// src/lib/cpu/matmul_loops.h: matrix products of dtypes that BLAS does not know.
#pragma once

#include "lib/routines.h"

namespace pardo::lib {

/// out = a @ b for integers (modulo 2^bits), bools (or of ands) and float16 (accumulated in float32). Columns of a and b lie side by side.
void matmul_loops(device::Device* device, const Memory& a, const Memory& b, const Memory& out, double cost_ns);

}  // namespace pardo::lib
