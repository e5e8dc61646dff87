# python/pardo/scipy/fft.py: Fourier, cosine and sine transforms, by SciPy's names and parameters.
"""Discrete Fourier, cosine and sine transforms, by the names of `scipy.fft` and with its parameters."""

from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._fft import frequencies as _frequencies
from pardo._fft import scipy_names as _scipy_names
from pardo._fft.scipy_names import *

__all__ = _scipy_names.__all__

_contexts.serve_contexts(globals(), [_frequencies, _scipy_names])
_public_names.publish_module(globals())
