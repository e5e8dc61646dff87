# python/pardo/signal.py: convolutions and filters of signals, by SciPy's names.
"""Convolutions, correlations and recursive filters of arrays, by the names of `scipy.signal`."""

from pardo._base import public_names as _public_names
from pardo._filters.convolution import convolve, convolve2d, correlate, correlate2d
from pardo._filters.recursive import lfilter, sosfilt
from pardo._filters.spectral import fftconvolve

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve", "lfilter", "sosfilt"]

_public_names.publish_module(globals())
