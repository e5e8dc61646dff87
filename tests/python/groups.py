# tests/python/groups.py: kernels with groups for tests: where they run, and what plain Python makes of them.
from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

# PARDO_TEST_DEVICES=cuda,opencl:0 leaves the other back ends and devices out.
WANTED = os.environ.get("PARDO_TEST_DEVICES", "").split(",")
DEVICES = [d for d in pp.get_devices() if d.backend != "null" and (WANTED == [""] or not {d.backend, d.id}.isdisjoint(WANTED))]


class Cases(dict):
    """Functions that make a kernel, where it runs, and its arguments; by name."""

    def __call__(self, *sizes: Any, rtol: float = 0.0) -> Any:
        """Decorate such a function: it is called with each of the sizes, or with nothing."""

        def register(make):
            for size in sizes or (None,):
                name = make.__name__ if size is None else f"{make.__name__}-{size}".replace(" ", "")
                self[name] = (make if size is None else functools.partial(make, size), rtol)
            return make

        return register

    def names(self) -> list[Any]:
        """All, as parameters of a test. Groups of 1,024 items take seconds of plain Python."""
        return [pytest.param(name, marks=pytest.mark.slow) if "1024" in name else name for name in self]

    @functools.cache  # noqa: B019
    def expected(self, name: str) -> list[np.ndarray]:
        """What plain Python makes of a case: the arrays afterwards."""
        kernel, place, *arguments = self[name][0]()
        kernel[place].interpret(*arguments)
        return [a for a in arguments if isinstance(a, np.ndarray)]

    def check(self, name: str, device: pp.Device) -> None:
        """The device makes of a case what plain Python does."""
        make, rtol = self[name]
        kernel, place, *arguments = make()
        for got, wanted in zip(launch(kernel, place, arguments, device), self.expected(name), strict=True):
            if rtol:
                assert_allclose(got, wanted, rtol=rtol, atol=rtol)
            else:
                assert_array_equal(got, wanted)

    __hash__ = object.__hash__


def ints(shape: Any, dtype: Any = "int64", low: int = -20, high: int = 100) -> np.ndarray:
    """Whole numbers, so that sums are exact in every order; other ones for each shape."""
    if np.dtype(dtype).kind == "u":
        low = 0
    return np.random.default_rng(np.sum(np.square(shape))).integers(low, high, shape).astype(dtype)


def zeros(shape: Any, dtype: Any = "int64") -> np.ndarray:
    return np.zeros(shape, dtype)


def launch(kernel: Any, place: Any, arguments: list[Any], device: pp.Device) -> list[np.ndarray]:
    """The arrays afterwards; skips what PoCL's compiler makes wrong code of, and what a device does not have."""
    if not device.has_fp64 and any(isinstance(a, (np.ndarray, pp.LocalAccessor)) and a.dtype.char in "dD" for a in arguments):
        pytest.skip("the device has no float64")
    given = [pp.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        kernel[place](*given).wait()
    except pp.CompileError as e:
        if device.backend == "opencl" and "this device's compiler, PoCL, compiles that wrongly" in str(e):
            pytest.skip(str(e))
        raise
    return [pp.asnumpy(a) for a in given if isinstance(a, pp.ndarray)]
