# python/pardo/_sparse/parts.py: triangles of sparse arrays, and their elements that are not zero.
from __future__ import annotations

from typing import Any

from pardo._base.arguments import index
from pardo._core import Array
from pardo._sparse.coordinates import as_coo, coo_array

__all__ = ["find", "tril", "triu"]


def _triangle(A: Any, k: int, format: str | None, upper: bool, op_name: str) -> Any:
    coo = as_coo(A, None, op_name)
    k = index(k, f"{op_name}: k")
    distance = coo.col - coo.row
    keep = distance >= k if upper else distance <= k
    return coo_array._of(coo.row[keep], coo.col[keep], coo.data[keep], coo.shape, coo._summed).asformat(format)


def tril(A: Any, k: int = 0, format: str | None = None) -> Any:
    """Return the lower triangular portion of a sparse array.

    Parameters
    ----------
    A : sparse array
        A dense array of two dimensions is taken too.
    k : int
        The topmost diagonal that belongs to it: the main one is 0, those above it are positive.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'coo'.

    Returns
    -------
    coo_array, csr_array or csc_array
        The array.

    Raises
    ------
    TypeError
        `A` is something else, or `k` is not an integer.

    See Also
    --------
    triu

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.tril(pp.ones((2, 2))).toarray()
    array([[1., 0.],
           [1., 1.]])
    """
    return _triangle(A, k, format, False, "tril")


def triu(A: Any, k: int = 0, format: str | None = None) -> Any:
    """Return the upper triangular portion of a sparse array.

    Parameters
    ----------
    A : sparse array
        A dense array of two dimensions is taken too.
    k : int
        The lowest diagonal that belongs to it: the main one is 0, those above it are positive.
    format : {'coo', 'csr', 'csc'}, optional
        Default: 'coo'.

    Returns
    -------
    coo_array, csr_array or csc_array
        The array.

    Raises
    ------
    TypeError
        `A` is something else, or `k` is not an integer.

    See Also
    --------
    tril

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.triu(pp.ones((2, 2))).toarray()
    array([[1., 1.],
           [0., 1.]])
    """
    return _triangle(A, k, format, True, "triu")


def find(A: Any) -> tuple[Array, Array, Array]:
    """Return the indices and values of the nonzero elements of a sparse array.

    Parameters
    ----------
    A : sparse array
        A dense array of two dimensions is taken too.

    Returns
    -------
    tuple of Array
        Rows, columns and values; entries of one place are added up.

    Raises
    ------
    TypeError
        `A` is something else.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sparse.find(pp.sparse.eye_array(2))
    (array([0, 1], dtype=int32), array([0, 1], dtype=int32), array([1., 1.]))
    """
    coo = as_coo(A, None, "find")._deduplicated()
    keep = coo.data != 0
    return coo.row[keep], coo.col[keep], coo.data[keep]
