# python/pardo/_sparse/products.py: rows times vectors and matrices, and what becomes of each row: sums, extremes.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.creation import empty, zeros
from pardo._array.ranges import arange
from pardo._base.orders import copied_in_order
from pardo._core import Array, Device, Queue
from pardo._language.index_space import NdRange, Range
from pardo._runtime.devices import largest_group
from pardo._sparse import kernels
from pardo._sparse.structure import (
    Rows,
    cast,
    column_sums,
    has_few_items,
    lengths,
    of_each_entry,
    parts_of,
    split_rows,
    transposed,
    unsigned,
)

LARGE = 16  # of so many parts of all entries a row may be one on processors, before it is cut
LONG = 1 << 15  # entries of a row above which it may be cut into pieces, of so many
SHORT = 1 << 11  # the same, where a device has many items
SHARED = 8  # mean number of entries from which on a sub-group shares a row there, if parts of it cannot
NARROW = 1024  # rows and entries of a part, for products with matrices


def accumulated_in(dtype: Any) -> np.dtype[Any]:
    """The dtype that sums are added up in."""
    wide = {"bool": np.int64, "float16": np.float32, "bfloat16": np.float32}
    made: np.dtype[Any] = np.dtype(wide.get(np.dtype(dtype).name, dtype))
    return made


def finished(x: Array, dtype: Any) -> Array:
    """A sum in the dtype of the result; of bools whether any was true."""
    return x != 0 if np.dtype(dtype) == np.bool_ else cast(x, dtype)


def _longest_piece(queue: Queue) -> int:
    return LONG if has_few_items(queue) else SHORT


def _cut(ptr: Array, count: int, longest: int) -> tuple[Array, Array] | None:
    """Pieces of rows, where one row is so long that what works on it would be the last to end: sizes alone decide."""
    most = _longest_piece(ptr.queue)
    if longest <= most or (has_few_items(ptr.queue) and longest <= count // LARGE):
        return None
    return split_rows(ptr, count, most)


def _lanes(device: Device, mean: int) -> int:
    """How many items of a sub-group share a row with so many entries: a power of two; 0 where all do."""
    least = min(device.sub_group_sizes or (0,))
    lanes = 1 << (max(mean, 1).bit_length() - 1)
    if lanes < least:
        return lanes
    return 0 if mean >= SHARED else 1


def reduced(
    ptr: Array, count: int, longest: int, entry: Callable[..., Any], combine: Callable[..., Any], inputs: tuple[Any, ...], zero: Any
) -> Array:
    """One number for each row, of what its entries count; `zero` is that of a row without any. In the dtype of `zero`."""
    pieces = _cut(ptr, count, longest)
    if pieces is not None:
        of_rows, of_pieces = pieces
        most = _longest_piece(ptr.queue)
        partial = reduced(of_pieces, count, most, entry, combine, inputs, zero)
        return reduced(of_rows, partial.size, most, kernels.plain, combine, (partial,), zero)
    rows, queue, ptr = ptr.size - 1, ptr.queue, unsigned(ptr)
    out = empty(rows, zero.dtype, queue=queue)
    if rows == 0:
        return out
    lanes = 1 if has_few_items(queue) else _lanes(queue.device, count // rows)
    if lanes == 1:
        space, parts = parts_of(queue, rows, count)
        kernels.sparse_reduce_rows[space](ptr, entry, combine, inputs, zero, out, parts)
        return out
    group = largest_group(queue.device)
    items = rows * (lanes or min(group, 32))
    space = NdRange(Range(-(-items // group) * group), Range(group))
    if lanes:
        kernels.sparse_reduce_rows_by_lanes[space](ptr, entry, combine, inputs, zero, out, lanes)
    else:
        kernels.sparse_reduce_rows_by_groups[space](ptr, entry, combine, inputs, zero, out)
    return out


def longest_of(ptr: Array) -> int:
    """The number of entries of the longest row."""
    return int(lengths(ptr).max()) if ptr.size > 1 else 0


def sums(ptr: Array, value: Array, dtype: Any, longest: int | None = None) -> Array:
    """The sums of rows."""
    zero = accumulated_in(dtype).type(0)
    most = longest_of(ptr) if longest is None and value.size > LONG else longest or 0
    return finished(reduced(ptr, value.size, most, kernels.plain, kernels.add, (value,), zero), dtype)


def add_up(starts: Array, value: Array) -> Array:
    """The sums of what follows one another, in the dtype of the values: for from_coordinates."""
    return sums(starts, value, value.dtype)


def extremes(rows: Rows, greatest: bool, longest: int) -> Array:
    """The greatest or least element of each row, zeros between entries included; NaN if one is."""
    dtype = rows.value.dtype
    wide = np.dtype(np.int8) if dtype == np.bool_ else dtype
    if wide.kind == "f":
        limit = wide.type(-np.inf if greatest else np.inf)
    else:
        limit = wide.type(np.iinfo(wide).min if greatest else np.iinfo(wide).max)
    combine = kernels.greatest if greatest else kernels.least
    found = reduced(rows.ptr, rows.value.size, longest, kernels.plain, combine, (rows.value,), limit)
    with_zero = _core.maximum(found, 0) if greatest else _core.minimum(found, 0)
    return finished(_core._where(lengths(rows.ptr) < rows.width, with_zero, found), dtype)


# --- times dense


def times_vector(rows: Rows, x: Array, dtype: Any, longest: int) -> Array:
    """The product with a vector."""
    zero = accumulated_in(dtype).type(0)
    inputs = (rows.value, unsigned(rows.column), cast(x, zero.dtype))
    return finished(reduced(rows.ptr, rows.value.size, longest, kernels.times_vector, kernels.add, inputs, zero), dtype)


def times_matrix(rows: Rows, x: Array, dtype: Any, longest: int) -> Array:
    """The product with a matrix."""
    width = x.shape[1]
    if width == 1:
        return _core._reshape(times_vector(rows, _core._reshape(x, [x.shape[0]]), dtype, longest), [rows.height, 1])
    zero = accumulated_in(dtype).type(0)
    if rows.value.size == 0 or width == 0:
        return zeros((rows.height, width), dtype, queue=rows.queue)
    pieces = _cut(rows.ptr, rows.value.size, longest)
    if pieces is not None:
        of_rows, of_pieces = pieces
        number, most = of_pieces.size - 1, _longest_piece(rows.queue)
        partial = times_matrix(Rows(of_pieces, rows.column, rows.value, (number, rows.width)), x, zero.dtype, most)
        ones = _core._full([number], 1, zero.dtype, rows.queue)
        adding = Rows(of_rows, arange(number, dtype=np.int64, queue=rows.queue), ones, (rows.height, number))
        return finished(times_matrix(adding, partial, zero.dtype, most), dtype)
    x = cast(x, zero.dtype)
    if not x._is_contiguous():
        x = copied_in_order(x, "C")
    out = empty((rows.height, width), zero.dtype, queue=rows.queue)
    inputs = (unsigned(rows.ptr), unsigned(rows.column), rows.value, x, zero, out)
    if has_few_items(rows.queue):
        parts = min(rows.height, max(1, (rows.height + rows.value.size) // NARROW))
        kernels.sparse_times_matrix_by_rows[Range(parts)](*inputs, parts)
    else:
        kernels.sparse_times_matrix[Range(rows.height, width)](*inputs)
    return finished(out, dtype)


def columns_times_vector(columns: Rows, x: Array, dtype: Any) -> Array:
    """The product of a matrix that is given by columns with a vector."""
    if columns.value.size == 0:
        return zeros(columns.width, dtype, queue=columns.queue)
    if has_few_items(columns.queue):
        return finished(column_sums(columns, x, accumulated_in(dtype)), dtype)
    out = zeros(columns.width, accumulated_in(dtype), queue=columns.queue)
    if not _core._accumulates_at(_core.add._row, out):
        rows = transposed(columns)
        return times_vector(rows, x, dtype, longest_of(rows.ptr))
    factors = empty(columns.value.size, out.dtype, queue=columns.queue)
    of_each_entry(columns.ptr, kernels.scaled_by_row, (columns.value, cast(x, out.dtype)), factors)
    _core._accumulate_at(_core.add._row, out, cast(columns.column, np.int64), factors, True)
    return finished(out, dtype)
