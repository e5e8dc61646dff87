# python/pardo/_sharding/sorting.py: sorted orders across parts; what is made of them: unique elements, places, quantiles.
"""A row is sorted where it is, part by part; then it is cut at the places where the parts begin, each part gets what belongs there from
all others, sorted runs, and merges them. Equal elements stay in the order of the parts, so the order is stable.

Reference: H. Shi, J. Schaeffer, "Parallel sorting by regular sampling", Journal of Parallel and Distributed Computing 14, 1992, with exact
cuts instead of samples.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._analysis import counting as _differences
from pardo._analysis import quantiles as _quantiles
from pardo._array import searching, sets
from pardo._array import sorting as _sorting
from pardo._array.interop import asnumpy
from pardo._base.arguments import axis_index, default_queue, index
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions.operands import axes_of, parameters_on_host
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.functions import implements
from pardo._sharding.gather import picked
from pardo._sharding.given import Operand
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.merging import Run, cuts, keys, merged
from pardo._sharding.moves import joined
from pardo._sharding.moving import (
    Parts,
    across,
    agreed,
    begun,
    by_rows,
    each,
    empty,
    flat,
    placed,
    resplit,
    same_everywhere,
    sent,
    settled,
    shaped,
    whole,
)
from pardo._sharding.operands import group_of

SAMPLES = 1024  # for each part
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, are spread evenly whatever their number is
SMALL = 1 << 14  # up to so many elements each part sorts all
ROWS = 4  # up to so many rows are sorted one by one; more are split by rows


@functools.lru_cache(maxsize=256)
def _sampled(n: int, count: int) -> np.ndarray[Any, Any]:
    """The places of samples of a row: all, or about so many that no period of the elements hits."""
    if n <= count:
        return np.arange(n)
    return np.unique((np.modf(np.arange(1, count + 1) * GOLDEN)[0] * n).astype(np.int64))


# --- one row


def _sorted_row(row: ShardedArray, descending: bool, stable: bool, with_places: bool) -> tuple[ShardedArray, ShardedArray | None]:
    """A row that is split, sorted; and the places where its elements were."""
    group, layout = row.group, row.layout
    bounds, size = layout.bounds, range(row.group.size)
    filled = [p for p in size if layout.length(p)]
    if row.size <= SMALL or len(filled) < 2:
        return _sorted_everywhere(row, filled, descending, stable, with_places)
    rows: dict[int, Run] = {}
    for p, x in row._parts.items():
        order = _core._argsort(x, 0, descending, stable) if with_places else None
        values = _core._sort(x, 0, descending, stable) if order is None else searching.take(x, order, axis=0)
        rows[p] = values, None if order is None else order + bounds[p]
    begun(values for values, _ in rows.values())
    lengths = [layout.length(p) for p in size]
    found = cuts(group, {p: values for p, (values, _) in rows.items()}, lengths, bounds, descending)
    counts = [[found[p][q + 1] - found[p][q] for q in size] for p in size]

    def exchanged(parts: Parts, dtype: Any) -> dict[int, list[Array]]:
        return sent(group, counts, lambda p, q: parts[p][found[p][q] : found[p][q + 1]], lambda p, q: (counts[p][q],), dtype, lent=True)

    pieces = exchanged({p: values for p, (values, _) in rows.items()}, row.dtype)
    were: dict[int, list[Any]] = {q: [None] * len(arrived) for q, arrived in pieces.items()}
    if with_places:
        were.update(exchanged({p: places for p, (_, places) in rows.items() if places is not None}, np.dtype(np.int64)))
    done: Parts = {}
    order_of: Parts = {}
    for q, arrived in pieces.items():
        if not arrived:
            done[q], order_of[q] = (empty((0,), dtype, group, q) for dtype in (row.dtype, np.dtype(np.int64)))
            continue
        done[q], places = merged(list(zip(arrived, were[q], strict=True)), descending, group.queue(q))
        if places is not None:
            order_of[q] = places
    return sharded(group, layout, done), sharded(group, layout, order_of) if with_places else None


def _sorted_everywhere(
    row: ShardedArray, filled: Sequence[int], descending: bool, stable: bool, with_places: bool
) -> tuple[ShardedArray, ShardedArray | None]:
    """A short row, or one that a single part has: each part sorts what it has of it."""
    bounds, group, layout = row.layout.bounds, row.group, row.layout
    if len(filled) < 2:
        done = {p: _core._sort(x, 0, descending, stable) for p, x in row._parts.items()}
        places = {p: _core._argsort(x, 0, descending, stable) for p, x in row._parts.items()} if with_places else {}
    else:
        everywhere = whole(row)
        done = {p: _core._sort(x, 0, descending, stable)[bounds[p] : bounds[p + 1]] for p, x in everywhere.items()}
        places = {}
        if with_places:
            places = {p: _core._argsort(x, 0, descending, stable)[bounds[p] : bounds[p + 1]] for p, x in everywhere.items()}
    return sharded(group, layout, done), sharded(group, layout, places) if with_places else None


# --- arrays


def _sorted(op_name: str, x: ShardedArray, axis: int | None, descending: bool, stable: bool) -> ShardedArray:
    """`sort` or `argsort` along an axis."""
    places = op_name == "argsort"
    routine = _core._argsort if places else _core._sort
    if axis is None:
        x, axis = flat(x), 0
    elif x.ndim == 0 and places:
        return replicated(x.group, {p: _sorting.argsort(v) for p, v in x._parts.items()})
    axis = axis_index(axis, x.ndim, op_name)
    if x.layout.axis != axis:
        return sharded(x.group, x.layout, {p: routine(v, axis, descending, stable) for p, v in x._parts.items()})
    if x.ndim == 1:
        values, were = _sorted_row(x, descending, stable, places)
        return were if places and were is not None else values
    rows = x.size // max(1, x.shape[axis])
    if 0 < rows <= ROWS:
        return by_rows(x, lambda row: _chosen(_sorted_row(row, descending, stable, places), places))
    return across(x, lambda v: routine(v, 0, descending, stable))


def _chosen(both: tuple[ShardedArray, ShardedArray | None], places: bool) -> ShardedArray:
    values, were = both
    return were if places and were is not None else values


def _kind(op_name: str, kind: Any, order: Any, kinds: tuple[str, ...] = _sorting._SORTS) -> None:
    """The checks of NumPy's keywords that do not matter here."""
    _sorting._prepare(op_name, _core._full([1], 0, np.float64, default_queue()), 0, kind, order, kinds)


@implements("sort", splits="along the split axis each part, then by exact cuts and merges; other axes part by part")
def sort(x: Any, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False, stable: bool = True) -> Any:
    _kind("sort", kind, order)
    return _sorted("sort", x, axis, bool(descending), bool(stable))


@implements("argsort", splits="as sort")
def argsort(x: Any, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, descending: bool = False, stable: bool = True) -> Any:
    _kind("argsort", kind, order)
    return _sorted("argsort", x, axis, bool(descending), bool(stable))


def _partitioned(op_name: str, x: ShardedArray, kth: Any, axis: int | None, kind: Any, order: Any) -> ShardedArray:
    _kind(op_name, kind, order, _sorting._PARTITIONS)
    if axis is None:
        x, axis = flat(x), 0
    along = axis_index(axis, x.ndim, op_name)
    if x.layout.axis != along:
        routine = _sorting.argpartition if op_name.startswith("arg") else _sorting.partition
        return sharded(x.group, x.layout, {p: routine(v, kth, along) for p, v in x._parts.items()})
    n = x.shape[along]
    for k in _sorting._places(op_name, kth):
        if not -n <= k < n:
            raise ValueError(f"{op_name}: kth is {k}, but the axis has {n} elements")
    return _sorted("argsort" if op_name.startswith("arg") else "sort", x, along, False, True)


@implements("partition", splits="along the split axis as sort; other axes part by part")
def partition(x: Any, /, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return _partitioned("partition", x, kth, axis, kind, order)


@implements("argpartition", splits="as partition")
def argpartition(x: Any, /, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return _partitioned("argpartition", x, kth, axis, kind, order)


def _top(values: Any, indices: Any) -> Any:
    """The named tuple of `top_k`, whose fields are declared as plain arrays."""
    kind: Any = _sorting.TopK
    return kind(values, indices)


@implements("top_k", splits="along the split axis each part's best, then the best of these on each part; other axes part by part")
def top_k(x: Any, k: Any, /, *, axis: int | None = -1, largest: bool = True) -> Any:
    if axis is None:
        x, axis = flat(x), 0
    along = axis_index(axis, x.ndim, "top_k")
    if x.layout.axis != along:
        found = {p: _sorting.top_k(v, k, axis=along, largest=largest) for p, v in x._parts.items()}
        shape = found[x.group.owned[0]].values.shape
        layout = x.layout.with_shape((*x.shape[:along], shape[along], *x.shape[along + 1 :]))
        return _top(
            sharded(x.group, layout, {p: f.values for p, f in found.items()}),
            sharded(x.group, layout, {p: f.indices for p, f in found.items()}),
        )
    count = index(k, "top_k: k")
    if not 0 <= count <= x.shape[along]:
        raise ValueError(f"top_k: k is {count}, but the axis has {x.shape[along]} elements")
    values: Parts = {}
    places: Parts = {}
    for p, v in x._parts.items():
        best = _sorting.top_k(v, min(count, v.shape[along]), axis=along, largest=largest)
        values[p], places[p] = best.values, best.indices + x.layout.bounds[p]
    all_values, all_places = x.group.all_gather_arrays(values), x.group.all_gather_arrays(places)
    done: Parts = {}
    were: Parts = {}
    for p in x.group.owned:
        best = _sorting.top_k(joined(all_values[p], along), count, axis=along, largest=largest)
        done[p] = best.values
        were[p] = searching.take_along_axis(joined(all_places[p], along), best.indices, axis=along)
    return _top(replicated(x.group, done), replicated(x.group, were))


# --- places in a sorted row


@implements(
    "searchsorted", splits="a split row of places by a whole one part by part; whole places in a split row by sums of the parts' counts"
)
def searchsorted(a: Any, /, v: Any, side: str = "left", sorter: Any = None) -> Any:
    group = group_of([a, v, sorter], "searchsorted")
    row, wanted = Operand(a, group, "searchsorted"), Operand(v, group, "searchsorted")
    if row.ndim != 1:
        raise ValueError(f"searchsorted: the first operand must have one dimension, but has shape {row.shape}")
    if sorter is not None:
        order = Operand(sorter, group, "searchsorted")
        if row.layout is not None or order.layout is not None:
            return NotImplemented
        rows = {p: searching.take(x, order.parts[p], axis=0) for p, x in row.parts.items()}
    elif row.layout is not None and wanted.layout is None:
        counts = {p: searching.searchsorted(x, wanted.parts[p], side=side) for p, x in row.parts.items()}
        return replicated(group, group.all_reduce(counts, _core.add))
    else:
        rows = whole(a) if row.layout is not None else dict(row.parts)
    found = {p: searching.searchsorted(x, wanted.parts[p], side=side) for p, x in rows.items()}
    return replicated(group, found) if wanted.layout is None else sharded(group, wanted.layout, found)


@implements("digitize", splits="part by part")
def digitize(x: Any, /, bins: Any, right: bool = False) -> Any:
    if isinstance(bins, ShardedArray) and bins.layout.axis is not None:
        return NotImplemented
    group = group_of([x, bins], "digitize")
    given, edges = Operand(x, group, "digitize"), Operand(bins, group, "digitize")
    found = {p: _differences.digitize(v, edges.parts[p], right) for p, v in given.parts.items()}
    return replicated(group, found) if given.layout is None else sharded(group, given.layout, found)


# --- distinct elements


class _Distinct(NamedTuple):
    values: ShardedArray
    indices: ShardedArray
    inverse: ShardedArray
    counts: ShardedArray


def _of_row(x: Array, equal_nan: bool) -> tuple[Array, Array, Array, Array]:
    found: tuple[Array, Array, Array, Array] = sets.unique(x, True, True, True, equal_nan=equal_nan)
    return found


def _distinct(row: ShardedArray, equal_nan: bool) -> _Distinct:
    """The distinct elements of a row, where each comes first, which one each element is, and how many there are of each.

    Each part finds its own, and sends them to the parts that splitters name, equal ones to the same; these find those of all, and tell the
    senders where in the result their elements are.
    """
    group, layout = row.group, row.layout
    size, bounds = range(row.group.size), row.layout.bounds
    begun(row._parts.values())
    own = each(group, lambda p: _of_row(row._parts[p], equal_nan), row._parts)
    cuts = _cuts(group, {p: found[0] for p, found in own.items()})
    counts = [[after - before for before, after in itertools.pairwise(cuts[p])] for p in size]
    integers = np.dtype(np.int64)

    def exchanged(parts: Mapping[int, Array], dtype: Any) -> Parts:
        arrived = sent(group, counts, lambda p, q: parts[p][cuts[p][q] : cuts[p][q + 1]], lambda p, q: (counts[p][q],), dtype)
        return {q: joined(found, 0) if found else empty((0,), dtype, group, q) for q, found in arrived.items()}

    values = exchanged({p: found[0] for p, found in own.items()}, row.dtype)
    first = exchanged({p: found[1] + bounds[p] for p, found in own.items()}, integers)
    many = exchanged({p: found[3] for p, found in own.items()}, integers)
    united = {q: _of_row(x, equal_nan) for q, x in values.items()}
    lengths = agreed(group, lambda q: united[q][0].size)
    offsets = list(itertools.accumulate(lengths, initial=0))
    totals: Parts = {}
    answers: Parts = {}
    for q, found in united.items():
        totals[q] = _core._full([lengths[q]], 0, integers, group.queue(q))
        _core.add.at(totals[q], found[2], many[q])
        answers[q] = found[2] + offsets[q]
    starts = [list(itertools.accumulate((counts[p][q] for p in size), initial=0)) for q in size]
    back = [[counts[p][q] for p in size] for q in size]
    told = sent(group, back, lambda q, p: answers[q][starts[q][p] : starts[q][p + 1]], lambda q, p: (back[q][p],), integers)
    inverse: Parts = {}
    for p, pieces in told.items():
        inverse[p] = searching.take(joined(pieces, 0), own[p][2], axis=0) if pieces else empty((0,), integers, group, p)
    return _Distinct(
        settled(group, layout, {q: found[0] for q, found in united.items()}, lengths),
        settled(group, layout, {q: searching.take(first[q], found[1], axis=0) for q, found in united.items()}, lengths),
        sharded(group, layout, inverse),
        settled(group, layout, totals, lengths),
    )


def _cuts(group: Group, rows: Parts) -> list[list[int]]:
    """Where sorted rows are cut into pieces for each part, equal elements on the same side."""
    samples = {p: searching.take(x, placed(_sampled(x.size, SAMPLES), x.queue), axis=0) for p, x in rows.items()}
    begun(samples.values())
    known = agreed(group, lambda p: (asnumpy(samples[p]), rows[p].size))
    values = np.concatenate([v for v, _ in known])
    weights = np.concatenate([np.full(len(v), n / max(1, len(v))) for v, n in known])
    if not len(values):
        return [[0] * (group.size + 1) for _ in range(group.size)]
    order = np.lexsort(keys(values))
    sums = np.cumsum(weights[order])
    wanted = sums[-1] * np.arange(1, group.size) / group.size
    chosen = values[order][np.minimum(np.searchsorted(sums, wanted), len(values) - 1)]
    ends = {p: searching.searchsorted(x, _on(x, chosen)) for p, x in rows.items()}
    return agreed(group, lambda p: [0, *asnumpy(ends[p]).tolist(), rows[p].size])


def _on(x: Array, values: np.ndarray[Any, Any]) -> Array:
    return placed(values, x.queue)


@implements("unique", splits="by splitters; the result is split in the shares of the operand; axis=None alone")
def unique(
    x: Any,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    if axis is not None and x.ndim > 1:
        return NotImplemented
    if x.layout.axis is None:
        wanted = return_index, return_inverse, return_counts
        found = {p: sets.unique(v, *wanted, equal_nan=equal_nan) for p, v in x._parts.items()}
        if not any(wanted):
            return replicated(x.group, found)
        return tuple(replicated(x.group, {p: f[k] for p, f in found.items()}) for k in range(1 + sum(wanted)))
    row = flat(x)
    if not (return_index or return_inverse or return_counts):
        return _distinct_values(row, equal_nan)
    values, indices, inverse, counts = _distinct(row, equal_nan)
    results = [values]
    results += [indices] if return_index else []
    results += [shaped(inverse, x.shape)] if return_inverse else []
    results += [counts] if return_counts else []
    return tuple(results)


def _distinct_values(row: ShardedArray, equal_nan: bool) -> ShardedArray:
    group = row.group
    begun(row._parts.values())
    own = each(group, lambda p: sets.unique(row._parts[p], equal_nan=equal_nan), row._parts)
    cuts = _cuts(group, own)
    counts = [[after - before for before, after in itertools.pairwise(cuts[p])] for p in range(group.size)]
    arrived = sent(group, counts, lambda p, q: own[p][cuts[p][q] : cuts[p][q + 1]], lambda p, q: (counts[p][q],), row.dtype)
    united = {
        q: sets.unique(joined(found, 0), equal_nan=equal_nan) if found else empty((0,), row.dtype, group, q) for q, found in arrived.items()
    }
    return settled(group, row.layout, united, agreed(group, lambda q: united[q].size))


@implements("unique_values", splits="as unique")
def unique_values(x: Any, /) -> Any:
    return unique(x, equal_nan=False)


@implements("unique_counts", splits="as unique")
def unique_counts(x: Any, /) -> Any:
    return sets.UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


@implements("unique_inverse", splits="as unique")
def unique_inverse(x: Any, /) -> Any:
    return sets.UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


@implements("unique_all", splits="as unique")
def unique_all(x: Any, /) -> Any:
    return sets.UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


@implements("isin", splits="part by part; elements to look for are sent to all parts")
def isin(x1: Any, /, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> Any:
    group = group_of([x1, test_elements], "isin")
    x, sought = Operand(x1, group, "isin"), Operand(test_elements, group, "isin")
    parts = sought.parts if sought.layout is None else whole(test_elements)
    found = {p: sets.isin(v, parts[p], assume_unique, invert, kind=kind) for p, v in x.parts.items()}
    return replicated(group, found) if x.layout is None else sharded(group, x.layout, found)


# --- quantiles


class _Row:
    """What quantiles ask of the elements of a row."""

    def __init__(self, dtype: Any, n: int, queue: Any, op_name: str) -> None:
        self.dtype, self.size, self.ndim, self.queue, self._kind = dtype, n, 1, queue, kind_of(dtype)
        self.x, self.n, self.op_name = self, n, op_name


def _by_ranks(op_name: str, x: ShardedArray, formula: Any) -> ShardedArray:
    """``formula(row, ranked)`` on each part: `ranked` gives elements of the sorted row by their places in it."""
    group = x.group
    row, _ = _sorted_row(flat(x), False, True, False)

    def ranked_on(p: int) -> Any:
        def ranked(_: Any, ranks: Sequence[int], __: int) -> Array:
            wanted.append(tuple(ranks))
            return fetched[p][tuple(ranks)] if fetched else _core._full([len(ranks)], 0, x.dtype, group.queue(p))

        return ranked

    wanted: list[tuple[int, ...]] = []
    fetched: dict[int, dict[tuple[int, ...], Array]] = {}
    rows = {p: _Row(x.dtype, x.size, group.queue(p), op_name) for p in group.owned}
    formula(rows[group.owned[0]], ranked_on(group.owned[0]))  # which ranks it needs
    ranks = wanted[0]
    elements = whole(picked(op_name, row, [np.asarray(ranks, np.int64)], given_by_caller=False))
    fetched.update({p: {ranks: v} for p, v in elements.items()})
    return replicated(group, same_everywhere(group, {p: formula(rows[p], ranked_on(p)) for p in group.owned}))


def _quantiles_of(op_name: str, local: Any, x: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weights: Any) -> Any:
    if out is not None or weights is not None or not isinstance(x, ShardedArray) or isinstance(q, ShardedArray):
        return NotImplemented
    axes = axes_of(axis, x.ndim, op_name)
    split = x.layout.axis
    if split is not None and split in axes and x.ndim > 1 and len(axes) < x.ndim:
        kept = max((k for k in range(x.ndim) if k not in axes), key=lambda k: x.shape[k])
        x = resplit(x, kept)
        split = kept
    front = np.ndim(asnumpy(q) if isinstance(q, Array) else q) if q is not None else 0
    if split is None or split not in axes:
        arguments = () if q is None else (q,)
        found = {
            p: local(v, *arguments, axis=axis, keepdims=keepdims, **({} if q is None else {"method": method})) for p, v in x._parts.items()
        }
        if split is None:
            return replicated(x.group, same_everywhere(x.group, found))
        where = front + (split if keepdims else split - sum(a < split for a in axes))
        shape = list(found[x.group.owned[0]].shape)
        shape[where] = x.shape[split]
        return sharded(x.group, Layout(tuple(shape), where, x.layout.bounds, x.layout.devices), found)
    if not x.size and q is None:  # NaN
        return replicated(x.group, {p: local(v, axis=axis, keepdims=keepdims) for p, v in whole(x).items()})
    return _of_everything(op_name, local, x, q, method, keepdims)


def _of_everything(op_name: str, local: Any, x: ShardedArray, q: Any, method: str, keepdims: bool) -> Any:
    """The quantiles of all elements."""
    queue = x.group.queue(x.group.owned[0])
    probe = _core._full([min(1, x.size)], 0, x.dtype, queue)
    if q is None:
        n = x.size

        def formula(row: _Row, ranked: Any) -> Array:
            middle = [n // 2] if n % 2 else [n // 2 - 1, n // 2]
            ranks = sorted({*middle, n - 1})
            found = ranked(row, ranks, 0)
            result = _core._mean(found[: len(middle)], [0], False, None, None)
            if row._kind in "fc":
                result = _core._where(_core.isnan(found[-1]), found[-1]._astype(result.dtype, False), result)
            return result

        shape: tuple[int, ...] = ()
    else:
        local(probe, q, method=method)  # its checks
        weak = type(q) in (int, float)
        wanted = parameters_on_host(q, op_name)
        if op_name.endswith("percentile"):
            wanted = np.asarray(np.true_divide(wanted, 100))
        shape = wanted.shape

        def formula(row: _Row, ranked: Any) -> Array:
            return _core._reshape(_quantiles._of_all(row, wanted.reshape(-1), method, weak, ranked), shape)

    result = _by_ranks(op_name, x, formula)
    if keepdims:
        full = (*shape, *(1,) * x.ndim)
        result = replicated(x.group, {p: _core._reshape(v, full) for p, v in result._parts.items()})
    return result


@implements("median", splits="of all elements as sort; along the split axis after a reshard; other axes part by part")
def median(x: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return _quantiles_of("median", _quantiles.median, x, None, axis, out, "", keepdims, None)


@implements("quantile", splits="as median")
def quantile(
    x: Any,
    /,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    return _quantiles_of("quantile", _quantiles.quantile, x, q, axis, out, method, keepdims, weights)


@implements("percentile", splits="as median")
def percentile(
    x: Any,
    /,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    return _quantiles_of("percentile", _quantiles.percentile, x, q, axis, out, method, keepdims, weights)
