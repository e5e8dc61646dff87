# python/pardo/_fft/many_axes.py: Fourier transforms along two and more axes.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._fft.arguments import COMPLEX, FROM_HALF, TO_HALF, many_axes

__all__ = [
    "fft2",
    "fftn",
    "ifft2",
    "ifftn",
    "irfft2",
    "irfftn",
    "rfft2",
    "rfftn",
]


@filled
def fft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the 2-dimensional discrete Fourier Transform.

    Parameters
    ----------
    a : Array
        The signal, real or complex.
    {fft_s}
    {fft_two_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The spectrum: complex64 for float16, float32 and complex64, else complex128.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    ifft2, fftn, fft

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.fft2(pp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return many_axes(a, s, axes, norm, out, COMPLEX, True, "fft2")


@filled
def ifft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the 2-dimensional inverse discrete Fourier Transform.

    Parameters
    ----------
    a : Array
        The spectrum, with frequencies in the order of `fftfreq`.
    {fft_s}
    {fft_two_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The signal: complex64 for float16, float32 and complex64, else complex128.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    fft2, ifftn, ifft

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.ifft2(pp.asarray([[10.0, -2.0], [-4.0, 0.0]])).real
    array([[1., 2.],
           [3., 4.]])
    """
    return many_axes(a, s, axes, norm, out, COMPLEX, False, "ifft2")


@filled
def fftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the N-dimensional discrete Fourier Transform.

    Parameters
    ----------
    a : Array
        The signal, real or complex.
    {fft_s}
    {fft_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The spectrum: complex64 for float16, float32 and complex64, else complex128. Without any axis it is `a`.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    ifftn, fft, rfftn, fftshift

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.fftn(pp.ones((2, 2, 2)), axes=(0, 2))[:, 0]
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return many_axes(a, s, axes, norm, out, COMPLEX, True, "fftn")


@filled
def ifftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the N-dimensional inverse discrete Fourier Transform.

    Parameters
    ----------
    a : Array
        The spectrum, with frequencies in the order of `fftfreq`.
    {fft_s}
    {fft_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The signal: complex64 for float16, float32 and complex64, else complex128. Without any axis it is `a`.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    fftn, ifft, irfftn

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.ifftn(pp.asarray([[4.0, 0.0], [0.0, 0.0]])).real
    array([[1., 1.],
           [1., 1.]])
    """
    return many_axes(a, s, axes, norm, out, COMPLEX, False, "ifftn")


@filled
def rfft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the 2-dimensional FFT of a real array.

    Parameters
    ----------
    a : Array
        The signal, real.
    {fft_s}
    {fft_two_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The spectrum, of the last axis the half that `rfft` gives. complex64 for float16 and float32, else complex128.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    irfft2, rfftn, fft2

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.rfft2(pp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).shape
    (2, 2)
    """
    return many_axes(a, s, axes, norm, out, TO_HALF, True, "rfft2")


@filled
def irfft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the inverse FFT of `rfft2`.

    Parameters
    ----------
    a : Array
        The spectrum, of the last axis the half that `rfft` gives.
    {fft_half_s}
    {fft_two_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The signal: float32 for float16, float32 and complex64, else float64.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    rfft2, irfftn, ifft2

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    >>> pp.allclose(pp.fft.irfft2(pp.fft.rfft2(x)), x)
    True
    """
    return many_axes(a, s, axes, norm, out, FROM_HALF, False, "irfft2")


@filled
def rfftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the N-dimensional discrete Fourier Transform for real input.

    Parameters
    ----------
    a : Array
        The signal, real.
    {fft_s}
    {fft_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The spectrum, of the last of the axes the half that `rfft` gives. complex64 for float16 and float32, else complex128.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    irfftn, rfft, fftn

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.rfftn(pp.ones((2, 4)))
    array([[8.+0.j, 0.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j, 0.+0.j]])
    """
    return many_axes(a, s, axes, norm, out, TO_HALF, True, "rfftn")


@filled
def irfftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None, out: Array | None = None
) -> Array:
    """Compute the inverse of `rfftn`.

    Parameters
    ----------
    a : Array
        The spectrum, of the last of the axes the half that `rfft` gives.
    {fft_half_s}
    {fft_axes}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The signal: float32 for float16, float32 and complex64, else float64.

    Raises
    ------
    {fftn_raises}

    See Also
    --------
    rfftn, irfft, ifftn

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.irfftn(pp.asarray([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    return many_axes(a, s, axes, norm, out, FROM_HALF, False, "irfftn")
