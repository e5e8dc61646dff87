# python/pardo/_pictures/lines.py: lines through points, counted in the pixels that they cross.
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import public
from pardo._base.arguments import default_on
from pardo._core import Array
from pardo._functions.operands import cast, operands
from pardo._kernel.kernel import kernel
from pardo._language.atomics import atomic
from pardo._language.index_space import Item, Range
from pardo._pictures import canvas

__all__ = ["lines"]


def count(counts: Any, part: Any, pixel: Any) -> None:
    """In the picture of a part, which nobody else writes."""
    counts[part, np.uint32(pixel)] += 1


def count_with_others(counts: Any, part: Any, pixel: Any) -> None:
    """In the picture of all."""
    atomic.add(counts, (np.int32(0), np.uint32(pixel)), 1)


def cell(a: Any, size: Any) -> Any:
    """The column or row of a coordinate, in pixels; the last one has its upper edge too. -1 outside, and for NaN."""
    return np.int32(min(math.floor(a), size - size.dtype.type(1))) if a >= size.dtype.type(0) and a <= size else np.int32(-1)


def cross(add: Any, counts: Any, part: Any, width: Any, steep: Any, ends: Any, sizes: Any, first: Any, last: Any) -> None:
    """The pixels of a segment where it passes the middles of columns, without those of its ends. If it is `steep`, columns and rows are
    exchanged; `ends` are its coordinates along the longer side and the other one."""
    u0, v0, u1, v1 = ends
    long, short = sizes
    half = long.dtype.type(0.5)
    slope = (v1 - v0) / (u1 - u0)
    zero = long.dtype.type(0)  # what is outside of the picture may not fit integers
    begin = math.ceil(min(max(min(u0, u1) - half, zero), long))
    end = math.floor(min(max(max(u0, u1) - half, zero - half), long - half))
    if begin <= end:
        for c in range(np.int32(begin), np.int32(end) + np.int32(1)):
            v = v0 + ((long.dtype.type(c) + half) - u0) * slope
            if v >= short.dtype.type(0) and v < short:
                r = np.int32(v)
                pixel = np.int32(c) * width + r if steep else r * width + np.int32(c)
                if pixel != first and pixel != last:
                    add(counts, part, pixel)


def draw(add: Any, counts: Any, part: Any, x: Any, y: Any, frame: Any, k: Any) -> None:
    """What a point adds: the pixels of the segment that ends there, without that of the point before; its own pixel, if it is the first."""
    left, low, across, down, width, height = frame
    line, i = k // x.shape[1], k % x.shape[1]
    columns = np.int32(width)
    u1, v1 = (left.dtype.type(x[line, i]) - left) * across, (left.dtype.type(y[line, i]) - low) * down
    if abs(u1) < left.dtype.type(math.inf) and abs(v1) < left.dtype.type(math.inf):
        c1, r1 = cell(u1, width), cell(v1, height)
        last = r1 * columns + c1 if c1 >= 0 and r1 >= 0 else np.int32(-1)
        first = np.int32(-1)
        if i > 0:
            u0, v0 = (left.dtype.type(x[line, i - 1]) - left) * across, (left.dtype.type(y[line, i - 1]) - low) * down
            if abs(u0) < left.dtype.type(math.inf) and abs(v0) < left.dtype.type(math.inf):
                c0, r0 = cell(u0, width), cell(v0, height)
                first = r0 * columns + c0 if c0 >= 0 and r0 >= 0 else np.int32(-1)
                if abs(u1 - u0) >= abs(v1 - v0):
                    if u0 != u1:
                        cross(add, counts, part, columns, False, (u0, v0, u1, v1), (width, height), first, last)
                else:
                    cross(add, counts, part, columns, True, (v0, u0, v1, u1), (height, width), first, last)
        if last >= 0 and last != first:
            add(counts, part, last)


@kernel(bounds_check=False)  # pixels are in the picture
def draw_in_parts(item: Item, x: Any, y: Any, frame: Any, counts: Any) -> None:
    """Each item draws a part of the segments in a picture of its own."""
    part, parts = item.get_id(0), counts.shape[0]
    points = x.shape[0] * x.shape[1]
    for k in range(points * part // parts, points * (part + 1) // parts):
        draw(count, counts, part, x, y, frame, k)


@kernel(bounds_check=False)
def draw_by_atomics(item: Item, x: Any, y: Any, frame: Any, counts: Any) -> None:
    """An item for each segment."""
    draw(count_with_others, counts, 0, x, y, frame, item.get_id(0))


def _rows(x: Any, y: Any, op_name: str) -> tuple[Array, Array]:
    """Coordinates as a row for each line."""
    x, y = (canvas.coordinates(v, op_name) for v in operands([x, y], op_name))
    for v, name in ((x, "x"), (y, "y")):
        if v.ndim not in (1, 2):
            raise ValueError(
                f"{op_name}: {name} has the shape {v.shape}; there is one dimension for one line, or a row for each of several"
            )
    if x.shape[-1] != y.shape[-1] or (x.ndim == y.ndim == 2 and x.shape[0] != y.shape[0]):
        raise ValueError(f"{op_name}: x has the shape {x.shape} and y {y.shape}; lines have as many of each")
    shape = [max(v.shape[0] if v.ndim == 2 else 0 for v in (x, y)) if max(x.ndim, y.ndim) == 2 else 1, x.shape[-1]]
    return _core._broadcast_to(x, shape), _core._broadcast_to(y, shape)


@public
def lines(x: Any, y: Any, shape: tuple[int, int] = (512, 512), *, range: Any = None) -> Array:
    """Count the segments of lines that cross each pixel of a picture.

    Parameters
    ----------
    x, y : Array
        The coordinates of the points of a line, real, or of several lines, a row for each; one of them may have one dimension and belong to
        all lines, and may be a list or a NumPy array.
    shape : pair of int
        Rows and columns of the picture.
    range : pair of pairs, optional
        What the picture shows: ``((left, right), (low, high))``. Default: `limits`, which waits for the points.

    Returns
    -------
    Array
        Counts, int64, of this shape; row 0 has the lowest `y`, as ``imshow(origin='lower')`` shows it.

    Raises
    ------
    TypeError
        Neither `x` nor `y` is an Array, or coordinates are complex; `shape` or `range` is none.
    ValueError
        Shapes do not fit, or `range` does not rise or is not finite.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    density, limits, pardo.show

    Notes
    -----
    A segment counts once in the pixel of its end, and in those where it passes the middle of a column (or of a row, if it is steeper than
    the diagonal of a pixel); the pixel of its start belongs to the segment before, or counts once as the start of the line. A line that
    comes back to a pixel counts there again. A point that is NaN or infinite ends a line, and the next one starts another; what is outside
    of the range is cut off, and changes nothing inside. Computed in float64, or float32 on devices without it. The counts are the same on
    every device.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.plot.lines(pp.asarray([0.0, 4.0]), [0.0, 2.0], (2, 4), range=((0, 4), (0, 2)))
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]])
    """
    op_name = "lines"
    x, y = _rows(x, y, op_name)
    shape = canvas.shape_of(shape, op_name)
    (left, right), (low, high) = canvas.range_of(range, x, y, op_name)
    real = default_on(x.queue, np.float64).type
    frame = tuple(map(real, (left, low, shape[1] / (right - left), shape[0] / (high - low), shape[1], shape[0])))
    if not all(map(np.isfinite, frame)):
        raise ValueError(f"{op_name}: numbers from {left} to {right} and from {low} to {high} cannot be told apart in {shape} pixels")
    pixels = shape[0] * shape[1]
    parts = canvas.parts_of(x.device, x.size, pixels, 64)
    counts: Array = _core._full([max(parts, 1), pixels], 0, np.int32, x.queue)
    if x.size:
        draws: Callable[..., Any] = draw_in_parts if parts else draw_by_atomics
        draws[Range(parts or x.size)](x, y, frame, counts)  # type: ignore[index]
    total = _core._reduce(_core._SUM, counts, [0], False, np.int64) if parts > 1 else cast(counts, np.int64)
    return _core._reshape(total, list(shape))
