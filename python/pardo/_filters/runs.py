# python/pardo/_filters/runs.py: long windows along one axis, in a time that does not depend on their length.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._core import Array
from pardo._filters.lines import place_of, space_of
from pardo._filters.stencils import plain
from pardo._filters.windows import continuing, storing
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item

LONG = 16, 64  # elements of a window, above which this is faster: along other axes than the last one, and along that


def are_long(x: Array, size: int, axis: int) -> bool:
    """Whether windows along an axis are worth it."""
    return size > LONG[axis == x.ndim - 1]


def element(x: Any, wide: Any, at: Any, i: Any, n: Any, stride: Any, beyond: Any, cval: Any) -> Any:
    """An element along an axis that goes on beyond its edges; `at` is where it begins."""
    j = beyond(i, n)
    value = cval
    if j >= 0:
        value = wide(x[at + j * stride])
    return value


@kernel(bounds_check=False)  # `beyond` gives an index of the axis
def filter_runs(
    item: Item,
    combine: Any,
    finish: Any,
    store: Any,
    wide: Any,
    x: Any,
    extents: Any,
    blocks: Any,
    start: Any,
    length: Any,
    beyond: Any,
    cval: Any,
    tails: Any,
    out: Any,
) -> None:
    """Windows that begin in a block of as many elements as they have are made of the end of that block and the beginning of the next.

    M. van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels", Pattern Recognition
    Letters 13, 1992; J. Gil, M. Werman, "Computing 2-D min, median, and max filters", IEEE PAMI 15, 1993.
    """
    _, block, at = place_of(item, extents, blocks)
    n, stride, size = plain(extents[0]), plain(extents[1]), plain(length)
    first = plain(block) * size
    to = at + first * stride
    begin = start + first
    count = min(size, n - first)
    value = element(x, wide, at, begin + size - 1, n, stride, beyond, cval)
    if size <= count:
        tails[to + plain(size - 1) * stride] = value
    for k in range(1, size):
        j = plain(size - 1 - k)
        value = combine(element(x, wide, at, begin + j, n, stride, beyond, cval), value)
        if j < count:
            tails[to + j * stride] = value
    out[to] = store(finish(value, size), out.dtype)
    value = element(x, wide, at, begin + size, n, stride, beyond, cval)
    for j in range(1, count):
        if j > 1:
            value = combine(value, element(x, wide, at, begin + size - 1 + j, n, stride, beyond, cval))
        out[to + j * stride] = store(finish(combine(tails[to + j * stride], value), size), out.dtype)


def added(a: Any, b: Any) -> Any:
    return a + b


def smaller(a: Any, b: Any) -> Any:
    return min(a, b)


def larger(a: Any, b: Any) -> Any:
    return max(a, b)


def as_it_is(value: Any, size: Any) -> Any:
    return value


def divided(value: Any, size: Any) -> Any:
    return value / size


def fold_runs(
    x: Array,
    out: Array,
    size: int,
    axis: int,
    origin: int,
    mode: int,
    cval: Any,
    wide: np.dtype[Any],
    combine: Callable[..., Any],
    finish: Callable[..., Any],
) -> None:
    """Stores in `out` what is made of windows along an axis, in the dtype `wide` up to there."""
    if x.size == 0:
        return
    n, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    blocks = -(-n // size)
    space, extents = space_of(x.size // n, n, inner, blocks)
    tails = _core._empty([x.size], wide, x.queue)
    flat, target = (_core._reshape(a, [a.size]) for a in (x, out))
    start = -(size // 2) - origin
    store = storing(wide, out.dtype)
    filter_runs[space, x.queue](
        combine, finish, store, wide.type, flat, extents, blocks, start, size, continuing(mode), wide.type(cval), tails, target
    )
