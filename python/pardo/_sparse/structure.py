# python/pardo/_sparse/structure.py: rows of entries: made of coordinates and dense arrays, sorted, filtered, transposed, and back.
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._array.creation import empty, zeros
from pardo._array.joining import concat
from pardo._array.ranges import arange
from pardo._array.searching import nonzero
from pardo._base import promotion
from pardo._core import Array, Queue
from pardo._language.index_space import NdRange, Range
from pardo._runtime.devices import group_size, largest_group
from pardo._sparse import kernels

BLOCK = 8192  # rows and entries of a part, on processors
COPIES = 16  # of the columns, where parts of the rows have one each
PER_ITEM = 4096  # entries whose rows one item looks for, on processors
PER_ITEM_OF_GROUP = 8  # the same, where a device has many items


class Rows(NamedTuple):
    """Entries row after row: those of row i are at ptr[i], …, ptr[i + 1] - 1. Of a csc_array the rows are its columns."""

    ptr: Array
    column: Array
    value: Array
    extent: tuple[int, int]

    @property
    def height(self) -> int:
        """How many rows."""
        return self.extent[0]

    @property
    def width(self) -> int:
        """How many columns."""
        return self.extent[1]

    @property
    def queue(self) -> Queue:
        return self.value.queue

    def with_value(self, value: Array) -> Rows:
        """The same places with other values."""
        return Rows(self.ptr, self.column, value, self.extent)


def index_dtype(*numbers: int, like: Iterable[Array] = ()) -> np.dtype[Any]:
    """The dtype of indices: int32 where it holds the extents and the number of entries, and those that are given; as SciPy chooses."""
    narrow = max(numbers, default=0) <= np.iinfo(np.int32).max and all(promotion.can_cast(x.dtype, np.int32) for x in like)
    return np.dtype(np.int32 if narrow else np.int64)


def cast(x: Array, dtype: Any) -> Array:
    """The array in a dtype; itself if it has that."""
    return x._astype(np.dtype(dtype), False)


def unsigned(x: Array) -> Array:
    """The same indices as numbers that kernels know not to be negative."""
    return x._view_as(np.dtype(f"u{x.dtype.itemsize}"))


def has_few_items(queue: Queue) -> bool:
    """Whether items of the device are to go through many elements each, as those of processors."""
    return group_size(queue.device) == 0


def parts_of(queue: Queue, rows: int, work: int) -> tuple[NdRange, int]:
    """An index space for rows with so many entries, and into how many parts it divides them."""
    if has_few_items(queue):
        parts = min(rows, max(1, (rows + work) // BLOCK))
        return NdRange(Range(parts), Range(1)), parts
    group = largest_group(queue.device)
    return NdRange(Range(-(-rows // group) * group), Range(group)), rows


def of_each_entry(ptr: Array, entry: Callable[..., Any], inputs: tuple[Any, ...], out: Array) -> Array:
    """Fills `out` with a function of each entry and its row, as those of kernels.py are."""
    if out.size == 0:
        return out
    few = has_few_items(ptr.queue)
    group = 1 if few else largest_group(ptr.queue.device)
    block = PER_ITEM if few else PER_ITEM_OF_GROUP
    space = NdRange(Range(-(-out.size // (block * group)) * group), Range(group))
    code = kernels.sparse_each_entry if few else kernels.sparse_each_entry_by_groups
    code[space](unsigned(ptr), block, entry, inputs, out)
    return out


def entry_rows(ptr: Array, count: int, dtype: Any = np.int64) -> Array:
    """The row of each of so many entries."""
    return of_each_entry(ptr, kernels.number_of_row, (), empty(count, dtype, queue=ptr.queue))


def pointers(counts: Array, dtype: Any = np.int64) -> Array:
    """Where rows of these lengths begin, and where the last one ends."""
    return cast(_core.cumulative_sum(counts, dtype=np.int64, include_initial=True), dtype)


def lengths(ptr: Array) -> Array:
    """How many entries each row has."""
    return ptr[1:] - ptr[:-1]


def no_rows(extent: tuple[int, int], dtype: Any, queue: Queue, like: Iterable[Array] = ()) -> Rows:
    """Rows without entries."""
    indices = index_dtype(*extent, like=like)
    return Rows(zeros(extent[0] + 1, indices, queue=queue), empty(0, indices, queue=queue), empty(0, dtype, queue=queue), extent)


# --- from coordinates


def _places(row: Array, column: Array, extent: tuple[int, int]) -> Array | None:
    """The order of entries by rows, and in these by columns; equal ones stay in their order. None if they are in order."""
    if extent[0] * extent[1] < 2**63:
        keys = cast(row, np.int64) * extent[1] + column
        if bool((keys[1:] >= keys[:-1]).all()):
            return None
        return _core._argsort(keys, 0, False, True)
    by_column = _core._argsort(column, 0, False, True)
    return _core._take(by_column, _core._argsort(_core._take(row, by_column, 0), 0, False, True), 0)


def from_coordinates(
    row: Array, column: Array, value: Array, extent: tuple[int, int], add_up: Callable[[Array, Array], Array], dtype: np.dtype[Any]
) -> Rows:
    """Rows of what has coordinates; values of equal ones are added up by a function of where they begin and of the values."""
    count = value.size
    if count:
        order = _places(row, column, extent)
        if order is not None:
            row, column, value = (_core._take(x, order, 0) for x in (row, column, value))
        new = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
        starts = nonzero(concat([_core._full([1], True, np.bool_, value.queue), new]))[0]
        if starts.size < count:
            value = add_up(concat([starts, _core._full([1], count, np.int64, value.queue)]), value)
            row, column = _core._take(row, starts, 0), _core._take(column, starts, 0)
    return Rows(_begins(row, extent[0], dtype), cast(column, dtype), value, extent)


def _begins(row: Array, count: int, dtype: Any) -> Array:
    """Where rows begin, of the row numbers of entries in order."""
    wanted = arange(count + 1, dtype=row.dtype, queue=row.queue)
    return cast(_core._searchsorted(row, wanted, False, None), dtype)


def from_dense(x: Array) -> Rows:
    """Rows of what is not zero in an array of two dimensions."""
    extent = (x.shape[0], x.shape[1])
    row, column = _core._nonzero(x)
    dtype = index_dtype(*extent, row.size)
    value = x[row, column] if row.size else empty(0, x.dtype, queue=x.queue)
    return Rows(_begins(row, extent[0], dtype), cast(column, dtype), value, extent)


def add_to_dense(rows: Rows, out: Array) -> None:
    """Add the entries to the elements of an array of the same extents and dtype."""
    if rows.value.size == 0:
        return
    value = rows.value
    if value.dtype == np.bool_:
        total = cast(out, np.int8)._copy()
        add_to_dense(rows.with_value(cast(value, np.int8)), total)
        out[...] = total != 0
        return
    space, parts = parts_of(rows.queue, rows.height, value.size)
    kernels.sparse_add_to_dense[space](unsigned(rows.ptr), unsigned(rows.column), value, out, parts)


# --- from rows to rows


def order_of(rows: Rows) -> int:
    """2 if the columns of each row increase, 1 if some are equal, 0 if some decrease."""
    if rows.value.size == 0:
        return 2
    out = empty(rows.height, np.int8, queue=rows.queue)
    space, parts = parts_of(rows.queue, rows.height, rows.value.size)
    kernels.sparse_order_of_rows[space](rows.ptr, rows.column, out, parts)
    return int(out.min())


def in_order(rows: Rows) -> Rows:
    """With the columns of each row in order; equal ones stay in their order."""
    order = _places(entry_rows(rows.ptr, rows.value.size), rows.column, rows.extent) if rows.value.size else None
    if order is None:
        return rows
    return Rows(rows.ptr, _core._take(rows.column, order, 0), _core._take(rows.value, order, 0), rows.extent)


def filtered(rows: Rows, keep: Array) -> Rows:
    """The entries for which an array of bools is true."""
    chosen = nonzero(keep)[0]
    before = _core.cumulative_sum(keep, dtype=np.int64, include_initial=True)
    ptr = cast(_core._take(before, cast(rows.ptr, np.int64), 0), rows.ptr.dtype)
    return Rows(ptr, _core._take(rows.column, chosen, 0), _core._take(rows.value, chosen, 0), rows.extent)


def transposed(rows: Rows) -> Rows:
    """The same matrix by columns: rows of the transposed one. Entries of a column are in the order of the rows."""
    count = rows.value.size
    extent = (rows.width, rows.height)
    if count == 0:
        return no_rows(extent, rows.value.dtype, rows.queue, [rows.column])
    if has_few_items(rows.queue):
        return _placed_by_columns(rows)
    order = _core._argsort(rows.column, 0, False, True)
    dtype = rows.column.dtype
    row = _core._take(entry_rows(rows.ptr, count, dtype), order, 0)
    ptr = _begins(_core._take(rows.column, order, 0), rows.width, dtype)
    return Rows(ptr, row, _core._take(rows.value, order, 0), extent)


def copies_for_columns(rows: Rows) -> tuple[NdRange, int]:
    """An index space whose items have a place for each column, and how many they are: sizes alone decide, so that sums have the same bits
    on each machine."""
    parts = max(1, min(COPIES, rows.height, rows.value.size // (8 * rows.width)))
    return NdRange(Range(parts), Range(1)), parts


def _placed_by_columns(rows: Rows) -> Rows:
    """As `transposed`, by counting: each part of the rows places its entries behind those of the parts before it."""
    space, parts = copies_for_columns(rows)
    ptr, column, count = unsigned(rows.ptr), unsigned(rows.column), rows.value.size
    counts = zeros((parts, rows.width), rows.ptr.dtype, queue=rows.queue)
    kernels.sparse_count_columns[space](ptr, column, counts, parts)
    before = pointers(counts.T.reshape(-1), rows.ptr.dtype)
    places = before[:-1].reshape(rows.width, parts).T._copy()
    row, value = empty(count, rows.column.dtype, queue=rows.queue), empty(count, rows.value.dtype, queue=rows.queue)
    kernels.sparse_place_by_columns[space](ptr, column, rows.value, places, row, value, parts)
    return Rows(before[::parts]._copy(), row, value, (rows.width, rows.height))


def column_sums(rows: Rows, factors: Array | None, wide: np.dtype[Any]) -> Array:
    """The sums of columns, times a factor for each row if there are any; for devices whose items go through many elements."""
    space, parts = copies_for_columns(rows)
    out = zeros((parts, rows.width), wide, queue=rows.queue)
    scale = out[0] if factors is None else cast(factors, wide)
    kernels.sparse_add_columns[space](
        unsigned(rows.ptr), unsigned(rows.column), rows.value, scale, wide.type(0), out, parts, int(factors is not None)
    )
    return out[0] if parts == 1 else out.sum(axis=0, dtype=wide)


def chosen_rows(rows: Rows, which: Array) -> Rows:
    """The rows with these numbers, of int64 from 0 on, as many times as they occur."""
    begin = _core._take(cast(rows.ptr, np.int64), which, 0)
    ptr = pointers(_core._take(cast(lengths(rows.ptr), np.int64), which, 0))
    count = int(ptr[-1])
    extent = (which.size, rows.width)
    if count == 0:
        return no_rows(extent, rows.value.dtype, rows.queue, [rows.column])
    row = entry_rows(ptr, count)
    place = arange(count, dtype=np.int64, queue=rows.queue) + _core._take(begin - ptr[:-1], row, 0)
    dtype = index_dtype(*extent, count, like=[rows.column])
    return Rows(cast(ptr, dtype), cast(_core._take(rows.column, place, 0), dtype), _core._take(rows.value, place, 0), extent)


def row_range(rows: Rows, first: int, stop: int) -> Rows:
    """Rows that follow one another."""
    if stop <= first:
        return no_rows((0, rows.width), rows.value.dtype, rows.queue, [rows.column])
    begin, end = int(rows.ptr[first]), int(rows.ptr[stop])
    ptr = rows.ptr[first : stop + 1] - begin
    return Rows(ptr._copy(), rows.column[begin:end]._copy(), rows.value[begin:end]._copy(), (stop - first, rows.width))


def column_range(rows: Rows, first: int, stop: int) -> Rows:
    """Columns that follow one another."""
    extent = (rows.height, max(0, stop - first))
    if extent[1] == 0 or rows.value.size == 0:
        return no_rows(extent, rows.value.dtype, rows.queue, [rows.column])
    kept = filtered(rows, (rows.column >= first) & (rows.column < stop))
    return Rows(kept.ptr, kept.column - first, kept.value, extent)


def split_rows(ptr: Array, count: int, most: int) -> tuple[Array, Array]:
    """Cut rows into pieces of at most so many of their entries: where the pieces of each row begin, and where the entries of each piece."""
    ptr = cast(ptr, np.int64)
    pieces = pointers((lengths(ptr) + (most - 1)) // most)
    number = int(pieces[-1])
    row = entry_rows(pieces, number)
    begin = _core._take(ptr[:-1], row, 0) + (arange(number, dtype=np.int64, queue=ptr.queue) - _core._take(pieces[:-1], row, 0)) * most
    return pieces, concat([begin, _core._full([1], count, np.int64, ptr.queue)])
