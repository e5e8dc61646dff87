# python/pardo/_analysis/differences.py: differences, gradients, integrals and interpolation of samples; sums of products of sequences.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array.manipulation import ravel
from pardo._base import promotion
from pardo._base.arguments import array, axis_index, default_on, integer, same_kind
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions.operands import axes_of, cast, double_of, element, on_host, operand, operands, to_queue, weak_operand

__all__ = [
    "ediff1d",
    "gradient",
    "interp",
    "trapezoid",
    "unwrap",
]


def _span(ndim: int, axis: int, span: Any) -> tuple[Any, ...]:
    return tuple(span if d == axis else slice(None) for d in range(ndim))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Return the differences between consecutive elements of an array.

    Parameters
    ----------
    ary : Array
        The elements, flattened.
    to_end, to_begin : Array or number, optional
        What is put behind and before the differences. Lists and NumPy arrays are taken too.

    Returns
    -------
    Array
        One-dimensional, in the dtype of `ary`.

    Raises
    ------
    TypeError
        `ary` is neither an Array nor a number, or what is put beside is of another kind.

    See Also
    --------
    diff, gradient

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ediff1d(pp.asarray([1, 2, 4, 7, 0]), to_begin=-99)
    array([-99,   1,   2,   3,  -7])
    """
    x = ravel(array(ary, "ediff1d"))
    parts = [_core.subtract(x[1:], x[:-1])]
    for extra, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if extra is not None:
            more = operand(extra, x, "ediff1d")
            parts.insert(place, ravel(cast(more, same_kind(more, x.dtype, "ediff1d"))))
    return parts[0] if len(parts) == 1 else _core._concat(parts, 0)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the gradient of an N-dimensional array: second order central differences inside, one-sided ones at the ends.

    Parameters
    ----------
    f : Array
        Samples of a function.
    *varargs : number or Array
        The distance of the samples: one for all axes, or one for each; or their places, of one dimension. Lists and NumPy arrays are
        taken too.
    axis : int or tuple of int, optional
        Along which axes. Default: all.
    edge_order : {1, 2}
        The order of accuracy at the ends.

    Returns
    -------
    Array, or tuple of Array
        The derivatives along each axis, in floats.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `f` is neither an Array nor a number, or there are not as many distances as axes.
    ValueError
        An axis has too few samples or another number than there are places, or `edge_order` is above 2.

    See Also
    --------
    diff, ediff1d, trapezoid

    Notes
    -----
    Places that are given are looked at, and waited for: whether all their distances are equal decides the formula, as in NumPy.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.gradient(pp.asarray([1.0, 2.0, 4.0, 7.0, 11.0]))
    array([1. , 1.5, 2.5, 3.5, 4. ])
    """
    x = array(f, "gradient")
    axes = axes_of(axis, x.ndim, "gradient")
    if not varargs:
        steps: list[Any] = [1.0] * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        steps = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        steps = [_distances(places, x.shape[a]) for places, a in zip(varargs, axes, strict=True)]
    else:
        raise TypeError("gradient: invalid number of arguments")
    order = integer(edge_order, "gradient: edge_order")
    if order > 2:
        raise ValueError("gradient: 'edge_order' greater than 2 not supported")
    kind = double_of(x)
    if x.dtype != np.bool_:  # whose differences the core refuses, as NumPy does
        x = cast(x, kind)
    results = [_derivative(x, step, a, order, kind) for step, a in zip(steps, axes, strict=True)]
    return results[0] if len(axes) == 1 else tuple(results)


def _distances(places: Any, count: int) -> Any:
    """One distance, or one between each two places."""
    if np.ndim(places) == 0:
        return places
    host = on_host(places, "gradient")
    if host.ndim != 1:
        raise ValueError("gradient: distances must be either scalars or 1d")
    if host.size != count:
        raise ValueError("gradient: when 1d, distances must match the length of the corresponding dimension")
    d = np.diff(host.astype(np.float64) if kind_of(host.dtype) in "iu" else host)
    return d[0] if d.size and bool((d == d[0]).all()) else d


def _derivative(x: Array, step: Any, axis: int, order: int, kind: Any) -> Array:
    n = x.shape[axis]
    if n < order + 1:
        raise ValueError(
            "gradient: shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required"
        )

    def part(first: int | None, last: int | None) -> Array:
        return x[_span(x.ndim, axis, slice(first, last))]

    def weighted(factors: Any, parts: list[Array]) -> Array:
        total = None
        for factor, values in zip(factors, parts, strict=True):
            product = _core.multiply(spread(factor), values)
            total = product if total is None else _core.add(total, product)
        assert total is not None
        return total

    def spread(factor: Any) -> Any:
        """Factors along the axis; numbers of NumPy's in the dtype that NumPy gives the result."""
        if np.ndim(factor) == 0 and not isinstance(factor, np.ndarray):
            return factor
        return to_queue(np.reshape(factor, [-1 if d == axis else 1 for d in range(x.ndim)]), x.queue)

    even = type(step) is Array or np.ndim(step) == 0
    if even:
        inner = _core.divide(_core.subtract(part(2, None), part(None, -2)), _scaled(step, 2.0))
    else:
        one, two = step[:-1], step[1:]
        factors = (-two / (one * (one + two)), (two - one) / (one * two), one / (two * (one + two)))
        inner = weighted(factors, [part(None, -2), part(1, -1), part(2, None)])
    if order == 1:
        ends = [(part(1, 2), part(0, 1), step if even else step[0]), (part(-1, None), part(-2, -1), step if even else step[-1])]
        first, last = (_core.divide(_core.subtract(a, b), d) for a, b, d in ends)
    else:
        if even:
            front = tuple(_over(v, step) for v in (-1.5, 2.0, -0.5))
            back = tuple(_over(v, step) for v in (0.5, -2.0, 1.5))
        else:
            a, b = step[0], step[1]
            front = (-(2.0 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))
            a, b = step[-2], step[-1]
            back = (b / (a * (a + b)), -(b + a) / (a * b), (2.0 * b + a) / (b * (a + b)))
        first = weighted(front, [part(0, 1), part(1, 2), part(2, 3)])
        last = weighted(back, [part(-3, -2), part(-2, -1), part(-1, None)])
    return _core._concat([cast(v, kind) for v in (first, inner, last)], axis)


def _scaled(step: Any, factor: float) -> Any:
    return _core.multiply(step, factor) if type(step) is Array else factor * step


def _over(value: float, step: Any) -> Any:
    return _core.divide(value, step) if type(step) is Array else value / step


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate along the given axis using the composite trapezoidal rule.

    Parameters
    ----------
    y : Array
        Samples of a function.
    x : Array, optional
        Where they were taken; of one dimension, or of the shape of `y`. Lists and NumPy arrays are taken too.
    dx : number or Array
        The distance of the samples, if `x` is not given.
    axis : int
        The axis.

    Returns
    -------
    Array
        The integrals, without that axis.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `y` is neither an Array nor a number, or `axis` is not an integer.
    ValueError
        The shapes do not fit.

    See Also
    --------
    sum, cumulative_sum, gradient

    Examples
    --------
    >>> import pardo as pp
    >>> pp.trapezoid(pp.asarray([1, 2, 3]), x=[4, 6, 8])
    array(8.)
    """
    y = array(y, "trapezoid")
    a = axis_index(axis, y.ndim, "trapezoid")
    if x is None:
        d = dx if type(dx) in (int, float, complex) else operand(dx, y, "trapezoid")
    else:
        places = operand(x, y, "trapezoid")
        d = _core._diff(places, 1, 0 if places.ndim == 1 else axis_index(axis, places.ndim, "trapezoid"), None, None)
        if places.ndim == 1:
            d = _core._reshape(d, [d.size if k == a else 1 for k in range(y.ndim)])
    both = _core.add(y[_span(y.ndim, a, slice(1, None))], y[_span(y.ndim, a, slice(None, -1))])
    areas = _core.divide(_core.multiply(d, both), 2.0)
    return _core._reduce(_core._SUM, areas, [a + areas.ndim - y.ndim], False)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> Array:
    """Unwrap by taking the complement of large deltas with respect to the period.

    Parameters
    ----------
    p : Array
        Angles, or other values that count in a circle.
    discont : float, optional
        The least jump that is taken for one around the circle. Default, and at least: half of the period.
    axis : int
        The axis.
    period : number
        Around the circle.

    Returns
    -------
    Array
        The same values, some a number of periods further, so that no jump is larger than half a period.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `p` is neither an Array nor a number, or complex; or `axis` is not an integer.

    See Also
    --------
    diff, angle

    Examples
    --------
    >>> import pardo as pp
    >>> pp.unwrap(pp.asarray([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])
    """
    x = array(p, "unwrap")
    a = axis_index(axis, x.ndim, "unwrap")
    jump = _core._diff(x, 1, a, None, None)
    if discont is None:
        discont = period / 2
    dtype = default_on(x.queue, promotion.result_type(jump.dtype, period))
    if kind_of(dtype) in "iu":
        half, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        half, ambiguous = period / 2, True
    around = _core.add(_core.remainder(_core.subtract(jump, -half), period), -half)
    if ambiguous:
        edge = _core.logical_and(_core.equal(around, -half), _core.greater(jump, 0))
        around = _core._where(edge, half, around)
    correction = _core.subtract(around, jump)
    correction = _core._where(_core.less(_core.absolute(jump), discont), 0, correction)
    moved = _core.add(x[_span(x.ndim, a, slice(1, None))], _core._cumulative(_core._SUM, correction, a, None, False))
    return _core._concat([cast(x[_span(x.ndim, a, slice(0, 1))], dtype), cast(moved, dtype)], a)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Array:
    """One-dimensional linear interpolation for monotonically increasing sample points.

    Parameters
    ----------
    x : Array or number
        Where the function is wanted.
    xp : Array
        The sample points, increasing; in any order with `period`. Lists and NumPy arrays are taken too.
    fp : Array
        The samples, real or complex. Lists and NumPy arrays are taken too.
    left, right : number, optional
        What the function is below and above the sample points. Default: the first and the last sample.
    period : number, optional
        The function repeats after so much.

    Returns
    -------
    Array
        Of the shape of `x` and float64 or complex128 (half as wide on a device that has no float64).

    Raises
    ------
    TypeError
        `x` is neither an Array nor a number, or points are complex.
    ValueError
        There are no samples, not as many as points, one has not one dimension, or the period is zero.

    See Also
    --------
    searchsorted, gradient

    Examples
    --------
    >>> import pardo as pp
    >>> pp.interp(pp.asarray([0.0, 1.0, 1.5, 2.72, 3.14]), [1, 2, 3], [3, 2, 0])
    array([3.  , 3.  , 2.5 , 0.56, 0.  ])
    """
    if not any(type(given) is Array for given in (x, xp, fp)):
        x = array(x, "interp")
    x, points, values = operands([x, xp, fp], "interp")
    double = default_on(x.queue, np.float64)
    if "c" in (kind_of(x.dtype), points._kind):
        raise TypeError("interp: points must be real")
    x, points = cast(x, double), cast(points, double)
    values = cast(values, default_on(x.queue, np.complex128) if values._kind == "c" else double)
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError("interp: data points must be 1-D sequences")
    if points.size != values.size:
        raise ValueError("interp: fp and xp are not of the same length")
    if points.size == 0:
        raise ValueError("interp: array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("interp: period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, points = _core.remainder(x, period), _core.remainder(points, period)
        order = _core._argsort(points, 0, False, True)
        points, values = _core._take(points, order, 0), _core._take(values, order, 0)
        points = _core._concat([_core.subtract(points[-1:], period), points, _core.add(points[:1], period)], 0)
        values = _core._concat([values[-1:], values, values[:1]], 0)
    n = points.size
    place = _core.subtract(_core._searchsorted(points, x, True, None), 1)
    low = _core.minimum(_core.maximum(place, 0), max(n - 2, 0))
    high = _core.minimum(_core.add(low, 1), n - 1)
    x0, x1 = (_core._take(points, k, 0) for k in (low, high))
    y0, y1 = (_core._take(values, k, 0) for k in (low, high))
    if values._kind == "c":
        parts = [_line(x, x0, x1, f(y0), f(y1)) for f in (_core.real, _core.imag)]
        made = _core._empty(list(parts[0].shape), values.dtype, x.queue)
        for k in range(2):
            _core._part(made, k)._assign(parts[k])
        result = made
    else:
        result = _line(x, x0, x1, y0, y1)
    result = _core._where(_core.equal(x, x0), y0, result)
    result = _core._where(_core.equal(place, n - 1), element(values, n - 1), result)
    result = _core._where(_core.less(x, element(points, 0)), element(values, 0) if left is None else _end(left, values), result)
    result = _core._where(
        _core.greater(x, element(points, n - 1)), element(values, n - 1) if right is None else _end(right, values), result
    )
    if n == 1:  # NaN is neither below nor above the one point, as in NumPy
        return result
    nothing = float("nan")
    return _core._where(_core.isnan(x), nothing if values._kind != "c" else cast(x, values.dtype), result)


def _end(value: Any, like: Array) -> Array:
    v = weak_operand(value, like, "interp")
    return cast(v, same_kind(v, like.dtype, "interp"))


def _line(x: Array, x0: Array, x1: Array, y0: Array, y1: Array) -> Array:
    """From the left end; from the right one where that is NaN; NumPy's formula."""
    slope = _core.divide(_core.subtract(y1, y0), _core.subtract(x1, x0))
    result = _core.add(_core.multiply(slope, _core.subtract(x, x0)), y0)
    other = _core.add(_core.multiply(slope, _core.subtract(x, x1)), y1)
    other = _core._where(_core.logical_and(_core.isnan(other), _core.equal(y0, y1)), y0, other)
    return _core._where(_core.isnan(result), other, result)


def products_of_sequences(x: Array, y: Array) -> Array:
    """The convolution with an error relative to each sum, which coefficients of polynomials need: they differ by orders of magnitude."""
    long, short = (x, y) if x.size >= y.size else (y, x)
    return summed_products(long, _core._flip(short, [0]), "full", not _core._known_finite(short))


def summed_products(long: Array, short: Array, mode: str, masked: bool) -> Array:
    """Products of the short sequence with each part of the long one, summed; mode 'full' or 'valid'. `masked`: the short one may not be
    finite, and a zero beside the ends, times an infinity, would be NaN: products are taken where both factors exist."""
    n, m = long.size, short.size
    pad = m - 1 if mode == "full" else 0
    zeros = [_core._full([pad], 0, long.dtype, long.queue)] if pad else []
    padded = _core._concat([*zeros, long, *zeros], 0)
    count = n + 2 * pad - m + 1
    exists = None
    if pad and masked:
        places = _core._arange(-pad, n + pad, 1, np.int32 if count + m < 1 << 31 else np.int64, long.queue)
        exists = _core.logical_and(_core.greater_equal(places, 0), _core.less(places, n))
    if m <= 16:
        total = None
        for k in range(m):
            product = _core.multiply(padded[k : k + count], short[k])
            if exists is not None:
                product = _core._where(exists[k : k + count], product, 0)
            total = product if total is None else _core.add(total, product)
        assert total is not None
        return total
    products = _core.multiply(_core._sliding_windows(padded, [m], [0]), short)
    if exists is not None:
        products = _core._where(_core._sliding_windows(exists, [m], [0]), products, 0)
    return _core._reduce(_core._ANY if long.dtype == np.bool_ else _core._SUM, products, [1], False, long.dtype)
