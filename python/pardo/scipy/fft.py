# python/pardo/scipy/fft.py: Fourier, cosine and sine transforms, by SciPy's names and parameters.
"""Discrete Fourier, cosine and sine transforms, by the names of `scipy.fft` and with its parameters."""

from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._fft import frequencies as _frequencies
from pardo._fft import scipy_names as _scipy_names
from pardo._fft.frequencies import fftshift, ifftshift, next_fast_len, prev_fast_len
from pardo._fft.scipy_names import (
    dct,
    dctn,
    dst,
    dstn,
    fft,
    fft2,
    fftfreq,
    fftn,
    get_workers,
    hfft,
    hfft2,
    hfftn,
    idct,
    idctn,
    idst,
    idstn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
    set_workers,
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
    "get_workers",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "set_workers",
]

_contexts.serve_contexts(globals(), [_frequencies, _scipy_names])
_public_names.publish_module(globals())
