# python/pardo/ndimage.py: filters of images of any number of dimensions, by SciPy's names.
"""Filters of arrays of any number of dimensions, by the names of `scipy.ndimage`."""

from pardo._base import public_names as _public_names
from pardo._filters.derivatives import (
    gaussian_gradient_magnitude,
    gaussian_laplace,
    generic_gradient_magnitude,
    generic_laplace,
    laplace,
    prewitt,
    sobel,
)
from pardo._filters.linear import convolve, convolve1d, correlate, correlate1d
from pardo._filters.ranks import (
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    rank_filter,
)
from pardo._filters.smoothing import gaussian_filter, gaussian_filter1d, uniform_filter, uniform_filter1d
from pardo._filters.splines import spline_filter, spline_filter1d
from pardo._filters.transforms import affine_transform, map_coordinates, rotate, shift, zoom

__all__ = [
    "affine_transform",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_gradient_magnitude",
    "generic_laplace",
    "laplace",
    "map_coordinates",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "uniform_filter",
    "uniform_filter1d",
    "zoom",
]

_public_names.publish_module(globals())
