# python/pardo/_filters/sequences.py: NumPy's convolution and correlation of two sequences.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._analysis.differences import summed_products
from pardo._base import promotion
from pardo._base.arguments import SCALARS, default_on, word
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._fft.arguments import COMPLEX, FROM_HALF, TO_HALF
from pardo._fft.frequencies import next_fast_len
from pardo._filters import convolution, spectral, windows
from pardo._functions.operands import cast, operands

__all__ = ["convolve", "correlate"]

_MODES = ("valid", "same", "full")


def mode_of(mode: Any, op_name: str) -> str:
    if isinstance(mode, (int, np.integer)) and not isinstance(mode, bool) and 0 <= mode < 3:
        return _MODES[mode]
    return word(mode, f"{op_name}: mode", _MODES)


def two_sequences(a: Any, v: Any, op_name: str) -> tuple[Array, Array]:
    x, y = operands([a, v], op_name)
    x, y = (_core._reshape(s, [1]) if s.ndim == 0 else s for s in (x, y))
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"{op_name}: object too deep for desired array: sequences of one dimension are expected")
    if x.size == 0 or y.size == 0:
        raise ValueError(f"{op_name}: a sequence is empty")
    common = default_on(x.queue, promotion.result_type(x.dtype, y.dtype))
    return cast(x, common), cast(y, common)


_FUSED = 1 << 15  # products up to which a kernel of their own takes longer


def _by_transforms(long: Array, short: Array, mode: str, op_name: str) -> Array | None:
    """As `_sliding` does; None where that is faster, and where transforms would overflow, or spread what is not finite. Waits."""
    n, m, real = long.size, short.size, long._kind == "f"
    if m <= spectral.longest_direct(long) or long._kind not in "fc" or not _core._has_fft(long.queue):
        return None
    points = next_fast_len(n + m - 1, real)
    wide = default_on(long.queue, np.float64)
    sums = [_core._reduce(_core._SUM, cast(_core.absolute(s), wide), None, False) for s in (long, short)]
    narrow = np.float32 if long.dtype in (np.float32, np.complex64) or promotion.is_narrow(long.dtype) else np.float64
    if not float(_core.multiply(*sums)) * points < promotion.finfo(narrow).max:
        return None
    there, back = (TO_HALF, FROM_HALF) if real else (COMPLEX, COMPLEX)
    spectra = [_core._fft(s, there, True, 1.0, 0, False, [points], [0], op_name) for s in (long, _core._flip(short, [0]))]
    full = _core._fft(_core.multiply(*spectra), back, False, 1 / points, 0, False, [points], [0], op_name)
    first, count = {"valid": (m - 1, n - m + 1), "full": (0, n + m - 1)}[mode]
    return cast(full[first : first + count], long.dtype)


def _sliding(long: Array, short: Array, mode: str, op_name: str) -> Array:
    """Products of the short sequence with each part of the long one, summed."""
    by_transforms = _by_transforms(long, short, mode, op_name)
    if by_transforms is not None:
        return by_transforms
    n, m = long.size, short.size
    masked = mode == "full" and not _core._known_finite(short)  # at each product, where they are one expression
    if m <= (4 if masked else 16) or (not masked and n * m <= _FUSED):
        return summed_products(long, short, mode, masked)
    first, count = (1 - m, n + m - 1) if mode == "full" else (0, n - m + 1)
    return convolution.slide(long, short, [first], [count], windows.CONSTANT, 0)


@filled
def convolve(a: Any, v: Any, mode: Any = "full") -> Array:
    """Return the discrete, linear convolution of two one-dimensional sequences.

    Parameters
    ----------
    {sequences}
    mode : {'full', 'same', 'valid'}
        Whether all sums are returned, as many as the longer sequence has elements, or those where the sequences overlap completely.

    Returns
    -------
    Array
        One-dimensional, in the dtype that the sequences promote to.

    Raises
    ------
    {sequence_errors}

    See Also
    --------
    correlate, polymul

    Notes
    -----
    Sums of products, in one kernel; of integers always. Fourier transforms make them of floats where they are faster, on devices that have
    transforms: where the shorter sequence has more than 256 elements, of complex numbers 128, and twice as many where the longer one has
    more than 32768; on a GPU more than 16. Errors are some units in the last place of the largest sum then, not of each. Whether all is
    finite and nothing overflows is looked at before, and waited for: else the products are summed.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.convolve(pp.asarray([1, 2, 3]), [0, 1, 2])
    array([0, 1, 4, 7, 6])
    """
    x, y = two_sequences(a, v, "convolve")
    if y.size > x.size:
        x, y = y, x
    m = y.size
    y = _core._flip(y, [0])
    kind = mode_of(mode, "convolve")
    if kind != "same":
        return _sliding(x, y, kind, "convolve")
    first = (m - 1) // 2
    return _sliding(x, y, "full", "convolve")[first : first + x.size]


@filled
def correlate(a: Any, v: Any, mode: Any = "valid") -> Array:
    """Cross-correlation of two 1-dimensional sequences; the second is conjugated.

    Parameters
    ----------
    {sequences}
    mode : {'valid', 'same', 'full'}
        Whether all sums are returned, as many as the longer sequence has elements, or those where the sequences overlap completely.

    Returns
    -------
    Array
        One-dimensional, in the dtype that the sequences promote to.

    Raises
    ------
    {sequence_errors}

    See Also
    --------
    convolve

    Notes
    -----
    By sums of products or by Fourier transforms, as `convolve` does it.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.correlate(pp.asarray([1, 2, 3]), [0, 1, 0.5], "full")
    array([0.5, 2. , 3.5, 3. , 0. ])
    """
    if any(getattr(s, "ndim", 1) == 0 or isinstance(s, SCALARS) for s in (a, v)):
        raise ValueError("correlate: object of too small depth for desired array: sequences of one dimension are expected")
    x, y = two_sequences(a, v, "correlate")
    y = _core.conjugate(y) if y._kind == "c" else y
    kind = mode_of(mode, "correlate")
    turned = y.size > x.size
    if turned:  # the sums in the other order: those of both sequences backwards
        x, y = _core._flip(y, [0]), _core._flip(x, [0])
    result = _sliding(x, y, "full" if kind == "same" else kind, "correlate")
    if kind == "same":
        first = y.size // 2 if turned else (y.size - 1) - y.size // 2
        result = result[first : first + x.size]
    return result
