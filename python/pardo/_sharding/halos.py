# python/pardo/_sharding/halos.py: functions of each part, with rows of its neighbours before and after it.
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pardo._base import face
from pardo._core import Array, Event
from pardo._sharding.array import ShardedArray, sharded
from pardo._sharding.failures import name_part
from pardo._sharding.functions import implements
from pardo._sharding.layout import Layout
from pardo._sharding.moves import cut, joined, relaid
from pardo._sharding.operands import group_of, is_number, spread, values

_LARGE = 1 << 20  # bytes of a part
_MODES = (None, "constant", "edge", "wrap")


def _widths(halo: Any) -> tuple[int, int]:
    try:
        before, after = (halo, halo) if not isinstance(halo, (tuple, list)) else halo
        widths = operator.index(before), operator.index(after)
    except (TypeError, ValueError):
        raise TypeError(f"map_shards: halo must be an integer, or one for before and one for after, not {halo!r}") from None
    if min(widths) < 0:
        raise ValueError(f"map_shards: halo must not be negative: {halo!r}")
    return widths


def _rows(x: ShardedArray, part: int, widths: tuple[int, int], mode: str | None) -> list[tuple[int, int, int]]:
    """What a part with its halo is made of, in order: of which part the rows from where to where; -1 for rows of the constant."""
    layout, n = x._layout, x.shape[x._layout.axis or 0]
    low, high = layout.bounds[part] - widths[0], layout.bounds[part + 1] + widths[1]
    pieces: list[tuple[int, int, int]] = []

    def inside(first: int, last: int) -> None:
        for q in range(layout.parts):
            start, stop = max(first, layout.bounds[q]), min(last, layout.bounds[q + 1])
            if start < stop:
                pieces.append((q, start, stop))

    def beyond(first: int, last: int) -> None:
        """Rows outside of the array, which are numbered on."""
        if first >= last or mode is None:
            return
        if mode == "constant":
            pieces.append((-1, 0, last - first))
        elif mode == "edge":
            for _ in range(last - first):
                edge = 0 if last <= 0 else n - 1
                inside(edge, edge + 1)
        else:
            for row in range(first, last):
                inside(row % n, row % n + 1)

    beyond(low, min(high, 0))
    inside(max(low, 0), min(high, n))
    beyond(max(low, n), high)
    return pieces


def with_halos(x: ShardedArray, widths: tuple[int, int], mode: str | None, cval: Any) -> dict[int, Array]:
    """Each owned part with rows of its neighbours; only those are exchanged."""
    group, layout, axis = x._group, x._layout, x._layout.axis
    assert axis is not None
    if x.shape[axis] == 0 and mode in ("edge", "wrap") and any(widths):
        raise ValueError(f"map_shards: an array without rows has none for mode {mode!r}")
    if x.nbytes >= _LARGE * group.size:
        group.pace(x._parts)
    plans = [_rows(x, p, widths, mode) for p in range(group.size)]
    owned = set(group.owned)
    extents = layout.shape
    sent: dict[tuple[int, int], list[Array]] = {}
    sizes: dict[tuple[int, int], int] = {}
    for q, plan in enumerate(plans):
        for p, start, stop in plan:
            if p < 0 or p == q:
                continue
            if p in owned:
                sent.setdefault((p, q), []).append(cut(x._parts[p], axis, start - layout.bounds[p], stop - layout.bounds[p]))
            if q in owned:
                sizes[p, q] = sizes.get((p, q), 0) + stop - start
    pieces = {pair: joined(rows, axis) for pair, rows in sent.items()}
    shapes = {pair: ((*extents[:axis], n, *extents[axis + 1 :]), x._dtype) for pair, n in sizes.items()}
    arrived = group.exchange(pieces, shapes)
    made = {}
    for q in group.owned:
        used: dict[int, int] = {}
        rows = []
        for p, start, stop in plans[q]:
            if p < 0:
                shape = (*extents[:axis], stop, *extents[axis + 1 :])
                rows.append(face.namespace().full(shape, cval, dtype=x._dtype, queue=group.queue(q)))
            elif p == q:
                rows.append(cut(x._parts[q], axis, start - layout.bounds[q], stop - layout.bounds[q]))
            else:
                first = used.get(p, 0)
                used[p] = first + stop - start
                rows.append(cut(arrived[p, q], axis, first, used[p]))
        made[q] = joined(rows, axis) if rows else x._parts[q]
    return made


@implements("map_shards", splits="each part by itself, with rows of its neighbours")
def map_shards(
    x: ShardedArray, f: Callable[..., Any], *others: Any, halo: Any = 0, mode: str | None = None, cval: Any = 0, axis: Any = "same"
) -> Any:
    group, layout, widths = group_of([x, *others], "map_shards"), x._layout, _widths(halo)
    if not callable(f):
        raise TypeError(f"map_shards: a function of a part is expected, not {type(f).__name__}")
    if mode not in _MODES:
        raise ValueError(f"map_shards: mode is {mode!r}; it must be one of {', '.join(map(repr, _MODES))}")
    if any(widths) and layout.axis is None:
        raise ValueError("map_shards: each device has the whole array, so there are no neighbours; halo must be 0")
    columns = [_column(other, x) for other in others]
    local = with_halos(x, widths, mode, cval) if any(widths) else x._parts
    if any(widths):
        local = {p: part[...] if part is x._parts[p] else part for p, part in local.items()}
        for part in local.values():
            part._set_writeable(False)  # copies: what is written there would be lost
    results: dict[int, Any] = {}
    p = -1
    try:
        for p, part in local.items():
            results[p] = f(part, *(c[p] if type(c) is dict else c for c in columns))
    except Exception as error:
        if p >= 0:
            name_part(error, group, p, x._parts[p])
        raise
    first = results[group.owned[0]]
    if first is None or isinstance(first, Event):
        return None
    if not isinstance(first, tuple):
        return _put_together(x, results, axis, widths, mode)
    return tuple(_put_together(x, {p: r[i] for p, r in results.items()}, axis, widths, mode) for i in range(len(first)))


def _column(other: Any, x: ShardedArray) -> Any:
    """Arrays over the same devices by their parts; plain ones whole, on each device."""
    if is_number(other):
        return other
    if type(other) is not ShardedArray:
        whole = Layout(tuple(getattr(values(other, "map_shards"), "shape", ())), None, (), x._group.keys)
        return spread(values(other, "map_shards"), x._group, whole, "map_shards")
    own, mine = other._layout, x._layout
    if own.axis is None or own.bounds == mine.bounds or mine.axis is None:
        return other._parts
    if other.shape[own.axis] != x.shape[mine.axis]:
        has, wanted = other.shape[own.axis], x.shape[mine.axis]
        raise ValueError(f"map_shards: an operand has extent {has} along its split axis, and the array {wanted}")
    return relaid(other, Layout(own.shape, own.axis, mine.bounds, x._group.keys), "map_shards")


def _put_together(x: ShardedArray, results: dict[int, Any], axis: Any, widths: tuple[int, int], mode: str | None) -> ShardedArray:
    group, own = x._group, x._layout
    for p, result in results.items():
        if type(result) is not Array:
            raise TypeError(f"map_shards: the function must give an array, a tuple of arrays or None, not {type(result).__name__}")
        if result.queue != group.queue(p):
            raise TypeError(f"map_shards: the function gave an array on {result.device} for part {p}, which is on {group.name(p)}")
    at = own.axis if axis == "same" else axis
    shapes = group.all_gather({p: r.shape for p, r in results.items()})
    if at is None or own.axis is None:
        if any(s != shapes[0] for s in shapes):
            several = ", ".join(map(str, dict.fromkeys(shapes)))
            raise ValueError(f"map_shards: what each device has whole must have one shape, not {several}")
        return sharded(group, Layout(shapes[0], None, (), group.keys), results)
    ndim = len(shapes[0])
    if any(len(s) != ndim for s in shapes) or not ndim:
        raise ValueError("map_shards: results must have dimensions, as many for each part; axis=None is for what each device has whole")
    at = operator.index(at)
    if not -ndim <= at < ndim:
        raise ValueError(f"map_shards: the results have no axis {at} to be split along; axis= says which it is, or None")
    at %= ndim
    if any(s[:at] + s[at + 1 :] != shapes[0][:at] + shapes[0][at + 1 :] for s in shapes):
        raise ValueError(f"map_shards: results differ in more than axis {at}: {', '.join(map(str, shapes))}")
    n, lengths = own.shape[own.axis], [s[at] for s in shapes]
    before = [widths[0] if mode is not None else min(widths[0], own.bounds[p]) for p in range(group.size)]
    after = [widths[1] if mode is not None else min(widths[1], n - own.bounds[p + 1]) for p in range(group.size)]
    own_lengths = [own.length(p) for p in range(group.size)]
    if any(widths) and lengths == [b + m + a for b, m, a in zip(before, own_lengths, after, strict=True)]:
        results = {p: cut(r, at, before[p], before[p] + own_lengths[p]) for p, r in results.items()}
        lengths = own_lengths
    bounds = [0]
    for length in lengths:
        bounds.append(bounds[-1] + length)
    shape = (*shapes[0][:at], bounds[-1], *shapes[0][at + 1 :])
    return sharded(group, Layout(shape, at, bounds, group.keys), results)
