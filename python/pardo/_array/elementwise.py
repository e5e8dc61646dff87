# python/pardo/_array/elementwise.py: elementwise functions with keywords of their own, and NumPy's second names. Those that are one row of
# ops.def come ready from the core (elementwise.cpp).
from __future__ import annotations

import builtins
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.searching import beyond_range, nonzero_of
from pardo._base.arguments import SCALARS, array, array_like, default_on, home_among, index, mask, on_queue, queue_for, same_kind, store
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
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
    "around",
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


@filled
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
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """Clip (limit) the values in an array.

    Parameters
    ----------
    x : Array
        The elements.
    min, max : Array or number, optional
        The bounds of the range, broadcast against `x`; None for no limit.
    {out}
    a_min, a_max : optional
        NumPy's names of `min` and `max`.
    where : Array of bool or bool, optional
        The elements to compute. Others keep their value in `out`; without `out` they are not initialised.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The limited elements. NaN stays NaN; where `min` exceeds `max`, `max` wins.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number, `where` is not of bools, or a dtype is of another kind.
    OverflowError
        A Python integer would be the result, and the dtype cannot hold it: a `min` above its range or a `max` below it.
    ValueError
        A limit is given by both of its names, `casting` is something else, or shapes do not fit.
    """
    if type(x) is not Array or x.ndim == 0:
        given, every = x, (x, min, max, a_min, a_max, out, where)
        home = home_among(every)
        x = array(x, "clip") if home is None else array_like(x, home, "clip", own_dtype=True)
        x = _core._follow(x, queue_for("clip", None, None, *every), "clip")
        min, max = (x if limit is given and not isinstance(limit, SCALARS) else limit for limit in (min, max))
    if (min is not None and a_min is not None) or (max is not None and a_max is not None):
        raise ValueError("clip: min and a_min, or max and a_max, mean the same; only one of them may be given")
    if casting != "same_kind":
        raise ValueError("clip: casting must be 'same_kind'; cast explicitly with astype for others")
    if dtype is not None:
        x = x._astype(same_kind(x, dtype, "clip"), False)
    some = mask(where, x, "clip")
    # Where only some elements are computed, the core writes them into `out`; else the result is stored there.
    keywords: dict[str, Any] = {} if some is None else {"where": some} if out is None else {"where": some, "out": out}
    out = None if keywords else out
    low = _clip_limit(x, least := a_min if min is None else min, -1)
    most = a_max if max is None else max
    high = low if most is least and type(low) is Array else _clip_limit(x, most, 1)
    if dtype is not None:
        low, high = (e if e is None else array_like(e, x, "clip")._astype(dtype, False) for e in (low, high))
    if low is not None and high is not None:
        return store(_core._clip(x, low, high, **keywords), out, "clip")
    if (single := high if low is None else low) is not None and beyond_range(single, x.dtype):
        raise OverflowError(f"clip: Python integer {single} out of bounds for {x.dtype}")
    if low is not None:
        return store(maximum(x, low, **keywords), out, "clip")
    if high is not None:
        return store(minimum(x, high, **keywords), out, "clip")
    if x.dtype == np.bool_:  # which NumPy's `positive` does not take
        return store(_core.logical_or(x, x, **keywords), out, "clip")
    return store(_core.positive(x, **keywords), out, "clip")


def _clip_limit(x: Array, limit: Any, side: int) -> Any:
    """None for an integer that no element is beyond on this side, as NumPy has it; others are promoted with the elements, or do not fit."""
    if limit is not None and type(limit) is not Array and not isinstance(limit, SCALARS):
        return on_queue(limit, x.queue, "clip")
    return None if beyond_range(limit, x.dtype) == side else limit


@filled
def round(x: Any, /, decimals: int = 0, out: Array | None = None) -> Array:
    """Evenly round to the given number of decimals; halves go to the even neighbour.

    Parameters
    ----------
    x : Array
        The elements.
    decimals : int
        How many decimals are kept; negative ones round to tens, hundreds and so on.
    {out}

    Returns
    -------
    Array
        The rounded elements, in the dtype of `x`; NaN where ten to the power of `decimals` is beyond the range of floats.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, it is of bools and `decimals` is not 0, `decimals` is not an integer, or `out` is
        not an Array or of a dtype of another kind.
    ValueError
        The shape of `out` does not fit.
    """
    x = array(x, "round")
    n = index(decimals, "round: decimals")
    if n == 0:
        return _core._round(x) if out is None else _core._round(x, out)
    if x.dtype == np.bool_:
        raise TypeError("round: bools have no decimals; cast them with astype")
    if kind_of(x.dtype) in "iu" and n > 0:
        return store(x._copy(), out, "round")
    scale = 10.0 ** builtins.abs(n) if builtins.abs(n) <= 308 else float("inf")
    if kind_of(x.dtype) in "iu":  # NumPy's way: through float64, which is exact below 2**53
        return store(multiply(_core.rint(divide(x, scale)), scale)._astype(x.dtype), out, "round")
    if kind_of(x.dtype) == "c":  # each part by itself: a product of complex numbers would spread NaN and infinity
        result = x._copy()
        for part in (0, 1):
            _core._part(result, part)[...] = _rounded(_core._part(x, part), n, scale)
        return store(result, out, "round")
    return store(_rounded(x, n, scale), out, "round")


def _rounded(x: Array, n: int, scale: float) -> Array:
    """Floats to so many decimals."""
    rounded = _core.rint(multiply(x, scale) if n > 0 else divide(x, scale))
    return divide(rounded, scale) if n > 0 else multiply(rounded, scale)


around = round


@overload
def where(condition: Any, /) -> tuple[Array, ...]: ...
@overload
def where(condition: Any, x1: Any, x2: Any, /) -> Array: ...
def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Return elements chosen from `x1` or `x2` depending on `condition`.

    Parameters
    ----------
    condition : Array or number
        True where `x1` is taken; numbers count as true when they are not zero.
    x1, x2 : Array or number
        What is chosen from; broadcast against the condition.

    Returns
    -------
    Array, or tuple of Array
        The chosen elements; with the condition alone, the indices where it holds, as `nonzero` gives them.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number.
    ValueError
        The shapes cannot be broadcast, only one of `x1` and `x2` is given, or a condition alone has no dimensions.
    """
    if x1 is None and x2 is None:
        return nonzero_of(condition, "where")
    if x1 is None or x2 is None:
        raise ValueError("where: either both or neither of x1 and x2 must be given")
    if type(condition) is not Array:
        if not isinstance(condition, SCALARS):
            return _core._where(condition, x1, x2)
        model = home_among((x1, x2))
        condition = array(bool(condition), "where") if model is None else array_like(bool(condition), model, "where")._astype(np.bool_)
    return _core._where(condition, x1, x2)


@filled
def fix(x: Any, /, out: Array | None = None) -> Array:
    """Round to nearest integer towards zero: `trunc` by an older name.

    Parameters
    ----------
    x : Array
        The elements.
    {out}

    Returns
    -------
    Array
        The rounded elements.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or of complex numbers; or `out` is not an Array or of a dtype of another kind.
    ValueError
        The shape of `out` does not fit.
    """
    x = array(x, "fix")
    if kind_of(x.dtype) == "c":
        raise TypeError(f"fix: an array of {x.dtype} cannot be rounded towards zero")
    return store(_core.trunc(x), out, "fix")


@filled
def angle(z: Any, /, deg: bool = False) -> Array:
    """Return the angle of the complex argument.

    Parameters
    ----------
    z : Array
        The numbers; real ones lie at 0, or pi if they are negative.
    deg : bool
        Whether the result is in degrees; else in radians.

    Returns
    -------
    Array
        Angles from -pi to pi (or -180 to 180).

    Raises
    ------
    TypeError
        `z` is neither an Array nor a number.
    """
    z = array(z, "angle")
    if z.dtype == np.bool_:
        z = z._astype(default_on(z.queue, np.float64))
    a = arctan2(_core.imag(z), _core.real(z))
    return _core.rad2deg(a) if deg else a


degrees = _core.rad2deg
radians = _core.deg2rad
