# python/pardo/_sharding/moves.py: data that goes from parts to others: from one split to another, and pieces that are put together.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pardo._base import face
from pardo._core import Array, _empty
from pardo._runtime.transfers import note_between
from pardo._sharding.array import ShardedArray
from pardo._sharding.group import Group, Pair
from pardo._sharding.layout import Layout, along


class Segment(NamedTuple):
    """Indices `start` to `stop` of an axis of an array; they become those from `place` on of the result."""

    source: ShardedArray
    start: int
    stop: int
    place: int


def cut(x: Array, axis: int, start: int, stop: int) -> Array:
    """A view of some indices of an axis; the array itself where that is all."""
    if start == 0 and stop == x.shape[axis]:
        return x
    return x[along(axis, start, stop)]


def joined(pieces: Sequence[Array], axis: int) -> Array:
    """Arrays of one queue one after another: the array itself where there is one."""
    return pieces[0] if len(pieces) == 1 else face.namespace().concat(pieces, axis=axis)


def collect(group: Group, segments: Sequence[Segment], target: Layout, axis: int, implicit: str | None = None) -> dict[int, Array]:
    """The owned parts of an array of layout `target`, which is split along `axis`, made of segments of arrays that are split along it too.
    Parts that are one piece of one that is on the same queue are views of that. `implicit`: what `transfer_guard` is told that copies."""
    pieces_of: dict[int, list[tuple[int, Array]]] = {p: [] for p in group.owned}
    owned = set(group.owned)
    for source, start, stop, place in segments:
        bounds, pieces, shapes = source._layout.bounds, dict[Pair, Array](), dict[Pair, Any]()
        places: dict[Pair, int] = {}
        for p in range(group.size):
            low, high = max(start, bounds[p]), min(stop, bounds[p + 1])
            if low >= high:
                continue
            for q in range(group.size):
                first = max(low, target.bounds[q] - place + start)
                last = min(high, target.bounds[q + 1] - place + start)
                if first >= last:
                    continue
                if q in owned:
                    extents = source._layout.shape
                    shapes[p, q] = ((*extents[:axis], last - first, *extents[axis + 1 :]), source._dtype)
                    places[p, q] = first
                if p in owned:
                    pieces[p, q] = cut(source._parts[p], axis, first - bounds[p], last - bounds[p])
                    if implicit is not None and p != q:
                        note_between(implicit, pieces[p, q].nbytes, group.name(p), group.name(q))
        arrived = group.exchange(pieces, shapes)
        for pair in shapes:
            pieces_of[pair[1]].append((places[pair] - start + place, arrived[pair]))
    dtype = segments[0].source._dtype if segments else None
    made = {}
    for q, found in pieces_of.items():
        ordered = [x for _, x in sorted(found, key=lambda item: item[0])]
        made[q] = joined(ordered, axis) if ordered else _empty(list(target.local_shape(q)), dtype, group.queue(q))
    return made


def relaid(x: ShardedArray, target: Layout, implicit: str | None = None) -> dict[int, Array]:
    """The owned parts of the same array in another layout; views where nothing moves."""
    own, group = x._layout, x._group
    if own.axis == target.axis and own.bounds == target.bounds:
        return x._parts
    if own.axis is None:
        axis = target.axis
        assert axis is not None
        return {p: cut(part, axis, *_ends(target, p)) for p, part in x._parts.items()}
    if target.axis is None:
        return _everywhere(x, implicit)
    if own.axis == target.axis:
        return collect(group, [Segment(x, 0, own.shape[own.axis], 0)], target, own.axis, implicit)
    return _across(x, target, implicit)


def _ends(layout: Layout, part: int) -> tuple[int, int]:
    return layout.bounds[part], layout.bounds[part + 1]


def _everywhere(x: ShardedArray, implicit: str | None) -> dict[int, Array]:
    """All parts on each device."""
    group, axis = x._group, x._layout.axis
    assert axis is not None
    if implicit is not None:
        for p in group.owned:
            for q in range(group.size):
                if p != q and x._layout.length(q):
                    row = x.nbytes // max(1, x.shape[axis])
                    note_between(implicit, row * x._layout.length(q), group.name(q), group.name(p))
    gathered = group.all_gather_arrays(x._parts)
    full = [p for p in range(group.size) if x._layout.length(p)] or [0]
    return {p: joined([xs[q] for q in full], axis) for p, xs in gathered.items()}


def _across(x: ShardedArray, target: Layout, implicit: str | None) -> dict[int, Array]:
    """From a split along one axis to one along another: each part sends each other a block."""
    own, group, old, new = x._layout, x._group, x._layout.axis, target.axis
    assert old is not None
    assert new is not None
    owned = set(group.owned)
    pieces: dict[Pair, Array] = {}
    shapes: dict[Pair, Any] = {}
    for p in range(group.size):
        for q in range(group.size):
            extents = list(own.shape)
            extents[old], extents[new] = own.length(p), target.length(q)
            if not extents[old] or not extents[new]:
                continue
            if q in owned:
                shapes[p, q] = (tuple(extents), x._dtype)
            if p in owned:
                pieces[p, q] = cut(x._parts[p], new, *_ends(target, q))
                if implicit is not None and p != q:
                    note_between(implicit, pieces[p, q].nbytes, group.name(p), group.name(q))

    where = {pair: along(old, *_ends(own, pair[0])) for pair in shapes}
    return group.place(pieces, where, shapes, {q: (target.local_shape(q), x._dtype) for q in group.owned})


def gathered_on(x: ShardedArray, queue: Any) -> Array:
    """The whole array on one queue of this process: a copy."""
    group, axis = x._group, x._layout.axis
    if axis is None:
        return x._parts[group.owned[0]]._to_queue(queue)
    parts: Mapping[int, Array] = x._parts
    found = group.gather(parts, queue)
    assert found is not None
    full = [piece for p, piece in enumerate(found) if x._layout.length(p)] or [found[0]]
    return joined(full, axis)
