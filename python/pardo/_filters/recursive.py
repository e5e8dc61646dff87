# python/pardo/_filters/recursive.py: signal: filters with feedback.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.contexts import public
from pardo._base import promotion
from pardo._base.arguments import axis_index, default_on
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters import recursion, windows
from pardo._functions.operands import cast, on_host, operand, to_queue

__all__ = ["lfilter", "sosfilt"]


def _coefficients(values: Any, what: str) -> NDArray[Any]:
    """On the host."""
    given = np.atleast_1d(on_host(values, what.partition(":")[0]))
    if kind_of(given.dtype) not in "biufc":
        raise TypeError(f"{what} must be numbers, not of dtype {given.dtype}")
    return given


def _dtype_of(x: Array, *others: Any) -> np.dtype[Any]:
    """Of the result: floats."""
    common = promotion.result_type(x.dtype, *(o.dtype for o in others if o is not None))
    return default_on(x.queue, common if kind_of(common) in "fc" else np.float64)


def _python(values: NDArray[Any], dtype: np.dtype[Any]) -> Any:
    """As numbers of a kernel."""
    return tuple(values.astype(np.complex128 if kind_of(dtype) == "c" else np.float64).tolist())


def _states(x: Array, axis: int, count: int, zi: Any, shape: Sequence[int], wide: np.dtype[Any], op_name: str) -> Array:
    """The first states of lines, line by line: of the shape of `x` without the axis, and states."""
    lines = [n for d, n in enumerate(x.shape) if d != axis]
    if zi is None:
        return _core._full([*lines, count], 0, wide, x.queue)
    if len(zi.shape) != len(shape) or any(n != m and (n != 1 or d == axis) for d, (n, m) in enumerate(zip(zi.shape, shape, strict=True))):
        raise ValueError(f"{op_name}: unexpected shape for zi: expected {tuple(shape)}, found {zi.shape}")
    return _core._broadcast_to(cast(zi, wide), list(shape))


@public
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter data along one-dimension with an IIR or FIR filter.

    Parameters
    ----------
    b : array_like
        The numerator's coefficients, one-dimensional; read on the host.
    a : array_like
        The denominator's coefficients, one-dimensional, the first one not 0; all are divided by it. Read on the host.
    x : Array
        The elements.
    axis : int
        The axis that is filtered.
    zi : array_like, optional
        First states, ``max(len(a), len(b)) - 1`` along `axis`, otherwise of the shape of `x`, or 1.

    Returns
    -------
    y : Array
        Of the shape of `x`, in the dtype that `x` and the coefficients promote to, float64 for integers.
    zf : Array
        The last states; only if `zi` is given.

    Raises
    ------
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or coefficients are not numbers.
    ValueError
        Coefficients have more than one dimension, or none, the first one of `a` is 0, or the shape of `zi` does not fit.

    See Also
    --------
    sosfilt, convolve

    Notes
    -----
    The transposed direct form II, in float64 (in float32 on a device without float64). Few long lines are cut into blocks. Each is filtered
    from rest first; that gives the states that blocks begin with, as what a block does to its first state is a power of one matrix; then
    each is filtered again. Lines of a filter that grows by more than 1e8 in a block stay whole. Without feedback it is a convolution.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.signal.lfilter([1.0], [1.0, -0.5], pp.asarray([1.0, 0.0, 0.0, 0.0]))
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    x = read.read_input(x, "lfilter")
    numerator, denominator = _coefficients(b, "lfilter: b"), _coefficients(a, "lfilter: a")
    for name, values in (("b", numerator), ("a", denominator)):
        if values.ndim != 1 or values.size == 0:
            raise ValueError(f"lfilter: {name} must be one-dimensional, with one element or more: it has shape {values.shape}")
    if denominator[0] == 0:
        raise ValueError("lfilter: the first element of a must not be 0")
    if x.ndim == 0:
        raise ValueError("lfilter: object of too small depth for desired array: x must have one dimension or more")
    axis = axis_index(axis, x.ndim, "lfilter")
    given = None if zi is None else operand(zi, x, "lfilter")
    dtype = _dtype_of(x, numerator, denominator, given)
    wide = read.wide_of(x, is_complex=kind_of(dtype) == "c")
    exact = promotion.result_type(numerator, denominator, np.float64)
    numerator, denominator = numerator.astype(exact) / denominator[0], denominator.astype(exact) / denominator[0]
    count = max(len(numerator), len(denominator)) - 1
    shape = [count if d == axis else n for d, n in enumerate(x.shape)]
    first = _states(x, axis, count, given, shape, wide, "lfilter")
    if len(denominator) == 1:
        return _without_feedback(x, numerator, axis, given is not None, first, dtype, wide)
    if given is not None:
        first = _core._moveaxis(first, [axis], [-1])
    numbers = tuple(_python(np.pad(c, (0, count + 1 - len(c))), wide) for c in (numerator, denominator))
    out: Array = _core._empty(list(x.shape), dtype, x.queue)
    last = recursion.recurse(x, out, axis, recursion.direct_form(count), count, numbers, first, wide) if x.size else first
    return out if given is None else (out, cast(_core._moveaxis(last, [-1], [axis]), dtype))


def _without_feedback(
    x: Array, weights: NDArray[Any], axis: int, wants_state: bool, first: Array, dtype: np.dtype[Any], wide: np.dtype[Any]
) -> Any:
    """A convolution of all lines, of which what goes beyond their ends is the last state."""
    count = len(weights) - 1
    extents = [n + count if d == axis else n for d, n in enumerate(x.shape)]
    sums: Array = _core._empty(extents, wide, x.queue)
    offsets = np.zeros((count + 1, x.ndim), np.int64)
    offsets[:, axis] = np.arange(count + 1)
    factors = weights[::-1].astype(wide)

    def taps(at: Any, first: int, dtype: Any) -> Any:
        return at, tuple(factors.tolist()) if type(at) is tuple else to_queue(factors, x.queue), wide.type

    starts = [-count if d == axis else 0 for d in range(x.ndim)]
    place = windows.Windows(x, offsets, [windows.CONSTANT] * x.ndim, 0, wide, starts, extents)
    place.fold(sums, windows.weighted, taps, wide)
    head, body, tail = ([slice(None)] * x.ndim for _ in range(3))
    head[axis], body[axis], tail[axis] = slice(count), slice(x.shape[axis]), slice(x.shape[axis], None)
    if wants_state and count and math.prod(first.shape):
        sums[tuple(head)] = _core.add(sums[tuple(head)], first)
    y = cast(sums[tuple(body)], dtype)
    return (y, cast(sums[tuple(tail)], dtype)) if wants_state else y


@public
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter data along one dimension using cascaded second-order sections.

    Parameters
    ----------
    sos : array_like
        Of shape (sections, 6): for each b0, b1, b2, a0, a1, a2, with a0 = 1; read on the host.
    x : Array
        The elements.
    axis : int
        The axis that is filtered.
    zi : array_like, optional
        First states, of shape ``(sections, ..., 2, ...)``: the shape of `x` with 2 in the place of the axis.

    Returns
    -------
    y : Array
        Of the shape of `x`, in the dtype that `x` and the coefficients promote to, float64 for integers.
    zf : Array
        The last states; only if `zi` is given.

    Raises
    ------
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or coefficients are not numbers.
    ValueError
        The shape of `sos` or `zi` does not fit, or an a0 is not 1.

    See Also
    --------
    lfilter

    Notes
    -----
    In float64 (in float32 on a device without float64), in blocks as `lfilter`.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([1.0, 0.0, 0.0, 0.0])
    >>> pp.signal.sosfilt([[1, 0, 0, 1, -0.5, 0], [1, 1, 0, 1, 0, 0]], x)
    array([1.   , 1.5  , 0.75 , 0.375])
    """
    x = read.read_input(x, "sosfilt")
    rows = _coefficients(sos, "sosfilt: sos")
    if rows.ndim != 2 or rows.shape[1] != 6 or len(rows) == 0:
        raise ValueError(f"sosfilt: sos array must be shape (n_sections, 6): it has shape {rows.shape}")
    if not (rows[:, 3] == 1).all():
        raise ValueError("sosfilt: sos[:, 3] should be all ones")
    axis = axis_index(axis, x.ndim, "sosfilt")
    given = None if zi is None else operand(zi, x, "sosfilt")
    dtype = _dtype_of(x, rows, given)
    wide = read.wide_of(x, is_complex=kind_of(dtype) == "c")
    shape = [len(rows), *(2 if d == axis else n for d, n in enumerate(x.shape))]
    if given is not None and list(given.shape) != shape:
        raise ValueError(f"sosfilt: invalid zi shape: with axis={axis}, expected {tuple(shape)}, found {given.shape}")
    count = 2 * len(rows)
    first = _states(x, axis, count, given, shape, wide, "sosfilt")
    if given is not None:  # lines first, then sections and their two states
        first = _core._moveaxis(first, [0, axis + 1], [-2, -1])
        lines = list(first.shape[:-2])
        first = _core._reshape(first, [*lines, count])
    numbers = tuple(_python(row[[0, 1, 2, 4, 5]], wide) for row in rows)
    out: Array = _core._empty(list(x.shape), dtype, x.queue)
    last = recursion.recurse(x, out, axis, recursion.sections(len(rows)), count, numbers, first, wide) if x.size else first
    if given is None:
        return out
    last = _core._reshape(last, [*last.shape[:-1], len(rows), 2])
    return out, cast(_core._moveaxis(last, [-2, -1], [0, axis + 1]), dtype)
