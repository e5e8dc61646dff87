# python/pardo/_sharding/array.py: ShardedArray: the parts of one array on several devices.
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pardo._core import Array
from pardo._sharding.device import ShardedDevice
from pardo._sharding.functions import call
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout


class ShardedArray:
    """One array whose parts are on several devices; `shard` makes it."""

    __slots__ = ("__weakref__", "_device", "_dtype", "_group", "_layout", "_parts")
    _group: Group
    _layout: Layout
    _parts: dict[int, Array]
    _dtype: np.dtype[Any]
    _device: ShardedDevice | None

    def __new__(cls, *args: Any, **kwargs: Any) -> ShardedArray:
        raise TypeError("ShardedArray: use pardo.shard(x, devices, axis=0)")

    # --- what it is ---------------------------------------------------------------------------------------------------------------

    @property
    def group(self) -> Group:
        return self._group

    @property
    def layout(self) -> Layout:
        """Axis and bounds of the split."""
        return self._layout

    @property
    def shape(self) -> tuple[int, ...]:
        return self._layout.shape

    @property
    def axis(self) -> int | None:
        """The axis that is split; None where each device has the whole array."""
        return self._layout.axis

    @property
    def bounds(self) -> tuple[int, ...]:
        return self._layout.bounds

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def ndim(self) -> int:
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        return math.prod(self._layout.shape)

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self._dtype.itemsize

    @property
    def device(self) -> ShardedDevice:
        if self._device is None:
            self._device = ShardedDevice(self._group)
        return self._device

    @property
    def devices(self) -> tuple[Any, ...]:
        return self._group.keys

    @property
    def shards(self) -> tuple[Array, ...]:
        """The parts of this process, in their order: plain arrays."""
        return tuple(self._parts.values())


def sharded(group: Group, layout: Layout, parts: Mapping[int, Array]) -> ShardedArray:
    """The array of these parts: `parts` has those that the group owns, of the shapes of the layout, on the group's queues."""
    made = object.__new__(ShardedArray)
    made._group, made._layout, made._device = group, layout, None
    made._parts = parts if type(parts) is dict else dict(parts)
    made._dtype = made._parts[group.owned[0]].dtype
    return made


def replicated(group: Group, parts: Mapping[int, Array]) -> ShardedArray:
    """An array that each part has whole, as `all_reduce` and `broadcast` of a group give it."""
    return sharded(group, Layout(parts[group.owned[0]].shape, None, (), group.keys), parts)
