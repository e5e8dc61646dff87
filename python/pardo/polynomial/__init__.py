# python/pardo/polynomial/__init__.py: series of polynomials, by NumPy's names.
"""Series of polynomials, by the names of `numpy.polynomial`: six families, a module and a class each."""

from pardo._base import public_names as _public_names
from pardo._polynomials.classes import set_default_printstyle
from pardo.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial
from pardo.polynomial import polyutils as polyutils
from pardo.polynomial.chebyshev import Chebyshev
from pardo.polynomial.hermite import Hermite
from pardo.polynomial.hermite_e import HermiteE
from pardo.polynomial.laguerre import Laguerre
from pardo.polynomial.legendre import Legendre
from pardo.polynomial.polynomial import Polynomial

__all__ = [
    "Chebyshev",
    "Hermite",
    "HermiteE",
    "Laguerre",
    "Legendre",
    "Polynomial",
    "chebyshev",
    "hermite",
    "hermite_e",
    "laguerre",
    "legendre",
    "polynomial",
    "set_default_printstyle",
]

_public_names.publish_module(globals())
