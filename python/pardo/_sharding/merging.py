# python/pardo/_sharding/merging.py: sorted runs: where several are to be cut so that all before the cuts come first, and two as one.
"""References: P. J. Varman, S. D. Scheufler, B. R. Iyer, G. R. Ricard, "Merging multiple lists on hierarchical-memory multiprocessors",
Journal of Parallel and Distributed Computing 12, 1991, for the cuts; O. Green, R. McColl, D. A. Bader, "GPU Merge Path", ICS 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import searching
from pardo._array.interop import asnumpy
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Const, Item, NdItem, NdRange, Range, group_barrier, local_array, private_array
from pardo._sharding.group import Group
from pardo._sharding.moving import Parts, agreed, begun, placed

LOOKS = 4096  # elements of all parts that a round looks at, for each cut
FEWEST = 64  # of each part
STRETCH = 4096  # elements that an item of a processor puts in order
TILED = {"gpu"}  # the kinds of devices whose groups merge in local memory
WIDTH = 256  # items of such a group
EACH = (4, 15), (16, 7)  # elements of an item, by the most bytes of one: odd, so that items meet in no bank of the memory

# --- the order


def keys(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """What numbers are sorted by, the last one first: NaN after all others, complex numbers by both their parts."""
    if kind_of(values.dtype) == "c":
        nan = np.isnan(values.real), np.isnan(values.imag)
        return np.where(nan[1], 0, values.imag), np.where(nan[0], 0, values.real), nan[1], nan[0]
    if kind_of(values.dtype) == "f":
        wide = values.astype(np.float64)
        return np.where(np.isnan(wide), 0, wide), np.isnan(wide)
    return (values,)


def _places_in_order(runs: Sequence[np.ndarray[Any, Any]], descending: bool) -> np.ndarray[Any, Any]:
    """The places of all elements of sorted runs, in the order of the elements; equal ones in the order of the runs."""
    if descending:
        order = _places_in_order([run[::-1] for run in reversed(runs)], False)
        return len(order) - 1 - order[::-1]
    values = np.concatenate(runs)
    if kind_of(values.dtype) == "f":
        values = values.astype(np.float32 if values.itemsize <= 4 else np.float64, copy=False)  # NumPy sorts no bfloat16
    if kind_of(values.dtype) == "c":
        return np.lexsort(keys(values))
    return np.argsort(values, kind="stable")  # which merges runs as they are


def less(a: Any, b: Any) -> Any:
    return a < b


def less_float(a: Any, b: Any) -> Any:
    return (a < b) | ((a == a) & (b != b))


def less_complex(a: Any, b: Any) -> Any:
    no_real, no_imag = a.real != a.real, a.imag != a.imag
    other_no_real, other_no_imag = b.real != b.real, b.imag != b.imag
    first = less_float(a.real, b.real)
    alike = (a.real == b.real) | (no_real & other_no_real)
    second = less_float(a.imag, b.imag)
    # By which parts are NaN, then by the real parts, then by the imaginary ones.
    here, there = 2 * int(no_real) + int(no_imag), 2 * int(other_no_real) + int(other_no_imag)
    return (here < there) | ((here == there) & (first | (alike & second)))


def greater(a: Any, b: Any) -> Any:
    return less(b, a)


def greater_float(a: Any, b: Any) -> Any:
    return less_float(b, a)


def greater_complex(a: Any, b: Any) -> Any:
    return less_complex(b, a)


ORDERS = {"f": (less_float, greater_float), "c": (less_complex, greater_complex)}

# --- cuts


def cuts(group: Group, rows: Parts, lengths: Sequence[int], targets: Sequence[int], descending: bool) -> list[list[int]]:
    """How many elements of each part are among so many first ones of all: ``cuts[p][k]`` for ``targets[k]``.

    `rows` are the owned parts, each of them sorted; equal elements come in the order of the parts.
    """
    parts = len(lengths)
    if len(group.owned) == parts and all(_core._reached_in_place(x, group.queue(0)) for x in rows.values()):
        agreed(group, lambda p: rows[p].wait(), rows)
        made = _core._cut_runs([rows[p] for p in range(parts)], list(targets), descending, group.queue(0))
        if made is not None:
            return asnumpy(made).T.tolist()  # type: ignore[no-any-return]
    return _cuts_by_looks(group, rows, lengths, targets, descending)


def _cuts_by_looks(group: Group, rows: Parts, lengths: Sequence[int], targets: Sequence[int], descending: bool) -> list[list[int]]:
    """Each round looks at some elements between what is known to be before and behind a cut. Each of them is then on one side for certain,
    or close to the cut."""
    parts = len(lengths)
    looks = max(FEWEST, LOOKS // parts)
    low, high = np.zeros((len(targets), parts), np.int64), np.tile(np.asarray(lengths, np.int64), (len(targets), 1))
    for k, target in enumerate(targets):
        if target <= 0:
            high[k] = 0
        elif target >= sum(lengths):
            low[k] = high[k]
    while (low < high).any():
        where = [[_spread(low[k, p], high[k, p], looks) for k in range(len(targets))] for p in range(parts)]
        known = _elements(group, rows, [np.concatenate(places) for places in where])
        starts = [np.cumsum([0, *map(len, where[p])]) for p in range(parts)]
        for k, target in enumerate(targets):
            if (low[k] == high[k]).all():
                continue
            values = [known[p][starts[p][k] : starts[p][k + 1]] for p in range(parts)]
            _narrow(low[k], high[k], [where[p][k] for p in range(parts)], values, target, descending)
    return [[int(n) for n in low[:, p]] for p in range(parts)]


def _elements(group: Group, rows: Parts, where: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The elements of each part at its places, known in all processes."""
    found = {p: searching.take(x, placed(where[p], x.queue), axis=0) for p, x in rows.items()}
    begun(found.values())
    return agreed(group, lambda p: asnumpy(found[p]), rows)


def _spread(low: int, high: int, count: int) -> np.ndarray[Any, Any]:
    """Places from `low` up to `high`: all, or so many of them."""
    if high - low <= count:
        return np.arange(low, high)
    return low + (2 * np.arange(count) + 1) * (high - low) // (2 * count)


def _narrow(
    low: np.ndarray[Any, Any],
    high: np.ndarray[Any, Any],
    where: Sequence[np.ndarray[Any, Any]],
    values: Sequence[np.ndarray[Any, Any]],
    target: int,
    descending: bool,
) -> None:
    """Bring the bounds of one cut together, by elements of each part and their places in it."""
    parts = len(where)
    order = _places_in_order(values, descending)
    # Between two of the elements of a part that are looked at there may be others of it: `fewest` and `most` elements of all parts come
    # before each of them, and both grow along the order.
    edges = [np.concatenate(([low[p] - 1], places, [high[p]])) for p, places in enumerate(where)]
    since = np.concatenate([e[1:-1] - e[:-2] for e in edges])
    until = np.concatenate([e[2:] - e[1:-1] for e in edges])
    fewest = low.sum() - 1 + np.cumsum(since[order])
    most = high.sum() - np.cumsum(until[order][::-1])[::-1]
    part = np.repeat(np.arange(parts), [len(places) for places in where])[order]
    inside = np.bincount(part[: np.searchsorted(most, target)], minlength=parts)
    inside_or_close = np.bincount(part[: np.searchsorted(fewest, target)], minlength=parts)
    for p, places in enumerate(where):
        if inside[p]:
            low[p] = places[inside[p] - 1] + 1
        if inside_or_close[p] < len(places):
            high[p] = places[inside_or_close[p]]


# --- merging
#
# Where host code works, the routine `merge_runs` does (src/routines/cpu/sort/merge.cpp). Elsewhere the result is cut into stretches, which
# items or groups put together by themselves. `with_places`: a number of each element comes along; without, the arrays of numbers are not
# looked at.


def from_first(before: Any, a: Any, b: Any, count: Any) -> Any:
    """How many of the first `count` elements of the result come from `a`: those of `a` come before equal ones of `b`."""
    low, high = max(count - b.shape[0], 0), min(count, a.shape[0])
    while low < high:
        middle = (low + high) // 2
        if before(b[count - 1 - middle], a[middle]):
            high = middle
        else:
            low = middle + 1
    return low


@kernel(bounds_check=False)  # places lie in the runs, here and below
def merge(
    item: Item, before: Any, a: Any, b: Any, a_places: Any, b_places: Any, each: Any, with_places: Const[bool], out: Any, places: Any
) -> None:
    """Puts `each` elements in order, one after the other: for processors that a driver hides."""
    n, m = a.shape[0], b.shape[0]
    first = item.get_id(0) * each
    i = from_first(before, a, b, min(first, n + m))
    j = first - i
    x, y = a[min(i, n - 1)], b[min(j, m - 1)]
    for k in range(first, min(first + each, n + m)):
        second = (j < m) & ((i >= n) | before(y, x))
        out[k] = y if second else x
        if with_places:
            places[k] = b_places[min(j, m - 1)] if second else a_places[min(i, n - 1)]
        i += 0 if second else 1
        j += 1 if second else 0
        x, y = a[min(i, n - 1)], b[min(j, m - 1)]


@kernel(bounds_check=False)
def tile_cuts(item: Item, before: Any, a: Any, b: Any, tile: Any, cuts: Any) -> None:
    """How many elements of `a` come before each tile of the result."""
    t = item.get_id(0)
    cuts[t] = from_first(before, a, b, min(t * tile, a.shape[0] + b.shape[0]))


@kernel(bounds_check=False)
def merge_tiles(
    item: NdItem,
    before: Any,
    a: Any,
    b: Any,
    a_places: Any,
    b_places: Any,
    cuts: Any,
    each: Const[int],
    width: Const[int],
    with_places: Const[bool],
    out: Any,
    places: Any,
) -> None:
    """A group merges a tile in local memory, `each` elements an item: for GPUs, whose items read and write neighbours together."""
    group, me = item.get_group(), item.get_local_id(0)
    t = group.get_group_id(0)
    first = t * (each * width)
    count = int(min(each * width, a.shape[0] + b.shape[0] - first))
    start, of_a = cuts[t], int(cuts[t + 1] - cuts[t])
    start_b = first - start
    room = local_array(each * width, a.dtype)
    for k in range(me, count, width):
        room[k] = a[start + k] if k < of_a else b[start_b + k - of_a]
    group_barrier(group)
    begin = min(me * each, count)
    low, high = max(begin - (count - of_a), 0), min(begin, of_a)
    while low < high:
        middle = (low + high) // 2
        if before(room[of_a + begin - 1 - middle], room[middle]):
            high = middle
        else:
            low = middle + 1
    i, j = low, of_a + begin - low
    x, y = room[min(i, count - 1)], room[min(j, count - 1)]
    mine = private_array(each, a.dtype)
    came = private_array(each, np.int32)
    for k in range(each):
        second = (j < count) & ((i >= of_a) | before(y, x))
        mine[k] = y if second else x
        if with_places:
            came[k] = j if second else i
        i += 0 if second else 1
        j += 1 if second else 0
        x, y = room[min(i, count - 1)], room[min(j, count - 1)]
    group_barrier(group)
    for k in range(each):
        if begin + k < count:
            room[begin + k] = mine[k]
    group_barrier(group)
    for k in range(me, count, width):
        out[first + k] = room[k]
    if with_places:
        whence = local_array(each * width, np.int32)
        for k in range(each):
            if begin + k < count:
                whence[begin + k] = came[k]
        group_barrier(group)
        for k in range(me, count, width):
            w = whence[k]
            places[first + k] = a_places[start + w] if w < of_a else b_places[start_b + w - of_a]


Run = tuple[Array, Array | None]


def merged(runs: Sequence[Run], descending: bool, queue: Queue | None = None) -> Run:
    """Sorted runs as one on a queue, by default that of the first; each with a number for each element, or without. Equal elements stay in
    the order of the runs. They are on this queue, or as `Group.lend` gives them."""
    runs = list(runs)
    queue = queue or runs[0][0].queue
    while len(runs) > 1:
        pairs = [_two(runs[k], runs[k + 1], descending, queue) for k in range(0, len(runs) - 1, 2)]
        runs = pairs + runs[len(pairs) * 2 :]
    return _on(runs[0], queue)


def _two(first: Run, second: Run, descending: bool, queue: Queue) -> Run:
    (a, a_places), (b, b_places) = first, second
    made = None if queue.device.type in TILED else _core._merge_runs(a, b, a_places, b_places, descending, queue)
    if made:
        return made
    return _by_kernels(_on(first, queue), _on(second, queue), descending)


def _on(run: Run, queue: Queue) -> Run:
    values, places = run
    return values._to_queue(queue), None if places is None else places._to_queue(queue)


def _by_kernels(first: Run, second: Run, descending: bool) -> Run:
    (a, a_places), (b, b_places) = first, second
    total, queue = a.size + b.size, a.queue
    before = ORDERS.get(kind_of(a.dtype), (less, greater))[descending]
    out = _core._empty([total], a.dtype, queue)
    numbered = a_places is not None and b_places is not None
    places = _core._empty([total], np.int64, queue) if numbered else out
    arrays = before, a, b, a_places if numbered else a, b_places if numbered else b
    if queue.device.type not in TILED:
        merge[-(-total // STRETCH), queue](*arrays, STRETCH, numbered, out, places)
    else:
        each = next(count for size, count in EACH if a.itemsize <= size)
        tiles = -(-total // (each * WIDTH))
        cut_at = _core._empty([tiles + 1], np.int64, queue)
        tile_cuts[tiles + 1, queue](before, a, b, each * WIDTH, cut_at)
        merge_tiles[NdRange(Range(tiles * WIDTH), Range(WIDTH)), queue](*arrays, cut_at, each, WIDTH, numbered, out, places)
    return out, places if numbered else None
