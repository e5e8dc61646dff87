# python/pardo/_sparse/coordinates.py: coo_array: entries with their rows and columns, in any order.
from __future__ import annotations

from typing import Any

from pardo._core import Array, Queue, _is_host_data
from pardo._sparse.base import KINDS, is_scipy, sparray
from pardo._sparse.products import add_up
from pardo._sparse.stored import Stored, check_inside, indices_of, line_of, no_axes
from pardo._sparse.structure import Rows, cast, from_coordinates, index_dtype


class coo_array(Stored):  # noqa: N801 (SciPy's name)
    """A sparse array in COOrdinate format.

    Parameters
    ----------
    arg1 : sparse or dense array, tuple
        A sparse array of any format, of SciPy's too; a dense array of two dimensions, or what `pardo.asarray` makes one of; a shape
        ``(rows, columns)`` for an array without entries; ``(data, (row, col))``:
        entries of one place count as their sum.
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
    row, col : Array
        The row and the column of each entry, of int32 where that holds the shape and what is given, else of int64.


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
    csr_array, csc_array

    Notes
    -----
    It is for making sparse arrays. All but conversions, transposition and functions of the values makes a csr_array first.

    Examples
    --------
    >>> import pardo as pp
    >>> A = pp.sparse.coo_array(([1, 2, 3], ([0, 1, 1], [0, 0, 0])))
    >>> A.toarray()
    array([[1],
           [5]])
    """

    format = "coo"
    row: Array
    col: Array
    _summed: bool

    @classmethod
    def _of(cls, row: Array, col: Array, data: Array, shape: tuple[int, int], summed: bool = False) -> Any:
        made = object.__new__(cls)
        made.row, made.col, made.data, made._shape, made._summed = row, col, data, shape, summed
        return made

    @property
    def coords(self) -> tuple[Array, Array]:
        """The rows and the columns of the entries."""
        return self.row, self.col

    @property
    def has_canonical_format(self) -> bool:
        """Whether entries are known to be in order, with one for each place."""
        return self._summed

    def _fill(self, parts: tuple[Any, ...], shape: tuple[int, int] | None, queue: Queue, copy: bool) -> None:
        if len(parts) != 2 or not isinstance(parts[1], (tuple, list)) or len(parts[1]) != 2:
            raise ValueError("coo_array: unrecognized tuple: expected (rows, columns) or (data, (row, col))")
        data = line_of(parts[0], queue, copy, "coo_array: data")
        row, col = (indices_of(x, queue, copy, f"coo_array: {name}") for x, name in zip(parts[1], ("row", "col"), strict=True))
        if not row.size == col.size == data.size:
            raise ValueError(f"coo_array: row, col and data must have the same size, and have {row.size}, {col.size} and {data.size}")
        if shape is None:
            if row.size == 0:
                raise ValueError("coo_array: cannot infer the shape: there are no entries; give it")
            shape = (int(row.max()) + 1, int(col.max()) + 1)
        if data.size:
            check_inside(row, shape[0], "coo_array: row indices")
            check_inside(col, shape[1], "coo_array: column indices")
        dtype = index_dtype(*shape, like=[row, col])
        self.row, self.col, self.data = cast(row, dtype), cast(col, dtype), data
        self._shape, self._summed = shape, False

    def _with_data(self, data: Array) -> Any:
        return self._of(self.row, self.col, data, self._shape, self._summed)

    def _compressed(self) -> Any:
        return self.tocsr()

    def _canonical(self) -> Any:
        return self.tocsr()

    def _deduplicated(self) -> Any:
        if self._summed:
            return self
        made = self._of(self.row, self.col, self.data, self._shape)
        made.sum_duplicates()
        return made

    def _rows(self) -> Rows:
        rows: Rows = self.tocsr()._rows()
        return rows

    def _by(self, row: Array, column: Array, extent: tuple[int, int], copy: bool) -> Rows:
        """The entries by rows."""
        dtype = index_dtype(*extent, self.nnz, like=[row])
        made = from_coordinates(row, column, self.data, extent, add_up, dtype)
        if copy and made.value is self.data:  # they were in order
            return Rows(made.ptr, made.column._copy(), made.value._copy(), extent)
        return made

    def tocsr(self, copy: bool = False) -> Any:
        """Convert this array to Compressed Sparse Row format.

        Parameters
        ----------
        copy : bool
            Whether the result has entries of its own in any case; without it, entries in order are shared.

        Returns
        -------
        csr_array
            With entries of one place added up.
        """
        return KINDS["csr"]._made(self._by(self.row, self.col, self._shape, copy), 2)

    def tocsc(self, copy: bool = False) -> Any:
        """Convert this array to Compressed Sparse Column format.

        Parameters
        ----------
        copy : bool
            Whether the result has entries of its own in any case; without it, entries in order are shared.

        Returns
        -------
        csc_array
            With entries of one place added up.
        """
        rows = self._by(self.col, self.row, (self._shape[1], self._shape[0]), copy)
        return KINDS["csc"]._made(rows, 2)

    def tocoo(self, copy: bool = False) -> Any:
        """Convert this array to COOrdinate format.

        Parameters
        ----------
        copy : bool
            Whether the result has entries of its own.

        Returns
        -------
        coo_array
            The array itself, unless `copy`.
        """
        if not copy:
            return self
        return self._of(self.row._copy(), self.col._copy(), self.data._copy(), self._shape, self._summed)

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
        coo_array
            The transposed array.

        Raises
        ------
        ValueError
            `axes` is given.
        """
        no_axes(axes)
        mine = self.tocoo(copy)
        return self._of(mine.col, mine.row, mine.data, (self._shape[1], self._shape[0]))

    def sum_duplicates(self) -> None:
        """Eliminate duplicate entries by adding them together, in place; entries are in order of rows then."""
        if not self._summed:
            made = self.tocsr().tocoo(copy=False)
            self.row, self.col, self.data, self._summed = made.row, made.col, made.data, True

    def eliminate_zeros(self) -> None:
        """Remove zero entries from the array, in place."""
        keep = self.data != 0
        self.row, self.col, self.data = self.row[keep], self.col[keep], self.data[keep]


KINDS.update(coo=coo_array)


def as_coo(x: Any, home: Queue | None, op_name: str) -> Any:
    """A block as a coo_array."""
    if isinstance(x, sparray):
        return x.tocoo(copy=False)
    if not (type(x) is Array or is_scipy(x) or _is_host_data(x)):
        raise TypeError(f"{op_name}: a sparse or dense array is expected, not {type(x).__name__}")
    return coo_array(x, queue=None if type(x) is Array else home)


def home_of(blocks: Any) -> Queue | None:
    return next((x.queue for x in blocks if isinstance(x, sparray) or type(x) is Array), None)
