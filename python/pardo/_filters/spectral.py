# python/pardo/_filters/spectral.py: signal: convolutions by Fourier transforms.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.contexts import public
from pardo._base import promotion
from pardo._base.arguments import default_on, word
from pardo._base.promotion import is_narrow, kind_of
from pardo._core import Array
from pardo._fft import frequencies, transforms
from pardo._functions.operands import axes_of, cast, operands

__all__ = ["fftconvolve"]

MODES = ("full", "same", "valid")


def convolved(x: Array, y: Array, mode: str, axes: Sequence[int]) -> Array:
    """By a product of transforms along these axes, along which both are as long as all sums then; along others they broadcast. Mode 'same'
    is the middle of the result, of the first one's shape."""
    shape = [max(n, m) for n, m in zip(x.shape, y.shape, strict=True)]
    for d in axes:
        shape[d] = x.shape[d] + y.shape[d] - 1
    is_complex = "c" in (x._kind, y._kind)
    extents = [frequencies.next_fast_len(shape[d], not is_complex) for d in axes]
    forward, back = (transforms.fftn, transforms.ifftn) if is_complex else (transforms.rfftn, transforms.irfftn)
    if axes:
        sums = back(_core.multiply(forward(x, extents, axes), forward(y, extents, axes)), extents, axes)
    else:
        sums = _core.multiply(x, y)
    count = list(x.shape) if mode == "same" else list(shape)
    if mode == "valid":
        for d in axes:
            count[d] = x.shape[d] - y.shape[d] + 1
    first = [(n - c) // 2 for n, c in zip(shape, count, strict=True)]
    return sums[tuple(slice(f, f + n) for f, n in zip(first, count, strict=True))]


def longest_direct(x: Array) -> int:
    """How many elements a sequence may have for its sums of products with this longer one not to be slower than transforms, as measured."""
    if x.device.type == "gpu":
        return 16
    return (128 if x._kind == "c" else 256) << (x.size > 1 << 15)


def is_faster(x: Array, y: Array, count: int) -> bool:
    """Whether transforms take less time than so many sums of products, as measured with arrays of float32 on a CPU."""
    if x.ndim == 1:
        return min(x.size, y.size) > longest_direct(x if x.size > y.size else y)
    size = math.prod(n + m - 1 for n, m in zip(x.shape, y.shape, strict=True))
    return count * min(x.size, y.size) > 40 * size * math.log2(size + 1)


@public
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
    """Convolve two N-dimensional arrays using FFT.

    Parameters
    ----------
    in1, in2 : Array
        The arrays, of as many dimensions; one may be a list or a NumPy array.
    {convolution_mode}
    axes : int or sequence of int, optional
        The axes along which they are convolved. Along others they broadcast. Default: all.

    Returns
    -------
    Array
        In the dtype of floats that the arrays promote to; float64 for integers.

    Raises
    ------
    {convolution_raises}

    See Also
    --------
    convolve, correlate

    Notes
    -----
    A product of Fourier transforms (`pardo.fft`) of both, with zeros behind. Errors are relative to the largest element, and NaN or
    infinite elements spread over all of the result.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.signal.fftconvolve(pp.asarray([1.0, 2.0, 3.0]), [0.0, 1.0, 2.0])
    >>> bool(pp.allclose(x, pp.asarray([0.0, 1.0, 4.0, 7.0, 6.0])))
    True
    """
    kind = word(mode, "fftconvolve: mode", MODES)
    x, y = operands([in1, in2], "fftconvolve")
    common = promotion.result_type(x.dtype, y.dtype)
    if kind_of(common) not in "fc":
        common = np.dtype(np.float64)
    elif is_narrow(common):
        common = np.dtype(np.float32)
    common = default_on(x.queue, common)
    x, y = cast(x, common), cast(y, common)
    if x.ndim != y.ndim:
        raise ValueError(f"fftconvolve: in1 and in2 should have the same dimensionality: they have {x.ndim} and {y.ndim} dimensions")
    if x.ndim == 0:
        return _core.multiply(x, y)
    if x.size == 0 or y.size == 0:
        return _core._empty([0], common, x.queue)
    chosen = sorted(axes_of(axes, x.ndim, "fftconvolve"))
    if not chosen:
        raise ValueError("fftconvolve: when provided, axes cannot be empty")
    if any(d not in chosen and n != m and 1 not in (n, m) for d, (n, m) in enumerate(zip(x.shape, y.shape, strict=True))):
        raise ValueError(f"fftconvolve: incompatible shapes for in1 and in2: {x.shape} and {y.shape}")
    chosen = [d for d in chosen if x.shape[d] != 1 and y.shape[d] != 1]  # an axis of one element broadcasts
    if kind == "valid":
        pairs = [(x.shape[d], y.shape[d]) for d in chosen]
        if not all(n >= m for n, m in pairs):
            if not all(n <= m for n, m in pairs):
                raise ValueError("fftconvolve: for 'valid' mode, one array must be at least as large as the other in every dimension")
            x, y = y, x
    return convolved(x, y, kind, chosen)
