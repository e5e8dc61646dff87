# python/pardo/_matrices/results.py: what functions of several results return, and how all of them read matrices.
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._base.arguments import array, default_on, flag
from pardo._core import Array

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Array
    S: Array
    Vh: Array


def transposed(x: Array) -> Array:
    """The last two axes change places."""
    return _core._moveaxis(x, [x.ndim - 1], [x.ndim - 2])


# Where a parameter is called `transposed`.
swapped = transposed


def adjoint(x: Array) -> Array:
    """Transposed, and conjugate if complex."""
    return _core.conjugate(transposed(x)) if x._kind == "c" else transposed(x)


def all_finite(x: Array, check_finite: Any, op_name: str) -> Array:
    """The array, after SciPy's check at the call, which waits for the elements."""
    wanted = flag(check_finite, f"{op_name}: check_finite") and x._kind in "fc" and x.size > 0
    if wanted and not bool(_core._reduce(_core._ALL, _core.isfinite(x), None, False)):
        raise ValueError(f"{op_name}: array must not contain infs or NaNs")
    return x


def only_without(value: bool, what: str, instead: str, op_name: str) -> None:
    """Refuse what SciPy has and is not here, and say what to do."""
    if value:
        raise NotImplementedError(f"{op_name}: {what} is not there: {instead}")


def require_matrices(x: Array, op_name: str) -> Array:
    """The array, if it has two dimensions at least."""
    if x.ndim < 2:
        raise np.linalg.LinAlgError(f"{op_name}: {x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return x


def require_square(x: Array, op_name: str) -> Array:
    """The array, if it is a stack of square matrices."""
    if require_matrices(x, op_name).shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(f"{op_name}: Last 2 dimensions of the array must be square, got shape {x.shape}")
    return x


def finite_matrices(a: Any, check_finite: Any, op_name: str, *, square: bool = False) -> Array:
    """The operand of a function of SciPy's, checked: matrices, square ones if that is asked for, and elements."""
    x = (require_square if square else require_matrices)(array(a, op_name), op_name)
    return all_finite(x, check_finite, op_name)


def both_triangles(x: Array, upper: bool, hermitian: bool = True) -> Array:
    """Hermitian or symmetric matrices, of which only one triangle is read."""
    half, rest = (_core._triu(x, 0), _core._triu(x, 1)) if upper else (_core._tril(x, 0), _core._tril(x, -1))
    return _core.add(half, adjoint(rest) if hermitian else transposed(rest))


def pseudo_inverse(u: Array, s: Array, vh: Array, limit: Array) -> Array:
    """Of a singular value decomposition, whose values up to a limit count as zero."""
    reciprocal = _core._where(_core.greater(s, limit), _core.divide(1, s), 0)
    return _core._matmul(adjoint(vh), _core.multiply(reciprocal[..., None], adjoint(u)))


def in_floats(x: Any, op_name: str) -> Array:
    """The array, integers and bools as float64; float32 on a device that has no float64."""
    a = array(x, op_name)
    return a if a._kind in "fc" else a._astype(default_on(a.queue, np.float64), False)
