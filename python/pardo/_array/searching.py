# python/pardo/_array/searching.py: where elements are, and elements by their place.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import stored
from pardo._base.arguments import (
    array,
    array_like,
    axis_index,
    keeps_dimensions,
    optional_axis,
    store_back,
    store_reduced,
    word,
)
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._base.rows import Row, functions_of
from pardo._core import Array


def _position(row: Row) -> Callable[..., Array]:
    search, op_name = getattr(_core, f"_{row.name}"), row.name

    def position(x: Any, /, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Array:
        """{doc}

        Parameters
        ----------
        x : Array
            The elements; complex numbers are compared by their real, then by their imaginary part.
        axis : int, optional
            The axis. Default: the index into the flattened array.
        {out_back}
        {keepdims}

        Returns
        -------
        Array
            {gives}

        Raises
        ------
        {cumulative_raises}
            Or there are no elements.
        """
        x, a = array(x, op_name), optional_axis(axis, op_name)
        return store_back(search(x, None if x.ndim == 0 and a in (0, -1) else a, keeps_dimensions(keepdims, op_name)), out, op_name)

    return position


_made = functions_of("POSITION", {"": _position})
globals().update(_made)
__all__ = ["argwhere", "compress", "flatnonzero", "nonzero", "searchsorted", "take", "take_along_axis", *_made]


@filled
def nonzero(x: Any, /) -> tuple[Array, ...]:
    """Return the indices of the elements that are non-zero.

    Parameters
    ----------
    x : Array
        Of one or more dimensions.

    Returns
    -------
    tuple of Array
        One array of int64 for each dimension, in row-major order of the elements. Waits: the shape depends on the values.

    Raises
    ------
    {not_an_array}
    ValueError
        `x` has no dimensions.
    """
    return nonzero_of(x, "nonzero")


def nonzero_of(x: Any, op_name: str) -> tuple[Array, ...]:
    """As `nonzero`, under the name of the function that the user called."""
    x = array(x, op_name)
    if x.ndim == 0:
        raise ValueError(f"{op_name}: the array has no dimensions, so its elements have no indices; make it one with pardo.atleast_1d(x)")
    return tuple(_core._nonzero(x))


@filled
def flatnonzero(x: Any, /) -> Array:
    """Return indices that are non-zero in the flattened version of `x`.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of int64. Waits: the shape depends on the values.

    Raises
    ------
    {not_an_array}
    """
    return nonzero(_core._reshape(array(x, "flatnonzero"), [-1]))[0]


@filled
def argwhere(x: Any, /) -> Array:
    """Find the indices of array elements that are non-zero, grouped by element.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of int64 and shape ``(count, x.ndim)``. Waits: the shape depends on the values.

    Raises
    ------
    {not_an_array}
    """
    x = array(x, "argwhere")
    if x.ndim == 0:
        count = int(bool(x))
        return _core._empty([count, 0], np.int64, x.queue)
    return _core._stack(list(nonzero(x)), -1)


def searchsorted(x1: Any, /, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Find indices where elements should be inserted to maintain order.

    Parameters
    ----------
    x1 : Array
        One-dimensional and sorted, or with `sorter`.
    v : Array or number
        The values.
    side : {'left', 'right'}
        Whether values go before or after elements that are equal.
    sorter : Array of int, optional
        Indices that sort `x1`, as `argsort` gives them.

    Returns
    -------
    Array
        Of int64 and the shape of `v`.

    Raises
    ------
    TypeError
        `x1` or `v` is neither an Array nor a number, or `sorter` is not an Array of integers.
    ValueError
        `x1` has not one dimension, or `side` is something else.
    """
    x1 = array(x1, "searchsorted")
    word(side, "searchsorted: side", ("left", "right"))
    order = None if sorter is None else array(sorter, "searchsorted")
    beyond = beyond_range(v, x1.dtype)
    if beyond and x1.ndim == 1:
        return _core._full([], x1.size if beyond > 0 else 0, np.int64, x1.queue)
    return _core._searchsorted(x1, array_like(v, x1, "searchsorted"), side == "right", order)


def beyond_range(x: Any, dtype: np.dtype[Any]) -> int:
    """1 for a Python integer above the range of an integer dtype, -1 for one below it, else 0."""
    if type(x) is not int or kind_of(dtype) not in "iu":
        return 0
    info = np.iinfo(dtype)
    return int(x > info.max) - int(x < info.min)


_MODES = ("raise", "wrap", "clip")


def _indices(x: Array, indices: Any, axis: int | None, op_name: str, mode: str = "raise") -> Array:
    """Index arrays, for an axis that counts from 0 on; those from the host are checked here, at the call."""
    word(mode, f"{op_name}: mode", _MODES)
    counts = op_name in ("take", "put")  # where bools are 0 and 1, as in NumPy; masks are for x[mask]
    if type(indices) is Array and counts and indices.dtype == np.bool_:
        indices = indices._astype(np.int64, False)
    if type(indices) is Array and mode == "raise":
        return indices
    extent = x.size if axis is None or x.ndim == 0 else x.shape[axis]
    if type(indices) is Array:
        inside: Array = _inside(indices, extent, mode, op_name)
        return inside
    host = np.asarray(indices)
    if (counts and host.dtype == np.bool_) or (host.size == 0 and not isinstance(indices, np.ndarray)):
        host = host.astype(np.int64)
    if kind_of(host.dtype) not in "iu":
        raise TypeError(f"{op_name}: indices must be integers, not {host.dtype}")
    if mode != "raise":
        host = _inside(host, extent, mode, op_name)
    elif host.size:
        for bad in (int(host.min()), int(host.max())):
            if not -extent <= bad < extent:
                raise IndexError(f"{op_name}: index {bad} is out of bounds for axis {axis or 0} with size {extent}")
    return _core._copy_operand(host, host.dtype, x.queue, op_name)


def _inside(indices: Any, extent: int, mode: str, op_name: str) -> Any:
    """The indices, brought into the range by NumPy's modes: counted on in a circle, or stopped at the ends."""
    if kind_of(indices.dtype) not in "iu":
        raise TypeError(f"{op_name}: indices must be integers, not {indices.dtype}")
    if extent == 0 and indices.size:
        raise IndexError(f"{op_name}: there are no elements to take from")
    if extent == 0:
        return indices
    lib = _core if type(indices) is Array else np
    wide = indices._astype(np.int64, False) if type(indices) is Array else indices.astype(np.int64)
    return lib.remainder(wide, extent) if mode == "wrap" else lib.minimum(lib.maximum(wide, 0), extent - 1)


@filled
def take(x: Any, /, indices: Any, axis: int | None = None, out: Array | None = None, mode: str = "raise") -> Array:
    """Take elements from an array along an axis.

    Parameters
    ----------
    x : Array
        The elements.
    indices : Array of int
        Which; negative ones count from the end. Lists, numbers and NumPy arrays are taken too.
    axis : int, optional
        The axis. Default: the array is flattened.
    {out_cast}
    mode : {'raise', 'wrap', 'clip'}
        What happens to indices that are out of bounds: an exception; they count on from the other end; the nearest end is
        taken, and negative ones do not count from the end.

    Returns
    -------
    Array
        With the shape of `indices` in place of the axis.

    Raises
    ------
    IndexError
        An index is out of bounds; late, at the next wait, if `indices` is an Array.
    {no_axis}
    TypeError
        `x` is neither an Array nor a number, `indices` or `axis` are not integers, or `out` is not an Array.
    ValueError
        `mode` is something else, or the shape of `out` does not fit.
    """
    x = array(x, "take")
    a = None if axis is None else axis_index(axis, max(x.ndim, 1), "take")
    places = _indices(x, indices, a, "take", mode)
    return store_reduced(_core._take(x, places, None if x.ndim == 0 else a), out, "take")


def put(x: Array, indices: Any, values: Any, mode: str) -> None:
    """The method `put` of Array."""
    places = _core._reshape(_indices(x, indices, None, "put", mode), [-1])
    if places._kind not in "iu":
        raise TypeError(f"put: indices must be integers, not {places.dtype}")
    if places.size == 0:
        return
    values = stored(values, x, "put")
    if values.size != 1:
        if values.size == 0:
            return
        values = _core._reshape(values, [-1])
        if values.size < places.size:
            values = _core._tile(values, [-(-places.size // values.size)])
        values = values[: places.size]
    else:
        values = _core._reshape(values, [])
    try:
        flat = _core._reshape(x, [-1], False)
    except ValueError:  # strides cannot express it
        flat = _core._reshape(x, [-1])
        flat[places] = values
        x._assign(_core._reshape(flat, x.shape))
    else:
        flat[places] = values


@filled
def take_along_axis(x: Any, /, indices: Any, axis: int | None = -1) -> Array:
    """Take values from the input array by matching 1-D index and data slices.

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

    Raises
    ------
    IndexError
        An index is out of bounds; late, at the next wait, if `indices` is an Array.
    {no_axis}
    TypeError
        `x` is neither an Array nor a number, or `indices` or `axis` are not integers.
    ValueError
        The shape of `indices` does not fit.
    """
    x = array(x, "take_along_axis")
    if axis is None:
        x, axis = _core._reshape(x, [-1]), 0
    a = axis_index(axis, x.ndim, "take_along_axis")
    return _core._take_along_axis(x, _indices(x, indices, a, "take_along_axis"), a)


@filled
def compress(condition: Any, x: Any, /, axis: int | None = None, out: Array | None = None) -> Array:
    """Return selected slices of an array along given axis.

    Parameters
    ----------
    condition : Array
        One-dimensional; may be shorter than the axis. Lists and NumPy arrays are taken too; numbers count as true when they are
        not zero.
    x : Array
        The elements.
    axis : int, optional
        The axis. Default: the array is flattened.
    {out_cast}

    Returns
    -------
    Array
        A new array. Waits: the shape depends on the values.

    Raises
    ------
    IndexError
        The condition holds beyond the end of the axis.
    {no_axis}
    TypeError
        `x` is neither an Array nor a number, `axis` is not an integer, or `out` is not an Array.
    ValueError
        `condition` has not one dimension, or the shape of `out` does not fit.
    """
    x = array(x, "compress")
    if axis is None or x.ndim == 0:
        x = _core._reshape(x, [-1])
    a = 0 if axis is None else axis_index(axis, x.ndim, "compress")
    mask = condition if type(condition) is Array else np.asarray(condition)
    if mask.ndim != 1:
        raise ValueError(f"compress: condition has {mask.ndim} dimensions; one is expected")
    if type(mask) is not Array:
        if kind_of(mask.dtype) not in "biufc":
            raise TypeError(f"compress: condition must be of bools or numbers, not {mask.dtype}")
        mask = _core._copy_operand(mask.astype(np.bool_), np.bool_, x.queue, "compress")
    places = nonzero_of(mask, "compress")[0]
    if places.size and (last := int(places[-1])) >= x.shape[a]:
        raise IndexError(f"compress: index {last} is out of bounds for axis {a} with size {x.shape[a]}")
    return store_reduced(_core._take(x, places, a), out, "compress")
