# python/pardo/_sharding/indexing.py: integers, slices, None and Ellipsis as keys: views of the parts, and assignments to them.
from __future__ import annotations

import operator
from typing import Any

import numpy as np
from pardo._base import face
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._sharding.array import ShardedArray, mapped, sharded
from pardo._sharding.failures import name_part
from pardo._sharding.functions import call, implements
from pardo._sharding.layout import Layout
from pardo._sharding.moves import Segment, collect
from pardo._sharding.operands import fits, group_of, is_number, shape_of, spread, values


class _Key:
    """A key as it is for each axis: `entries` has an integer or a slice for each axis of the array, and None for new ones. `dots`: there is
    an ellipsis, so that an element is a view and no value."""

    def __init__(self, entries: list[Any], shape: tuple[int, ...], dots: bool) -> None:
        self.entries, self.shape, self.dots = entries, shape, dots

    def extents(self, keep: int | None = None) -> list[int]:
        """The shape of the result; the axis `keep` stays there with extent one where it is indexed by an integer."""
        axis, found = 0, []
        for entry in self.entries:
            if entry is None:
                found.append(1)
                continue
            if isinstance(entry, slice):
                found.append(len(range(*entry.indices(self.shape[axis]))))
            elif axis == keep:
                found.append(1)
            axis += 1
        return found

    def place(self, axis: int) -> int:
        """How many axes of the result come before what an axis of the array becomes."""
        at, before = 0, 0
        for entry in self.entries:
            if entry is not None:
                if at == axis:
                    return before
                at += 1
            before += 0 if isinstance(entry, int) else 1
        raise AssertionError

    def at(self, axis: int) -> Any:
        return [entry for entry in self.entries if entry is not None][axis]

    def local(self, axis: int | None, entry: Any) -> tuple[Any, ...]:
        """The key for a part, which has another entry for the split axis."""
        found: list[Any] = []
        at = 0
        for each in self.entries:
            if each is None:
                found.append(None)
                continue
            found.append(entry if at == axis else each)
            at += 1
        return (*found, ...) if self.dots else tuple(found)


def _parsed(key: Any, shape: tuple[int, ...]) -> _Key | None:
    """The key, or None where arrays, lists or masks are in it."""
    items = list(key) if isinstance(key, tuple) else [key]
    for i, item in enumerate(items):
        if item is None or item is Ellipsis or isinstance(item, slice):
            continue
        if isinstance(item, (bool, np.bool_, list, str)) or (hasattr(item, "ndim") and item.ndim):
            return None
        if getattr(getattr(item, "dtype", None), "kind", "i") == "b":
            return None
        try:
            items[i] = operator.index(item)
        except TypeError:
            raise IndexError(
                f"x[...]: only integers, slices, ..., None and arrays of integers or bools are valid indices, not {type(item).__name__}"
            ) from None
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("x[...]: an index can only have a single ellipsis ('...')")
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > len(shape):
        raise IndexError(f"x[...]: too many indices: the array has {len(shape)} dimensions, but {used} were indexed")
    fill = [slice(None)] * (len(shape) - used)
    where = next((i for i, item in enumerate(items) if item is Ellipsis), None)
    entries = [*items, *fill] if where is None else [*items[:where], *fill, *items[where + 1 :]]
    axis = 0
    for i, entry in enumerate(entries):
        if entry is None:
            continue
        if isinstance(entry, int):
            if not -shape[axis] <= entry < shape[axis]:
                raise IndexError(f"x[...]: index {entry} is out of bounds for axis {axis} with size {shape[axis]}")
            entries[i] = entry % shape[axis]
        axis += 1
    return _Key(entries, shape, where is not None)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _slices(entry: slice, layout: Layout) -> tuple[list[slice], list[int]]:
    """What each part takes of a slice with a positive step along the split axis, and the bounds of the result."""
    assert layout.axis is not None
    start, stop, step = entry.indices(layout.shape[layout.axis])
    count = len(range(start, stop, step))
    bounds = [min(count, max(0, _ceil(b - start, step))) for b in layout.bounds]
    bounds[0], bounds[-1] = 0, count
    local = []
    for p in range(layout.parts):
        first, last = bounds[p], bounds[p + 1]
        if first >= last:
            local.append(slice(0, 0))
        else:
            low = start + first * step - layout.bounds[p]
            local.append(slice(low, low + (last - first - 1) * step + 1, step))
    return local, bounds


def _forwards(entry: slice, n: int) -> slice:
    """The same indices as of a slice with a negative step, in ascending order."""
    indices = range(*entry.indices(n))
    return slice(0, 0) if not indices else slice(indices[-1], indices[0] + 1, -indices.step)


def _view(x: ShardedArray, key: _Key) -> ShardedArray:
    """The parts' views; an integer along the split axis has become a slice of one."""
    layout = x._layout
    if layout.axis is None:
        local = key.local(None, None)
        return sharded(x._group, Layout(key.extents(), None, (), layout.devices), mapped(x, lambda part: part[local]))
    entry = key.at(layout.axis)
    if isinstance(entry, int):
        entry = slice(entry, entry + 1)
    slices, bounds = _slices(entry, layout)
    made = Layout(key.extents(layout.axis), key.place(layout.axis), bounds, layout.devices)
    return sharded(x._group, made, {p: part[key.local(layout.axis, slices[p])] for p, part in x._parts.items()})


@implements("x[key]", splits="slices are views of the parts, which keep their bounds; an integer along the split axis copies to all")
def get(x: ShardedArray, key: Any) -> Any:
    """An element, a row, a slice.

    A slice is a view of the parts, as in NumPy: nothing moves, so the parts that it leaves out are empty, and others keep what they have;
    `reshard` makes them equal. With a negative step along the split axis it is a copy whose elements are at the bounds of the same slice
    forwards. An integer along the split axis gives a copy that each device has. Arrays and masks as indices are `take` and its like.
    """
    parsed = _parsed(key, x.shape)
    if parsed is None:
        return call("x[indices]", (x, key), {})
    axis = x._layout.axis
    if axis is not None and isinstance(parsed.at(axis), int):
        return _row(x, parsed, axis)
    if axis is not None and (parsed.at(axis).step or 1) < 0:
        return _backwards(x, parsed, axis)
    return _view(x, parsed)


def _row(x: ShardedArray, key: _Key, axis: int) -> ShardedArray:
    layout, group, index = x._layout, x._group, key.at(axis)
    owner = layout.owner(index)
    piece = None
    if owner in x._parts:
        piece = x._parts[owner][key.local(axis, index - layout.bounds[owner])].copy()
    shape = tuple(key.extents())
    return sharded(group, Layout(shape, None, (), layout.devices), group.broadcast(piece, owner, (shape, x._dtype)))


def _backwards(x: ShardedArray, key: _Key, axis: int) -> ShardedArray:
    n, entry, at = x.shape[axis], key.at(axis), key.place(axis)
    ahead = _view(x, _Key(list(_with(key, axis, _forwards(entry, n))), x.shape, key.dots))
    layout = ahead._layout
    backwards = (*(slice(None),) * at, slice(None, None, -1))
    turned = sharded(x._group, layout, {p: part[backwards] for p, part in ahead._parts.items()})
    count = layout.shape[at]
    segments = [
        Segment(turned, layout.bounds[p], layout.bounds[p + 1], count - layout.bounds[p + 1])
        for p in range(layout.parts)
        if layout.length(p)
    ] or [Segment(turned, 0, 0, 0)]
    made = collect(x._group, segments, layout, at)
    return sharded(x._group, layout, {p: part.copy() if _is_view(part) else part for p, part in made.items()})


def _is_view(x: Array) -> bool:
    return x.base is not None


def _with(key: _Key, axis: int, entry: Any) -> tuple[Any, ...]:
    made = key.local(axis, entry)
    return made[:-1] if key.dots else made


@implements("x[key] = value", splits="the owners of what is written")
def put(x: ShardedArray, key: Any, value: Any) -> None:
    """Store at integers and slices: only the owners of what is written take part, and get their pieces of the value."""
    parsed = _parsed(key, x.shape)
    if parsed is None:
        if type(key) is ShardedArray and kind_of(key.dtype) == "b" and key.shape == x.shape and is_number(value):
            return _put_masked(x, key, value)
        call("x[indices] = value", (x, key, value), {})
        return None
    parsed.dots = True
    axis, turned, gone = x._layout.axis, None, None
    if axis is not None:
        entry = parsed.at(axis)
        if isinstance(entry, int):
            gone = parsed.place(axis)
        elif (entry.step or 1) < 0:
            turned = parsed.place(axis)
            parsed = _Key(list(_with(parsed, axis, _forwards(entry, x.shape[axis]))), x.shape, True)
    target = _view(x, parsed)
    column = value
    if not is_number(value):
        group_of([x, value], "x[key] = value")
        column = spread(_fitted(values(value, "x[key] = value"), target, gone, turned), x._group, target._layout, "x[key] = value")
    _store(x, target, column)
    return None


def _fitted(value: Any, target: ShardedArray, gone: int | None, turned: int | None) -> Any:
    """The value with the axes of the target: one more where an integer has become a slice, and in the order of the slice forwards."""
    shape, wanted = shape_of(value), list(target.shape)
    if gone is not None:
        del wanted[gone]
    while len(shape) > len(wanted) and shape[0] == 1:
        value = value[0] if type(value) is not ShardedArray else call("reshape", (value, shape[1:]), {})
        shape = shape[1:]
    if not fits(shape, tuple(wanted)):
        raise ValueError(f"x[key] = value: could not broadcast input array from shape {shape} into shape {tuple(wanted)}")
    if gone is not None and len(shape) > len(wanted) - gone:
        key = (*(slice(None),) * (len(shape) - (len(wanted) - gone)), None)
        value = value[key]
    if turned is not None:
        at = turned - (len(wanted) - len(shape))
        if at >= 0 and shape[at] != 1:
            value = value[(*(slice(None),) * at, slice(None, None, -1))]
    return value


def _store(x: ShardedArray, target: ShardedArray, column: Any) -> None:
    seen, p = set[int](), -1
    try:
        for p, part in target._parts.items():
            if id(x._parts[p]) not in seen:  # parts of one queue may be the same array, where each has the whole
                seen.add(id(x._parts[p]))
                if part is x._parts[p] or part.size or p == x._group.owned[0]:
                    part[...] = column[p] if type(column) is dict else column
    except Exception as error:
        if p >= 0:
            name_part(error, x._group, p, x._parts[p])
        raise


def _put_masked(x: ShardedArray, mask: ShardedArray, value: Any) -> None:
    group = group_of([x, mask], "x[mask] = value")
    column, p = spread(mask, group, x._layout, "x[mask] = value"), -1
    seen = set[int]()
    try:
        for p, part in x._parts.items():
            if id(part) not in seen:
                seen.add(id(part))
                part[column[p]] = value
    except Exception as error:
        if p >= 0:
            name_part(error, group, p, x._parts[p])
        raise


@implements("copyto", splits="each part by itself")
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if type(dst) is not ShardedArray:
        raise TypeError(f"copyto: dst must be a ShardedArray where src is one, not {type(dst).__name__}; gather it: src.to_device(d)")
    group_of([dst, src, where], "copyto")
    given = values(src, "copyto")
    if not fits(shape_of(given), dst.shape):
        raise ValueError(f"copyto: could not broadcast input array from shape {shape_of(given)} into shape {dst.shape}")
    column = spread(given, dst._group, dst._layout, "copyto")
    mask = where if where is True else spread(values(where, "copyto"), dst._group, dst._layout, "copyto")
    for p, part in dst._parts.items():
        chosen = mask[p] if type(mask) is dict else mask
        face.namespace().copyto(part, column[p] if type(column) is dict else column, casting=casting, where=chosen)
