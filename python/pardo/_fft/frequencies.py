# python/pardo/_fft/frequencies.py: what goes with spectra: their frequencies, the order of these, and lengths that are transformed fast.
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import DeviceLike, array, axis_index, flag, index, integers, optional_dtype, queue_for
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue
from pardo._functions.operands import cast

__all__ = [
    "fftfreq",
    "fftshift",
    "ifftshift",
    "next_fast_len",
    "prev_fast_len",
    "rfftfreq",
]


def _frequencies(n: Any, d: Any, device: DeviceLike, dtype: Any, queue: Queue | None, half: bool, op_name: str) -> Array:
    if not isinstance(n, (int, np.integer)):
        raise ValueError(f"{op_name}: n should be an integer, not {type(n).__name__}")
    points = index(n, f"{op_name}: n")
    wanted = optional_dtype(dtype, op_name)
    if wanted is not None and kind_of(wanted) != "f":
        raise TypeError(f"{op_name}: dtype must be a floating-point one, not {wanted}")
    step = 1.0 / (points * d)
    if points < 0 and not half:
        raise ValueError(f"{op_name}: negative dimensions are not allowed: n is {points}")
    target = queue_for(op_name, device, queue, d)
    count = _core._arange(0, max(points // 2 + 1, 0) if half else points, 1, np.int64, target)
    if not half:
        count = _core._where(_core.less(count, (points + 1) // 2), count, _core.subtract(count, points))
    result = _core.multiply(count, step)
    return result if wanted is None else cast(result, wanted)


@filled
def fftfreq(n: int, d: Any = 1.0, device: DeviceLike = None, *, dtype: DTypeLike | None = None, queue: Queue | None = None) -> Array:
    """Return the Discrete Fourier Transform sample frequencies.

    Parameters
    ----------
    n : int
        The number of points.
    d : number
        The distance of samples.
    {device}
    dtype : data type, optional
        A floating-point one. Default: float64; float32 on a device that has no float64.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        ``[0, 1, ..., (n-1)//2, -(n//2), ..., -1] / (d*n)``.

    Raises
    ------
    TypeError
        The dtype is of another kind.
    ValueError
        `n` is not an integer or negative, or no such device exists.
    ZeroDivisionError
        `n` or `d` is zero.

    See Also
    --------
    rfftfreq, fftshift

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.fftfreq(5, d=0.1)
    array([ 0.,  2.,  4., -4., -2.])
    """
    return _frequencies(n, d, device, dtype, queue, False, "fftfreq")


@filled
def rfftfreq(n: int, d: Any = 1.0, device: DeviceLike = None, *, dtype: DTypeLike | None = None, queue: Queue | None = None) -> Array:
    """Return the Discrete Fourier Transform sample frequencies (for usage with rfft, irfft).

    Parameters
    ----------
    n : int
        The number of points of the signal.
    d : number
        The distance of samples.
    {device}
    dtype : data type, optional
        A floating-point one. Default: float64; float32 on a device that has no float64.
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        ``[0, 1, ..., n//2] / (d*n)``.

    Raises
    ------
    TypeError
        The dtype is of another kind.
    ValueError
        `n` is not an integer, or no such device exists.
    ZeroDivisionError
        `n` or `d` is zero.

    See Also
    --------
    fftfreq

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.rfftfreq(5, d=0.1)
    array([0., 2., 4.])
    """
    return _frequencies(n, d, device, dtype, queue, True, "rfftfreq")


def _shifted(x: Any, axes: Any, sign: int, op_name: str) -> Array:
    x = array(x, op_name)
    along = list(range(x.ndim)) if axes is None else [axis_index(a, x.ndim, op_name) for a in integers(axes, f"{op_name}: axes")]
    return _core._roll(x, [sign * (x.shape[a] // 2) for a in along], along) if along else _core._roll(x, [0], None)


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> Array:
    """Shift the zero-frequency component to the center of the spectrum.

    Parameters
    ----------
    x : Array
        The spectrum.
    axes : int or sequence of int, optional
        The axes. Default: all.

    Returns
    -------
    Array
        The same values, along each axis those of negative frequencies first.

    Raises
    ------
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or an axis is not an integer.

    See Also
    --------
    ifftshift, fftfreq

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.fftshift(pp.fft.fftfreq(5, d=0.2))
    array([-2., -1.,  0.,  1.,  2.])
    """
    return _shifted(x, axes, 1, "fftshift")


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> Array:
    """Compute the inverse of `fftshift`.

    Parameters
    ----------
    x : Array
        The spectrum, along each axis with negative frequencies first.
    axes : int or sequence of int, optional
        The axes. Default: all.

    Returns
    -------
    Array
        The same values, with the frequency zero first.

    Raises
    ------
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or an axis is not an integer.

    See Also
    --------
    fftshift

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.ifftshift(pp.asarray([-2, -1, 0, 1, 2]))
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted(x, axes, -1, "ifftshift")


@functools.lru_cache(16)
def _odd_products(limit: int, primes: tuple[int, ...]) -> list[int]:
    """All products of odd primes up to a limit."""
    products = [1]
    for p in primes:
        powers = [p**k for k in range(limit.bit_length()) if p**k <= limit]
        products = [q * r for q in products for r in powers if q * r <= limit]
    return products


def _primes(target: Any, real: Any, op_name: str) -> tuple[int, tuple[int, ...]]:
    points = index(target, f"{op_name}: target")
    if points < 0:
        raise ValueError(f"{op_name}: the target length must not be negative: {points}")
    return points, (3, 5) if flag(real, f"{op_name}: real") else (3, 5, 7, 11)


def next_fast_len(target: int, real: bool = False) -> int:
    """Find the next fast size of input data to ``fft``, for zero-padding, etc.

    Parameters
    ----------
    target : int
        The least length.
    real : bool
        Whether it is for a transform of real numbers, as `rfft`.

    Returns
    -------
    int
        The smallest length from `target` on without other prime factors than 2, 3, 5, 7 and 11, or, if `real`, 2, 3 and 5.

    Raises
    ------
    TypeError
        `target` is not an integer, or `real` is neither True nor False.
    ValueError
        `target` is negative.

    See Also
    --------
    prev_fast_len, fft

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.next_fast_len(1009), pp.fft.next_fast_len(1009, real=True)
    (1024, 1024)
    """
    points, primes = _primes(target, real, "next_fast_len")
    if points <= 1:
        return points
    limit = 1 << (points - 1).bit_length()  # a power of two is fast
    return min(p << (-(-points // p) - 1).bit_length() for p in _odd_products(limit, primes))


def prev_fast_len(target: int, real: bool = False) -> int:
    """Find the previous fast size of input data to ``fft``.

    Parameters
    ----------
    target : int
        The greatest length.
    real : bool
        Whether it is for a transform of real numbers, as `rfft`.

    Returns
    -------
    int
        The greatest length up to `target` without other prime factors than 2, 3, 5, 7 and 11, or, if `real`, 2, 3 and 5.

    Raises
    ------
    TypeError
        `target` is not an integer, or `real` is neither True nor False.
    ValueError
        `target` is negative.

    See Also
    --------
    next_fast_len

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.prev_fast_len(1009), pp.fft.prev_fast_len(1009, real=True)
    (1008, 1000)
    """
    points, primes = _primes(target, real, "prev_fast_len")
    if points <= 1:
        return points
    limit = 1 << points.bit_length()
    return max(p << ((points // p).bit_length() - 1) for p in _odd_products(limit, primes) if p <= points)
