# python/pardo/_filters/smoothing.py: ndimage: Gaussian filters and means of windows.
from __future__ import annotations

import functools
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.contexts import public
from pardo._base.arguments import axis_index, integer
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters import runs, windows
from pardo._filters.arguments import Output
from pardo._filters.linear import check_cval, sum_along

__all__ = ["gaussian_filter", "gaussian_filter1d", "uniform_filter", "uniform_filter1d"]


@functools.lru_cache(maxsize=64)
def gaussian_weights(sigma: float, order: int, radius: int) -> NDArray[Any]:
    """A sampled Gaussian that adds up to 1, or a derivative: it times the polynomial of the chain rule, p' - p x / sigma**2 for each."""
    x = np.arange(-radius, radius + 1)
    bell: NDArray[Any] = np.exp(-0.5 / (sigma * sigma) * x**2)
    bell = bell / bell.sum()
    if order == 0:
        return bell
    factor = np.polynomial.Polynomial([0.0, -1.0 / (sigma * sigma)])
    polynomial = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() + polynomial * factor
    return np.asarray(polynomial(x) * bell)


def _real(value: Any, what: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{what} must be a number, not {type(value).__name__}")


def read_gaussian(op_name: str, sigma: Any, order: Any, truncate: Any, radius: Any) -> NDArray[Any]:
    """The weights of a correlation."""
    deviation = _real(sigma, f"{op_name}: sigma")
    size = int(_real(truncate, f"{op_name}: truncate") * deviation + 0.5) if radius is None else radius
    if not isinstance(size, numbers.Integral) or size < 0:
        raise ValueError(f"{op_name}: radius must be a nonnegative integer, not {size}")
    degree = integer(order, f"{op_name}: order")
    if degree < 0:
        raise ValueError(f"{op_name}: order must be non-negative, not {degree}")
    return gaussian_weights(deviation, degree, int(size))[::-1]


@public
def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Array:
    """1-D Gaussian filter.

    Parameters
    ----------
    {filter_input}
    sigma : number
        Standard deviation of the Gaussian, in elements.
    {filter_axis}
    order : int
        0 for the Gaussian itself, n for its n-th derivative.
    {filter_output}
    {filter_mode}
    {filter_cval}
    truncate : number
        How many standard deviations the window extends to each side.
    radius : int, optional
        How many elements it extends to each side, in place of ``round(truncate * sigma)``.

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    gaussian_filter, correlate1d

    Notes
    -----
    {sums_of_filters}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.gaussian_filter1d(pp.asarray([1.0, 2.0, 3.0, 4.0, 5.0]), 1)
    array([1.42704095, 2.06782203, 3.        , 3.93217797, 4.57295905])
    """
    x = read.read_input(input, "gaussian_filter1d")
    where = Output(output, x, "gaussian_filter1d", is_complex=x._kind == "c")
    axis = axis_index(axis, x.ndim, "gaussian_filter1d")
    weights = read_gaussian("gaussian_filter1d", sigma, order, truncate, radius)
    code = read.read_mode(mode, "gaussian_filter1d")
    check_cval(x, cval, "gaussian_filter1d")
    out = where.new()
    sum_along(x, out, weights, axis, code, cval)
    return where.given(out)


@public
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Array:
    """Multidimensional Gaussian filter.

    Parameters
    ----------
    {filter_input}
    sigma : number or sequence of number
        Standard deviation of the Gaussian along all axes, or each, in elements; 0 leaves an axis as it is.
    order : int or sequence of int
        0 for the Gaussian itself, n for its n-th derivative, along all axes or each.
    {filter_output}
    {filter_modes}
    {filter_cval}
    truncate : number
        How many standard deviations the window extends to each side.
    radius : int or sequence of int, optional
        How many elements it extends to each side, in place of ``round(truncate * sigma)``.
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    gaussian_filter1d, uniform_filter

    Notes
    -----
    {axis_after_axis}

    {sums_of_filters}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.reshape(pp.arange(0, 50, 2), (5, 5))
    >>> pp.ndimage.gaussian_filter(x, sigma=1)
    array([[ 4,  6,  8,  9, 11],
           [10, 12, 14, 15, 17],
           [20, 22, 24, 25, 27],
           [29, 31, 33, 34, 36],
           [35, 37, 39, 40, 42]])
    """
    op_name = "gaussian_filter"
    x = read.read_input(input, op_name)
    where = Output(output, x, op_name, is_complex=x._kind == "c")
    chosen = read.read_axes(axes, x, op_name)
    count = len(chosen)
    sigmas = [_real(s, f"{op_name}: sigma") for s in read.each(sigma, count, f"{op_name}: sigma")]
    orders = read.each(order, count, f"{op_name}: order")
    radii = read.each(radius, count, f"{op_name}: radius")
    modes = read.read_modes(mode, count, op_name)
    check_cval(x, cval, op_name)
    steps = [
        (axis, read_gaussian(op_name, s, o, truncate, r), m)
        for axis, s, o, r, m in zip(chosen, sigmas, orders, radii, modes, strict=True)
        if s > 1e-15
    ]
    for axis, weights, code in steps:
        out = where.new()
        sum_along(x, out, weights, axis, code, cval)
        x = out
    return where.given(x if steps else x._astype(where.dtype, True))


def average_along(x: Array, out: Array, size: int, axis: int, mode: int, cval: Any, origin: int) -> None:
    wide = read.wide_of(x, is_complex=x._kind == "c")
    if runs.are_long(x, size, axis):
        runs.fold_runs(x, out, size, axis, origin, mode, cval, wide, runs.added, runs.divided)
        return
    offsets = read.offsets_along(size, origin, axis, x.ndim)

    def taps(at: Any, first: int, dtype: Any) -> Any:
        return at, size, wide.type

    windows.fold_windows(x, out, offsets, [mode] * x.ndim, cval, wide, windows.average, taps, size, wide)


@public
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    """Calculate a 1-D uniform filter along the given axis.

    Parameters
    ----------
    {filter_input}
    size : int
        How many elements are averaged.
    {filter_axis}
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origin}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    uniform_filter, correlate1d

    Notes
    -----
    {sums_of_filters}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.uniform_filter1d(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), 3)
    array([4, 3, 4, 1, 4, 6, 6, 3])
    """
    op_name = "uniform_filter1d"
    x = read.read_input(input, op_name)
    axis = axis_index(axis, x.ndim, op_name)
    n = read.read_size(size, op_name)
    where = Output(output, x, op_name, is_complex=x._kind == "c")
    shift = read.read_origin(origin, n, op_name)
    code = read.read_mode(mode, op_name)
    check_cval(x, cval, op_name)
    out = where.new()
    average_along(x, out, n, axis, code, cval, shift)
    return where.given(out)


@public
def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Array:
    """Multidimensional uniform filter.

    Parameters
    ----------
    {filter_input}
    size : int or sequence of int
        How many elements are averaged along all axes, or each.
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    uniform_filter1d, gaussian_filter

    Notes
    -----
    {axis_after_axis}

    {sums_of_filters}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.reshape(pp.arange(0, 50, 2), (5, 5))
    >>> pp.ndimage.uniform_filter(x, 3)
    array([[ 3,  5,  7,  9, 10],
           [10, 12, 14, 16, 17],
           [20, 22, 24, 26, 27],
           [30, 32, 34, 36, 37],
           [36, 38, 40, 42, 43]])
    """
    op_name = "uniform_filter"
    x = read.read_input(input, op_name)
    where = Output(output, x, op_name, is_complex=x._kind == "c")
    chosen = read.read_axes(axes, x, op_name)
    count = len(chosen)
    sizes = read.read_sizes(size, count, op_name)
    origins = read.each(origin, count, f"{op_name}: origin")
    shifts = [read.read_origin(o, n, op_name) for o, n in zip(origins, sizes, strict=True)]
    modes = read.read_modes(mode, count, op_name)
    check_cval(x, cval, op_name)
    steps = [step for step in zip(sizes, chosen, modes, shifts, strict=True) if step[0] > 1]
    for n, axis, code, shift in steps:
        out = where.new()
        average_along(x, out, n, axis, code, cval, shift)
        x = out
    return where.given(x if steps else x._astype(where.dtype, True))
