# python/pardo/_functions/arithmetic.py: elementwise functions that are made of several operations, which fuse into one kernel.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.contexts import copying
from pardo._base import promotion
from pardo._base.arguments import array
from pardo._base.docstrings import filled
from pardo._base.promotion import is_narrow
from pardo._base.ufuncs import same_types, ufunc
from pardo._core import Array
from pardo._functions.operands import cast, elementwise, elementwise_pair, float_of

__all__ = [
    "bitwise_count",
    "divmod",
    "frexp",
    "ldexp",
    "modf",
    "sinc",
    "spacing",
]

_INTEGERS = "bBhHiIlL"
_QUOTIENTS = " ".join(f"{c}{c}->{c}{c}" for c in f"{_INTEGERS}efd")
_COUNTS = " ".join(f"{c}->B" for c in f"?{_INTEGERS}")


def _real_float(x: Array, op_name: str) -> Array:
    """The elements as floats; a TypeError for complex ones."""
    if x._kind == "c":
        raise TypeError(f"{op_name}: complex numbers are not supported")
    return cast(x, float_of(x))


@ufunc(2, 2, types=_QUOTIENTS)
@copying
@filled
def divmod(
    x1: Any, x2: Any, /, out: Any = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> tuple[Array, Array]:
    """Return element-wise quotient and remainder simultaneously: ``(x1 // x2, x1 % x2)``.

    Parameters
    ----------
    x1, x2 : Array or number
        The dividends and the divisors, broadcast against each other.
    {ufunc_pair_keywords}

    Returns
    -------
    tuple of Array
        The quotients, rounded down, and the remainders, which have the signs of the divisors.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    floor_divide, remainder, modf

    Examples
    --------
    >>> import pardo as pp
    >>> pp.divmod(pp.arange(5), 3)
    (array([0, 0, 0, 1, 1]), array([0, 1, 2, 0, 1]))
    """

    def compute(a: Array, b: Array) -> tuple[Array, Array]:
        return _core.floor_divide(a, b), _core.remainder(a, b)

    return elementwise_pair("divmod", compute, [x1, x2], out, where, casting)


@ufunc(1, 2, types="e->ee f->ff d->dd")
@copying
@filled
def modf(
    x: Any, /, out: Any = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> tuple[Array, Array]:
    """Return the fractional and integral parts of an array, element-wise.

    Parameters
    ----------
    x : Array
        The elements, not complex.
    {ufunc_pair_keywords}

    Returns
    -------
    tuple of Array
        The fractional and the integral parts, both with the sign of the element.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    divmod, trunc

    Examples
    --------
    >>> import pardo as pp
    >>> pp.modf(pp.asarray([0.0, 3.5, -0.5]))
    (array([ 0. ,  0.5, -0.5]), array([ 0.,  3., -0.]))
    """

    def compute(a: Array) -> tuple[Array, Array]:
        a = _real_float(a, "modf")
        whole = _core.trunc(a)
        rest = _core._where(_core.isinf(a), 0.0, _core.subtract(a, whole))
        return _core.copysign(rest, a), whole

    return elementwise_pair("modf", compute, [x], out, where, casting)


class _Format:
    """How the numbers of a float dtype are stored: fraction bits below the exponent's, and what the exponent of 1.0 is."""

    def __init__(self, dtype: Any) -> None:
        info = promotion.finfo(dtype)
        self.bits, self.fraction = np.dtype(f"i{info.dtype.itemsize}"), int(info.nmant)
        self.bias, self.exponents = int(info.maxexp) - 1, (1 << info.iexp) - 1
        self.least, self.up = float(info.smallest_normal), 2.0**self.fraction


_FORMATS = {name: _Format(name) for name in ("float32", "float64")}


def _parts(a: Array) -> tuple[Array, Array]:
    """Mantissas in [0.5, 1) with the signs of the elements, and exponents of int32; `a` is of float32 or float64.

    Read from the bits. Subnormal numbers are scaled up first, which is exact; zeros, infinities and NaN are their own mantissas.
    """
    f = _FORMATS[a.dtype.name]
    low = _core.less(_core.absolute(a), f.least)
    bits = _core._bitcast(_core._where(low, _core.multiply(a, f.up), a), f.bits)
    exponent = _core.bitwise_and(_core.right_shift(bits, f.fraction), f.exponents)
    special = _core.logical_or(_core.equal(exponent, 0), _core.equal(exponent, f.exponents))
    halved = _core.bitwise_or(_core.bitwise_and(bits, ~(f.exponents << f.fraction)), (f.bias - 1) << f.fraction)
    shift = _core._where(low, f.bias - 1 + f.fraction, f.bias - 1)
    exponent = cast(_core._where(special, 0, _core.subtract(exponent, shift)), np.int32)
    return _core._where(special, a, _core._bitcast(halved, a.dtype)), exponent


def _wide_enough(a: Array) -> Array:
    """float32 for float16, whose numbers it holds all as normal ones."""
    return cast(a, np.float32) if is_narrow(a.dtype) else a


@ufunc(1, 2, types="e->ei f->fi d->di")
@copying
@filled
def frexp(
    x: Any, /, out: Any = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> tuple[Array, Array]:
    """Decompose the elements of x into mantissa and twos exponent.

    Parameters
    ----------
    x : Array
        The elements, not complex.
    {ufunc_pair_keywords}

    Returns
    -------
    tuple of Array
        Mantissas, of magnitudes from 0.5 to below 1, and exponents, of int32: ``x = mantissa * 2**exponent``. Zeros, infinities and
        NaN are their own mantissas, with exponent 0.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    ldexp, spacing

    Examples
    --------
    >>> import pardo as pp
    >>> mantissa, exponent = pp.frexp(pp.asarray([1.0, 3.0, -8.0]))
    >>> mantissa, exponent
    (array([ 0.5 ,  0.75, -0.5 ]), array([1, 2, 4], dtype=int32))
    """

    def compute(a: Array) -> tuple[Array, Array]:
        a = _real_float(a, "frexp")
        mantissa, exponent = _parts(_wide_enough(a))
        return cast(mantissa, a.dtype), exponent

    return elementwise_pair("frexp", compute, [x], out, where, casting)


def _power_of_two(n: Array, f: _Format, dtype: Any) -> Array:
    """2**n, exactly, of the dtype of that format; `n` is within what it has as normal numbers, or one more, for infinity."""
    return _core._bitcast(_core.left_shift(cast(_core.add(n, f.bias), f.bits), f.fraction), dtype)


@ufunc(2, types="ei->e fi->f el->e fl->f di->d dl->d")
@copying
@filled
def ldexp(
    x1: Any, x2: Any, /, out: Array | None = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Return x1 * 2**x2, element-wise.

    Parameters
    ----------
    x1 : Array or number
        The mantissas, not complex.
    x2 : Array of int or int
        The exponents, broadcast against the mantissas.
    out : Array, optional
        Where the result is stored; of the result's shape, and of a dtype that it can be cast to within the same kind.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype of mantissas and results; mantissas are cast to it within the same kind.
    casting : str, optional
        How operands, and the result with `out`, may be cast.

    Returns
    -------
    Array
        Of the dtype of the mantissas, and of a floating dtype for integers; rounded once.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    frexp, exp2

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ldexp(5.0, pp.arange(4))
    array([ 5., 10., 20., 40.])
    """

    def compute(a: Array, n: Array) -> Array:
        if n._kind not in "bi" and n.dtype not in (np.uint8, np.uint16, np.uint32):
            raise TypeError(f"ldexp: exponents must be integers that int64 can hold, not {n.dtype}")
        a = _real_float(a, "ldexp")
        wide = _wide_enough(a)
        mantissa, exponent = _parts(wide)
        f, t = _FORMATS[wide.dtype.name], wide.dtype
        n = cast(_core.maximum(_core.minimum(cast(n, np.int64), 5000), -5000), np.int32) if n.dtype.itemsize > 2 else cast(n, np.int32)
        total = _core.subtract(_core.add(exponent, n), 1)  # of a mantissa from 1 to below 2
        normal = _core.maximum(_core.minimum(total, f.bias + 1), 1 - f.bias)  # the largest makes infinity
        rest = _core.maximum(_core.minimum(_core.subtract(total, normal), 0), -f.fraction - 8)
        whole = _core.multiply(_core.multiply(mantissa, 2.0), _power_of_two(normal, f, t))
        scaled = _core.multiply(whole, _power_of_two(rest, f, t))  # the one product that may round
        untouched = _core.logical_or(_core.equal(wide, 0), _core.logical_not(_core.isfinite(wide)))
        return cast(_core._where(untouched, wide, scaled), a.dtype)

    if type(x1) is not Array and type(x2) is Array:
        x1 = array(float(x1) if isinstance(x1, (int, bool)) else x1, "ldexp")._to_queue(x2.queue)
    if type(x2) is not Array and type(x1) is Array:
        x2 = array(x2, "ldexp")._to_queue(x1.queue)
    return elementwise("ldexp", compute, [x1, x2], out, where, casting)


@ufunc(1, types=same_types(1, "e f d"))
@copying
@filled
def spacing(x: Any, /, out: Array | None = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Return the distance between x and the nearest adjacent number.

    Parameters
    ----------
    x : Array
        The elements, not complex.
    {ufunc_keywords}

    Returns
    -------
    Array
        The distances to the next number away from zero, with the signs of the elements; NaN for infinities. Of float16 the distances
        to the next larger number, as in NumPy.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    nextafter, frexp

    Examples
    --------
    >>> import pardo as pp
    >>> pp.spacing(pp.asarray([1.0, 2.0])) == pp.finfo("float64").eps * pp.asarray([1, 2])
    array([ True,  True])
    """

    def compute(a: Array) -> Array:
        a = _real_float(a, "spacing")
        away = _core._where(_core.less(a, 0), -np.inf, np.inf) if a.dtype != np.float16 else _core._where(_core.isinf(a), a, np.inf)
        return _core.subtract(_core.nextafter(a, cast(away, a.dtype)), a)

    return elementwise("spacing", compute, [x], out, where, casting)


@ufunc(1, types=_COUNTS)
@copying
@filled
def bitwise_count(
    x: Any, /, out: Array | None = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Compute the number of 1-bits in the absolute value of x.

    Parameters
    ----------
    x : Array of int or int
        The elements.
    {ufunc_keywords}

    Returns
    -------
    Array
        Of uint8.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    bitwise_and, bitwise_or

    Notes
    -----
    Sums of neighbouring bits, then of pairs, of fours and so on (H. S. Warren, Hacker's Delight, section 5-1).

    Examples
    --------
    >>> import pardo as pp
    >>> pp.bitwise_count(pp.asarray([1023, -1023, 0]))
    array([10, 10,  0], dtype=uint8)
    """

    def compute(a: Array) -> Array:
        if a.dtype == np.bool_:
            return cast(a, np.uint8)
        if a._kind not in "iu":
            raise TypeError(f"bitwise_count: the elements must be integers, not {a.dtype}")
        bits = 8 * a.dtype.itemsize
        unsigned = np.dtype(f"u{a.dtype.itemsize}")
        c = cast(_core.absolute(a) if a._kind == "i" else a, unsigned)
        width = 1
        while width < bits:
            ones = sum(((1 << width) - 1) << shift for shift in range(0, bits, 2 * width))
            c = _core.add(_core.bitwise_and(c, ones), _core.bitwise_and(_core.right_shift(c, width), ones))
            width *= 2
        return cast(c, np.uint8)

    return elementwise("bitwise_count", compute, [x], out, where, casting)


def sinc(x: Any) -> Array:
    """Return the normalized sinc function: sin(pi x) / (pi x), and 1 at zero.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of the dtype of `x`, float64 for integers and bools.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number.

    See Also
    --------
    sin

    Examples
    --------
    >>> import pardo as pp
    >>> pp.round(pp.sinc(pp.asarray([0.0, 0.5, 1.5])), 4)
    array([ 1.    ,  0.6366, -0.2122])
    """
    y = _core.multiply(array(x, "sinc"), np.pi)
    tiny = float(promotion.finfo(y.dtype).eps) if y._kind == "f" else 1e-20
    y = _core._where(_core.not_equal(y, 0), y, tiny)
    return _core.divide(_core.sin(y), y)
