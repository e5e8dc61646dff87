# python/pardo/_searching.py: where elements are, and elements by their place.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._arguments import array, array_like, axis_index, optional_axis, store
from pardo._core import Array

__all__ = [
    "argmax",
    "argmin",
    "argwhere",
    "compress",
    "flatnonzero",
    "nonzero",
    "searchsorted",
    "take",
    "take_along_axis",
]


def argmax(x: Any, /, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Array:
    """Return the index of the largest element, the first of several; NaN wins.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis. Default: the index into the flattened array.
    out : Array, optional
        Where the result is stored.
    keepdims : bool
        Whether reduced axes stay, with extent 1.

    Returns
    -------
    Array
        Of int64.
    """
    r = _core._argmax(array(x, "argmax"), optional_axis(axis, "argmax"), bool(keepdims))
    return r if out is None else store(r, out, "argmax")


def argmin(x: Any, /, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Array:
    """Return the index of the smallest element, the first of several; NaN wins.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis. Default: the index into the flattened array.
    out : Array, optional
        Where the result is stored.
    keepdims : bool
        Whether reduced axes stay, with extent 1.

    Returns
    -------
    Array
        Of int64.
    """
    r = _core._argmin(array(x, "argmin"), optional_axis(axis, "argmin"), bool(keepdims))
    return r if out is None else store(r, out, "argmin")


def nonzero(x: Any, /) -> tuple[Array, ...]:
    """Return the indices of the elements that are not zero.

    Parameters
    ----------
    x : Array
        Of one or more dimensions.

    Returns
    -------
    tuple of Array
        One array of int64 for each dimension, in row-major order of the elements. Waits: the shape depends on the values.
    """
    return tuple(_core._nonzero(array(x, "nonzero")))


def flatnonzero(x: Any, /) -> Array:
    """Return the indices of the elements of the flattened array that are not zero.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of int64.
    """
    return nonzero(_core._reshape(array(x, "flatnonzero"), [-1]))[0]


def argwhere(x: Any, /) -> Array:
    """Return the indices of the elements that are not zero, one row for each.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of int64 and shape ``(count, x.ndim)``.
    """
    x = array(x, "argwhere")
    if x.ndim == 0:
        count = int(bool(x))
        return _core._empty([count, 0], np.int64, x.queue)
    return _core._stack(list(nonzero(x)), -1)


def searchsorted(x1: Any, x2: Any, /, side: str = "left", sorter: Any = None) -> Array:
    """Return where values would have to be inserted to keep an array sorted.

    Parameters
    ----------
    x1 : Array
        One-dimensional and sorted, or with `sorter`.
    x2 : Array or number
        The values.
    side : {'left', 'right'}
        Whether values go before or behind elements that are equal.
    sorter : Array of int, optional
        Indices that sort `x1`, as `argsort` gives them.

    Returns
    -------
    Array
        Of int64 and the shape of `x2`.
    """
    x1 = array(x1, "searchsorted")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; it must be 'left' or 'right'")
    order = None if sorter is None else array(sorter, "searchsorted")
    return _core._searchsorted(x1, array_like(x2, x1, "searchsorted"), side == "right", order)


def _indices(x: Array, indices: Any, axis: int | None, who: str) -> Array:
    """Index arrays; those from the host are checked here, at the call."""
    if type(indices) is Array:
        return indices
    host = np.asarray(indices)
    if host.size == 0 and not isinstance(indices, np.ndarray):
        host = host.astype(np.int64)
    if host.dtype.kind not in "iu":
        raise TypeError(f"{who}: indices must be integers, not {host.dtype}")
    extent = x.size if axis is None else x.shape[axis_index(axis, x.ndim, who)]
    if host.size:
        for bad in (int(host.min()), int(host.max())):
            if not -extent <= bad < extent:
                raise IndexError(f"{who}: index {bad} is out of bounds for axis {axis or 0} with size {extent}")
    return _core._copy_buffer(host, host.dtype, x.queue)


def take(x: Any, indices: Any, /, axis: int | None = None, out: Array | None = None) -> Array:
    """Take elements along an axis.

    Parameters
    ----------
    x : Array
        The elements.
    indices : Array of int
        Which; negative ones count from the end.
    axis : int, optional
        The axis. Default: the array is flattened; may be left out for one-dimensional arrays.
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        With the shape of `indices` in place of the axis.

    Raises
    ------
    IndexError
        An index is out of bounds; late, at the next wait, if `indices` is an array on a device.
    """
    x = array(x, "take")
    a = optional_axis(axis, "take")
    return store(_core._take(x, _indices(x, indices, a, "take"), a), out, "take")


def take_along_axis(x: Any, indices: Any, /, axis: int | None = -1) -> Array:
    """Take elements along an axis, with indices for each position on the other axes.

    Parameters
    ----------
    x : Array
        The elements.
    indices : Array of int
        Of as many dimensions as `x`; broadcast against it on the other axes.
    axis : int, optional
        The axis; None flattens `x`.

    Returns
    -------
    Array
        With the shape of `indices`.
    """
    x = array(x, "take_along_axis")
    if axis is None:
        x, axis = _core._reshape(x, [-1]), 0
    a = axis_index(axis, x.ndim, "take_along_axis")
    return _core._take_along_axis(x, _indices(x, indices, a, "take_along_axis"), a)


def compress(condition: Any, x: Any, /, axis: int | None = None) -> Array:
    """Take the elements along an axis where a condition holds.

    Parameters
    ----------
    condition : Array of bool
        One-dimensional; may be shorter than the axis.
    x : Array
        The elements.
    axis : int, optional
        The axis. Default: the array is flattened.

    Returns
    -------
    Array
        A new array.
    """
    return take(x, nonzero(condition)[0], axis)
