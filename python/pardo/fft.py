# python/pardo/fft.py: Fourier transforms, by NumPy's names; cosine and sine transforms by SciPy's.
"""Discrete Fourier transforms, by the names of `numpy.fft`, and those of `scipy.fft` that NumPy does not have."""

from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._fft import cosines as _cosines
from pardo._fft import frequencies as _frequencies
from pardo._fft import many_axes as _many_axes
from pardo._fft import one_axis as _one_axis
from pardo._fft.cosines import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from pardo._fft.frequencies import fftfreq, fftshift, ifftshift, next_fast_len, prev_fast_len, rfftfreq
from pardo._fft.many_axes import fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn
from pardo._fft.one_axis import fft, hfft, ifft, ihfft, irfft, rfft

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_contexts.serve_contexts(globals(), [_cosines, _frequencies, _many_axes, _one_axis])
_public_names.publish_module(globals())
