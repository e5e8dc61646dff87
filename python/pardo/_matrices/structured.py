# python/pardo/_matrices/structured.py: systems with banded and with Toeplitz matrices, by SciPy's names.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import array, flag, index
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._matrices.systems import pair_of, together

__all__ = ["solve_banded", "solve_toeplitz", "solveh_banded", "toeplitz"]


@filled
def solve_banded(
    l_and_u: tuple[int, int], ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve the equation a x = b for x, assuming a is banded matrix.

    Parameters
    ----------
    l_and_u : pair of int
        How many diagonals there are below the main one, and above.
    ab : Array of shape (..., l + 1 + u, M)
        The diagonals as rows, the uppermost first: ``ab[u + i - j, j] == a[i, j]``. What lies outside of the matrix is not read.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices.
    overwrite_ab : bool
        SciPy's; the elements stay as they are.
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
        The rows of `ab` are not l + 1 + u, or the shapes do not fit.
    LinAlgError
        When the result is used: a matrix is singular, or elements are infinite or NaN.

    See Also
    --------
    solveh_banded, solve_toeplitz

    Notes
    -----
    By LAPACK's gbsv.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> ab = pp.asarray([[0.0, 1.0, 1.0], [4.0, 4.0, 4.0], [1.0, 1.0, 0.0]])
    >>> pp.scipy.linalg.solve_banded((1, 1), ab, pp.asarray([5.0, 6.0, 5.0])).round(6)
    array([1., 1., 1.])
    """
    below, above = (index(k, "solve_banded: l_and_u") for k in pair_of(l_and_u, "l_and_u", "solve_banded"))
    x, y = together([ab, b], "solve_banded")
    return _core._solve_banded(below, above, x, y, flag(check_finite, "solve_banded: check_finite"), "solve_banded")


@filled
def solveh_banded(
    ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True
) -> Array:
    """Solve equation a x = b, where a is a Hermitian positive-definite banded matrix.

    Parameters
    ----------
    ab : Array of shape (..., u + 1, M)
        The diagonals as rows, the uppermost first: ``ab[u + i - j, j] == a[i, j]`` of the upper triangle, or with `lower`
        ``ab[i - j, j] == a[i, j]`` of the lower one. What lies outside of the matrix is not read.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices.
    overwrite_ab : bool
        SciPy's; the elements stay as they are.
    {overwrite_b}
    lower : bool
        Which triangle is given, the lower or the upper one.
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
        When the result is used: a matrix is not positive definite, or elements are infinite or NaN.

    See Also
    --------
    solve_banded, cho_solve

    Notes
    -----
    By LAPACK's pbsv.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> ab = pp.asarray([[0.0, 1.0, 1.0], [4.0, 4.0, 4.0]])
    >>> pp.scipy.linalg.solveh_banded(ab, pp.asarray([5.0, 6.0, 5.0])).round(6)
    array([1., 1., 1.])
    """
    x, y = together([ab, b], "solveh_banded")
    upper = not flag(lower, "solveh_banded: lower")
    return _core._solveh_banded(x, y, upper, flag(check_finite, "solveh_banded: check_finite"), "solveh_banded")


def _column_and_row(c: Any, r: Any, op_name: str) -> tuple[Array, Array]:
    """The first column and the first row; without one the conjugate of the column."""
    if r is None:
        column = array(c, op_name)
        row = _core.conjugate(column) if column._kind == "c" else column
    else:
        column, row = together([c, r], op_name)
    if column.ndim == 0 or row.ndim == 0:
        raise ValueError(f"{op_name}: the first column and the first row need a dimension")
    return column, row


def _elements(column: Array, row: Array) -> Array:
    """From the last element of the first row to the last one of the first column; the corner is that of the column."""
    stack = np.broadcast_shapes(column.shape[:-1], row.shape[:-1])
    parts = [row[..., :0:-1], column]
    return _core._concat([_core._broadcast_to(p, [*stack, p.shape[-1]]) for p in parts], -1)


@filled
def toeplitz(c: Any, r: Any = None) -> Array:
    """Construct a Toeplitz matrix.

    Parameters
    ----------
    c : Array of shape (..., M)
        First columns.
    r : Array of shape (..., N), optional
        First rows; the first element of each is not read. Default: the conjugates of `c`.

    Returns
    -------
    Array of shape (..., M, N)
        Matrices with constant diagonals.

    Raises
    ------
    {not_an_array}
    ValueError
        An operand has no dimensions, or the shapes do not fit.

    See Also
    --------
    solve_toeplitz

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.toeplitz(pp.asarray([1, 2, 3]), pp.asarray([1, 4, 5, 6]))
    array([[1, 4, 5, 6],
           [2, 1, 4, 5],
           [3, 2, 1, 4]])
    """
    column, row = _column_and_row(c, r, "toeplitz")
    m, n = column.shape[-1], row.shape[-1]
    elements = _elements(column, row)
    if m == 0 or n == 0:
        return _core._full([*elements.shape[:-1], m, n], 0, elements.dtype, elements.queue)
    down, across = (_core._iota([k], 0, elements.queue) for k in (m, n))
    places = _core.add(_core.subtract(down[:, None], across), n - 1)
    return _core._take(elements, places, elements.ndim - 1)


@filled
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Array:
    """Solve a Toeplitz system using Levinson Recursion.

    Parameters
    ----------
    c_or_cr : Array of shape (..., M), or pair of these
        First columns, or first columns and first rows, as `toeplitz` takes them.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices.
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
        When the result is used: a leading part of a matrix is singular, or elements are infinite or NaN.

    See Also
    --------
    toeplitz, solve_banded

    Notes
    -----
    M squared operations for each right-hand side. The recursion is less accurate than a factorization, and fails where a leading part of
    the matrix is singular though the matrix is not; then use ``pp.linalg.solve(toeplitz(c, r), b)``.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> c = pp.asarray([4.0, 1.0, 0.0])
    >>> pp.scipy.linalg.solve_toeplitz(c, pp.asarray([5.0, 6.0, 5.0])).round(6)
    array([1., 1., 1.])
    """
    pair = isinstance(c_or_cr, (tuple, list)) and len(c_or_cr) == 2 and all(type(x) is Array or isinstance(x, np.ndarray) for x in c_or_cr)
    given = (*c_or_cr, b) if pair else (c_or_cr, b)
    *first, y = together(given, "solve_toeplitz")
    column, row = _column_and_row(first[0], first[1] if pair else None, "solve_toeplitz")
    if column.shape[-1] == row.shape[-1] == 0:
        none: Array = _core._full([*column.shape[:-1], 0, 0], 0, column.dtype, column.queue)
        return _core._solve(none, y, "solve_toeplitz")
    if column.shape[-1] != row.shape[-1]:
        raise ValueError(f"solve_toeplitz: columns of {column.shape[-1]} and rows of {row.shape[-1]} elements make no square matrix")
    return _core._solve_toeplitz(_elements(column, row), y, flag(check_finite, "solve_toeplitz: check_finite"), "solve_toeplitz")
