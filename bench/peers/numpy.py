# bench/peers/numpy.py: NumPy as its guide writes it; its results are what the others are checked against.
from __future__ import annotations

import functools

import numpy as np
from scipy.special import erf
from workloads import devices

PACKAGES = ["numpy", "scipy"]


def prepare(name, inputs):
    function = devices.ALL[name]
    if name == "black_scholes":
        function = functools.partial(function, erf=erf)
    return lambda: function(np, *inputs)


def wait(result):
    return result


def to_numpy(result):
    return np.asarray(result)
