# python/pardo/_functions/rearranging.py: axes turned, arrays split, put together from blocks, repeated to a size.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.joining import split, vstack
from pardo._base.arguments import SCALARS, Shape, array, axis_index, index, integers, warn
from pardo._core import Array
from pardo._functions.operands import operand

__all__ = [
    "block",
    "dsplit",
    "hsplit",
    "resize",
    "rollaxis",
    "rot90",
    "row_stack",
    "vsplit",
]


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """Rotate an array by 90 degrees in the plane specified by axes.

    Parameters
    ----------
    m : Array
        Of two or more dimensions.
    k : int
        How many times it is rotated, from the first axis towards the second.
    axes : pair of int
        The plane.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    TypeError
        `m` is not an Array, or `k` or an axis is not an integer.
    ValueError
        There are not two different axes, or the array has no such axis.

    See Also
    --------
    flip, fliplr, flipud, transpose

    Examples
    --------
    >>> import pardo as pp
    >>> pp.rot90(pp.asarray([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    m = array(m, "rot90")
    plane = integers(axes, "rot90: axes")
    if len(plane) != 2:
        raise ValueError("rot90: len(axes) must be 2")
    first, second = plane
    if first == second or abs(first - second) == m.ndim:
        raise ValueError("rot90: axes must be different")
    if not all(-m.ndim <= a < m.ndim for a in plane):
        raise ValueError(f"rot90: axes {tuple(plane)} are out of range for an array of {m.ndim} dimensions")
    first, second = first % m.ndim, second % m.ndim
    turns = index(k, "rot90: k") % 4
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if turns == 0:
        return _core._permute_dims(m, list(range(m.ndim)))
    if turns == 2:
        return _core._flip(m, [first, second])
    if turns == 1:
        return _core._permute_dims(_core._flip(m, [second]), order)
    return _core._flip(_core._permute_dims(m, order), [second])


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Roll the specified axis backwards, until it lies in a given position.

    Parameters
    ----------
    a : Array
        The array.
    axis : int
        The axis to move.
    start : int
        The axis that it comes to lie before.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    AxisError
        There is no such axis, or no such place; a ValueError and an IndexError.
    TypeError
        `a` is not an Array, or an axis is not an integer.

    See Also
    --------
    moveaxis, roll

    Examples
    --------
    >>> import pardo as pp
    >>> pp.rollaxis(pp.zeros((3, 4, 5, 6)), 3, 1).shape
    (3, 6, 4, 5)
    """
    a = array(a, "rollaxis")
    axis = axis_index(axis, a.ndim, "rollaxis")
    place = index(start, "rollaxis: start")
    place += a.ndim if place < 0 else 0
    if not 0 <= place <= a.ndim:
        raise np.exceptions.AxisError(f"rollaxis: start must be from {-a.ndim} to {a.ndim}, but is {start}")
    order = [d for d in range(a.ndim) if d != axis]
    order.insert(place - 1 if axis < place else place, axis)
    return _core._permute_dims(a, order)


def _split(ary: Any, places: Any, least: int, axis: int, op_name: str) -> list[Array]:
    x = array(ary, op_name)
    if x.ndim < least:
        raise ValueError(f"{op_name} only works on arrays of {least} or more dimensions")
    return list(split(x, places, axis))


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split an array into multiple sub-arrays horizontally (column-wise).

    Parameters
    ----------
    ary : Array
        Split along the second axis; along the first if there is one only.
    indices_or_sections : int or sequence of int
        The number of equal parts, or where parts begin.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    TypeError
        `ary` is not an Array, or a place is not an integer.
    ValueError
        The array has no dimensions, or no equal parts are possible.

    See Also
    --------
    split, vsplit, dsplit

    Examples
    --------
    >>> import pardo as pp
    >>> pp.hsplit(pp.asarray([[1, 2], [3, 4]]), 2)[1]
    array([[2],
           [4]])
    """
    return _split(ary, indices_or_sections, 1, min(array(ary, "hsplit").ndim - 1, 1), "hsplit")


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split an array into multiple sub-arrays vertically (row-wise).

    Parameters
    ----------
    ary : Array
        Of two or more dimensions.
    indices_or_sections : int or sequence of int
        The number of equal parts, or where parts begin.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    TypeError
        `ary` is not an Array, or a place is not an integer.
    ValueError
        The array has less than two dimensions, or no equal parts are possible.

    See Also
    --------
    split, hsplit, dsplit

    Examples
    --------
    >>> import pardo as pp
    >>> pp.vsplit(pp.asarray([[1, 2], [3, 4]]), 2)[1]
    array([[3, 4]])
    """
    return _split(ary, indices_or_sections, 2, 0, "vsplit")


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split array into multiple sub-arrays along the 3rd axis (depth).

    Parameters
    ----------
    ary : Array
        Of three or more dimensions.
    indices_or_sections : int or sequence of int
        The number of equal parts, or where parts begin.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    TypeError
        `ary` is not an Array, or a place is not an integer.
    ValueError
        The array has less than three dimensions, or no equal parts are possible.

    See Also
    --------
    split, hsplit, vsplit

    Examples
    --------
    >>> import pardo as pp
    >>> [part.shape for part in pp.dsplit(pp.zeros((2, 2, 4)), 2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    return _split(ary, indices_or_sections, 3, 2, "dsplit")


def row_stack(tup: Any, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Stack arrays in sequence vertically (row wise): an older name of `vstack`.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.
    dtype, casting : optional
        As for `vstack`.

    Returns
    -------
    Array
        As `vstack` returns it. A DeprecationWarning is given, as by NumPy.

    Raises
    ------
    TypeError, ValueError
        As `vstack`.

    See Also
    --------
    vstack

    Examples
    --------
    >>> import warnings
    >>> import pardo as pp
    >>> with warnings.catch_warnings(action="ignore"):
    ...     pp.row_stack([pp.asarray([1, 2]), pp.asarray([3, 4])])
    array([[1, 2],
           [3, 4]])
    """
    warn("row_stack: this is an older name of vstack; use that", DeprecationWarning)
    return vstack(tup, dtype=dtype, casting=casting)


def block(arrays: Any) -> Array:
    """Assemble an array from nested lists of blocks.

    Parameters
    ----------
    arrays : nested lists of Array or number
        The innermost lists are joined along the last axis, those around them along the one before, and so on; all are nested to the
        same depth. One block without a list is copied.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    TypeError
        A block is neither an Array nor a number, or there is a tuple among the lists.
    ValueError
        Depths or shapes do not fit, or a list is empty.

    See Also
    --------
    concatenate, stack, hstack, vstack

    Examples
    --------
    >>> import pardo as pp
    >>> one, zero = pp.eye(2, dtype=int), pp.zeros((2, 1), dtype=int)
    >>> pp.block([[one, zero], [zero.T, 7]])
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 7]])
    """
    found: list[tuple[int, Any]] = []
    _collect(arrays, 0, found)
    depths = {depth for depth, _ in found}
    if len(depths) > 1 or any(x is None for _, x in found):
        raise ValueError("block: list depths are mismatched, or a list is empty")
    depth = depths.pop()
    like = next((x for _, x in found if type(x) is Array), None)
    blocks = [array(x, "block") if like is None or type(x) is Array else operand(x, like, "block") for _, x in found]
    ndim = max(depth, max(b.ndim for b in blocks))
    places = iter([_core._reshape(b, [1] * (ndim - b.ndim) + list(b.shape)) for b in blocks])

    def joined(item: Any, level: int) -> Array:
        if not isinstance(item, list):
            return next(places)
        parts = [joined(x, level + 1) for x in item]
        return _core._concat(parts, ndim - depth + level)

    made = joined(arrays, 0)
    return made._copy() if depth == 0 else made


def _collect(item: Any, depth: int, found: list[tuple[int, Any]]) -> None:
    if isinstance(item, tuple):
        raise TypeError("block: only lists can be used to arrange blocks, and a tuple is among them")
    if isinstance(item, list):
        if not item:
            found.append((depth + 1, None))
        for x in item:
            _collect(x, depth + 1, found)
        return
    if type(item) is not Array and not isinstance(item, SCALARS):
        array(item, "block")  # raises
    found.append((depth, item))


def resize(a: Any, new_shape: Shape) -> Array:
    """Return a new array with the specified shape, filled with repeated copies of the elements.

    Parameters
    ----------
    a : Array
        The elements, taken row by row.
    new_shape : int or sequence of int
        The shape.

    Returns
    -------
    Array
        A new array; zeros if `a` has no elements.

    Raises
    ------
    TypeError
        `a` is neither an Array nor a number, or `new_shape` holds something else than integers.
    ValueError
        An extent is negative.

    See Also
    --------
    reshape, repeat, tile, pad

    Examples
    --------
    >>> import pardo as pp
    >>> pp.resize(pp.asarray([[0, 1], [2, 3]]), (2, 3))
    array([[0, 1, 2],
           [3, 0, 1]])
    """
    flat = _core._reshape(array(a, "resize"), [-1])
    extents = integers(new_shape, "resize: new_shape")
    if any(e < 0 for e in extents):
        raise ValueError("resize: all elements of `new_shape` must be non-negative")
    total = math.prod(extents)
    if flat.size == 0 or total == 0:
        return _core._full(extents, 0, flat.dtype, flat.queue)
    if total > flat.size:
        flat = _core._tile(flat, [-(-total // flat.size)])
        if flat.size == total:
            return _core._reshape(flat, extents)
    return _core._reshape(flat[:total], extents)._copy()
