# python/pardo/_functions/flat.py: `Array.flat`, the elements in row-major order under one index.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pardo._array.ranges import arange
from pardo._core import Array

__all__ = ["flatiter"]


class flatiter:  # noqa: N801
    """The elements of an array in row-major order, as `Array.flat` gives them.

    An index reads or writes elements of the array, whatever its strides: an integer, a slice, an array of integers, or a mask of as many
    elements. Iterating gives the elements as arrays without dimensions.

    Parameters
    ----------
    x : Array
        The array.

    Attributes
    ----------
    base : Array
        The array.
    index : int
        Which element comes next.
    coords : tuple of int
        Where that is.

    Raises
    ------
    TypeError
        `x` is not an Array.

    See Also
    --------
    ravel, put, take

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6).reshape(2, 3).T
    >>> x.flat[3]
    array(4)
    >>> x.flat[::2] = -1
    >>> x
    array([[-1,  3],
           [-1,  4],
           [-1,  5]])
    """

    __module__ = "pardo"
    __slots__ = ("base", "index")
    __hash__ = None  # type: ignore[assignment]

    base: Array
    index: int

    def __init__(self, x: Array) -> None:
        if not isinstance(x, Array):  # structured arrays are taken too
            raise TypeError(f"flatiter: expected an Array, not {type(x).__name__}")
        self.base, self.index = x, 0

    @property
    def coords(self) -> tuple[int, ...]:
        """Where the next element is."""
        if self.index >= len(self):
            return (*self.base.shape[:1], *(0 for _ in self.base.shape[1:]))
        return tuple(int(i) for i in np.unravel_index(self.index, self.base.shape))

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> flatiter:
        self.index = 0
        return self

    def __next__(self) -> Array:
        if self.index >= len(self):
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def __getitem__(self, key: Any) -> Array:
        self._check(key)
        return self.base.ravel()[key].copy()  # of () all of them

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, tuple) and not key:
            raise IndexError("flat: assigning to () is not supported: write x.flat[...] = value")
        self._check(key)
        places = arange(len(self), queue=self.base.queue)[key]
        if places.ndim == 0 and np.ndim(value):
            raise ValueError(f"flat: one element is set to a value of shape {np.shape(value)}")
        if places.size:
            self.base.put(places.ravel(), value)

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]
        return self.copy() == (other.copy() if isinstance(other, flatiter) else other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]
        return self.copy() != (other.copy() if isinstance(other, flatiter) else other)

    def copy(self) -> Array:
        """Return all elements as a new array of one dimension."""
        return self.base.ravel().copy()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.copy().__array__(dtype, copy=copy)

    def __repr__(self) -> str:
        return f"<pardo.flatiter of {len(self)} elements>"

    @staticmethod
    def _check(key: Any) -> None:
        if key is None or (isinstance(key, tuple) and len(key) > 1):
            raise IndexError(f"flat takes one index, not {key!r}: elements are counted in one row")
