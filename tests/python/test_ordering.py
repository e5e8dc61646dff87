# tests/python/test_ordering.py: a recorded value never sees a later write, whatever views lie between (docs/design/ordering.md): programs
# of a source, a view, a reader and a write, compared with NumPy.
from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pardo as pp
import pytest

SHAPE = (4, 6)
DATA = np.arange(24.0).reshape(SHAPE) * 0.5 - 3.0
LARGE = np.arange(9.0 * 14.0).reshape(9, 14) * 0.25 - 4.0


def shares_host_memory() -> bool:
    """True if the default device can use NumPy's memory without a copy."""
    try:
        pp.asarray(np.zeros(1), copy=False)
    except ValueError:
        return False
    return True


def shared(xp: ModuleType) -> Any:
    memory = DATA.copy()
    return memory if xp is np else pp.asarray(memory, copy=False)


SOURCES: dict[str, Callable[[ModuleType], Any]] = {
    "computed": lambda xp: xp.asarray(DATA.copy()),
    "pending": lambda xp: xp.asarray(DATA.copy()) * 2.0,
    "shared": shared,
    "reduction": lambda xp: xp.asarray(np.stack([DATA, DATA * 3.0])).sum(axis=0),
    "broadcast": lambda xp: xp.asarray(DATA[0].copy()) + xp.asarray(DATA[:, :1].copy()),
    "view of pending": lambda xp: (xp.asarray(LARGE.copy()) * 2.0)[1:5, 2:14:2],
    "two levels": lambda xp: (xp.asarray(LARGE.T.copy()) - 1.0).T[::2][:4, 1:7],
    "sorted": lambda xp: xp.sort(xp.asarray(DATA.copy()) * -1.0, axis=0),
    "product": lambda xp: xp.matmul(xp.asarray(DATA.copy()), xp.asarray(np.eye(6) * 2.0)),
    "index": lambda xp: xp.arange(24.0).reshape(SHAPE),
    "constant": lambda xp: xp.full(SHAPE, 2.5),
}

VIEWS: dict[str, Callable[[ModuleType, Any], Any]] = {
    "itself": lambda xp, x: x,
    "[:]": lambda xp, x: x[:],
    "[1:]": lambda xp, x: x[1:],
    "[::2]": lambda xp, x: x[::2],
    "[::-1]": lambda xp, x: x[::-1],
    "[:, 1:5]": lambda xp, x: x[:, 1:5],
    "[2]": lambda xp, x: x[2],
    "T": lambda xp, x: x.T,
    "[None]": lambda xp, x: x[None],
    "reshape": lambda xp, x: x.reshape(2, 2, 6),
    "ravel": lambda xp, x: x.ravel() if xp is np else pp.ravel(x),
    "[1:][:, ::-1]": lambda xp, x: x[1:][:, ::-1],
    "T[None][..., 1:]": lambda xp, x: x.T[None][..., 1:],
    "diagonal": lambda xp, x: xp.diagonal(x),
}

READERS: dict[str, Callable[[ModuleType, Any], Any]] = {
    "elementwise": lambda xp, y: y + 1.0,
    "chain": lambda xp, y: (y * 0.5 - 2.0) * y + 3.0,
    "sum": lambda xp, y: y.sum(),
    "max of rows": lambda xp, y: (y + y).max(axis=-1),
    "matmul": lambda xp, y: xp.matmul(y.reshape(-1, 1), y.reshape(1, -1)),
    "sort": lambda xp, y: xp.sort(y, axis=-1),
    "running sum": lambda xp, y: xp.cumsum(y, axis=0) + 1.0,
    "sort of a reader": lambda xp, y: xp.sort(y * 2.0, axis=-1)[..., ::-1],
    "take": lambda xp, y: xp.take(y, xp.asarray([0, 0]), axis=0),
    "where": lambda xp, y: xp.where(y > 0.0, y, 7.0),
    "astype": lambda xp, y: y.astype(xp.float32),
    "copy": lambda xp, y: y.copy() if xp is np else pp.asarray(y, copy=True),
    "view of a reader": lambda xp, y: (y * 2.0)[..., ::-1],
    "reader of a view": lambda xp, y: y[..., ::-1] - 0.5,
    "two": lambda xp, y: (y * 2.0) + (y * 2.0).sum(),
    "element": lambda xp, y: y[(0,) * y.ndim] + 0.0,
    "none": lambda xp, y: None,
}


def fitting(x: Any, y: Any) -> Any:
    """A value for x that reads y."""
    return -y if y.shape == x.shape else x * 0.25 + y.sum()


def assign(xp: ModuleType, x: Any, y: Any) -> Any:
    x[...] = fitting(x, y)
    return x


def assign_part(xp: ModuleType, x: Any, y: Any) -> Any:
    x[1:] = fitting(x, y)[:-1]
    return x


def assign_to_view(xp: ModuleType, x: Any, y: Any) -> Any:
    y[...] = y[..., ::-1] * 3.0
    return x


def add_in_place(xp: ModuleType, x: Any, y: Any) -> Any:
    x += fitting(x, y)
    return x


def out(xp: ModuleType, x: Any, y: Any) -> Any:
    xp.multiply(fitting(x, y), 2.0, out=x)
    return x


def mask(xp: ModuleType, x: Any, y: Any) -> Any:
    x[x > 0.0] = -1.0
    return x


def mask_of_array(xp: ModuleType, x: Any, y: Any) -> Any:
    m = xp.asarray(np.tile([True, False, True, False, False, True], (4, 1)))
    x[m] = fitting(x, y)[m]
    return x


def indices(xp: ModuleType, x: Any, y: Any) -> Any:
    x[xp.asarray([3, 1])] = fitting(x, y)[:2]
    return x


def element(xp: ModuleType, x: Any, y: Any) -> Any:
    x[0, 0] = y.sum()
    return x


@pp.kernel
def negate(item: pp.Item, x, y):  # type: ignore[no-untyped-def]
    i, j = item.get_id(0), item.get_id(1)
    x[i, j] = -x[i, j] + y[0]


def kernel(xp: ModuleType, x: Any, y: Any) -> Any:
    total = y.sum().reshape(1)
    if xp is np:
        x[...] = -x + total[0]
    else:
        negate[pp.Range(*x.shape)](x, total)
    return x


def fill(xp: ModuleType, x: Any, y: Any) -> Any:
    if xp is np:
        x[...] = 1.5
    else:
        x.queue.fill(x, 1.5)
    return x


def copy(xp: ModuleType, x: Any, y: Any) -> Any:
    value = fitting(x, y)
    if xp is np:
        x[...] = value
    else:
        x.queue.copy(x, value)
    return x


WRITES = {
    f.__name__: f
    for f in (assign, assign_part, assign_to_view, add_in_place, out, mask, mask_of_array, indices, element, kernel, fill, copy)
}


def run(xp: ModuleType, source: str, view: str, reader: str, write: str, dropped: bool) -> list[np.ndarray]:
    x = SOURCES[source](xp)
    y = VIEWS[view](xp, x)
    z = READERS[reader](xp, y)
    if dropped and z is not None:
        z = z * 2.0 + 1.0  # the reader itself is held by its user only
    x = WRITES[write](xp, x, y)
    values = [value for value in (z, x, y) if value is not None]
    return [np.array(value) if xp is np else pp.asnumpy(value) for value in values]


def comparable(source: str, view: str, write: str) -> bool:
    """False where NumPy's array is another one: a copy where ours is a view, or a view that cannot be written."""
    return (view, write) != ("diagonal", "assign_to_view") and (source, view) != ("view of pending", "ravel")


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("source", [source for source in SOURCES if source != "shared" or shares_host_memory()])
def test_a_recorded_value_never_sees_a_later_write(source: str, write: str) -> None:
    wrong = []
    for (view, reader), dropped in itertools.product(itertools.product(VIEWS, READERS), (False, True)):
        if not comparable(source, view, write):
            continue
        wanted = run(np, source, view, reader, write, dropped)
        got = run(pp, source, view, reader, write, dropped)
        if any(not np.allclose(a, b, rtol=1e-6, atol=1e-6) or a.shape != b.shape for a, b in zip(got, wanted, strict=True)):
            wrong.append((view, reader, "dropped" if dropped else "held"))
    assert not wrong, f"{len(wrong)} programs differ from NumPy, the first: {wrong[:5]}"
