# python/pardo/_sharding/gather.py: elements by their indices and by masks, read and stored by the parts that own them; counts.
"""Indices of the split axis are sorted by the parts that own them, and sent there; owners take the elements and send them back, or store
what came with the indices. Indices that the host has are sorted there, and nothing but elements is exchanged. All indices are checked at
the call.

Reference: P. Sanders, K. Mehlhorn, M. Dietzfelbinger, R. Dementiev, "Sequential and parallel algorithms and data structures", Springer
2019, chapter 13.6, for data by requests to owners.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._analysis import counting, histograms
from pardo._array import searching
from pardo._array.interop import asnumpy
from pardo._array.joining import stack
from pardo._array.ranges import arange
from pardo._array.sorting import argsort
from pardo._base.arguments import axis_index
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions import assignment as _assignment
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.functions import implements
from pardo._sharding.given import Operand
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.moves import cut, joined
from pardo._sharding.moving import Parts, agreed, begun, each, empty, flat, placed, resplit, sent, settled, shares, whole
from pardo._sharding.operands import group_of

INTEGERS = np.dtype(np.int64)

# --- indices


class Places(NamedTuple):
    """Indices into the first axes of an array: as many rows of numbers, which are broadcast together and split over the parts."""

    shape: tuple[int, ...]
    axis: int | None  # of the shape; None: each part has all
    bounds: tuple[int, ...]
    host: np.ndarray[Any, Any] | None  # (axes, numbers), where the host has all of them
    parts: Parts  # (axes, numbers), of each part, where it has not
    given_by_caller: bool = True  # whether `transfer_guard` sees copies of what the host has

    def local_shape(self, part: int) -> tuple[int, ...]:
        if self.axis is None:
            return self.shape
        return (*self.shape[: self.axis], self.bounds[part + 1] - self.bounds[part], *self.shape[self.axis + 1 :])

    def on(self, values: np.ndarray[Any, Any], queue: Any, op_name: str) -> Array:
        """Indices that the host has, on a queue."""
        return _core._host_operand(values, queue, op_name, False) if self.given_by_caller else placed(values, queue)

    def of_host(self, part: int) -> np.ndarray[Any, Any]:
        """The indices of a part, which the host has."""
        assert self.host is not None
        table = self.host.reshape(self.host.shape[0], *self.shape)
        if self.axis is not None:
            table = table[(slice(None),) * (self.axis + 1) + (slice(self.bounds[part], self.bounds[part + 1]),)]
        return table.reshape(self.host.shape[0], -1)


def _is_host(x: Any) -> bool:
    return not isinstance(x, (Array, ShardedArray))


def places_of(op_name: str, x: ShardedArray, given: Sequence[Any], mode: str = "raise", extents: Sequence[int] | None = None) -> Places:
    """The places that indices into the first axes of an array mean, checked."""
    limits = list(x.shape[: len(given)]) if extents is None else list(extents)
    if all(map(_is_host, given)):
        return _of_host(op_name, x, given, limits, mode)
    group = x.group
    split = next((y for y in given if isinstance(y, ShardedArray) and y.layout.axis is not None), None)
    values = [Operand(y, group, op_name) for y in given]
    for y in values:
        if kind_of(y.dtype) not in "iu":
            raise IndexError(f"{op_name}: arrays used as indices must be of integers or bools, not of {y.dtype}")
    shape = np.broadcast_shapes(*(y.shape for y in values))
    axis, bounds = None, tuple[int, ...]()
    if split is not None and split.shape == shape:
        axis, bounds = split.layout.axis, split.layout.bounds
    elif shape:
        axis = next((k for k, n in enumerate(shape) if n != 1), 0)
        bounds = shares(x.layout, shape[axis])
    whole_of = [aligned(y, shape, axis, bounds) for y in values]
    parts: Parts = {}
    seen: dict[int, tuple[Array, Array]] = {}
    for p in group.owned:
        rows = []
        for parts_of, n in zip(whole_of, limits, strict=True):
            row = parts_of[p].reshape(-1)._astype(INTEGERS, False)
            if mode == "wrap":
                row = row % n if n else row
            elif mode == "clip":
                row = _core.minimum(_core.maximum(row, 0), max(0, n - 1))
            rows.append(row)
        parts[p] = stack(rows, axis=0)
        if mode == "raise" and parts[p].size:
            seen[p] = _core._reduce(_core._MIN, parts[p], [1], False), _core._reduce(_core._MAX, parts[p], [1], False)
    if mode == "raise":
        begun(v for both in seen.values() for v in both)
        ends = agreed(group, lambda p: (asnumpy(seen[p][0]), asnumpy(seen[p][1])) if p in seen else None, parts)
        for found in ends:
            if found is not None:
                for k, n in enumerate(limits):
                    _check(op_name, int(found[0][k]), int(found[1][k]), k, n)
    elif math.prod(shape):
        for k, n in enumerate(limits):
            _check(op_name, 0, 0, k, n)
    for p, table in parts.items():
        column = placed(np.asarray(limits, np.int64)[:, None], group.queue(p))
        parts[p] = _core._where(table < 0, table + column, table)
    return Places(shape, axis, bounds, None, parts)


def aligned(y: Operand, shape: tuple[int, ...], axis: int | None, bounds: Sequence[int]) -> Mapping[int, Array]:
    """The part of an operand, broadcast to a shape, that each part of a split of the shape has."""
    group = y.group
    lead = len(shape) - y.ndim
    if y.layout is not None and y.shape == shape and axis is not None:
        return resplit(sharded(group, y.layout, y.parts), axis, bounds)._parts
    parts = y.parts if y.layout is None else whole(sharded(group, y.layout, y.parts))
    result: Parts = {}
    for p in group.owned:
        v = parts[p]
        wanted = list(shape)
        if axis is not None:
            if axis >= lead and v.shape[axis - lead] == shape[axis]:
                v = cut(v, axis - lead, bounds[p], bounds[p + 1])
            wanted[axis] = bounds[p + 1] - bounds[p]
        result[p] = _core._broadcast_to(v, wanted)
    return result


def _of_host(op_name: str, x: ShardedArray, given: Sequence[Any], limits: Sequence[int], mode: str) -> Places:
    arrays = [np.asarray(y) for y in given]
    for k, y in enumerate(arrays):
        if y.size == 0 and isinstance(given[k], (list, tuple)):
            arrays[k] = y.astype(np.int64)
        elif kind_of(y.dtype) not in "iu":
            raise IndexError(f"{op_name}: arrays used as indices must be of integers or bools, not of {y.dtype}")
    for k, y in enumerate(arrays):
        if y.dtype == np.uint64 and y.size and int(y.max()) >= 2**63:  # int64 does not hold it
            _check(op_name, 0, int(y.max()), k, limits[k])
    table = np.stack(np.broadcast_arrays(*arrays)).astype(np.int64)
    shape = table.shape[1:]
    rows = table.reshape(len(arrays), -1)
    for k, n in enumerate(limits):
        if rows.shape[1]:
            if mode == "raise":
                _check(op_name, int(rows[k].min()), int(rows[k].max()), k, n)
            else:
                _check(op_name, 0, 0, k, n)
                rows[k] = rows[k] % n if mode == "wrap" else np.clip(rows[k], 0, n - 1)
        rows[k] = np.where(rows[k] < 0, rows[k] + n, rows[k])
    if not shape:
        return Places(shape, None, (), rows, {})
    axis = next((k for k, n in enumerate(shape) if n != 1), 0)
    return Places(shape, axis, shares(x.layout, shape[axis]), rows, {})


def _check(op_name: str, least: int, greatest: int, axis: int, n: int) -> None:
    for i in (least, greatest):
        if not -n <= i < n:
            raise IndexError(f"{op_name}: index {i} is out of bounds for axis {axis} with size {n}")


# --- requests


class _Requests(NamedTuple):
    """How many places each part asks each owner for, what owners are asked, and the order in which each part asks."""

    counts: list[list[int]]
    asked: dict[int, dict[int, Array]]  # for owned owners, by the parts that ask: (axes, numbers), in the owner's own indices
    orders: Parts


def _requests(op_name: str, x: ShardedArray, places: Places, every: bool) -> _Requests:
    """Places sorted by their owners. `every`: each part asks for those that all have; else the first part alone does."""
    axis, group, bounds = x.layout.axis, x.group, x.layout.bounds
    assert axis is not None
    size = range(group.size)
    if places.host is not None:
        tables, orders_here, counts = [], [], []
        for p in size:
            table = places.of_host(p)
            if places.axis is None and p and not every:
                table = table[:, :0]
            owner = np.searchsorted(np.asarray(bounds[1:-1], np.int64), table[axis], side="right")
            order = np.argsort(owner, kind="stable")
            tables.append(table[:, order])
            orders_here.append(order)
            counts.append(np.bincount(owner, minlength=group.size).tolist())
        asked: dict[int, dict[int, Array]] = {}
        for q in group.owned:
            asked[q] = {}
            for p in size:
                if counts[p][q]:
                    first = sum(counts[p][:q])
                    piece = tables[p][:, first : first + counts[p][q]].copy()
                    piece[axis] -= bounds[q]
                    asked[q][p] = places.on(piece, group.queue(q), op_name)
        orders = {p: placed(orders_here[p].astype(np.int64), group.queue(p)) for p in group.owned}
        return _Requests(counts, asked, orders)
    orders, sorted_tables, ends = {}, {}, {}
    for p in group.owned:
        mine, queue = places.parts[p], group.queue(p)
        if places.axis is None and p and not every:
            mine = mine[:, :0]
        limits = placed(np.asarray(bounds[1:-1], np.int64), queue)
        owner = searching.searchsorted(limits, mine[axis], side="right")
        orders[p] = argsort(owner)
        sorted_tables[p] = searching.take(mine, orders[p], axis=1)
        in_order = searching.take(owner, orders[p], axis=0)
        ends[p] = searching.searchsorted(in_order, arange(group.size, dtype=np.int64, queue=queue), side="right")
    begun(ends.values())
    known = agreed(group, lambda p: [0, *asnumpy(ends[p]).tolist()])
    counts = [[after - before for before, after in itertools.pairwise(known[p])] for p in size]
    rows = places.parts[group.owned[0]].shape[0]
    arrived = sent(
        group, counts, lambda p, q: sorted_tables[p][:, known[p][q] : known[p][q + 1]], lambda p, q: (rows, counts[p][q]), INTEGERS
    )
    asked = {}
    for q, found in arrived.items():
        senders = [p for p in size if counts[p][q]]
        column = np.zeros((rows, 1), np.int64)
        column[axis] = bounds[q]
        offset = placed(column, group.queue(q))
        asked[q] = {p: table - offset for p, table in zip(senders, found, strict=True)}
    return _Requests(counts, asked, orders)


def _index(table: Array) -> tuple[Array, ...]:
    return tuple(table[k] for k in range(table.shape[0]))


def picked(op_name: str, x: ShardedArray, given: Sequence[Any], mode: str = "raise", given_by_caller: bool = True) -> ShardedArray:
    """``x[given]``: the elements at indices into the first axes, which are broadcast together."""
    group, r, layout = x.group, len(given), x.layout
    places = places_of(op_name, x, given, mode)._replace(given_by_caller=given_by_caller)
    rest = x.shape[r:]
    if layout.axis is None or layout.axis >= r:  # each part has what it needs
        return _picked_here(op_name, x, places, r)
    requests = _requests(op_name, x, places, every=True)
    counts, size = requests.counts, range(group.size)
    answers: dict[int, Parts] = {}
    for q, tables in requests.asked.items():
        part = x._parts[q]
        answers[q] = {p: searching.take(part, table[0], axis=0) if r == 1 else part[_index(table)] for p, table in tables.items()}
    back = [[counts[p][q] for p in size] for q in size]
    arrived = sent(group, back, lambda q, p: answers[q][p], lambda q, p: (counts[p][q], *rest), x.dtype)
    parts: Parts = {}
    for p, found in arrived.items():
        shape = (*places.local_shape(p), *rest)
        if found:
            parts[p] = searching.take(joined(found, 0), argsort(requests.orders[p]), axis=0).reshape(shape)
        else:
            parts[p] = empty(shape, x.dtype, group, p)
    if places.axis is None:
        return replicated(group, parts)
    return sharded(group, Layout((*places.shape, *rest), places.axis, places.bounds, layout.devices), parts)


def _picked_here(op_name: str, x: ShardedArray, places: Places, r: int) -> ShardedArray:
    """The same where each part has all of the axes that are indexed."""
    group, layout = x.group, x.layout
    rest = x.shape[r:]
    shape = (*places.shape, *rest)
    if layout.axis is None:  # as the indices are split
        parts = {}
        for p in group.owned:
            table = places.parts[p] if places.host is None else places.on(places.of_host(p), group.queue(p), op_name)
            parts[p] = x._parts[p][_index(table)].reshape((*places.local_shape(p), *x.shape[r:]))
        if places.axis is None:
            return replicated(group, parts)
        return sharded(group, Layout(shape, places.axis, places.bounds, layout.devices), parts)
    tables = _everywhere(op_name, group, places, r)
    axis = layout.axis - r + len(places.shape)
    made = Layout(shape, axis, layout.bounds, layout.devices)
    return sharded(group, made, {p: v[_index(tables[p])].reshape(made.local_shape(p)) for p, v in x._parts.items()})


def _everywhere(op_name: str, group: Group, places: Places, r: int) -> Parts:
    """All places on each part."""
    if places.host is not None:
        return {p: places.on(places.host, group.queue(p), op_name) for p in group.owned}
    if places.axis is None:
        return places.parts
    tables = {p: v.reshape((r, *places.local_shape(p))) for p, v in places.parts.items()}
    layout = Layout((r, *places.shape), places.axis + 1, places.bounds, group.keys)
    return {p: v.reshape(r, -1) for p, v in whole(sharded(group, layout, tables)).items()}


def stored(op_name: str, x: ShardedArray, given: Sequence[Any], value: Any, put: Callable[[Array, Any, Any], None] | None = None) -> None:
    """``x[given] = value``: stores at indices into the first axes; of equal ones the last wins. ``put(part, indices, values)`` stores in
    another way, as `ufunc.at`."""
    group, r, layout = x.group, len(given), x.layout
    places = places_of(op_name, x, given)
    rest = x.shape[r:]
    shape = (*places.shape, *rest)
    v = Operand(value, group, op_name)
    try:
        fits = np.broadcast_shapes(v.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{op_name}: values of shape {v.shape} do not fit {shape}, the shape of what is indexed")
    store = _assign if put is None else put
    if layout.axis is None or layout.axis >= r:
        _stored_here(op_name, x, places, v, shape, store, r)
        return
    requests = _requests(op_name, x, places, every=False)
    counts, size = requests.counts, range(group.size)
    if v.ndim == 0:
        for q, tables in requests.asked.items():
            for p in sorted(tables):
                store(x._parts[q], _index(tables[p]), v.parts[q])
        return
    here = aligned(v, shape, places.axis, places.bounds)
    ordered: Parts = {}
    starts = [list(itertools.accumulate(row, initial=0)) for row in counts]
    for p in group.owned:
        flat_values = here[p].reshape((math.prod(places.local_shape(p)), *rest))
        ordered[p] = searching.take(flat_values, requests.orders[p], axis=0) if requests.orders[p].size else flat_values[:0]
    arrived = sent(group, counts, lambda p, q: ordered[p][starts[p][q] : starts[p][q + 1]], lambda p, q: (counts[p][q], *rest), v.dtype)
    for q, found in arrived.items():
        senders = [p for p in size if counts[p][q]]
        for p, values in zip(senders, found, strict=True):
            store(x._parts[q], _index(requests.asked[q][p]), values)


def once(parts: Mapping[int, Array]) -> dict[int, Array]:
    """The parts, each once: where each has the whole, those of one queue may be one array."""
    return {p: v for p, v in parts.items() if all(v is not parts[q] for q in parts if q < p)}


def _assign(part: Array, where: tuple[Array, ...], values: Any) -> None:
    part[where] = values


def _stored_here(
    op_name: str, x: ShardedArray, places: Places, v: Operand, shape: tuple[int, ...], store: Callable[[Array, Any, Any], None], r: int
) -> None:
    group, layout = x.group, x.layout
    tables = _everywhere(op_name, group, places, r)
    if layout.axis is None:
        values: Mapping[int, Array] = v.parts if v.layout is None else whole(sharded(group, v.layout, v.parts))
        local = dict.fromkeys(group.owned, shape)
    else:
        axis = layout.axis - r + len(places.shape)
        local = {p: (*shape[:axis], layout.length(p), *shape[axis + 1 :]) for p in group.owned}
        values = v.parts if v.ndim == 0 else aligned(v, shape, axis, layout.bounds)
    for p, part in once(x._parts).items():
        here = values[p]
        if here.ndim:
            here = _core._broadcast_to(here, local[p]).reshape((math.prod(places.shape), *local[p][len(places.shape) :]))
        store(part, _index(tables[p]), here)


# --- functions by indices


def _front(x: ShardedArray, axis: int) -> ShardedArray:
    """The same array with an axis moved to the front."""
    if axis == 0:
        return x
    order = [axis, *(k for k in range(x.ndim) if k != axis)]
    return _permuted(x, order)


def _permuted(x: ShardedArray, order: Sequence[int]) -> ShardedArray:
    layout = x.layout
    shape = tuple(x.shape[k] for k in order)
    split = None if layout.axis is None else list(order).index(layout.axis)
    made = Layout(shape, split, layout.bounds, layout.devices)
    return sharded(x.group, made, {p: _core._permute_dims(v, list(order)) for p, v in x._parts.items()})


def as_sharded(value: Any, group: Group, op_name: str) -> ShardedArray:
    """A value that each part has whole as an array over the parts."""
    return value if isinstance(value, ShardedArray) else replicated(group, dict(Operand(value, group, op_name).parts))


@implements("take", splits="along the split axis by requests to the owners; split in the shares of the array, or as the indices are")
def take(a: Any, /, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    if out is not None:
        return NotImplemented
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode is {mode!r}; it must be 'raise', 'wrap' or 'clip'")
    x = as_sharded(a, group_of([a, indices], "take"), "take")
    if axis is None:
        x, axis = flat(x), 0
    axis = axis_index(axis, x.ndim, "take")
    found = picked("take", _front(x, axis), [indices], mode)
    count = found.ndim - x.ndim + 1
    order = [*range(count, count + axis), *range(count), *range(count + axis, found.ndim)]
    return found if axis == 0 else _permuted(found, order)


@implements("take_along_axis", splits="along the split axis after a reshard of both; other axes part by part")
def take_along_axis(arr: Any, /, indices: Any, axis: int | None = -1) -> Any:
    group = group_of([arr, indices], "take_along_axis")
    x, i = as_sharded(arr, group, "take_along_axis"), as_sharded(indices, group, "take_along_axis")
    if axis is None:
        x, axis = flat(x), 0
    axis = axis_index(axis, x.ndim, "take_along_axis")
    if i.ndim != x.ndim:
        raise ValueError(f"take_along_axis: indices have {i.ndim} dimensions, but the array has {x.ndim}")
    if x.ndim == 1:
        return take(x, i, axis=0)
    if x.layout.axis is None and i.layout.axis is None:
        return replicated(group, {p: searching.take_along_axis(v, i._parts[p], axis=axis) for p, v in x._parts.items()})
    split = x.layout.axis if x.layout.axis not in (None, axis) else i.layout.axis
    if split is None or split == axis:
        split = max((k for k in range(x.ndim) if k != axis), key=lambda k: max(x.shape[k], i.shape[k]))
    kept = i.layout
    n = max(x.shape[split], i.shape[split])
    if n != x.shape[split] or n != i.shape[split]:
        return NotImplemented
    y = resplit(x, split)
    j = resplit(i, split, y.layout.bounds)
    parts = {p: searching.take_along_axis(v, j._parts[p], axis=axis) for p, v in y._parts.items()}
    shape = tuple(i.shape[k] if k == axis else max(x.shape[k], i.shape[k]) for k in range(x.ndim))
    made = sharded(group, Layout(shape, split, y.layout.bounds, y.layout.devices), parts)
    if kept.axis == axis:
        return resplit(made, axis, kept.bounds)
    return resplit(made, axis, shares(x.layout, shape[axis])) if x.layout.axis == axis else made


@implements("put_along_axis", splits="axes that are not split part by part")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> Any:
    if not isinstance(arr, ShardedArray) or axis is None:
        return NotImplemented
    axis = axis_index(axis, arr.ndim, "put_along_axis")
    split, group = arr.layout.axis, arr.group
    if arr.ndim == 1:
        stored("put_along_axis", arr, [indices], values)
        return None
    if split == axis:
        return NotImplemented
    i, v = Operand(indices, group, "put_along_axis"), Operand(values, group, "put_along_axis")
    if i.ndim != arr.ndim:
        raise ValueError(f"put_along_axis: indices have {i.ndim} dimensions, but the array has {arr.ndim}")
    shape = tuple(i.shape[k] if k == axis else arr.shape[k] for k in range(arr.ndim))
    bounds = arr.layout.bounds
    here, those = aligned(i, shape, split, bounds), v.parts if v.ndim == 0 else aligned(v, shape, split, bounds)
    for p, part in once(arr._parts).items():
        _assignment.put_along_axis(part, here[p], those[p], axis)
    return None


@implements("put", splits="by the owners")
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    if not isinstance(a, ShardedArray):
        return NotImplemented
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"put: mode is {mode!r}; it must be 'raise', 'wrap' or 'clip'")
    if not (_is_host(ind) and _is_host(v)):
        if a.ndim != 1 or mode != "raise" or _size(v) not in (1, _size(ind)):
            return NotImplemented
        row = flat(ind) if isinstance(ind, ShardedArray) else ind.reshape(-1) if isinstance(ind, Array) else np.ravel(ind)
        stored("put", a, [row], _first(v) if _size(v) == 1 else v)
        return None
    where, values = np.asarray(ind).reshape(-1), np.asarray(v).reshape(-1)
    if where.size == 0 or values.size == 0:
        return None
    where = where.astype(np.int64) if kind_of(where.dtype) in "iub" else where
    if kind_of(where.dtype) not in "iu":
        raise TypeError(f"put: indices must be integers, not {where.dtype}")
    n = a.size
    if mode == "raise":
        bad = where[(where < -n) | (where >= n)]
        if bad.size:
            raise IndexError(f"put: index {bad[0]} is out of bounds for size {n}")
        where = np.where(where < 0, where + n, where)
    elif n == 0:
        raise IndexError("put: the array has no elements")
    else:
        where = where % n if mode == "wrap" else np.clip(where, 0, n - 1)
    stored("put", a, np.unravel_index(where, a.shape), np.resize(values, where.size))
    return None


def _size(x: Any) -> int:
    return x.size if hasattr(x, "size") else np.size(x)


def _first(x: Any) -> Any:
    if isinstance(x, ShardedArray):
        return replicated(x.group, {p: v.reshape(()) for p, v in whole(x).items()})
    return x.reshape(()) if isinstance(x, Array) else np.asarray(x).reshape(())


@implements("ufunc.at", splits="by the owners; of equal indices in the order of the parts")
def at(function: Any, a: Any, /, indices: Any, b: Any = None) -> Any:
    """The method of universal functions, as ``add.at``."""
    if not isinstance(a, ShardedArray):
        return NotImplemented
    given = indices if isinstance(indices, tuple) else (indices,)
    if b is None or b is np._NoValue or any(isinstance(i, slice) or i is Ellipsis or i is None for i in given):
        return NotImplemented

    def store(part: Array, where: tuple[Array, ...], values: Any) -> None:
        function.at(part, where if len(where) > 1 else where[0], values)

    stored(f"{function.__name__}.at", a, given, b, store)
    return None


# --- masks


def _leading(x: ShardedArray, mask_ndim: int) -> ShardedArray:
    """The array, split along the first axis longer than 1 if it is split along an axis of a mask: so parts are in the order of C."""
    axis = x.layout.axis
    if axis is None or axis >= mask_ndim:
        return x
    lead = next((k for k in range(mask_ndim) if x.shape[k] != 1), 0)
    return x if axis <= lead else resplit(x, lead)


def _mask(op_name: str, x: ShardedArray, mask: Any) -> tuple[ShardedArray, Parts]:
    """The array, split so that its parts are in order, and the mask of each part."""
    group = x.group
    m = Operand(mask, group, op_name)
    if kind_of(m.dtype) != "b":
        raise TypeError(f"{op_name}: a mask must be of bools, not of {m.dtype}")
    if m.shape != x.shape[: m.ndim]:
        raise IndexError(f"{op_name}: a mask of shape {m.shape} does not fit an array of shape {x.shape}")
    if x.layout.axis is None and m.layout is not None:
        ordered = _leading(sharded(group, m.layout, m.parts), m.ndim)
        return resplit(x, ordered.layout.axis or 0, ordered.layout.bounds), ordered._parts
    y = _leading(x, m.ndim)
    axis = y.layout.axis
    if axis is None or axis >= m.ndim:
        return y, dict(m.parts) if m.layout is None else whole(sharded(group, m.layout, m.parts))
    return y, dict(aligned(m, m.shape, axis, y.layout.bounds))


def masked(op_name: str, x: ShardedArray, mask: Any) -> ShardedArray:
    """``x[mask]``: the elements, or slices, where a mask of the first axes is true; in the shares of the array."""
    ndim = mask.ndim if hasattr(mask, "ndim") else np.ndim(mask)
    if ndim == 0:
        raise IndexError(f"{op_name}: a mask must have one or more dimensions")
    y, masks = _mask(op_name, x, mask)
    group, axis = x.group, y.layout.axis
    begun([*y._parts.values(), *masks.values()])
    parts = each(group, lambda p: y._parts[p][masks[p]], y._parts)
    if axis is None:
        return replicated(group, parts)
    if axis >= ndim:
        count = parts[group.owned[0]].shape[0]
        return sharded(group, Layout((count, *y.shape[ndim:]), axis - ndim + 1, y.layout.bounds, y.layout.devices), parts)
    return settled(group, y.layout, parts, agreed(group, lambda p: parts[p].shape[0]))


def stored_by_mask(op_name: str, x: ShardedArray, mask: Any, value: Any) -> None:
    """``x[mask] = value``."""
    group = x.group
    v = Operand(value, group, op_name)
    ndim = mask.ndim if hasattr(mask, "ndim") else np.ndim(mask)
    m = Operand(mask, group, op_name)
    if m.shape != x.shape[:ndim] or kind_of(m.dtype) != "b":
        raise IndexError(f"{op_name}: a mask of shape {m.shape} and dtype {m.dtype} does not fit an array of shape {x.shape}")
    if v.ndim == 0:
        axis = x.layout.axis
        if axis is not None and axis < ndim:
            masks = aligned(m, m.shape, axis, x.layout.bounds)
        else:
            masks = m.parts if m.layout is None else whole(sharded(group, m.layout, m.parts))
        for p, part in once(x._parts).items():
            part[masks[p]] = v.parts[p]
        return
    where = nonzero(sharded(group, m.layout, m.parts) if m.layout is not None else replicated(group, dict(m.parts)))
    stored(op_name, x, list(where), value)


@implements("nonzero", splits="part by part; the result is split in the shares of the array")
def nonzero(x: Any, /) -> Any:
    if x.ndim == 0:
        raise ValueError("nonzero: the array has no dimensions")
    group = x.group
    if x.layout.axis is None:
        found = {p: searching.nonzero(v) for p, v in x._parts.items()}
        return tuple(replicated(group, {p: f[k] for p, f in found.items()}) for k in range(x.ndim))
    y = _leading(x, x.ndim)
    axis = y.layout.axis
    assert axis is not None
    begun(y._parts.values())
    found = each(group, lambda p: searching.nonzero(y._parts[p]), y._parts)
    lengths = agreed(group, lambda p: found[p][0].size)
    rows = []
    for k in range(x.ndim):
        parts = {p: f[k] + y.layout.bounds[p] if k == axis else f[k] for p, f in found.items()}
        rows.append(settled(group, y.layout, parts, lengths))
    return tuple(rows)


@implements("flatnonzero", splits="as nonzero")
def flatnonzero(a: Any) -> Any:
    return nonzero(flat(a))[0]


@implements("argwhere", splits="as nonzero")
def argwhere(a: Any) -> Any:
    rows = nonzero(a)
    first = rows[0]
    parts = {p: stack([row._parts[p] for row in rows], axis=1) for p in a.group.owned}
    shape = (first.shape[0], a.ndim)
    if first.layout.axis is None:
        return replicated(a.group, parts)
    return sharded(a.group, Layout(shape, 0, first.layout.bounds, first.layout.devices), parts)


@implements("compress", splits="as take")
def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    if isinstance(condition, ShardedArray):
        where: Any = nonzero(flat(condition))[0]
    elif isinstance(condition, Array):
        where = searching.nonzero(condition.reshape(-1))[0]
    else:
        where = np.flatnonzero(np.asarray(condition))
    return take(a, where, axis=axis)


@implements("extract", splits="as a mask")
def extract(condition: Any, arr: Any) -> Any:
    group = group_of([condition, arr], "extract")
    row, c = flat(as_sharded(arr, group, "extract")), flat(as_sharded(condition, group, "extract"))
    if kind_of(c.dtype) != "b":
        c = sharded(group, c.layout, {p: v != 0 for p, v in c._parts.items()})
    return masked("extract", row, c)


# --- keys of x[key]


@implements("x[indices]", splits="by requests to the owners; a mask part by part, its result in the shares of the array")
def by_key(x: ShardedArray, key: Any) -> Any:
    """``x[key]`` for keys that are a mask, or indices into the first axes; NotImplemented for others."""
    mask, given = _read(key)
    if mask is not None:
        return masked("x[mask]", x, mask)
    return NotImplemented if given is None or len(given) > x.ndim else picked("x[indices]", x, given)


@implements("x[indices] = value", splits="by the owners")
def store_by_key(x: ShardedArray, key: Any, value: Any) -> Any:
    """``x[key] = value`` for the same keys; None when it is stored."""
    mask, given = _read(key)
    if mask is not None:
        return stored_by_mask("x[mask]", x, mask, value)
    if given is None or len(given) > x.ndim:
        return NotImplemented
    return stored("x[indices]", x, given, value)


def _read(key: Any) -> tuple[Any, list[Any] | None]:
    """A mask, or indices into the first axes; neither where a key is something else."""
    keys = list(key) if isinstance(key, tuple) else [key]
    while keys and (keys[-1] is Ellipsis or (isinstance(keys[-1], slice) and keys[-1] == slice(None))):
        keys.pop()
    arrays = []
    for k in keys:
        if k is None or k is Ellipsis or isinstance(k, (slice, bool, np.bool_)):
            return None, None
        arrays.append(k if isinstance(k, (Array, ShardedArray)) else np.asarray(k))
    for k, given in zip(arrays, keys, strict=True):
        if kind_of(k.dtype) == "b":
            return (k, None) if len(arrays) == 1 and k.ndim else (None, None)
        if not isinstance(k, (Array, ShardedArray)) and k.size == 0 and isinstance(given, list):
            continue
        if kind_of(k.dtype) not in "iu":
            raise IndexError(f"x[key]: arrays used as indices must be of integers or bools, not of {k.dtype}")
    return None, [k.astype(np.int64) if isinstance(k, np.ndarray) and k.size == 0 else k for k in arrays] or None


# --- counts


@implements("bincount", splits="the parts' counts are added")
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    group = group_of([x, weights], "bincount")
    y = as_sharded(x, group, "bincount")
    if y.ndim != 1:
        raise ValueError(f"bincount: the array must have one dimension, but has shape {y.shape}")
    if y.layout.axis is None and not (isinstance(weights, ShardedArray) and weights.layout.axis is not None):
        w = None if weights is None else Operand(weights, group, "bincount").parts
        return replicated(group, {p: counting.bincount(v, None if w is None else w[p], minlength) for p, v in y._parts.items()})
    if y.layout.axis is None:
        y = resplit(y, 0, weights.layout.bounds)
    shares_of = None
    if weights is not None:
        w_given = Operand(weights, group, "bincount")
        if w_given.shape != y.shape:
            raise ValueError(f"bincount: weights of shape {w_given.shape} do not fit {y.shape} elements")
        shares_of = aligned(w_given, y.shape, 0, y.layout.bounds)
    own = {p: counting.bincount(v, None if shares_of is None else shares_of[p], minlength) for p, v in y._parts.items()}
    length = max(agreed(group, lambda p: own[p].size))
    full = {}
    for p, v in own.items():
        missing = length - v.size
        full[p] = v if not missing else joined([v, _core._full([missing], 0, v.dtype, v.queue)], 0)
    return replicated(group, group.all_reduce(full, _core.add))


@implements("histogram", splits="the parts' counts are added")
def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None) -> Any:
    if density or isinstance(bins, (str, ShardedArray)) or not isinstance(a, ShardedArray):
        return NotImplemented
    group = a.group
    if a.layout.axis is None:
        return NotImplemented
    if range is None and np.ndim(bins) == 0:
        folds = _core._MIN, _core._MAX
        found = {p: [_core._reduce(fold, v, None, False) for fold in folds] for p, v in a._parts.items() if v.size}
        ends = agreed(group, lambda p: [asnumpy(v)[()] for v in found[p]] if p in found else None)
        known = [e for e in ends if e is not None]
        range = (min(e[0] for e in known), max(e[1] for e in known)) if known else (0.0, 1.0)
        if not all(map(np.isfinite, range)):
            raise ValueError(f"histogram: autodetected range of {list(range)} is not finite")
    shares_of = None
    if weights is not None:
        w = Operand(weights, group, "histogram")
        if w.shape != a.shape:
            raise ValueError(f"histogram: weights of shape {w.shape} do not fit an array of shape {a.shape}")
        shares_of = aligned(w, a.shape, a.layout.axis, a.layout.bounds)
    edges_given = Operand(bins, group, "histogram").parts if np.ndim(bins) else None
    made = {}
    for p, v in a._parts.items():
        edges, share = bins if edges_given is None else edges_given[p], None if shares_of is None else shares_of[p]
        made[p] = histograms.histogram(v, edges, range=range, weights=share)
    counts = group.all_reduce({p: f[0] for p, f in made.items()}, _core.add)
    return replicated(group, counts), replicated(group, {p: f[1] for p, f in made.items()})
