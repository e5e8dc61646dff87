# python/pardo/plot.py: arrays as pixels, and points and lines counted in them.
"""Pictures that are made on the device of their arrays. Axes, texts and windows are those of other libraries, which take these arrays."""

from pardo._base import public_names as _public_names
from pardo._pictures.lines import lines
from pardo._pictures.pixels import pixels
from pardo._pictures.points import density, limits

__all__ = ["density", "limits", "lines", "pixels"]

_public_names.publish_module(globals())
