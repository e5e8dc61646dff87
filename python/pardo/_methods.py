# python/pardo/_methods.py: the methods of Array that are written in Python. Most are the functions of the same name.
from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core, _interop, _linalg, _manipulation, _repr, _searching, _sorting, _statistics
from pardo._arguments import DeviceLike, array_like, axis_index, queue_of
from pardo._core import Array, conjugate
from pardo._elementwise import clip
from pardo._elementwise import round as round_

if TYPE_CHECKING:
    from types import ModuleType


class Methods:
    """Is copied into `pardo.Array`; type checkers see it as a base class."""

    __slots__ = ()

    # NumPy's binary operators leave arrays of pardo alone: ours raise an error that says what to do.
    __array_ufunc__ = None
    __array_priority__ = 1000.0

    # --- conversion ----------------------------------------------------------------------------------------------------------

    __array__ = _interop.to_array
    __reduce_ex__ = _interop.reduce_ex
    __copy__ = _interop.copy_array
    __deepcopy__ = _interop.deepcopy_array
    __repr__ = _repr.array_repr
    __str__ = _repr.array_str
    __format__ = _repr.array_format
    _repr_html_ = _repr.array_html

    def __array_namespace__(self: Array, /, *, api_version: str | None = None) -> ModuleType:  # type: ignore[misc]
        """Return the namespace of the array API: the module `pardo`."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"version {api_version!r} of the array API is not known; 2021.12 to 2025.12 are")
        return sys.modules["pardo"]

    def __iter__(self: Array) -> Iterator[Array]:  # type: ignore[misc]
        """Iterate over the first axis."""
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        self.force()
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self: Array, value: Any) -> bool:  # type: ignore[misc]
        """Tell whether an element equals the value."""
        return bool(_statistics.any(_core.equal(self, value)))

    def __complex__(self: Array) -> complex:  # type: ignore[misc]
        """Return the one element as a complex number."""
        if self.size != 1:
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        return complex(self._item())

    def __round__(self: Array, ndigits: int | None = None) -> Any:  # type: ignore[misc]
        """Round as the built-in function does: to an int without a number of digits."""
        return round_(self, 0 if ndigits is None else ndigits) if self.ndim or ndigits is not None else int(round_(self))

    def item(self: Array, *args: Any) -> Any:  # type: ignore[misc]
        """Return one element as a number of Python.

        Parameters
        ----------
        *args : int or tuple of int
            Which: an index into the flattened array, or one for each axis. Not needed for arrays of one element.

        Returns
        -------
        bool, int, float or complex
            The element.
        """
        if not args:
            if self.size != 1:
                raise ValueError("item: can only convert an array of size 1 to a Python scalar")
            return self._item()
        place = args[0] if len(args) == 1 else args
        if isinstance(place, tuple):
            if len(place) != self.ndim:
                raise ValueError("item: incorrect number of indices for array")
            return self[place]._item()
        i = int(place)
        if not -self.size <= i < self.size:
            raise IndexError(f"item: index {i} is out of bounds for size {self.size}")
        return self[tuple(int(k) for k in np.unravel_index(i % self.size, self.shape))]._item()

    def tolist(self: Array) -> Any:  # type: ignore[misc]
        """Return the elements as nested lists of Python's numbers."""
        return _interop.asnumpy(self).tolist()

    def tobytes(self: Array, order: str = "C") -> bytes:  # type: ignore[misc]
        """Return the elements as bytes, row by row (or column by column with order='F')."""
        return _interop.asnumpy(self).tobytes(order)  # type: ignore[arg-type]

    def astype(  # type: ignore[misc]
        self: Array, dtype: DTypeLike, *, copy: bool = True, device: DeviceLike = None
    ) -> Array:
        """Convert to another dtype.

        Parameters
        ----------
        dtype : data type
            The dtype of the result.
        copy : bool
            Whether a new array is made when this one has that dtype already.
        device : Device or str, optional
            Where the result shall be.

        Returns
        -------
        Array
            The converted array.
        """
        r = self._astype(dtype, copy)
        return r if device is None else r._to_queue(queue_of(device, None, self.queue))

    def to_device(self: Array, device: DeviceLike, /, *, stream: Any = None) -> Array:  # type: ignore[misc]
        """Copy the array to a device.

        Parameters
        ----------
        device : Device or str
            The target.
        stream : None
            Queues of pardo order the copy; nothing else is supported.

        Returns
        -------
        Array
            This array when it is there already, else a copy on the canonical queue of the device.
        """
        if stream is not None:
            raise ValueError("to_device: stream must be None; pardo orders the copy itself")
        if device is None:
            raise TypeError("to_device: a device is needed, not None")
        return self._to_queue(queue_of(device, None, self.queue))

    def to_queue(self: Array, queue: _core.Queue, /) -> Array:  # type: ignore[misc]
        """Copy the array to a queue.

        Parameters
        ----------
        queue : Queue
            The target.

        Returns
        -------
        Array
            This array when it is there already, else a copy.
        """
        return self._to_queue(queue)

    def copy(self: Array, order: str = "C") -> Array:  # type: ignore[misc]
        """Return a new array with the same elements, row by row in memory."""
        if order not in ("C", "K", "A"):
            raise ValueError(f"copy: order is {order!r}; arrays are made row by row: 'C'")
        return self._copy()

    def flatten(self: Array, order: str = "C") -> Array:  # type: ignore[misc]
        """Return a flat copy."""
        return _manipulation.reshape(self, (-1,), order)._copy()

    def fill(self: Array, value: Any) -> None:  # type: ignore[misc]
        """Set all elements to a value."""
        self[...] = value

    def put(self: Array, indices: Any, values: Any) -> None:  # type: ignore[misc]
        """Set elements of the flattened array."""
        flat = _core._reshape(self, [-1], False)
        flat[indices] = values

    # --- attributes ------------------------------------------------------------------------------------------------------------

    @property
    def T(self: Array) -> Array:  # type: ignore[misc]  # noqa: N802
        """The array with its axes reversed."""
        return _manipulation.permute_dims(self)

    @property
    def mT(self: Array) -> Array:  # type: ignore[misc]  # noqa: N802
        """Matrices transposed: the last two axes swapped."""
        return _manipulation.matrix_transpose(self)

    @property
    def real(self: Array) -> Array:  # type: ignore[misc]
        """The real parts."""
        return _core.real(self) if self.dtype.kind == "c" else self

    @property
    def imag(self: Array) -> Array:  # type: ignore[misc]
        """The imaginary parts."""
        return _core.imag(self)

    # --- shape -----------------------------------------------------------------------------------------------------------------

    def reshape(self: Array, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:  # type: ignore[misc]
        """Give the elements another shape; see `pardo.reshape`."""
        return _manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def transpose(self: Array, *axes: Any) -> Array:  # type: ignore[misc]
        """Put the axes in another order; see `pardo.permute_dims`."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return _manipulation.permute_dims(self, order)

    def partition(self: Array, kth: Any, axis: int = -1) -> None:  # type: ignore[misc]
        """Partition the elements in place; see `pardo.partition`."""
        self._assign(_sorting.partition(self, kth, axis))

    def sort(  # type: ignore[misc]
        self: Array, axis: int = -1, kind: str | None = None, *, descending: bool = False, stable: bool = True
    ) -> None:
        """Put the elements in order in place; see `pardo.sort`."""
        if axis is None:
            raise TypeError("sort: axis must be an integer: the array is sorted in place")
        axis_index(axis, self.ndim, "sort")
        self._assign(_sorting.sort(self, axis, kind, descending=descending, stable=stable))

    def searchsorted(self: Array, v: Any, side: str = "left", sorter: Any = None) -> Array:  # type: ignore[misc]
        """Return where values would have to be inserted; see `pardo.searchsorted`."""
        return _searching.searchsorted(self, array_like(v, self, "searchsorted"), side, sorter)

    def repeat(self: Array, repeats: Any, axis: int | None = None) -> Array:  # type: ignore[misc]
        """Repeat each element; see `pardo.repeat`."""
        return _manipulation.repeat(self, repeats, axis=axis)

    def conj(self: Array) -> Array:  # type: ignore[misc]
        """Return the complex conjugates."""
        return conjugate(self)

    conjugate = conj
    ravel = _manipulation.ravel
    squeeze = _manipulation.squeeze
    swapaxes = _manipulation.swapaxes
    diagonal = _manipulation.diagonal
    sum = _statistics.sum
    prod = _statistics.prod
    max = _statistics.max
    min = _statistics.min
    mean = _statistics.mean
    var = _statistics.var
    std = _statistics.std
    all = _statistics.all
    any = _statistics.any
    cumsum = _statistics.cumsum
    cumprod = _statistics.cumprod
    argmax = _searching.argmax
    argmin = _searching.argmin
    nonzero = _searching.nonzero
    take = _searching.take
    argsort = _sorting.argsort
    argpartition = _sorting.argpartition
    clip = clip
    round = round_
    dot = _linalg.dot
    trace = _linalg.trace


def attach() -> None:
    """Copies the methods into the class of the core."""
    skip = {"__module__", "__qualname__", "__doc__", "__slots__", "__dict__", "__weakref__", "__annotations__"}
    skip |= {"__static_attributes__", "__firstlineno__"}
    for name, value in vars(Methods).items():
        if name not in skip:
            setattr(Array, name, value)
