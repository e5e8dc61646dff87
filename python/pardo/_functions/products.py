# python/pardo/_functions/products.py: products of vectors and matrices that are made of other products.
from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.contexts import copying
from pardo._base import promotion
from pardo._base.arguments import arrays, axis_index, same_queue, warn
from pardo._base.docstrings import filled
from pardo._base.ufuncs import apply_to_vectors, same_types, ufunc
from pardo._core import Array
from pardo._functions.operands import cast

__all__ = [
    "cross",
    "inner",
    "kron",
    "matvec",
    "vdot",
    "vecmat",
]


def _pair(a: Any, b: Any, op_name: str) -> tuple[Array, Array]:
    x, y = arrays([a, b], op_name, own_dtypes=True)
    same_queue(x, y, op_name)
    return x, y


def inner(a: Any, b: Any, /) -> Array:
    """Inner product of two arrays: sums over their last axes.

    Parameters
    ----------
    a, b : Array or number
        Their last axes have the same extent. With a number: multiplication.

    Returns
    -------
    Array
        Of shape ``(*a.shape[:-1], *b.shape[:-1])``.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number.
    ValueError
        The extents differ.

    See Also
    --------
    dot, vdot, tensordot, vecdot

    Examples
    --------
    >>> import pardo as pp
    >>> pp.inner(pp.asarray([1, 2, 3]), pp.asarray([0, 1, 0]))
    array(2)
    """
    x, y = _pair(a, b, "inner")
    if x.ndim == 0 or y.ndim == 0:
        return _core.multiply(x, y)
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"inner: shapes {x.shape} and {y.shape} are not aligned: {x.shape[-1]} and {y.shape[-1]}")
    return _core._tensordot(x, y, [x.ndim - 1], [y.ndim - 1])


def vdot(a: Any, b: Any, /) -> Array:
    """Return the dot product of two vectors; the first is conjugated.

    Parameters
    ----------
    a, b : Array or number
        Of the same size; flattened.

    Returns
    -------
    Array
        Without dimensions.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number.
    ValueError
        The sizes differ.

    See Also
    --------
    dot, inner, vecdot

    Examples
    --------
    >>> import pardo as pp
    >>> pp.vdot(pp.asarray([1 + 2j, 3 + 4j]), pp.asarray([5 + 6j, 7 + 8j]))
    array(70.-8.j)
    """
    x, y = (_core._reshape(v, [-1]) for v in _pair(a, b, "vdot"))
    if x.size != y.size:
        raise ValueError(f"vdot: cannot take the product of vectors of {x.size} and {y.size} elements")
    return _core._vecdot(x, y, -1)


def kron(a: Any, b: Any) -> Array:
    """Kronecker product of two arrays: blocks of the second, scaled by the first.

    Parameters
    ----------
    a, b : Array or number
        Of any dimensions; the one with fewer is taken for one with dimensions of extent 1 in front.

    Returns
    -------
    Array
        Its extents are products of those of the operands.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number.

    See Also
    --------
    outer

    Examples
    --------
    >>> import pardo as pp
    >>> pp.kron(pp.asarray([1, 10]), pp.asarray([5, 6]))
    array([ 5,  6, 50, 60])
    """
    x, y = _pair(a, b, "kron")
    n = max(x.ndim, y.ndim)
    if x.ndim == 0 or y.ndim == 0:
        return _core.multiply(x, y)
    s, t = ([1] * (n - v.ndim) + list(v.shape) for v in (x, y))
    x = _core._reshape(x, [e for extent in s for e in (extent, 1)])
    y = _core._reshape(y, [e for extent in t for e in (1, extent)])
    return _core._reshape(_core.multiply(x, y), [i * j for i, j in zip(s, t, strict=True)])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """Return the cross product of two (arrays of) vectors.

    Parameters
    ----------
    a, b : Array
        Vectors of three elements; those of two are deprecated, and have a third that is zero.
    axisa, axisb, axisc : int
        The axes of the vectors in `a`, `b` and the result.
    axis : int, optional
        In place of these three.

    Returns
    -------
    Array
        The products; of vectors of two elements only the third element.

    Raises
    ------
    AxisError
        An operand has no such axis; a ValueError and an IndexError.
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number.
    ValueError
        Vectors have neither two nor three elements, or shapes do not fit.

    See Also
    --------
    dot, inner, outer

    Examples
    --------
    >>> import pardo as pp
    >>> pp.cross(pp.asarray([1, 2, 3]), pp.asarray([4, 5, 6]))
    array([-3,  6, -3])
    """
    x, y = _pair(a, b, "cross")
    if x.ndim < 1 or y.ndim < 1:
        raise ValueError("cross: at least one array has zero dimension")
    if axis is not None:
        axisa = axisb = axisc = axis
    x = _core._moveaxis(x, [axis_index(axisa, x.ndim, "cross: axisa")], [x.ndim - 1])
    y = _core._moveaxis(y, [axis_index(axisb, y.ndim, "cross: axisb")], [y.ndim - 1])
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError("cross: incompatible dimensions for cross product (dimension must be 2 or 3)")
    if 2 in (x.shape[-1], y.shape[-1]):
        warn("cross: vectors of two elements are deprecated, as in NumPy 2.0; use vectors of three", DeprecationWarning)
    dtype = promotion.promote_types(x.dtype, y.dtype)
    x, y = cast(x, dtype), cast(y, dtype)
    p: list[Any] = [x[..., k] if k < x.shape[-1] else None for k in range(3)]
    q: list[Any] = [y[..., k] if k < y.shape[-1] else None for k in range(3)]
    third = _core.subtract(_core.multiply(p[0], q[1]), _core.multiply(p[1], q[0]))
    if p[2] is None and q[2] is None:
        return third
    place = axis_index(axisc, third.ndim + 1, "cross: axisc")

    def difference(i: Any, j: Any, k: Any, m: Any) -> Array:
        """i * j - k * m, without those products whose factor is not there."""
        if j is None or i is None:
            return _core.negative(_core.multiply(k, m))
        if k is None or m is None:
            return _core.multiply(i, j)
        return _core.subtract(_core.multiply(i, j), _core.multiply(k, m))

    first, second = difference(p[1], q[2], p[2], q[1]), difference(p[2], q[0], p[0], q[2])
    return _core._moveaxis(_core._stack(_core._broadcast_arrays([first, second, third], "cross"), -1), [third.ndim], [place])


@ufunc(2, types=same_types(2), signature="(m,n),(n)->(m)")
@copying
@filled
def matvec(
    x1: Any,
    x2: Any,
    /,
    out: Array | None = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """Matrix-vector dot product of two arrays.

    Parameters
    ----------
    x1 : Array
        Matrices: the last two axes.
    x2 : Array
        Vectors: the last axis. The axes before are broadcast.
    {out}
    {matrix_axes}
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The products.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number, a dtype is of another kind, or `axis` or `keepdims` is given.
    AxisError
        An operand has no such axis; a ValueError and an IndexError.
    ValueError
        Extents differ, an operand has too few dimensions, or the shape of `out` does not fit.

    See Also
    --------
    vecmat, matmul, vecdot

    Examples
    --------
    >>> import pardo as pp
    >>> pp.matvec(pp.asarray([[1, 2], [3, 4]]), pp.asarray([1, 10]))
    array([21, 43])
    """
    return apply_to_vectors("matvec", "(m,n),(n)->(m)", _by_columns, [x1, x2], out, axes, axis, keepdims, dtype, casting)


def _by_columns(x: Array, y: Array) -> Array:
    return _core._matmul(x, y[..., None])[..., 0]


@ufunc(2, types=same_types(2), signature="(n),(n,m)->(m)")
@copying
@filled
def vecmat(
    x1: Any,
    x2: Any,
    /,
    out: Array | None = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """Vector-matrix dot product of two arrays; the vectors are conjugated.

    Parameters
    ----------
    x1 : Array
        Vectors: the last axis.
    x2 : Array
        Matrices: the last two axes. The axes before are broadcast.
    {out}
    {matrix_axes}
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The products.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number, a dtype is of another kind, or `axis` or `keepdims` is given.
    AxisError
        An operand has no such axis; a ValueError and an IndexError.
    ValueError
        Extents differ, an operand has too few dimensions, or the shape of `out` does not fit.

    See Also
    --------
    matvec, matmul, vecdot

    Examples
    --------
    >>> import pardo as pp
    >>> pp.vecmat(pp.asarray([1, 10]), pp.asarray([[1, 2], [3, 4]]))
    array([31, 42])
    """
    return apply_to_vectors("vecmat", "(n),(n,m)->(m)", _by_rows, [x1, x2], out, axes, axis, keepdims, dtype, casting)


def _by_rows(x: Array, y: Array) -> Array:
    return _core._matmul((_core.conjugate(x) if x._kind == "c" else x)[..., None, :], y)[..., 0, :]
