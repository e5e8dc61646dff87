# python/pardo/_functions/sharing.py: whether arrays have memory in common, and arrays visited element by element.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base.arguments import arrays
from pardo._core import Array
from pardo._functions.flat import flatiter

__all__ = ["broadcast", "may_share_memory", "ndenumerate", "shares_memory"]


class _Memory:
    """An array of a device as NumPy knows arrays: an address, a shape and strides. NumPy compares these and reads nothing."""

    def __init__(self, x: Array) -> None:
        self.__array_interface__ = {
            "version": 3, "shape": x.shape, "strides": x.strides, "typestr": x.dtype.str, "data": (x._address(), True),
        }  # fmt: skip


def _comparable(a: Any, b: Any) -> bool:
    """Whether addresses of the two are of one memory: that of one device, or that of the host."""
    if type(a) is Array and type(b) is Array and a.queue.device == b.queue.device:
        return True
    return all(type(x) is not Array or x.device._in_host_memory or x.usm_type in ("host", "shared") for x in (a, b))


def _described(x: Any, op_name: str) -> NDArray[Any]:
    if type(x) is Array:
        return np.asarray(_Memory(x))
    if isinstance(x, np.ndarray):
        return x
    raise TypeError(f"{op_name}: expected a pardo.Array or an array of NumPy's, got {type(x).__name__}")


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Determine if two arrays share memory.

    Parameters
    ----------
    a, b : Array
        The arrays; computed first. One of them may be an array of NumPy's.
    max_work : int
        As for `numpy.shares_memory`: how many candidate solutions are looked at; -1 for all of them, 0 for the bounds of the memory alone.

    Returns
    -------
    bool
        True if a byte belongs to elements of both.

    Raises
    ------
    TypeError
        An operand is not an array.
    numpy.exceptions.TooHardError
        `max_work` was not enough.

    See Also
    --------
    may_share_memory

    Notes
    -----
    Addresses, shapes and strides are compared, by NumPy's algorithm; nothing is copied. Arrays on different devices share memory only
    where both lie in memory of the host.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(8)
    >>> pp.shares_memory(x, x[2:]), pp.shares_memory(x[::2], x[1::2])
    (True, False)
    """
    pair = _described(a, "shares_memory"), _described(b, "shares_memory")
    return _comparable(a, b) and np.shares_memory(*pair, max_work=max_work)  # type: ignore[arg-type]


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Determine if two arrays might share memory.

    Parameters
    ----------
    a, b : Array
        The arrays; computed first. One of them may be an array of NumPy's.
    max_work : int
        As for `numpy.may_share_memory`; by default only the bounds of the memory are compared.

    Returns
    -------
    bool
        False if no byte belongs to elements of both. True where that is so, and where the bounds overlap.

    Raises
    ------
    TypeError
        An operand is not an array.

    See Also
    --------
    shares_memory

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(8)
    >>> pp.may_share_memory(x[::2], x[1::2]), pp.may_share_memory(x[:2], x[2:])
    (True, False)
    """
    pair = _described(a, "may_share_memory"), _described(b, "may_share_memory")
    return _comparable(a, b) and np.may_share_memory(*pair, max_work=max_work)  # type: ignore[arg-type]


class ndenumerate:  # noqa: N801
    """Multidimensional index iterator: pairs of a place and the element there.

    Parameters
    ----------
    arr : Array
        The array.

    Raises
    ------
    TypeError
        `arr` is not an Array.

    See Also
    --------
    ndindex, flatiter

    Notes
    -----
    Elements are visited one by one by Python: this is for small arrays, and loops over whole arrays belong into operations or into `jit`.

    Examples
    --------
    >>> import pardo as pp
    >>> for place, element in pp.ndenumerate(pp.asarray([[1, 2], [3, 4]])):
    ...     print(place, element)
    (0, 0) 1
    (0, 1) 2
    (1, 0) 3
    (1, 1) 4
    """

    __module__ = "pardo"

    def __init__(self, arr: Array) -> None:
        if type(arr) is not Array:
            raise TypeError(f"ndenumerate: an array is expected, not {type(arr).__name__}")
        self.iter = flatiter(arr)

    def __next__(self) -> tuple[tuple[int, ...], Array]:
        place = self.iter.coords
        return place, next(self.iter)

    def __iter__(self) -> ndenumerate:
        return self


class broadcast:  # noqa: N801
    """Produce an object that mimics broadcasting: the shape of several arrays together, and their elements side by side.

    Parameters
    ----------
    *args : Array or number
        At least one of them an Array, if values of the host are among them.

    Attributes
    ----------
    shape : tuple of int
        The shape after broadcasting.
    ndim, nd : int
        Its dimensions.
    size : int
        Its elements.
    numiter : int
        How many arrays there are.
    iters : tuple of flatiter
        The arrays, broadcast.
    index : int
        Which elements come next.

    Raises
    ------
    ValueError
        The shapes do not fit.
    TypeError
        Something is neither an array nor a number.

    See Also
    --------
    broadcast_arrays, broadcast_shapes

    Examples
    --------
    >>> import pardo as pp
    >>> b = pp.broadcast(pp.asarray([[1], [2]]), pp.asarray([10, 20]))
    >>> b.shape, b.numiter
    ((2, 2), 2)
    >>> [int(x) + int(y) for x, y in b]
    [11, 21, 12, 22]
    """

    __module__ = "pardo"

    def __init__(self, *args: Any) -> None:
        if not args:
            self.iters: tuple[flatiter, ...] = ()
            self.shape: tuple[int, ...] = ()
        else:
            xs = arrays(args, "broadcast")
            self.iters = tuple(flatiter(x) for x in _core._broadcast_arrays(xs, "broadcast"))
            self.shape = self.iters[0].base.shape
        self.index = 0

    @property
    def ndim(self) -> int:
        """The dimensions after broadcasting."""
        return len(self.shape)

    nd = ndim

    @property
    def size(self) -> int:
        """The elements after broadcasting."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def numiter(self) -> int:
        """How many arrays there are."""
        return len(self.iters)

    def reset(self) -> None:
        """Begin with the first elements again."""
        self.index = 0

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Array, ...]:
        if self.index >= self.size:
            raise StopIteration
        self.index += 1
        return tuple(x[self.index - 1] for x in self.iters)

    def __repr__(self) -> str:
        return f"<pardo.broadcast of {self.numiter} arrays to {self.shape}>"
