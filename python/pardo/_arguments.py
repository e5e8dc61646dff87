# python/pardo/_arguments.py: reads the arguments that many functions share: arrays, axes, shapes, dtypes, devices, out.
from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike
from pardo._core import Array, Device, Queue, _can_cast_same_kind, _full

Axis: TypeAlias = int | tuple[int, ...] | None
Shape: TypeAlias = int | Sequence[int]
Scalar: TypeAlias = bool | int | float | complex
DeviceLike: TypeAlias = Device | str | None

_SCALARS = (bool, int, float, complex, np.generic)


def array(x: Any, who: str) -> Array:
    """The array itself, or a 0-d one of a number; other objects are not copied in behind the user's back."""
    if type(x) is Array:
        return x
    if isinstance(x, _SCALARS):
        return _full([], x, None, default_queue())
    raise TypeError(f"{who}: expected a pardo.Array, got {type(x).__name__}; make it one with pardo.asarray(x)")


def arrays(xs: Iterable[Any], who: str) -> list[Array]:
    """Arrays and numbers; numbers take the dtype and the queue of the arrays they meet (NEP 50)."""
    items = list(xs)
    first = next((x for x in items if type(x) is Array), None)
    if first is None:
        return [array(x, who) for x in items]
    return [x if type(x) is Array else array_like(x, first, who) for x in items]


def array_like(x: Any, other: Array, who: str) -> Array:
    """As `array`, on the queue of `other`; a Python number takes its dtype where that can hold the kind of number."""
    if type(x) is Array:
        return x
    if not isinstance(x, _SCALARS):
        raise TypeError(f"{who}: expected a pardo.Array, got {type(x).__name__}; make it one with pardo.asarray(x)")
    return _full([], x, np.result_type(other.dtype, x), other.queue)


def axes(axis: Axis, who: str) -> list[int] | None:
    """None for all axes, else a list of them."""
    if axis is None:
        return None
    if isinstance(axis, (tuple, list)):
        return [index(a, f"{who}: axis") for a in axis]
    return [index(axis, f"{who}: axis")]


def axis_index(axis: int, ndim: int) -> int:
    """The axis as a number from 0 on; AxisError if the array has no such axis."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def index(x: Any, what: str) -> int:
    """An integer, or a TypeError that says what should have been one."""
    try:
        i = operator.index(x)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(x).__name__}") from None
    if not -(2**63) <= i < 2**63:
        raise OverflowError(f"{what} does not fit 64 bits: {i}")
    return i


def optional_index(x: Any, what: str) -> int | None:
    """None, or an integer."""
    return None if x is None else index(x, what)


def shape(s: Shape, who: str) -> list[int]:
    """An int or a sequence of ints as a list; negative extents are refused."""
    extents = [s] if not isinstance(s, Iterable) else list(s)
    result = []
    for e in extents:
        try:
            extent = operator.index(e)
        except TypeError:
            raise TypeError(f"{who}: shape must be an integer or a sequence of integers, not {s!r}") from None
        if extent < 0:
            raise ValueError(f"{who}: negative dimensions are not allowed: {s!r}")
        if extent >= 2**63:
            raise ValueError(f"{who}: maximum allowed dimension exceeded: {s!r}")
        result.append(extent)
    return result


def default_queue() -> Queue:
    """The canonical queue of the default device."""
    return Queue.of(Device())


def queue_of(device: DeviceLike, queue: Queue | None, fallback: Queue | None = None) -> Queue:
    """Where a new array goes: the queue if given, else the device's canonical one, else the fallback, else the default."""
    if queue is not None:
        if device is not None and Device(device) != queue.device:
            raise ValueError(f"queue belongs to {queue.device}, but device is {device}")
        return queue
    if device is not None:
        wanted = Device(device)
        return fallback if fallback is not None and fallback.device == wanted else Queue.of(wanted)
    return fallback if fallback is not None else default_queue()


def mask(where: Any, who: str) -> Array | None:
    """The `where` keyword: None for everything, else an array of bools."""
    if where is None or where is True:
        return None
    m = array(where, who)
    if m.dtype != np.bool_:
        raise TypeError(f"{who}: where must be a bool array, not {m.dtype}")
    return m


def store(result: Array, out: Array | None, who: str) -> Array:
    """The result, or `out` with the result stored in it: same shape, cast within the same kind."""
    if out is None:
        return result
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if type(out) is not Array:
        raise TypeError(f"{who}: out must be a pardo.Array, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"{who}: out has shape {out.shape}, but the result has shape {result.shape}")
    if not _can_cast_same_kind(result.dtype, out.dtype):
        raise TypeError(f"{who}: cannot cast the result from {result.dtype} to {out.dtype} of out with casting rule 'same_kind'")
    out._assign(result)
    return out


def dtype_or(dtype: DTypeLike | None, other: Any) -> Any:
    """`dtype`, unless it is None (which NumPy would take for float64)."""
    return other if dtype is None else dtype
