# python/pardo/_analysis/log_sums.py: sums of exponentials without overflow: logsumexp, softmax, log_softmax.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import copying
from pardo._base import promotion
from pardo._base.arguments import Axis, array, flag, keeps_dimensions
from pardo._base.docstrings import filled
from pardo._base.promotion import is_narrow, kind_of
from pardo._core import Array
from pardo._functions.operands import axes_of, cast, double_of, operand

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _floats(x: Any, op_name: str) -> Array:
    given = array(x, op_name)
    return given if given._kind == "c" else cast(given, double_of(given))


def _wide(x: Array) -> Array:
    """float16 is computed in float32: its exponentials overflow, and so do their sums."""
    return cast(x, np.float32) if is_narrow(x.dtype) else x


def _finite_largest(x: Array, places: list[int]) -> Array:
    """The largest elements along axes, kept with extent 1; 0 where that is not finite, or where there are none."""
    if 0 in (x.shape[k] for k in places):
        kept = [1 if k in places else extent for k, extent in enumerate(x.shape)]
        return _core._full(kept, 0, x.dtype, x.queue)
    largest = _core._reduce(_core._MAX, x, places, True)
    return _core._where(_core.isfinite(largest), largest, 0)


@copying
@filled
def logsumexp(a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Array | tuple[Array, Array]:
    """Compute the log of the sum of exponentials of input elements.

    Parameters
    ----------
    a : Array
        Of any dtype.
    {axis}
    b : Array, optional
        Factors of the exponentials, broadcast against `a`; may be negative or zero.
    {keepdims}
    return_sign : bool
        Whether the sign of the sum is returned too, and the logarithm is that of its absolute value.

    Returns
    -------
    Array, or tuple of Array
        ``log(sum(b * exp(a)))``, of the dtype of `a` and `b` if that is floating or complex, else of float64; NaN where a real sum is
        negative and no sign is asked for, ``-inf`` where it is zero or has no terms. The imaginary part is between -pi and pi. With
        `return_sign` also the signs, -1, 0 or 1; of complex sums these are numbers of modulus 1, and the logarithm is real.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `a` is neither an Array nor a number, or an axis is not an integer.
    ValueError
        An axis is given twice, or the shapes of `a` and `b` do not fit.

    See Also
    --------
    softmax, log_softmax, logaddexp

    Notes
    -----
    The largest element, of complex numbers the largest real part, is subtracted from all before the exponentials, and added to the
    logarithm: two passes over the data, each one kernel. The error is a few units in the last place of the largest of the result, the
    largest element and 1.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.logsumexp(pp.asarray([1000.0, 1000.0]))
    array(1000.69314718)
    >>> pp.special.logsumexp(pp.asarray([[0.0, 1.0], [2.0, 3.0]]), axis=1, b=[1.0, 2.0])
    array([1.8619948, 3.8619948])
    """
    x = _floats(a, "logsumexp")
    signed = flag(return_sign, "logsumexp: return_sign")
    keeps = keeps_dimensions(keepdims, "logsumexp")
    factor = None
    if b is not None:
        factor = operand(b, x, "logsumexp")
        common = promotion.result_type(x.dtype, factor.dtype)
        x, factor = _core._broadcast_arrays([cast(x, common), cast(factor, common)], "logsumexp")
        factor = _wide(factor)
    result = x.dtype
    real = np.dtype(f"f{result.itemsize // 2}") if kind_of(result) == "c" else result
    x = _wide(x)
    places = axes_of(axis, x.ndim, "logsumexp")
    counted = x if factor is None else _core._where(_core.equal(factor, 0), -math.inf, x)
    largest = _finite_largest(_core.real(counted), places)
    terms = _core.exp(_core.subtract(counted, largest))
    if factor is not None:
        terms = _core._where(_core.equal(factor, 0), 0, _core.multiply(factor, terms))
    total = _core._reduce(_core._SUM, terms, places, True)
    sign = _core.sign(total)
    logarithm = _core.add(_core.log(_core.absolute(total) if signed else total), largest)
    if not keeps:
        logarithm, sign = (_core._squeeze(y, places) for y in (logarithm, sign))
    return (cast(logarithm, real), cast(sign, result)) if signed else cast(logarithm, result)


@copying
@filled
def softmax(x: Any, axis: Axis = None) -> Array:
    """Compute the softmax function.

    Parameters
    ----------
    x : Array
        Of any dtype.
    axis : int or tuple of int, optional
        The axes along which the results add up to 1. Default: all.

    Returns
    -------
    Array
        ``exp(x) / sum(exp(x))``, of the shape of `x`, of its dtype if that is floating or complex, else of float64.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or an axis is not an integer.
    ValueError
        An axis is given twice.

    See Also
    --------
    log_softmax, logsumexp

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.softmax(pp.asarray([[1.0, 2.0], [1000.0, 1000.0]]), axis=1)
    array([[0.26894142, 0.73105858],
           [0.5       , 0.5       ]])
    """
    given = _floats(x, "softmax")
    places = axes_of(axis, given.ndim, "softmax")
    if given.size == 0:
        return given._copy()
    wide = _wide(given)
    terms = _core.exp(_core.subtract(wide, _core._reduce(_core._MAX, wide, places, True)))
    return cast(_core.divide(terms, _core._reduce(_core._SUM, terms, places, True)), given.dtype)


@copying
@filled
def log_softmax(x: Any, axis: Axis = None) -> Array:
    """Compute the logarithm of the softmax function.

    Parameters
    ----------
    x : Array
        Of any dtype.
    axis : int or tuple of int, optional
        The axes along which the exponentials of the results add up to 1. Default: all.

    Returns
    -------
    Array
        ``log(softmax(x))``, of the shape of `x`, of its dtype if that is floating or complex, else of float64; finite where softmax is
        zero in floats.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `x` is neither an Array nor a number, or an axis is not an integer.
    ValueError
        An axis is given twice.

    See Also
    --------
    softmax, logsumexp

    Examples
    --------
    >>> import pardo as pp
    >>> pp.special.log_softmax(pp.asarray([0.0, 1.0, 1000.0]))
    array([-1000.,  -999.,     0.])
    """
    given = _floats(x, "log_softmax")
    places = axes_of(axis, given.ndim, "log_softmax")
    if given.size == 0:
        return given._copy()
    wide = _wide(given)
    rest = _core.subtract(wide, _finite_largest(wide, places))
    total = _core._reduce(_core._SUM, _core.exp(rest), places, True)
    return cast(_core.subtract(rest, _core.log(total)), given.dtype)
