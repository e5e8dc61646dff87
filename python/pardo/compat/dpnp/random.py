# python/pardo/compat/dpnp/random.py: dpnp.random's names: draws that take `sycl_queue=`.
"""``dpnp.random``: the functions of `pardo.random`; those of dpnp that make arrays on a queue take ``device=`` or ``sycl_queue=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pardo
from pardo._extending import shared as _shared
from pardo._extending import show_module as _show_module
from pardo.compat._names import missing, placed


class RandomState:
    """Draws on one queue, by dpnp's names. The numbers are those of `pardo.random.RandomState`.

    Parameters
    ----------
    seed : None, int or sequence of int, optional
        As for `pardo.random.RandomState`.
    device : Device, str, SyclQueue or Queue, optional
        Where numbers are drawn. Default: the default device.
    sycl_queue : SyclQueue or Queue, optional
        The same.

    Raises
    ------
    TypeError
        Both `device` and `sycl_queue` are given, or the seed is of another type.
    ValueError
        There is no such device, or the seed is negative.

    Examples
    --------
    >>> import pardo.compat.dpctl as dpctl
    >>> import pardo.compat.dpnp as dpnp
    >>> queue = dpctl.SyclQueue()
    >>> state = dpnp.random.RandomState(7, sycl_queue=queue)
    >>> state.rand(3).sycl_queue == queue
    True
    """

    def __init__(self, seed: Any = None, device: Any = None, sycl_queue: Any = None) -> None:
        self._stream, self._placed = pardo.random.RandomState(seed), placed("RandomState", device, sycl_queue)

    @classmethod
    def _on(cls, queue: Any) -> RandomState:
        """Draws of what all functions of the module draw from."""
        made = cls.__new__(cls)
        made._stream, made._placed = _shared, queue
        return made

    def get_sycl_queue(self) -> Any:
        """Give the queue."""
        from pardo.compat._queue import SyclQueue

        return SyclQueue(self._placed)

    def get_sycl_device(self) -> Any:
        """Give the queue's device."""
        return self._placed.device

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = None, usm_type: str = "device") -> Any:
        """Draw from normal distributions."""
        return self._stream.normal(loc, scale, size, dtype=dtype, queue=self._placed, usm_type=usm_type)

    def rand(self, *d: int, usm_type: str = "device") -> Any:
        """Draw from [0, 1), in a shape."""
        return self.random_sample(d, usm_type)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int, usm_type: str = "device") -> Any:
        """Draw integers, from `low` to below `high`."""
        return self._stream.integers(low, high, size, np.dtype(dtype), queue=self._placed, usm_type=usm_type)

    def randn(self, *d: int, usm_type: str = "device") -> Any:
        """Draw from the standard normal distribution, in a shape."""
        return self.standard_normal(d, usm_type)

    def random_sample(self, size: Any = None, usm_type: str = "device") -> Any:
        """Draw from [0, 1)."""
        return self._stream.random(size, queue=self._placed, usm_type=usm_type)

    def standard_normal(self, size: Any = None, usm_type: str = "device") -> Any:
        """Draw from the standard normal distribution."""
        return self._stream.standard_normal(size, queue=self._placed, usm_type=usm_type)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = None, usm_type: str = "device") -> Any:
        """Draw from an interval."""
        return self._stream.uniform(low, high, size, dtype=dtype, queue=self._placed, usm_type=usm_type)

    def __getattr__(self, name: str) -> Any:
        known = hasattr(pardo.random.RandomState, name)
        told = "use pardo.random.RandomState, whose draws take queue=" if known else "dpnp's has no such name"
        raise AttributeError(f"RandomState: there is no '{name}': {told}")


def _drawn(name: str, method: str) -> Callable[..., Any]:
    def draw(*arguments: Any, device: Any = None, usm_type: str = "device", sycl_queue: Any = None, **keywords: Any) -> Any:
        state = RandomState._on(placed(name, device, sycl_queue))
        return getattr(state, method)(*arguments, usm_type=usm_type, **keywords)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"{getattr(RandomState, method).__doc__} It takes `device=`, `usm_type=` and `sycl_queue=`."
    return draw


rand, randn, randint, normal, uniform, standard_normal, random_sample = (
    _drawn(name, name) for name in ("rand", "randn", "randint", "normal", "uniform", "standard_normal", "random_sample")
)
random, ranf, sample = (_drawn(name, "random_sample") for name in ("random", "ranf", "sample"))


def __getattr__(name: str) -> Any:
    """Give pardo's function of that name."""
    if not name.startswith("_") and hasattr(pardo.random, name):
        return getattr(pardo.random, name)
    raise missing(__name__, name, {}, "pardo has no such name")


def __dir__() -> list[str]:
    """The names."""
    return sorted({*(n for n in globals() if not n.startswith("_")), *pardo.random.__dir__()})


_show_module(globals())
