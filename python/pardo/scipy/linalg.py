# python/pardo/scipy/linalg.py: linear algebra that NumPy does not have, by SciPy's names.
"""Linear algebra by the names of `scipy.linalg`: factorizations that are kept, systems with a structure, the exponential of matrices."""

from numpy.linalg import LinAlgError
from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._matrices import functions as _functions
from pardo._matrices import structured as _structured
from pardo._matrices import systems as _systems
from pardo._matrices.functions import eigh, expm
from pardo._matrices.structured import solve_banded, solve_toeplitz, solveh_banded, toeplitz
from pardo._matrices.systems import cho_factor, cho_solve, lu, lu_factor, lu_solve, solve_triangular

__all__ = [
    "LinAlgError",
    "cho_factor",
    "cho_solve",
    "eigh",
    "expm",
    "lu",
    "lu_factor",
    "lu_solve",
    "solve_banded",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "toeplitz",
]

_contexts.serve_contexts(globals(), [_functions, _structured, _systems])
_public_names.publish_module(globals())
