# python/pardo/lib/stride_tricks.py: views in which elements come several times, by the names of numpy.lib.stride_tricks.
"""Views of arrays with other strides, by the names of `numpy.lib.stride_tricks`."""

from pardo._base import public_names as _public_names
from pardo._functions.strides import as_strided, sliding_window_view

__all__ = ["as_strided", "sliding_window_view"]
_public_names.publish_module(globals())
