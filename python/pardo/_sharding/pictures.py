# python/pardo/_sharding/pictures.py: pictures of arrays over several devices.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import default_on
from pardo._core import Array
from pardo._functions.operands import cast
from pardo._language.index_space import Range
from pardo._live import showing
from pardo._pictures import canvas, making, pixels, points
from pardo._pictures import in_notebooks as small
from pardo._sharding.array import ShardedArray
from pardo._sharding.functions import implements

PIXELS = "each device makes the pixels that its part touches, which are gathered"


class _Parts(making.Split):
    """An array of two dimensions over several devices."""

    def __init__(self, x: ShardedArray, op_name: str, parts: Sequence[Array] | None = None) -> None:
        if x.ndim == 3:
            raise TypeError(f"{op_name}: arrays of three dimensions are not shown part by part; gather it on one device: s.to_device(d)")
        if len(x._parts) < len(x._group.keys):
            raise TypeError(f"{op_name}: parts of the array are in other processes; gather it on one device: s.to_device(d)")
        super().__init__(x.shape, x.dtype)
        self.array, self.parts = x, x.shards if parts is None else parts

    def reduced(self, size: tuple[int, int], nearest: bool) -> Array:
        axis, parts = self.array.axis, self.parts
        home = parts[0].queue
        if axis is None:
            return making.reduced(parts[0], size, nearest)
        mean: Array = _core._full(list(size), math.nan, making.working_of(self, home), home)
        count: Array = _core._full(list(size), 0, mean.dtype, home)
        for k, part in enumerate(parts):
            if not part.size:
                continue
            first, last = self.array.bounds[k], self.array.bounds[k + 1]
            begin, end = first * size[axis] // self.shape[axis], min(-(-last * size[axis] // self.shape[axis]), size[axis])
            corner, origin, shown = [0, 0], [0, 0], list(size)
            corner[axis], origin[axis], shown[axis] = first, begin, end - begin
            here, there = (_core._empty(shown, making.working_of(self, part.queue), part.queue) for _ in range(2))
            making.block_means[Range(*shown)](part, tuple(corner), self.shape, (*size, *origin), here, there, int(nearest))
            value, n = (v if v.queue == home else v.to_queue(home) for v in (here, there))
            rows = (slice(None),) * axis + (slice(begin, end),)
            before, value_before = count[rows], mean[rows]
            share = _core._where(n > 0, n / (before + n), 0)
            both = value_before + (value - value_before) * share  # equal values stay what they are
            mean[rows] = _core._where(n == 0, value_before, _core._where(before == 0, value, both))
            count[rows] = before + n
        return mean


@implements("show", splits=PIXELS)
def show(x: ShardedArray, /, **keywords: Any) -> None:
    showing.show(_Parts(x, "show"), **keywords)


@implements("plot.pixels", splits=PIXELS)
def pixels_of(x: ShardedArray, /, **keywords: Any) -> Array:
    return pixels.pixels(_Parts(x, "pixels"), **keywords)


def in_notebooks(x: ShardedArray) -> str:
    """HTML of a picture of an image of two dimensions whose values have been shown. Only of what is all in this process."""
    if len(x._parts) < len(x._group.keys):
        return ""
    parts = x.shards[:1] if x.axis is None else x.shards
    if any(part.pending for part in parts):  # values of the edges alone have been shown
        return ""
    return small.html_of(parts, lambda found: _Parts(x, "show", found), x.nbytes)


def _parts(*arrays: Any) -> list[tuple[Array, ...]] | None:
    """What each device has of arrays that are split in the same way; None for others."""
    first = arrays[0]
    if not all(isinstance(a, ShardedArray) and a.layout == first.layout and a.device == first.device for a in arrays):
        return None
    if len(first._parts) < len(first._group.keys):
        return None
    parts = list(zip(*(a.shards for a in arrays), strict=True))
    return parts[:1] if first.axis is None else parts


def _added(pictures: list[Array]) -> Array:
    """Their sum, on the device of the first one."""
    total = pictures[0]
    for picture in pictures[1:]:
        total = _core.add(total, picture if picture.queue == total.queue else picture.to_queue(total.queue))
    return total


@implements("plot.limits", splits="the least and the greatest of the parts'")
def limits(x: Any, y: Any) -> Any:
    parts = _parts(x, y)
    if parts is None:
        return NotImplemented
    return canvas.ends_of(*((canvas.coordinates(a, "limits"), canvas.coordinates(b, "limits")) for a, b in parts))


@implements("plot.density", splits="the parts' pictures are added")
def density(
    x: Any, y: Any, shape: Any = (512, 512), *, range: Any = None, weights: Any = None, how: str | None = None
) -> Any:  # the arguments of `pardo.plot.density`
    parts = _parts(x, y) if weights is None else _parts(x, y, weights)
    if parts is None:
        return NotImplemented
    if range is None:
        range = limits(x, y)
    if how != "mean" or weights is None:
        return _added([points.density(a, b, shape, range=range, weights=w[0] if w else None, how=how) for a, b, *w in parts])
    doubles = [cast(canvas.coordinates(w, "density"), default_on(w.queue, np.float64)) for _, _, w in parts]
    sums = _added([points.density(a, b, shape, range=range, weights=w) for (a, b, _), w in zip(parts, doubles, strict=True)])
    counts = _added([points.density(a, b, shape, range=range) for a, b, _ in parts])
    return _core._where(_core.greater(counts, 0), _core.divide(sums, cast(counts, sums.dtype)), math.nan)
