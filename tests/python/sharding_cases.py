# tests/python/sharding_cases.py: arrays split over several devices, in several ways, for tests.
from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pardo as pp

KINDS = ["one", "halves", "uneven"]  # and "mixed", whose back end compiles long


@functools.cache
def device(kind: str) -> Any:
    """One queue; halves of the processor; four queues, of which the first has nothing; parts of the processor, and another back end."""
    halves = list(pp.Device("cpu").create_sub_devices(max(1, pp.Device("cpu").max_compute_units // 2)))
    places: list[Any] = halves
    if kind == "one":
        places = [pp.Queue("cpu")]
    elif kind == "uneven":
        places = [pp.Queue("cpu") for _ in range(4)]
    elif kind == "mixed":
        places = [halves[0], *pp.get_devices("opencl")[-1:], halves[-1]]
    return pp.shard(np.zeros(4), places).device


def split(x: Any, kind: str, axis: int | None = 0) -> pp.ShardedArray:
    """An array of NumPy's, split along an axis; None: each part has the whole."""
    x = np.asarray(x)
    if axis is None or x.ndim == 0:
        return pp.shard(x, device(kind), axis=None)
    n = x.shape[axis]
    if kind == "uneven":
        return pp.shard(x, device(kind), axis=axis, bounds=[0, 0, n // 3, n // 3, n])
    return pp.shard(x, device(kind), axis=axis)


def gathered(x: Any) -> np.ndarray[Any, Any]:
    """The whole array, as NumPy has it, after a look at its parts."""
    assert type(x) is pp.ShardedArray, type(x)
    for p, part in enumerate(x.shards):
        assert part.shape == x.layout.local_shape(p)
        assert part.device == x.devices[p]
        assert part.dtype == x.dtype
    if x.axis is None:  # all parts have the same bits
        parts = [pp.asnumpy(part) for part in x.shards]
        for other in parts[1:]:
            assert other.tobytes() == parts[0].tobytes()
    return pp.asnumpy(x)


def same(s: Any, expected: Any, tolerance: float = 0) -> None:
    """Shape, dtype and values."""
    host, expected = gathered(s), np.asarray(expected)
    assert host.shape == expected.shape
    assert host.dtype == expected.dtype
    if tolerance:
        np.testing.assert_allclose(host, expected, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(host, expected)


def numbers(rng: np.random.Generator, dtype: str, shape: Any) -> np.ndarray[Any, Any]:
    """Small numbers of a dtype, many of them equal; some are NaN where there is NaN."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    x: np.ndarray[Any, Any] = rng.integers(0 if dtype.startswith("u") else -9, 9, shape).astype(dtype)
    if dtype.startswith("c"):
        x = (x + 1j * rng.integers(-2, 2, shape)).astype(dtype)
        x[rng.random(shape) < 0.1] = complex(1, np.nan)
        x[rng.random(shape) < 0.1] = complex(np.nan, 1)
    if dtype.startswith("f"):
        x[rng.random(shape) < 0.1] = np.nan
    return x
