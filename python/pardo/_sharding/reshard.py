# python/pardo/_sharding/reshard.py: arrays at other bounds, along another axis, over other devices, and gathered on one.
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo._array.interop import asnumpy as plain_asnumpy
from pardo._base.arguments import HOST, axis_index, device_of
from pardo._core import Array, Queue, _empty
from pardo._sharding.array import ShardedArray, mapped, sharded
from pardo._sharding.device import ShardedDevice
from pardo._sharding.functions import implements
from pardo._sharding.group import Group, LocalGroup
from pardo._sharding.layout import Layout, balanced_bounds
from pardo._sharding.moves import cut, gathered_on, joined, relaid


def bounds_for(n: int, group: Group) -> tuple[int, ...]:
    """The bounds of a new array: by the weights of the devices."""
    return balanced_bounds(n, group.weights if group.weights is not None else [1] * group.size)


def checked_bounds(bounds: Sequence[int], n: int, group: Group, name: str) -> tuple[int, ...]:
    """Bounds that the user gives."""
    given = tuple(int(b) for b in bounds)
    if len(given) != group.size + 1:
        raise ValueError(f"{name}: {group.size + 1} bounds are expected for {group.size} parts, not {len(given)}")
    if given[0] != 0 or given[-1] != n or any(a > b for a, b in itertools.pairwise(given)):
        raise ValueError(f"{name}: bounds must go from 0 to {n} and not decrease, not {list(given)}")
    return given


def _fresh(part: Array, source: Array | None) -> Array:
    """A copy of what is memory of another array."""
    return part._copy() if part is source or part.base is not None else part


@implements("reshard", splits="all to all")
def reshard(x: ShardedArray, axis: int | None, bounds: Sequence[int] | None = None) -> ShardedArray:
    group = x._group
    if axis is None:
        if bounds is not None:
            raise ValueError("reshard: bounds are of an axis, and axis is None")
        target = x._layout.with_axis(None)
    else:
        at = axis_index(axis, x.ndim, "reshard")
        n = x.shape[at]
        target = Layout(x.shape, at, bounds_for(n, group) if bounds is None else checked_bounds(bounds, n, group, "reshard"), group.keys)
    parts = relaid(x, target)
    return sharded(group, target, {p: _fresh(part, x._parts[p]) for p, part in parts.items()})


@implements("to_device", splits="gathered on one device, or split over others")
def to_device(x: ShardedArray, device: Any) -> Any:
    if isinstance(device, ShardedDevice):
        return _to_group(x, device.group)
    queue = device if isinstance(device, Queue) else Queue.of(device_of(device, "to_device"))
    whole = gathered_on(x, queue)
    return _fresh(whole, None) if not any(whole is part for part in x._parts.values()) else whole._copy()


def _to_group(x: ShardedArray, group: Group) -> ShardedArray:
    """The same array over other devices of this process: each part is made of the pieces that lie in it."""
    if group.keys == x._group.keys:
        axis = x._layout.axis
        if axis is None or group.weights == x._group.weights:
            return reshard(x, axis, x.bounds or None)
        return reshard(x, axis, bounds_for(x.shape[axis], group))
    if not isinstance(group, LocalGroup) or not isinstance(x._group, LocalGroup):
        raise TypeError("to_device: the parts are in several processes; gather the array, pardo.asnumpy(s), and split that")
    layout = x._layout
    if layout.axis is None:
        first = x._parts[x._group.owned[0]]
        return sharded(group, Layout(x.shape, None, (), group.keys), {p: _on(first, group.queue(p)) for p in group.owned})
    axis = layout.axis
    bounds = bounds_for(x.shape[axis], group)
    target, parts = Layout(x.shape, axis, bounds, group.keys), {}
    for q in group.owned:
        pieces = []
        for p, part in x._parts.items():
            low, high = max(layout.bounds[p], bounds[q]), min(layout.bounds[p + 1], bounds[q + 1])
            if low < high:
                pieces.append(_on(cut(part, axis, low - layout.bounds[p], high - layout.bounds[p]), group.queue(q)))
        parts[q] = _joined(pieces, axis, target.local_shape(q), x.dtype, group.queue(q))
    return sharded(group, target, parts)


def _on(x: Array, queue: Queue) -> Array:
    return x._copy() if x.queue == queue else x._to_queue(queue)


def _joined(pieces: Sequence[Array], axis: int, shape: tuple[int, ...], dtype: Any, queue: Queue) -> Array:
    return joined(pieces, axis) if pieces else _empty(list(shape), dtype, queue)


@implements("asnumpy", splits="gathered on the host")
def asnumpy(x: ShardedArray, *args: Any, **keywords: Any) -> Any:
    group, layout = x._group, x._layout
    x.force()  # all begin before one is waited for
    if layout.axis is None:
        first = group.owned[0]
        whole = sharded(group, layout, {first: x._parts[first]})
        return np.array(group.together("asnumpy", lambda: mapped(whole, plain_asnumpy))[first], *args, **keywords)
    if len(group.owned) == group.size:
        pieces = list(mapped(x, plain_asnumpy).values())
    else:
        pieces = [plain_asnumpy(part) for part in group.gather(x._parts, Queue.of(HOST)) or ()]
    host = np.empty(x.shape, x.dtype)
    for p, piece in enumerate(pieces):
        layout.piece(host, p)[...] = piece
    return np.array(host, *args, **keywords) if args or keywords else host
