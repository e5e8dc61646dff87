# bench/peers/pyopencl_array.py: pyopencl.array as its users write it: each operation is a kernel, and its result a new array.
from __future__ import annotations

import functools

import numpy as np
import pyopencl.array as cla
from peers.pyopencl import PACKAGES, QUEUE, to_numpy, wait
from pyopencl import clmath
from workloads import devices

__all__ = ["PACKAGES", "cost", "prepare", "to_numpy", "wait"]


class Names:
    """NumPy's spelling of what it calls otherwise."""

    sqrt, log, exp = clmath.sqrt, clmath.log, clmath.exp


FORMS = {
    "add": lambda xp, a, b: a + b,
    "add_into": lambda xp, a, b, out: a + b,  # it has no form that writes into an array
    "ten": devices.ten,
    "black_scholes": functools.partial(devices.ALL["black_scholes"], erf=clmath.erf),
    "sum": lambda xp, a: cla.sum(a),
    "saxpy_sum": lambda xp, a, b: cla.sum(a * b + a),
}


def prepare(name, inputs):
    if name not in FORMS:
        return None
    values = [cla.to_device(QUEUE, value) for value in inputs]
    return lambda: FORMS[name](Names, *values)


def cost(name, whole):
    """As that of peers/pardo.py; copies and memory are those of peers/pyopencl.py."""
    a, b = (cla.to_device(QUEUE, np.ones(16, dtype="float32")) for _ in range(2))
    if name == "launch":
        return lambda: a + b, wait
    if name == "launch_wait":
        return lambda: wait(a + b), None
    return None
