# python/pardo/_sharding/moving.py: how the algorithms on split arrays move elements: other splits, whole copies, requests to owners.
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.joining import concat, stack
from pardo._array.ranges import arange
from pardo._array.searching import searchsorted, take
from pardo._array.sorting import argsort
from pardo._core import Array
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout, balanced_bounds

Parts = dict[int, Array]


def shares(layout: Layout, n: int) -> tuple[int, ...]:
    """The bounds at which n indices are split as those of a layout are: each part has its share, rounded down."""
    whole = 0 if layout.axis is None else layout.shape[layout.axis]
    if not whole:
        return balanced_bounds(n, [1] * layout.parts)
    return tuple(n * bound // whole for bound in layout.bounds)


def cut(x: Array, axis: int, first: int, last: int) -> Array:
    """A view of the indices from first to last of an axis."""
    if first == 0 and last == x.shape[axis]:
        return x
    return x[(slice(None),) * axis + (slice(first, last),)]


def joined(pieces: Sequence[Array], axis: int) -> Array:
    """Pieces one after the other along an axis."""
    return pieces[0] if len(pieces) == 1 else concat(list(pieces), axis=axis)


def empty(shape: Sequence[int], dtype: Any, group: Group, part: int, op_name: str = "shard") -> Array:
    return _core._empty_in(list(shape), dtype, group.queue(part), "device", op_name)


def sent(
    group: Group, extents: Sequence[Sequence[int]], piece: Callable[[int, int], Array], rest: Callable[[int, int], tuple[int, ...]], dtype: Any
) -> dict[int, list[Array]]:
    """Pieces go from each part to each part: what arrives at owned parts, in the order of the sources, without the empty ones.

    ``extents[p][q]`` is how many indices go from p to q, the same in all processes; ``piece(p, q)`` is that piece, ``rest(p, q)`` its shape.
    """
    size, owned = group.size, set(group.owned)
    pieces = {(p, q): piece(p, q) for p in group.owned for q in range(size) if extents[p][q]}
    shapes = {(p, q): (rest(p, q), dtype) for p in range(size) for q in range(size) if extents[p][q] and q in owned}
    arrived = group.exchange(pieces, shapes)
    return {q: [arrived[p, q] for p in range(size) if extents[p][q]] for q in group.owned}


def whole(x: ShardedArray) -> Parts:
    """The whole array on each owned part."""
    axis = x.layout.axis
    if axis is None:
        return x._parts
    everywhere = x.group.all_gather_arrays(x._parts)
    bounds = x.layout.bounds
    filled = [p for p in range(x.group.size) if bounds[p + 1] > bounds[p]] or [0]
    return {p: joined([pieces[q] for q in filled], axis) for p, pieces in everywhere.items()}


def resplit(x: ShardedArray, axis: int, bounds: Sequence[int] | None = None) -> ShardedArray:
    """The same array, split along an axis at bounds; without them in equal parts, or as it is if that is the axis already."""
    layout, group = x.layout, x.group
    if bounds is None:
        bounds = layout.bounds if layout.axis == axis else balanced_bounds(x.shape[axis], group.weights or [1] * group.size)
    wanted = layout.with_axis(axis, tuple(bounds))
    if wanted == layout:
        return x
    if layout.axis is None:
        return sharded(group, wanted, {p: cut(x._parts[p], axis, bounds[p], bounds[p + 1]) for p in group.owned})
    source = layout.axis
    size = range(group.size)
    if source == axis:
        old = layout.bounds

        def common(p: int, q: int) -> tuple[int, int]:
            return max(old[p], bounds[q]), min(old[p + 1], bounds[q + 1])

        extents = [[max(0, last - first) for first, last in (common(p, q) for q in size)] for p in size]

        def piece(p: int, q: int) -> Array:
            first, last = common(p, q)
            return cut(x._parts[p], axis, first - old[p], last - old[p])

        def rest(p: int, q: int) -> tuple[int, ...]:
            return (*x.shape[:axis], extents[p][q], *x.shape[axis + 1 :])

    else:
        lengths = [layout.length(p) for p in size]
        extents = [[n if bounds[q + 1] > bounds[q] else 0 for q in size] for n in lengths]

        def piece(p: int, q: int) -> Array:
            return cut(x._parts[p], axis, bounds[q], bounds[q + 1])

        def rest(p: int, q: int) -> tuple[int, ...]:
            shape = list(x.shape)
            shape[source], shape[axis] = lengths[p], bounds[q + 1] - bounds[q]
            return tuple(shape)

    arrived = sent(group, extents, piece, rest, x.dtype)
    parts = {q: joined(found, source) if found else empty(wanted.local_shape(q), x.dtype, group, q) for q, found in arrived.items()}
    return sharded(group, wanted, parts)


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


def requested(x: ShardedArray, places: Mapping[int, Array]) -> Parts:
    """What is at places of the split axis, for each owned part: its places are a row of int64, none of them outside.

    Each part sorts its places by their owners, who take the elements; these go back, and into the order of the places.
    """
    axis = x.layout.axis
    if axis is None:
        raise ValueError("requested: the array is not split")
    orders, counts, pieces = by_owner(x, places)
    bounds, group, size = x.layout.bounds, x.group, range(x.group.size)
    asked = sent(group, counts, lambda p, q: pieces[p][q], lambda p, q: (counts[p][q],), np.dtype(np.int64))
    answers: dict[int, dict[int, Array]] = {}
    for q, found in asked.items():
        senders = [p for p in size if counts[p][q]]
        answers[q] = {p: take(x._parts[q], where - bounds[q], axis=axis) for p, where in zip(senders, found, strict=True)}

    def rest(p: int, q: int) -> tuple[int, ...]:
        return (*x.shape[:axis], counts[q][p], *x.shape[axis + 1 :])

    back = [[counts[p][q] for p in size] for q in size]
    arrived = sent(group, back, lambda q, p: answers[q][p], rest, x.dtype)
    result: Parts = {}
    for p, found in arrived.items():
        if found:
            result[p] = take(joined(found, axis), argsort(orders[p]), axis=axis)
        else:
            result[p] = empty((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x.dtype, group, p)
    return result


def by_owner(x: ShardedArray, places: Mapping[int, Array]) -> tuple[Parts, list[list[int]], dict[int, list[Array]]]:
    """Places of the split axis, sorted by the parts that own them and else in their order: the orders, how many go from where to where,
    and the pieces for each owner."""
    group, bounds = x.group, x.layout.bounds
    orders: Parts = {}
    ordered: Parts = {}
    ends: Parts = {}
    for p in group.owned:
        queue = group.queue(p)
        limits = _core._host_operand(np.asarray(bounds[1:-1], np.int64), queue, "take", False)
        owner = searchsorted(limits, places[p], side="right")
        orders[p] = argsort(owner)
        ordered[p] = take(places[p], orders[p], axis=0)
        ends[p] = searchsorted(take(owner, orders[p], axis=0), arange(group.size, dtype=np.int64, queue=queue), side="right")
    known = agreed(group, lambda p: [0, *(int(end) for end in _host(ends[p]))])
    counts = [[after - before for before, after in itertools.pairwise(known[p])] for p in range(group.size)]
    pieces = {p: [ordered[p][known[p][q] : known[p][q + 1]] for q in range(group.size)] for p in group.owned}
    return orders, counts, pieces


def _host(x: Array) -> Any:
    from pardo._array.interop import asnumpy

    return asnumpy(x)


def agreed(group: Group, ask: Callable[[int], Any]) -> list[Any]:
    """Small values of the host, one a part, known in all processes; an error of any part is raised in all of them."""
    answers: dict[int, tuple[Any, Exception | None]] = {}
    for p in group.owned:
        try:
            answers[p] = ask(p), None
        except Exception as error:  # noqa: BLE001: it is raised below, in all processes
            answers[p] = None, error
    found = group.all_gather(answers)
    for _, error in found:
        if error is not None:
            raise error
    return [value for value, _ in found]


def same_everywhere(group: Group, parts: Parts) -> Parts:
    """What each part has computed of the same operands: that of the first part for all, where their devices may round otherwise."""
    first = group.owned[0]
    if _alike(group):
        return parts
    return group.broadcast(parts.get(0), 0, (parts[first].shape, parts[first].dtype))


def _alike(group: Group) -> bool:
    """Whether the devices of all parts round alike: processors of one machine, NVIDIA's GPUs, one device of OpenCL."""
    names = {group.name(p).partition("/")[0] for p in range(group.size)}
    return len(names) == 1 or all(name.startswith("cuda:") for name in names)
