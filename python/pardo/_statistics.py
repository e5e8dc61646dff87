# python/pardo/_statistics.py: functions that reduce axes to one value, and cumulative ones.
from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike
from pardo import _core
from pardo._arguments import Axis, array, array_like, axes, axis_index, index, mask, store
from pardo._core import Array

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]


def sum(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Add elements.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    initial : number, optional
        Where the sum starts.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        The sums. The same input gives the same bits on the same device, whatever the number of threads.
    """
    x = array(x, "sum")
    r = _core._reduce(_core._SUM, x, axes(axis, "sum"), bool(keepdims), dtype, mask(where, x, "sum"), initial)
    return r if out is None else store(r, out, "sum")


def prod(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Multiply elements.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    initial : number, optional
        Where the product starts.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        The products.
    """
    x = array(x, "prod")
    r = _core._reduce(_core._PROD, x, axes(axis, "prod"), bool(keepdims), dtype, mask(where, x, "prod"), initial)
    return r if out is None else store(r, out, "prod")


def max(
    x: Any,
    /,
    axis: Axis = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Return the largest elements; NaN wins.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    initial : number, optional
        Takes part as one more element; needed when there may be none.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`; needs `initial`.

    Returns
    -------
    Array
        The largest elements.

    Raises
    ------
    ValueError
        There are no elements, and no `initial`.
    """
    return _extremum(_core._MAX, "max", x, axis, out, keepdims, initial, where)


def min(
    x: Any,
    /,
    axis: Axis = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Return the smallest elements; NaN wins.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    initial : number, optional
        Takes part as one more element; needed when there may be none.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`; needs `initial`.

    Returns
    -------
    Array
        The smallest elements.

    Raises
    ------
    ValueError
        There are no elements, and no `initial`.
    """
    return _extremum(_core._MIN, "min", x, axis, out, keepdims, initial, where)


def _extremum(op: int, who: str, x: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any) -> Array:
    x = array(x, who)
    m = mask(where, x, who)
    if m is not None and initial is None:
        raise ValueError(f"{who}: the reduction has no identity, so to use where, initial has to be given")
    r = _core._reduce(op, x, axes(axis, who), bool(keepdims), None, m, initial)
    return r if out is None else store(r, out, who)


def all(x: Any, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False, *, where: Any = None) -> Array:
    """Tell whether all elements are true.

    Parameters
    ----------
    x : Array
        The elements; numbers count as true when they are not zero.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        Of bools; True where there are no elements.
    """
    x = array(x, "all")
    r = _core._reduce(_core._ALL, x, axes(axis, "all"), bool(keepdims), None, mask(where, x, "all"))
    return r if out is None else store(r, out, "all")


def any(x: Any, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False, *, where: Any = None) -> Array:
    """Tell whether at least one element is true.

    Parameters
    ----------
    x : Array
        The elements; numbers count as true when they are not zero.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        Of bools; False where there are no elements.
    """
    x = array(x, "any")
    r = _core._reduce(_core._ANY, x, axes(axis, "any"), bool(keepdims), None, mask(where, x, "any"))
    return r if out is None else store(r, out, "any")


def count_nonzero(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Count the elements that are not zero.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    keepdims : bool
        Whether reduced axes stay, with extent 1.

    Returns
    -------
    Array
        Of int64.
    """
    x = array(x, "count_nonzero")
    return _core._reduce(_core._COUNT_NONZERO, x, axes(axis, "count_nonzero"), bool(keepdims))


def mean(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """Return the arithmetic mean.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, float64 for integers.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        The means; NaN where there are no elements.
    """
    x = array(x, "mean")
    r = _core._mean(x, axes(axis, "mean"), bool(keepdims), dtype, mask(where, x, "mean"))
    return r if out is None else store(r, out, "mean")


def var(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    where: Any = None,
) -> Array:
    """Return the variance: the mean of the squared distances to the mean.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    dtype : data type, optional
        The dtype to compute in. Default: that of `x`, float64 for integers.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    ddof, correction : float
        What is subtracted from the number of elements in the divisor; 1 estimates the variance of what a sample was drawn
        from. Two names of the same; only one may be given.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        The variances, real.
    """
    c = _correction("var", ddof, correction)
    x = array(x, "var")
    r = _core._var(x, axes(axis, "var"), c, bool(keepdims), dtype, mask(where, x, "var"))
    return r if out is None else store(r, out, "var")


def std(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    where: Any = None,
) -> Array:
    """Return the standard deviation: the square root of the variance.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    dtype : data type, optional
        The dtype to compute in. Default: that of `x`, float64 for integers.
    out : Array, optional
        Where the result is stored; it must have the result's shape.
    ddof, correction : float
        What is subtracted from the number of elements in the divisor of the variance. Two names of the same; only one may
        be given.
    keepdims : bool
        Whether reduced axes stay, with extent 1.
    where : Array of bool, optional
        The elements that take part, broadcast to `x`.

    Returns
    -------
    Array
        The standard deviations, real.
    """
    c = _correction("std", ddof, correction)
    x = array(x, "std")
    r = _core._std(x, axes(axis, "std"), c, bool(keepdims), dtype, mask(where, x, "std"))
    return r if out is None else store(r, out, "std")


def _correction(who: str, ddof: float, correction: float | None) -> float:
    if correction is None:
        return float(ddof)
    if ddof != 0:
        raise ValueError(f"{who}: ddof and correction mean the same; only one of them may be given")
    return float(correction)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False) -> Array:
    """Return the sums of the elements so far.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis along which is added; may be left out for one-dimensional arrays.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    include_initial : bool
        Whether a zero is put in front.

    Returns
    -------
    Array
        Of the same shape, one longer along the axis with `include_initial`.
    """
    return _cumulative(_core._SUM, "cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False) -> Array:
    """Return the products of the elements so far.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis along which is multiplied; may be left out for one-dimensional arrays.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    include_initial : bool
        Whether a one is put in front.

    Returns
    -------
    Array
        Of the same shape, one longer along the axis with `include_initial`.
    """
    return _cumulative(_core._PROD, "cumulative_prod", x, axis, dtype, include_initial)


def _cumulative(op: int, who: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    x = array(x, who)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{who}: axis must be given for an array of {x.ndim} dimensions")
        axis = 0
    return _core._cumulative(op, x, axis_index(axis, x.ndim, who), dtype, bool(include_initial))


def cumsum(x: Any, /, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Return the sums of the elements so far; without an axis, of the flattened array.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis along which is added. Default: the array is flattened.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        Of the same shape, or flat.
    """
    return _cumulate(_core._SUM, "cumsum", x, axis, dtype, out)


def cumprod(x: Any, /, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Return the products of the elements so far; without an axis, of the flattened array.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int, optional
        The axis along which is multiplied. Default: the array is flattened.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        Of the same shape, or flat.
    """
    return _cumulate(_core._PROD, "cumprod", x, axis, dtype, out)


def _cumulate(op: int, who: str, x: Any, axis: int | None, dtype: Any, out: Array | None) -> Array:
    x = array(x, who)
    if axis is None:
        x, axis = _core._reshape(x, [-1]), 0
    return store(_core._cumulative(op, x, axis_index(axis, x.ndim, who), dtype, False), out, who)


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Return the differences of neighbours along an axis.

    Parameters
    ----------
    x : Array
        The elements.
    n : int
        How often differences are taken.
    axis : int
        The axis.
    prepend, append : Array or number, optional
        What is put in front of and behind `x` along the axis before.

    Returns
    -------
    Array
        Shorter by `n` along the axis. Of bools: True where neighbours differ.
    """
    x = array(x, "diff")
    times = index(n, "diff: n")
    if times < 0:
        raise ValueError(f"diff: n is {times}; it must not be negative")
    if x.ndim == 0:
        raise ValueError("diff: the array has no dimensions; at least one is needed")
    axis = axis_index(axis, x.ndim, "diff")
    ends = [None if e is None else _end(x, e, axis) for e in (prepend, append)]
    return _core._diff(x, times, axis, ends[0], ends[1])


def _end(x: Array, end: Any, axis: int) -> Array:
    """A number stands for one layer of it."""
    e = array_like(end, x, "diff")
    return e if e.ndim else _core._broadcast_to(e, [1 if d == axis else s for d, s in enumerate(x.shape)])


def ptp(x: Any, /, axis: Axis = None, out: Array | None = None, keepdims: bool = False) -> Array:
    """Return the distance of the largest and the smallest element.

    Parameters
    ----------
    x : Array
        The elements.
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    out : Array, optional
        Where the result is stored.
    keepdims : bool
        Whether reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The distances.
    """
    return store(max(x, axis, keepdims=keepdims) - min(x, axis, keepdims=keepdims), out, "ptp")


amax = max
amin = min
