# python/pardo/_array/creation.py: new arrays from numbers: zeros, full, eye and their like.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.interop import asarray, check_fits, from_host
from pardo._base.arguments import (
    DeviceLike,
    Shape,
    array,
    default_on,
    dtype_or,
    in_memory,
    index,
    integer,
    kind_like,
    optional_dtype,
    queue_of,
    too_large,
    warn_of_lost_parts,
)
from pardo._base.arguments import shape as read_shape
from pardo._base.docstrings import filled
from pardo._base.orders import axes_like, columns_first, make_in_order, read_order
from pardo._base.promotion import kind_of
from pardo._base.records import Records, made_records
from pardo._core import Array, ExecutionPlacementError, Queue, _empty, _empty_at_sight, _empty_in, _eye, _full, _laid_out, _tril, _triu

__all__ = [
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "identity",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

_MAX_DIMENSIONS = 32


def _extents(shape: Shape, op_name: str) -> list[int]:
    extents = read_shape(shape, op_name)
    if len(extents) > _MAX_DIMENSIONS:
        raise ValueError(f"{op_name}: at most {_MAX_DIMENSIONS} dimensions are supported, not {len(extents)}")
    return extents


@filled
def empty(
    shape: Shape,
    dtype: DTypeLike | None = None,
    order: str = "C",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return a new array of given shape and dtype, without initialising entries.

    Parameters
    ----------
    {shape}
    {default_dtype}
    {by_rows}
    {device}
    {queue_and_memory}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {new_raises}
    """
    if order == "C" and device is None and queue is None and usm_type is None:
        made = _empty_at_sight(shape, dtype)
        if made is not None:
            return made
    columns = read_order(order, "empty", "CF", "C")
    kind, extents = "device" if usm_type is None else usm_type, _extents(shape, "empty")
    element, target = optional_dtype(dtype, "empty", fields=True), queue_of(device, queue)
    if element is not None and element.names is not None:
        return made_records("new", "empty", None, extents, element, columns_first(columns, len(extents)), target, usm_type)
    return make_in_order(columns_first(columns, len(extents)), extents, lambda e: _empty_in(e, element, target, kind, "empty"))


def constructed(
    shape: Any = None, dtype: DTypeLike | None = None, buffer: Any = None, offset: Any = 0, strides: Any = None, order: Any = None
) -> Array:
    """What the class makes when it is called as NumPy's `ndarray`: an array that is not initialised, or one on memory of the host."""
    if shape is None:
        raise TypeError("ndarray() missing required argument 'shape' (pos 0)")
    if buffer is not None:
        return asarray(np.ndarray(shape, np.float64 if dtype is None else dtype, buffer, offset, strides, order), copy=False)
    if offset or strides is not None:
        raise TypeError("ndarray: offset and strides are for a buffer, and none is given")
    return empty(shape, dtype, "C" if order is None else order)


@filled
def full(
    shape: Shape,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: str = "C",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return a new array of given shape and dtype, filled with `fill_value`.

    Parameters
    ----------
    {shape}
    fill_value : number, Array, or nested lists of numbers
        The value; arrays and lists are broadcast to `shape`.
    dtype : data type, optional
        Default: NumPy's default for `fill_value`.
    {by_rows}
    device : Device or str, optional
        Default: that of `fill_value` if it is an array, else the default device.
    {queue_and_memory}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {new_raises}
    """
    extents = _extents(shape, "full")
    axes = columns_first(read_order(order, "full", "CF", "C"), len(extents))
    return _filled("full", extents, fill_value, dtype, axes, device, queue, usm_type)


def _filled(
    op_name: str,
    extents: list[int],
    value: Any,
    dtype: DTypeLike | None,
    axes: Sequence[int] | None,
    device: DeviceLike,
    queue: Queue | None,
    usm_type: str | None,
    home: Queue | None = None,
) -> Array:
    """A new array full of a value, its axes in an order in memory; `home` is the queue it goes to when nothing else is said."""
    wanted = optional_dtype(dtype, op_name, fields=True)
    records = isinstance(value, (Records, np.void)) or getattr(getattr(value, "dtype", None), "names", None) is not None
    if records or (wanted is not None and wanted.names is not None):
        target = queue_of(device, queue, home if home is not None else getattr(value, "queue", None))
        return made_records("new", op_name, value, extents, value.dtype if wanted is None else wanted, axes, target, usm_type)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        if isinstance(value, int) and wanted is not None and kind_of(wanted) in "fc":
            value = float(value)  # of any size
        if isinstance(value, (complex, np.complexfloating)) and wanted is not None and kind_of(wanted) in "iuf":
            warn_of_lost_parts(op_name)
        target = queue_of(device, queue, home)
        try:
            return make_in_order(axes, extents, lambda e: in_memory(_full(e, value, wanted, target, op_name), usm_type, op_name))
        except OverflowError as e:
            raise too_large(e, op_name) from None
    inner = value if type(value) is Array else _core._array_among(value) if type(value) in (list, tuple) else None
    if inner is not None:
        target = queue_of(device, queue, home if home is not None else inner.queue)
        if device is None and queue is None:
            values = asarray(value)
            if values.queue != target and _core._pull(values) == 2:
                raise ExecutionPlacementError(
                    f"{op_name}: the value is on {values.queue!r}, and what is made goes to {target!r}; copy it explicitly with to_queue"
                )
        else:
            values = asarray(value, queue=target)
        values = _core._follow(values, target, op_name) if device is None and queue is None else values._to_queue(target)
    else:
        target = queue_of(device, queue, home)
        values = from_host(value, None, target, op_name)
    check_fits(values, extents, op_name)
    element = wanted or values.dtype
    if values._kind == "c" and kind_of(element) in "iuf":
        warn_of_lost_parts(op_name)
    out = make_in_order(axes, extents, lambda e: _empty(e, element, target))
    out._assign(values)
    return in_memory(out, usm_type or kind_like(target, inner), op_name)


def _of_number(
    op_name: str,
    number: int,
    shape: Shape,
    dtype: DTypeLike | None,
    order: str,
    device: DeviceLike,
    queue: Queue | None,
    usm_type: str | None,
) -> Array:
    """A new array full of a number, of the default dtype if none is given."""
    columns = read_order(order, op_name, "CF", "C")
    target, extents = queue_of(device, queue), _extents(shape, op_name)
    element = optional_dtype(dtype, op_name, fields=True) or default_on(target, np.float64)
    if element.names is not None:
        return made_records("new", op_name, number, extents, element, columns_first(columns, len(extents)), target, usm_type)
    if columns == "C":  # the usual case, without a closure
        return in_memory(_full(extents, number, element, target, op_name), usm_type, op_name)
    axes = columns_first(columns, len(extents))
    return make_in_order(axes, extents, lambda e: in_memory(_full(e, number, element, target, op_name), usm_type, op_name))


@filled
def zeros(
    shape: Shape,
    dtype: DTypeLike | None = None,
    order: str = "C",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return a new array of given shape and dtype, filled with zeros.

    Parameters
    ----------
    {shape}
    {default_dtype}
    {by_rows}
    {device}
    {queue_and_memory}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {new_raises}
    """
    return _of_number("zeros", 0, shape, dtype, order, device, queue, usm_type)


@filled
def ones(
    shape: Shape,
    dtype: DTypeLike | None = None,
    order: str = "C",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return a new array of given shape and dtype, filled with ones.

    Parameters
    ----------
    {shape}
    {default_dtype}
    {by_rows}
    {device}
    {queue_and_memory}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {new_raises}
    """
    return _of_number("ones", 1, shape, dtype, order, device, queue, usm_type)


@filled
def empty_like(
    x: Any,
    /,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    shape: Shape | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return a new array with the shape, dtype and queue of a given array, without initialising entries.

    Parameters
    ----------
    x : Array
        The model.
    {like_keywords}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {like_raises}
    """
    x = array(x, "empty_like")
    extents, axes = _extents_like(x, shape, order, "empty_like")
    target, element = queue_of(device, queue, x.queue), optional_dtype(dtype, "empty_like") or x.dtype
    kind = _kind_like(x, target, usm_type)
    return make_in_order(axes, extents, lambda e: _empty_in(e, element, target, kind, "empty_like"))


@filled
def full_like(
    x: Any,
    /,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    shape: Shape | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return an array with the shape, dtype and queue of a given array, filled with `fill_value`.

    Parameters
    ----------
    x : Array
        The model.
    fill_value : number, Array, or nested lists of numbers
        The value; arrays and lists are broadcast.
    {like_keywords}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {like_raises}
    """
    return _filled_like("full_like", x, fill_value, dtype, order, device, queue, shape, usm_type)


def _extents_like(x: Array, shape: Shape | None, order: str, op_name: str) -> tuple[list[int], Sequence[int] | None]:
    """Extents of what is made after a model, and the order of its axes in memory."""
    wanted = read_order(order, op_name)
    extents = _extents(x.shape if shape is None else shape, op_name)
    if len(extents) != x.ndim:
        return extents, columns_first(wanted, len(extents))
    return extents, axes_like(x, wanted)


def _kind_like(x: Array, target: Queue, usm_type: str | None) -> str:
    """The kind of memory of what is made after a model: the model's own where it stays on the device."""
    if usm_type is not None:
        return usm_type
    return x.usm_type if target.device == x.queue.device else "device"


def _filled_like(
    op_name: str,
    x: Any,
    value: Any,
    dtype: DTypeLike | None,
    order: str,
    device: DeviceLike,
    queue: Queue | None,
    shape: Shape | None,
    usm_type: str | None,
) -> Array:
    x = array(x, op_name)
    extents, axes = _extents_like(x, shape, order, op_name)
    kind: str | None = _kind_like(x, queue_of(device, queue, x.queue), usm_type)
    if usm_type is None and kind == "device":
        kind = None
    return _filled(op_name, extents, value, dtype_or(dtype, x.dtype), axes, device, queue, kind, x.queue)


@filled
def zeros_like(
    x: Any,
    /,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    shape: Shape | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return an array of zeros with the shape, dtype and queue of a given array.

    Parameters
    ----------
    x : Array
        The model.
    {like_keywords}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {like_raises}
    """
    return _filled_like("zeros_like", x, 0, dtype, order, device, queue, shape, usm_type)


@filled
def ones_like(
    x: Any,
    /,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    shape: Shape | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return an array of ones with the shape, dtype and queue of a given array.

    Parameters
    ----------
    x : Array
        The model.
    {like_keywords}

    Returns
    -------
    Array
        The new array.

    Raises
    ------
    {like_raises}
    """
    return _filled_like("ones_like", x, 1, dtype, order, device, queue, shape, usm_type)


@filled
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    order: str = "C",
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return a 2-D array with ones on the diagonal and zeros elsewhere.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int, optional
        Number of columns. Default: as many as rows.
    k : int
        The diagonal: 0 is the main one, positive ones are above it.
    {default_dtype}
    {by_rows}
    {device}
    {queue_and_memory}

    Returns
    -------
    Array
        Of shape ``(N, M)``.

    Raises
    ------
    TypeError
        `N`, `M` or `k` is not an integer, or the dtype is not supported.
    ValueError
        `N` or `M` is negative, the order is not supported, or no such device exists.
    """
    by_columns = read_order(order, "eye", "CF", "C") == "F"
    rows, columns = read_shape((N, N if M is None else M), "eye")
    diagonal = max(-rows, min(integer(k, "eye: k"), columns))  # any further one is as far outside
    element, target = optional_dtype(dtype, "eye"), queue_of(device, queue)
    if by_columns:
        return _laid_out(in_memory(_eye(columns, rows, -diagonal, element, target), usm_type, "eye"), [1, 0])
    return in_memory(_eye(rows, columns, diagonal, element, target), usm_type, "eye")


@filled
def identity(
    n: int,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return the identity array: `eye(n)`.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    {default_dtype}
    {device}
    {queue_and_memory}

    Returns
    -------
    Array
        Of shape ``(n, n)``.

    Raises
    ------
    TypeError
        `n` is not an integer, or the dtype is not supported.
    ValueError
        `n` is negative, or no such device exists.
    """
    return eye(n, dtype=optional_dtype(dtype, "identity"), device=device, queue=queue, usm_type=usm_type)


def _matrix(x: Array) -> Array:
    """The array; a vector, as in NumPy, as each row of a square matrix."""
    return x if x.ndim != 1 else _core._broadcast_to(x, [x.size, x.size])


def tril(x: Any, /, k: int = 0) -> Array:
    """Lower triangle of an array: matrices with zeros above a diagonal.

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

    Raises
    ------
    ValueError
        The array has no dimensions.
    TypeError
        `x` is not an array, or `k` is not an integer.
    """
    return _tril(_matrix(array(x, "tril")), index(k, "tril: k"))


def triu(x: Any, /, k: int = 0) -> Array:
    """Upper triangle of an array: matrices with zeros below a diagonal.

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

    Raises
    ------
    ValueError
        The array has no dimensions.
    TypeError
        `x` is not an array, or `k` is not an integer.
    """
    return _triu(_matrix(array(x, "triu")), index(k, "triu: k"))
