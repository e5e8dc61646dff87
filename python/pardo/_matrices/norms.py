# python/pardo/_matrices/norms.py: norms, and what singular values tell: conditions, ranks, pseudo-inverses.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import SCALARS, array, array_like, axis_index, flag, keeps_dimensions
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._matrices.factorizations import decomposed, singular_values
from pardo._matrices.results import in_floats, pseudo_inverse, require_matrices, require_square

__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "pinv", "vector_norm"]


def _reduced(fold: int, x: Array, axes: list[int], keepdims: bool = False, initial: Any = None) -> Array:
    return _core._reduce(fold, x, axes, keepdims, None, None, initial)


def _squares(x: Array) -> Array:
    return _core.real(_core.multiply(x, _core.conjugate(x))) if x._kind == "c" else _core.multiply(x, x)


def _order(ord: Any, op_name: str) -> Any:
    """A number or a text; arrays without dimensions count as numbers."""
    if ord is None or isinstance(ord, (str, *SCALARS)):
        return ord
    try:
        return float(ord)
    except TypeError:
        raise TypeError(f"{op_name}: ord must be a number or a text, not {type(ord).__name__}") from None


def _vector_norm(x: Array, ord: Any, axes: list[int], keepdims: bool, op_name: str) -> Array:
    """Along these axes, taken together."""
    if isinstance(ord, str):
        raise ValueError(f"{op_name}: Invalid norm order '{ord}' for vectors")
    if isinstance(ord, complex):
        raise TypeError(f"{op_name}: ord must be a real number, not complex")
    if ord is None or ord == 2:
        return _core.sqrt(_reduced(_core._SUM, _squares(x), axes, keepdims))
    size = _core.absolute(x)
    if ord == math.inf:
        return _reduced(_core._MAX, size, axes, keepdims, 0)
    if ord == -math.inf:
        return _reduced(_core._MIN, size, axes, keepdims)
    if ord == 0:
        return _reduced(_core._SUM, _core.not_equal(x, 0)._astype(size.dtype, False), axes, keepdims)
    if ord == 1:
        return _reduced(_core._SUM, size, axes, keepdims)
    return _core.power(_reduced(_core._SUM, _core.power(size, ord), axes, keepdims), 1 / ord)


def _matrix_norm(x: Array, ord: Any, row: int, column: int, keepdims: bool, op_name: str) -> Array:
    if ord is None or (isinstance(ord, str) and ord in ("fro", "f")):
        return _core.sqrt(_reduced(_core._SUM, _squares(x), [row, column], keepdims))
    if isinstance(ord, str) and ord != "nuc":
        raise ValueError(f"{op_name}: Invalid norm order '{ord}' for matrices")
    if ord == "nuc" or ord in (2, -2):
        s = singular_values(_core._moveaxis(x, [row, column], [x.ndim - 2, x.ndim - 1]), False, op_name)
        fold = _core._SUM if ord == "nuc" else _core._MAX if ord == 2 else _core._MIN
        result = _reduced(fold, s, [-1], False, None if ord == -2 else 0)
    elif ord in (1, -1, math.inf, -math.inf):
        summed = row if ord in (1, -1) else column
        sums = _reduced(_core._SUM, _core.absolute(x), [summed], True)
        other = row + column - summed
        result = _reduced(_core._MAX if ord > 0 else _core._MIN, sums, [other], True, 0 if ord > 0 else None)
    else:
        raise ValueError(f"{op_name}: Invalid norm order {ord} for matrices")
    shape = [1 if k in (row, column) else n for k, n in enumerate(x.shape)]
    return _core._reshape(result, shape if keepdims else [n for k, n in enumerate(x.shape) if k not in (row, column)])


@filled
def norm(x: Any, ord: Any = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Matrix or vector norm.

    Parameters
    ----------
    x : Array
        Vectors or matrices; without `axis` and with `ord` it has one or two dimensions.
    ord : int, float, inf, -inf, {'fro', 'nuc'}, optional
        Which norm. Default: the square root of the sum of all squares. See the notes.
    axis : int or pair of int, optional
        The axis of the vectors, or the two of the matrices. Default: all.
    {keepdims}

    Returns
    -------
    Array
        The norms, real.

    Raises
    ------
    {not_an_array}
    ValueError
        There is no such norm of vectors or of matrices, axes are equal, or there are neither one nor two of them.
    AxisError
        `x` has no such axis; a ValueError and an IndexError.
    LinAlgError
        When the result is used: singular values did not converge, as they do not for NaN.

    See Also
    --------
    vector_norm, matrix_norm

    Notes
    -----
    =====  ==========================  =====================================
    ord    of matrices                 of vectors
    =====  ==========================  =====================================
    None   as 'fro'                    as 2
    'fro'  root of the sum of squares  --
    'nuc'  sum of singular values      --
    inf    largest sum of a row        largest absolute value
    -inf   smallest sum of a row       smallest absolute value
    0      --                          how many are not 0
    1      largest sum of a column     sum of absolute values
    -1     smallest sum of a column    as below
    2      largest singular value      root of the sum of squares
    -2     smallest singular value     as below
    other  --                          ``sum(abs(x) ** ord) ** (1 / ord)``
    =====  ==========================  =====================================

    Norms that need no singular values are operations on arrays, and are fused with what `x` is computed from.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[3.0, 4.0], [6.0, 8.0]])
    >>> pp.linalg.norm(x, axis=1)
    array([ 5., 10.])
    >>> pp.linalg.norm(x, ord=1)
    array(12.)
    """
    a, ord, keep = in_floats(x, "norm"), _order(ord, "norm"), keeps_dimensions(keepdims, "norm")
    if axis is None:
        places = list(range(a.ndim))
        if ord is None:
            return _vector_norm(a, 2, places, keep, "norm")
    else:
        places = [axis_index(k, a.ndim, "norm") for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(places) == 1:
        return _vector_norm(a, ord, places, keep, "norm")
    if len(places) != 2:
        raise ValueError(f"norm: Improper number of dimensions to norm: {len(places)}; one or two are needed")
    if places[0] == places[1]:
        raise ValueError(f"norm: Duplicate axes given: {axis}")
    return _matrix_norm(a, ord, places[0], places[1], keep, "norm")


@filled
def vector_norm(x: Any, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Compute the vector norm of a vector (or batch of vectors) x.

    Parameters
    ----------
    x : Array
        The vectors.
    axis : int or tuple of int, optional
        The axes whose elements are one vector. Default: all.
    {keepdims}
    ord : int, float, inf, -inf
        Which norm, as in `norm`.

    Returns
    -------
    Array
        The norms, real.

    Raises
    ------
    {not_an_array}
    ValueError
        There is no such norm, or an axis is given twice.
    AxisError
        `x` has no such axis; a ValueError and an IndexError.

    See Also
    --------
    norm, matrix_norm

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.vector_norm(pp.asarray([3.0, 4.0]))
    array(5.)
    """
    a = in_floats(x, "vector_norm")
    given = range(a.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    places = [axis_index(k, a.ndim, "vector_norm") for k in given]
    return _vector_norm(a, _order(ord, "vector_norm"), places, keeps_dimensions(keepdims, "vector_norm"), "vector_norm")


@filled
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Compute the matrix norm of a matrix (or a stack of matrices) x.

    Parameters
    ----------
    x : Array of shape (..., M, N)
        The matrices.
    {keepdims}
    ord : {1, -1, 2, -2, inf, -inf, 'fro', 'nuc'}
        Which norm, as in `norm`.

    Returns
    -------
    Array
        The norms, real.

    Raises
    ------
    {not_an_array}
    ValueError
        There is no such norm, or `x` has less than two dimensions.
    LinAlgError
        When the result is used: singular values did not converge, as they do not for NaN.

    See Also
    --------
    norm, vector_norm, svdvals

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.matrix_norm(pp.asarray([[3.0, 0.0], [0.0, 4.0]]))
    array(5.)
    """
    a = in_floats(x, "matrix_norm")
    row, column = (axis_index(k, a.ndim, "matrix_norm") for k in (-2, -1))
    return _matrix_norm(a, _order(ord, "matrix_norm"), row, column, keeps_dimensions(keepdims, "matrix_norm"), "matrix_norm")


@filled
def cond(x: Any, p: Any = None) -> Array:
    """Compute the condition number of a matrix.

    Parameters
    ----------
    x : Array of shape (..., M, N)
        The matrices; square but for the norms 2 and -2.
    p : {None, 1, -1, 2, -2, inf, -inf, 'fro', 'nuc'}, optional
        The norm, as in `norm`; None is 2.

    Returns
    -------
    Array of shape (...)
        The condition numbers, real; inf of singular matrices.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices have no elements, or are not square; or, when the result is used, singular values did not converge.
    ValueError
        There is no such norm.

    See Also
    --------
    norm, svdvals

    Notes
    -----
    For 2 and -2 the ratio of the largest and the smallest singular value; for others the norm of the matrix times that of its inverse.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.cond(pp.asarray([[1.0, 0.0], [0.0, 4.0]]))
    array(4.)
    """
    a, p = require_matrices(in_floats(x, "cond"), "cond"), _order(p, "cond")
    if 0 in a.shape[-2:]:
        raise np.linalg.LinAlgError("cond: cond is not defined on empty arrays")
    if p is None or (not isinstance(p, str) and p in (2, -2)):
        s = singular_values(a, False, "cond")
        r = _core.divide(s[..., -1], s[..., 0]) if p == -2 else _core.divide(s[..., 0], s[..., -1])
    else:
        require_square(a, "cond")
        both = a, _core._inv(a, True, "cond")
        r = _core.multiply(*(_matrix_norm(v, p, a.ndim - 2, a.ndim - 1, False, "cond") for v in both))
    bad = _reduced(_core._ANY, _core.isnan(a), [-2, -1])
    return _core._where(_core.logical_and(_core.isnan(r), _core.logical_not(bad)), math.inf, r)


def _along_values(tolerance: Any, s: Array, op_name: str) -> Any:
    """One for each stack of singular values."""
    if isinstance(tolerance, SCALARS):
        return tolerance
    return array_like(tolerance, s, op_name)[..., None]


@filled
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return matrix rank of array using SVD method.

    Parameters
    ----------
    A : Array of shape (..., M, N), or of less than two dimensions
        The matrices. A vector has the rank 0 if all its elements are zero, else 1.
    tol : float or Array of shape (...), optional
        Singular values up to this one count as zero. Default: the largest one times `rtol`.
    hermitian : bool
        Whether `A` may be taken for Hermitian (symmetric, if real), which is found faster.
    rtol : float or Array of shape (...), optional
        The same as a share of the largest one. Default: the precision of the dtype times the larger one of M and N.

    Returns
    -------
    Array of shape (...)
        The ranks, int64.

    Raises
    ------
    {matrix_raises}
    ValueError
        Both `tol` and `rtol` are given.
    LinAlgError
        When the result is used: singular values did not converge, as they do not for NaN.

    See Also
    --------
    svdvals, pinv

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.matrix_rank(pp.asarray([[1.0, 2.0], [2.0, 4.0]]))
    array(1)
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: `tol` and `rtol` can't be both set.")
    a = array(A, "matrix_rank")
    if a.ndim < 2:
        return _reduced(_core._ANY, _core.not_equal(a, 0), list(range(a.ndim)))._astype(np.dtype(np.int64), False)
    s = singular_values(a, flag(hermitian, "matrix_rank: hermitian"), "matrix_rank")
    if tol is None:
        share = max(a.shape[-2:]) * float(promotion.finfo(s.dtype).eps) if rtol is None else _along_values(rtol, s, "matrix_rank")
        limit = _core.multiply(_reduced(_core._MAX, s, [-1], True, 0), share)
    else:
        limit = _along_values(tol, s, "matrix_rank")
    return _core._reduce(_core._SUM, _core.greater(s, limit), [-1], False, np.dtype(np.int64))


@filled
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Array:
    """Compute the (Moore-Penrose) pseudo-inverse of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, N)
        The matrices.
    rcond : float or Array of shape (...), optional
        Singular values up to this share of the largest one count as zero. Default: 1e-15.
    hermitian : bool
        Whether `a` may be taken for Hermitian (symmetric, if real), which is found faster.
    rtol : float or Array of shape (...), optional
        The same, in place of `rcond`; None is the precision of the dtype times the larger one of M and N.

    Returns
    -------
    Array of shape (..., N, M)
        The pseudo-inverses.

    Raises
    ------
    {matrix_raises}
    ValueError
        Both `rcond` and `rtol` are given.
    LinAlgError
        `a` has less than two dimensions; or, when the result is used, singular values did not converge, as they do not for NaN.

    See Also
    --------
    inv, lstsq, svd

    Notes
    -----
    Made of the singular value decomposition.

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> pp.linalg.pinv(a).round(6)
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0. ]])
    """
    if rcond is not None and rtol is not np._NoValue:
        raise ValueError("pinv: `rtol` and `rcond` can't be both set.")
    x = require_matrices(in_floats(a, "pinv"), "pinv")
    m, n = x.shape[-2:]
    if m == 0 or n == 0:
        return _core._full([*x.shape[:-2], n, m], 0, x.dtype, x.queue)
    share = rcond if rtol is np._NoValue else rtol
    if share is None:
        share = 1e-15 if rtol is np._NoValue else max(m, n) * float(promotion.finfo(x.dtype).eps)
    u, s, vh = decomposed(x, flag(hermitian, "pinv: hermitian"), "pinv")
    limit = _core.multiply(_reduced(_core._MAX, s, [-1], True), _along_values(share, s, "pinv"))
    return pseudo_inverse(u, s, vh, limit)
