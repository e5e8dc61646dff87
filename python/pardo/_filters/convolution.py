# python/pardo/_filters/convolution.py: signal: convolutions and correlations of two arrays, as sums of products.
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.contexts import public
from pardo._array.elementwise import where
from pardo._base import promotion
from pardo._base.arguments import default_on, word
from pardo._base.promotion import is_narrow, kind_of
from pardo._core import Array
from pardo._filters import spectral, windows
from pardo._filters.stencils import plain
from pardo._functions.operands import cast, operands
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item, Range

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d"]

_BOUNDARIES: dict[str, int] = {
    "fill": windows.CONSTANT, "pad": windows.CONSTANT, "wrap": windows.WRAP, "circular": windows.WRAP, "symm": windows.REFLECT,
    "symmetric": windows.REFLECT,
}  # fmt: skip


def read_pair(in1: Any, in2: Any, op_name: str) -> tuple[Array, Array]:
    """Both arrays, in the dtype that they promote to."""
    x, y = operands([in1, in2], op_name)
    common = default_on(x.queue, promotion.result_type(x.dtype, y.dtype))
    return cast(x, common), cast(y, common)


def conjugate(x: Array) -> Array:
    return _core.conjugate(x) if x._kind == "c" else x


def turned(x: Array) -> Array:
    """Reversed along all axes, and conjugated."""
    return conjugate(_core._flip(x, list(range(x.ndim))))


def swapped(x: Array, y: Array, mode: str, op_name: str) -> bool:
    """With mode 'valid': whether the first array is the smaller one. ValueError if neither is."""
    if mode != "valid":
        return False
    if all(n >= m for n, m in zip(x.shape, y.shape, strict=True)):
        return False
    if all(n <= m for n, m in zip(x.shape, y.shape, strict=True)):
        return True
    raise ValueError(f"{op_name}: for 'valid' mode, one array must be at least as large as the other in every dimension")


PARTS = 4  # of a sequence of sums, of which each item makes one each: they share what is read of the weights


def sum_at_end(x: Any, weights: Any, wide: Any, i: Any, begin: Any, end: Any) -> Any:
    """The sum of the products with elements from `begin` to `end` alone: a zero beside them would be NaN where a weight is infinite."""
    total = wide(0)
    for k in range(len(weights)):
        total += where(begin <= i + k and i + k < end, weights[k] * wide(x[i + k]), wide(0))
    return total


@kernel(bounds_check=False, fastmath=True)
def sum_products(
    item: Item, x: Any, weights: Any, wide: Any, store: Any, part: Any, begin: Any, end: Any, left: Any, right: Any, out: Any
) -> None:
    """The sums of products with the elements of x that begin at each place, of a part as long as an item has numbers; before `left` and
    from `right` on with those from `begin` to `end` alone."""
    i = item.get_id(0)
    n = plain(part)
    t0, t1, t2, t3 = wide(0), wide(0), wide(0), wide(0)
    for k in range(len(weights)):
        weight = weights[k]
        t0 += weight * wide(x[i + k])
        t1 += weight * wide(x[i + n + k])
        t2 += weight * wide(x[i + 2 * n + k])
        t3 += weight * wide(x[i + 3 * n + k])
    if i < left or i >= right:
        t0 = sum_at_end(x, weights, wide, i, begin, end)
    if i + n < left or i + n >= right:
        t1 = sum_at_end(x, weights, wide, i + n, begin, end)
    if i + 2 * n < left or i + 2 * n >= right:
        t2 = sum_at_end(x, weights, wide, i + 2 * n, begin, end)
    if i + 3 * n < left or i + 3 * n >= right:
        t3 = sum_at_end(x, weights, wide, i + 3 * n, begin, end)
    out[i] = store(t0, out.dtype)
    out[i + n] = store(t1, out.dtype)
    out[i + 2 * n] = store(t2, out.dtype)
    out[i + 3 * n] = store(t3, out.dtype)


def _slide_sequence(x: Array, y: Array, wide: np.dtype[Any], first: int, count: int) -> Array:
    """`slide` over one dimension, of the products whose factors both exist."""
    n, m = x.size, y.size
    if n < m:  # the same sums from the other end
        return _core._flip(_slide_sequence(y, x, wide, 1 - first - count, count), [0])
    part = -(-count // PARTS)
    before, behind = max(-first, 0), max(first + PARTS * part + m - 1 - n, 0)
    pieces = [_core._full([k], 0, x.dtype, x.queue) for k in (before, behind)]
    padded = _core._concat([pieces[0], x[max(first, 0) :], pieces[1]], 0)
    out: Array = _core._empty([PARTS * part], x.dtype, x.queue)
    # Zero by a finite number is zero.
    ends = (0, PARTS * part) if _core._known_finite(y) else (before, n - m + 1 - first)
    weights, store = cast(y, wide), windows.storing(wide, x.dtype)
    sum_products[Range(part), x.queue](padded, weights, wide.type, store, part, before, n - first, *ends, out)
    return out[:count]


def slide(x: Array, y: Array, starts: Sequence[int], extents: Sequence[int], mode: int, value: Any) -> Array:
    """The sums of products of y with the elements of x that begin at each place."""
    dtype = x.dtype
    wide = np.dtype({"b": np.int64, "f": np.float32}.get(kind_of(dtype), dtype)) if dtype == np.bool_ or is_narrow(dtype) else dtype
    if x.ndim == 1:
        return _slide_sequence(x, y, wide, starts[0], extents[0])
    weights = cast(_core._reshape(y, [y.size]), wide)
    out: Array = _core._empty(list(extents), dtype, x.queue)

    def taps(at: Any, first: int, dtype: Any) -> Any:
        return at, weights, wide.type

    windows.fold_windows(
        x,
        out,
        _offsets_in(y.shape),
        [mode] * x.ndim,
        value,
        wide,
        windows.weighted,
        taps,
        None,
        wide,
        (tuple(starts), tuple(extents)),
        weights,
    )
    return out


@functools.lru_cache(maxsize=64)
def _offsets_in(shape: tuple[int, ...]) -> NDArray[Any]:
    return np.indices(shape).reshape(len(shape), -1).T


def _places(x: Array, y: Array, mode: str) -> tuple[list[int], list[int]]:
    """From where to where the second array is moved over the first."""
    if mode == "full":
        return [1 - m for m in y.shape], [n + m - 1 for n, m in zip(x.shape, y.shape, strict=True)]
    if mode == "same":
        return [-(m // 2) for m in y.shape], list(x.shape)
    return [0] * x.ndim, [n - m + 1 for n, m in zip(x.shape, y.shape, strict=True)]


def _n_dimensional(op_name: str, in1: Any, in2: Any, mode: Any, method: Any, convolved: bool) -> Array:
    kind = word(mode, f"{op_name}: mode", spectral.MODES)
    how = word(method, f"{op_name}: method", ("auto", "direct", "fft"))
    x, y = read_pair(in1, in2, op_name)
    if x.ndim != y.ndim:
        raise ValueError(f"{op_name}: in1 and in2 should have the same dimensionality: they have {x.ndim} and {y.ndim} dimensions")
    if x.ndim == 0:
        return _core.multiply(x, y if convolved else conjugate(y))
    turn_back = swapped(x, y, kind, op_name)
    if x.size == 0 or y.size == 0:  # sums of nothing, and none along axes without elements
        extents = _places(*((y, x) if turn_back else (x, y)), kind)[1]
        if kind == "full":
            extents = [e if n and m else 0 for e, n, m in zip(extents, x.shape, y.shape, strict=True)]
        return _core._full(extents, 0, x.dtype, x.queue)
    count = math.prod((x if kind == "same" else y if turn_back else x).shape)
    if how == "fft" or (how == "auto" and x._kind in "fc" and not is_narrow(x.dtype) and spectral.is_faster(x, y, count)):
        return _by_transforms(x, y if convolved else turned(y), kind, turn_back)
    if turn_back:
        x, y = y, x
    if convolved:
        return slide(x, _core._flip(y, list(range(y.ndim))), *_places(x, y, kind), windows.CONSTANT, 0)
    result = slide(x, conjugate(y), *_places(x, y, kind), windows.CONSTANT, 0)
    return turned(result) if turn_back else result


def _by_transforms(x: Array, y: Array, mode: str, turn: bool) -> Array:
    """A convolution in floats; of integers rounded."""
    exact = x._kind in "biu"
    floats = np.dtype(np.float32) if is_narrow(x.dtype) else default_on(x.queue, np.float64) if exact else x.dtype
    pair = cast(x, floats), cast(y, floats)
    result = spectral.convolved(*(pair[::-1] if turn else pair), mode, list(range(x.ndim)))
    return cast(_core.rint(result) if exact else result, x.dtype)


def _two_dimensional(op_name: str, in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any, convolved: bool) -> Array:
    kind = word(mode, f"{op_name}: mode", spectral.MODES)
    edges = _BOUNDARIES[word(boundary, f"{op_name}: boundary", tuple(_BOUNDARIES))]
    x, y = read_pair(in1, in2, op_name)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError(f"{op_name}: inputs must both be 2-D arrays: they have {x.ndim} and {y.ndim} dimensions")
    value = np.asarray(fillvalue)
    if value.size != 1 or kind_of(value.dtype) not in "biufc":
        raise ValueError(f"{op_name}: fillvalue must be a number, or an array of one element")
    if not promotion.can_cast(value.dtype, x.dtype, "same_kind") and kind_of(value.dtype) not in "biu":
        raise TypeError(f"{op_name}: fillvalue is of dtype {value.dtype}, which cannot be cast to {x.dtype}")
    value = value.astype(x.dtype).item()
    turn_back = swapped(x, y, kind, op_name)
    if turn_back:
        x, y = y, x
    starts, extents = _places(x, y, kind)
    if 0 in extents or x.size == 0 or y.size == 0:
        return _core._full([max(n, 0) for n in extents], 0, x.dtype, x.queue)
    if convolved:
        return slide(x, _core._flip(y, [0, 1]), starts, extents, edges, value)
    if kind == "same":
        starts = [-((m - 1) // 2) for m in y.shape]
    result = slide(x, conjugate(y), starts, extents, edges, value)
    return turned(result) if turn_back else result


@public
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Convolve two N-dimensional arrays.

    Parameters
    ----------
    in1, in2 : Array
        The arrays, of as many dimensions; one may be a list or a NumPy array.
    {convolution_mode}
    {convolution_method}

    Returns
    -------
    Array
        In the dtype that the arrays promote to.

    Raises
    ------
    {convolution_raises}

    See Also
    --------
    correlate, convolve2d, fftconvolve

    Notes
    -----
    {products_of_signals}

    {signals_by_transforms}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.signal.convolve(pp.asarray([1, 2, 3]), [0, 1, 2])
    array([0, 1, 4, 7, 6])
    """
    return _n_dimensional("convolve", in1, in2, mode, method, True)


@public
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Cross-correlate two N-dimensional arrays; the second is conjugated.

    Parameters
    ----------
    in1, in2 : Array
        The arrays, of as many dimensions; one may be a list or a NumPy array.
    {convolution_mode}
    {convolution_method}

    Returns
    -------
    Array
        In the dtype that the arrays promote to.

    Raises
    ------
    {convolution_raises}

    See Also
    --------
    convolve, correlate2d

    Notes
    -----
    {products_of_signals}

    {signals_by_transforms}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.signal.correlate(pp.asarray([1, 2, 3]), [0, 1, 2])
    array([2, 5, 8, 3, 0])
    """
    return _n_dimensional("correlate", in1, in2, mode, method, False)


@public
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """Convolve two 2-dimensional arrays.

    Parameters
    ----------
    in1, in2 : Array
        Two-dimensional; one may be a list or a NumPy array.
    {convolution_mode}
    {convolution_boundary}

    Returns
    -------
    Array
        In the dtype that the arrays promote to.

    Raises
    ------
    {convolution_raises}

    See Also
    --------
    correlate2d, convolve

    Notes
    -----
    {products_of_signals}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.signal.convolve2d(pp.asarray([[1, 2], [3, 4]]), [[1, 1]], boundary="symm")
    array([[2, 3, 4],
           [6, 7, 8]])
    """
    return _two_dimensional("convolve2d", in1, in2, mode, boundary, fillvalue, True)


@public
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """Cross-correlate two 2-dimensional arrays; the second is conjugated.

    Parameters
    ----------
    in1, in2 : Array
        Two-dimensional; one may be a list or a NumPy array.
    {convolution_mode}
    {convolution_boundary}

    Returns
    -------
    Array
        In the dtype that the arrays promote to.

    Raises
    ------
    {convolution_raises}

    See Also
    --------
    convolve2d, correlate

    Notes
    -----
    {products_of_signals}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.signal.correlate2d(pp.asarray([[1, 2], [3, 4]]), [[1, 10]])
    array([[10, 21,  2],
           [30, 43,  4]])
    """
    return _two_dimensional("correlate2d", in1, in2, mode, boundary, fillvalue, False)
