# python/pardo/signal.py: convolutions and filters of signals, by SciPy's names.
"""Convolutions and correlations of arrays, by the names of `scipy.signal`."""

from pardo._base import public_names as _public_names
from pardo._filters.convolution import convolve, convolve2d, correlate, correlate2d

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d"]

_public_names.publish_module(globals())
