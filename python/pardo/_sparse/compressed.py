# python/pardo/_sparse/compressed.py: csr_array and csc_array: rows of entries, one after the other; those of a csc_array are its columns.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo._array.joining import stack
from pardo._core import Array, Queue
from pardo._sparse.base import KINDS
from pardo._sparse.products import add_up, longest_of
from pardo._sparse.stored import Stored, check_inside, indices_of, line_of, no_axes
from pardo._sparse.structure import Rows, cast, entry_rows, filtered, from_coordinates, in_order, index_dtype, order_of, transposed


class _Compressed(Stored):
    """What csr_array and csc_array have in common: rows of entries, which are the columns of a csc_array."""

    indices: Array
    indptr: Array
    _order: int | None
    _longest: int | None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("indices", "indptr"):  # what was known of their order may be wrong now
            object.__setattr__(self, "_order", None)
            object.__setattr__(self, "_longest", None)
        object.__setattr__(self, name, value)

    @classmethod
    def _made(cls, rows: Rows, order: int | None = None) -> Any:
        made = object.__new__(cls)
        made._become(rows, order)
        return made

    def _become(self, rows: Rows, order: int | None) -> None:
        self.indptr, self.indices, self.data = rows.ptr, rows.column, rows.value
        self._shape = rows.extent if self.format == "csr" else (rows.width, rows.height)
        self._order, self._longest = order, None

    def _rows(self) -> Rows:
        extent = self._shape if self.format == "csr" else (self._shape[1], self._shape[0])
        return Rows(self.indptr, self.indices, self.data, extent)

    def _compressed(self) -> Any:
        return self

    def _longest_row(self) -> int:
        if self._longest is None:
            self._longest = longest_of(self.indptr)
        return self._longest

    def _with_data(self, data: Array) -> Any:
        made = self._made(self._rows().with_value(data), self._order)
        made._longest = self._longest
        return made

    def _fill(self, parts: tuple[Any, ...], shape: tuple[int, int] | None, queue: Queue, copy: bool) -> None:
        op_name = type(self).__name__
        if len(parts) == 2:
            return self._take(KINDS["coo"](parts, shape, copy=copy, queue=queue), None, None, False)
        if len(parts) != 3:
            raise ValueError(
                f"{op_name}: unrecognized tuple of {len(parts)}: expected (rows, columns), (data, (row, col)) or (data, indices, indptr)"
            )
        data = line_of(parts[0], queue, copy, f"{op_name}: data")
        indices, indptr = (
            indices_of(x, queue, copy, f"{op_name}: {name}") for x, name in zip(parts[1:], ("indices", "indptr"), strict=True)
        )
        if shape is None:
            if indices.size == 0:
                raise ValueError(f"{op_name}: unable to infer the shape: there are no indices; give it")
            other = int(indices.max()) + 1
            shape = (indptr.size - 1, other) if self.format == "csr" else (other, indptr.size - 1)
        extent = shape if self.format == "csr" else (shape[1], shape[0])
        if indptr.size != extent[0] + 1:
            raise ValueError(f"{op_name}: index pointer size {indptr.size} should be {extent[0] + 1}")
        stop = checked_parts(data, indices, indptr, extent, op_name)
        dtype = index_dtype(*extent, stop, like=[indices, indptr])
        if stop < data.size:
            data, indices = data[:stop]._copy(), indices[:stop]._copy()
        return self._become(Rows(cast(indptr, dtype), cast(indices, dtype), data, extent), None)

    def check_format(self, full_check: bool = True) -> None:
        """Check whether the array has what its format says.

        Parameters
        ----------
        full_check : bool
            Not to look at the single indices if it is False.

        Raises
        ------
        ValueError
            `data`, `indices` and `indptr` do not fit each other, or an index is out of range.
        """
        rows, op_name = self._rows(), type(self).__name__
        if self.indptr.size != rows.height + 1:
            raise ValueError(f"{op_name}: index pointer size {self.indptr.size} should be {rows.height + 1}")
        checked_parts(self.data, self.indices, self.indptr, rows.extent, op_name, full_check)

    # --- the order of entries

    def _order_now(self) -> int:
        if self._order is None:
            self._order = order_of(self._rows())
        return self._order

    @property
    def has_sorted_indices(self) -> bool:
        """Whether the indices of each row (column, of a csc_array) are in order."""
        return self._order_now() > 0

    @property
    def has_canonical_format(self) -> bool:
        """Whether indices are in order, and each place has one entry."""
        return self._order_now() == 2

    def sort_indices(self) -> None:
        """Sort the indices of this array in place."""
        if self._order_now() == 0:
            self._become(in_order(self._rows()), None)

    def sorted_indices(self) -> Any:
        """Return a copy of this array with sorted indices.

        Returns
        -------
        csr_array or csc_array
            In the same format.
        """
        made = self.copy()
        made.sort_indices()
        return made

    def sum_duplicates(self) -> None:
        """Eliminate duplicate entries by adding them together, in place; indices are in order then."""
        if self._order_now() < 2:
            rows = self._rows()
            self._become(
                from_coordinates(entry_rows(rows.ptr, self.nnz), rows.column, rows.value, rows.extent, add_up, rows.column.dtype), 2
            )

    def eliminate_zeros(self) -> None:
        """Remove zero entries from the array, in place."""
        self._become(filtered(self._rows(), self.data != 0), self._order)

    def _canonical(self) -> Any:
        if self._order_now() == 2:
            return self
        made = self._made(self._rows(), self._order)
        made.sum_duplicates()
        return made

    def _deduplicated(self) -> Any:
        return self._canonical()

    # --- formats

    def _turned(self, format: str) -> Any:
        """In the other format of rows and columns; entries of each are in order."""
        return KINDS[format]._made(transposed(self._rows()), 2 if self._order == 2 else None)

    def _copied(self, copy: bool) -> Any:
        if not copy:
            return self
        made = self._made(Rows(self.indptr._copy(), self.indices._copy(), self.data._copy(), self._rows().extent), self._order)
        made._longest = self._longest
        return made

    def tocsr(self, copy: bool = False) -> Any:
        """Convert this array to Compressed Sparse Row format.

        Parameters
        ----------
        copy : bool
            Whether the result has entries of its own in any case.

        Returns
        -------
        csr_array
            The array itself if it has that format, unless `copy`.
        """
        return self._copied(copy) if self.format == "csr" else self._turned("csr")

    def tocsc(self, copy: bool = False) -> Any:
        """Convert this array to Compressed Sparse Column format.

        Parameters
        ----------
        copy : bool
            Whether the result has entries of its own in any case.

        Returns
        -------
        csc_array
            The array itself if it has that format, unless `copy`.
        """
        return self._copied(copy) if self.format == "csc" else self._turned("csc")

    def tocoo(self, copy: bool = True) -> Any:
        """Convert this array to COOrdinate format.

        Parameters
        ----------
        copy : bool
            Whether the result has entries of its own in any case; without, it shares `data` and `indices`.

        Returns
        -------
        coo_array
            The entries in their order.
        """
        rows = self._rows()
        row = entry_rows(rows.ptr, self.nnz, rows.column.dtype)
        column, value = (rows.column._copy(), rows.value._copy()) if copy else (rows.column, rows.value)
        if self.format == "csc":
            row, column = column, row
        return KINDS["coo"]._of(row, column, value, self._shape, self.format == "csr" and self._order == 2)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Reverse the dimensions of the sparse array.

        Parameters
        ----------
        axes : None
            NumPy's; nothing else is supported.
        copy : bool
            Whether the result has entries of its own; without, it shares them.

        Returns
        -------
        csc_array or csr_array
            The other one of the two formats.

        Raises
        ------
        ValueError
            `axes` is given.
        """
        no_axes(axes)
        source = self._copied(copy)
        made = KINDS["csc" if self.format == "csr" else "csr"]._made(source._rows(), self._order)
        made._longest = self._longest
        return made


def checked_parts(data: Array, indices: Array, indptr: Array, extent: tuple[int, int], op_name: str, full: bool = True) -> int:
    """How many entries there are; a ValueError if arrays do not fit each other."""
    if indices.size != data.size:
        raise ValueError(f"{op_name}: indices and data should have the same size, and have {indices.size} and {data.size}")
    ends = [cast(indptr[0], np.int64), cast(indptr[-1], np.int64)]
    if full and indptr.size > 1:
        ends.append(cast((indptr[1:] < indptr[:-1]).any(), np.int64))
    first, stop, *falls = (int(x) for x in stack(ends).tolist())
    if first != 0:
        raise ValueError(f"{op_name}: index pointer should start with 0, not {first}")
    if not 0 <= stop <= indices.size:
        raise ValueError(f"{op_name}: last value of index pointer should be at most {indices.size}, the size of data, not {stop}")
    if falls and falls[0]:
        raise ValueError(f"{op_name}: index pointer values must form a non-decreasing sequence")
    if full and stop:
        check_inside(indices[:stop], extent[1], f"{op_name}: indices")
    return stop


class csr_array(_Compressed):  # noqa: N801 (SciPy's name)
    """Compressed Sparse Row array.

    Parameters
    ----------
    arg1 : sparse or dense array, tuple
        A sparse array of any format, of SciPy's too; a dense array of two dimensions, or what `pardo.asarray` makes one of; a shape
        ``(rows, columns)`` for an array without entries; ``(data, indices, indptr)``: entries
        of row i are those from ``indptr[i]`` to ``indptr[i + 1] - 1``; ``(data, (row, col))``, whose entries of one place are added up.
    shape : tuple of int, optional
        Numbers of rows and columns. Default: the smallest that the indices fit.
    dtype : data type, optional
        The values are cast to it. Default: that of the values, float64 for a shape.
    copy : bool
        Whether arrays that are given are copied. Without it they are shared where they have the right dtype and the device can use their
        memory: what is written into them later changes this array.
    device : Device or str, optional
        Where it is made. Default: where the arrays are that are given, else the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Attributes
    ----------
    data : Array
        The values of the entries.
    indices : Array
        The column of each entry, of int32 where that holds the shape and the number of entries and what is given, else of int64.
    indptr : Array
        Where the entries of each row begin, and where those of the last one end; of the dtype of `indices`.


    Raises
    ------
    ValueError
        The parts do not fit each other or the shape, or there are not two dimensions.
    TypeError
        `arg1` is something else, or a dtype is not supported.
    ExecutionPlacementError
        The parts are on different queues.

    See Also
    --------
    csc_array, coo_array

    Notes
    -----
    Products with vectors and matrices, sums and comparisons run on the device of the entries, by kernels of this library: rows are divided
    so that each thread has about as many entries as any other, and rows of more than 32768 entries (2048 on GPUs) are cut where they would
    be the last to end. Sums have the same bits on each run. Columns of the product of two sparse arrays are in no order, as SciPy's.

    Examples
    --------
    >>> import pardo as pp
    >>> A = pp.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> A @ pp.ones(3)
    array([3., 3.])
    >>> A
    <csr_array of float64 with 3 stored elements and shape (2, 3) on cpu:0>
    """

    format = "csr"


class csc_array(_Compressed):  # noqa: N801 (SciPy's name)
    """Compressed Sparse Column array.

    Parameters
    ----------
    arg1 : sparse or dense array, tuple
        A sparse array of any format, of SciPy's too; a dense array of two dimensions, or what `pardo.asarray` makes one of; a shape
        ``(rows, columns)`` for an array without entries; ``(data, indices, indptr)``: entries
        of column j are those from ``indptr[j]`` to ``indptr[j + 1] - 1``; ``(data, (row, col))``, whose entries of one place are added up.
    shape : tuple of int, optional
        Numbers of rows and columns. Default: the smallest that the indices fit.
    dtype : data type, optional
        The values are cast to it. Default: that of the values, float64 for a shape.
    copy : bool
        Whether arrays that are given are copied. Without it they are shared where they have the right dtype and the device can use their
        memory: what is written into them later changes this array.
    device : Device or str, optional
        Where it is made. Default: where the arrays are that are given, else the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Attributes
    ----------
    data : Array
        The values of the entries.
    indices : Array
        The row of each entry, of int32 where that holds the shape and the number of entries and what is given, else of int64.
    indptr : Array
        Where the entries of each column begin, and where those of the last one end; of the dtype of `indices`.


    Raises
    ------
    ValueError
        The parts do not fit each other or the shape, or there are not two dimensions.
    TypeError
        `arg1` is something else, or a dtype is not supported.
    ExecutionPlacementError
        The parts are on different queues.

    See Also
    --------
    csr_array, coo_array

    Notes
    -----
    It is what the transposed csr_array has. Products with matrices make a csr_array first.

    Examples
    --------
    >>> import pardo as pp
    >>> A = pp.sparse.csc_array(([1, 2, 3], ([0, 1, 1], [0, 0, 2])), shape=(2, 3))
    >>> A.indptr
    array([0, 2, 2, 3])
    >>> A.sum(axis=0)
    array([3, 0, 3])
    """

    format = "csc"


KINDS.update(csr=csr_array, csc=csc_array)
