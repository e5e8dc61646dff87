# python/pardo/_matrices/solving.py: linear systems, inverses, determinants, powers, least squares.
from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import array, arrays, axis_index, integer, same_queue, store
from pardo._base.docstrings import filled
from pardo._base.promotion import is_narrow
from pardo._core import Array
from pardo._matrices.norms import norm
from pardo._matrices.results import SlogdetResult, require_square, transposed

__all__ = ["det", "inv", "lstsq", "matrix_power", "multi_dot", "slogdet", "solve", "tensorinv", "tensorsolve"]


@filled
def solve(a: Any, b: Any) -> Array:
    """Solve a linear matrix equation, or system of linear scalar equations.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Coefficients.
    b : Array of shape (M,) or (..., M, K)
        The right-hand sides: one vector, if `b` has one dimension; else matrices, which are broadcast against those of `a`.

    Returns
    -------
    Array of shape (M,), (..., M) or (..., M, K)
        `x`, with ``a @ x == b``; of the dtype that `a` and `b` have in common, at least float32.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one of them is singular.
    ValueError
        The rows of `b` are not as many as those of `a`, or the stacks cannot be broadcast.

    See Also
    --------
    inv, lstsq, tensorsolve

    Notes
    -----
    By the LU factorization with partial pivoting (LAPACK's getrf). The relative error is about the precision of the dtype times the
    condition number of `a`. Float32 is computed in float32, where NumPy computes in float64.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[1.0, 2.0], [3.0, 5.0]])
    >>> pp.linalg.solve(a, pp.asarray([1.0, 2.0]))
    array([-1.,  1.])
    """
    x, y = arrays([a, b], "solve")
    same_queue(x, y, "solve")
    return _core._solve(x, y, "solve")


@filled
def inv(a: Any) -> Array:
    """Compute the inverse of a matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.

    Returns
    -------
    Array of shape (..., M, M)
        Their inverses.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square; or, when the result is used, one of them is singular.

    See Also
    --------
    solve, pinv

    Notes
    -----
    By the LU factorization with partial pivoting (LAPACK's getrf and getri).

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.inv(pp.asarray([[1.0, 2.0], [3.0, 4.0]])).round(3)
    array([[-2. ,  1. ],
           [ 1.5, -0.5]])
    """
    return _core._inv(array(a, "inv"), False, "inv")


@filled
def det(a: Any) -> Array:
    """Compute the determinant of an array.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.

    Returns
    -------
    Array of shape (...)
        Their determinants; 0 of those that are singular, 1 of those without elements.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square.

    See Also
    --------
    slogdet

    Notes
    -----
    By the LU factorization with partial pivoting. The product of the pivots overflows only if the determinant does.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.det(pp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    array(-2.)
    """
    return _core._det(array(a, "det"), "det")


@filled
def slogdet(a: Any) -> SlogdetResult:
    """Compute the sign and (natural) logarithm of the determinant of an array.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.

    Returns
    -------
    SlogdetResult
        The signs, of the dtype of `a`, in `sign`: 1, -1, of complex matrices a number of absolute value 1, of singular ones 0; the
        logarithms of the absolute values, real, in `logabsdet`, of singular ones -inf.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square.

    See Also
    --------
    det

    Notes
    -----
    By the LU factorization with partial pivoting.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> sign, logabsdet = pp.linalg.slogdet(pp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    >>> sign, logabsdet.round(6)
    (array(-1.), array(0.693147))
    """
    return SlogdetResult(*_core._slogdet(array(a, "slogdet"), "slogdet"))


def _of_full_rank(x: Array, y: Array, rcond: float | None) -> tuple[Array, Array, Array, Array] | None:
    """Least squares by QR factorization, where that pays and R shows that no singular value is too small: its Frobenius norm is not less
    than the largest one, that of its inverse not less than the inverse of the smallest one."""
    if x.ndim != 2 or min(x.shape) <= 32 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0] or y.size == 0:
        return None
    if x.dtype != y.dtype or x._kind not in "fc" or is_narrow(x.dtype) or not _core._has_device_code("qr", x):
        return None
    m, n = x.shape
    least = promotion.finfo(x.dtype).eps * (max(m, n) if rcond is None else 1) if rcond is None or rcond < 0 else rcond
    tall, right = m >= n, y if y.ndim == 2 else y[:, None]
    q, r = _core._qr(x if tall else transposed(x), 0, "lstsq")

    def solved(b: Array, taken: int) -> Array:
        return _core._solve_triangular(r, b, True, taken, False, False, "lstsq")

    try:
        inverse = solved(_core._eye(r.shape[0], r.shape[0], 0, r.dtype, r.queue), 0)
        known = float(norm(r)) * float(norm(inverse)) * float(least) < 1
    except np.linalg.LinAlgError:
        known = False
    if not known:
        return None
    of_q = _core.conjugate(q)
    solution = solved(_core._matmul(transposed(of_q), right), 0) if tall else _core._matmul(of_q, solved(right, 1))
    residuals = norm(right - _core._matmul(x, solution), axis=0) ** 2
    rank = _core._full([], r.shape[0], np.dtype("int64"), r.queue)
    return solution if y.ndim == 2 else solution[:, 0], residuals, rank, _core._svdvals(r, "lstsq")


@filled
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Array, Array, Array, Array]:
    """Return the least-squares solution to a linear matrix equation.

    Parameters
    ----------
    a : Array of shape (M, N)
        Coefficients.
    b : Array of shape (M,) or (M, K)
        The right-hand sides.
    rcond : float, optional
        Singular values of `a` below this share of the largest one count as zero. Default: the precision of the dtype times the larger one
        of M and N; with a negative number the precision alone.

    Returns
    -------
    tuple of Array
        The solution `x` of shape (N,) or (N, K), the one of least norm if there are several; the sums of squared residuals, of shape
        (1,) or (K,), and of shape (0,) where the rank is less than N or M is not more than N; the rank of `a`, an int32 without
        dimensions; the singular values of `a`, of shape (min(M, N),).

    Raises
    ------
    {matrix_raises}
    LinAlgError
        An operand has not the dimensions above, or numbers of rows differ; or, when a result is used, the singular values did not
        converge.

    See Also
    --------
    solve, pinv

    Notes
    -----
    By singular values (LAPACK's gelsd). Where M is more than N the rank is waited for, because the shape of the residuals depends on it.
    On other devices than the CPU, for matrices of more than 32 rows and columns, QR factorization comes first: if R tells that the rank is
    full, which is waited for, it gives the solution, and the singular values are computed when they are used.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> t = pp.asarray([0.0, 1.0, 2.0, 3.0])
    >>> a = pp.stack([t, pp.ones(4)], axis=1)
    >>> x, residuals, rank, s = pp.linalg.lstsq(a, 2 * t + 1)
    >>> x.round(6)
    array([2., 1.])
    """
    x, y = arrays([a, b], "lstsq")
    same_queue(x, y, "lstsq")
    if rcond is not None:
        rcond = float(rcond)
    found = _of_full_rank(x, y, rcond)
    solution, residuals, rank, s = found or _core._lstsq(x, y, rcond, "lstsq")
    m, n = x.shape
    if m <= n or int(rank) != n:
        residuals = residuals[:0]
    return solution, residuals, rank._astype(np.dtype(np.int32), False), s


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """Solve the tensor equation a x = b for x.

    Parameters
    ----------
    a : Array of shape b.shape + Q
        Coefficients; the product of the extents of Q is the size of `b`.
    b : Array
        The right-hand side, of any shape.
    axes : sequence of int, optional
        Axes of `a` that are moved to its end first.

    Returns
    -------
    Array of shape Q
        `x`, with ``tensordot(a, x, x.ndim) == b``.

    Raises
    ------
    LinAlgError
        `a` has another size; or, when the result is used, it is singular.
    AxisError
        `a` has no such axis; a ValueError and an IndexError.

    See Also
    --------
    solve, tensorinv

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.reshape(2 * pp.eye(4), (2, 2, 4))
    >>> pp.linalg.tensorsolve(a, pp.ones((2, 2)))
    array([0.5, 0.5, 0.5, 0.5])
    """
    x, y = arrays([a, b], "tensorsolve")
    same_queue(x, y, "tensorsolve")
    if axes is not None:
        order = list(range(x.ndim))
        for k in axes:
            place = axis_index(k, x.ndim, "tensorsolve")
            order.remove(place)
            order.append(place)
        x = _core._permute_dims(x, order)
    shape = x.shape[-(x.ndim - y.ndim) :]
    n = math.prod(shape)
    if x.size != n * n:
        raise np.linalg.LinAlgError(
            f"tensorsolve: a must have prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]), got shapes {x.shape} and {y.shape}"
        )
    solution = _core._solve(_core._reshape(x, [n, n]), _core._reshape(y, [-1]), "tensorsolve")
    return _core._reshape(solution, list(shape))


def tensorinv(a: Any, ind: int = 2) -> Array:
    """Compute the 'inverse' of an N-dimensional array.

    Parameters
    ----------
    a : Array
        The product of the first `ind` extents is that of the others.
    ind : int
        How many axes come first.

    Returns
    -------
    Array of shape a.shape[ind:] + a.shape[:ind]
        The inverse: ``tensordot(tensorinv(a), a, ind)`` is a unit tensor.

    Raises
    ------
    ValueError
        `ind` is not positive.
    LinAlgError
        The products differ; or, when the result is used, the tensor is singular.

    See Also
    --------
    inv, tensorsolve

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.reshape(2 * pp.eye(6), (6, 2, 3))
    >>> pp.linalg.tensorinv(a, ind=1).shape
    (2, 3, 6)
    """
    x, n = array(a, "tensorinv"), integer(ind, "tensorinv: ind")
    if n <= 0:
        raise ValueError(f"tensorinv: Invalid ind argument: {n}; it must be positive")
    first, last = x.shape[:n], x.shape[n:]
    inverse = _core._inv(_core._reshape(x, [math.prod(first), math.prod(last)]), False, "tensorinv")
    return _core._reshape(inverse, [*last, *first])


@filled
def matrix_power(a: Any, n: int) -> Array:
    """Raise a square matrix to the (integer) power n.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        The matrices.
    n : int
        The exponent: of negative ones the power of the inverses, of 0 unit matrices.

    Returns
    -------
    Array of shape (..., M, M)
        The powers; of the dtype of `a`, with a negative exponent as `inv` has it.

    Raises
    ------
    TypeError
        `n` is not an integer, or `a` is neither an Array nor a number.
    LinAlgError
        Matrices are not square; or, when the result is used, one that is to be inverted is singular.

    See Also
    --------
    matmul, inv

    Notes
    -----
    By repeated squaring.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.linalg.matrix_power(pp.asarray([[0, 1], [-1, 0]]), 3)
    array([[ 0, -1],
           [ 1,  0]])
    """
    x = require_square(array(a, "matrix_power"), "matrix_power")
    power = integer(n, "matrix_power: exponent")
    if power == 0:
        unit = _core._eye(x.shape[-1], x.shape[-1], 0, x.dtype, x.queue)
        return _core._broadcast_to(unit, list(x.shape)).copy()
    if power < 0:
        x, power = _core._inv(x, False, "matrix_power"), -power
    square, result = x, None
    while True:
        power, odd = divmod(power, 2)
        if odd:
            result = square if result is None else _core._matmul(result, square)
        if power == 0:
            break
        square = _core._matmul(square, square)
    assert result is not None
    return result.copy() if result is x else result


@filled
def multi_dot(arrays: Sequence[Any], *, out: Array | None = None) -> Array:
    """Compute the dot product of two or more arrays in a single function call, while automatically selecting the fastest evaluation order.

    Parameters
    ----------
    arrays : sequence of Array
        Matrices; the first may be a vector, which counts as a row, and the last one, which counts as a column.
    {out}

    Returns
    -------
    Array
        The product.

    Raises
    ------
    ValueError
        There are fewer than two arrays, their extents do not fit, or the shape of `out` does not.
    LinAlgError
        An array has another number of dimensions.

    See Also
    --------
    matmul, dot

    Notes
    -----
    The order is the one with the fewest multiplications, found by dynamic programming.

    Examples
    --------
    >>> import pardo as pp
    >>> a, b, c = pp.ones((10, 100)), pp.ones((100, 5)), pp.ones((5, 50))
    >>> pp.linalg.multi_dot([a, b, c]).shape
    (10, 50)
    """
    xs = _operands(arrays)
    if len(xs) < 2:
        raise ValueError(f"multi_dot: Expecting at least two arrays, got {len(xs)}")
    for x in xs[1:]:
        same_queue(xs[0], x, "multi_dot")
    ends = xs[0].ndim, xs[-1].ndim
    if ends[0] == 1:
        xs[0] = xs[0][None, :]
    if ends[1] == 1:
        xs[-1] = xs[-1][:, None]
    for x in xs:
        if x.ndim != 2:
            raise np.linalg.LinAlgError(f"multi_dot: {x.ndim}-dimensional array given. Array must be two-dimensional")
    for x, y in itertools.pairwise(xs):
        if x.shape[1] != y.shape[0]:
            raise ValueError(f"multi_dot: shapes {x.shape} and {y.shape} are not aligned: {x.shape[1]} and {y.shape[0]}")
    result = _chain(xs, _order(xs), 0, len(xs) - 1)
    rest = [n for n, end in zip(result.shape, ends, strict=True) if end != 1]
    return store(_core._reshape(result, rest) if len(rest) < 2 else result, out, "multi_dot")


def _operands(given: Sequence[Any]) -> list[Array]:
    return arrays(given, "multi_dot")


def _order(xs: list[Array]) -> list[list[int]]:
    """Where the product of i to j is cut, so that the number of multiplications is least (Cormen et al., Introduction to Algorithms)."""
    n = len(xs)
    sizes = [x.shape[0] for x in xs] + [xs[-1].shape[1]]
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], cut[i][j] = min((cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))
    return cut


def _chain(xs: list[Array], cut: list[list[int]], i: int, j: int) -> Array:
    if i == j:
        return xs[i]
    return _core._matmul(_chain(xs, cut, i, cut[i][j]), _chain(xs, cut, cut[i][j] + 1, j))
