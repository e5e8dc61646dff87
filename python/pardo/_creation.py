# python/pardo/_creation.py: new arrays from numbers: zeros, arange, linspace, eye, meshgrid and their like.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo._arguments import DeviceLike, Scalar, Shape, array, dtype_or, index, queue_of
from pardo._arguments import shape as read_shape
from pardo._core import (
    Array,
    Queue,
    _arange,
    _broadcast_arrays,
    _empty,
    _eye,
    _full,
    _linspace,
    _reshape,
    _tril,
    _triu,
)

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "identity",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def empty(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return a new array whose elements are not initialised.

    Parameters
    ----------
    shape : int or sequence of int
        Extent of each dimension.
    dtype : data type, optional
        Default: float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The new array.
    """
    return _empty(read_shape(shape, "empty"), dtype_or(dtype, np.float64), queue_of(device, queue))


def full(
    shape: Shape,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return a new array that holds one value everywhere.

    Parameters
    ----------
    shape : int or sequence of int
        Extent of each dimension.
    fill_value : number or Array
        The value; an array is broadcast to `shape`.
    dtype : data type, optional
        Default: NumPy's default for `fill_value`.
    device : Device or str, optional
        Default: that of `fill_value` if it is an array, else the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The new array.
    """
    extents = read_shape(shape, "full")
    if type(fill_value) is Array:
        out = _empty(extents, dtype_or(dtype, fill_value.dtype), queue_of(device, queue, fill_value.queue))
        out._assign(fill_value._to_queue(out.queue))
        return out
    return _full(extents, fill_value, dtype, queue_of(device, queue))


def zeros(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return a new array of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        Extent of each dimension.
    dtype : data type, optional
        Default: float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The new array.
    """
    return _full(read_shape(shape, "zeros"), 0, dtype_or(dtype, np.float64), queue_of(device, queue))


def ones(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return a new array of ones.

    Parameters
    ----------
    shape : int or sequence of int
        Extent of each dimension.
    dtype : data type, optional
        Default: float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The new array.
    """
    return _full(read_shape(shape, "ones"), 1, dtype_or(dtype, np.float64), queue_of(device, queue))


def empty_like(x: Array, /, dtype: DTypeLike | None = None, *, device: DeviceLike = None, shape: Shape | None = None) -> Array:
    """Return a new array with the shape, dtype and queue of another, not initialised.

    Parameters
    ----------
    x : Array
        The model.
    dtype, device, shape : optional
        What shall differ from the model.

    Returns
    -------
    Array
        The new array.
    """
    x = array(x, "empty_like")
    return empty(x.shape if shape is None else shape, dtype_or(dtype, x.dtype), queue=queue_of(device, None, x.queue))


def full_like(
    x: Array,
    /,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
    shape: Shape | None = None,
) -> Array:
    """Return a new array with the shape, dtype and queue of another, that holds one value everywhere.

    Parameters
    ----------
    x : Array
        The model.
    fill_value : number or Array
        The value; an array is broadcast.
    dtype, device, shape : optional
        What shall differ from the model.

    Returns
    -------
    Array
        The new array.
    """
    x = array(x, "full_like")
    queue = queue_of(device, None, x.queue)
    return full(x.shape if shape is None else shape, fill_value, dtype_or(dtype, x.dtype), queue=queue)


def zeros_like(x: Array, /, dtype: DTypeLike | None = None, *, device: DeviceLike = None, shape: Shape | None = None) -> Array:
    """Return a new array of zeros with the shape, dtype and queue of another.

    Parameters
    ----------
    x : Array
        The model.
    dtype, device, shape : optional
        What shall differ from the model.

    Returns
    -------
    Array
        The new array.
    """
    return full_like(x, 0, dtype, device=device, shape=shape)


def ones_like(x: Array, /, dtype: DTypeLike | None = None, *, device: DeviceLike = None, shape: Shape | None = None) -> Array:
    """Return a new array of ones with the shape, dtype and queue of another.

    Parameters
    ----------
    x : Array
        The model.
    dtype, device, shape : optional
        What shall differ from the model.

    Returns
    -------
    Array
        The new array.
    """
    return full_like(x, 1, dtype, device=device, shape=shape)


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return evenly spaced values in a half-open interval.

    Parameters
    ----------
    start : number
        First value; if `stop` is None, `start` is the end and the first value is 0.
    stop : number, optional
        End of the interval, not included.
    step : number
        Distance of the values; not zero.
    dtype : data type, optional
        Default: int64 if all numbers are integers, else float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        One-dimensional, of ``ceil((stop - start) / step)`` values.
    """
    if stop is None:
        start, stop = 0, start
    return _arange(_number(start), _number(stop), _number(1 if step is None else step), dtype, queue_of(device, queue))


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    *,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Any:
    """Return evenly spaced values over an interval.

    Parameters
    ----------
    start, stop : number
        The ends of the interval.
    num : int
        How many values.
    endpoint : bool
        Whether `stop` is the last value.
    retstep : bool
        Whether the distance of the values is returned too.
    dtype : data type, optional
        Default: float64, or complex128 if an end is complex.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array, or (Array, float)
        One-dimensional, of `num` values; with `retstep` also their distance.
    """
    first, last, count = _number(start), _number(stop), index(num, "linspace: num")
    if count < 0:
        raise ValueError(f"linspace: num is {count}; it must not be negative")
    x = _linspace(first, last, count, bool(endpoint), dtype, queue_of(device, queue))
    if not retstep:
        return x
    parts = count - 1 if endpoint else count
    return x, (last - first) / parts if parts > 0 else float("nan")


def _number(x: Any) -> Scalar:
    if type(x) is Array:
        return x.item()  # type: ignore[no-any-return]
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return x  # type: ignore[return-value]
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x.item()  # type: ignore[no-any-return]
    raise TypeError(f"a number is expected, not {type(x).__name__}")


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    k: int = 0,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    queue: Queue | None = None,
) -> Array:
    """Return a matrix with ones on one diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int, optional
        Number of columns. Default: as many as rows.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.
    dtype : data type, optional
        Default: float64.
    device : Device or str, optional
        Default: the default device.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        Of shape ``(n_rows, n_cols)``.
    """
    rows, columns = read_shape((n_rows, n_rows if n_cols is None else n_cols), "eye")
    return _eye(rows, columns, index(k, "eye: k"), dtype_or(dtype, np.float64), queue_of(device, queue))


def identity(n: int, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> Array:
    """Return the identity matrix: `eye(n)`.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    dtype : data type, optional
        Default: float64.
    device : Device or str, optional
        Default: the default device.

    Returns
    -------
    Array
        Of shape ``(n, n)``.
    """
    return eye(n, dtype=dtype, device=device)


def tril(x: Array, /, k: int = 0) -> Array:
    """Return the lower triangle of matrices, with zeros above it.

    Parameters
    ----------
    x : Array
        Of two or more dimensions; the last two are the matrices.
    k : int
        The diagonal above which elements become zero.

    Returns
    -------
    Array
        Of the same shape and dtype.
    """
    return _tril(array(x, "tril"), index(k, "tril: k"))


def triu(x: Array, /, k: int = 0) -> Array:
    """Return the upper triangle of matrices, with zeros below it.

    Parameters
    ----------
    x : Array
        Of two or more dimensions; the last two are the matrices.
    k : int
        The diagonal below which elements become zero.

    Returns
    -------
    Array
        Of the same shape and dtype.
    """
    return _triu(array(x, "triu"), index(k, "triu: k"))


def meshgrid(*arrays: Array, indexing: str = "xy", sparse: bool = False) -> tuple[Array, ...]:
    """Return coordinate grids of coordinate vectors.

    Parameters
    ----------
    *arrays : Array
        One-dimensional (or 0-d) arrays of the same dtype.
    indexing : {'xy', 'ij'}
        Cartesian (the first two axes are swapped) or matrix order.
    sparse : bool
        Whether the grids keep extent 1 where they do not vary.

    Returns
    -------
    tuple of Array
        One grid for each vector; views, so they take no memory of their own.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it must be 'xy' or 'ij'")
    vectors = [array(a, "meshgrid") for a in arrays]
    n = len(vectors)
    grids = []
    for i, v in enumerate(vectors):
        if v.ndim > 1:
            raise ValueError(f"meshgrid: array {i} has {v.ndim} dimensions; one is expected")
        place = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
        grids.append(_reshape(v, [v.size if d == place else 1 for d in range(n)]))
    return tuple(grids) if sparse or not grids else tuple(_broadcast_arrays(grids))
