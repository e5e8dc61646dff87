# python/pardo/_filters/linear.py: ndimage: sums of elements by weights.
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.contexts import public
from pardo._base.arguments import axis_index, integer
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._filters import arguments as read
from pardo._filters import windows
from pardo._filters.arguments import Output
from pardo._functions.operands import parameters_on_host, to_queue

__all__ = ["convolve", "convolve1d", "correlate", "correlate1d"]

_EPSILON = float(np.finfo(np.float64).eps)


def read_weights(weights: Any, op_name: str) -> NDArray[Any]:
    """The weights, on the host."""
    values = parameters_on_host(weights, op_name)
    if kind_of(values.dtype) not in "biufc":
        raise TypeError(f"{op_name}: weights must be numbers, not of dtype {values.dtype}")
    return values.astype(np.complex128 if kind_of(values.dtype) == "c" else np.float64)


def check_cval(x: Array, cval: Any, op_name: str) -> None:
    """Numbers only; complex ones for complex arrays."""
    if type(cval) in (int, float):
        return
    if not np.isscalar(cval) or isinstance(cval, (str, bytes)):
        raise TypeError(f"{op_name}: cval must be a number, not {type(cval).__name__}")
    if np.iscomplexobj(cval) and x._kind != "c":
        raise ValueError(f"{op_name}: cval is complex, but the input is real: {x.dtype}")


def sum_windows(
    x: Array,
    out: Array,
    offsets: NDArray[Any],
    weights: NDArray[Any],
    modes: Sequence[int],
    cval: Any,
    fold: Any = windows.weighted,
) -> None:
    """Stores in `out` the sums of the elements at offsets by weights; with one weight for each offset, or as `fold` has them."""
    wide = read.wide_of(x, is_complex=x._kind == "c" or kind_of(weights.dtype) == "c")
    factors = weights.astype(wide)

    def taps(at: Any, first: int, dtype: Any) -> Any:
        return at, tuple(factors.tolist()) if type(at) is tuple else to_queue(factors, x.queue), wide.type

    windows.fold_windows(x, out, offsets, modes, cval, wide, fold, taps, factors.tobytes(), wide)


def sum_along(x: Array, out: Array, weights: NDArray[Any], axis: int, mode: int, cval: Any, origin: int = 0) -> None:
    """A correlation along one axis; into integers in SciPy's order: where weights are the same on both sides, pairs are added first."""
    size = len(weights)
    middle = size // 2
    offsets = read.offsets_along(size, origin, axis, x.ndim)
    modes = [mode] * max(x.ndim, 1)
    if out._kind in "fc":
        sum_windows(x, out, offsets, weights, modes, cval)
        return
    if size % 2 and kind_of(weights.dtype) != "c":
        left, right = weights[:middle], weights[:middle:-1]
        for fold, other in ((windows.even, right), (windows.odd, -right)):
            if (np.abs(left - other) <= _EPSILON).all():
                pairs = np.stack([np.arange(middle), np.arange(size - 1, middle, -1)], 1).ravel()
                order = np.r_[middle, pairs]
                sum_windows(x, out, offsets[order], np.r_[weights[middle], left], modes, cval, fold)
                return
    order = np.r_[size - 1, 0 : size - 1]
    sum_windows(x, out, offsets[order], weights[order], modes, cval)


def _one_axis(op_name: str, x: Any, weights: Any, axis: Any, output: Any, mode: Any, cval: Any, origin: Any, flipped: bool) -> Array:
    x = read.read_input(x, op_name)
    factors = read_weights(weights, op_name)
    if factors.ndim != 1 or factors.size < 1:
        raise RuntimeError(f"{op_name}: no filter weights given: weights have shape {factors.shape}; one dimension is expected")
    where = Output(output, x, op_name, is_complex="c" in (kind_of(x.dtype), kind_of(factors.dtype)))
    axis = axis_index(axis, x.ndim, op_name)
    code = read.read_mode(mode, op_name)
    check_cval(x, cval, op_name)
    shift = integer(origin, f"{op_name}: origin")
    if flipped:
        factors = factors[::-1]
        shift = -shift - (0 if len(factors) % 2 else 1)
    else:
        factors = factors.conj()
    shift = read.read_origin(shift, len(factors), op_name)
    out = where.new()
    sum_along(x, out, factors, axis, code, cval, shift)
    return where.given(out)


@functools.lru_cache(maxsize=64)
def _window_of(
    weights: bytes,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    origins: tuple[int, ...],
    axes: tuple[int, ...],
    ndim: int,
    flipped: bool,
    op_name: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Offsets and weights of a correlation, as far as these are not zero."""
    factors = np.frombuffer(weights, dtype).reshape(shape)
    if flipped:
        factors = np.flip(factors)
        origins = tuple(-o - (0 if size % 2 else 1) for o, size in zip(origins, shape, strict=True))
    else:
        factors = factors.conj()
    checked = [read.read_origin(o, size, op_name) for o, size in zip(origins, shape, strict=True)]
    window, order, middles = read.sorted_window(factors, axes, checked)
    used = np.maximum(np.abs(window.real), np.abs(window.imag)) > _EPSILON
    return read.offsets_in(used, middles, order, ndim), window[used]


def _all_axes(op_name: str, x: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, flipped: bool) -> Array:
    x = read.read_input(x, op_name)
    factors = read_weights(weights, op_name)
    where = Output(output, x, op_name, is_complex="c" in (kind_of(x.dtype), kind_of(factors.dtype)))
    axes = read.read_axes(axes, x, op_name)
    if factors.ndim != len(axes) or factors.size == 0:
        raise RuntimeError(f"{op_name}: weights have shape {factors.shape}; {len(axes)} dimensions, of one element or more, are expected")
    check_cval(x, cval, op_name)
    modes = [read.read_mode(mode, op_name)] * max(x.ndim, 1)
    origins = [integer(o, f"{op_name}: origin") for o in read.each(origin, len(axes), f"{op_name}: origin")]
    chosen = (tuple(origins), tuple(axes), x.ndim, flipped, op_name)
    offsets, used = _window_of(factors.tobytes(), factors.dtype, factors.shape, *chosen)
    out = where.new()
    if len(used):
        sum_windows(x, out, offsets, used, modes, cval)
    else:
        out._fill(0)
    return where.given(out)


@public
def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    """Calculate a 1-D correlation along the given axis.

    Parameters
    ----------
    {filter_input}
    weights : array_like
        One-dimensional, real or complex; read on the host. Complex weights are conjugated.
    {filter_axis}
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origin}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise; complex if the input or a weight is.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    convolve1d, correlate

    Notes
    -----
    {sums_of_filters}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.correlate1d(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), [1, 3])
    array([ 8, 26,  8, 12,  7, 28, 36,  9])
    """
    return _one_axis("correlate1d", input, weights, axis, output, mode, cval, origin, False)


@public
def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    """Calculate a 1-D convolution along the given axis.

    Parameters
    ----------
    {filter_input}
    weights : array_like
        One-dimensional, real or complex; read on the host.
    {filter_axis}
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origin}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise; complex if the input or a weight is.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    correlate1d, convolve

    Notes
    -----
    {sums_of_filters}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.ndimage.convolve1d(pp.asarray([2, 8, 0, 4, 1, 9, 9, 0]), [1, 3])
    array([14, 24,  4, 13, 12, 36, 27,  0])
    """
    return _one_axis("convolve1d", input, weights, axis, output, mode, cval, origin, True)


@public
def correlate(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Array:
    """Multidimensional correlation.

    Parameters
    ----------
    {filter_input}
    weights : array_like
        The window, with a dimension for each axis; real or complex; read on the host. Complex weights are conjugated.
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise; complex if the input or a weight is.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    convolve, correlate1d

    Notes
    -----
    {sums_of_filters}

    Weights that are zero take no part, so that NaN and infinities do not spread by them.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.reshape(pp.arange(25), (5, 5))
    >>> pp.ndimage.correlate(x, [[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    array([[  6,  10,  15,  20,  24],
           [ 26,  30,  35,  40,  44],
           [ 51,  55,  60,  65,  69],
           [ 76,  80,  85,  90,  94],
           [ 96, 100, 105, 110, 114]])
    """
    return _all_axes("correlate", input, weights, output, mode, cval, origin, axes, False)


@public
def convolve(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Array:
    """Multidimensional convolution.

    Parameters
    ----------
    {filter_input}
    weights : array_like
        The window, with a dimension for each axis; real or complex; read on the host.
    {filter_output}
    {filter_mode}
    {filter_cval}
    {filter_origins}
    {filter_axes}

    Returns
    -------
    Array
        Of the shape of `input`, and of its dtype if `output` does not say otherwise; complex if the input or a weight is.

    Raises
    ------
    {filter_raises}

    See Also
    --------
    correlate, convolve1d

    Notes
    -----
    {sums_of_filters}

    Weights that are zero take no part, so that NaN and infinities do not spread by them.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1, 2, 0, 0], [5, 3, 0, 4], [0, 0, 0, 7], [9, 3, 0, 0]])
    >>> pp.ndimage.convolve(x, [[1, 1, 1], [1, 1, 0], [1, 0, 0]], mode="constant")
    array([[11, 10,  7,  4],
           [10,  3, 11, 11],
           [15, 12, 14,  7],
           [12,  3,  7,  0]])
    """
    return _all_axes("convolve", input, weights, output, mode, cval, origin, axes, True)
