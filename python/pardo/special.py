# python/pardo/special.py: special functions, by SciPy's names.
"""Special functions, elementwise, by the names of `scipy.special`."""

from pardo._base import public_names as _public_names
from pardo._core import _erf as erf
from pardo._core import _erfc as erfc

__all__ = ["erf", "erfc"]

_public_names.publish_module(globals())
