# python/pardo/_sharding/shaping.py: axes in another order, other shapes, arrays put together and cut.
from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo._base import face
from pardo._base.arguments import axis_index, extents_of
from pardo._base.promotion import kind_of
from pardo._core import _broadcast_to, _empty, _expand_dims, _permute_dims, _squeeze
from pardo._sharding.array import ShardedArray, mapped, sharded
from pardo._sharding.functions import call, implements
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout, along
from pardo._sharding.moves import Segment, collect, relaid
from pardo._sharding.operands import fits, group_of, spread, together, values
from pardo._sharding.reshard import bounds_for

_VIEW = "a view of the parts"


# --- axes ------------------------------------------------------------------------------------------------------------------------------


def _permuted(x: ShardedArray, axes: Sequence[int], name: str) -> ShardedArray:
    order = [axis_index(a, x.ndim, name) for a in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"{name}: axes {tuple(axes)} are no permutation of those of an array of {x.ndim} dimensions")
    own = x._layout
    axis = None if own.axis is None else order.index(own.axis)
    layout = Layout([own.shape[a] for a in order], axis, own.bounds, own.devices)
    return sharded(x._group, layout, mapped(x, lambda part: _permute_dims(part, order)))


@implements("permute_dims", "transpose", splits=_VIEW)
def permute_dims(a: ShardedArray, axes: Any = None) -> ShardedArray:
    return _permuted(a, range(a.ndim)[::-1] if axes is None else extents_of(axes, "transpose: axes"), "transpose")


@implements("matrix_transpose", splits=_VIEW)
def matrix_transpose(x: ShardedArray, /) -> ShardedArray:
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: at least two dimensions are needed, not {x.ndim}")
    return _permuted(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2], "matrix_transpose")


@implements("swapaxes", splits=_VIEW)
def swapaxes(a: ShardedArray, axis1: int, axis2: int) -> ShardedArray:
    order = list(range(a.ndim))
    i, j = axis_index(axis1, a.ndim, "swapaxes"), axis_index(axis2, a.ndim, "swapaxes")
    order[i], order[j] = order[j], order[i]
    return _permuted(a, order, "swapaxes")


@implements("moveaxis", splits=_VIEW)
def moveaxis(a: ShardedArray, source: Any, destination: Any) -> ShardedArray:
    sources = [axis_index(i, a.ndim, "moveaxis") for i in extents_of(source, "moveaxis: source")]
    places = [axis_index(i, a.ndim, "moveaxis") for i in extents_of(destination, "moveaxis: destination")]
    if len(sources) != len(places):
        raise ValueError("moveaxis: source and destination must have the same number of elements")
    order = [i for i in range(a.ndim) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return _permuted(a, order, "moveaxis")


@implements("expand_dims", splits=_VIEW)
def expand_dims(a: ShardedArray, axis: Any = 0) -> ShardedArray:
    given = extents_of(axis, "expand_dims: axis")
    ndim = a.ndim + len(given)
    new = [axis_index(i, ndim, "expand_dims") for i in given]
    if len(set(new)) != len(new):
        raise ValueError("expand_dims: repeated axis")
    kept = [i for i in range(ndim) if i not in new]
    shape = [1 if i in new else a.shape[kept.index(i)] for i in range(ndim)]
    at = None if a._layout.axis is None else kept[a._layout.axis]
    return sharded(a._group, Layout(shape, at, a.bounds, a.devices), mapped(a, lambda part: _expand_dims(part, new)))


@implements("squeeze", splits=_VIEW)
def squeeze(a: ShardedArray, axis: Any = None) -> ShardedArray:
    given = [i for i, n in enumerate(a.shape) if n == 1] if axis is None else extents_of(axis, "squeeze: axis")
    gone = [axis_index(i, a.ndim, "squeeze") for i in given]
    for i in gone:
        if a.shape[i] != 1:
            raise ValueError(f"squeeze: axis {i} has extent {a.shape[i]}, not one")
    if a._layout.axis in gone:
        a = _everywhere(a, "squeeze")
    at = None if a._layout.axis is None else a._layout.axis - sum(i < a._layout.axis for i in gone)
    layout = Layout([n for i, n in enumerate(a.shape) if i not in gone], at, a.bounds, a.devices)
    return sharded(a._group, layout, mapped(a, lambda part: _squeeze(part, gone)))


def _everywhere(x: ShardedArray, name: str) -> ShardedArray:
    """The array on each device; an implicit copy."""
    target = x._layout.with_axis(None)
    return sharded(x._group, target, relaid(x, target, name))


@implements("broadcast_to", splits=_VIEW)
def broadcast_to(array: ShardedArray, shape: Any) -> ShardedArray:
    wanted = tuple(extents_of(shape, "broadcast_to: shape"))
    if not fits(array.shape, wanted):
        raise ValueError(f"broadcast_to: cannot broadcast shape {array.shape} to {wanted}")
    own = array._layout
    if own.axis is not None and array.shape[own.axis] != wanted[own.axis + len(wanted) - array.ndim]:
        array = _everywhere(array, "broadcast_to")
        own = array._layout
    layout = Layout(wanted, None if own.axis is None else own.axis + len(wanted) - array.ndim, own.bounds, own.devices)
    spread = face.namespace().broadcast_to  # what it gives cannot be written
    return sharded(array._group, layout, {p: spread(part, layout.local_shape(p)) for p, part in array._parts.items()})


@implements("broadcast_arrays", splits=_VIEW)
def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    group, layout, columns = together(arrays, "broadcast_arrays")
    made = []
    for column in columns:
        if type(column) is not dict:
            column = {p: face.namespace().asarray(column, queue=group.queue(p)) for p in group.owned}
        made.append(sharded(group, layout, {p: _broadcast_to(part, list(layout.local_shape(p))) for p, part in column.items()}))
    return tuple(made)


# --- shapes ----------------------------------------------------------------------------------------------------------------------------


def _wanted(shape: Any, size: int) -> tuple[int, ...]:
    extents = extents_of(shape, "reshape: shape")
    if extents.count(-1) > 1:
        raise ValueError("reshape: can only specify one unknown dimension")
    known = math.prod(n for n in extents if n != -1)
    if -1 in extents:
        if known == 0 or size % known:
            raise ValueError(f"reshape: cannot reshape an array of size {size} into shape {tuple(extents)}")
        extents[extents.index(-1)] = size // known
    if math.prod(extents) != size or any(n < 0 for n in extents):
        raise ValueError(f"reshape: cannot reshape an array of size {size} into shape {tuple(extents)}")
    return tuple(extents)


def _kept_split(own: Layout, wanted: Sequence[int]) -> Layout | None:
    """The split of the reshaped array whose parts are those of the array, reshaped; None if there is none."""
    assert own.axis is not None
    before, after = math.prod(own.shape[: own.axis]), math.prod(own.shape[own.axis + 1 :])
    product = 1
    for axis, n in enumerate(wanted):
        if product == before:
            inner = math.prod(wanted[axis + 1 :])
            if inner and all(b * after % inner == 0 for b in own.bounds) and n * inner == own.shape[own.axis] * after:
                return Layout(wanted, axis, [b * after // inner for b in own.bounds], own.devices)
        product *= n
    return None


@implements("reshape", splits="each part by itself where its elements stay together, else rows go to other parts")
def reshape(x: ShardedArray, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    if order not in ("C", None):
        return NotImplemented
    wanted, own, group = _wanted(shape, x.size), x._layout, x._group
    plain = face.namespace().reshape
    if own.axis is None:
        layout = Layout(wanted, None, (), own.devices)
        return sharded(group, layout, mapped(x, lambda part: plain(part, wanted, copy=copy)))
    if x.size == 0:
        axis = 0 if wanted else None
        layout = Layout(wanted, axis, bounds_for(wanted[0], group), own.devices)
        return sharded(group, layout, {p: _empty(list(layout.local_shape(p)), x.dtype, group.queue(p)) for p in group.owned})
    kept = _kept_split(own, wanted)
    if kept is not None:
        return sharded(group, kept, {p: plain(part, kept.local_shape(p), copy=copy) for p, part in x._parts.items()})
    if copy is False:
        raise ValueError("reshape: elements would go to other devices, and copy is False")
    if not wanted or all(n == 1 for n in wanted):
        return reshape(_everywhere(x, "reshape"), wanted)
    if math.prod(own.shape[: own.axis]) != 1:
        target = own.with_axis(0, bounds_for(x.shape[0], group))
        return reshape(sharded(group, target, relaid(x, target, "reshape")), wanted)
    flat = _kept_split(own, (x.size,))
    assert flat is not None
    row = sharded(group, flat, {p: plain(part, (-1,)) for p, part in x._parts.items()})
    axis = next(i for i, n in enumerate(wanted) if n != 1)
    inner = math.prod(wanted[axis + 1 :])
    layout = Layout(wanted, axis, bounds_for(wanted[axis], group), own.devices)
    cut = Layout((x.size,), 0, [b * inner for b in layout.bounds], own.devices)
    parts = collect(group, [Segment(row, 0, x.size, 0)], cut, 0, "reshape")
    return sharded(group, layout, {p: plain(part, layout.local_shape(p)) for p, part in parts.items()})


@implements("ravel", splits="as reshape")
def ravel(a: ShardedArray, order: str = "C") -> Any:
    return reshape(a, (-1,), order) if order != "K" else reshape(a, (-1,))


@implements("flatten", splits="as reshape")
def flatten(a: ShardedArray, order: str = "C") -> Any:
    made = ravel(a, order)
    return NotImplemented if made is NotImplemented else call("copy", (made,), {})


# --- order -----------------------------------------------------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int, name: str) -> list[int]:
    return list(range(ndim)) if axis is None else [axis_index(a, ndim, name) for a in extents_of(axis, f"{name}: axis")]


@implements("flip", splits="along the split axis the parts exchange places, else a view of the parts")
def flip(m: ShardedArray, axis: Any = None) -> ShardedArray:
    axes = _axes(axis, m.ndim, "flip")
    return m[(*(slice(None, None, -1) if a in axes else slice(None) for a in range(m.ndim)), ...)]


@implements("flipud", splits="as flip")
def flipud(m: ShardedArray) -> ShardedArray:
    return flip(m, 0)


@implements("fliplr", splits="as flip")
def fliplr(m: ShardedArray) -> ShardedArray:
    return flip(m, 1)


@implements("roll", splits="along the split axis elements go to the next parts, else each part by itself")
def roll(a: ShardedArray, shift: Any, axis: Any = None) -> Any:
    if axis is None:
        amounts = extents_of(shift, "roll: shift")
        return reshape(roll(ravel(a), sum(amounts), 0), a.shape)
    axes, shifts = extents_of(axis, "roll: axis"), extents_of(shift, "roll: shift")
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise ValueError("roll: shift and axis must have the same number of elements")
    count = max(len(axes), len(shifts))
    axes, shifts = axes * (count if len(axes) == 1 else 1), shifts * (count if len(shifts) == 1 else 1)
    for one, by in zip(axes, shifts, strict=True):
        a = _rolled(a, by, axis_index(one, a.ndim, "roll"))
    return a


def _rolled(x: ShardedArray, by: int, axis: int) -> Any:
    own, n = x._layout, x.shape[axis]
    if own.axis != axis:
        return sharded(x._group, own, mapped(x, lambda part: face.namespace().roll(part, by, axis)))
    by = by % n if n else 0
    if by == 0:
        return call("copy", (x,), {})
    return sharded(x._group, own, collect(x._group, [Segment(x, n - by, n, 0), Segment(x, 0, n - by, by)], own, axis))


def _triangle(name: str) -> Any:
    def function(m: ShardedArray, k: int = 0) -> ShardedArray:
        own, plain = m._layout, getattr(face.namespace(), name)
        if m.ndim < 2 or own.axis is None or own.axis < m.ndim - 2:
            return sharded(m._group, own, mapped(m, lambda part: plain(part, k=k)))
        sign = 1 if own.axis == m.ndim - 2 else -1
        return sharded(m._group, own, {p: plain(part, k=k + sign * own.bounds[p]) for p, part in m._parts.items()})

    return function


for _name in ("tril", "triu"):
    implements(_name, splits="each part by itself")(_triangle(_name))


@implements("diff", splits="edges go to the parts before")
def diff(a: ShardedArray, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    given = {name for name, x in (("prepend", prepend), ("append", append)) if x is not None and x is not np._NoValue}
    if given:
        return NotImplemented
    if n < 0:
        raise ValueError(f"diff: order must be non-negative but got {n}")
    at = axis_index(axis, a.ndim, "diff")
    before = (slice(None),) * at
    for _ in range(n):
        later, earlier = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        moved = sharded(a._group, later._layout, relaid(earlier, later._layout))
        a = later != moved if kind_of(a.dtype) == "b" else later - moved
    return a


# --- together and apart ------------------------------------------------------------------------------------------------------------------


@implements("concat", "concatenate", splits="along the split axis the parts are made anew, else each part by itself")
def concat(arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    if out is not None or casting != "same_kind":
        return NotImplemented
    given = [values(x, "concat") for x in arrays]
    group = group_of(given, "concat")
    if any(not hasattr(x, "shape") for x in given):
        raise ValueError("concat: arrays without dimensions cannot be put together")
    if axis is None:
        given, axis = [ravel(x) if type(x) is ShardedArray else x.reshape(-1) for x in given], 0
    first = next(x for x in given if type(x) is ShardedArray)
    at = axis_index(axis, first.ndim, "concat")
    for x in given:
        if len(x.shape) != first.ndim or any(m != n for a, (m, n) in enumerate(zip(x.shape, first.shape, strict=True)) if a != at):
            raise ValueError(f"concat: shapes {first.shape} and {tuple(x.shape)} must be the same but along axis {at}")
    wanted = face.namespace().result_type(*(x.dtype for x in given)) if dtype is None else dtype
    reference = max((x for x in given if type(x) is ShardedArray), key=lambda x: x.size)
    split = reference._layout
    if split.axis == at:
        return _along(given, group, at, wanted, reference)
    columns = []
    for x in given:
        target = Layout(tuple(x.shape), split.axis, split.bounds, group.keys)
        columns.append(spread(x, group, target, "concat"))
    shape = list(first.shape)
    shape[at] = sum(x.shape[at] for x in given)
    plain = face.namespace().concat
    parts = {p: plain([c[p] for c in columns], axis=at, dtype=wanted) for p in group.owned}
    return sharded(group, Layout(shape, split.axis, split.bounds, group.keys), parts)


def _along(given: Sequence[Any], group: Group, at: int, dtype: Any, reference: ShardedArray) -> ShardedArray:
    """Along the split axis: parts by the weights of the devices, made of the pieces that lie in them."""
    segments, place, ready = [], 0, []
    for x in given:
        n = x.shape[at]
        layout = Layout(tuple(x.shape), at, reference.bounds if n == reference.shape[at] else bounds_for(n, group), group.keys)
        if type(x) is ShardedArray and x._layout.axis == at:
            made = x
        else:
            made = sharded(group, layout, spread(x, group, layout, "concat"))
        made = made if made.dtype == dtype else made.astype(dtype)
        ready.append(made)
        segments.append(Segment(made, 0, n, place))
        place += n
    shape = list(reference.shape)
    shape[at] = place
    target = Layout(shape, at, bounds_for(place, group), group.keys)
    parts = collect(group, segments, target, at)
    return sharded(group, target, {p: part._copy() if _shares(part, ready, p) else part for p, part in parts.items()})


def _shares(part: Any, ready: Sequence[ShardedArray], p: int) -> bool:
    return part.base is not None or any(part is x._parts[p] for x in ready)


@implements("stack", splits="each part by itself")
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    given = [values(x, "stack") for x in arrays]
    first = next(x for x in given if type(x) is ShardedArray)
    at = axis_index(axis, first.ndim + 1, "stack")
    if any(tuple(x.shape) != first.shape for x in given):
        raise ValueError("stack: all arrays must have the same shape")
    key = (*(slice(None),) * at, None)
    return concat([x[key] for x in given], at, out, dtype=dtype, casting=casting)


def _rows(x: Any) -> Any:
    return x if len(x.shape) > 1 else x[None, ...] if len(x.shape) else x.reshape((1, 1))


@implements("vstack", "row_stack", splits="as concat")
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return concat([_rows(values(x, "vstack")) for x in tup], 0, dtype=dtype, casting=casting)


@implements("hstack", splits="as concat")
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    given = [values(x, "hstack") for x in tup]
    given = [x if len(x.shape) else x.reshape((1,)) for x in given]
    return concat(given, 0 if len(given[0].shape) == 1 else 1, dtype=dtype, casting=casting)


@implements("unstack", splits="rows are copies that each device has, or views of the parts")
def unstack(x: ShardedArray, /, *, axis: int = 0) -> tuple[ShardedArray, ...]:
    at = axis_index(axis, x.ndim, "unstack")
    return tuple(x[(*(slice(None),) * at, i)] for i in range(x.shape[at]))


def _cut_at(x: ShardedArray, places: Sequence[int], axis: int) -> list[ShardedArray]:
    ends = [0, *places, x.shape[axis]]
    return [x[along(axis, low, high)] for low, high in itertools.pairwise(ends)]


@implements("split", "array_split", splits=_VIEW)
def split(ary: ShardedArray, indices_or_sections: Any, axis: int = 0) -> list[ShardedArray]:
    at = axis_index(axis, ary.ndim, "split")
    if not isinstance(indices_or_sections, (int, np.integer)):
        return _cut_at(ary, list(indices_or_sections), at)
    n, count = ary.shape[at], int(indices_or_sections)
    if count <= 0:
        raise ValueError("split: number sections must be larger than 0")
    sizes = [n // count + (i < n % count) for i in range(count)]
    return _cut_at(ary, list(np.cumsum(sizes[:-1])), at)


@implements("atleast_1d", splits=_VIEW)
def atleast_1d(*arys: Any) -> Any:
    made = [reshape(x, (1,)) if type(x) is ShardedArray and not x.shape else x for x in arys]
    return made[0] if len(made) == 1 else tuple(made)


# --- what is told of arrays --------------------------------------------------------------------------------------------------------------


@implements("shape", splits="")
def shape(a: ShardedArray) -> tuple[int, ...]:
    return a.shape


@implements("ndim", splits="")
def ndim(a: ShardedArray) -> int:
    return a.ndim


@implements("size", splits="")
def size(a: ShardedArray, axis: Any = None) -> int:
    return a.size if axis is None else math.prod(a.shape[i] for i in _axes(axis, a.ndim, "size"))


@implements("result_type", splits="")
def result_type(*xs: Any) -> Any:
    return face.namespace().result_type(*(x.dtype if type(x) is ShardedArray else x for x in xs))


@implements("can_cast", splits="")
def can_cast(from_: Any, to: Any, *args: Any, **kwargs: Any) -> Any:
    return face.namespace().can_cast(*(x.dtype if type(x) is ShardedArray else x for x in (from_, to)), *args, **kwargs)


@implements("iscomplexobj", splits="")
def iscomplexobj(x: ShardedArray) -> bool:
    return kind_of(x.dtype) == "c"


@implements("isrealobj", splits="")
def isrealobj(x: ShardedArray) -> bool:
    return kind_of(x.dtype) != "c"
