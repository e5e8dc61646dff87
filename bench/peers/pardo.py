# bench/peers/pardo.py: pardo, running NumPy's own code.
from __future__ import annotations

import functools

import pardo as pp
from workloads import arrays

PACKAGES = ["pardo"]


def prepare(name, inputs):
    function = arrays.ALL[name]
    if name == "black_scholes":
        function = functools.partial(function, erf=pp.special.erf)
    values = tuple(pp.asarray(value).wait() for value in inputs)
    return lambda: function(pp, *values)


def wait(result):
    if isinstance(result, tuple):
        for array in result:
            array.wait()
    elif not isinstance(result, float):
        result.wait()
    return result


def to_numpy(result):
    return result if isinstance(result, float) else pp.asnumpy(result)
