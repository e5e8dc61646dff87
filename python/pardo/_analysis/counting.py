# python/pardo/_analysis/counting.py: how often numbers occur, and in which interval they lie.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.interop import asnumpy
from pardo._base.arguments import array, default_on, default_queue, home_queue, index
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions.operands import cast, operand, parameters_on_host, to_queue
from pardo._kernel.kernel import kernel
from pardo._language.atomics import atomic
from pardo._language.groups import reduce_over_group
from pardo._language.index_space import Const, Item, NdItem, NdRange, Range, group_barrier, local_array
from pardo._runtime.devices import group_size

__all__ = [
    "bincount",
    "digitize",
]


@kernel
def count_places(item: Item, places: Any, counts: Any) -> None:
    """Counts of integers: their sums do not depend on the order."""
    atomic.add(counts, places[item.get_id(0)], 1)


def clear(item: Any, own: Any, room: Any) -> None:
    """No counts in the memory of a group."""
    for k in range(item.get_local_id(0), room, item.get_local_range(0)):
        own[k] = 0


def add_up(item: Any, own: Any, counts: Any, copies: Any) -> None:
    """The counts of a group, added to those of all."""
    for k in range(item.get_local_id(0), counts.shape[0], item.get_local_range(0)):
        total = np.int32(0)
        for c in range(copies):
            total += own[k * copies + (k + c) % copies]  # neighbours begin at copies in different banks
        if total > 0:
            atomic.add(counts, k, counts.dtype.type(total))


def count_place(own: Any, copy: Any, copies: Any, told: Any, place: Any) -> None:
    """Counts an integer."""
    atomic.add(own, np.uint32(np.int32(place) * copies + copy), 1)


@kernel(bounds_check=False)  # what is counted is below the number of counts, and there is room for so many copies of these
def count_in_groups(item: NdItem, count: Any, told: Any, values: Any, counts: Any, copies: Const[int], room: Const[int]) -> None:
    """Each group counts a part in its own memory, and adds what it has to the result once. Its items count in several copies in turns, so
    that they meet seldom where different counts are few. `count` is count_place, or count_value with what it has to be told."""
    own = local_array(room, np.int32)
    group = item.get_group()
    clear(item, own, room)
    group_barrier(group)
    copy = np.int32(item.get_local_id(0)) % copies
    step = item.get_global_range(0)
    whole = values.shape[0] // (4 * step) * 4 * step
    for i in range(item.get_global_id(0), whole, 4 * step):  # several are read before one is used
        for value in (values[i], values[i + step], values[i + 2 * step], values[i + 3 * step]):
            count(own, copy, copies, told, value)
    for i in range(whole + item.get_global_id(0), values.shape[0], step):
        count(own, copy, copies, told, values[i])
    group_barrier(group)
    add_up(item, own, counts, copies)


def bin_of(edges: Any, even: Any, last: Any, x: Any) -> Any:
    """The bin of a value; -1 outside of all, and for NaN.

    `even`: the first and the last edge, bins for each unit of length, and how near to an edge, in widths of a bin, the formula of even bins
    may be wrong: only there edges are looked at.
    """
    first, end, scale, near, far = even
    value = edges.dtype.type(x)
    k = np.int32(-1)
    if value >= first and value <= end:
        guess = (value - first) * scale
        k = np.int32(guess)
        part = guess - edges.dtype.type(k)
        if not (part >= near and part <= far):
            k = k if guess < edges.dtype.type(last) else last
            while k > 0 and value < edges[k]:
                k -= 1
            while k < last and value >= edges[k + 1]:
                k += 1
    return k


def count_value(own: Any, copy: Any, copies: Any, told: Any, x: Any) -> None:
    """Counts a value in its bin, of one width each. `told`: what bin_of takes before it."""
    edges, even, last = told
    k = bin_of(edges, even, last, x)
    if k >= 0:
        atomic.add(own, np.uint32(k * copies + copy), 1)


@kernel(bounds_check=False)  # there is a row for each part
def count_bins_in_parts(item: Item, x: Any, edges: Any, even: Any, counts: Any, piece: Any) -> None:
    """Values in bins of one width, for devices whose items go through many elements: each item has a row of counts.

    Bins are computed by the lanes of vectors, a piece at a time, and counted one after the other.
    """
    part, parts = item.get_id(0), counts.shape[0]
    first, _, scale, near, far = even
    last = np.int32(counts.shape[1] - 1)
    bins = np.empty(piece, np.int32)
    end = x.shape[0] * (part + 1) // parts
    for begin in range(x.shape[0] * part // parts, end, piece):
        values = x[begin : min(begin + piece, end)]
        for j in range(values.shape[0]):
            guess = (edges.dtype.type(values[j]) - first) * scale
            whole = np.int32(guess)
            rest = guess - edges.dtype.type(whole)
            bins[j] = whole if rest >= near and rest <= far else -1
        for j in range(values.shape[0]):
            k = bins[j]
            if np.uint32(k) > np.uint32(last):
                k = bin_of(edges, even, last, values[j])
            if k >= 0:
                counts[part, np.uint32(k)] += 1


MOST = np.int64(2**63 - 1)


@kernel(bounds_check=False)  # by itself
def count_below(item: NdItem, values: Any, counts: Any, ends: Any, room: Const[int]) -> None:
    """Counts the values that are below the number of counts, and puts the least and the greatest of all into `ends`."""
    own = local_array(room, np.int32)
    group = item.get_group()
    clear(item, own, room)
    group_barrier(group)
    step = item.get_global_range(0)
    whole = values.shape[0] // (4 * step) * 4 * step
    least, greatest = MOST, ~MOST
    for i in range(item.get_global_id(0), whole, 4 * step):
        for value in (values[i], values[i + step], values[i + 2 * step], values[i + 3 * step]):
            v = np.int64(value)
            least, greatest = min(least, v), max(greatest, v)
            if np.uint64(v) < np.uint64(room):
                atomic.add(own, np.uint32(v), 1)
    for i in range(whole + item.get_global_id(0), values.shape[0], step):
        v = np.int64(values[i])
        least, greatest = min(least, v), max(greatest, v)
        if np.uint64(v) < np.uint64(room):
            atomic.add(own, np.uint32(v), 1)
    group_barrier(group)
    least, greatest = reduce_over_group(group, least, min), reduce_over_group(group, greatest, max)
    if item.get_local_id(0) == 0:
        atomic.min(ends, 0, least)
        atomic.max(ends, 1, greatest)
    add_up(item, own, counts, 1)


ROOMS = ((128, 8, 1024), (1024, 1, 1024), (4096, 1, 4096))  # of so many counts, how many copies take how many counters of a group
EACH = 64  # places that are worth an item of a group
SHORT = (1 << 31) - 1  # places that 32 bits count
PARTS, PER_PART = 4, 4096  # of a compute unit of a processor; values that are worth one
PIECE = 512  # values that a part computes the bins of before it counts
GROUPS = 8  # of a compute unit: as many as are under way together


def added_counts(places: Array, counts: Array) -> Array:
    """Counts, which are zeros, plus how often each number is among the places: counted by groups, if all fit into the memory of each."""
    device, n = places.device, counts.size
    if "atomic64" not in device.aspects:
        parts = [places[first : first + SHORT] for first in range(0, places.size, SHORT)]
        for part in parts:
            counts = _core.add(counts, cast(_counted_here(part, _core._full([n], 0, np.int32, places.queue)), np.int64))
        return counts
    return _counted_here(places, counts)


def _counted_here(places: Array, counts: Array) -> Array:
    copies, room, space = _groups_for(places, counts.size)
    if space is None:
        count_places[Range(places.size)](places, counts)
    else:
        count_in_groups[space](count_place, 0, places, counts, copies, room)
    return counts


def _groups_for(x: Array, n: int) -> tuple[int, int, NdRange | None]:
    """Copies and counters, and groups that count `n` things in their own memory; none where that does not pay."""
    device = x.device
    size = max(group_size(device), 1)
    most = (device.local_mem_size or 0) // 8  # counters in half of it
    _, copies, room = next((r for r in ROOMS if n <= r[0] and r[2] <= most), (0, 0, 0))
    groups = min((device.max_compute_units or 1) * GROUPS, x.size // (EACH * size))
    pays = room and groups >= 2 and x.size // groups < 1 << 31
    return copies, room, NdRange(groups * size, size) if pays else None


def counted_at_once(x: Array) -> tuple[Array, int, int] | None:
    """How often integers below the largest of ROOMS occur, and the least and the greatest integer, which are waited for, in one pass.

    None where the device does not count in groups.
    """
    n = ROOMS[-1][0]
    device = x.device
    if group_size(device) == 0 or "atomic64" not in device.aspects or x._kind not in "iu":
        return None
    _, room, space = _groups_for(x, n)
    if space is None:
        return None
    counts: Array = _core._full([n], 0, np.int64, x.queue)
    ends = to_queue(np.asarray([MOST, ~MOST]), x.queue)
    count_below[space](x, counts, ends, room)
    least, greatest = asnumpy(ends).tolist()
    return counts, least, greatest


def formula_of(edges: NDArray[Any]) -> tuple[Any, ...]:
    """What bin_of takes as `even`.

    A value at a distance g of bin widths from the first edge is computed to be at g (1 + d), |d| <= 2 eps, by a subtraction, a product and
    the rounded scale; edges are rounded to 2 units of the largest one. Twice that is taken.
    """
    kind, n = edges.dtype.type, edges.size - 1
    first, last = float(edges[0]), float(edges[-1])
    eps = 2.0 ** (-23 if kind is np.float32 else -52)
    with np.errstate(all="ignore"):
        length = last - first
        near = 4 * n * eps + 4 * float(np.spacing(kind(max(abs(first), abs(last))))) / (length / n)
        scale = kind(n / length)
    near = near if near < 0.25 else 1.0  # always
    return edges[0], edges[-1], scale, kind(near), kind(1 - near)


def counted_in_bins(x: Array, edges: NDArray[Any], queue_edges: Array) -> Array | None:
    """How many values are in each of the bins of one width, in one pass.

    None where that does not pay, or values and edges are compared in a third dtype.
    """
    n = edges.size - 1
    device = x.device
    exact = x.dtype == edges.dtype or (x._kind in "iu" and x.dtype.itemsize < 8 and edges.dtype == np.float64)
    if "atomic64" not in device.aspects or edges.dtype not in (np.float32, np.float64) or not exact:
        return None
    if group_size(device) == 0:
        parts = min(PARTS * (device.max_compute_units or 1), x.size // max(PER_PART, 2 * n))
        if parts < 1:
            return None
        rows: Array = _core._full([parts, n], 0, np.int64, x.queue)
        count_bins_in_parts[Range(parts)](x, queue_edges, formula_of(edges), rows, PIECE)
        total: Array = _core._reduce(_core._SUM, rows, [0], False)
        return total
    copies, room, space = _groups_for(x, n)
    if space is None:
        return None
    counts: Array = _core._full([n], 0, np.int64, x.queue)
    count_in_groups[space](count_value, (queue_edges, formula_of(edges), np.int32(n - 1)), x, counts, copies, room)
    return counts


@kernel
def sum_segments(item: Item, starts: Any, values: Any, sums: Any) -> None:
    """Each item adds the values of one place, in their order: the same bits on each run, and as NumPy's."""
    i = item.get_id(0)
    total = sums[i]
    for k in range(starts[i], starts[i + 1]):
        total += values[k]
    sums[i] = total


def counted(places: Array, weights: Array | None, n: int) -> Array:
    """How often each number below `n` is among the places, or the sums of their weights; places are inside."""
    sums = _core._full([n], 0, np.int64 if weights is None else weights.dtype, places.queue)
    by_groups = weights is None and group_size(places.device) > 0
    if n and not by_groups and _core._accumulates_at(_core.add._row, sums):
        one = _core._full([1], 1, np.int64, places.queue) if weights is None else weights
        _core._accumulate_at(_core.add._row, sums, places, one, True)
        return sums
    if weights is None:
        return added_counts(places, sums) if places.size and n else sums
    order = _core._argsort(places, 0, False, True)
    starts = _core._searchsorted(_core._take(places, order, 0), _core._arange(0, n + 1, 1, np.int64, places.queue), False, None)
    if places.size and n:
        sum_segments[Range(n)](starts, _core._take(weights, order, 0), sums)
    return sums


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """Count the number of occurrences of each value in an array of non-negative ints.

    Parameters
    ----------
    x : Array of int
        One-dimensional.
    weights : Array, optional
        What each element counts, real; of the size of `x`. Lists and NumPy arrays are taken too.
    minlength : int
        The least number of elements of the result.

    Returns
    -------
    Array
        Counts, of int64, or sums of weights, of float64. Waits for the largest element: the shape depends on it.

    Raises
    ------
    TypeError
        `x` is not an Array or not of integers, or weights are complex.
    ValueError
        There is not one dimension, an element or `minlength` is negative, or there are not as many weights.

    See Also
    --------
    histogram, digitize, unique

    Notes
    -----
    The same input gives the same bits on the same device, whatever the number of threads. On CPUs parts of the array are counted on
    their own and then taken together; on other devices counts are atomic additions, in the memory of each group first where there are
    at most 4096, and then the least and the largest element are found in the same pass. Weights of few elements are on CUDA added in copies
    of each warp; else they are sorted by element, and those of each are added in their order.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.bincount(pp.asarray([0, 1, 1, 3, 2, 1, 7]))
    array([1, 3, 1, 1, 0, 0, 0, 1])
    """
    if isinstance(x, (list, tuple)) and not x:  # an array of floats, if it were made one
        x = _core._full([0], 0, np.int64, home_queue(weights) or default_queue())
    x = array(x, "bincount")
    least = index(minlength, "bincount: minlength")
    if x.ndim != 1:
        raise ValueError("bincount: the array must have one dimension")
    if kind_of(x.dtype) not in "biu":
        raise TypeError(f"bincount: cannot cast from {x.dtype} to int64 according to the rule 'safe'")
    if least < 0:
        raise ValueError("bincount: 'minlength' must not be negative")
    w: Array | None = None
    if weights is not None:
        w = operand(weights, x, "bincount")
        if w._kind == "c":
            raise TypeError("bincount: weights must be real")
        if w.shape != x.shape:
            raise ValueError("bincount: the weights and list don't have the same length")
        w = cast(w, default_on(x.queue, np.float64))
    if x.size == 0:
        return _core._full([least], 0, np.int64, x.queue)  # with weights too, as in NumPy
    done = counted_at_once(x) if w is None else None
    x = cast(x, np.int64)
    if done is not None:
        counts, low, high = done
    else:
        ends = [_core._reduce(op, x, None, False) for op in (_core._MIN, _core._MAX)]
        _core._force(ends)  # both in one pass
        low, high = (int(end) for end in ends)
    if low < 0:
        raise ValueError("bincount: the list argument must have no negative elements")
    n = max(high + 1, least)
    return counts[:n]._copy() if done is not None and n <= counts.size else counted(x, w, n)


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """Return the indices of the bins to which each value in input array belongs.

    Parameters
    ----------
    x : Array or number
        The values, real.
    bins : Array
        Edges of intervals, one-dimensional, rising or falling; looked at, and so waited for. Lists and NumPy arrays are taken too.
    right : bool
        Whether intervals hold their right edge, and not the left one.

    Returns
    -------
    Array
        Of int64: 0 before the first edge, ``len(bins)`` behind the last.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or complex.
    ValueError
        The edges neither rise nor fall, or have not one dimension.

    See Also
    --------
    searchsorted, histogram, bincount

    Examples
    --------
    >>> import pardo as pp
    >>> pp.digitize(pp.asarray([0.2, 6.4, 3.0, 1.6]), [0.0, 1.0, 2.5, 4.0, 10.0])
    array([1, 4, 3, 2])
    """
    x = array(x, "digitize")
    if kind_of(x.dtype) == "c":
        raise TypeError("digitize: x may not be complex")
    host = parameters_on_host(bins, "digitize")
    if host.ndim != 1:
        raise ValueError("digitize: object too deep for desired array: bins must have one dimension")
    if kind_of(host.dtype) == "c":
        raise TypeError("digitize: bins may not be complex")
    # As NumPy, which lets NaN pass: the first two edges that differ tell which way they go, none may go the other way.
    last, after = host[:-1], host[1:]
    turns = np.flatnonzero(last != after)[:1]
    rising = not turns.size or bool(last[turns[0]] < after[turns[0]])
    if bool(np.any(last > after if rising else last < after)):
        raise ValueError("digitize: bins must be monotonically increasing or decreasing")
    edges = host if rising else host[::-1]
    places = _core._searchsorted(to_queue(np.ascontiguousarray(edges), x.queue), x, not right, None)
    return places if rising else _core.subtract(host.size, places)
