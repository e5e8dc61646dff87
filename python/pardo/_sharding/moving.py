# python/pardo/_sharding/moving.py: how the algorithms on split arrays move elements: other splits, whole copies, requests to owners.
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asarray
from pardo._array.joining import stack
from pardo._core import Array, Queue
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.failures import name_part
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout, balanced_bounds
from pardo._sharding.moves import relaid
from pardo._sharding.reshard import bounds_for

Parts = dict[int, Array]


def shares(layout: Layout, n: int) -> tuple[int, ...]:
    """The bounds at which n indices are split as those of a layout are: each part has its share, rounded down."""
    whole = 0 if layout.axis is None else layout.shape[layout.axis]
    if not whole:
        return balanced_bounds(n, [1] * layout.parts)
    return tuple(n * bound // whole for bound in layout.bounds)


def empty(shape: Sequence[int], dtype: Any, group: Group, part: int, op_name: str = "shard") -> Array:
    return _core._empty_in(list(shape), dtype, group.queue(part), "device", op_name)


def sent(
    group: Group,
    extents: Sequence[Sequence[int]],
    piece: Callable[[int, int], Array],
    shape: Callable[[int, int], tuple[int, ...]],
    dtype: Any,
    lent: bool = False,
) -> dict[int, list[Array]]:
    """Pieces go from each part to each part: what arrives at owned parts, in the order of the sources, without the empty ones.

    ``extents[p][q]`` is how many indices go from p to q, the same in all processes; ``piece(p, q)`` is that piece, of this shape. `lent`:
    by `Group.lend`.
    """
    size, owned = group.size, set(group.owned)
    pieces = {(p, q): piece(p, q) for p in group.owned for q in range(size) if extents[p][q]}
    shapes = {(p, q): (shape(p, q), dtype) for p in range(size) for q in range(size) if extents[p][q] and q in owned}
    arrived = (group.lend if lent else group.exchange)(pieces, shapes)
    return {q: [arrived[p, q] for p in range(size) if extents[p][q]] for q in group.owned}


def whole(x: ShardedArray, implicit: str | None = None) -> Parts:
    """The whole array on each owned part. `implicit`: what `transfer_guard` is told that copies."""
    return relaid(x, x.layout.with_axis(None), implicit)


def resplit(x: ShardedArray, axis: int, bounds: Sequence[int] | None = None, implicit: str | None = None) -> ShardedArray:
    """The same array, split along an axis at bounds; without them in the parts' shares, or as it is if that is the axis already."""
    layout, group = x.layout, x.group
    if bounds is None:
        bounds = layout.bounds if layout.axis == axis else bounds_for(x.shape[axis], group)
    wanted = layout.with_axis(axis, tuple(bounds))
    return x if wanted == layout else sharded(group, wanted, relaid(x, wanted, implicit))


def settled(group: Group, layout: Layout, parts: Mapping[int, Array], lengths: Sequence[int]) -> ShardedArray:
    """The array whose parts have these lengths along the first axis, split at the bounds that a layout gives so many indices."""
    old = tuple(itertools.accumulate(lengths, initial=0))
    rest = parts[group.owned[0]].shape[1:]
    found = sharded(group, Layout((old[-1], *rest), 0, old, layout.devices), parts)
    return resplit(found, 0, shares(layout, old[-1]))


def flat(x: ShardedArray) -> ShardedArray:
    """All elements in one row, in the order of C, split along it."""
    layout = x.layout
    if x.ndim == 1 and layout.axis == 0:
        return x
    if layout.axis is None:
        whole_row = replicated(x.group, {p: part.reshape(-1) for p, part in x._parts.items()})
        return resplit(whole_row, 0)
    lead = next((k for k, n in enumerate(x.shape) if n != 1), 0)
    y = x if layout.axis <= lead else resplit(x, 0 if math.prod(x.shape) == 0 else lead)
    axis = y.layout.axis
    assert axis is not None
    inner = math.prod(y.shape[axis + 1 :]) if axis >= lead else math.prod(y.shape) // max(1, y.shape[axis])
    bounds = tuple(bound * inner for bound in y.layout.bounds)
    return sharded(x.group, Layout((x.size,), 0, bounds, layout.devices), {p: part.reshape(-1) for p, part in y._parts.items()})


def shaped(row: ShardedArray, shape: tuple[int, ...]) -> ShardedArray:
    """A row as an array of a shape, split along its first axis longer than 1."""
    if len(shape) == 1:
        return row
    lead = next((k for k, n in enumerate(shape) if n != 1), 0)
    inner = math.prod(shape[lead + 1 :])
    group = row.group
    ends = shares(row.layout, shape[lead])
    y = resplit(row, 0, tuple(end * inner for end in ends))
    layout = Layout(shape, lead, ends, row.layout.devices)
    return sharded(group, layout, {p: part.reshape(layout.local_shape(p)) for p, part in y._parts.items()})


def by_rows(x: ShardedArray, routine: Callable[[ShardedArray], ShardedArray]) -> ShardedArray:
    """A routine of a split row for each of the rows along the split axis, one after the other; the results are as long."""
    axis, group, layout = x.layout.axis, x.group, x.layout
    assert axis is not None
    fronts = {p: _core._moveaxis(v, [axis], [0]) for p, v in x._parts.items()}
    rest = fronts[group.owned[0]].shape[1:]
    lines = {p: v.reshape(v.shape[0], math.prod(rest)) for p, v in fronts.items()}
    of_line = Layout((x.shape[axis],), 0, layout.bounds, layout.devices)
    done = [routine(sharded(group, of_line, {p: v[:, k] for p, v in lines.items()})) for k in range(math.prod(rest))]
    parts = {}
    for p in group.owned:
        rows = stack([row._parts[p] for row in done], axis=1)
        parts[p] = _core._moveaxis(rows.reshape(rows.shape[0], *rest), [0], [axis])
    return sharded(group, layout, parts)


def across(x: ShardedArray, local: Callable[[Array], Array], n: int | None = None) -> ShardedArray:
    """What a function makes of all elements along the split axis: the rows are split, and afterwards the axis as it was, or in the same
    shares of n. The function gets an array of two dimensions, the first of which is that axis."""
    axis, group, layout = x.layout.axis, x.group, x.layout
    assert axis is not None
    fronts = {p: _core._moveaxis(v, [axis], [0]) for p, v in x._parts.items()}
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    count = math.prod(rest)
    lines = {p: v.reshape(v.shape[0], count) for p, v in fronts.items()}
    table = sharded(group, Layout((x.shape[axis], count), 0, layout.bounds, layout.devices), lines)
    by_line = resplit(table, 1, balanced_bounds(count, [1] * group.size))
    made = {p: local(v) for p, v in by_line._parts.items()}
    length = x.shape[axis] if n is None else n
    ends = shares(layout, length)
    rows = resplit(sharded(group, by_line.layout.with_shape((length, count)), made), 0, ends)
    parts = {p: _core._moveaxis(v.reshape(v.shape[0], *rest), [0], [axis]) for p, v in rows._parts.items()}
    return sharded(group, Layout((*x.shape[:axis], length, *x.shape[axis + 1 :]), axis, ends, layout.devices), parts)


def placed(values: np.ndarray[Any, Any], queue: Queue) -> Array:
    """Numbers that an algorithm has computed on the host, on a queue: no value of the caller's, so `transfer_guard` does not see it."""
    return asarray(values, queue=queue)


def begun(arrays: Iterable[Array]) -> None:
    """Let all parts begin before one of them is waited for."""
    for x in arrays:
        x.force()


def agreed(group: Group, ask: Callable[[int], Any], parts: Mapping[int, Array] | None = None) -> list[Any]:
    """Small values of the host, one a part, known in all processes; an error of any part is raised in all of them. It names the part if
    that of `parts`, which is asked about, has failed."""
    answers: dict[int, tuple[Any, Exception | None]] = {}
    for p in group.owned:
        try:
            answers[p] = ask(p), None
        except Exception as error:  # it is raised below, in all processes
            name_part(error, group, p, None if parts is None else parts[p])
            answers[p] = None, error
    found = group.all_gather(answers)
    for _, failure in found:
        if failure is not None:
            raise failure
    return [value for value, _ in found]


def each(group: Group, function: Callable[[int], Any], parts: Mapping[int, Array]) -> dict[int, Any]:
    """What a function that waits gives for each owned part; an error of any part is raised in all processes."""
    made: dict[int, Any] = {}

    def ask(p: int) -> None:
        made[p] = function(p)

    agreed(group, ask, parts)
    return made


def same_everywhere(group: Group, parts: Parts) -> Parts:
    """What each part has computed of the same operands: that of the first part for all, where their devices may round otherwise."""
    first = group.owned[0]
    if group.alike:
        return parts
    return group.broadcast(parts.get(0), 0, (parts[first].shape, parts[first].dtype))
