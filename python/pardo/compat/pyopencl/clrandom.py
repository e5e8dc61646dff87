# python/pardo/compat/pyopencl/clrandom.py: pyopencl.clrandom's generators over pardo's.
"""Random numbers by PyOpenCL's names; the numbers are those of `pardo.random`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pardo
from pardo._extending import show_module as _show_module
from pardo.compat._names import missing as _missing
from pardo.compat.pyopencl import array as _cl_array
from pardo.compat.pyopencl._methods import in_place as _in_place


class PhiloxGenerator:
    """A generator of random numbers, counter-based.

    Parameters
    ----------
    context : Context
        Not used: numbers are drawn where the array is.
    key, counter : optional
        Not taken: a seed says both.
    seed : int, optional
        The seed. Default: another one each time.

    Raises
    ------
    TypeError
        A key or a counter is given.

    Examples
    --------
    >>> import pardo.compat.pyopencl as cl
    >>> import pardo.compat.pyopencl.clrandom as clrandom
    >>> context = cl.create_some_context()
    >>> x = clrandom.PhiloxGenerator(context, seed=7).uniform(cl.CommandQueue(context), (2, 3), "float32", a=1, b=2)
    >>> x.shape, bool((x >= 1).all())
    ((2, 3), True)
    """

    def __init__(self, context: Any, key: Any = None, counter: Any = None, seed: Any = None) -> None:
        if key is not None or counter is not None:
            raise TypeError("PhiloxGenerator: key and counter are not taken; give seed=, or use pardo.random.Philox(key=, counter=)")
        self._stream = pardo.random.default_rng(seed)

    def fill_uniform(self, ary: Any, a: Any = 0, b: Any = 1, queue: Any = None) -> None:
        """Fill an array with numbers of [a, b), or integers of that range."""
        target = _in_place("fill_uniform", queue, ary)
        if target.dtype.kind in "iu":
            target[...] = self._stream.integers(a, b, target.shape, target.dtype, queue=target.queue)
        else:
            target[...] = self._stream.random(target.shape, target.dtype, queue=target.queue) * (b - a) + a

    def fill_normal(self, ary: Any, mu: Any = 0, sigma: Any = 1, queue: Any = None) -> None:
        """Fill an array with normally distributed numbers."""
        target = _in_place("fill_normal", queue, ary)
        target[...] = self._stream.standard_normal(target.shape, target.dtype, queue=target.queue) * sigma + mu

    def uniform(self, *args: Any, a: Any = 0, b: Any = 1, **kwargs: Any) -> Any:
        """Make an array, whose arguments come first, of numbers of [a, b)."""
        result = _cl_array.empty(*args, **kwargs)
        self.fill_uniform(result, a, b)
        return result

    def normal(self, *args: Any, mu: Any = 0, sigma: Any = 1, **kwargs: Any) -> Any:
        """Make an array, whose arguments come first, of normally distributed numbers."""
        result = _cl_array.empty(*args, **kwargs)
        self.fill_normal(result, mu, sigma)
        return result


_shared = PhiloxGenerator(None)


def fill_rand(result: Any, queue: Any = None, a: Any = 0, b: Any = 1) -> None:
    """Fill an array with numbers of [a, b)."""
    _shared.fill_uniform(result, a, b, queue)


def rand(queue: Any, shape: Any, dtype: Any, luxury: Any = None, a: Any = 0, b: Any = 1) -> Any:
    """Make an array of numbers of [a, b) on a queue."""
    return _shared.uniform(queue, shape, np.dtype(dtype), a=a, b=b)


_INSTEAD = {"ThreefryGenerator": "use PhiloxGenerator", "RanluxGenerator": "use PhiloxGenerator"}


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise _missing(__name__, name, _INSTEAD, "pardo has no such name")


_show_module(globals())
