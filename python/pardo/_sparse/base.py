# python/pardo/_sparse/base.py: what all sparse arrays have: shape, dtype and place, formats, and the operands that they meet.
from __future__ import annotations

import sys
from typing import Any

import numpy as np
from pardo._array.creation import zeros
from pardo._base import promotion
from pardo._base.arguments import SCALARS, default_on, dtype_of, on_queue, same_queue
from pardo._base.orders import read_order
from pardo._core import Array, Device, Queue, _broadcast_to, _is_host_data
from pardo._sparse.structure import Rows, add_to_dense, cast

FORMATS = ("csr", "csc", "coo")
KINDS: dict[str, Any] = {}  # the classes by their formats; their files put them there
PRINTED = 50  # entries that are printed at most


def scipy_sparse() -> Any:
    """The module scipy.sparse if it has been imported; without it none of its arrays exist."""
    return sys.modules.get("scipy.sparse")


def is_scipy(x: Any) -> bool:
    """Whether an object is a sparse array or matrix of SciPy."""
    scipy = scipy_sparse()
    return scipy is not None and bool(scipy.issparse(x))


def promoted(a: Any, b: Any, queue: Queue) -> np.dtype[Any]:
    """The dtype of two operands together."""
    return default_on(queue, promotion.result_type(a, b))


class sparray:  # noqa: N801 (SciPy's name)
    """Base class of `csr_array`, `csc_array` and `coo_array`; it is not made itself.

    Notes
    -----
    ``isinstance(x, pardo.sparse.sparray)`` tells sparse arrays from others, as `issparse` does.

    Examples
    --------
    >>> import pardo as pp
    >>> isinstance(pp.sparse.csr_array((2, 3)), pp.sparse.sparray)
    True
    """

    # Operators of NumPy's arrays leave it to these classes what to do.
    __array_ufunc__ = None
    __array_priority__ = 10.1
    __hash__ = None  # type: ignore[assignment]

    format: str
    data: Array
    _shape: tuple[int, int]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise TypeError("sparray: it is a base class; make a csr_array, csc_array or coo_array")

    # --- what each format has of its own

    def tocsr(self, copy: bool = False) -> Any:
        raise NotImplementedError

    def tocsc(self, copy: bool = False) -> Any:
        raise NotImplementedError

    def tocoo(self, copy: bool = False) -> Any:
        raise NotImplementedError

    def _with_data(self, data: Array) -> Any:
        """The same places with other values."""
        raise NotImplementedError

    def _compressed(self) -> Any:
        """The array in a format of rows: of a csr_array or csc_array itself."""
        raise NotImplementedError

    def _canonical(self) -> Any:
        """`_compressed`, with one entry for each place, in order; the array itself if it is so."""
        raise NotImplementedError

    def _read(self, x: Any, queue: Queue) -> Any:
        """A sparse array of SciPy's as a csr_array on a queue."""
        raise NotImplementedError

    # --- attributes

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self._shape

    @property
    def ndim(self) -> int:
        """2."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries, explicit zeros included."""
        return self.data.size

    @property
    def size(self) -> int:
        """The same as `nnz`."""
        return self.data.size

    @property
    def device(self) -> Device:
        """Where the entries are."""
        return self.data.device

    @property
    def queue(self) -> Queue:
        """The queue of the entries."""
        return self.data.queue

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        """The transposed array, which shares the entries: of a csr_array it is a csc_array, and the other way round."""
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use nnz, or shape[0] or shape[1]")

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return bool(self.toarray()[0, 0] != 0)
        raise ValueError("The truth value of an array with more than one element is ambiguous.")

    def __iter__(self) -> Any:
        raise TypeError(f"{type(self).__name__}: rows of one dimension do not exist; loop over A[i : i + 1]")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.dtype} with {self.nnz} stored elements and shape {self.shape} on {self.device}>"

    def __str__(self) -> str:
        coo = self.tocoo()
        shown = [x[:PRINTED].tolist() for x in (coo.row, coo.col, coo.data)]
        lines = [f"  ({i}, {j})\t{v}" for i, j, v in zip(*shown, strict=True)]
        return "\n".join([repr(self), *lines, *(["  :\t:"] if self.nnz > PRINTED else [])])

    # --- conversions

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """Return this array in another format.

        Parameters
        ----------
        format : {'csr', 'csc', 'coo'} or None
            None means the format that it has.
        copy : bool
            Whether the result has entries of its own in any case.

        Returns
        -------
        csr_array, csc_array or coo_array
            The array itself if it has that format, unless `copy`.

        Raises
        ------
        ValueError
            There is no such format.
        """
        if format is None:
            format = self.format
        if format not in FORMATS:
            raise ValueError(f"asformat: format is {format!r}; it must be one of {', '.join(map(repr, FORMATS))}")
        return getattr(self, f"to{format}")(copy=copy)

    def copy(self) -> Any:
        """Return a copy of this array.

        Returns
        -------
        csr_array, csc_array or coo_array
            With entries of its own.
        """
        return self.asformat(None, copy=True)

    def toarray(self, order: str | None = None, out: Array | None = None) -> Array:
        """Return a dense array representation of this sparse array.

        Parameters
        ----------
        order : {'C', 'F'}, optional
            How the result lies in memory. Default: 'C'.
        out : Array, optional
            Where the elements are stored, of this shape and dtype; all of it is written.

        Returns
        -------
        Array
            `out`, or a new array. Entries of one place are added up.

        Raises
        ------
        TypeError
            `out` is not an Array, or of another dtype.
        ValueError
            `out` has another shape, `order` is something else, or both are given.
        """
        if out is None:
            out = zeros(self.shape, self.dtype, read_order(order or "C", "toarray", "CF"), queue=self.queue)
        else:
            if order is not None:
                raise ValueError("toarray: order cannot be specified if out is given")
            if type(out) is not Array:
                raise TypeError(f"toarray: out must be a pardo.Array, not {type(out).__name__}")
            if out.dtype != self.dtype:
                raise TypeError(f"toarray: out has the dtype {out.dtype}; it must be {self.dtype}")
            if out.shape != self.shape:
                raise ValueError(f"toarray: out has shape {out.shape}, but the array has shape {self.shape}")
            same_queue(self.data, out, "toarray")
            out[...] = 0
        compressed = self._compressed()
        add_to_dense(compressed._rows(), out if compressed.format == "csr" else out.T)
        return out

    def todense(self, order: str | None = None, out: Array | None = None) -> Array:
        """Return a dense array representation of this sparse array: another name of `toarray`.

        Parameters
        ----------
        order, out : optional
            As for `toarray`.

        Returns
        -------
        Array
            The elements.
        """
        return self.toarray(order, out)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        """Cast the values to a specified dtype.

        Parameters
        ----------
        dtype : data type
            The new dtype.
        casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
            Which conversions are allowed.
        copy : bool
            Whether a new array is made when this one has that dtype already.

        Returns
        -------
        csr_array, csc_array or coo_array
            In the same format.

        Raises
        ------
        TypeError
            There is no such dtype, or `casting` does not allow the conversion.
        """
        wanted = dtype_of(dtype, "astype")
        if wanted == self.dtype and casting == "unsafe":
            return self.copy() if copy else self
        return self._with_data(self.data.astype(wanted, casting=casting))

    # --- operands

    def _operand(self, x: Any, op_name: str) -> Any:
        """What an operator meets: a sparse array, a dense one, or a number; NotImplemented for other objects."""
        if isinstance(x, sparray):
            same_queue(self.data, x.data, op_name)
            return x
        if isinstance(x, SCALARS):
            return x
        if type(x) is Array:
            same_queue(self.data, x, op_name)
            return x
        if is_scipy(x):
            return self._read(x, self.queue)
        return on_queue(x, self.queue, op_name) if _is_host_data(x) else NotImplemented

    def _dense_like(self, x: Array, op_name: str) -> Array:
        """A dense operand of the shape of this array."""
        try:
            return _broadcast_to(x, list(self.shape))
        except ValueError:
            raise ValueError(f"{op_name}: inconsistent shapes: {self.shape} and {x.shape}") from None

    def _entries_of(self, x: Array) -> Array:
        """The elements of a dense array of the same shape where this one has entries, in their order."""
        coo = self.tocoo()
        return x[coo.row, coo.col] if self.nnz else cast(self.data, x.dtype)

    def _rows(self) -> Rows:
        raise NotImplementedError


def issparse(x: Any) -> bool:
    """Is `x` of a sparse array type?

    Parameters
    ----------
    x : object
        Anything.

    Returns
    -------
    bool
        True for sparse arrays of pardo; those of SciPy are not.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.issparse(pp.sparse.eye_array(3)), pp.sparse.issparse(pp.eye(3))
    (True, False)
    """
    return isinstance(x, sparray)
