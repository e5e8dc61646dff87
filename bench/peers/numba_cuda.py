# bench/peers/numba_cuda.py: numba-cuda: kernels in Python for NVIDIA's GPUs.
from __future__ import annotations

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, NumPy 2.5 has it no more
    np.row_stack = np.vstack  # noqa: NPY201

from numba import cuda

PACKAGES = ["numba-cuda", "numba", "numpy"]


def array(value):
    return cuda.to_device(value)


def wait(result):
    cuda.synchronize()
    return result


def to_numpy(result):
    return result.copy_to_host()
