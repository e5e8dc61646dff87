# python/pardo/_filters/derivatives.py: ndimage: first and second derivatives, by small windows and by Gaussians.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import public
from pardo._base.arguments import axis_index
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters.arguments import Output
from pardo._filters.linear import check_cval, correlate1d, sum_along
from pardo._filters.smoothing import gaussian_filter
from pardo._functions.operands import cast

__all__ = [
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_gradient_magnitude",
    "generic_laplace",
    "laplace",
    "prewitt",
    "sobel",
]


def _difference(op_name: str, input: Any, axis: Any, output: Any, mode: Any, cval: Any, across: Sequence[float]) -> Array:
    """The difference of the neighbours along one axis, smoothed along the others."""
    x = read.read_input(input, op_name)
    axis = axis_index(axis, x.ndim, op_name)
    where = Output(output, x, op_name, is_complex=x._kind == "c")
    modes = read.read_modes(mode, x.ndim, op_name)
    check_cval(x, cval, op_name)
    for d in [axis, *(d for d in range(x.ndim) if d != axis)]:
        out = where.new()
        sum_along(x, out, np.asarray((-1.0, 0.0, 1.0) if d == axis else across), d, modes[d], cval)
        x = out
    return where.given(x)


@public
def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Array:
    """Calculate a Prewitt filter.

    Parameters
    ----------
    {filter_input}
    {filter_axis}
    {filter_output}
    {filter_modes}
    {filter_cval}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise: unsigned integers wrap.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    sobel, laplace

    Notes
    -----
    The difference of the two neighbours along `axis`, added up over three elements along all other axes.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1, 2, 4], [1, 3, 9], [0, 0, 1]])
    >>> pp.ndimage.prewitt(x)
    array([[ 4, 14, 10],
           [ 3, 12,  9],
           [ 2, 10,  8]])
    """
    return _difference("prewitt", input, axis, output, mode, cval, (1.0, 1.0, 1.0))


@public
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Array:
    """Calculate a Sobel filter.

    Parameters
    ----------
    {filter_input}
    {filter_axis}
    {filter_output}
    {filter_modes}
    {filter_cval}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise: unsigned integers wrap.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    prewitt, laplace, gaussian_gradient_magnitude

    Notes
    -----
    The difference of the two neighbours along `axis`, added up with weights 1, 2, 1 along all other axes.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1, 2, 4], [1, 3, 9], [0, 0, 1]])
    >>> pp.ndimage.sobel(x)
    array([[ 5, 17, 12],
           [ 5, 20, 15],
           [ 2, 11,  9]])
    """
    return _difference("sobel", input, axis, output, mode, cval, (1.0, 2.0, 1.0))


def _added(
    op_name: str,
    input: Any,
    derivative: Callable[..., Any],
    output: Any,
    mode: Any,
    cval: Any,
    positional: Sequence[Any],
    keywords: dict[str, Any] | None,
    axes: Any,
    squared: bool,
) -> Array:
    """The sum over axes of what a function makes of each; of squares, its root."""
    x = read.read_input(input, op_name)
    if not callable(derivative):
        raise TypeError(f"{op_name}: the derivative must be callable, not {type(derivative).__name__}")
    where = Output(output, x, op_name)
    chosen = read.read_axes(axes, x, op_name)
    modes = read.each(mode, len(chosen), f"{op_name}: mode")
    for m in modes:
        read.read_mode(m, op_name)
    if not chosen:
        return where.given(x._astype(where.dtype, True))
    total: Array | None = None
    for d, m in zip(chosen, modes, strict=True):
        part = cast(derivative(x, d, where.dtype, m, cval, *positional, **(keywords or {})), where.dtype)
        if squared:
            part = _core.multiply(part, part)
        total = part if total is None else _core.add(total, part)
    assert total is not None
    return where.given(cast(_core.sqrt(total), where.dtype) if squared else total)


@public
def generic_laplace(
    input: Any,
    derivative2: Callable[..., Any],
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: dict[str, Any] | None = None,
    *,
    axes: Any = None,
) -> Array:
    """N-D Laplace filter using a provided second derivative function.

    Parameters
    ----------
    {filter_input}
    derivative2 : callable
        ``derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)`` gives an Array; `output` is a dtype.
    {filter_output}
    {filter_modes}
    {filter_cval}
    extra_arguments, extra_keywords : optional
        For `derivative2`.
    {filter_axes}

    Returns
    -------
    Array
        The sum of the derivatives along the axes, of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    laplace, gaussian_laplace, generic_gradient_magnitude

    Examples
    --------
    >>> import pardo as pp
    >>> def second(x, axis, output, mode, cval):
    ...     return pp.ndimage.correlate1d(x, [1, -2, 1], axis, output, mode, cval)
    >>> pp.ndimage.generic_laplace(pp.asarray([0.0, 1.0, 4.0, 9.0]), second)
    array([ 1.,  2.,  2., -5.])
    """
    return _added("generic_laplace", input, derivative2, output, mode, cval, extra_arguments, extra_keywords, axes, False)


@public
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Array:
    """N-D Laplace filter based on approximate second derivatives.

    Parameters
    ----------
    {filter_input}
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise: unsigned integers wrap.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    gaussian_laplace, generic_laplace, sobel

    Notes
    -----
    The sum over axes of correlations with 1, -2, 1.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.laplace(pp.asarray([0.0, 1.0, 4.0, 9.0]))
    array([ 1.,  2.,  2., -5.])
    """

    def second(x: Any, axis: int, output: Any, mode: Any, cval: Any) -> Array:
        return correlate1d(x, (1.0, -2.0, 1.0), axis, output, mode, cval)

    return _added("laplace", input, second, output, mode, cval, (), None, axes, False)


def _gaussian(order: int, sigmas: dict[int, Any], keywords: dict[str, Any]) -> Callable[..., Array]:
    """A derivative along one axis of what Gaussians make of an array."""

    def derivative(x: Array, axis: int, output: Any, mode: Any, cval: Any) -> Array:
        orders = [order if d == axis else 0 for d in range(x.ndim)]
        return gaussian_filter(x, [sigmas.get(d, 0) for d in range(x.ndim)], orders, output, mode, cval, **keywords)

    return derivative


def _by_gaussians(op_name: str, order: int, input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, keywords: Any) -> Array:
    x = read.read_input(input, op_name)
    chosen = read.read_axes(axes, x, op_name)
    sigmas = dict(zip(chosen, read.each(sigma, len(chosen), f"{op_name}: sigma"), strict=True))
    return _added(op_name, x, _gaussian(order, sigmas, keywords), output, mode, cval, (), None, chosen, order == 1)


@public
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **kwargs: Any
) -> Array:
    """Multidimensional Laplace filter using Gaussian second derivatives.

    Parameters
    ----------
    {filter_input}
    sigma : number or sequence of number
        Standard deviation of the Gaussian along all axes, or each, in elements.
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_axes}
    **kwargs : optional
        `truncate` and `radius` of `gaussian_filter`.

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise: unsigned integers wrap.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    laplace, gaussian_filter

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.ndimage.gaussian_laplace(pp.asarray([0.0, 0.0, 1.0, 0.0, 0.0]), 1)
    >>> pp.round(x, 4)
    array([ 0.1974,  0.002 , -0.3989,  0.002 ,  0.1974])
    """
    return _by_gaussians("gaussian_laplace", 2, input, sigma, output, mode, cval, axes, kwargs)


@public
def generic_gradient_magnitude(
    input: Any,
    derivative: Callable[..., Any],
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: dict[str, Any] | None = None,
    *,
    axes: Any = None,
) -> Array:
    """Gradient magnitude using a provided gradient function.

    Parameters
    ----------
    {filter_input}
    derivative : callable
        ``derivative(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)`` gives an Array; `output` is a dtype.
    {filter_output}
    {filter_modes}
    {filter_cval}
    extra_arguments, extra_keywords : optional
        For `derivative`.
    {filter_axes}

    Returns
    -------
    Array
        The root of the sum of squares, of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    gaussian_gradient_magnitude, generic_laplace

    Examples
    --------
    >>> import pardo as pp
    >>> def first(x, axis, output, mode, cval):
    ...     return pp.ndimage.correlate1d(x, [-0.5, 0, 0.5], axis, output, mode, cval)
    >>> pp.ndimage.generic_gradient_magnitude(pp.asarray([[0.0, 3.0], [4.0, 7.0]]), first)
    array([[2.5, 2.5],
           [2.5, 2.5]])
    """
    op_name = "generic_gradient_magnitude"
    return _added(op_name, input, derivative, output, mode, cval, extra_arguments, extra_keywords, axes, True)


@public
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **kwargs: Any
) -> Array:
    """Multidimensional gradient magnitude using Gaussian derivatives.

    Parameters
    ----------
    {filter_input}
    sigma : number or sequence of number
        Standard deviation of the Gaussian along all axes, or each, in elements.
    {filter_output}
    {filter_modes}
    {filter_cval}
    {filter_axes}
    **kwargs : optional
        `truncate` and `radius` of `gaussian_filter`.

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    gaussian_filter, sobel

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.ndimage.gaussian_gradient_magnitude(pp.asarray([0.0, 0.0, 1.0, 0.0, 0.0]), 1)
    >>> pp.round(x, 4)
    array([0.0947, 0.2414, 0.    , 0.2414, 0.0947])
    """
    return _by_gaussians("gaussian_gradient_magnitude", 1, input, sigma, output, mode, cval, axes, kwargs)
