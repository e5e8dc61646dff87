# python/pardo/_matrices/products.py: the functions of the namespace that pardo's main one has too, on the last two axes.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pardo import _core
from pardo._array import manipulation, products
from pardo._base.arguments import array as as_array
from pardo._base.arguments import arrays, axis_index, index, optional_dtype, same_queue
from pardo._core import Array
from pardo._functions import products as more_products
from pardo._matrices.results import transposed

__all__ = ["cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"]


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Return the cross product of 3-element vectors.

    Parameters
    ----------
    x1, x2 : Array
        Broadcast against each other; three elements along the axis.
    axis : int
        The axis of the vectors.

    Returns
    -------
    Array
        The products.

    Raises
    ------
    ValueError
        Vectors have another number of elements, or the shapes do not fit.
    AxisError
        An operand has no such axis; a ValueError and an IndexError.

    See Also
    --------
    pardo.cross, outer

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.cross(pp.asarray([1, 2, 3]), pp.asarray([4, 5, 6]))
    array([-3,  6, -3])
    """
    a, b = arrays([x1, x2], "cross")
    lengths = [x.shape[axis_index(axis, x.ndim, "cross")] for x in (a, b)]
    if lengths != [3, 3]:
        raise ValueError(
            "cross: Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{lengths[0]} and {lengths[1]} dimensional instead"
        )
    result: Array = more_products.cross(a, b, axis=axis)
    return result


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Return specified diagonals of a matrix (or a stack of matrices) x.

    Parameters
    ----------
    x : Array of shape (..., M, N)
        The matrices.
    offset : int
        The diagonal: 0 is the main one, positive ones are above it.

    Returns
    -------
    Array
        The diagonals, along the last axis; a view.

    Raises
    ------
    ValueError
        `x` has less than two dimensions.

    See Also
    --------
    pardo.diagonal, trace

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.diagonal(pp.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    result: Array = manipulation.diagonal(as_array(x, "diagonal"), index(offset, "diagonal: offset"), -2, -1)
    return result


def matmul(x1: Any, x2: Any, /) -> Array:
    """Compute the matrix product.

    Parameters
    ----------
    x1, x2 : Array
        The last two axes are the matrices, those before are broadcast; vectors count as a row on the left and as a column on the right.

    Returns
    -------
    Array
        The products.

    Raises
    ------
    ValueError
        The inner extents differ, or an operand has no dimensions.

    See Also
    --------
    pardo.matmul, multi_dot, vecdot

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.matmul(pp.asarray([[1, 2], [3, 4]]), pp.asarray([1, 10]))
    array([21, 43])
    """
    result: Array = products.matmul(x1, x2)
    return result


def matrix_transpose(x: Any, /) -> Array:
    """Transpose a matrix (or a stack of matrices) x.

    Parameters
    ----------
    x : Array of shape (..., M, N)
        The matrices.

    Returns
    -------
    Array of shape (..., N, M)
        A view.

    Raises
    ------
    ValueError
        `x` has less than two dimensions.

    See Also
    --------
    pardo.matrix_transpose

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.matrix_transpose(pp.asarray([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    a = as_array(x, "matrix_transpose")
    if a.ndim < 2:
        raise ValueError(f"matrix_transpose: Input array must be at least 2-dimensional, but it is {a.ndim}")
    return transposed(a)


def outer(x1: Any, x2: Any, /) -> Array:
    """Compute the outer product of two vectors.

    Parameters
    ----------
    x1, x2 : Array
        Of one dimension each.

    Returns
    -------
    Array of shape (x1.size, x2.size)
        The products of all pairs.

    Raises
    ------
    ValueError
        An operand has another number of dimensions.

    See Also
    --------
    pardo.outer, cross

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.outer(pp.asarray([1, 2]), pp.asarray([10, 20]))
    array([[10, 20],
           [20, 40]])
    """
    a, b = arrays([x1, x2], "outer")
    same_queue(a, b, "outer")
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer: Input arrays must be one-dimensional, but they are x1.ndim={a.ndim} and x2.ndim={b.ndim}")
    return _core.multiply(a[:, None], b[None, :])


def tensordot(x1: Any, x2: Any, /, *, axes: int | Sequence[int | Sequence[int]] = 2) -> Array:
    """Compute tensor dot product along specified axes.

    Parameters
    ----------
    x1, x2 : Array
        The operands.
    axes : int or pair of sequences of int
        The number of axes that are summed over, the last of `x1` with the first of `x2`; or which of each.

    Returns
    -------
    Array
        With the axes of `x1` and then those of `x2` that were not summed over.

    Raises
    ------
    ValueError
        There are not that many axes, the two sequences differ in length, or the extents of two axes differ.
    AxisError
        An operand has no such axis; a ValueError and an IndexError.

    See Also
    --------
    pardo.tensordot, tensorsolve

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.tensordot(pp.ones((2, 3, 4)), pp.ones((3, 4)))
    array([12., 12.])
    """
    result: Array = products.tensordot(x1, x2, axes=axes)
    return result


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Return the sum along the specified diagonals of a matrix (or a stack of matrices) x.

    Parameters
    ----------
    x : Array of shape (..., M, N)
        The matrices.
    offset : int
        The diagonal: 0 is the main one, positive ones are above it.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.

    Returns
    -------
    Array of shape (...)
        The sums.

    Raises
    ------
    ValueError
        `x` has less than two dimensions.

    See Also
    --------
    pardo.trace, diagonal

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.trace(pp.asarray([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]))
    array([ 5, 13])
    """
    result: Array = products.trace(x, offset, -2, -1, optional_dtype(dtype, "trace"))
    return result


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Compute the vector dot product.

    Parameters
    ----------
    x1, x2 : Array
        Broadcast against each other; the first is conjugated.
    axis : int
        The axis of the vectors in both operands.

    Returns
    -------
    Array
        The products, without that axis.

    Raises
    ------
    ValueError
        The shapes do not fit.
    AxisError
        An operand has no such axis; a ValueError and an IndexError.

    See Also
    --------
    pardo.vecdot, matmul

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.vecdot(pp.asarray([[1, 2], [3, 4]]), pp.asarray([1, 10]))
    array([21, 43])
    """
    result: Array = products.vecdot(x1, x2, axis=axis)
    return result
