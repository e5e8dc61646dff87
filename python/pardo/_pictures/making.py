# python/pardo/_pictures/making.py: an array as pixels of a picture, all of it on the array's device.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._analysis.quantiles import nanpercentile
from pardo._array.interop import asnumpy
from pardo._base.arguments import array, default_on
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions.operands import cast, element, to_queue
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Const, Item, Range
from pardo._pictures.colours import LEVELS, NONE, palette_of
from pardo._pictures.png import encoded

NORMS = ("linear", "log", "centered")
LAST = LEVELS - 1
PIECE = 4096  # elements of a row that are summed before they are added to others


# --- kernels ----------------------------------------------------------------------------------------------------------------------------


def added(total: Any, lost: Any, value: Any) -> Any:
    """A sum with one more number, and what rounding it has added: W. Kahan, "Further Remarks on Reducing Truncation Errors", 1965. Without
    that, float32 stays what it is after 2**24 additions of 1."""
    term = value - lost
    both = total + term
    rounded = (both - total) - term
    return both, rounded if abs(rounded) < total.dtype.type(math.inf) else total.dtype.type(0)


def elements_of(pixel: Any, pixels: Any, elements: Any, nearest: Any) -> Any:
    """Which of the elements of a row or column lie in one of its pixels: from the first to the last; `nearest`: the one in the middle."""
    first = (2 * pixel + 1) * elements // (2 * pixels) if nearest else pixel * elements // pixels
    return first, first + 1 if nearest else max((pixel + 1) * elements // pixels, first + 1)


@kernel(bounds_check=False)  # blocks are within their array
def block_means(item: Item, x: Any, corner: Any, whole: Any, shown: Any, out: Any, counts: Any, nearest: Const[int]) -> None:
    """The mean of the elements that lie in a pixel, NaN left out, and how many they are, if `counts` is an array.

    `whole`: the shape of the array that `x` is a part of, from the element `corner` on; `shown`: the shape of the picture, and the first
    pixel of `out`. Sums are those of differences to the first value, so that the mean of equal values is that value.
    """
    height, width, top, left = shown
    i, j = item.get_id(0) + top, item.get_id(1) + left
    first_row, last_row = elements_of(i, height, whole[0], nearest)
    first_column, last_column = elements_of(j, width, whole[1], nearest)
    first_row, first_column = max(first_row - corner[0], 0), max(first_column - corner[1], 0)
    last_row, last_column = min(last_row - corner[0], x.shape[0]), min(last_column - corner[1], x.shape[1])
    none = out.dtype.type(0)
    base, total, lost, first = none, none, none, True
    count = np.int64(0)
    for r in range(first_row, last_row):
        for begin in range(first_column, last_column, PIECE):
            part, found = none, none
            for c in range(begin, min(begin + PIECE, last_column)):
                value = out.dtype.type(x[r, c])
                if value == value:
                    if first:
                        base = value if abs(value) < out.dtype.type(math.inf) else none
                        first = False
                    part += value - base
                    found += out.dtype.type(1)
            total, lost = added(total, lost, part)
            count += np.int64(found)
    out[item.get_id(0), item.get_id(1)] = base + total / out.dtype.type(count) if count > 0 else out.dtype.type(math.nan)
    if counts.ndim == 2:
        counts[item.get_id(0), item.get_id(1)] = out.dtype.type(count)


@kernel(bounds_check=False)  # as above
def block_colours(item: Item, x: Any, unit: Any, bad: Any, out: Any, nearest: Const[int]) -> None:
    """The same for colours: means of red, green and blue, each weighted by its opacity where there is one; pixels with NaN are left out."""
    i, j = item.get_id(0), item.get_id(1)
    height, width = out.shape[0], out.shape[1]
    first_row, last_row = elements_of(i, height, x.shape[0], nearest)
    first_column, last_column = elements_of(j, width, x.shape[1], nearest)
    zero, one, most = np.float32(0), np.float32(1), np.float32(255)
    red, green, blue, opacity = zero, zero, zero, zero
    red_lost, green_lost, blue_lost, opacity_lost = zero, zero, zero, zero
    count = np.int64(0)
    for r in range(first_row, last_row):
        for begin in range(first_column, last_column, PIECE):
            reds, greens, blues, opacities, found = zero, zero, zero, zero, zero
            for c in range(begin, min(begin + PIECE, last_column)):
                a = min(max(np.float32(x[r, c, 3]) * unit, zero), most) / most if x.shape[2] == 4 else one
                u, v, w = np.float32(x[r, c, 0]) * unit, np.float32(x[r, c, 1]) * unit, np.float32(x[r, c, 2]) * unit
                if (
                    u == u
                    and v == v
                    and w == w
                    and (x.shape[2] < 4 or np.float32(x[r, c, x.shape[2] - 1]) == np.float32(x[r, c, x.shape[2] - 1]))
                ):
                    reds += a * min(max(u, zero), most)
                    greens += a * min(max(v, zero), most)
                    blues += a * min(max(w, zero), most)
                    opacities += a
                    found += one
            red, red_lost = added(red, red_lost, reds)
            green, green_lost = added(green, green_lost, greens)
            blue, blue_lost = added(blue, blue_lost, blues)
            opacity, opacity_lost = added(opacity, opacity_lost, opacities)
            count += np.int64(found)
    scale = one / opacity if opacity > zero else zero
    half = np.float32(0.5)
    out[i, j, 0] = np.uint8(red * scale + half) if count > 0 else np.uint8(bad[0])
    out[i, j, 1] = np.uint8(green * scale + half) if count > 0 else np.uint8(bad[1])
    out[i, j, 2] = np.uint8(blue * scale + half) if count > 0 else np.uint8(bad[2])
    if out.shape[2] == 4:
        out[i, j, 3] = np.uint8(opacity / np.float32(count) * most + half) if count > 0 else np.uint8(bad[3])


@kernel(bounds_check=False)
def find_levels(item: Item, values: Any, limits: Any, out: Any, logarithmic: Const[int]) -> None:
    """The level of each value between two limits; NONE for NaN, and for what has no logarithm."""
    i, j = item.get_id(0), item.get_id(1)
    low, high, half = limits[0], limits[1], limits.dtype.type(0.5)
    value = limits.dtype.type(values[i, j])
    level = np.int32(NONE)
    if logarithmic:
        value = math.log(value) if value > limits.dtype.type(0) else limits.dtype.type(math.nan)
    if value == value:
        level = np.int32(0)
        if value > low:
            level = np.int32(LAST)
            if value < high:  # halves, whose difference does not overflow
                step = limits.dtype.type(LEVELS) / (high * half - low * half)
                level = np.int32(min((value * half - low * half) * step, limits.dtype.type(LAST)))
    out[i, j] = np.uint8(level)


@kernel(bounds_check=False)
def look_up(item: Item, levels: Any, palette: Any, out: Any) -> None:
    """The colours of levels."""
    i, j = item.get_id(0), item.get_id(1)
    k = np.int32(levels[i, j])
    for c in range(4):
        out[i, j, c] = palette[k, c]


# --- arguments --------------------------------------------------------------------------------------------------------------------------


class Style(NamedTuple):
    """How values become pixels."""

    palette: NDArray[np.uint8]
    vmin: float | None
    vmax: float | None
    percentiles: tuple[float, float] | None
    norm: str
    lower: bool
    nearest: bool
    given: tuple[str, ...]  # those that have no meaning for colours


def style_of(
    op_name: str,
    *,
    cmap: Any = None,
    vmin: Any = None,
    vmax: Any = None,
    percentiles: Any = None,
    norm: Any = "linear",
    origin: Any = "upper",
    interpolation: Any = "auto",
    bad: Any = None,
) -> Style:
    """Reads what the caller said."""
    if norm not in NORMS:
        raise ValueError(f"{op_name}: norm is one of {', '.join(map(repr, NORMS))}, not {norm!r}")
    if origin not in ("upper", "lower"):
        raise ValueError(f"{op_name}: origin is 'upper' or 'lower', not {origin!r}")
    if interpolation not in ("auto", "nearest"):
        raise ValueError(
            f"{op_name}: interpolation is 'auto' (means of the elements in a pixel) or 'nearest', not {interpolation!r}; "
            "matplotlib's imshow has others"
        )
    given = [name for name, value in (("cmap", cmap), ("vmin", vmin), ("vmax", vmax), ("percentiles", percentiles)) if value is not None]
    low, high = (None if v is None else _limit(v, name, op_name) for v, name in ((vmin, "vmin"), (vmax, "vmax")))
    if low is not None and high is not None and low > high:
        raise ValueError(f"{op_name}: vmin is {low:g} and vmax {high:g}; vmin must be at most vmax")
    if norm == "log" and any(limit is not None and limit <= 0 for limit in (low, high)):
        raise ValueError(f"{op_name}: with norm='log' vmin and vmax must be positive")
    if percentiles is not None and low is not None and high is not None:
        raise ValueError(f"{op_name}: percentiles find limits that are not given, but both vmin and vmax are")
    return Style(
        palette_of("viridis" if cmap is None else cmap, bad, op_name),
        low,
        high,
        None if percentiles is None else _pair(percentiles, op_name),
        norm,
        origin == "lower",
        interpolation == "nearest",
        (*given, "norm") if norm != "linear" else tuple(given),
    )


def _limit(value: Any, name: str, op_name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{op_name}: {name} is a number, not {type(value).__name__}") from None
    if not math.isfinite(number):
        raise ValueError(f"{op_name}: {name} is {number}; it must be finite")
    return number


def _pair(percentiles: Any, op_name: str) -> tuple[float, float]:
    try:
        low, high = map(float, percentiles)
    except (TypeError, ValueError):
        raise TypeError(f"{op_name}: percentiles is a pair of numbers, as (1, 99), not {percentiles!r}") from None
    if not 0 <= low <= high <= 100:
        raise ValueError(f"{op_name}: percentiles is {percentiles!r}; they rise, and are from 0 to 100")
    return low, high


def _pixels(number: Any) -> int:
    if isinstance(number, (bool, np.bool_)):
        raise TypeError
    return int(number.__index__())


def size_of(size: Any, shape: Sequence[int], op_name: str) -> tuple[int, int]:
    """Rows and columns of the picture: as given, or so many along the longer side, or one for each element."""
    height, width = shape[:2]
    if size is None:
        return height, width
    try:
        if isinstance(size, Sequence) or getattr(size, "ndim", 0) == 1:
            rows, columns = (_pixels(n) for n in size)
        else:
            longest = _pixels(size)
            most = max(height, width, 1)
            rows, columns = (max(1, round(n * longest / most)) for n in (height, width))
            if longest < 1:
                rows = longest
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"{op_name}: size is a number of pixels, of the longer side, or a pair (rows, columns), not {size!r}") from None
    if rows < 1 or columns < 1:
        raise ValueError(f"{op_name}: size is {size!r}; there must be at least one pixel")
    return rows, columns


def picture_of(x: Any, op_name: str) -> Any:
    """The array, of two dimensions, or of three and colours along the last."""
    if not isinstance(x, Split):
        x = array(x, op_name)
    shape = x.shape
    if kind_of(x.dtype) == "c":
        raise TypeError(f"{op_name}: complex values have no order: take abs(x), pardo.angle(x), x.real or x.imag")
    if len(shape) == 3 and shape[2] == 1 and type(x) is Array:
        x, shape = x[:, :, 0], shape[:2]
    if len(shape) == 3 and shape[2] in (3, 4):
        if x.dtype == np.bool_:
            raise TypeError(f"{op_name}: colours are floats from 0 to 1 or integers from 0 to 255, not bools; x * 1.0 has these")
        return x
    if len(shape) != 2:
        one = "x[None, :] is one of a row" if len(shape) == 1 else "x[k] is one of them" if len(shape) == 3 else "take a part or reshape it"
        raise ValueError(f"{op_name}: a picture has the shape (rows, columns), or (rows, columns, 3 or 4) for colours, not {shape}; {one}")
    return x


# --- pixels -----------------------------------------------------------------------------------------------------------------------------


class Split:
    """What is shown as an array, and makes the means of its pixels by itself."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype

    def reduced(self, size: tuple[int, int], nearest: bool) -> Array:
        """A value for each pixel."""
        raise NotImplementedError


def working_of(x: Any, queue: Any) -> np.dtype[Any]:
    """What means and levels are computed in."""
    small = x.dtype == np.bool_ or x.dtype.itemsize <= 2 or x.dtype == np.float32
    return np.dtype(np.float32) if small else default_on(queue, np.float64)


def reduced(x: Array, size: tuple[int, int], nearest: bool) -> Array:
    """A value for each pixel."""
    if x.shape == size:
        return x
    out: Array = _core._empty(list(size), working_of(x, x.queue), x.queue)
    block_means[Range(*size)](x, (0, 0), x.shape, (*size, 0, 0), out, 0, int(nearest))
    return out


def _limits(values: Array, style: Style, real: np.dtype[Any]) -> Array:
    """The two ends, on the device: nothing is waited for."""

    def number(value: float) -> Array:
        return _core._full([], value, real, values.queue)

    low, high = style.vmin, style.vmax
    if style.norm == "centered" and not low is high is None:
        high = max(abs(v) for v in (low, high) if v is not None)
        low = -high
    ends = [None if v is None else number(v) for v in (low, high)]
    if None in (low, high):
        v = cast(values, real)
        usable = _core.isfinite(v)
        if style.norm == "log":
            usable = _core.logical_and(usable, v > 0)
        if style.percentiles is not None:
            pair = nanpercentile(_core._where(usable, v, number(math.nan)), style.percentiles)
            found = [element(pair, 0), element(pair, 1)]
        else:
            found = [
                _core._reduce(op, _core._where(usable, v, number(none)), None, False)
                for op, none in ((_core._MIN, math.inf), (_core._MAX, -math.inf))
            ]
        if style.norm == "centered":
            far = _core.maximum(_core.absolute(found[0]), _core.absolute(found[1]))
            found = [_core.negative(far), far]
        ends = [f if end is None else end for f, end in zip(found, ends, strict=True)]
    limits: Array = _core._stack([cast(end, real) for end in ends if end is not None], 0)
    return _core.log(limits) if style.norm == "log" else limits


def levels_of(x: Any, size: tuple[int, int], style: Style, out: Array | None = None) -> Array:
    """A number of the palette for each pixel, uint8, also in memory that is given, of the same queue if that is known."""
    values = x.reduced(size, style.nearest) if isinstance(x, Split) else reduced(x, size, style.nearest)
    if x.dtype == np.bool_ and style.norm == "linear" and style.percentiles is None:  # shares of what is true
        style = style._replace(vmin=0.0 if style.vmin is None else style.vmin, vmax=1.0 if style.vmax is None else style.vmax)
    levels: Array = _core._empty(list(size), np.uint8, values.queue) if out is None or out.queue != values.queue else out
    if values.size:
        limits = _limits(values, style, working_of(values, values.queue))
        find_levels[Range(*size)](_core._flip(values, [0]) if style.lower else values, limits, levels, int(style.norm == "log"))
    if out is not None and out is not levels:
        out[...] = levels.to_queue(out.queue)
        return out
    return levels


def colours_of(x: Array, size: tuple[int, int], style: Style, op_name: str, channels: int | None = None, out: Array | None = None) -> Array:
    """The colours of an array that has them, uint8: 4 channels where some may be missing, or as many as are said or memory is given for."""
    if style.given:
        raise ValueError(f"{op_name}: the array has colours already, of shape {x.shape}: {', '.join(style.given)} has no meaning for it")
    is_float = x._kind == "f"
    channels = channels or (4 if is_float else x.shape[2])
    if out is None:
        out = _core._empty([*size, channels], np.uint8, x.queue)
    if out.size:
        bad = tuple(int(c) for c in style.palette[NONE])
        seen = _core._flip(x, [0]) if style.lower else x
        block_colours[Range(*size)](seen, np.float32(255 if is_float else 1), bad, out, int(style.nearest))
    return out


def pixels_of(x: Any, *, size: Any = None, op_name: str = "pixels", **look: Any) -> Array:
    """Red, green, blue and opacity of each pixel, uint8, on the array's device: see `pardo.plot.pixels`. `look`: as `style_of` takes it."""
    style = style_of(op_name, **look)
    x = picture_of(x, op_name)
    shown = size_of(size, x.shape, op_name)
    _check_elements(x, shown, op_name)
    if len(x.shape) == 3:
        return colours_of(x, shown, style, op_name, 4)
    levels = levels_of(x, shown, style)
    out: Array = _core._empty([*shown, 4], np.uint8, levels.queue)
    if out.size:
        look_up[Range(*shown)](levels, to_queue(style.palette, levels.queue), out)
    return out


def png_of(x: Any, *, size: Any = None, op_name: str = "show", **look: Any) -> bytes:
    """The same as a file: what goes to the host is one byte for each pixel, 3 or 4 for arrays of colours."""
    style = style_of(op_name, **look)
    x = picture_of(x, op_name)
    if 0 in x.shape:
        raise ValueError(f"{op_name}: an array of shape {x.shape} has no pixels")
    shown = size_of(size, x.shape, op_name)
    if len(x.shape) == 3:
        return encoded(asnumpy(colours_of(x, shown, style, op_name)))
    return encoded(asnumpy(levels_of(x, shown, style)), style.palette)


def _check_elements(x: Any, shown: tuple[int, int], op_name: str) -> None:
    if 0 in x.shape and 0 not in shown:
        raise ValueError(f"{op_name}: an array of shape {x.shape} has no elements for pixels")
