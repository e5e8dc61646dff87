# python/pardo/_fft/one_axis.py: Fourier transforms along one axis.
from __future__ import annotations

from typing import Any

from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._fft.arguments import COMPLEX, FROM_HALF, TO_HALF, one_axis

__all__ = [
    "fft",
    "hfft",
    "ifft",
    "ihfft",
    "irfft",
    "rfft",
]


@filled
def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
    """Compute the one-dimensional discrete Fourier Transform.

    Parameters
    ----------
    a : Array
        The signal, real or complex.
    {fft_n}
    {fft_axis}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The spectrum: complex64 for float16, float32 and complex64, else complex128. Frequencies are in the order of `fftfreq`.

    Raises
    ------
    {fft_raises}

    See Also
    --------
    ifft, rfft, fftn, fftfreq, next_fast_len

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.fft(pp.asarray([1.0, 2.0, 0.0, 0.0]))
    array([ 3.+0.j,  1.-2.j, -1.+0.j,  1.+2.j])
    """
    return one_axis(a, n, axis, norm, out, COMPLEX, True, "fft")


@filled
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
    """Compute the one-dimensional inverse discrete Fourier Transform.

    Parameters
    ----------
    a : Array
        The spectrum, with frequencies in the order of `fftfreq`.
    {fft_n}
    {fft_axis}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The signal: complex64 for float16, float32 and complex64, else complex128.

    Raises
    ------
    {fft_raises}

    See Also
    --------
    fft, irfft, ifftn

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.ifft(pp.asarray([0.0, 4.0, 0.0, 0.0]))
    array([ 1.+0.j,  0.+1.j, -1.+0.j,  0.-1.j])
    """
    return one_axis(a, n, axis, norm, out, COMPLEX, False, "ifft")


@filled
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
    """Compute the one-dimensional discrete Fourier Transform for real input.

    Parameters
    ----------
    a : Array
        The signal, real.
    {fft_n}
    {fft_axis}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The frequencies that are not negative: the axis has length ``n // 2 + 1``. complex64 for float16 and float32, else complex128.

    Raises
    ------
    {fft_raises}

    See Also
    --------
    irfft, fft, rfftn, rfftfreq

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.rfft(pp.asarray([1.0, 2.0, 0.0, 0.0]))
    array([ 3.+0.j,  1.-2.j, -1.+0.j])
    """
    return one_axis(a, n, axis, norm, out, TO_HALF, True, "rfft")


@filled
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
    """Compute the inverse of `rfft`.

    Parameters
    ----------
    a : Array
        The frequencies that are not negative. The imaginary parts of the first, and of the last for an even `n`, are not looked at.
    {fft_half_n}
    {fft_axis}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The signal: float32 for float32 and complex64, float16 for float16, else float64.

    Raises
    ------
    {fft_raises}

    See Also
    --------
    rfft, ifft, irfftn

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.irfft(pp.asarray([3.0, 1 - 2j, -1.0]))
    array([1., 2., 0., 0.])
    """
    return one_axis(a, n, axis, norm, out, FROM_HALF, False, "irfft")


@filled
def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
    """Compute the FFT of a signal that has Hermitian symmetry, i.e., a real spectrum.

    Parameters
    ----------
    a : Array
        The half of the signal that begins at time zero.
    {fft_half_n}
    {fft_axis}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The spectrum, real: float32 for float32 and complex64, float16 for float16, else float64.

    Raises
    ------
    {fft_raises}

    See Also
    --------
    ihfft, irfft

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.hfft(pp.asarray([1.0, 2.0, 3.0]))
    array([ 8., -2.,  0., -2.])
    """
    return one_axis(a, n, axis, norm, out, FROM_HALF, True, "hfft")


@filled
def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Array:
    """Compute the inverse FFT of a signal that has Hermitian symmetry.

    Parameters
    ----------
    a : Array
        The spectrum, real.
    {fft_n}
    {fft_axis}
    {fft_norm}
    {out}

    Returns
    -------
    Array
        The half of the signal that begins at time zero: the axis has length ``n // 2 + 1``. complex64 for float16 and float32, else
        complex128.

    Raises
    ------
    {fft_raises}

    See Also
    --------
    hfft, rfft

    Notes
    -----
    {fft_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fft.ihfft(pp.asarray([8.0, -2.0, 0.0, -2.0])).real
    array([1., 2., 3.])
    """
    return one_axis(a, n, axis, norm, out, TO_HALF, False, "ihfft")
