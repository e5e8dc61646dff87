# python/pardo/_sparse/indexing.py: parts of sparse arrays: elements, ranges of rows and columns, rows and columns by number or by bools.
from __future__ import annotations

import operator
from typing import Any

import numpy as np
from pardo._array.interop import asarray
from pardo._array.ranges import arange
from pardo._array.searching import nonzero
from pardo._base.arguments import same_queue
from pardo._core import Array
from pardo._sparse.reductions import Reductions
from pardo._sparse.structure import cast, chosen_rows, column_range, row_range


class Indexing(Reductions):
    """``A[i, j]``, ``A[rows, columns]`` with slices and one array."""

    def __getitem__(self, key: Any) -> Any:
        key = key if isinstance(key, tuple) else (key,)
        if any(part is None for part in key):
            raise IndexError(f"{type(self).__name__}: None as an index is not supported: sparse arrays have two dimensions")
        dots = [k for k, part in enumerate(key) if part is Ellipsis]
        if dots:
            missing = [slice(None)] * max(0, 2 - len(key) + len(dots[:1]))
            key = (*key[: dots[0]], *missing, *key[dots[0] + 1 :])
        if len(key) > 2:
            raise IndexError(f"{type(self).__name__}: too many indices: the array has 2 dimensions, but {len(key)} were indexed")
        row, column = (*key, slice(None), slice(None))[:2]
        mine = self._compressed()
        parts = [mine._part(row, 0), mine._part(column, 1)]
        numbers = [isinstance(part, int) for part in parts]
        if all(numbers):
            return mine._element(*parts)
        if any(numbers):
            at = numbers.index(True)
            written = ("A[i : i + 1, …]", "A[…, j : j + 1]")[at]
            raise NotImplementedError(
                f"{type(self).__name__}: a {('row', 'column')[at]} of one dimension is not supported; write {written}, or use toarray()"
            )
        if all(type(part) is Array for part in parts):
            raise NotImplementedError(
                f"{type(self).__name__}: two arrays as indices are not supported; write A[rows][:, columns] for all their combinations"
            )
        if mine.format == "csc":
            return mine.T._sliced(parts[1], parts[0]).T
        return mine._sliced(*parts)

    def _part(self, part: Any, axis: int) -> Any:
        """An index of one axis: a number from 0 on, a slice with all its numbers, or an array of numbers from 0 on."""
        extent = self.shape[axis]
        if isinstance(part, slice):
            return slice(*part.indices(extent))
        if isinstance(part, (bool, np.bool_)):
            raise IndexError(f"{type(self).__name__}: a bool as an index is not supported")
        if type(part) is not Array and not isinstance(part, (list, tuple, np.ndarray, range)):
            try:
                number = operator.index(part)
            except TypeError:
                raise IndexError(
                    f"{type(self).__name__}: only integers, slices and arrays are valid indices, not {type(part).__name__}"
                ) from None
            self._inside(number, number, extent, axis)
            return number % extent
        x = part if type(part) is Array else asarray(part, queue=self.queue)
        same_queue(self.data, x, "index")
        if x.ndim == 0:
            return self._part(int(x), axis)
        if x.ndim != 1:
            raise IndexError(f"{type(self).__name__}: indices of {x.ndim} dimensions are not supported; one is")
        if x.size == 0 and x._kind == "f":
            x = cast(x, np.int64)  # an empty list
        if x.dtype == np.bool_:
            if x.size != extent:
                raise IndexError(f"{type(self).__name__}: a mask of {x.size} elements for an axis of extent {extent}")
            return nonzero(x)[0]
        if x._kind not in "iu":
            raise IndexError(f"{type(self).__name__}: arrays used as indices must be of integers or bools, not {x.dtype}")
        x = cast(x, np.int64)
        if x.size:
            self._inside(int(x.min()), int(x.max()), extent, axis)
        return x + extent * (x < 0)

    def _inside(self, least: int, most: int, extent: int, axis: int) -> None:
        for number in (least, most):
            if not -extent <= number < extent:
                raise IndexError(f"{type(self).__name__}: index {number} is out of bounds for axis {axis} with size {extent}")

    def _element(self, i: int, j: int) -> Array:
        rows = self._rows()
        row, column = (i, j) if self.format == "csr" else (j, i)
        begin, stop = int(rows.ptr[row]), int(rows.ptr[row + 1])
        value = rows.value[begin:stop]
        return (value * (rows.column[begin:stop] == column).astype(value.dtype)).sum(dtype=value.dtype)

    def _sliced(self, row: Any, column: Any) -> Any:
        """Rows and columns of a csr_array."""
        rows = self._rows()
        if isinstance(row, slice):
            if row.step == 1:
                rows = row_range(rows, row.start, row.stop)
            else:
                rows = chosen_rows(rows, arange(row.start, row.stop, row.step, dtype=np.int64, queue=self.queue))
        else:
            rows = chosen_rows(rows, row)
        made = self._made(rows)
        if isinstance(column, slice):
            if column.step == 1:
                return made if column == slice(0, self.shape[1], 1) else self._made(column_range(rows, column.start, column.stop))
            column = arange(column.start, column.stop, column.step, dtype=np.int64, queue=self.queue)
        turned = made.tocsc()
        return turned._made(chosen_rows(turned._rows(), column)).tocsr()

    def _made(self, rows: Any, order: int | None = None) -> Any:
        raise NotImplementedError
