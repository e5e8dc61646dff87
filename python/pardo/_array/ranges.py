# python/pardo/_array/ranges.py: numbers at equal distances, and grids of them: arange, linspace, meshgrid.
from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike
from pardo._base import promotion
from pardo._base.arguments import (
    DeviceLike,
    Scalar,
    arrays,
    axis_index,
    default_on,
    in_memory,
    index,
    kind_like,
    optional_dtype,
    queue_for,
    together,
    too_large,
)
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._core import (
    Array,
    Queue,
    _arange,
    _broadcast_arrays,
    _linspace,
    _moveaxis,
    _reshape,
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
    "linspace",
    "meshgrid",
]


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
    device : Device or str, optional
        Default: that of the numbers that are 0-d arrays, whose values are waited for, else the default device.
    {queue_and_memory}

    Returns
    -------
    Array
        One-dimensional, of ``ceil((stop - start) / step)`` values.

    Raises
    ------
    TypeError
        A bound is not a number, or the dtype is not supported.
    ZeroDivisionError
        The step is zero.
    """
    if start is None and stop is None:
        raise TypeError("arange: a stop value is needed")
    if stop is None:
        start, stop = None, start
    first, last = _number(0 if start is None else start, "arange: start"), _number(stop, "arange: stop")
    distance = _number(1 if step is None else step, "arange: step")
    if distance == 0:
        raise ZeroDivisionError("arange: step must not be zero")
    target = queue_for("arange", device, queue, start, stop, step)
    try:
        x = _arange(first, last, distance, optional_dtype(dtype, "arange"), target)
        if dtype is not None and x._kind in "iu":
            _check_first_two(x, first, distance)
    except OverflowError as e:
        raise too_large(e, "arange") from None
    return in_memory(x, usm_type or kind_like(target, start, stop, step), "arange")


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
        The bounds of the interval; those that are arrays are broadcast against each other, and each pair is an interval.
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
        A bound is neither a number nor an array, `num` is not an integer, or the dtype is not supported.
    ValueError
        `num` is negative.
    """
    count = index(num, "linspace: num")
    if count < 0:
        raise ValueError(f"linspace: num is {count}; it must not be negative")
    wanted = optional_dtype(dtype, "linspace")
    parts = count - 1 if endpoint else count
    if any(isinstance(end, (list, tuple)) or (isinstance(end, (Array, np.ndarray)) and end.ndim > 0) for end in (start, stop)):
        ends = arrays((start, stop), "linspace")
        if device is None and queue is None:
            ends = together(ends, "linspace")
        target = queue_for("linspace", device, queue, *ends)
        x, step = _lines(ends[0]._to_queue(target), ends[1]._to_queue(target), count, parts, wanted)
        axis_index(axis, x.ndim, "linspace")
        x = in_memory(_moveaxis(x, [0], [axis]), usm_type, "linspace")
        return (x, step) if retstep else x
    first, last = _number(start, "linspace: start"), _number(stop, "linspace: stop")
    target = queue_for("linspace", device, queue, start, stop)
    try:
        x = _linspace(first, last, count, bool(endpoint), wanted or _linspace_dtype(target, start, stop), target)
    except OverflowError as e:
        raise too_large(e, "linspace") from None
    axis_index(axis, 1, "linspace")
    x = in_memory(x, usm_type or kind_like(target, start, stop), "linspace")
    return (x, np.subtract(last * 1.0, first * 1.0) / parts if parts > 0 else float("nan")) if retstep else x


def _linspace_dtype(queue: Queue, *ends: Any) -> np.dtype[Any]:
    """Python scalars are weak, as in every operation; the result is floating."""
    return default_on(queue, promotion.result_type(*(e.dtype if type(e) is Array else e for e in ends), 0.0))


def _lines(first: Array, last: Array, count: int, parts: int, dtype: np.dtype[Any] | None) -> tuple[Array, Any]:
    """Values between each pair of ends along the first axis, and their distances."""
    work = _linspace_dtype(first.queue, first, last)
    first, last = _broadcast_arrays([first._astype(work, False), last._astype(work, False)], "linspace")
    steps = _reshape(_arange(0, count, 1, work, first.queue), [count] + [1] * first.ndim)
    distance = divide(subtract(last, first), parts if parts > 0 else float("nan"))
    x = add(multiply(steps, distance), first) if parts > 0 else add(multiply(steps, subtract(last, first)), first)
    if 0 < parts < count:
        x = _where(equal(steps, parts), last, x)  # exactly, whatever rounding did
    if dtype is not None and kind_of(dtype) in "iu":
        x = floor(x)
    return (x if dtype is None else x._astype(dtype, False)), distance


def _check_first_two(x: Array, first: Any, step: Any) -> None:
    """That the first values of a range fit its dtype, as NumPy asks of them; the others wrap around."""
    if type(first) is int is type(step) and 0 <= first < 127 and 0 < step <= 1:
        return
    first, step = (v.item() if isinstance(v, np.generic) else v for v in (first, step))
    np.asarray([first, first + step][: x.size], x.dtype)


def _number(x: Any, what: str) -> Scalar:
    if isinstance(x, (Array, np.ndarray)) and x.ndim == 0:
        return x.dtype.type(x.item())  # type: ignore[no-any-return]
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return x  # type: ignore[return-value]
    raise TypeError(f"{what} must be a number, not {type(x).__name__}")


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
        One grid for each vector, on its queue; those of numbers and of 0-d arrays of the CPU are on that of the others.

    Raises
    ------
    ValueError
        `indexing` is unknown.
    TypeError
        A vector is not an array.
    """
    if not isinstance(indexing, str) or indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it must be 'xy' or 'ij'")
    lines = together(arrays(vectors, "meshgrid", own_dtypes=True), "meshgrid")
    n = len(lines)
    grids = []
    for i, v in enumerate(lines):
        place = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
        grids.append(_reshape(v, [v.size if d == place else 1 for d in range(n)]))
    if grids and not sparse:
        grids = _broadcast_arrays(grids, "meshgrid")
    return tuple(g._copy() if copy else g for g in grids)
