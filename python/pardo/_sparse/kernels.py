# python/pardo/_sparse/kernels.py: the kernels behind sparse arrays: each part of a launch goes through some rows.
"""Rows are divided into parts of equal work: `ptr` says where the entries of each row begin, and first_row() where a part does.

On processors a group has one item, which is scalar code; elsewhere each item has one row (`parts` is the number of rows then).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pardo._kernel.kernel import kernel
from pardo._language.groups import permute_group_by_xor, reduce_over_group
from pardo._language.index_space import Const, Item, NdItem

FREE = -1  # a place of a table that holds no column
MOST = np.int64(0x7FFFFFFFFFFFFFFF)  # beyond all columns

# --- where things are


def begin_of(ptr: Any, row: Any) -> Any:
    """Where a row begins."""
    return np.int64(ptr[row])


def row_of(ptr: Any, place: Any, low: Any, high: Any) -> Any:
    """The row that an entry belongs to, which is in [low, high)."""
    while low + 1 < high:
        middle = (low + high) // 2
        if np.int64(ptr[middle]) <= place:
            low = middle
        else:
            high = middle
    return low


def first_row(ptr: Any, part: Any, parts: Any) -> Any:
    """The first row of a part: each has about as many rows and entries, taken together, as any other."""
    rows = np.int64(ptr.shape[0] - 1)
    low = np.int64(part)
    if parts != rows:
        base = np.int64(ptr[0])
        wanted = (np.int64(ptr[rows]) - base + rows) * part // parts
        low = np.int64(0)
        high = rows
        while low < high:
            middle = (low + high) // 2
            if np.int64(ptr[middle]) - base + middle < wanted:
                low = middle + 1
            else:
                high = middle
    return low


# --- what an entry counts


def plain(inputs: Any, k: Any, zero: Any) -> Any:
    """The value of an entry."""
    return inputs[0][k].astype(zero.dtype)


def times_vector(inputs: Any, k: Any, zero: Any) -> Any:
    """The value of an entry times the element of a vector that its column names."""
    return inputs[0][k].astype(zero.dtype) * inputs[2][inputs[1][k]].astype(zero.dtype)


def length_of_other(inputs: Any, k: Any, zero: Any) -> Any:
    """How many entries a row of another matrix has, which the column of an entry names."""
    i = inputs[0][k]
    return (begin_of(inputs[1], i + 1) - begin_of(inputs[1], i)).astype(zero.dtype)


def add(a: Any, b: Any) -> Any:
    return a + b


def least(a: Any, b: Any) -> Any:
    return min(a, b)


def greatest(a: Any, b: Any) -> Any:
    return max(a, b)


# --- rows to numbers


@kernel
def sparse_reduce_rows(item: NdItem, ptr: Any, entry: Any, combine: Any, inputs: Any, zero: Any, out: Any, parts: Any) -> None:
    """A row after the other, an entry after the other."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
            total = zero
            for k in range(begin_of(ptr, row), begin_of(ptr, row + 1)):
                total = combine(total, entry(inputs, k, zero))
            out[row] = total


def own_part(ptr: Any, entry: Any, combine: Any, inputs: Any, zero: Any, out: Any, row: Any, place: Any, count: Any) -> Any:
    """What one of so many items makes of its entries of a row; of none behind the last row."""
    first, stop = np.int64(0), np.int64(0)
    if row < out.shape[0]:
        first, stop = begin_of(ptr, row), begin_of(ptr, row + 1)
    total = zero
    for k in range(first + place, stop, count):
        total = combine(total, entry(inputs, k, zero))
    return total


@kernel
def sparse_reduce_rows_by_groups(item: NdItem, ptr: Any, entry: Any, combine: Any, inputs: Any, zero: Any, out: Any) -> None:
    """The items of a sub-group share a row."""
    group = item.get_sub_group()
    place, width = group.get_local_id(), group.get_local_range()
    row = np.int64(item.get_global_id(0) - place) // width
    total = reduce_over_group(group, own_part(ptr, entry, combine, inputs, zero, out, row, place, width), combine)
    if place == 0 and row < out.shape[0]:
        out[row] = total


@kernel
def sparse_reduce_rows_by_lanes(
    item: NdItem, ptr: Any, entry: Any, combine: Any, inputs: Any, zero: Any, out: Any, lanes: Const[int]
) -> None:
    """So many items of a sub-group share a row: a power of two, of less than the sub-group."""
    group = item.get_sub_group()
    i = np.int64(item.get_global_id(0))
    place, row = i % lanes, i // lanes
    total = own_part(ptr, entry, combine, inputs, zero, out, row, place, lanes)
    for mask in (16, 8, 4, 2, 1):
        if mask < lanes:
            total = combine(total, permute_group_by_xor(group, total, mask))
    if place == 0 and row < out.shape[0]:
        out[row] = total


@kernel
def sparse_times_matrix(item: Item, ptr: Any, index: Any, value: Any, x: Any, zero: Any, out: Any) -> None:
    """An item has an element of the result."""
    row, j = item.get_id(0), item.get_id(1)
    total = zero
    for k in range(begin_of(ptr, row), begin_of(ptr, row + 1)):
        total += value[k].astype(zero.dtype) * x[index[k], j]
    out[row, j] = total


@kernel
def sparse_times_matrix_by_rows(item: Item, ptr: Any, index: Any, value: Any, x: Any, zero: Any, out: Any, parts: Any) -> None:
    """An item has a part; columns become lanes, and a row of the result stays in the nearest cache."""
    part = np.int64(item.get_id(0))
    for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
        for j in range(out.shape[1]):
            out[row, j] = zero
        for k in range(begin_of(ptr, row), begin_of(ptr, row + 1)):
            factor = value[k].astype(zero.dtype)
            column = index[k]
            for j in range(out.shape[1]):
                out[row, j] += factor * x[column, j]


# --- rows to rows


def number_of_row(inputs: Any, k: Any, row: Any, out: Any) -> Any:
    """The row of an entry."""
    return row.astype(out.dtype)


def scaled_by_row(inputs: Any, k: Any, row: Any, out: Any) -> Any:
    """The value of an entry times the element of a vector that its row names."""
    return inputs[0][k].astype(out.dtype) * inputs[1][row]


@kernel
def sparse_each_entry(item: NdItem, ptr: Any, block: Any, entry: Any, inputs: Any, out: Any) -> None:
    """A function of each entry and its row: an item looks for the row of its first entry, and goes on from there."""
    first = np.int64(item.get_global_id(0)) * block
    stop = min(first + block, np.int64(out.shape[0]))
    if first < stop:
        row = row_of(ptr, first, np.int64(0), np.int64(ptr.shape[0] - 1))
        for k in range(first, stop):
            while np.int64(ptr[row + 1]) <= k:
                row += 1
            out[k] = entry(inputs, k, row, out)


@kernel
def sparse_each_entry_by_groups(item: NdItem, ptr: Any, block: Any, entry: Any, inputs: Any, out: Any) -> None:
    """The same: the items of a group have `block` entries each, and look among the rows of all of them."""
    place, width = np.int64(item.get_local_id(0)), np.int64(item.get_local_range(0))
    first = (np.int64(item.get_global_id(0)) - place) * block
    stop = min(first + width * block, np.int64(out.shape[0]))
    least = row_of(ptr, first, np.int64(0), np.int64(ptr.shape[0] - 1))
    most = row_of(ptr, stop - 1, least, np.int64(ptr.shape[0] - 1)) + 1
    for k in range(first + place, stop, width):
        out[k] = entry(inputs, k, row_of(ptr, k, least, most), out)


@kernel
def sparse_order_of_rows(item: NdItem, ptr: Any, index: Any, out: Any, parts: Any) -> None:
    """Of each row 2 if its columns increase, 1 if some are equal, 0 if some decrease."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
            state = np.int8(2)
            for k in range(begin_of(ptr, row) + 1, begin_of(ptr, row + 1)):
                if index[k] < index[k - 1]:
                    state = np.int8(0)
                elif index[k] == index[k - 1]:
                    state = min(state, np.int8(1))
            out[row] = state


@kernel
def sparse_merge_rows(
    item: NdItem,
    ptr_a: Any,
    index_a: Any,
    value_a: Any,
    ptr_b: Any,
    index_b: Any,
    value_b: Any,
    combine: Any,
    zero: Any,
    ptr: Any,
    index: Any,
    value: Any,
    counts: Any,
    parts: Any,
) -> None:
    """A function of two matrices whose columns increase: stores what is not zero from where ptr says, and counts it."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
            i, stop_a = begin_of(ptr_a, row), begin_of(ptr_a, row + 1)
            j, stop_b = begin_of(ptr_b, row), begin_of(ptr_b, row + 1)
            at = begin_of(ptr, row)
            while i < stop_a or j < stop_b:
                column_a, column_b = MOST, MOST
                a, b = zero, zero
                if i < stop_a:
                    column_a = np.int64(index_a[i])
                if j < stop_b:
                    column_b = np.int64(index_b[j])
                column = min(column_a, column_b)
                if column_a == column:
                    a = value_a[i].astype(zero.dtype)
                    i += 1
                if column_b == column:
                    b = value_b[j].astype(zero.dtype)
                    j += 1
                result = combine(a, b)
                if result != 0:
                    index[at] = column.astype(index.dtype)
                    value[at] = result.astype(value.dtype)
                    at += 1
            counts[row] = at - begin_of(ptr, row)


@kernel
def sparse_pack_rows(item: NdItem, source: Any, index: Any, value: Any, ptr: Any, packed_index: Any, packed_value: Any, parts: Any) -> None:
    """Rows that begin where `source` says, without gaps between them."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
            first = begin_of(ptr, row)
            begin = begin_of(source, row)
            for k in range(begin_of(ptr, row + 1) - first):
                packed_index[first + k] = index[begin + k]
                packed_value[first + k] = value[begin + k]


# --- rows to columns, where each part has a place for every column


@kernel
def sparse_add_columns(
    item: NdItem, ptr: Any, index: Any, value: Any, factors: Any, zero: Any, out: Any, parts: Any, scaled: Const[int]
) -> None:
    """Adds the entries of each part into a row of its own, times a factor for each row of entries if `scaled`."""
    part = np.int64(item.get_global_id(0))
    for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
        factor = zero
        if scaled:
            factor = factors[row]
        for k in range(begin_of(ptr, row), begin_of(ptr, row + 1)):
            if scaled:
                out[part, index[k]] += value[k].astype(zero.dtype) * factor
            else:
                out[part, index[k]] += value[k].astype(zero.dtype)


@kernel
def sparse_count_columns(item: NdItem, ptr: Any, index: Any, counts: Any, parts: Any) -> None:
    part = np.int64(item.get_global_id(0))
    for k in range(begin_of(ptr, first_row(ptr, part, parts)), begin_of(ptr, first_row(ptr, part + 1, parts))):
        counts[part, index[k]] += 1


@kernel
def sparse_place_by_columns(
    item: NdItem, ptr: Any, index: Any, value: Any, places: Any, out_index: Any, out_value: Any, parts: Any
) -> None:
    """Entries in the order of their columns, those of a column in the order of the rows; `places`: of the next one of part and column."""
    part = np.int64(item.get_global_id(0))
    for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
        for k in range(begin_of(ptr, row), begin_of(ptr, row + 1)):
            column = index[k]
            at = places[part, column]
            places[part, column] = at + 1
            out_index[at] = np.int64(row).astype(out_index.dtype)
            out_value[at] = value[k]


# --- products of two sparse matrices


def place_in(column: Any, size: Any) -> Any:
    """Where a table of some size has a column, unless another one is there: the upper half of a product of 32 bits."""
    mixed = (np.uint64(column) * np.uint64(2654435769)) & np.uint64(0xFFFFFFFF)
    return np.int64((mixed * np.uint64(size)) >> np.uint64(32))


@kernel
def sparse_multiply_rows(
    item: NdItem,
    table: Any,
    ptr_a: Any,
    index_a: Any,
    value_a: Any,
    ptr_b: Any,
    index_b: Any,
    value_b: Any,
    zero: Any,
    keys: Any,
    sums: Any,
    counts: Any,
    parts: Any,
) -> None:
    """Adds the products of each row into its table, and counts the columns there are."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(table, part, parts), first_row(table, part + 1, parts)):
            begin = begin_of(table, row)
            size = begin_of(table, row + 1) - begin
            count = np.int64(0)
            for k in range(begin_of(ptr_a, row), begin_of(ptr_a, row + 1)):
                factor = value_a[k].astype(zero.dtype)
                i = index_a[k]
                for m in range(begin_of(ptr_b, i), begin_of(ptr_b, i + 1)):
                    column = np.int64(index_b[m])
                    product = factor * value_b[m].astype(zero.dtype)
                    place = place_in(column, size)
                    key = np.int64(keys[begin + place])
                    while key != column and key != FREE:
                        place += 1
                        if place == size:
                            place = np.int64(0)
                        key = np.int64(keys[begin + place])
                    if key == FREE:
                        keys[begin + place] = column.astype(keys.dtype)
                        sums[begin + place] = product
                        count += 1
                    else:
                        sums[begin + place] += product
            counts[row] = count


@kernel
def sparse_multiply_rows_by_columns(
    item: NdItem,
    bounds: Any,
    ptr_a: Any,
    index_a: Any,
    value_a: Any,
    ptr_b: Any,
    index_b: Any,
    value_b: Any,
    zero: Any,
    marks: Any,
    sums: Any,
    index: Any,
    value: Any,
    counts: Any,
    parts: Any,
) -> None:
    """Adds the products of each row into the part's place of their column; `marks` has the last row, from 1 on, that has used it."""
    part = np.int64(item.get_global_id(0))
    for row in range(first_row(bounds, part, parts), first_row(bounds, part + 1, parts)):
        begin = begin_of(bounds, row)
        at = begin
        for k in range(begin_of(ptr_a, row), begin_of(ptr_a, row + 1)):
            factor = value_a[k].astype(zero.dtype)
            i = index_a[k]
            for m in range(begin_of(ptr_b, i), begin_of(ptr_b, i + 1)):
                column = index_b[m]
                product = factor * value_b[m].astype(zero.dtype)
                if marks[part, column] == row + 1:
                    sums[part, column] += product
                else:
                    marks[part, column] = row + 1
                    sums[part, column] = product
                    index[at] = column
                    at += 1
        for k in range(begin, at):
            value[k] = sums[part, index[k]]
        counts[row] = at - begin


@kernel
def sparse_collect_rows(item: NdItem, table: Any, keys: Any, sums: Any, ptr: Any, index: Any, value: Any, parts: Any) -> None:
    """Stores what tables hold, row after row: each place where the next column goes, so that no branch depends on which are free."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(table, part, parts), first_row(table, part + 1, parts)):
            at, stop = begin_of(ptr, row), begin_of(ptr, row + 1)
            for place in range(begin_of(table, row), begin_of(table, row + 1)):
                if at < stop:
                    index[at] = keys[place]
                    value[at] = sums[place]
                    at += np.int64(keys[place] != FREE)


# --- to dense arrays


@kernel
def sparse_add_to_dense(item: NdItem, ptr: Any, index: Any, value: Any, out: Any, parts: Any) -> None:
    """Adds entries to the elements of an array: those of a row are added one after the other, because columns may occur again."""
    part = np.int64(item.get_global_id(0))
    if part < parts:
        for row in range(first_row(ptr, part, parts), first_row(ptr, part + 1, parts)):
            for k in range(begin_of(ptr, row), begin_of(ptr, row + 1)):
                out[row, index[k]] += value[k]


# --- what becomes of two values


def subtract(a: Any, b: Any) -> Any:
    return a - b


def multiply(a: Any, b: Any) -> Any:
    return a * b


def either(a: Any, b: Any) -> Any:
    return a or b


def both_of(a: Any, b: Any) -> Any:
    return a and b


def differs(a: Any, b: Any) -> Any:
    return a != b


def below(a: Any, b: Any) -> Any:
    return a < b


def above(a: Any, b: Any) -> Any:
    return a > b
