# bench/peers/cupy.py: CuPy as its guide writes it: each operation is a kernel.
from __future__ import annotations

import functools

import cupy
import numpy as np
from cupyx.scipy.special import erf
from workloads import device_host, devices

PACKAGES = ["cupy-cuda13x", "cupy-cuda12x", "cupy"]


def prepare(name, inputs):
    function = devices.ALL[name]
    if name == "black_scholes":
        function = functools.partial(function, erf=erf)
    values = tuple(cupy.asarray(value) for value in inputs)
    return lambda: function(cupy, *values)


def array(value):
    return cupy.asarray(value)


def wait(result):
    cupy.cuda.get_current_stream().synchronize()
    return result


def to_numpy(result):
    return cupy.asnumpy(result)


def trim():
    cupy.get_default_memory_pool().free_all_blocks()


def cost(name, whole):
    """As that of peers/pardo.py."""
    a, b = cupy.ones(16, "float32"), cupy.ones(16, "float32")
    if name == "launch":
        return lambda: a + b, wait
    if name == "launch_wait":
        return lambda: wait(a + b), None
    if name == "allocate":
        return lambda: cupy.empty(1 << 20, "uint8") is None, None
    if name == "await":
        return None
    values = np.ones(device_host.copied_bytes(whole) // 4, dtype="float32")
    if name == "to_device":
        return lambda: wait(cupy.asarray(values)), None
    x = cupy.asarray(values)
    return lambda: cupy.asnumpy(x), None
