# python/pardo/_sharding/halos.py: functions of each part, with rows of its neighbours before and after it.
from __future__ import annotations

import functools
import operator
import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._base import face
from pardo._base.promotion import kind_of
from pardo._core import Array, Event, _empty
from pardo._functions.sharing import may_share_memory
from pardo._sharding.array import ShardedArray, sharded
from pardo._sharding.failures import name_part
from pardo._sharding.functions import implements
from pardo._sharding.group import LocalGroup
from pardo._sharding.layout import Layout, along
from pardo._sharding.moves import cut, joined, relaid
from pardo._sharding.operands import group_of, is_number, spread, values

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


class Piece(NamedTuple):
    """Rows of a part with its halo: rows `start` to `stop` of another part, or of the constant, from row `at` on."""

    source: int  # the part; -1 for the constant
    start: int
    stop: int
    at: int


class Halo(NamedTuple):
    """What halos of an array of one layout are made of."""

    pieces: tuple[tuple[Piece, ...], ...]  # of each part with its halo, in order
    own: tuple[int | None, ...]  # which of these is the part itself; None where it is cut, or there is none
    extents: tuple[int, ...]  # of each part with its halo, along the split axis


class Margins(NamedTuple):
    """Room around the parts of a result of `map_shards`: the next call with the same halo writes the rows of neighbours there, and copies
    nothing else."""

    halo: tuple[tuple[int, int], str | None, Any]  # widths, mode, and what is beyond the ends
    whole: dict[int, Array]  # each owned part with its margins; empty: the next result is to have them


@functools.lru_cache(maxsize=256)
def _halo(layout: Layout, widths: tuple[int, int], mode: str | None) -> Halo:
    """Which rows of which parts make each part with its halo."""
    assert layout.axis is not None
    n, bounds = layout.shape[layout.axis], layout.bounds
    every, own, extents = [], [], []
    for part in range(layout.parts):
        low, high = bounds[part] - widths[0], bounds[part + 1] + widths[1]
        pieces: list[Piece] = []

        def add(source: int, start: int, stop: int, pieces: list[Piece] = pieces) -> None:
            pieces.append(Piece(source, start, stop, sum(q.stop - q.start for q in pieces)))

        def inside(first: int, last: int, add: Callable[..., None] = add) -> None:
            for q in range(layout.parts):
                start, stop = max(first, bounds[q]), min(last, bounds[q + 1])
                if start < stop:
                    add(q, start - bounds[q], stop - bounds[q])

        def beyond(first: int, last: int, add: Callable[..., None] = add, inside: Callable[[int, int], None] = inside) -> None:
            """Rows outside of the array, which are numbered on."""
            if first >= last or mode is None:
                return
            if mode == "constant":
                add(-1, 0, last - first)
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
        every.append(tuple(pieces))
        whole = [i for i, q in enumerate(pieces) if q.source == part and (q.start, q.stop) == (0, layout.length(part))]
        own.append(whole[0] if len(whole) == 1 else None)
        extents.append(sum(q.stop - q.start for q in pieces))
    return Halo(tuple(every), tuple(own), tuple(extents))


def _same_halo(a: Any, b: Any) -> bool:
    """Whether two halos are the same, in the bits of what is beyond the ends too: NaN is itself, and 0.0 is not -0.0."""
    return bool(a[:2] == b[:2] and (a[1] != "constant" or a[2].tobytes() == b[2].tobytes()))


def with_halos(x: ShardedArray, widths: tuple[int, int], mode: str | None, cval: Any) -> dict[int, Array]:
    """Each owned part with rows of its neighbours; only those are exchanged."""
    group, layout, axis = x._group, x._layout, x._layout.axis
    assert axis is not None
    if x.shape[axis] == 0 and mode in ("edge", "wrap") and any(widths):
        raise ValueError(f"map_shards: an array without rows has none for mode {mode!r}")
    halo, margins = _halo(layout, widths, mode), x._margins
    ready = margins.whole if margins is not None and _same_halo(margins.halo, (widths, mode, cval)) else {}
    if ready and isinstance(group, LocalGroup):
        return _filled(x, halo, ready, cval)
    owned, extents = set(group.owned), layout.shape
    sent: dict[tuple[int, int], list[Array]] = {}
    sizes: dict[tuple[int, int], int] = {}
    for q, pieces in enumerate(halo.pieces):
        for p, start, stop, _ in pieces:
            if p < 0 or p == q:
                continue
            if p in owned:
                sent.setdefault((p, q), []).append(cut(x._parts[p], axis, start, stop))
            if q in owned:
                sizes[p, q] = sizes.get((p, q), 0) + stop - start
    shapes = {pair: ((*extents[:axis], n, *extents[axis + 1 :]), x._dtype) for pair, n in sizes.items()}
    arrived = group.exchange({pair: joined(rows, axis) for pair, rows in sent.items()}, shapes)
    made = {}
    for q in group.owned:
        whole, used, rows = ready.get(q), dict[int, int](), list[Array]()
        for i, (p, start, stop, at) in enumerate(halo.pieces[q]):
            if whole is not None and i == halo.own[q]:
                continue
            if p < 0:
                shape = (*extents[:axis], stop, *extents[axis + 1 :])
                row = face.namespace().full(shape, cval, dtype=x._dtype, queue=group.queue(q))
            elif p == q:
                row = cut(x._parts[q], axis, start, stop)
            else:
                first = used.get(p, 0)
                used[p] = first + stop - start
                row = cut(arrived[p, q], axis, first, used[p])
            if whole is None:
                rows.append(row)
            else:
                whole[along(axis, at, at + stop - start)] = row
        made[q] = whole if whole is not None else joined(rows, axis) if rows else x._parts[q]
    return made


def _filled(x: ShardedArray, halo: Halo, ready: dict[int, Array], cval: Any) -> dict[int, Array]:
    """The same in the room that the parts have: each piece is one copy between queues of this process."""
    axis = x._layout.axis
    assert axis is not None
    for q, whole in ready.items():
        own = halo.own[q]
        for i, (p, start, stop, at) in enumerate(halo.pieces[q]):
            if i == own:
                continue
            rows = along(axis, at, at + stop - start)
            if p < 0:
                whole[rows] = cval
            else:
                x._group.queue(q).copy(whole[rows], x._parts[p][along(axis, start, stop)])
    return ready


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
    if mode == "constant":
        cval = _constant(cval, x)
    columns = [_column(other, x) for other in others]
    local = {p: _read_only(part) for p, part in with_halos(x, widths, mode, cval).items()} if any(widths) else x._parts
    results: dict[int, Any] = {}
    p = -1
    try:
        for p, part in local.items():
            results[p] = f(part, *(c[p] if type(c) is dict else c for c in columns))
            if any(widths):
                results[p] = _apart(results[p], part)
    except Exception as error:
        if p >= 0:
            name_part(error, group, p, x._parts[p])
        raise
    first = results[group.owned[0]]
    if first is None or isinstance(first, Event):
        return None
    halo_of = widths, mode, cval
    if not isinstance(first, tuple):
        del first
        return _put_together(x, results, axis, halo_of)
    return tuple(_put_together(x, {p: r[i] for p, r in results.items()}, axis, halo_of) for i in range(len(first)))


def _constant(cval: Any, x: ShardedArray) -> Any:
    """The number beyond the ends, in the dtype of the array."""
    number = np.asarray(cval)
    if number.ndim or kind_of(number.dtype) not in "biufc":
        raise TypeError(f"map_shards: cval must be a number, not {cval!r}")
    if kind_of(number.dtype) == "c" and kind_of(x._dtype) != "c":
        raise TypeError(f"map_shards: cval is {cval!r}, and the array has dtype {x._dtype}")
    with np.errstate(all="ignore"):
        return number.astype(x._dtype)[()]


def _read_only(part: Array) -> Array:
    """A part with its halo as the function gets it: what is written there would be lost."""
    view: Array = part[...]
    view._set_writeable(False)
    return view


def _apart(result: Any, part: Array) -> Any:
    """A result without memory of the part that the function was given: that is overwritten by later halos."""
    if type(result) is tuple:
        return tuple(_apart(r, part) for r in result)
    if type(result) is not Array or result.pending or _core._is_only_array(result):
        return result
    return result._copy() if may_share_memory(result, part) else result


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


def _put_together(x: ShardedArray, results: dict[int, Any], axis: Any, halo: tuple[tuple[int, int], str | None, Any]) -> ShardedArray:
    group, own, (widths, mode, _) = x._group, x._layout, halo
    for p, result in results.items():
        if type(result) is not Array:
            raise TypeError(f"map_shards: the function must give an array, a tuple of arrays or None, not {type(result).__name__}")
        if result.queue != group.queue(p):
            where = "another queue" if str(result.device.id) == group.name(p) else str(result.device)
            raise TypeError(f"map_shards: the function gave an array on {where} for part {p}, which is on {group.name(p)}")
    result = None  # for `_with_margins`, which counts references
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
    lengths, margins = [s[at] for s in shapes], None
    if any(widths):
        plan = _halo(own, widths, mode)
        own_lengths = [own.length(p) for p in range(group.size)]
        cuts = tuple(lengths) == plan.extents
        if cuts or (lengths == own_lengths and at == own.axis):
            results, margins = _with_margins(x, results, at, plan, halo, cuts)
            lengths = own_lengths
    bounds = [0]
    for length in lengths:
        bounds.append(bounds[-1] + length)
    shape = (*shapes[0][:at], bounds[-1], *shapes[0][at + 1 :])
    made = sharded(group, Layout(shape, at, bounds, group.keys), results)
    made._margins = margins
    return made


_OURS = 2  # references to a result that no one else has: of the dict, and of the function that counts


def _is_only_ours(x: Array) -> bool:
    """Whether no other code can reach the memory of an array to which there is one reference, and it may be written."""
    return _core._is_only_array(x) and weakref.getweakrefcount(x) == 0 and bool(x.flags.writeable)


def _with_margins(
    x: ShardedArray, results: dict[int, Any], at: int, plan: Halo, halo: Any, cuts: bool
) -> tuple[dict[int, Array], Margins | None]:
    """The results without their halos. In a chain of calls they get room for the next halo: memory that only this function has, where the
    halo was, or new memory that is computed into."""
    layout, (widths, mode, _) = x._layout, halo
    before = {p: widths[0] if mode is not None else min(widths[0], layout.bounds[p]) for p in results}
    own = {p: along(at, before[p], before[p] + layout.length(p)) for p in results}
    fits = at == layout.axis and None not in plan.own
    if fits and cuts and all(sys.getrefcount(results[p]) == _OURS and _is_only_ours(results[p]) for p in results):
        whole = results
    elif fits and x._margins is not None and _same_halo(x._margins.halo, halo) and all(r.pending for r in results.values()):
        whole = {}
        for p in list(results):
            shape = list(results[p].shape)
            shape[at] = plan.extents[p]
            whole[p] = _empty(shape, results[p].dtype, results[p].queue)
            whole[p][own[p]] = results.pop(p)[own[p]] if cuts else results.pop(p)
    else:
        parts = {p: cut(r, at, own[p][at].start, own[p][at].stop) for p, r in results.items()} if cuts else results
        return parts, Margins(halo, {}) if fits else None
    return {p: w[own[p]] for p, w in whole.items()}, Margins(halo, whole)
