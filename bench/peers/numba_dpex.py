# bench/peers/numba_dpex.py: numba-dpex on Intel's OpenCL runtime for CPUs; its launches wait for themselves.
from __future__ import annotations

import dpnp
import numba_dpex

__all__ = ["PACKAGES", "array", "numba_dpex", "to_numpy", "wait"]

PACKAGES = ["numba-dpex", "numba", "dpctl", "dpnp", "intel-opencl-rt", "numpy"]


def array(value):
    return dpnp.asarray(value)


def wait(result):
    return result


def to_numpy(result):
    return dpnp.asnumpy(result)
