# python/pardo/polynomial/laguerre.py: series of Laguerre's polynomials.
"""Series of Laguerre's polynomials, by the names of `numpy.polynomial.laguerre`."""

from typing import Any as _Any

from pardo._base import absent as _absent
from pardo._base import public_names as _public_names
from pardo._polynomials import classes as _classes
from pardo._polynomials import families as _families
from pardo._polynomials import making as _making

Laguerre: _Any = _classes.CLASSES["laguerre"]
globals().update(_making.module_of(_families.LAGUERRE, Laguerre))
__all__ = [name for name in globals() if not name.startswith("_")]


def __getattr__(name: str) -> _Any:
    """Tell that a name is not there; type checkers take it for those that are made above."""
    raise _absent.missing(__name__, name)


_public_names.publish_module(globals())
