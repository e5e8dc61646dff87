// src/lib/cuda/cublas.h: matrix products by NVIDIA's cuBLAS, where it is installed.
// This folder: routines of NVIDIA's libraries, used on CUDA devices where they are installed.
#pragma once

#include "lib/routines.h"

namespace pardo::lib {

/// Submits out = a @ b (stacks of matrices, as Routines::matmul) to a queue of a CUDA device, and returns true. False, with nothing
/// submitted, where cuBLAS is not installed, or does not have the dtype or the strides: float32 (never by TF32), float64, complex64 and
/// complex128, matrices whose rows or columns are contiguous.
bool cublas_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out);

}  // namespace pardo::lib
