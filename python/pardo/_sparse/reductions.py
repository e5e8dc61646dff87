# python/pardo/_sparse/reductions.py: sums, means, extremes, counts and diagonals of sparse arrays.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array.creation import empty, zeros
from pardo._base.arguments import axis_index, default_on, index, optional_dtype, store
from pardo._base.promotion import is_narrow, kind_of
from pardo._core import Array
from pardo._sparse.arithmetic import Arithmetic
from pardo._sparse.products import accumulated_in, extremes, finished, sums
from pardo._sparse.structure import cast, column_sums, has_few_items, transposed


class Reductions(Arithmetic):
    """What becomes of elements along axes; the results are dense."""

    def _along(self, axis: Any, op_name: str) -> tuple[Any, int | None]:
        """The array in a format of rows, and the axis of these: 1 is along rows. None for all elements."""
        mine = self._compressed()
        if isinstance(axis, tuple):
            places = sorted({axis_index(a, 2, op_name) for a in axis})
            if len(places) != len(axis):
                raise ValueError(f"{op_name}: duplicate value in 'axis': {axis}")
            axis = None if len(places) == 2 else places[0]
        if axis is None:
            return mine, None
        place = axis_index(axis, 2, op_name)
        return mine, place if mine.format == "csr" else 1 - place

    def _sum(self, axis: Any, dtype: Any, op_name: str) -> Array:
        mine, along = self._along(axis, op_name)
        if along is None:
            total: Array = mine.data.sum(dtype=dtype)
            return total
        rows = mine._rows()
        if along == 1:
            return sums(rows.ptr, rows.value, dtype, mine._longest_row())
        if rows.value.size == 0:
            return zeros(rows.width, dtype, queue=self.queue)
        if has_few_items(self.queue):
            return finished(column_sums(rows, None, accumulated_in(dtype)), dtype)
        out = zeros(rows.width, accumulated_in(dtype), queue=self.queue)
        if not _core._accumulates_at(_core.add._row, out):
            columns = transposed(rows)
            return sums(columns.ptr, columns.value, dtype)
        _core._accumulate_at(_core.add._row, out, cast(rows.column, np.int64), cast(rows.value, out.dtype), True)
        return finished(out, dtype)

    def sum(self, axis: Any = None, dtype: Any = None, out: Array | None = None) -> Array:
        """Sum the array elements over a given axis.

        Parameters
        ----------
        axis : {0, 1, -1, -2} or None
            The axis; None sums all elements.
        dtype : data type, optional
            The dtype of the result. Default: that of the elements, but at least 64 bits for integers and bools.
        out : Array, optional
            Where the result is stored.

        Returns
        -------
        Array
            Dense, of one dimension; without dimensions if `axis` is None.

        Raises
        ------
        AxisError
            There is no such axis.
        TypeError
            `out` is not an Array, or of a dtype of another kind.
        ValueError
            `out` has another shape.
        """
        wanted = optional_dtype(dtype, "sum") or self.data[:0].sum().dtype
        return store(self._sum(axis, wanted, "sum"), out, "sum")

    def mean(self, axis: Any = None, dtype: Any = None, out: Array | None = None) -> Array:
        """Compute the arithmetic mean along the specified axis.

        Parameters
        ----------
        axis : {0, 1, -1, -2} or None
            The axis; None takes all elements, those that are not stored included.
        dtype : data type, optional
            The dtype of the result. Default: that of the elements, float64 for integers and bools.
        out : Array, optional
            Where the result is stored.

        Returns
        -------
        Array
            Dense, of one dimension; without dimensions if `axis` is None. NaN where there are no elements.

        Raises
        ------
        AxisError
            There is no such axis.
        TypeError
            `out` is not an Array, or of a dtype of another kind.
        ValueError
            `out` has another shape.
        """
        wanted = optional_dtype(dtype, "mean") or (self.dtype if kind_of(self.dtype) in "fc" else default_on(self.queue, np.float64))
        inner = np.dtype(np.float32) if is_narrow(wanted) else wanted
        mine, along = self._along(axis, "mean")
        extent = mine._rows().extent
        number = extent[0] * extent[1] if along is None else extent[along]
        total = cast(self._sum(axis, inner, "mean"), inner)
        return store(cast(total / float(number), wanted), out, "mean")

    def max(self, axis: Any = None, out: Array | None = None) -> Array:
        """Return the maximum of the array or maximum along an axis.

        Parameters
        ----------
        axis : {0, 1, -1, -2} or None
            The axis; None takes all elements, those that are not stored included.
        out : Array, optional
            Where the result is stored.

        Returns
        -------
        Array
            Dense, of one dimension; without dimensions if `axis` is None. NaN propagates.

        Raises
        ------
        AxisError
            There is no such axis.
        ValueError
            There are no elements along the axis, or `out` has another shape.
        TypeError
            The elements are complex, or `out` is not an Array or of a dtype of another kind.
        """
        return store(self._most(axis, True, "max"), out, "max")

    def min(self, axis: Any = None, out: Array | None = None) -> Array:
        """Return the minimum of the array or minimum along an axis.

        Parameters
        ----------
        axis : {0, 1, -1, -2} or None
            The axis; None takes all elements, those that are not stored included.
        out : Array, optional
            Where the result is stored.

        Returns
        -------
        Array
            Dense, of one dimension; without dimensions if `axis` is None. NaN propagates.

        Raises
        ------
        AxisError
            There is no such axis.
        ValueError
            There are no elements along the axis, or `out` has another shape.
        TypeError
            The elements are complex, or `out` is not an Array or of a dtype of another kind.
        """
        return store(self._most(axis, False, "min"), out, "min")

    def _most(self, axis: Any, greatest: bool, op_name: str) -> Array:
        if kind_of(self.dtype) == "c":
            raise TypeError(f"{op_name}: complex numbers have no order")
        mine, along = self._deduplicated()._along(axis, op_name)
        rows = mine._rows()
        if (rows.height * rows.width if along is None else rows.extent[along]) == 0:
            raise ValueError(f"{op_name}: zero-size array to reduction operation {op_name} which has no identity")
        if along is None:
            if rows.value.size == 0:
                return zeros((), self.dtype, queue=self.queue)
            most = rows.value.max() if greatest else rows.value.min()
            if rows.value.size == rows.height * rows.width:
                return most  # type: ignore[no-any-return]
            zero = self.dtype.type(0)
            return _core.maximum(most, zero) if greatest else _core.minimum(most, zero)
        if along == 0:
            mine = mine.tocsc() if mine.format == "csr" else mine.tocsr()
            rows = mine._rows()
        return extremes(rows, greatest, mine._longest_row())

    def count_nonzero(self, axis: Any = None) -> Any:
        """Number of non-zero entries: of those that are stored and are not zero.

        Parameters
        ----------
        axis : {0, 1, -1, -2} or None
            The axis; None counts all elements.

        Returns
        -------
        Array
            Of int64, of one dimension; without dimensions if `axis` is None.

        Raises
        ------
        AxisError
            There is no such axis.
        """
        mine = self._deduplicated()
        return mine._with_data(cast(mine.data != 0, np.int64))._sum(axis, np.dtype(np.int64), "count_nonzero")

    def nonzero(self) -> tuple[Array, Array]:
        """Nonzero indices of the array.

        Returns
        -------
        tuple of Array
            Rows and columns of the elements that are not zero, in the order of the entries.
        """
        coo = self._deduplicated().tocoo()
        keep = coo.data != 0
        return coo.row[keep], coo.col[keep]

    def diagonal(self, k: int = 0) -> Array:
        """Return the kth diagonal of the array.

        Parameters
        ----------
        k : int
            Which: the main one is 0, those above it are positive.

        Returns
        -------
        Array
            Of one dimension; without elements if there is no such diagonal.

        Raises
        ------
        TypeError
            `k` is not an integer.
        """
        k = index(k, "diagonal: k")
        m, n = self.shape
        size = max(0, min(m + min(k, 0), n - max(k, 0)))
        if size == 0:
            return empty(0, self.dtype, queue=self.queue)
        mine = self._canonical()
        coo = mine.tocoo()
        on = coo.col - coo.row == k
        out = zeros(size, self.dtype, queue=self.queue)
        places = coo.row[on] + min(k, 0)
        if places.size:
            out[places] = coo.data[on]
        return out

    def trace(self, offset: int = 0) -> Array:
        """Return the sum along diagonals of the array.

        Parameters
        ----------
        offset : int
            Which diagonal: the main one is 0, those above it are positive.

        Returns
        -------
        Array
            Without dimensions.

        Raises
        ------
        TypeError
            `offset` is not an integer.
        """
        return self.diagonal(offset).sum()
