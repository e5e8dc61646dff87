# python/pardo/_filters/interpolation.py: the values of splines between the elements of an array, by kernels for any number of axes.
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._filters import windows
from pardo._filters.stencils import plain, written
from pardo._filters.windows import CONSTANT, MIRROR, NEAREST, REFLECT, WRAP, continued
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item, Range, private_array

GRID_WRAP, GRID_CONSTANT = 5, 6  # the other modes are those of windows, but WRAP has one element less, and CONSTANT ends sharply
MODES = {
    "reflect": REFLECT, "grid-mirror": REFLECT, "constant": CONSTANT, "grid-constant": GRID_CONSTANT, "nearest": NEAREST,
    "mirror": MIRROR, "wrap": WRAP, "grid-wrap": GRID_WRAP,
}  # fmt: skip
# How the coefficients go on beyond the edges.
BEYOND = {
    NEAREST: NEAREST, REFLECT: REFLECT, MIRROR: MIRROR, WRAP: MIRROR, CONSTANT: MIRROR, GRID_WRAP: WRAP, GRID_CONSTANT: CONSTANT,
}  # fmt: skip


def mapped(c: Any, n: Any, mode: Any) -> Any:
    """A coordinate inside of an axis in place of one outside, as SciPy finds it; less than -1 for the constant, and so for NaN."""
    last = n - 1.0
    if mode == GRID_CONSTANT or mode == NEAREST:  # noqa: SIM109 (kernels have no `in`); the elements go on, and coordinates need not
        return c
    if not (0 <= c <= last):
        if mode == CONSTANT or c != c:
            return c * 0 - 2.0
        if n <= 1:
            return c * 0
        if mode == WRAP:
            return c + last * (np.trunc(-c / last) + 1) if c < 0 else c - last * np.trunc(c / last)
        if mode == GRID_WRAP:
            return c + n * (np.trunc((-1 - c) / n) + 1) if c < 0 else c - n * np.trunc(c / n)
        period = 2 * last if mode == MIRROR else 2.0 * n
        turn = 0.0 if mode == MIRROR else 1.0
        if c < 0:
            c = -c - turn
        c = c - period * np.floor(c / period)
        return period - c - turn if c >= n - 1 + turn else c
    return c


def fill_weights_0(c: Any, w: Any) -> Any:
    w[0] = c * 0 + 1
    return np.floor(c + 0.5)


def fill_weights_1(c: Any, w: Any) -> Any:
    start = np.floor(c)
    w[0] = 1 - (c - start)
    w[1] = c - start
    return start


def fill_weights_2(c: Any, w: Any) -> Any:
    start = np.floor(c + 0.5)
    u = c - start
    y = 0.5 - u
    w[0] = 0.5 * y * y
    w[1] = 0.75 - u * u
    w[2] = 1 - w[0] - w[1]
    return start - 1


def fill_weights_3(c: Any, w: Any) -> Any:
    start = np.floor(c)
    u = c - start
    v = 1 - u
    w[0] = v * v * v / 6
    w[1] = (u * u * (u - 2) * 3 + 4) / 6
    w[2] = (v * v * (v - 2) * 3 + 4) / 6
    w[3] = 1 - w[0] - w[1] - w[2]
    return start - 1


def inner_4(y: Any) -> Any:
    return y * (y * (y * (5 - y) / 6 - 1.25) + 5.0 / 24.0) + 55.0 / 96.0


def fill_weights_4(c: Any, w: Any) -> Any:
    start = np.floor(c + 0.5)
    u = c - start
    t = u * u
    y = (0.5 - u) * (0.5 - u)
    w[0] = y * y / 24
    w[1] = inner_4(1 + u)
    w[2] = t * (t * 0.25 - 0.625) + 115.0 / 192.0
    w[3] = inner_4(1 - u)
    w[4] = 1 - w[0] - w[1] - w[2] - w[3]
    return start - 2


def middle_5(y: Any) -> Any:
    t = y * y
    return t * (t * (0.25 - y / 12) - 0.5) + 0.55


def inner_5(y: Any) -> Any:
    return y * (y * (y * (y * (y / 24 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425


def fill_weights_5(c: Any, w: Any) -> Any:
    start = np.floor(c)
    u = c - start
    v = 1 - u
    t = v * v
    w[0] = v * t * t / 120
    w[1] = inner_5(1 + u)
    w[2] = middle_5(u)
    w[3] = middle_5(v)
    w[4] = inner_5(1 + v)
    w[5] = 1 - w[0] - w[1] - w[2] - w[3] - w[4]
    return start - 2


WEIGHTS = (fill_weights_0, fill_weights_1, fill_weights_2, fill_weights_3, fill_weights_4, fill_weights_5)


@functools.cache
def spline_of(order: int, axes: int, mode: int, real: str) -> Callable[..., Any]:
    """The value of a spline at coordinates: loops over the elements around, one in the other, written out for so many axes."""
    count = order + 1
    lines = ["def written(x, base, at, extents, strides, cval, wide):"]
    inside = []
    for d in range(axes):
        lines += [
            f"    c{d} = mapped(at[{d}], extents[{d}], MODE)",
            f"    w{d}, o{d} = private_array({count}, np.{real}), private_array({count}, np.int64)",
            f"    start = fill_weights(c{d}, w{d}).astype(np.int64)",
            f"    for k in range({count}):",
            f"        j = continued(start + k, extents[{d}], BEYOND)",
            f"        o{d}[k] = j * strides[{d}] if j >= 0 else -1",
        ]
        inside.append(f"c{d} > -1")
    lines.append(f"    inside = {'True' if mode in (GRID_CONSTANT, NEAREST) else ' and '.join(inside)}")
    lines.append("    total = cval")
    lines += ["    if inside:", "        total = cval * 0"]
    pad = "        "
    for d in range(axes):
        lines.append(f"{pad}for k{d} in range({count}):")
        pad += "    "
    places = " + ".join(f"plain(o{d}[k{d}])" for d in range(axes))
    if mode == GRID_CONSTANT:  # what lies beyond has a place of -1
        lines.append(f"{pad}value = cval")
        lines.append(f"{pad}if {' and '.join(f'o{d}[k{d}] >= 0' for d in range(axes))}:")
        lines.append(f"{pad}    value = wide(x[base + {places}])")
    else:
        lines.append(f"{pad}value = wide(x[base + {places}])")
    lines.append(f"{pad}total += value * " + " * ".join(f"w{d}[k{d}]" for d in range(axes)))
    lines.append("    return total")
    used = {"mapped": mapped, "fill_weights": WEIGHTS[order], "continued": continued, "private_array": private_array, "np": np}
    return written(f"spline of order {order} over {axes} axes in {real}, mode {mode}", lines, **used, MODE=mode, BEYOND=BEYOND[mode])


def listed(coordinates: Any, k: Any, index: Any, real: Any, moved: Any) -> Any:
    """Coordinates that an array has, for each axis one after the other."""
    at: tuple[Any, ...] = ()
    values, places = coordinates
    for place in places:
        at = (*at, real(values[plain(place) + k]) + moved)
    return at


def affine(coordinates: Any, k: Any, index: Any, real: Any, moved: Any) -> Any:
    """The coordinates ``matrix @ index + offset``."""
    at: tuple[Any, ...] = ()
    for row, offset in coordinates:
        value = real(0)
        for factor, i in zip(row, index, strict=False):
            value += real(i) * factor
        at = (*at, value + offset + moved)
    return at


def scaled(coordinates: Any, k: Any, index: Any, real: Any, moved: Any) -> Any:
    """For each axis a shift, a factor and another shift."""
    at: tuple[Any, ...] = ()
    for (before, factor, after), i in zip(coordinates, index, strict=False):
        at = (*at, (real(i) + before) * factor + after + moved)
    return at


@kernel(bounds_check=False)  # `continued` gives indices of the axes
def interpolate(
    item: Item,
    spline: Any,
    place: Any,
    store: Any,
    x: Any,
    axes: Any,
    coordinates: Any,
    moved: Any,
    cval: Any,
    real: Any,
    wide: Any,
    limits: Any,
    shape: Any,
    out: Any,
) -> None:
    """Items are an outer index, a row and a column. The extents of the result's other axes are `lead` of `shape`, the last first; what
    is left of the outer index is the number of an array. `axes` has extents and strides."""
    lead, rows, columns, size, row_wise = shape
    rest, row, column = item.get_id(0), item.get_id(1), item.get_id(2)
    k = (rest * plain(rows) + row) * plain(columns) + column
    index: tuple[Any, ...] = (column,)
    if len(row_wise) > 0:
        index = (row, column)
        for extent in lead:
            index = (rest % extent, *index)
            rest = rest // extent
    at = place(coordinates, k, index, real, moved)
    value = spline(x, rest * plain(size), at, axes[0], axes[1], cval, wide)
    out[k] = store(value, out.dtype, limits)


def as_float(value: Any, dtype: Any, limits: Any) -> Any:
    return value.astype(dtype)


def as_bool(value: Any, dtype: Any, limits: Any) -> Any:
    return value.astype(np.int64) != 0


def rounded(value: Any, dtype: Any, limits: Any) -> Any:
    """Half away from zero, and inside of what the dtype can hold; NaN as 0."""
    low, high = limits
    value = value + 0.5 if value > 0 else value - 0.5
    value = high if value > high else value
    value = value if value > low else low
    return value.astype(dtype)


def sample(
    x: Array, out: Array, order: int, mode: int, cval: Any, place: Callable[..., Any], coordinates: Any, moved: int, wide: np.dtype[Any]
) -> None:
    """Stores in `out` the values at coordinates of splines with these coefficients, which begin `moved` elements before.

    The first axis of both arrays counts splines.
    """
    if out.size == 0:
        return
    real = wide if kind_of(wide) == "f" else np.dtype(np.float64 if wide == np.complex128 else np.float32)
    dtype = out.dtype
    store = {"f": as_float, "c": as_float, "b": as_bool}.get(kind_of(dtype), rounded)
    flat, target = (_core._reshape(a, [a.size]) for a in (x, out))
    axes = tuple(x.shape[1:]), tuple(windows.row_major(x.shape[1:]))
    rows, columns = (1, *out.shape[1:])[-2:]
    lead = tuple(out.shape[-3:0:-1])
    shape = lead, rows, columns, math.prod(x.shape[1:]), () if out.ndim == 2 else (1,)
    spline = spline_of(order, x.ndim - 1, mode, real.name)
    interpolate[Range(out.size // (rows * columns), rows, columns), x.queue](
        spline, place, store, flat, axes, coordinates, float(moved), wide.type(cval), real.type, wide.type,
        _limits(dtype, real), shape, target,
    )  # fmt: skip


def _limits(dtype: np.dtype[Any], real: np.dtype[Any]) -> Any:
    """The least and the greatest number of a dtype of integers that the other dtype has, too."""
    if kind_of(dtype) not in "iu":
        return ()
    info = np.iinfo(dtype)
    high = real.type(info.max)
    if float(high) > info.max:
        high = np.nextafter(high, real.type(0))
    return real.type(info.min), high
