# python/pardo/_analysis/averages.py: weighted averages, covariances and correlations.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._analysis.quantiles import fitting_weights
from pardo._array.products import dot
from pardo._array.reductions import mean
from pardo._base import promotion
from pardo._base.arguments import Axis, array, default_on, optional_dtype, warn
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._core import any as any_of
from pardo._functions.operands import axes_of, cast, operand

__all__ = [
    "average",
    "corrcoef",
    "cov",
]


@filled
def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Compute the weighted average along the specified axis.

    Parameters
    ----------
    {a}
    axis : int or tuple of int, optional
        The axes that are reduced. Default: all.
    weights : Array, optional
        How much each element counts; of the shape of `a`, or of the extents of the reduced axes. Default: all alike. Lists and NumPy
        arrays are taken too.
    returned : bool
        Whether the sums of the weights are returned too.
    {keepdims}

    Returns
    -------
    Array, or tuple of Array
        The averages; with `returned` also the sums of the weights, of the same shape.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `a` is neither an Array nor a number, an axis is not an integer, or weights of another shape come without an axis.
    ValueError
        The shape of the weights does not fit, or an axis is given twice.
    ZeroDivisionError
        Weights sum to zero. Waits for them.

    See Also
    --------
    mean, cov

    Examples
    --------
    >>> import pardo as pp
    >>> pp.average(pp.asarray([1.0, 2.0, 3.0]), weights=[3, 1, 0])
    array(1.25)
    """
    x = array(a, "average")
    places = None if axis is None else axes_of(axis, x.ndim, "average")
    if weights is None:
        result = mean(x, None if places is None else tuple(places), keepdims=keepdims)
        if not returned:
            return result
        return result, _core._full(list(result.shape), result.dtype.type(x.size / max(result.size, 1)), result.dtype, x.queue)
    w = fitting_weights(operand(weights, x, "average"), x, axis, "average")
    common = promotion.result_type(x.dtype, w.dtype, *(["f8"] if x._kind in "biu" else []))
    common = default_on(x.queue, common)
    total = _core._reduce(_core._SUM, w, places, keepdims, common)
    if bool(any_of(_core.equal(total, 0))):
        raise ZeroDivisionError("average: weights sum to zero, can't be normalized")
    products = _core.multiply(cast(x, common), cast(w, common))
    result = _core.divide(_core._reduce(_core._SUM, products, places, keepdims), total)
    if not returned:
        return result
    return result, (total if total.shape == result.shape else _core._broadcast_to(total, list(result.shape))._copy())


def _observations(m: Any, like: Array, what: str, op_name: str) -> Array:
    x = operand(m, like, op_name)
    if x.ndim > 2:
        raise ValueError(f"{op_name}: {what} has more than 2 dimensions")
    return x


def _weights(w: Any, what: str, like: Array, count: int, op_name: str) -> Array:
    x = cast(operand(w, like, op_name), default_on(like.queue, np.float64))
    if what == "fweights" and bool(any_of(_core.not_equal(x, _core.rint(x)))):
        raise TypeError(f"{op_name}: fweights must be integer")
    if x.ndim > 1:
        raise RuntimeError(f"{op_name}: cannot handle multidimensional {what}")
    if x.shape[0] != count:
        raise RuntimeError(f"{op_name}: incompatible numbers of samples and {what}")
    if bool(any_of(_core.less(x, 0))):
        raise ValueError(f"{op_name}: {what} cannot be negative")
    return x


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Estimate a covariance matrix, given data and weights.

    Parameters
    ----------
    m : Array
        Variables in rows, observations in columns; of one dimension for one variable.
    y : Array, optional
        More variables, of as many observations. Lists and NumPy arrays are taken too.
    rowvar : bool
        Whether variables are in rows; else in columns.
    bias : bool
        Whether the divisor is the number of observations; else it is one less.
    ddof : int, optional
        What is subtracted from the number of observations in the divisor, in place of `bias`.
    fweights : Array of int, optional
        How often each observation counts. Waits for them.
    aweights : Array, optional
        How much each observation counts. Waits for them.
    dtype : data type, optional
        Default: what the variables and float64 promote to.

    Returns
    -------
    Array
        The covariances of each pair of variables; without dimensions for one.

    Raises
    ------
    RuntimeError
        Weights have more than one dimension, or there are not as many as observations.
    TypeError
        `m` is neither an Array nor a number, or `fweights` are not integers.
    ValueError
        There are more than two dimensions, weights are negative, or `ddof` is not an integer.

    See Also
    --------
    corrcoef, var, average

    Examples
    --------
    >>> import pardo as pp
    >>> pp.cov(pp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _covariance("cov", m, y, rowvar, bias, ddof, fweights, aweights, dtype)


def _covariance(op_name: str, m: Any, y: Any, rowvar: bool, bias: bool, ddof: Any, fweights: Any, aweights: Any, dtype: Any) -> Array:
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"{op_name}: ddof must be integer")
    first = array(m, op_name)
    rows = _observations(first, first, "m", op_name)
    more = None if y is None else _observations(y, first, "y", op_name)
    common = optional_dtype(dtype, op_name) or default_on(
        first.queue, promotion.result_type(rows.dtype, np.float64, *([] if more is None else [more.dtype]))
    )

    def two(x: Array) -> Array:
        return cast(_core._reshape(x, [1] * (2 - x.ndim) + list(x.shape)), common)

    x = two(rows)
    if not rowvar and rows.ndim != 1:
        x = _core._permute_dims(x, [1, 0])
    if x.shape[0] == 0:
        return _core._empty([0, 0], default_on(first.queue, np.float64), first.queue)
    if more is not None:
        other = two(more)
        if not rowvar and other.shape[0] != 1:
            other = _core._permute_dims(other, [1, 0])
        x = _core._concat([x, other], 0)
    if ddof is None:
        ddof = 0 if bias else 1
    n = x.shape[1]
    w: Array | None = None
    if fweights is not None:
        w = _weights(fweights, "fweights", first, n, op_name)
    if aweights is not None:
        aweights = _weights(aweights, "aweights", first, n, op_name)
        w = aweights if w is None else _core.multiply(w, aweights)
    center, total = average(x, 1, None if w is None else w, True)
    if w is None:
        divisor: float = n - ddof
    else:
        whole = float(total[0].real) if kind_of(total.dtype) != "c" else total[0].item().real
        if ddof == 0:
            divisor = whole
        elif aweights is None:
            divisor = whole - ddof
        else:
            divisor = whole - ddof * float(_core._reduce(_core._SUM, _core.multiply(w, aweights), None, False)) / whole
    if divisor <= 0:
        warn(f"{op_name}: degrees of freedom <= 0 for slice", RuntimeWarning)
        divisor = 0.0
    x = _core.subtract(x, center[:, None])
    other = x if w is None else _core.multiply(x, w)
    other = _core._permute_dims(_core.conjugate(other) if other._kind == "c" else other, [1, 0])
    factor = np.float64(1) / divisor if divisor else float("inf")
    return _core._squeeze(
        _core.multiply(dot(x, cast(other, x.dtype) if other.dtype != x.dtype and x._kind == "c" else other), float(factor)), None
    )


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> Array:
    """Return Pearson product-moment correlation coefficients.

    Parameters
    ----------
    x : Array
        Variables in rows, observations in columns; of one dimension for one variable.
    y : Array, optional
        More variables, of as many observations. Lists and NumPy arrays are taken too.
    rowvar : bool
        Whether variables are in rows; else in columns.
    dtype : data type, optional
        Default: what the variables and float64 promote to.

    Returns
    -------
    Array
        The coefficients of each pair of variables, from -1 to 1 (both parts of complex ones); without dimensions for one variable.

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number.
    ValueError
        There are more than two dimensions.

    See Also
    --------
    cov

    Examples
    --------
    >>> import pardo as pp
    >>> pp.corrcoef(pp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = _covariance("corrcoef", x, y, rowvar, False, None, None, None, dtype)
    if c.ndim == 0:
        return _core.divide(c, c)
    scale = _core.sqrt(_core.real(_core._diagonal(c, 0, 0, 1)))
    c = _core.divide(_core.divide(c, scale[:, None]), scale[None, :])
    if c._kind != "c":
        return _core._clip(c, -1.0, 1.0)
    made = _core._empty(list(c.shape), c.dtype, c.queue)
    _core._part(made, 0)._assign(_core._clip(_core.real(c), -1.0, 1.0))
    _core._part(made, 1)._assign(_core._clip(_core.imag(c), -1.0, 1.0))
    return made
