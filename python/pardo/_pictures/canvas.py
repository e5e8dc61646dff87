# python/pardo/_pictures/canvas.py: where coordinates lie in a picture: its shape, its range, and how many parts count by themselves.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asnumpy
from pardo._base.arguments import default_on
from pardo._base.promotion import finfo
from pardo._core import Array, Device
from pardo._functions.operands import cast, to_queue
from pardo._runtime.devices import group_size

MOST = (1 << 31) - 64  # pixels, and points of one launch, which 32 bits count


def shape_of(shape: Any, op_name: str) -> tuple[int, int]:
    """Rows and columns."""
    try:
        rows, columns = (int(n.__index__()) for n in shape)
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"{op_name}: shape is a pair of integers, (rows, columns), not {shape!r}") from None
    if rows < 1 or columns < 1:
        raise ValueError(f"{op_name}: shape is {shape!r}; there must be at least one row and one column")
    if rows * columns > MOST:
        raise ValueError(f"{op_name}: shape is {shape!r}; a picture has at most 2**31 pixels")
    return rows, columns


def coordinates(x: Array, op_name: str) -> Array:
    """The same; bools as integers."""
    if x._kind == "c":
        raise TypeError(f"{op_name}: coordinates are real numbers, not {x.dtype}")
    return cast(x, np.uint8) if x.dtype == np.bool_ else x


def ends_of(*parts: tuple[Array, Array]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The least and the greatest finite number of x and of y, of all parts of the points; 0 and 1 where there is none."""
    left, right, low, high = zip(*(_ends_of_part(x, y) for x, y in parts), strict=True)
    return _ends(min(left), max(right)), _ends(min(low), max(high))


def _ends_of_part(x: Array, y: Array) -> list[float]:
    """Those of a part, which are waited for together; infinities where there is none."""
    found = []
    for values in (x, y):
        both = [_end(op, values, none) for op, none in ((_core._MIN, math.inf), (_core._MAX, -math.inf))]
        _core._force(both)  # in one pass
        found.extend(both)
    ends: list[float] = asnumpy(_core._stack(found, 0)).tolist()
    return ends


def _end(op: Any, values: Array, none: float) -> Array:
    """The least or the greatest finite number."""
    real = default_on(values.queue, np.float64)
    if values.size == 0:
        return _core._full([], none, real, values.queue)
    if values._kind == "f":
        values = _core._where(_core.isfinite(values), values, _core._full([], none, values.dtype, values.queue))
    return cast(_core._reduce(op, values, None, False), real)


def _ends(first: float, last: float) -> tuple[float, float]:
    return (first, last) if first <= last else (0.0, 1.0)


def range_of(range: Any, x: Array, y: Array, op_name: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of the columns and of the rows: as given, or the least and the greatest values."""
    if range is None:
        ends = ends_of((x, y))
    else:
        try:
            (left, right), (low, high) = range
            ends = (float(left), float(right)), (float(low), float(high))
        except (TypeError, ValueError):
            raise TypeError(f"{op_name}: range is a pair of pairs, ((left, right), (low, high)), not {range!r}") from None
        for first, last in ends:
            if not (math.isfinite(first) and math.isfinite(last)):
                raise ValueError(f"{op_name}: range is {range!r}; its numbers must be finite")
            if first > last:
                raise ValueError(f"{op_name}: range is {range!r}; the first number of each pair must not be above the second")
    columns, rows = ((first - 0.5, last + 0.5) if first == last else (first, last) for first, last in ends)
    most = finfo(default_on(x.queue, np.float64)).max
    for first, last in (columns, rows):
        if not last - first <= most:
            raise ValueError(f"{op_name}: the range from {first} to {last} is wider than the greatest float; give a narrower one")
    return columns, rows


def edges_of(ends: tuple[float, float], count: int, x: Array, op_name: str) -> np.ndarray[Any, Any]:
    """The edges of columns or rows of one width, in the dtype in which points are compared with them."""
    edges = np.linspace(*ends, count + 1, dtype=default_on(x.queue, np.float64))
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"{op_name}: numbers from {ends[0]} to {ends[1]} cannot be told apart in {count} columns or rows")
    return edges


def on_queue(edges: np.ndarray[Any, Any], x: Array) -> Array:
    """A copy where the points are."""
    return to_queue(edges, x.queue)


def parts_of(device: Device, points: int, pixels: int, each: int) -> int:
    """Parts of the points that are counted in pictures of their own; 0 where all count in one by atomic additions.

    `each`: pixels that are worth a point: filling and adding a picture of a part takes time too, and memory.
    """
    if group_size(device) > 0:
        return 0
    units = device.max_compute_units or 1
    parts = max(1, min(units, points // 4096, each * points // pixels))
    return 0 if units >= 8 * parts and points >= 1 << 16 else parts
