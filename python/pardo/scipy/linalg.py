# python/pardo/scipy/linalg.py: linear algebra by SciPy's names and parameters.
"""Linear algebra by the names of `scipy.linalg`, with its parameters and defaults, which are not always those of `numpy.linalg`."""

from numpy.linalg import LinAlgError
from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._matrices import functions as _functions
from pardo._matrices import scipy_factors as _scipy_factors
from pardo._matrices import scipy_systems as _scipy_systems
from pardo._matrices import structured as _structured
from pardo._matrices import systems as _systems
from pardo._matrices.functions import eigh, expm
from pardo._matrices.scipy_factors import cholesky, eig, eigvals, eigvalsh, qr, svd, svdvals
from pardo._matrices.scipy_systems import det, inv, lstsq, norm, pinv, solve
from pardo._matrices.structured import solve_banded, solve_toeplitz, solveh_banded, toeplitz
from pardo._matrices.systems import cho_factor, cho_solve, lu, lu_factor, lu_solve, solve_triangular

__all__ = [
    "LinAlgError",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "pinv",
    "qr",
    "solve",
    "solve_banded",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "svd",
    "svdvals",
    "toeplitz",
]

_contexts.serve_contexts(globals(), [_functions, _scipy_factors, _scipy_systems, _structured, _systems])
_public_names.publish_module(globals())
