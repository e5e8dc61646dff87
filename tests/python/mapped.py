# tests/python/mapped.py: what tests of the host's arrays on devices share: devices, kernels, arrays, and counts of copies.
from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pardo as pp
from pardo._data import tables

OWN = "null:1"  # memory of its own; it interprets kernels, and has no float64
DEVICES = ["cpu", OWN]  # the CPU shares the memory of the host


@pp.kernel
def double(item: pp.Item, x, y):
    i = item.get_id(0)
    y[i] = 2 * x[i]


@pp.kernel
def add_one(item: pp.Item, x):
    i = item.get_id(0)
    x[i] += 1


@pp.jit
def increase(x):
    for i in pp.prange(len(x)):
        x[i] += 1


@contextlib.contextmanager
def copied(times: int | None = None) -> Iterator[types.SimpleNamespace]:
    """Copies between the host and devices inside of a block, and their bytes; `times`: how many there are to be."""
    before, seen = pp.counters(), types.SimpleNamespace()
    yield seen
    after = pp.counters()
    seen.times, seen.bytes = (after[k] - before[k] for k in ("copies", "copied_bytes"))
    assert times is None or seen.times == times


def floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape)


def image(x: np.ndarray, device: Any = OWN) -> np.ndarray:
    """What the device has for an array."""
    return pp.asnumpy(tables.tables[pp.Device(device).id].view(x))


def entries(device: Any = OWN) -> tuple[Any, ...]:
    """What is mapped to a device."""
    return tables.table_of(pp.Device(device)).entries
