# python/pardo/_sparse/multiplication.py: products of two sparse matrices.
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.creation import empty, zeros
from pardo._array.joining import concat
from pardo._array.ranges import arange
from pardo._core import Array
from pardo._language.index_space import NdRange, Range
from pardo._sparse import kernels
from pardo._sparse.products import LONG, accumulated_in, finished, longest_of, reduced
from pardo._sparse.structure import COPIES, Rows, cast, has_few_items, index_dtype, no_rows, parts_of, pointers, unsigned

PLACES = 1 << 24  # entries before equal columns are added up, of one launch
DENSE = 8  # as many entries for each column, and a part has a place for every column


def times_rows(a: Rows, b: Rows, dtype: Any) -> Rows:
    """The product of two sparse matrices; the columns of its rows are in no order.

    Rows of A, one after the other, multiply rows of B (F. G. Gustavson, "Two fast algorithms for sparse matrices", ACM Transactions on
    Mathematical Software 4, 1978). What a row gives is gathered in an array with a place for each column, as there, or in a hash table
    of its own where such arrays would be larger than the result, and on devices with many items.
    """
    extent = (a.height, b.width)
    if a.value.size == 0 or b.value.size == 0:
        return no_rows(extent, dtype, a.queue, [a.column, b.column])
    most = longest_of(a.ptr) if a.value.size > LONG else 0
    inputs = (unsigned(a.column), cast(b.ptr, np.int64))
    products = reduced(a.ptr, a.value.size, most, kernels.length_of_other, kernels.add, inputs, np.int64(0))
    bounds = pointers(_core.minimum(products, b.width))
    places = int(bounds[-1])
    cuts = [0, a.height]
    if places > PLACES:  # several launches, one after the other, use less memory
        wanted = arange(PLACES, places, PLACES, dtype=np.int64, queue=a.queue)
        found = _core._searchsorted(bounds, wanted, True, None).tolist()
        cuts = sorted({0, a.height, *(max(row - 1, 0) for row in found)})
    made = [_product_of_rows(a, b, bounds, first, stop, dtype) for first, stop in itertools.pairwise(cuts)]
    if len(made) == 1:
        counts, index, value = made[0]
    else:
        counts, index, value = (concat(list(parts)) for parts in zip(*made, strict=True))
    indices = index_dtype(*extent, index.size, like=[a.column, b.column])
    return Rows(pointers(counts, indices), cast(index, indices), finished(value, dtype), extent)


def _product_of_rows(a: Rows, b: Rows, bounds: Array, first: int, stop: int, dtype: Any) -> tuple[Array, Array, Array]:
    """Lengths, columns and values of some rows of a product; `bounds`: where the entries of a row would begin if all were apart."""
    bounds = bounds[first : stop + 1]
    if first:
        bounds = bounds - bounds[0]
    some = Rows(unsigned(a.ptr)[first : stop + 1], unsigned(a.column), a.value, (stop - first, a.width))
    other = Rows(unsigned(b.ptr), unsigned(b.column), b.value, b.extent)
    places = int(bounds[-1])
    by = _by_columns if has_few_items(a.queue) and places >= DENSE * b.width else _by_tables
    return by(some, other, bounds, places, accumulated_in(dtype))


def _by_columns(a: Rows, b: Rows, bounds: Array, places: int, wide: np.dtype[Any]) -> tuple[Array, Array, Array]:
    """With a place for each column in each part."""
    queue, indices = a.queue, index_dtype(b.width)
    parts = min(COPIES, a.height, places // (DENSE * b.width))
    space = NdRange(Range(parts), Range(1))
    marks = zeros((parts, b.width), np.int64, queue=queue)
    sums = empty((parts, b.width), wide, queue=queue)
    counts = empty(a.height, np.int64, queue=queue)
    index, value = empty(places, indices, queue=queue), empty(places, wide, queue=queue)
    kernels.sparse_multiply_rows_by_columns[space](bounds, *a[:3], *b[:3], wide.type(0), marks, sums, unsigned(index), value, counts, parts)
    begin = pointers(counts)
    number = int(begin[-1])
    if number == places:
        return counts, index, value
    packed_index, packed_value = empty(number, indices, queue=queue), empty(number, wide, queue=queue)
    if number:
        space, parts = parts_of(queue, a.height, number)
        kernels.sparse_pack_rows[space](bounds, index, value, begin, packed_index, packed_value, parts)
    return counts, packed_index, packed_value


def _by_tables(a: Rows, b: Rows, bounds: Array, places: int, wide: np.dtype[Any]) -> tuple[Array, Array, Array]:
    """With a table for each row, of which at most half is filled."""
    queue, table = a.queue, 2 * bounds
    keys = _core._full([2 * places], kernels.FREE, index_dtype(b.width), queue)
    sums = empty(2 * places, wide, queue=queue)
    counts = empty(a.height, np.int64, queue=queue)
    space, parts = parts_of(queue, a.height, places)
    kernels.sparse_multiply_rows[space](table, *a[:3], *b[:3], wide.type(0), keys, sums, counts, parts)
    begin = pointers(counts)
    number = int(begin[-1])
    index, value = empty(number, keys.dtype, queue=queue), empty(number, wide, queue=queue)
    if number:
        kernels.sparse_collect_rows[space](table, keys, sums, begin, index, value, parts)
    return counts, index, value
