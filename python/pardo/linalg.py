# python/pardo/linalg.py: linear algebra, by NumPy's names and the array API's.
"""Linear algebra, by the names of `numpy.linalg`: factorizations, systems, eigenvalues, norms, of matrices and of stacks of them."""

from numpy.linalg import LinAlgError
from pardo._array import contexts as _contexts
from pardo._base import public_names as _public_names
from pardo._matrices import factorizations as _factorizations
from pardo._matrices import norms as _norms
from pardo._matrices import products as _products
from pardo._matrices import results as _results
from pardo._matrices import solving as _solving
from pardo._matrices.factorizations import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from pardo._matrices.norms import cond, matrix_norm, matrix_rank, norm, pinv, vector_norm
from pardo._matrices.products import cross, diagonal, matmul, matrix_transpose, outer, tensordot, trace, vecdot
from pardo._matrices.results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult
from pardo._matrices.solving import det, inv, lstsq, matrix_power, multi_dot, slogdet, solve, tensorinv, tensorsolve

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

_contexts.serve_contexts(globals(), [_factorizations, _norms, _products, _results, _solving])
_public_names.publish_module(globals())
