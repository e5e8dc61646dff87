# python/pardo/_matrices/systems.py: factorizations that are kept, and triangular systems, by SciPy's names.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo import _core
from pardo._base.arguments import array, arrays, flag, same_queue
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._matrices.results import adjoint, require_square

__all__ = [
    "cho_factor",
    "cho_solve",
    "lu",
    "lu_factor",
    "lu_solve",
    "solve_triangular",
]

_TAKEN = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def _taken(trans: Any, op_name: str) -> int:
    if isinstance(trans, (int, str)) and trans in _TAKEN:
        return _TAKEN[trans]
    raise ValueError(f"{op_name}: trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")


def pair_of(value: Any, what: str, op_name: str) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{op_name}: {what} must be a pair, not {type(value).__name__}")
    return value[0], value[1]


def together(xs: Sequence[Any], op_name: str) -> list[Array]:
    """The arrays, on one queue."""
    found = arrays(xs, op_name)
    for x in found[1:]:
        same_queue(found[0], x, op_name)
    return found


def _placed(places: Array, op_name: str) -> Array:
    """The permutation matrix of such places: ones at (i, places[i])."""
    n = places.shape[-1]
    return _core.equal(places[..., None], _core._iota([n], 0, places.queue))


@filled
def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False) -> tuple[Array, ...]:
    """Compute LU decomposition of a matrix with partial pivoting.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    permute_l : bool
        Whether P is multiplied into L: ``a == L @ U``.
    {overwrite_a}
    {check_finite}
    p_indices : bool
        Whether P is given as indices: ``a == L[P] @ U`` for one matrix.

    Returns
    -------
    tuple of Array
        P of shape (..., M, M), or of (..., M) with `p_indices`, and absent with `permute_l`; L of shape (..., M, K), lower triangular
        with ones on the diagonal; U of shape (..., K, N), upper triangular. K is min(M, N), and ``a == P @ L @ U``.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions; or, when a result is used, elements are infinite or NaN.

    See Also
    --------
    lu_factor, lu_solve

    Notes
    -----
    By LAPACK's getrf.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[1.0, 2.0], [4.0, 2.0]])
    >>> P, L, U = pp.scipy.linalg.lu(a)
    >>> L
    array([[1.  , 0.  ],
           [0.25, 1.  ]])
    >>> pp.allclose(P @ L @ U, a)
    True
    """
    both, _, places = _core._lu_factor(array(a, "lu"), flag(check_finite, "lu: check_finite"), "lu")
    m, n = both.shape[-2:]
    k = min(m, n)
    lower = _core.add(_core._tril(both[..., :k], -1), _core._eye(m, k, 0, both.dtype, both.queue))
    upper = _core._triu(both[..., :k, :], 0)
    if flag(permute_l, "lu: permute_l"):
        return _core._matmul(_placed(places, "lu")._astype(both.dtype, False), lower), upper
    if flag(p_indices, "lu: p_indices"):
        return places, lower, upper
    return _placed(places, "lu")._astype(_core.real(both[..., :0, :0]).dtype, False), lower, upper


@filled
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Compute pivoted LU decomposition of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    {overwrite_a}
    {check_finite}

    Returns
    -------
    tuple of Array
        L and U in one, of the shape of `a`, without the ones of L's diagonal; and the row that each of the first min(M, N) rows was
        exchanged with, in order, int32.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions; or, when a result is used, elements are infinite or NaN.

    See Also
    --------
    lu_solve, lu

    Notes
    -----
    By LAPACK's getrf. A singular matrix is no error: U has a zero on its diagonal.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> lu, piv = pp.scipy.linalg.lu_factor(pp.asarray([[1.0, 2.0], [4.0, 2.0]]))
    >>> lu
    array([[4.  , 2.  ],
           [0.25, 1.5 ]])
    >>> piv
    array([1, 1], dtype=int32)
    """
    both, exchanges, _ = _core._lu_factor(array(a, "lu_factor"), flag(check_finite, "lu_factor: check_finite"), "lu_factor")
    return both, exchanges


@filled
def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: Any = 0, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """Solve an equation system, a x = b, given the LU factorization of a.

    Parameters
    ----------
    lu_and_piv : pair of Array
        What `lu_factor` gives for square matrices.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices.
    trans : {0, 1, 2}
        The system: ``a @ x == b``, ``a.T @ x == b``, or ``a.conj().T @ x == b``; also as 'N', 'T', 'C'.
    {overwrite_b}
    {check_finite}

    Returns
    -------
    Array
        The solutions.

    Raises
    ------
    {matrix_raises}
    ValueError
        `trans` is something else, or the shapes do not fit.
    LinAlgError
        The factors are not square; or, when the result is used, elements are infinite or NaN, or a row is out of bounds.

    See Also
    --------
    lu_factor, solve_triangular

    Notes
    -----
    By BLAS's trsm. Factors of a singular matrix give infinities or NaN.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[1.0, 2.0], [3.0, 5.0]])
    >>> pp.scipy.linalg.lu_solve(pp.scipy.linalg.lu_factor(a), pp.asarray([1.0, 2.0])).round(6)
    array([-1.,  1.])
    """
    factors, exchanges = pair_of(lu_and_piv, "lu_and_piv", "lu_solve")
    x, piv, y = together([factors, exchanges, b], "lu_solve")
    return _core._lu_solve(x, piv, y, _taken(trans, "lu_solve"), flag(check_finite, "lu_solve: check_finite"), "lu_solve")


@filled
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, bool]:
    """Compute the Cholesky decomposition of a matrix, to use in cho_solve.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Hermitian (symmetric, if real) positive-definite matrices.
    lower : bool
        Whether the factor is the lower or the upper one. The same triangle of `a` is read.
    {overwrite_a}
    {check_finite}

    Returns
    -------
    tuple of Array and bool
        The factors, zeros in their other triangle; and `lower`.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when a result is used, one of them is not positive definite, or has elements that are infinite or NaN.

    See Also
    --------
    cho_solve

    Notes
    -----
    By LAPACK's potrf. SciPy leaves what was in the other triangle, here are zeros.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> c, lower = pp.scipy.linalg.cho_factor(pp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    >>> c
    array([[2., 1.],
           [0., 2.]])
    """
    below = flag(lower, "cho_factor: lower")
    finite = flag(check_finite, "cho_factor: check_finite")
    return _core._cholesky(array(a, "cho_factor"), not below, finite, "cho_factor"), below


@filled
def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """Solve the linear equations a x = b, given the Cholesky factorization of a.

    Parameters
    ----------
    c_and_lower : pair of Array and bool
        What `cho_factor` gives.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices.
    {overwrite_b}
    {check_finite}

    Returns
    -------
    Array
        The solutions.

    Raises
    ------
    {matrix_raises}
    ValueError
        The shapes do not fit.
    LinAlgError
        The factors are not square; or, when the result is used, elements are infinite or NaN, or a factor is singular.

    See Also
    --------
    cho_factor

    Notes
    -----
    By BLAS's trsm.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> c = pp.scipy.linalg.cho_factor(pp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    >>> pp.scipy.linalg.cho_solve(c, pp.asarray([4.0, 2.0]))
    array([1., 0.])
    """
    factor, lower = pair_of(c_and_lower, "c_and_lower", "cho_solve")
    x, y = together([factor, b], "cho_solve")
    upper, finite = not flag(lower, "cho_solve: lower"), flag(check_finite, "cho_solve: check_finite")
    first, second = (2, 0) if upper else (0, 2)
    column = y.ndim == 1
    y = _core._solve_triangular(x, y[:, None] if column else y, upper, first, False, finite, "cho_solve")
    y = _core._solve_triangular(x, y, upper, second, False, False, "cho_solve")
    return y[..., 0] if column else y


@filled
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve the equation a x = b for x, assuming a is a triangular matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices, of which one triangle is read.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices, which are broadcast against those of `a`.
    trans : {0, 1, 2}
        The system: ``a @ x == b``, ``a.T @ x == b``, or ``a.conj().T @ x == b``; also as 'N', 'T', 'C'.
    lower : bool
        Which triangle is read, the lower or the upper one.
    unit_diagonal : bool
        Whether the diagonal is taken for ones, and not read.
    {overwrite_b}
    {check_finite}

    Returns
    -------
    Array
        The solutions.

    Raises
    ------
    {matrix_raises}
    ValueError
        `trans` is something else, or the shapes do not fit.
    LinAlgError
        Matrices are not square; or, when the result is used, one is singular, or has elements that are infinite or NaN.

    See Also
    --------
    lu_solve, cho_solve

    Notes
    -----
    By BLAS's trsm.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[2.0, 0.0], [1.0, 4.0]])
    >>> pp.scipy.linalg.solve_triangular(a, pp.asarray([2.0, 9.0]), lower=True)
    array([1., 2.])
    """
    x, y = together([a, b], "solve_triangular")
    upper = not flag(lower, "solve_triangular: lower")
    ones, finite = flag(unit_diagonal, "solve_triangular: unit_diagonal"), flag(check_finite, "solve_triangular: check_finite")
    return _core._solve_triangular(x, y, upper, _taken(trans, "solve_triangular"), ones, finite, "solve_triangular")


def lower_factor(b: Array, upper: bool, finite: bool, op_name: str) -> Array:
    """L with b == L @ L.conj().T, from one triangle of b."""
    factor = _core._cholesky(require_square(b, op_name), upper, finite, op_name)
    return adjoint(factor) if upper else factor
