# python/pardo/_matrices/scipy_factors.py: factorizations, singular values and eigenvalues that NumPy has too, with SciPy's parameters.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo import _core
from pardo._base.arguments import array, flag, index, word
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._matrices import functions
from pardo._matrices.results import finite_matrices, only_without, require_square, transposed

__all__ = ["cholesky", "eig", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]


def _of_one(a: Any, b: Any, check_finite: Any, op_name: str) -> Array:
    """The matrices of a problem with one matrix, which only Hermitian ones may have two of."""
    if b is not None:
        raise NotImplementedError(
            f"{op_name}: b is taken by eigh and eigvalsh alone; of a matrix b that has an inverse give solve(b, a) in place of both"
        )
    return finite_matrices(a, check_finite, op_name, square=True)


def _homogeneous(w: Array, wanted: Any, op_name: str) -> Array:
    if not flag(wanted, f"{op_name}: homogeneous_eigvals"):
        return w
    return _core._stack([w, _core._full(list(w.shape), 1, w.dtype, w.queue)], 0)


@filled
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Compute the Cholesky decomposition of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Hermitian (symmetric, if real) positive-definite matrices.
    lower : bool
        Whether the factor is lower triangular, ``a == L @ L.conj().T``; else upper, ``a == U.conj().T @ U``, which is SciPy's default and
        not NumPy's. The triangle of the factor is the one of `a` that is read.
    {overwrite_a}
    {check_finite}

    Returns
    -------
    Array of shape (..., M, M)
        The factors, zeros in the other triangle.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one is not positive definite or has elements that are infinite or NaN.

    See Also
    --------
    cho_factor, cho_solve, pardo.linalg.cholesky

    Notes
    -----
    By LAPACK's potrf.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.cholesky(pp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 1.],
           [0., 2.]])
    """
    upper, finite = not flag(lower, "cholesky: lower"), flag(check_finite, "cholesky: check_finite")
    return _core._cholesky(require_square(array(a, "cholesky"), "cholesky"), upper, finite, "cholesky")


@filled
def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Any, ...]:
    """Compute QR decomposition of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    {overwrite_a}
    lwork : int, optional
        The size of LAPACK's work array. It has no effect.
    mode : {'full', 'r', 'economic', 'raw'}
        With K = min(M, N): 'full' gives Q of (M, M) and R of (M, N), which is SciPy's default and not NumPy's; 'economic' Q of (M, K) and R
        of (K, N); 'r' R of (M, N) alone, in a tuple; 'raw' what LAPACK's geqrf gives, the pair of reflectors of (M, N) and their factors
        of (K,), and R of (K, N).
    pivoting : bool
        SciPy's exchange of columns, which is not there: False.
    {check_finite_now}

    Returns
    -------
    tuple
        Q and R, with ``a == Q @ R``, or what `mode` says.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions.
    ValueError
        `mode` is something else, or elements are infinite or NaN.
    NotImplementedError
        `pivoting` is true.

    See Also
    --------
    svd, pardo.linalg.qr

    Notes
    -----
    By Householder reflections (LAPACK's gelqf on the transposed matrix).

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]])
    >>> Q, R = pp.scipy.linalg.qr(a)
    >>> Q.shape, R.shape
    ((3, 3), (3, 2))
    >>> pp.allclose(Q @ R, a)
    True
    """
    word(mode, "qr: mode", ("full", "r", "economic", "raw"))
    only_without(flag(pivoting, "qr: pivoting"), "pivoting", "singular values tell the rank (svdvals)", "qr")
    if lwork is not None:
        index(lwork, "qr: lwork")
    x = finite_matrices(a, check_finite, "qr")
    if mode == "full":
        return _core._qr(x, 1, "qr")
    if mode == "economic":
        return _core._qr(x, 0, "qr")
    if mode == "raw":
        reflectors, factors = _core._qr(x, 3, "qr")
        both = transposed(reflectors)
        return (both, factors), _core._triu(both[..., : min(x.shape[-2:]), :], 0)
    _, r = _core._qr(x, 2, "qr")
    m, k = x.shape[-2], r.shape[-2]
    if k == m:
        return (r,)
    return (_core._concat([r, _core._full([*r.shape[:-2], m - k, r.shape[-1]], 0, r.dtype, r.queue)], r.ndim - 2),)


@filled
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Singular Value Decomposition.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    full_matrices : bool
        Whether U is of (M, M) and Vh of (N, N); else they are of (M, K) and (K, N), with K = min(M, N).
    compute_uv : bool
        Whether U and Vh are computed.
    {overwrite_a}
    {check_finite_now}
    lapack_driver : {'gesdd', 'gesvd'}
        SciPy's choice of LAPACK's function. It has no effect: gesdd computes it.

    Returns
    -------
    tuple of Array, or Array
        U, the singular values in descending order, of shape (..., K) and real, and Vh; or the singular values alone.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions; or, when a result is used, the computation did not converge.
    ValueError
        Elements are infinite or NaN, or `lapack_driver` is something else.

    See Also
    --------
    svdvals, pinv, pardo.linalg.svd

    Notes
    -----
    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[3.0, 0.0], [4.0, 5.0]])
    >>> U, s, Vh = pp.scipy.linalg.svd(a)
    >>> pp.allclose((U * s) @ Vh, a)
    True
    """
    word(lapack_driver, "svd: lapack_driver", ("gesdd", "gesvd"))
    full, vectors = flag(full_matrices, "svd: full_matrices"), flag(compute_uv, "svd: compute_uv")
    x = finite_matrices(a, check_finite, "svd")
    return tuple(_core._svd(x, full, "svd")) if vectors else _core._svdvals(x, "svd")


@filled
def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Compute singular values of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    {overwrite_a}
    {check_finite_now}

    Returns
    -------
    Array of shape (..., min(M, N))
        The singular values, real, in descending order.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions; or, when the result is used, the computation did not converge.
    ValueError
        Elements are infinite or NaN.

    See Also
    --------
    svd

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.svdvals(pp.asarray([[3.0, 0.0], [4.0, 5.0]])).round(6)
    array([6.708204, 2.236068])
    """
    return _core._svdvals(finite_matrices(a, check_finite, "svdvals"), "svdvals")


@filled
def eig(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """Solve an ordinary eigenvalue problem of a square matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    b : None
        SciPy's second matrix, which only `eigh` takes here.
    left : bool
        SciPy's wish for left eigenvectors, which are not there: False.
    right : bool
        Whether the right eigenvectors are computed.
    {overwrite_a}
    {overwrite_b}
    {check_finite_now}
    homogeneous_eigvals : bool
        Whether the eigenvalues are given as pairs, ``w[0] / w[1]``, of shape (2, ..., M).

    Returns
    -------
    Array, or tuple of Array
        The eigenvalues, complex, of shape (..., M); and with `right` the vectors of norm 1, as columns in the same order, complex.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when a result is used, eigenvalues did not converge.
    ValueError
        Elements are infinite or NaN.
    NotImplementedError
        `b` is given, or `left` is true.

    See Also
    --------
    eigvals, eigh, pardo.linalg.eig

    Notes
    -----
    By the QR algorithm (LAPACK's geev). Eigenvectors are complex also where all eigenvalues are real, which only the values tell.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> w, v = pp.scipy.linalg.eig(pp.asarray([[0.0, -1.0], [1.0, 0.0]]))
    >>> w
    array([0.+1.j, 0.-1.j])
    """
    only_without(
        flag(left, "eig: left"), "left", "the right eigenvectors of a.conj().T are the left ones of a, for conjugate eigenvalues", "eig"
    )
    x = _of_one(a, b, check_finite, "eig")
    if not flag(right, "eig: right"):
        return _homogeneous(_core._eigvals(x, "eig"), homogeneous_eigvals, "eig")
    w, v = _core._eig(x, "eig")
    return _homogeneous(w, homogeneous_eigvals, "eig"), v


@filled
def eigvals(
    a: Any,
    b: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Array:
    """Compute eigenvalues from an ordinary eigenvalue problem.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    b : None
        SciPy's second matrix, which only `eigvalsh` takes here.
    {overwrite_a}
    {overwrite_b}
    {check_finite_now}
    homogeneous_eigvals : bool
        Whether the eigenvalues are given as pairs, ``w[0] / w[1]``, of shape (2, ..., M).

    Returns
    -------
    Array of shape (..., M)
        The eigenvalues, complex, in no particular order.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, eigenvalues did not converge.
    ValueError
        Elements are infinite or NaN.
    NotImplementedError
        `b` is given.

    See Also
    --------
    eig, eigvalsh

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.eigvals(pp.asarray([[0.0, -1.0], [1.0, 0.0]]))
    array([0.+1.j, 0.-1.j])
    """
    x = _of_one(a, b, check_finite, "eigvals")
    return _homogeneous(_core._eigvals(x, "eigvals"), homogeneous_eigvals, "eigvals")


@filled
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Sequence[int] | None = None,
    subset_by_value: Sequence[float] | None = None,
    driver: str | None = None,
) -> Array:
    """Solve a standard or generalized eigenvalue problem for a Hermitian or real symmetric matrix: the eigenvalues alone.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Hermitian (symmetric, if real) matrices.
    b : Array of shape (..., M, M), optional
        Hermitian positive-definite matrices. Default: unit matrices.
    lower : bool
        Which triangles are read, the lower or the upper ones.
    {overwrite_a}
    {overwrite_b}
    type : {1, 2, 3}
        The problem, if `b` is given, as in `eigh`.
    {check_finite}
    subset_by_index : pair of int, optional
        The first and the last eigenvalue that is wanted, counted from 0 in ascending order.
    subset_by_value : pair of float, optional
        The half-open interval of the eigenvalues that are wanted, ``low < w <= high``. For one matrix; the eigenvalues are waited for.
    driver : str, optional
        SciPy's choice of LAPACK's function, which has no effect here.

    Returns
    -------
    Array of shape (..., K)
        The eigenvalues, real, in ascending order.

    Raises
    ------
    {matrix_raises}
    ValueError
        A subset is none of the eigenvalues, both are given, or `type` is something else.
    LinAlgError
        Matrices are not square; or, when the result is used, `b` is not positive definite, elements are infinite or NaN, or the
        eigenvalues did not converge.

    See Also
    --------
    eigh, eigvals

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.eigvalsh(pp.asarray([[2.0, 1.0], [1.0, 2.0]])).round(6)
    array([1., 3.])
    """
    result: Array = functions.hermitian_problem("eigvalsh", a, b, lower, True, type, check_finite, subset_by_index, subset_by_value, driver)
    return result
