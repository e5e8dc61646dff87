# python/pardo/_sharding/pictures.py: pictures of arrays over several devices.
from __future__ import annotations

import math
from typing import Any

from pardo import _core
from pardo._core import Array
from pardo._language.index_space import Range
from pardo._pictures import making, pixels, showing
from pardo._sharding.array import ShardedArray
from pardo._sharding.functions import implements

HOW = "each device makes the pixels that its part touches, which are gathered"


class _Parts(making.Split):
    """An array of two dimensions over several devices."""

    def __init__(self, x: ShardedArray, op_name: str) -> None:
        if x.ndim == 3:
            raise TypeError(f"{op_name}: arrays of three dimensions are not shown part by part; gather it on one device: s.to_device(d)")
        if len(x._parts) < len(x._group.keys):
            raise TypeError(f"{op_name}: parts of the array are in other processes; gather it on one device: s.to_device(d)")
        super().__init__(x.shape, x.dtype)
        self.array = x

    def reduced(self, size: tuple[int, int], nearest: bool) -> Array:
        axis, parts = self.array.axis, self.array.shards
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


@implements("show", splits=HOW)
def show(x: ShardedArray, /, **keywords: Any) -> None:
    showing.show(_Parts(x, "show"), **keywords)


@implements("plot.pixels", splits=HOW)
def pixels_of(x: ShardedArray, /, **keywords: Any) -> Array:
    return pixels.pixels(_Parts(x, "pixels"), **keywords)
