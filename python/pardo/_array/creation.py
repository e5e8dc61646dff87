# python/pardo/_array/creation.py: new arrays from numbers: zeros, arange, linspace, eye, meshgrid and their like.
from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike
from pardo._array.interop import by_rows, check_fits, from_host
from pardo._base.arguments import (
    DeviceLike,
    Scalar,
    Shape,
    array,
    arrays,
    axis_index,
    default_on,
    dtype_or,
    in_memory,
    index,
    integer,
    optional_dtype,
    queue_of,
    too_large,
)
from pardo._base.arguments import shape as read_shape
from pardo._base.docstrings import filled
from pardo._core import (
    Array,
    Queue,
    _arange,
    _broadcast_arrays,
    _empty,
    _empty_at_sight,
    _empty_in,
    _eye,
    _full,
    _linspace,
    _moveaxis,
    _reshape,
    _tril,
    _triu,
    _where,
    add,
    divide,
    equal,
    floor,
    multiply,
    subtract,
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


_MAX_DIMENSIONS = 32


def _extents(shape: Shape, who: str) -> list[int]:
    extents = read_shape(shape, who)
    if len(extents) > _MAX_DIMENSIONS:
        raise ValueError(f"{who}: at most {_MAX_DIMENSIONS} dimensions are supported, not {len(extents)}")
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
    by_rows(order, "empty")
    kind = "device" if usm_type is None else usm_type
    return _empty_in(_extents(shape, "empty"), optional_dtype(dtype, "empty"), queue_of(device, queue), kind, "empty")


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
    return in_memory(_filled("full", shape, fill_value, dtype, order, device, queue), usm_type, "full")


def _filled(
    who: str,
    shape: Shape,
    value: Any,
    dtype: DTypeLike | None,
    order: str,
    device: DeviceLike,
    queue: Queue | None,
    home: Queue | None = None,
) -> Array:
    """A new array full of a value; `home` is the queue it goes to when nothing else is said."""
    by_rows(order, who)
    extents, wanted = _extents(shape, who), optional_dtype(dtype, who)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        if isinstance(value, int) and wanted is not None and wanted.kind in "fc":
            value = float(value)  # of any size
        try:
            return _full(extents, value, wanted, queue_of(device, queue, home), who)
        except OverflowError as e:
            raise too_large(e, who) from None
    if type(value) is Array:
        target = queue_of(device, queue, home if home is not None else value.queue)
        values = value._to_queue(target)
    else:
        target = queue_of(device, queue, home)
        values = from_host(value, None, target, who)
    check_fits(values, extents, who)
    out = _empty(extents, wanted or values.dtype, target)
    out._assign(values)
    return out


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
    by_rows(order, "zeros")
    target = queue_of(device, queue)
    made = _full(_extents(shape, "zeros"), 0, optional_dtype(dtype, "zeros") or default_on(target, np.float64), target, "zeros")
    return in_memory(made, usm_type, "zeros")


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
    by_rows(order, "ones")
    target = queue_of(device, queue)
    made = _full(_extents(shape, "ones"), 1, optional_dtype(dtype, "ones") or default_on(target, np.float64), target, "ones")
    return in_memory(made, usm_type, "ones")


@filled
def empty_like(
    x: Any,
    /,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
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
    by_rows(order, "empty_like")
    extents, target = _extents(x.shape if shape is None else shape, "empty_like"), queue_of(device, None, x.queue)
    return _empty_in(extents, optional_dtype(dtype, "empty_like") or x.dtype, target, _kind_like(x, target, usm_type), "empty_like")


@filled
def full_like(
    x: Any,
    /,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
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
    return _filled_like("full_like", x, fill_value, dtype, order, device, shape, usm_type)


def _kind_like(x: Array, target: Queue, usm_type: str | None) -> str:
    """The kind of memory of what is made after a model: the model's own where it stays on the device."""
    if usm_type is not None:
        return usm_type
    return x.usm_type if target.device == x.device else "device"


def _filled_like(
    who: str,
    x: Any,
    value: Any,
    dtype: DTypeLike | None,
    order: str,
    device: DeviceLike,
    shape: Shape | None,
    usm_type: str | None,
) -> Array:
    x = array(x, who)
    made = _filled(who, x.shape if shape is None else shape, value, dtype_or(dtype, x.dtype), order, device, None, x.queue)
    kind = _kind_like(x, made.queue, usm_type)
    return made if usm_type is None and kind == "device" else in_memory(made, kind, who)


@filled
def zeros_like(
    x: Any,
    /,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
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
    return _filled_like("zeros_like", x, 0, dtype, order, device, shape, usm_type)


@filled
def ones_like(
    x: Any,
    /,
    dtype: DTypeLike | None = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
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
    return _filled_like("ones_like", x, 1, dtype, order, device, shape, usm_type)


@filled
def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Array:
    """Return evenly spaced values within a given interval, half-open.

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
    {device}
    {queue_and_memory}

    Returns
    -------
    Array
        One-dimensional, of ``ceil((stop - start) / step)`` values.

    Raises
    ------
    TypeError
        An end is not a number, or the dtype is not supported.
    ZeroDivisionError
        The step is zero.
    """
    if start is None and stop is None:
        raise TypeError("arange: an end of the interval is needed")
    if stop is None:
        start, stop = None, start
    first, last = _number(0 if start is None else start, "arange: start"), _number(stop, "arange: stop")
    distance = _number(1 if step is None else step, "arange: step")
    if distance == 0:
        raise ZeroDivisionError("arange: step must not be zero")
    try:
        x = _arange(first, last, distance, optional_dtype(dtype, "arange"), queue_of(device, queue))
    except OverflowError as e:
        raise too_large(e, "arange") from None
    return in_memory(x, usm_type, "arange")


@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = ...,
    endpoint: bool = ...,
    retstep: Literal[False] = ...,
    dtype: DTypeLike | None = ...,
    axis: int = ...,
    *,
    device: DeviceLike = ...,
    queue: Queue | None = ...,
    usm_type: str | None = ...,
) -> Array: ...
@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = ...,
    endpoint: bool = ...,
    retstep: bool = ...,
    dtype: DTypeLike | None = ...,
    axis: int = ...,
    *,
    device: DeviceLike = ...,
    queue: Queue | None = ...,
    usm_type: str | None = ...,
) -> Any: ...
@filled
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
    queue: Queue | None = None,
    usm_type: str | None = None,
) -> Any:
    """Return evenly spaced numbers over a specified interval.

    Parameters
    ----------
    start, stop : number or Array
        The ends of the interval; those that are arrays are broadcast against each other, and each pair is an interval.
    num : int
        How many values.
    endpoint : bool
        Whether `stop` is the last value.
    retstep : bool
        Whether the distance of the values is returned too.
    dtype : data type, optional
        Default: float64 for Python's numbers; what arrays and NumPy's scalars promote to, if that is floating.
    axis : int
        Where the values of an interval are in the result, when the ends are arrays.
    device : Device or str, optional
        Default: that of the ends if they are arrays, else the default device.
    {queue_and_memory}

    Returns
    -------
    Array, or (Array, float or Array)
        One-dimensional of `num` values for numbers, with one dimension more than the ends for arrays; with `retstep` also the
        distance of the values.

    Raises
    ------
    TypeError
        An end is neither a number nor an array, `num` is not an integer, or the dtype is not supported.
    ValueError
        `num` is negative.
    """
    count = index(num, "linspace: num")
    if count < 0:
        raise ValueError(f"linspace: num is {count}; it must not be negative")
    wanted = optional_dtype(dtype, "linspace")
    parts = count - 1 if endpoint else count
    if any(type(end) is Array and end.ndim > 0 for end in (start, stop)):
        ends = arrays((start, stop), "linspace")
        target = queue_of(device, queue, ends[0].queue)
        x, step = _lines(ends[0]._to_queue(target), ends[1]._to_queue(target), count, parts, wanted)
        axis_index(axis, x.ndim, "linspace")
        x = in_memory(_moveaxis(x, [0], [axis]), usm_type, "linspace")
        return (x, step) if retstep else x
    first, last = _number(start, "linspace: start"), _number(stop, "linspace: stop")
    target = queue_of(device, queue)
    try:
        x = _linspace(first, last, count, bool(endpoint), wanted or _linspace_dtype(target, start, stop), target)
    except OverflowError as e:
        raise too_large(e, "linspace") from None
    axis_index(axis, 1, "linspace")
    x = in_memory(x, usm_type, "linspace")
    return (x, (last - first) / parts if parts > 0 else float("nan")) if retstep else x


def _linspace_dtype(queue: Queue, *ends: Any) -> np.dtype[Any]:
    """Numbers of Python are weak, as in every operation; the result is floating."""
    return default_on(queue, np.result_type(*(e.dtype if type(e) is Array else e for e in ends), 0.0))


def _lines(first: Array, last: Array, count: int, parts: int, dtype: np.dtype[Any] | None) -> tuple[Array, Any]:
    """Values between each pair of ends along the first axis, and their distances."""
    work = _linspace_dtype(first.queue, first, last)
    first, last = _broadcast_arrays([first._astype(work, False), last._astype(work, False)])
    steps = _reshape(_arange(0, count, 1, work, first.queue), [count] + [1] * first.ndim)
    distance = divide(subtract(last, first), parts if parts > 0 else float("nan"))
    x = add(multiply(steps, distance), first) if parts > 0 else add(multiply(steps, subtract(last, first)), first)
    if 0 < parts < count:
        x = _where(equal(steps, parts), last, x)  # exactly, whatever rounding did
    if dtype is not None and dtype.kind in "iu":
        x = floor(x)
    return (x if dtype is None else x._astype(dtype, False)), distance


def _number(x: Any, what: str) -> Scalar:
    if type(x) is Array and x.ndim == 0:
        return x.item()  # type: ignore[no-any-return]
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return x  # type: ignore[return-value]
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x.item()  # type: ignore[no-any-return]
    raise TypeError(f"{what} must be a number, not {type(x).__name__}")


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
    by_rows(order, "eye")
    rows, columns = read_shape((N, N if M is None else M), "eye")
    diagonal = max(-rows, min(integer(k, "eye: k"), columns))  # any further one is as far outside
    return in_memory(_eye(rows, columns, diagonal, optional_dtype(dtype, "eye"), queue_of(device, queue)), usm_type, "eye")


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
        The array has less than two dimensions.
    TypeError
        `x` is not an array, or `k` is not an integer.
    """
    return _tril(array(x, "tril"), index(k, "tril: k"))


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
        The array has less than two dimensions.
    TypeError
        `x` is not an array, or `k` is not an integer.
    """
    return _triu(array(x, "triu"), index(k, "triu: k"))


def meshgrid(*vectors: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    """Return a tuple of coordinate matrices from coordinate vectors.

    Parameters
    ----------
    *vectors : Array
        One-dimensional (or 0-d) arrays.
    copy : bool
        Whether the grids are arrays of their own (computed with what uses them); else they are views of the vectors.
    sparse : bool
        Whether the grids keep extent 1 where they do not vary.
    indexing : {'xy', 'ij'}
        Cartesian (the first two axes are swapped) or matrix order.

    Returns
    -------
    tuple of Array
        One grid for each vector.

    Raises
    ------
    ValueError
        `indexing` is unknown, or a vector has more than one dimension.
    TypeError
        A vector is not an array.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it must be 'xy' or 'ij'")
    lines = [array(v, "meshgrid") for v in vectors]
    n = len(lines)
    grids = []
    for i, v in enumerate(lines):
        if v.ndim > 1:
            raise ValueError(f"meshgrid: array {i} has {v.ndim} dimensions; one is expected")
        place = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
        grids.append(_reshape(v, [v.size if d == place else 1 for d in range(n)]))
    if grids and not sparse:
        grids = _broadcast_arrays(grids)
    return tuple(g._copy() if copy else g for g in grids)
