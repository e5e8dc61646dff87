# python/pardo/_pictures/points.py: points counted in the pixels of a picture.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._analysis.counting import bin_of, counted, formula_of
from pardo._array.contexts import public
from pardo._base.arguments import default_on
from pardo._core import Array, Device
from pardo._functions.operands import cast, operand, operands
from pardo._kernel.kernel import kernel
from pardo._language.atomics import atomic
from pardo._language.index_space import Item, Range
from pardo._pictures import canvas

__all__ = ["density", "limits"]

HOW = ("count", "sum", "mean")
PIECE = 512  # points whose pixels are found before they are counted


def one(weights: Any, i: Any) -> Any:
    """What a point counts."""
    return 1


def weight(weights: Any, i: Any) -> Any:
    """What a point with a weight counts."""
    return weights[i]


def pixel_of(x: Any, y: Any, columns: Any, rows: Any, told: Any, i: Any) -> Any:
    """The pixel of a point; -1 for one outside, and for NaN."""
    across, down, last_column, last_row = told
    u = x[i]
    v = y[i]  # both are read before one is compared
    column = bin_of(columns, across, last_column, u)
    row = bin_of(rows, down, last_row, v)
    return row * (last_column + np.int32(1)) + column if column >= 0 and row >= 0 else np.int32(-1)


@kernel(bounds_check=False)  # each part has a picture, and a place more for what is outside, and one for what is looked at again
def sum_in_parts(item: Item, x: Any, y: Any, columns: Any, rows: Any, told: Any, value: Any, weights: Any, sums: Any, piece: Any) -> None:
    """For devices whose items go through many elements. Pixels are computed by the lanes of vectors, a piece at a time, and counted one
    after the other; the few points that are so near to an edge that the formula may err are looked at again."""
    part, parts = item.get_id(0), sums.shape[0]
    across, down, last_column, last_row = told
    left, right, across_scale, across_near, across_far = across
    low, high, down_scale, down_near, down_far = down
    width = last_column + np.int32(1)
    outside = width * (last_row + np.int32(1))
    places = np.empty(piece, np.int32)
    end = x.shape[0] * (part + 1) // parts
    for begin in range(x.shape[0] * part // parts, end, piece):
        xs = x[begin : min(begin + piece, end)]
        ys = y[begin : min(begin + piece, end)]
        for j in range(xs.shape[0]):
            u = columns.dtype.type(xs[j])  # an assignment to several names would keep the loop from the lanes
            v = columns.dtype.type(ys[j])
            a = (u - left) * across_scale
            b = (v - low) * down_scale
            column = np.int32(a)
            row = np.int32(b)
            p = a - columns.dtype.type(column)
            q = b - columns.dtype.type(row)
            k = row * width + column
            k = k if (min(p - across_near, across_far - p) >= 0) & (min(q - down_near, down_far - q) >= 0) else outside + np.int32(1)
            places[j] = k if (u >= left) & (u <= right) & (v >= low) & (v <= high) else outside
        again = np.int32(0)
        for j in range(xs.shape[0]):
            k = places[j]
            sums[part, np.uint32(k)] += sums.dtype.type(value(weights, begin + j))
            again = max(again, k)
        if again > outside:
            for j in range(xs.shape[0]):
                if places[j] > outside:
                    k = pixel_of(xs, ys, columns, rows, told, j)
                    if k >= 0:
                        sums[part, np.uint32(k)] += sums.dtype.type(value(weights, begin + j))


@kernel(bounds_check=False)  # pixels are in the picture
def sum_by_atomics(item: Item, x: Any, y: Any, columns: Any, rows: Any, told: Any, value: Any, weights: Any, sums: Any) -> None:
    """An item for each point."""
    i = item.get_id(0)
    k = pixel_of(x, y, columns, rows, told, i)
    if k >= 0:
        atomic.add(sums, np.uint32(k), sums.dtype.type(value(weights, i)))


@kernel
def find_pixels(item: Item, x: Any, y: Any, columns: Any, rows: Any, told: Any, outside: Any, places: Any) -> None:
    """The pixel of each point, or `outside`."""
    i = item.get_id(0)
    k = pixel_of(x, y, columns, rows, told, i)
    places[i] = k if k >= 0 else outside


def adds_64_bits(device: Device) -> bool:
    """Whether it has the atomic additions that sums need."""
    return "atomic64" in device.aspects


class _Points:
    """Points, and the picture that they are in."""

    def __init__(self, x: Array, y: Array, shape: tuple[int, int], range: Any, op_name: str) -> None:
        self.x, self.y, self.shape = x, y, shape
        across, down = canvas.range_of(range, x, y, op_name)
        columns, rows = (canvas.edges_of(ends, n, x, op_name) for ends, n in ((across, shape[1]), (down, shape[0])))
        self.told = (formula_of(columns), formula_of(rows), np.int32(shape[1] - 1), np.int32(shape[0] - 1))
        self.columns, self.rows = canvas.on_queue(columns, x), canvas.on_queue(rows, x)

    def sums(self, weights: Array | None, kind: Any) -> Array:
        """Counts or sums of weights, of that dtype."""
        total: Array | None = None
        for first in range(0, max(self.x.size, 1), canvas.MOST):
            some = slice(first, first + canvas.MOST)
            part = self._sums(self.x[some], self.y[some], None if weights is None else weights[some], kind)
            total = part if total is None else _core.add(total, part)
        assert total is not None
        return total

    def _sums(self, x: Array, y: Array, weights: Array | None, kind: Any) -> Array:
        pixels = self.shape[0] * self.shape[1]
        parts = canvas.parts_of(x.device, x.size, pixels, 4)
        value: Callable[..., Any] = one if weights is None else weight
        given: Any = 0 if weights is None else weights
        narrow = np.dtype(np.int32) if weights is None else np.dtype(kind)
        where = (self.columns, self.rows, self.told)
        if parts:
            room = -(-(pixels + 2) // 16) * 16
            rows: Array = _core._full([parts, room], 0, narrow, x.queue)
            if x.size:
                sum_in_parts[Range(parts)](x, y, *where, value, given, rows, PIECE)
            total = _core._reduce(_core._SUM, rows[:, :pixels], [0], False, kind)
        elif weights is None or adds_64_bits(x.device):
            sums: Array = _core._full([pixels], 0, narrow, x.queue)
            if x.size:
                sum_by_atomics[Range(x.size)](x, y, *where, value, given, sums)
            total = cast(sums, kind)
        else:
            places: Array = _core._empty([x.size], np.int64, x.queue)
            if x.size:
                find_pixels[Range(x.size)](x, y, *where, pixels, places)
            total = counted(places, cast(weights, kind), pixels + 1)[:pixels]
        return _core._reshape(total, list(self.shape))


def _points(x: Any, y: Any, op_name: str) -> tuple[Array, Array]:
    x, y = (canvas.coordinates(v, op_name) for v in operands([x, y], op_name))
    if x.shape != y.shape:
        raise ValueError(f"{op_name}: x has the shape {x.shape} and y {y.shape}; there must be one of each for a point")
    return _core._reshape(x, [-1]), _core._reshape(y, [-1])


@public
def limits(x: Any, y: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Find the range of points: what `density` and `lines` take when none is given.

    Parameters
    ----------
    x, y : Array
        The coordinates of points, real; one may be a list or a NumPy array. They are waited for.

    Returns
    -------
    tuple of tuple of float
        ``((left, right), (low, high))``: the least and the greatest finite number of each, 0 and 1 where there is none.

    Raises
    ------
    TypeError
        Neither is an Array, or coordinates are complex.
    ExecutionPlacementError
        They are on different queues.

    See Also
    --------
    density, lines

    Examples
    --------
    >>> import pardo as pp
    >>> pp.plot.limits(pp.asarray([1.0, pp.nan, 3.0]), [5, 2, 7])
    ((1.0, 3.0), (2.0, 7.0))
    """
    x, y = (canvas.coordinates(v, "limits") for v in operands([x, y], "limits"))
    return canvas.ends_of((x, y))


@public
def density(
    x: Any,
    y: Any,
    shape: tuple[int, int] = (512, 512),
    *,
    range: Any = None,
    weights: Any = None,
    how: str | None = None,
) -> Array:
    """Count the points that lie in each pixel of a picture.

    Parameters
    ----------
    x, y : Array
        The coordinates of points, real, of one shape; one may be a list or a NumPy array.
    shape : pair of int
        Rows and columns of the picture.
    range : pair of pairs, optional
        What the picture shows: ``((left, right), (low, high))``. Default: `limits`, which waits for the points.
    weights : Array, optional
        A number for each point, real. Lists and NumPy arrays are taken too.
    how : {'count', 'sum', 'mean'}, optional
        How many points there are, or the sum or the mean of their weights. Default: the sum if there are weights, else the count.

    Returns
    -------
    Array
        Of this shape; row 0 has the lowest `y`, as ``imshow(origin='lower')`` shows it. Counts, and sums of integers and bools, are int64;
        other sums and means are float64, or float32 on devices without float64. The mean of no points is NaN.

    Raises
    ------
    TypeError
        Neither `x` nor `y` is an Array, or values are complex; `shape` or `range` is none.
    ValueError
        Shapes differ, `range` does not rise or is not finite, or `how` does not go with `weights`.
    ExecutionPlacementError
        Arrays are on different queues.

    See Also
    --------
    lines, limits, pardo.histogram2d, pardo.show

    Notes
    -----
    Pixels are the bins of ``numpy.histogram2d(y, x, shape, (range[1], range[0]))``, exactly: each has its lower edge and not its upper
    one, but the last row and column have both, and edges are float64. Points outside, and with NaN, count nowhere; a weight that is NaN
    makes its pixel NaN. On devices without float64 points and edges are float32.

    Counts, and sums of integers, are the same on every device. A processor sums parts of the points by themselves, in their order: sums of
    floats have the same bits each time. Other devices add them in any order, so that last bits may differ from run to run.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.plot.density(pp.asarray([0.1, 0.2, 0.9]), [0.0, 0.1, 1.0], (2, 2), range=((0, 1), (0, 1)))
    array([[2, 0],
           [0, 1]])
    """
    op_name = "density"
    x, y = _points(x, y, op_name)
    shape = canvas.shape_of(shape, op_name)
    if how is None:
        how = "count" if weights is None else "sum"
    if how not in HOW:
        raise ValueError(f"{op_name}: how is one of {', '.join(map(repr, HOW))}, not {how!r}")
    if (how == "count") != (weights is None):
        raise ValueError(f"{op_name}: how={how!r} {'takes no weights' if how == 'count' else 'needs weights'}")
    w: Array | None = None
    if weights is not None:
        w = _core._reshape(operand(weights, x, op_name), [-1])
        if w.shape != x.shape:
            raise ValueError(f"{op_name}: there are {x.size} points and {w.size} weights; there must be one for each")
        w = canvas.coordinates(w, op_name)
    points = _Points(x, y, shape, range, op_name)
    if w is None:
        return points.sums(None, np.int64)
    double = default_on(x.queue, np.float64)
    if how == "sum":
        return points.sums(w, double if w._kind == "f" else np.int64)
    counts = points.sums(None, np.int64)
    mean = _core.divide(points.sums(w, double), cast(counts, double))
    return _core._where(_core.greater(counts, 0), mean, _core._full([], np.nan, double, x.queue))
