# python/pardo/_analysis/nan_functions.py: reductions and running sums that leave NaN out.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array import reductions
from pardo._base.arguments import Axis, array, axes, default_on, keeps_dimensions, loop_dtype, mask, optional_dtype, store, store_reduced
from pardo._base.docstrings import filled
from pardo._base.promotion import is_number_of_bfloat16, kind_of
from pardo._core import Array
from pardo._functions.operands import cast

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _without(x: Array, value: float) -> Array:
    """The elements with another value in place of NaN."""
    return _core._where(_core.isnan(x), value, x) if x._kind in "fc" else x


@filled
def nansum(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Return the sum of array elements over a given axis treating Not a Numbers (NaNs) as zero.

    Parameters
    ----------
    {a}
    {axes}
    dtype : data type, optional
        The dtype of the result, as for `sum`.
    {out_cast}
    {keepdims}
    initial : number, optional
        Where the sum starts.
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.

    Returns
    -------
    Array
        The sums.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `sum`.

    See Also
    --------
    sum, nanmean, nanprod

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nansum(pp.asarray([[1.0, 2.0], [3.0, pp.nan]]), axis=0)
    array([4., 2.])
    """
    return _core.sum(_without(array(a, "nansum"), 0), axis, dtype, out, keepdims, initial, where)


@filled
def nanprod(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Return the product of array elements over a given axis treating Not a Numbers (NaNs) as ones.

    Parameters
    ----------
    {a}
    {axes}
    dtype : data type, optional
        The dtype of the result, as for `prod`.
    {out_cast}
    {keepdims}
    initial : number, optional
        Where the product starts.
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.

    Returns
    -------
    Array
        The products.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `prod`.

    See Also
    --------
    prod, nansum

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanprod(pp.asarray([[1.0, 2.0], [3.0, pp.nan]]), axis=0)
    array([3., 2.])
    """
    return _core.prod(_without(array(a, "nanprod"), 1), axis, dtype, out, keepdims, initial, where)


def _extreme(
    op_name: str, of: Callable[..., Array], worst: float, a: Any, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    x = array(a, op_name)
    if x._kind not in "fc":
        return of(x, axis, out, keepdims, initial, where)
    if is_number_of_bfloat16(initial):
        initial = initial.item()
    no_number = isinstance(initial, (float, complex, np.inexact)) and initial != initial  # is left out like the others
    result = of(_without(x, worst), axis, None, keepdims, worst if no_number else initial, where)
    if initial is None or no_number:
        missing = _core.all(_core.isnan(x), axis, None, keepdims, where=where)
        result = _core._where(missing, float("nan"), result)
    return store_reduced(result, out, op_name)


@filled
def nanmax(a: Any, axis: Axis = None, out: Array | None = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Array:
    """Return the maximum of an array or maximum along an axis, ignoring any NaNs.

    Parameters
    ----------
    {a}
    {axes}
    {out_cast}
    {keepdims}
    initial : number, optional
        Takes part as one more element; needed with `where`, and when there may be no elements.
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.

    Returns
    -------
    Array
        The largest elements; NaN where all are. No warning is given, because nothing waits for the elements.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `max`.

    See Also
    --------
    max, fmax, nanmin, nanargmax

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanmax(pp.asarray([[1.0, 2.0], [3.0, pp.nan]]), axis=0)
    array([3., 2.])
    """
    return _extreme("nanmax", _core.max, float("-inf"), a, axis, out, keepdims, initial, where)


@filled
def nanmin(a: Any, axis: Axis = None, out: Array | None = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Array:
    """Return the minimum of an array or minimum along an axis, ignoring any NaNs.

    Parameters
    ----------
    {a}
    {axes}
    {out_cast}
    {keepdims}
    initial : number, optional
        Takes part as one more element; needed with `where`, and when there may be no elements.
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.

    Returns
    -------
    Array
        The smallest elements; NaN where all are. No warning is given, because nothing waits for the elements.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `min`.

    See Also
    --------
    min, fmin, nanmax, nanargmin

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanmin(pp.asarray([[1.0, 2.0], [3.0, pp.nan]]), axis=0)
    array([1., 2.])
    """
    return _extreme("nanmin", _core.min, float("inf"), a, axis, out, keepdims, initial, where)


def _place(op_name: str, of: Callable[..., Array], worst: float, a: Any, axis: Any, out: Any, keepdims: bool) -> Array:
    x = array(a, op_name)
    if x._kind in "fc" and x.size and bool(_core.any(_core.all(_core.isnan(x), axis))):
        raise ValueError(f"{op_name}: all-NaN slice encountered")
    return of(_without(x, worst), axis, out, keepdims=keeps_dimensions(keepdims, op_name))


@filled
def nanargmax(a: Any, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Array:
    """Return the indices of the maximum values in the specified axis ignoring NaNs.

    Parameters
    ----------
    {a}
    axis : int, optional
        The axis. Default: the index into the flattened array.
    {out}
    {keepdims}

    Returns
    -------
    Array
        Of int64. Waits for floating elements.

    Raises
    ------
    ValueError
        All elements of a slice are NaN; or as `argmax`.
    TypeError, AxisError
        As `argmax`.

    See Also
    --------
    argmax, nanargmin, nanmax

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanargmax(pp.asarray([[pp.nan, 4.0], [2.0, 3.0]]), axis=1)
    array([1, 1])
    """
    return _place("nanargmax", _core.argmax, float("-inf"), a, axis, out, keepdims)


@filled
def nanargmin(a: Any, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Array:
    """Return the indices of the minimum values in the specified axis ignoring NaNs.

    Parameters
    ----------
    {a}
    axis : int, optional
        The axis. Default: the index into the flattened array.
    {out}
    {keepdims}

    Returns
    -------
    Array
        Of int64. Waits for floating elements.

    Raises
    ------
    ValueError
        All elements of a slice are NaN; or as `argmin`.
    TypeError, AxisError
        As `argmin`.

    See Also
    --------
    argmin, nanargmax, nanmin

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanargmin(pp.asarray([[pp.nan, 4.0], [2.0, 3.0]]), axis=1)
    array([1, 0])
    """
    return _place("nanargmin", _core.argmin, float("inf"), a, axis, out, keepdims)


@filled
def nancumsum(a: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Return the cumulative sum of array elements over a given axis treating Not a Numbers (NaNs) as zero.

    Parameters
    ----------
    {a}
    {flat_axis}
    dtype : data type, optional
        The dtype of the result, as for `cumsum`.
    {out_cast}

    Returns
    -------
    Array
        The running sums.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `cumsum`.

    See Also
    --------
    cumsum, nansum, nancumprod

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nancumsum(pp.asarray([1.0, pp.nan, 2.0]))
    array([1., 1., 3.])
    """
    return _core.cumsum(_without(array(a, "nancumsum"), 0), axis, dtype, out)


@filled
def nancumprod(a: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Return the cumulative product of array elements over a given axis treating Not a Numbers (NaNs) as one.

    Parameters
    ----------
    {a}
    {flat_axis}
    dtype : data type, optional
        The dtype of the result, as for `cumprod`.
    {out_cast}

    Returns
    -------
    Array
        The running products.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `cumprod`.

    See Also
    --------
    cumprod, nanprod, nancumsum

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nancumprod(pp.asarray([1.0, pp.nan, 2.0]))
    array([1., 1., 2.])
    """
    return _core.cumprod(_without(array(a, "nancumprod"), 1), axis, dtype, out)


def _inexact(x: Array, dtype: Any, out: Any, op_name: str) -> np.dtype[Any] | None:
    wanted = optional_dtype(dtype, op_name)
    if wanted is not None and kind_of(wanted) not in "fc":
        raise TypeError(f"{op_name}: if a is inexact, then dtype must be inexact")
    if type(out) is Array and out._kind not in "fc":
        raise TypeError(f"{op_name}: if a is inexact, then out must be inexact")
    return wanted


def _counted(x: Array, places: Any, keepdims: bool, m: Array | None) -> Array:
    """How many take part and are not NaN, as floats."""
    some = _core.logical_not(_core.isnan(x))
    if m is not None:
        some = _core.logical_and(some, m)
    return cast(_core._reduce(_core._COUNT_NONZERO, some, places, keepdims), default_on(x.queue, np.float64))


def _quotient(total: Array, count: Array) -> Array:
    return cast(_core.divide(total, count), total.dtype)


@filled
def nanmean(
    a: Any, axis: Axis = None, dtype: DTypeLike | None = None, out: Array | None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Compute the arithmetic mean along the specified axis, ignoring NaNs.

    Parameters
    ----------
    {a}
    {axis}
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `a`, float64 for integers.
    {out}
    {keepdims}
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.

    Returns
    -------
    Array
        The means; NaN where there are no elements but NaN. No warning is given, because nothing waits for the elements.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `mean`; a TypeError also for a dtype of integers.

    See Also
    --------
    mean, nanvar, nanmedian

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanmean(pp.asarray([[1.0, pp.nan], [3.0, 4.0]]), axis=0)
    array([2., 4.])
    """
    x = array(a, "nanmean")
    if x._kind not in "fc":
        return reductions.mean(x, axis, dtype, out, keepdims, where=where)
    wanted = _inexact(x, dtype, out, "nanmean") or loop_dtype(x, None, out, "nanmean")
    places, m = axes(axis, "nanmean"), mask(where, x, "nanmean")
    total = _core._reduce(_core._SUM, _without(x, 0), places, keeps_dimensions(keepdims, "nanmean"), wanted, m)
    return store_reduced(_quotient(total, _counted(x, places, bool(keepdims), m)), out, "nanmean")


def _variance(
    op_name: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool, where: Any, center: Any, correction: Any
) -> Array:
    x = array(a, op_name)
    ddof = reductions.correction_of(op_name, ddof, correction)
    if x._kind not in "fc":
        of = reductions.var if op_name == "nanvar" else reductions.std
        return of(x, axis, dtype, out, ddof, keepdims, where=where, mean=center)
    wanted = _inexact(x, dtype, out, op_name)
    places, m = axes(axis, op_name), mask(where, x, op_name)
    values = _without(x, 0)
    count = _counted(x, places, True, m)
    if center is None:
        center = _quotient(_core._reduce(_core._SUM, values, places, True, wanted, m), count)
    off = cast(_core.subtract(values, center), x.dtype)
    off = _core._where(_core.isnan(x), 0, off)
    if x._kind == "c":
        real, imaginary = _core.real(off), _core.imag(off)
        squares = _core.add(_core.multiply(real, real), _core.multiply(imaginary, imaginary))
        wanted = {None: None, "c8": np.dtype("f4"), "c16": np.dtype("f8")}.get(None if wanted is None else wanted.str[1:], wanted)
    else:
        squares = _core.multiply(off, off)
    total = _core._reduce(_core._SUM, squares, places, keeps_dimensions(keepdims, op_name), wanted, m)
    freedom = _core.subtract(_core._reshape(count, list(total.shape)), float(ddof))
    result = _core._where(_core.less_equal(freedom, 0), float("nan"), _quotient(total, freedom))
    return store(result if op_name == "nanvar" else _core.sqrt(result), out, op_name)


@filled
def nanvar(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Compute the variance along the specified axis, while ignoring NaNs.

    Parameters
    ----------
    {a}
    {axis}
    dtype : data type, optional
        The dtype to compute in. Default: that of `a`, float64 for integers.
    {out}
    ddof, correction : float
        What is subtracted from the number of elements in the divisor. Two names of the same; only one may be given.
    {keepdims}
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.
    mean : Array or number, optional
        The means, if they are known already.

    Returns
    -------
    Array
        The variances, real; NaN where the divisor is not positive. No warning is given, because nothing waits for the elements.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `var`; a TypeError also for a dtype of integers.

    See Also
    --------
    var, nanstd, nanmean

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanvar(pp.asarray([[1.0, pp.nan], [3.0, 4.0]]), axis=0)
    array([1., 0.])
    """
    return _variance("nanvar", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@filled
def nanstd(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Compute the standard deviation along the specified axis, while ignoring NaNs.

    Parameters
    ----------
    {a}
    {axis}
    dtype : data type, optional
        The dtype to compute in. Default: that of `a`, float64 for integers.
    {out}
    ddof, correction : float
        What is subtracted from the number of elements in the divisor. Two names of the same; only one may be given.
    {keepdims}
    where : Array of bool, optional
        The elements that take part, broadcast to `a`.
    mean : Array or number, optional
        The means, if they are known already.

    Returns
    -------
    Array
        The standard deviations, real; NaN where the divisor is not positive. No warning is given, because nothing waits for the elements.

    Raises
    ------
    TypeError, ValueError, AxisError
        As `std`; a TypeError also for a dtype of integers.

    See Also
    --------
    std, nanvar, nanmean

    Examples
    --------
    >>> import pardo as pp
    >>> pp.nanstd(pp.asarray([[1.0, pp.nan], [3.0, 4.0]]), axis=0)
    array([1., 0.])
    """
    return _variance("nanstd", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
