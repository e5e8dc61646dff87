# python/pardo/fft.py: Fourier transforms, by NumPy's names; cosine and sine transforms by SciPy's.
"""Discrete Fourier transforms, by the names of `numpy.fft`, and those of `scipy.fft` that NumPy does not have."""

from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._fft import frequencies as _frequencies
from pardo._fft import transforms as _transforms
from pardo._fft.frequencies import fftfreq, fftshift, ifftshift, next_fast_len, prev_fast_len, rfftfreq
from pardo._fft.transforms import (
    dct,
    dctn,
    dst,
    dstn,
    fft,
    fft2,
    fftn,
    hfft,
    idct,
    idctn,
    idst,
    idstn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

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

_contexts.serve_contexts(globals(), [_frequencies, _transforms])
_public_names.publish_module(globals())
