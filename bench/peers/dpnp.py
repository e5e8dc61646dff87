# bench/peers/dpnp.py: dpnp on Intel's OpenCL runtime for CPUs, the only device that its wheels find where there is no Intel GPU.
from __future__ import annotations

import functools

import dpnp
import numpy as np
from dpnp.scipy.special import erf
from workloads import device_host, devices

PACKAGES = ["dpnp", "dpctl", "intel-opencl-rt"]
QUEUE = dpnp.empty(1).sycl_queue


def prepare(name, inputs):
    function = devices.ALL[name]
    if name == "black_scholes":
        function = functools.partial(function, erf=erf)
    values = tuple(dpnp.asarray(value) for value in inputs)
    return lambda: function(dpnp, *values)


def wait(result):
    QUEUE.wait()
    return result


def to_numpy(result):
    return dpnp.asnumpy(result)


def cost(name, whole):
    """As that of peers/pardo.py."""
    a, b = dpnp.ones(16, dtype="float32"), dpnp.ones(16, dtype="float32")
    if name == "launch":
        return lambda: a + b, wait
    if name == "launch_wait":
        return lambda: wait(a + b), None
    if name == "allocate":
        return lambda: dpnp.empty(1 << 20, dtype="uint8") is None, None
    if name == "await":
        return None
    values = np.ones(device_host.copied_bytes(whole) // 4, dtype="float32")
    if name == "to_device":
        return lambda: wait(dpnp.asarray(values)), None
    x = dpnp.asarray(values)
    return lambda: dpnp.asnumpy(x), None
