# python/pardo/_array/products.py: products of matrices and vectors. They run in OpenBLAS, which is loaded at the first use.
from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.contexts import copying
from pardo._base.arguments import array, arrays, axis_index, index, loop_dtype, same_queue, store, store_reduced
from pardo._base.docstrings import filled
from pardo._base.ufuncs import apply_to_vectors, same_types, ufunc
from pardo._base.undisturbed import Undisturbed
from pardo._core import Array

__all__ = [
    "dot",
    "matmul",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
]

_NUMBERS = same_types(2)


def _load_openblas() -> None:
    """Called by the core before the first product: tells it where the wheel scipy-openblas32 keeps its library."""
    with Undisturbed():
        from pathlib import Path

        try:
            spec = importlib.util.find_spec("scipy_openblas32")
        except ImportError:
            return
    if spec is None or not spec.submodule_search_locations:
        return
    for folder in spec.submodule_search_locations:
        for library in sorted(Path(folder, "lib").glob("libscipy_openblas*.so*")):
            _core._set_openblas_path(str(library))
            return


@ufunc(2, types=_NUMBERS, signature="(n?,k),(k,m?)->(n?,m?)")
@copying
@filled
def matmul(
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
    """Matrix product of two arrays; vectors count as a row on the left and as a column on the right.

    Parameters
    ----------
    x1, x2 : Array
        Of one or more dimensions; the last two are the matrices, those before are broadcast.
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
    ImportError
        OpenBLAS is not installed.
    TypeError
        An operand is neither an Array nor a number, a dtype is of another kind, or `axis` or `keepdims` is given.
    AxisError
        An operand has no such axis; a ValueError and an IndexError.
    ValueError
        The inner extents differ, an operand has no dimensions, `casting` is something else, or the shape of `out` does not fit.
    """
    signature = "(n?,k),(k,m?)->(n?,m?)"
    return apply_to_vectors("matmul", signature, _core._matmul, [x1, x2], out, axes, axis, keepdims, dtype, casting)


@ufunc(2, types=_NUMBERS, signature="(n),(n)->()")
@copying
@filled
def vecdot(
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
    """Vector dot product of two arrays; the first is conjugated.

    Parameters
    ----------
    x1, x2 : Array
        Broadcast against each other; the axis must have the same extent.
    {out}
    axes : list of int, optional
        The axis of the vectors in each operand, and with `keepdims` in the result.
    axis : int, optional
        The axis of the vectors in both operands. Default: the last one.
    keepdims : bool
        Whether that axis stays, with extent 1.
    dtype : data type, optional
        The dtype to compute in; operands are cast to it within the same kind.
    casting : str, optional
        Only ``'same_kind'``.

    Returns
    -------
    Array
        The products, without that axis.

    Raises
    ------
    AxisError
        An operand has no such axis; a ValueError and an IndexError.
    ExecutionPlacementError
        The operands are on different queues.
    ImportError
        OpenBLAS is not installed.
    TypeError
        An operand is neither an Array nor a number, or `axis` is not an integer.
    ValueError
        The shapes do not fit.
    """
    return apply_to_vectors("vecdot", "(n),(n)->()", _last_axes, [x1, x2], out, axes, axis, keepdims, dtype, casting)


def _last_axes(a: Array, b: Array) -> Array:
    return _core._vecdot(a, b, -1)


def tensordot(x1: Any, x2: Any, /, axes: int | Sequence[int | Sequence[int]] = 2) -> Array:
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
    AxisError
        An operand has no such axis; a ValueError and an IndexError.
    ExecutionPlacementError
        The operands are on different queues.
    ImportError
        OpenBLAS is not installed.
    TypeError
        An operand is neither an Array nor a number, or an axis is not an integer.
    ValueError
        There are not that many axes, the two sequences differ in length, or the extents of two axes differ.
    """
    x1, x2 = array(x1, "tensordot"), array(x2, "tensordot")
    if isinstance(axes, (tuple, list)):
        pair: list[list[Any]] = [list(a) if isinstance(a, (tuple, list)) else [a] for a in axes]
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            raise ValueError(f"tensordot: axes must be two sequences of the same length, not {axes!r}")
        first = [axis_index(a, x1.ndim, "tensordot") for a in pair[0]]
        second = [axis_index(a, x2.ndim, "tensordot") for a in pair[1]]
    else:
        n = index(axes, "tensordot: axes")
        if n < 0 or n > min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot: axes is {n}; the operands have {x1.ndim} and {x2.ndim} dimensions")
        first, second = list(range(x1.ndim - n, x1.ndim)), list(range(n))
    return _core._tensordot(x1, x2, first, second)


@filled
def dot(x1: Any, x2: Any, /, out: Array | None = None) -> Array:
    """Dot product of two arrays: the sum over the last axis of `x1` and the second to last of `x2`.

    Parameters
    ----------
    x1, x2 : Array or number
        With a number: multiplication.
    {out}

    Returns
    -------
    Array
        The product.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    ImportError
        OpenBLAS is not installed.
    TypeError
        An operand is neither an Array nor a number, or `out` is not an Array or of a dtype of another kind.
    ValueError
        The extents differ, or the shape of `out` does not fit.
    """
    if type(x1) is not Array or type(x2) is not Array:
        x1, x2 = arrays([x1, x2], "dot", own_dtypes=True)
    if x1.ndim == 0 or x2.ndim == 0:
        return store(_core.multiply(x1, x2), out, "dot")
    if x1.shape[-1] != x2.shape[max(x2.ndim - 2, 0)]:
        raise ValueError(f"dot: shapes {x1.shape} and {x2.shape} are not aligned: {x1.shape[-1]} and {x2.shape[max(x2.ndim - 2, 0)]}")
    if x1.ndim <= 2 and x2.ndim <= 2:
        return store(_core._matmul(x1, x2), out, "dot")
    return store(_core._tensordot(x1, x2, [x1.ndim - 1], [max(x2.ndim - 2, 0)]), out, "dot")


@filled
def outer(x1: Any, x2: Any, /, out: Array | None = None) -> Array:
    """Compute the outer product of two vectors.

    Parameters
    ----------
    x1, x2 : Array
        Flattened.
    {out}

    Returns
    -------
    Array
        Of shape ``(x1.size, x2.size)``.

    Raises
    ------
    ExecutionPlacementError
        The operands are on different queues.
    TypeError
        An operand is neither an Array nor a number, or `out` is not an Array or of a dtype of another kind.
    ValueError
        The shape of `out` does not fit.
    """
    x1, x2 = arrays([x1, x2], "outer", own_dtypes=True)
    same_queue(x1, x2, "outer")
    a, b = _core._reshape(x1, [-1]), _core._reshape(x2, [-1])
    return store(_core.multiply(a[:, None], b[None, :]), out, "outer")


@filled
def trace(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Array | None = None) -> Array:
    """Return the sum along diagonals of the array.

    Parameters
    ----------
    x : Array
        Of two or more dimensions.
    offset : int
        The diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2 : int
        The axes of the matrices.
    dtype : data type, optional
        The dtype of the result, in which is also accumulated. Default: that of `x`, but at least 64 bits for integers.
    {out_cast}

    Returns
    -------
    Array
        The sums.

    Raises
    ------
    {no_axis}
    TypeError
        `x` is neither an Array nor a number, `offset` or an axis is not an integer, or `out` is not an Array.
    ValueError
        `x` has less than two dimensions, the axes are the same, or the shape of `out` does not fit.
    """
    x = array(x, "trace")
    if x.ndim < 2:
        raise ValueError(f"trace: the array has {x.ndim} dimensions; at least two are needed")
    a, b = axis_index(axis1, x.ndim, "trace"), axis_index(axis2, x.ndim, "trace")
    if a == b:
        raise ValueError(f"trace: axis1 and axis2 are both {a}; they must differ")
    d = _core._diagonal(x, index(offset, "trace: offset"), a, b)
    return store_reduced(_core._reduce(_core._SUM, d, [-1], False, loop_dtype(d, dtype, out, "trace")), out, "trace")
