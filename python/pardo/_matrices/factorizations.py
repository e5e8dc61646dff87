# python/pardo/_matrices/factorizations.py: Cholesky, QR, singular values, eigenvalues.
from __future__ import annotations

from typing import Any, Literal, overload

from pardo import _core
from pardo._array.searching import take_along_axis
from pardo._base.arguments import array, flag, warn, word
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._matrices.results import EighResult, EigResult, QRResult, SVDResult, adjoint, require_matrices, transposed

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]

_MODES = {"reduced": 0, "complete": 1, "r": 2, "raw": 3, "economic": 3}
_FORMER_MODES = {"f": "full", "full": "full", "e": "economic", "economic": "economic"}


@filled
def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """Cholesky decomposition.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Hermitian (symmetric, if real) positive-definite matrices.
    upper : bool
        Whether the factor is upper triangular: ``a == U.conj().T @ U``; else ``a == L @ L.conj().T``. The triangle of the factor is the one
        of `a` that is read; whether the other fits is not checked.

    Returns
    -------
    Array of shape (..., M, M)
        The factors, zeros in the other triangle.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one of them is not positive definite.

    See Also
    --------
    solve, eigh

    Notes
    -----
    By LAPACK's potrf.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.cholesky(pp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    return _core._cholesky(array(a, "cholesky"), flag(upper, "cholesky: upper"), False, "cholesky")


@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> Array: ...
@overload
def qr(a: Any, mode: Literal["raw"]) -> tuple[Array, Array]: ...
@overload
def qr(a: Any, mode: str) -> Any: ...
@filled
def qr(a: Any, mode: str = "reduced") -> Any:
    """Compute the qr factorization of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    mode : {'reduced', 'complete', 'r', 'raw'}
        With K = min(M, N): 'reduced' gives Q of (M, K) and R of (K, N); 'complete' Q of (M, M) and R of (M, N); 'r' R of (K, N) alone;
        'raw' what LAPACK's geqrf gives, the reflectors of (N, M) and their factors of (K,).

    Returns
    -------
    QRResult, Array, or tuple of Array
        Matrices with orthonormal columns in `Q` and upper triangular ones in `R`: ``a == Q @ R``; what `mode` says in other cases.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions.
    ValueError
        `mode` is something else.

    See Also
    --------
    svd, lstsq

    Notes
    -----
    By Householder reflections (LAPACK's gelqf on the transposed matrix, which is how the elements lie in memory).

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> Q, R = pp.linalg.qr(pp.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> pp.allclose(Q @ R, pp.asarray([[3.0, 1.0], [4.0, 2.0]]))
    True
    >>> abs(R).round(3)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    if isinstance(mode, str) and mode in _FORMER_MODES:
        warn(f"qr: the mode {mode!r} is deprecated, as in NumPy", DeprecationWarning)
        mode = "reduced" if _FORMER_MODES[mode] == "full" else "economic"
    else:
        word(mode, "qr: Unrecognized mode: mode", ("reduced", "complete", "r", "raw"))
    first, second = _core._qr(array(a, "qr"), _MODES[mode], "qr")
    if mode == "r":
        return second
    if mode == "economic":
        return transposed(first)
    return (first, second) if mode == "raw" else QRResult(first, second)


@overload
def svd(a: Any, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False) -> SVDResult: ...
@overload
def svd(a: Any, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False) -> Array: ...
@overload
def svd(a: Any, full_matrices: bool, compute_uv: Literal[False], hermitian: bool = False) -> Array: ...
@overload
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> SVDResult | Array: ...
@filled
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular Value Decomposition.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    full_matrices : bool
        Whether U is of (M, M) and Vh of (N, N); else they are of (M, K) and (K, N), with K = min(M, N).
    compute_uv : bool
        Whether U and Vh are computed.
    hermitian : bool
        Whether `a` may be taken for Hermitian (symmetric, if real), which is found faster by eigenvalues. Its lower triangle is read.

    Returns
    -------
    SVDResult or Array
        Unitary matrices in `U` and `Vh`, singular values in descending order, of shape (..., K) and real, in `S`:
        ``a == (U * S[..., None, :]) @ Vh`` without `full_matrices`. Without `compute_uv` the singular values alone.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `a` has less than two dimensions; or, when a result is used, the computation did not converge, as it does not for NaN.

    See Also
    --------
    svdvals, eigh, pinv, matrix_rank

    Notes
    -----
    By LAPACK's gesdd; `hermitian` by its syevd or heevd. Singular vectors are determined up to a factor of absolute value 1: those of
    NumPy may differ in sign.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[3.0, 0.0], [4.0, 5.0]])
    >>> U, S, Vh = pp.linalg.svd(a)
    >>> S.round(6)
    array([6.708204, 2.236068])
    >>> pp.allclose((U * S) @ Vh, a)
    True
    """
    x = array(a, "svd")
    full, vectors = flag(full_matrices, "svd: full_matrices"), flag(compute_uv, "svd: compute_uv")
    if flag(hermitian, "svd: hermitian"):
        return _hermitian(x, "svd") if vectors else singular_values(x, True, "svd")
    return SVDResult(*_core._svd(x, full, "svd")) if vectors else _core._svdvals(x, "svd")


def _hermitian(x: Array, op_name: str) -> SVDResult:
    """By eigenvalues, in descending order of their absolute values."""
    values, vectors = _core._eigh(x, False, op_name)
    s = _core.absolute(values)
    order = _core._argsort(s, -1, True, True)
    s, signs = take_along_axis(s, order), take_along_axis(_core.copysign(1.0, values), order)
    u = take_along_axis(vectors, order[..., None, :])
    return SVDResult(u, s, adjoint(_core.multiply(u, signs[..., None, :])))


def singular_values(x: Array, hermitian: bool, op_name: str) -> Array:
    """In descending order."""
    if hermitian:
        return _core._sort(_core.absolute(_core._eigvalsh(x, False, op_name)), -1, True, True)
    return _core._svdvals(x, op_name)


def decomposed(x: Array, hermitian: bool, op_name: str) -> SVDResult:
    """Without full matrices."""
    return _hermitian(x, op_name) if hermitian else SVDResult(*_core._svd(require_matrices(x, op_name), False, op_name))


@filled
def svdvals(x: Any, /) -> Array:
    """Return the singular values of a matrix (or a stack of matrices) x.

    Parameters
    ----------
    x : Array of shape (..., M, N)
        The matrices.

    Returns
    -------
    Array of shape (..., min(M, N))
        The singular values, real, in descending order.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        `x` has less than two dimensions; or, when the result is used, the computation did not converge, as it does not for NaN.

    See Also
    --------
    svd, matrix_norm, cond

    Notes
    -----
    By LAPACK's gesdd.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.svdvals(pp.asarray([[3.0, 0.0], [4.0, 5.0]])).round(6)
    array([6.708204, 2.236068])
    """
    return _core._svdvals(array(x, "svdvals"), "svdvals")


@filled
def eig(a: Any) -> EigResult:
    """Compute the eigenvalues and right eigenvectors of a square array.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.

    Returns
    -------
    EigResult
        The eigenvalues, of shape (..., M), in `eigenvalues`; in `eigenvectors` the vectors of norm 1, as columns in the same order. Both
        are complex.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when a result is used, one of them has elements that are infinite or NaN, or its eigenvalues did not
        converge.

    See Also
    --------
    eigvals, eigh

    Notes
    -----
    By the QR algorithm (LAPACK's geev). The results are complex also where all eigenvalues are real, as the array API has it; NumPy's
    are real then, which only the values tell.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[0.0, -1.0], [1.0, 0.0]])
    >>> w, v = pp.linalg.eig(a)
    >>> w
    array([0.+1.j, 0.-1.j])
    >>> pp.allclose(a @ v, v * w)
    True
    """
    return EigResult(*_core._eig(array(a, "eig"), "eig"))


@filled
def eigvals(a: Any) -> Array:
    """Compute the eigenvalues of a general matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.

    Returns
    -------
    Array of shape (..., M)
        The eigenvalues, complex, in no particular order.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one of them has elements that are infinite or NaN, or its eigenvalues did not
        converge.

    See Also
    --------
    eig, eigvalsh

    Notes
    -----
    By the QR algorithm (LAPACK's geev). The results are complex also where all eigenvalues are real, as the array API has it; NumPy's
    are real then, which only the values tell.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.eigvals(pp.asarray([[0.0, -1.0], [1.0, 0.0]]))
    array([0.+1.j, 0.-1.j])
    """
    return _core._eigvals(array(a, "eigvals"), "eigvals")


def _is_upper(triangle: Any, op_name: str) -> bool:
    return word(triangle.upper() if isinstance(triangle, str) else triangle, f"{op_name}: UPLO", ("L", "U")) == "U"


@filled
def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Return the eigenvalues and eigenvectors of a complex Hermitian (conjugate symmetric) or a real symmetric matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    UPLO : {'L', 'U'}
        Which triangle is read, the lower or the upper one; whether the other fits is not checked.

    Returns
    -------
    EighResult
        The eigenvalues, of shape (..., M), real and ascending, in `eigenvalues`; in `eigenvectors` orthonormal vectors, as columns in
        the same order.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when a result is used, the eigenvalues of one did not converge.
    ValueError
        `UPLO` is something else.

    See Also
    --------
    eigvalsh, eig, svd

    Notes
    -----
    By divide and conquer (LAPACK's syevd and heevd).

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> w, v = pp.linalg.eigh(pp.asarray([[2.0, 1.0], [1.0, 2.0]]))
    >>> w.round(6)
    array([1., 3.])
    """
    return EighResult(*_core._eigh(array(a, "eigh"), _is_upper(UPLO, "eigh"), "eigh"))


@filled
def eigvalsh(a: Any, UPLO: str = "L") -> Array:
    """Compute the eigenvalues of a complex Hermitian or real symmetric matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    UPLO : {'L', 'U'}
        Which triangle is read, the lower or the upper one; whether the other fits is not checked.

    Returns
    -------
    Array of shape (..., M)
        The eigenvalues, real, in ascending order.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, the eigenvalues of one did not converge.
    ValueError
        `UPLO` is something else.

    See Also
    --------
    eigh, eigvals

    Notes
    -----
    By LAPACK's syevd and heevd.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.eigvalsh(pp.asarray([[2.0, 1.0], [1.0, 2.0]])).round(6)
    array([1., 3.])
    """
    return _core._eigvalsh(array(a, "eigvalsh"), _is_upper(UPLO, "eigvalsh"), "eigvalsh")
