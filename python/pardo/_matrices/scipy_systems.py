# python/pardo/_matrices/scipy_systems.py: systems, inverses, determinants and norms that NumPy has too, with SciPy's parameters.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import array, flag, word
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._matrices import norms
from pardo._matrices.results import all_finite, both_triangles, finite_matrices, in_floats, pseudo_inverse, require_square, swapped
from pardo._matrices.systems import together

__all__ = ["det", "inv", "lstsq", "norm", "pinv", "solve"]

_DRIVERS = ("gelsd", "gelsy", "gelss")
_GENERAL, _DIAGONAL, _UPPER, _LOWER, _SYMMETRIC, _HERMITIAN, _POSITIVE = range(7)
# What SciPy's `assume_a` may be. Bands are systems like all others here.
_ASSUMED = {
    None: _GENERAL,
    "general": _GENERAL,
    "gen": _GENERAL,
    "banded": _GENERAL,
    "tridiagonal": _GENERAL,
    "diagonal": _DIAGONAL,
    "upper triangular": _UPPER,
    "lower triangular": _LOWER,
    "symmetric": _SYMMETRIC,
    "sym": _SYMMETRIC,
    "hermitian": _HERMITIAN,
    "her": _HERMITIAN,
    "positive definite": _POSITIVE,
    "pos": _POSITIVE,
}


def _assumed(assume_a: Any, op_name: str) -> int:
    if assume_a is None or (isinstance(assume_a, str) and assume_a in _ASSUMED):
        return _ASSUMED[assume_a]
    names = ", ".join(repr(name) for name in _ASSUMED if name)
    raise ValueError(f"{op_name}: assume_a must be one of {names}, not {assume_a!r}")


def _meant(x: Array, kind: int, lower: bool) -> Array:
    """The whole matrix, of which only some elements are read."""
    if kind == _DIAGONAL:
        return _core._tril(_core._triu(x, 0), 0)
    if kind in (_UPPER, _LOWER):
        return _core._triu(x, 0) if kind == _UPPER else _core._tril(x, 0)
    if kind in (_SYMMETRIC, _HERMITIAN):
        return both_triangles(x, not lower, kind == _HERMITIAN)
    return x


def _solved(x: Array, y: Array, kind: int, lower: bool, op_name: str) -> Array:
    """By the factorization that the kind of matrix has."""
    if kind == _POSITIVE:
        factor = _core._cholesky(x, not lower, False, op_name)
        column = y.ndim == 1
        first, second = (0, 2) if lower else (2, 0)
        y = _core._solve_triangular(factor, y[:, None] if column else y, not lower, first, False, False, op_name)
        y = _core._solve_triangular(factor, y, not lower, second, False, False, op_name)
        return y[..., 0] if column else y
    return _core._solve(_meant(x, kind, lower), y, op_name)


@filled
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Array:
    """Solve the linear equations a @ x == b for the unknown x for square a.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Coefficients.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices, which are broadcast against those of `a`.
    lower : bool
        Whether the lower triangle is read, where `assume_a` says that one is enough.
    {overwrite_a}
    {overwrite_b}
    {check_finite_now}
    assume_a : str, optional
        What is known of the matrices: 'diagonal', 'upper triangular', 'lower triangular', 'symmetric', 'hermitian', 'positive definite', or
        'general', 'tridiagonal' and 'banded', which are computed alike. Elements that it makes needless are not read. Default: 'general'.
    transposed : bool
        Whether ``a.T @ x == b`` is solved.

    Returns
    -------
    Array of shape (M,), (..., M) or (..., M, K)
        The solutions.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one is singular, or not positive definite if it is taken for such a one.
    ValueError
        Shapes do not fit, elements are infinite or NaN, or `assume_a` is something else.

    See Also
    --------
    lu_solve, cho_solve, solve_triangular, pardo.linalg.solve

    Notes
    -----
    By the LU factorization with partial pivoting (LAPACK's getrf), of positive definite matrices by potrf. SciPy's warning of matrices that
    are close to singular is not given.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[4.0, 2.0], [0.0, 5.0]])
    >>> pp.scipy.linalg.solve(a, pp.asarray([6.0, 7.0]), assume_a="pos")
    array([1., 1.])
    """
    x, y = together([a, b], "solve")
    kind, low, turned = _assumed(assume_a, "solve"), flag(lower, "solve: lower"), flag(transposed, "solve: transposed")
    x = all_finite(require_square(x, "solve"), check_finite, "solve")
    y = all_finite(y, check_finite, "solve")
    if turned:
        x = swapped(x)
        kind = {_UPPER: _LOWER, _LOWER: _UPPER}.get(kind, kind)
        low = not low if kind in (_SYMMETRIC, _HERMITIAN, _POSITIVE) else low
    return _solved(x, y, kind, low, "solve")


@filled
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None, lower: bool = False) -> Array:
    """Compute the inverse of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    {overwrite_a}
    {check_finite_now}
    assume_a : str, optional
        What is known of the matrices, as in `solve`.
    lower : bool
        Whether the lower triangle is read, where `assume_a` says that one is enough.

    Returns
    -------
    Array of shape (..., M, M)
        Their inverses.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one is singular, or not positive definite if it is taken for such a one.
    ValueError
        Elements are infinite or NaN, or `assume_a` is something else.

    See Also
    --------
    solve, pinv

    Notes
    -----
    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.inv(pp.asarray([[1.0, 2.0], [3.0, 4.0]])).round(3)
    array([[-2. ,  1. ],
           [ 1.5, -0.5]])
    """
    kind, low = _assumed(assume_a, "inv"), flag(lower, "inv: lower")
    x = finite_matrices(a, check_finite, "inv", square=True)
    if kind == _POSITIVE:
        unit = _core._eye(x.shape[-1], x.shape[-1], 0, in_floats(x, "inv").dtype, x.queue)
        return _solved(x, unit, kind, low, "inv")
    return _core._inv(_meant(x, kind, low), False, "inv")


@filled
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Compute the determinant of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    {overwrite_a}
    {check_finite_now}

    Returns
    -------
    Array of shape (...)
        The determinants.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square.
    ValueError
        Elements are infinite or NaN.

    See Also
    --------
    lu, pardo.linalg.slogdet

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.det(pp.asarray([[1.0, 2.0], [3.0, 4.0]])).round(6)
    array(-2.)
    """
    return _core._det(finite_matrices(a, check_finite, "det", square=True), "det")


@filled
def norm(a: Any, ord: Any = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, check_finite: bool = True) -> Array:
    """Matrix or vector norm.

    Parameters
    ----------
    a : Array
        Vectors or matrices; without `axis` and with `ord` it has one or two dimensions.
    ord : int, float, inf, -inf, {'fro', 'nuc'}, optional
        Which norm, as in `pardo.linalg.norm`. Default: the square root of the sum of all squares.
    axis : int or pair of int, optional
        The axis of the vectors, or the two of the matrices. Default: all.
    {keepdims}
    {check_finite_now}

    Returns
    -------
    Array
        The norms, real.

    Raises
    ------
    {not_an_array}
    ValueError
        There is no such norm, axes are equal, there are neither one nor two of them, or elements are infinite or NaN.
    AxisError
        `a` has no such axis; a ValueError and an IndexError.

    See Also
    --------
    svdvals, pardo.linalg.norm

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.norm(pp.asarray([3.0, 4.0]))
    array(5.)
    """
    return norms.norm(all_finite(array(a, "norm"), check_finite, "norm"), ord, axis, keepdims)


@filled
def lstsq(
    a: Any,
    b: Any,
    cond: float | None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> tuple[Array, Array, Array, Array | None]:
    """Compute least-squares solution to the equation a @ x == b.

    Parameters
    ----------
    a : Array of shape (M, N)
        Coefficients.
    b : Array of shape (M,) or (M, K)
        The right-hand sides.
    cond : float, optional
        Singular values of `a` below this share of the largest one count as zero. Default: the precision of the dtype.
    {overwrite_a}
    {overwrite_b}
    {check_finite_now}
    lapack_driver : {'gelsd', 'gelsy', 'gelss'}, optional
        SciPy's choice of LAPACK's function. All give the solution of gelsd; as in SciPy, 'gelsy' leaves out residuals and singular values.

    Returns
    -------
    tuple
        The solution of shape (N,) or (N, K), the one of least norm if there are several; the sums of squared residuals, of shape () or
        (K,), or of shape (0,) where the rank is less than N or M is not more than N; the rank of `a`, an int64 without dimensions; the
        singular values of `a`, or None.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        An operand has not the dimensions above; or, when a result is used, the singular values did not converge.
    ValueError
        Numbers of rows differ, elements are infinite or NaN, or `lapack_driver` is something else.

    See Also
    --------
    pinv, pardo.linalg.lstsq

    Notes
    -----
    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> t = pp.asarray([0.0, 1.0, 2.0, 3.0])
    >>> x, residuals, rank, s = pp.scipy.linalg.lstsq(pp.stack([t, pp.ones(4)], axis=1), 2 * t + 1)
    >>> x.round(6)
    array([2., 1.])
    """
    if lapack_driver is not None:
        word(lapack_driver, "lstsq: lapack_driver", _DRIVERS)
    x, y = together([a, b], "lstsq")
    for operand in (x, y):
        all_finite(operand, check_finite, "lstsq")
    solution, residuals, rank, s = _core._lstsq(x, y, -1.0 if cond is None else float(cond), "lstsq")
    m, n = x.shape
    if lapack_driver == "gelsy":
        return solution, _core._full([0], 0, solution.dtype, solution.queue), rank, None
    if m <= n or int(rank) != n:
        residuals = residuals[:0]
    elif y.ndim == 1:
        residuals = _core._reshape(residuals, [])
    return solution, residuals, rank, s


def _tolerance(value: Any, default: float, name: str) -> float:
    if value is None:
        return default
    number = float(value)
    if number < 0 or math.isnan(number):
        raise ValueError(f"pinv: {name} is {number}; atol and rtol values must be positive")
    return number


@filled
def pinv(a: Any, *, atol: float | None = None, rtol: float | None = None, return_rank: bool = False, check_finite: bool = True) -> Any:
    """Compute the (Moore-Penrose) pseudo-inverse of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    atol : float, optional
        Singular values up to ``atol + rtol * largest`` count as zero. Default: 0.
    rtol : float, optional
        See `atol`. Default: the precision of the dtype times the larger one of M and N.
    return_rank : bool
        Whether the ranks are given too.
    {check_finite_now}

    Returns
    -------
    Array of shape (..., N, M), or tuple of Array
        The pseudo-inverses; with `return_rank` also the ranks, int64.

    Raises
    ------
    {matrix_raises}
    ValueError
        `atol` or `rtol` is negative, or elements are infinite or NaN.
    LinAlgError
        `a` has less than two dimensions; or, when a result is used, singular values did not converge.

    See Also
    --------
    lstsq, pardo.linalg.pinv

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> b, rank = pp.scipy.linalg.pinv(a, return_rank=True)
    >>> b.round(6)
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0. ]])
    >>> rank
    array(2)
    """
    x = finite_matrices(in_floats(a, "pinv"), check_finite, "pinv")
    m, n = x.shape[-2:]
    least = _tolerance(atol, 0.0, "atol")
    share = _tolerance(rtol, max(m, n) * float(promotion.finfo(x.dtype).eps), "rtol")
    wants_rank = flag(return_rank, "pinv: return_rank")
    if m == 0 or n == 0:
        inverse = _core._full([*x.shape[:-2], n, m], 0, x.dtype, x.queue)
        return (inverse, _core._full(list(x.shape[:-2]), 0, np.dtype(np.int64), x.queue)) if wants_rank else inverse
    u, s, vh = _core._svd(x, False, "pinv")
    limit = _core.add(_core.multiply(_core._reduce(_core._MAX, s, [-1], True), share), least)
    inverse = pseudo_inverse(u, s, vh, limit)
    return (inverse, _core._reduce(_core._SUM, _core.greater(s, limit), [-1], False, np.dtype(np.int64))) if wants_rank else inverse
