# python/pardo/polynomial/hermite.py: series of Hermite's polynomials of physics.
"""Series of Hermite's polynomials of physics, by the names of `numpy.polynomial.hermite`."""

from typing import Any as _Any

from pardo._base import absent as _absent
from pardo._base import public_names as _public_names
from pardo._polynomials import classes as _classes
from pardo._polynomials import families as _families
from pardo._polynomials import making as _making

Hermite: _Any = _classes.CLASSES["hermite"]
globals().update(_making.module_of(_families.HERMITE, Hermite))
__all__ = [name for name in globals() if not name.startswith("_")]


def __getattr__(name: str) -> _Any:
    """Tell that a name is not there; type checkers take it for those that are made above."""
    raise _absent.missing(__name__, name)


_public_names.publish_module(globals())
