# python/pardo/_analysis/windows.py: windows for spectra, and the Bessel function that one of them needs.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import DeviceLike, array, default_on, queue_for
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue
from pardo._functions.operands import cast

__all__ = [
    "bartlett",
    "blackman",
    "hamming",
    "hanning",
    "i0",
    "kaiser",
]


def _points(M: Any, device: DeviceLike, queue: Queue | None, op_name: str, *others: Any) -> tuple[float, Array]:
    """The number of points, and from 1 - M on, each second number below M; where other parameters are, if these are arrays."""
    target = queue_for(op_name, device, queue, *others)
    try:
        m = float(M)
    except (TypeError, ValueError):
        raise TypeError(f"{op_name}: M must be a number, not {type(M).__name__}") from None
    double = default_on(target, np.float64)
    if m < 1:
        return m, _core._empty([0], double, target)
    if m == 1:
        return m, _core._full([1], 0, double, target)
    return m, cast(
        _core._arange(1 - m, m, 2, np.float64, target) if double == np.float64 else _core._arange(1 - m, m, 2, double, target), double
    )


def _cosines(m: float, n: Array, *factors: float) -> Array:
    """A sum of cosines that are 1 in the middle."""
    if m <= 1:
        return _core._full(list(n.shape), 1, n.dtype, n.queue)
    total = _core.add(_core.multiply(_core.cos(_core.divide(_core.multiply(n, math.pi), m - 1)), factors[1]), factors[0])
    for k, factor in enumerate(factors[2:], 2):
        total = _core.add(total, _core.multiply(_core.cos(_core.divide(_core.multiply(n, k * math.pi), m - 1)), factor))
    return total


@filled
def bartlett(M: float, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return the Bartlett window: a triangle with zeros at the ends.

    Parameters
    ----------
    M : int
        Number of points; none for less than one.
    {device}
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The window, with 1 in the middle.

    Raises
    ------
    TypeError
        `M` is not a number.
    ValueError
        No such device exists.

    See Also
    --------
    blackman, hamming, hanning, kaiser

    Examples
    --------
    >>> import pardo as pp
    >>> pp.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    m, n = _points(M, device, queue, "bartlett")
    if m <= 1:
        return _core._full(list(n.shape), 1, n.dtype, n.queue)
    slope = _core.divide(n, m - 1)
    return _core._where(_core.less_equal(n, 0), _core.add(slope, 1), _core.subtract(1, slope))


@filled
def blackman(M: float, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return the Blackman window: the first three terms of a sum of cosines.

    Parameters
    ----------
    M : int
        Number of points; none for less than one.
    {device}
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The window, with 1 in the middle.

    Raises
    ------
    TypeError
        `M` is not a number.
    ValueError
        No such device exists.

    See Also
    --------
    bartlett, hamming, hanning, kaiser

    Examples
    --------
    >>> import pardo as pp
    >>> pp.round(pp.blackman(5), 3)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """
    return _cosines(*_points(M, device, queue, "blackman"), 0.42, 0.5, 0.08)


@filled
def hamming(M: float, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return the Hamming window: a raised cosine that does not end at zero.

    Parameters
    ----------
    M : int
        Number of points; none for less than one.
    {device}
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The window, with 1 in the middle.

    Raises
    ------
    TypeError
        `M` is not a number.
    ValueError
        No such device exists.

    See Also
    --------
    bartlett, blackman, hanning, kaiser

    Examples
    --------
    >>> import pardo as pp
    >>> pp.round(pp.hamming(5), 3)
    array([0.08, 0.54, 1.  , 0.54, 0.08])
    """
    return _cosines(*_points(M, device, queue, "hamming"), 0.54, 0.46)


@filled
def hanning(M: float, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return the Hanning window: a raised cosine that ends at zero.

    Parameters
    ----------
    M : int
        Number of points; none for less than one.
    {device}
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The window, with 1 in the middle.

    Raises
    ------
    TypeError
        `M` is not a number.
    ValueError
        No such device exists.

    See Also
    --------
    bartlett, blackman, hamming, kaiser

    Examples
    --------
    >>> import pardo as pp
    >>> pp.round(pp.hanning(5), 3)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _cosines(*_points(M, device, queue, "hanning"), 0.5, 0.5)


@filled
def kaiser(M: float, beta: float, *, device: DeviceLike = None, queue: Queue | None = None) -> Array:
    """Return the Kaiser window: a ratio of Bessel functions.

    Parameters
    ----------
    M : int
        Number of points; none for less than one.
    beta : number
        The shape: 0 is a rectangle, 14 is narrow.
    {device}
    queue : Queue, optional
        A queue of the device, in place of `device`.

    Returns
    -------
    Array
        The window, with 1 in the middle.

    Raises
    ------
    TypeError
        `M` or `beta` is not a number.
    ValueError
        No such device exists.

    See Also
    --------
    bartlett, blackman, hamming, hanning, i0

    Examples
    --------
    >>> import pardo as pp
    >>> pp.round(pp.kaiser(5, 14), 4)
    array([0.    , 0.1649, 1.    , 0.1649, 0.    ])
    """
    m, line = _points(M, device, queue, "kaiser", beta)
    try:
        b = float(beta)
    except (TypeError, ValueError):
        raise TypeError(f"kaiser: beta must be a number, not {type(beta).__name__}") from None
    if m <= 1:
        return _core._full(list(line.shape), 1, line.dtype, line.queue)
    alpha = (m - 1) / 2.0
    n = cast(_core._arange(0, math.ceil(m), 1, np.int64, line.queue), line.dtype)
    off = _core.divide(_core.subtract(n, alpha), alpha)
    inside = _core.sqrt(_core.subtract(1, _core.multiply(off, off)))
    return _core.divide(i0(_core.multiply(inside, b)), float(np.i0(b)))


_A = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
_B = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


def _chebyshev(x: Array, factors: tuple[float, ...]) -> Array:
    b0: Any = factors[0]
    b1: Any = 0.0
    b2: Any = 0.0
    for factor in factors[1:]:
        b2, b1 = b1, b0
        b0 = _core.add(_core.subtract(_core.multiply(x, b1), b2), factor)
    return _core.multiply(_core.subtract(b0, b2), 0.5)


def i0(x: Any) -> Array:
    """Modified Bessel function of the first kind, order 0.

    Parameters
    ----------
    x : Array
        The elements, real.

    Returns
    -------
    Array
        Of the dtype of floats, float64 for integers and bools.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or complex.

    See Also
    --------
    kaiser, exp

    Notes
    -----
    Two expansions in Chebyshev polynomials, up to 8 and beyond (C. W. Clenshaw, "Chebyshev series for mathematical functions",
    National Physical Laboratory Mathematical Tables, vol. 5, 1962), with the coefficients of Cephes.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.i0(pp.asarray([0.0, 1.0, 2.0]))
    array([1.        , 1.26606588, 2.2795853 ])
    """
    x = array(x, "i0")
    if kind_of(x.dtype) == "c":
        raise TypeError("i0 not supported for complex values")
    x = _core.absolute(cast(x, x.dtype if kind_of(x.dtype) == "f" else default_on(x.queue, np.float64)))
    small = _chebyshev(_core.subtract(_core.multiply(x, 0.5), 2.0), _A)
    large = _core.divide(_chebyshev(_core.subtract(_core.divide(32.0, x), 2.0), _B), _core.sqrt(x))
    return _core.multiply(_core.exp(x), _core._where(_core.less_equal(x, 8.0), small, large))
