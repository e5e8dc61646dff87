# python/pardo/_elementwise.py: elementwise functions. Those that are one row of ops.def come ready from the core (elementwise.cpp); here
# are the few with keywords of their own, and NumPy's second names.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._arguments import array, array_like, index, mask, store
from pardo._core import (
    Array,
    absolute,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    conjugate,
    divide,
    invert,
    left_shift,
    maximum,
    minimum,
    multiply,
    power,
    remainder,
    right_shift,
)

__all__ = [
    "abs",
    "acos",
    "acosh",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_right_shift",
    "clip",
    "conj",
    "degrees",
    "fix",
    "mod",
    "pow",
    "radians",
    "round",
    "true_divide",
    "where",
]

abs = absolute
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_invert = bitwise_not = invert
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
conj = conjugate
mod = remainder
pow = power
true_divide = divide


def clip(
    x: Any,
    /,
    min: Any = None,
    max: Any = None,
    out: Array | None = None,
    *,
    a_min: Any = None,
    a_max: Any = None,
    where: Any = True,
) -> Array:
    """Limit the elements to a range.

    Parameters
    ----------
    x : Array
        The elements.
    min, max : Array or number, optional
        The ends of the range, broadcast against `x`; None for no limit.
    out : Array, optional
        Where the result is stored.
    a_min, a_max : optional
        NumPy's names of `min` and `max`.
    where : Array of bool or bool, optional
        The elements to compute.

    Returns
    -------
    Array
        The limited elements. NaN stays NaN; where `min` exceeds `max`, `max` wins.
    """
    x = array(x, "clip")
    low = a_min if min is None else min
    high = a_max if max is None else max
    keywords: dict[str, Any] = {} if mask(where, x, "clip") is None else {"where": where}
    if out is not None:
        keywords["out"] = out
    low, high = (_clip_limit(x, limit) for limit in (low, high))
    if low is not None and high is not None:
        return _core._clip(x, low, high, **keywords)
    if low is not None:
        return maximum(x, low, **keywords)
    if high is not None:
        return minimum(x, high, **keywords)
    return _core.positive(x, **keywords) if x.dtype != np.bool_ else store(x._copy(), out, "clip")


def _clip_limit(x: Array, limit: Any) -> Any:
    """Integers beyond the dtype's range limit nothing on their side."""
    if type(limit) is int and x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        if not info.min <= limit <= info.max:
            return int(np.clip(limit, int(info.min), int(info.max)))
    return limit


def round(x: Any, /, decimals: int = 0, out: Array | None = None) -> Array:
    """Round to a number of decimals; halves go to the even neighbour.

    Parameters
    ----------
    x : Array
        The elements.
    decimals : int
        How many decimals are kept; negative ones round to tens, hundreds and so on.
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        The rounded elements, in the dtype of `x`.
    """
    x = array(x, "round")
    n = index(decimals, "round: decimals")
    if n == 0:
        return _core._round(x) if out is None else _core._round(x, out)
    if x.dtype.kind in "biu" and n > 0:
        return store(x._copy(), out, "round")
    if x.dtype.kind in "biu":
        return store(_round_integers(x, 10**-n), out, "round")
    scale = 10.0 ** (n if n > 0 else -n)
    scaled = multiply(x, scale) if n > 0 else divide(x, scale)
    rounded = _core.rint(scaled)
    return store(divide(rounded, scale) if n > 0 else multiply(rounded, scale), out, "round")


def _round_integers(x: Array, unit: int) -> Array:
    """NumPy's way: through float64, which is exact below 2**53."""
    result: Array = multiply(_core.rint(divide(x, float(unit))), float(unit))
    return result._astype(x.dtype)


def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Choose elements from two arrays by a condition.

    Parameters
    ----------
    condition : Array
        True where `x1` is taken; numbers count as true when they are not zero.
    x1, x2 : Array or number
        What is chosen from; broadcast against the condition.

    Returns
    -------
    Array, or tuple of Array
        The chosen elements; with the condition alone, the indices where it holds, as `nonzero` gives them.
    """
    if x1 is None and x2 is None:
        from pardo._searching import nonzero

        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("where: either both or neither of x1 and x2 must be given")
    model = next((x for x in (x1, x2, condition) if type(x) is Array), None)
    if model is not None and type(condition) is not Array:
        condition = array_like(bool(condition), model, "where")._astype(np.bool_)
    return _core._where(condition, x1, x2)


def fix(x: Any, /, out: Array | None = None) -> Array:
    """Round towards zero: `trunc` by an older name.

    Parameters
    ----------
    x : Array
        The elements.
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        The rounded elements.
    """
    return _core.trunc(x, out)


def angle(z: Any, /, deg: bool = False) -> Array:
    """Return the angle of complex numbers.

    Parameters
    ----------
    z : Array
        The numbers.
    deg : bool
        Whether the result is in degrees; else in radians.

    Returns
    -------
    Array
        Angles from -pi to pi (or -180 to 180).
    """
    z = array(z, "angle")
    a = arctan2(_core.imag(z), _core.real(z))
    return _core.rad2deg(a) if deg else a


degrees = _core.rad2deg
radians = _core.deg2rad
