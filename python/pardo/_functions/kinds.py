# python/pardo/_functions/kinds.py: what an array is: its dimensions, real or complex; and numbers in place of NaN and infinities.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import array, copy_flag, same_kind
from pardo._base.orders import is_column_major
from pardo._core import Array
from pardo._core import all as all_of
from pardo._functions.operands import axes_of, cast, weak_operand

__all__ = [
    "iscomplex",
    "iscomplexobj",
    "isfortran",
    "isreal",
    "isrealobj",
    "nan_to_num",
    "ndim",
    "real_if_close",
    "shape",
    "size",
]


def ndim(a: Any) -> int:
    """Return the number of dimensions of an array.

    Parameters
    ----------
    a : Array
        Anything else is asked as `numpy.ndim` asks it.

    Returns
    -------
    int
        How many there are; 0 for numbers.

    See Also
    --------
    shape, size

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndim(pp.zeros((2, 3)))
    2
    """
    return a.ndim if type(a) is Array else np.ndim(a)


def shape(a: Any) -> tuple[int, ...]:
    """Return the shape of an array.

    Parameters
    ----------
    a : Array
        Anything else is asked as `numpy.shape` asks it.

    Returns
    -------
    tuple of int
        The extent of each dimension.

    See Also
    --------
    ndim, size

    Examples
    --------
    >>> import pardo as pp
    >>> pp.shape(pp.zeros((2, 3)))
    (2, 3)
    """
    return a.shape if type(a) is Array else np.shape(a)


def size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    """Return the number of elements along a given axis.

    Parameters
    ----------
    a : Array
        Anything else is asked as `numpy.size` asks it.
    axis : int or tuple of int, optional
        The axes whose elements are counted. Default: all.

    Returns
    -------
    int
        The number of elements, or the product of the extents of the axes.

    Raises
    ------
    AxisError
        The array has no such axis; a ValueError and an IndexError.
    TypeError
        An axis is not an integer.
    ValueError
        An axis is given twice.

    See Also
    --------
    ndim, shape

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.zeros((2, 3, 4))
    >>> pp.size(x), pp.size(x, 1), pp.size(x, (0, 2))
    (24, 3, 8)
    """
    extents = shape(a)
    return math.prod(extents[d] for d in axes_of(axis, len(extents), "size"))


def isreal(x: Any) -> Array:
    """Return a bool array, where True if input element is real.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of bools: whether the imaginary part is zero.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number.

    See Also
    --------
    iscomplex, isrealobj

    Examples
    --------
    >>> import pardo as pp
    >>> pp.isreal(pp.asarray([1 + 1j, 2.0]))
    array([False,  True])
    """
    return _core.equal(_core.imag(array(x, "isreal")), 0)


def iscomplex(x: Any) -> Array:
    """Return a bool array, where True if input element is complex.

    Parameters
    ----------
    x : Array
        The elements.

    Returns
    -------
    Array
        Of bools: whether the imaginary part is not zero.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number.

    See Also
    --------
    isreal, iscomplexobj

    Examples
    --------
    >>> import pardo as pp
    >>> pp.iscomplex(pp.asarray([1 + 1j, 2.0]))
    array([ True, False])
    """
    return _core.not_equal(_core.imag(array(x, "iscomplex")), 0)


def iscomplexobj(x: Any) -> bool:
    """Check for a complex type or an array of complex numbers.

    Parameters
    ----------
    x : object
        Anything that has a dtype, or that NumPy makes an array of.

    Returns
    -------
    bool
        Whether its dtype is complex, whatever its elements are.

    See Also
    --------
    isrealobj, iscomplex

    Examples
    --------
    >>> import pardo as pp
    >>> pp.iscomplexobj(pp.asarray([1.0, 2.0])), pp.iscomplexobj(1j)
    (False, True)
    """
    return x._kind == "c" if type(x) is Array else bool(np.iscomplexobj(x))


def isrealobj(x: Any) -> bool:
    """Return True if x is not a complex type and no array of complex numbers.

    Parameters
    ----------
    x : object
        Anything that has a dtype, or that NumPy makes an array of.

    Returns
    -------
    bool
        Whether its dtype is not complex, whatever its elements are.

    See Also
    --------
    iscomplexobj, isreal

    Examples
    --------
    >>> import pardo as pp
    >>> pp.isrealobj(pp.asarray([1.0, 2.0])), pp.isrealobj(1j)
    (True, False)
    """
    return not iscomplexobj(x)


def isfortran(a: Any) -> bool:
    """Check if the array lies column by column in memory, and not row by row.

    Parameters
    ----------
    a : Array
        The array.

    Returns
    -------
    bool
        Whether it lies so; what is recorded and not computed yet is computed first.

    Raises
    ------
    TypeError
        `a` is not an Array.

    See Also
    --------
    asfortranarray, require

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6).reshape(2, 3)
    >>> pp.isfortran(x), pp.isfortran(x.T)
    (False, True)
    """
    return is_column_major(array(a, "isfortran"))


def real_if_close(a: Any, tol: float = 100) -> Array:
    """If input is complex with all imaginary parts close to zero, return real parts.

    Parameters
    ----------
    a : Array
        The elements.
    tol : float
        How far from zero imaginary parts may be: in machine epsilons of the dtype if it is above 1, else as it is.

    Returns
    -------
    Array
        `a` itself, or a view of its real parts. Waits for complex numbers.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number.

    See Also
    --------
    isreal, real

    Examples
    --------
    >>> import pardo as pp
    >>> pp.real_if_close(pp.asarray([2.1 + 4e-14j, 5.2 + 3e-15j]), tol=1000)
    array([2.1, 5.2])
    """
    x = array(a, "real_if_close")
    if x._kind != "c":
        return x
    if tol > 1:
        tol = float(promotion.finfo(x.dtype).eps) * tol
    return _core._part(x, 0) if bool(all_of(_core.less(_core.absolute(_core.imag(x)), tol))) else x


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Replace NaN with zero and infinity with large finite numbers.

    Parameters
    ----------
    x : Array
        The elements.
    copy : bool
        Whether a new array is made; else `x` is written into.
    nan : number or Array
        What takes the place of NaN; arrays, also lists and NumPy's, are broadcast.
    posinf, neginf : number or Array, optional
        What takes the place of infinities. Default: the largest and the smallest finite number of the dtype.

    Returns
    -------
    Array
        Of the dtype of `x`, whose complex numbers have both parts replaced; integers and bools stay as they are.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or what takes a place is of another kind.
    ValueError
        A shape does not fit, or `x` is read-only and not to be copied.

    See Also
    --------
    isnan, isinf, isfinite

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nan_to_num(pp.asarray([1.0, pp.nan, pp.inf]), posinf=9.0)
    array([1., 0., 9.])
    """
    given, copy = array(x, "nan_to_num"), bool(copy_flag(copy, "nan_to_num"))
    if given._kind not in "fc":
        return given._copy() if copy else given
    limits = promotion.finfo(given.dtype)
    real: np.dtype[Any] = limits.dtype
    places = [nan, float(limits.max) if posinf is None else posinf, float(limits.min) if neginf is None else neginf]

    def replaced(part: Array) -> Array:
        tests = (_core.isnan(part), _core.isposinf(part), _core.isneginf(part))
        result: Array = part
        for test, value in zip(tests, places, strict=True):
            value = weak_operand(value, part, "nan_to_num")
            value = _core._broadcast_to(cast(value, same_kind(value, real, "nan_to_num")), part.shape)
            result = _core._where(test, value, result)
        return result

    result: Array
    if given._kind == "f":
        result = replaced(given)
    else:
        result = _core._empty(list(given.shape), given.dtype, given.queue)
        _core._part(result, 0)._assign(replaced(_core.real(given)))
        _core._part(result, 1)._assign(replaced(_core.imag(given)))
    if copy:
        return result
    given._assign(result)
    return given
