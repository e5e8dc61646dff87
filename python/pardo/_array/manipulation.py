# python/pardo/_array/manipulation.py: shapes and axes, mostly as views of the same elements.
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import Axis, Shape, array, axes, axis_index, copy_flag, extents_of, index, integers
from pardo._base.orders import is_column_major, read_order
from pardo._core import Array

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "diagonal",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "reshape",
    "roll",
    "squeeze",
    "swapaxes",
    "transpose",
]


def reshape(x: Any, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> Array:
    """Give a new shape to an array without changing its data.

    Parameters
    ----------
    x : Array
        The elements.
    shape : int or tuple of int
        The new shape; one extent may be -1 and is then found from the others.
    order : {'C', 'F', 'A'}
        Whether elements are taken and placed in C order or in Fortran order; 'A' means Fortran order if the array lies so in
        memory.
    copy : bool, optional
        True always copies, False refuses to; by default the result is a view if strides can express it.

    Returns
    -------
    Array
        A view where that is possible, else a copy.

    Raises
    ------
    ValueError
        The number of elements would change, the order is unknown, or `copy=False` is impossible.
    TypeError
        `x` is not an array, or `shape` holds something else than integers.
    """
    return _reshape(array(x, "reshape"), extents_of(shape, "reshape: shape"), order, copy_flag(copy, "reshape"), "reshape")


def _reshape(x: Array, extents: list[int], order: str, copy: bool | None, op_name: str) -> Array:
    order = read_order(order, op_name, "CFA", "C")
    if order == "A":
        order = "F" if not x._surely_row_major() and is_column_major(x) else "C"
    if order == "C":
        return _core._reshape(x, extents, copy)
    if -1 in extents:
        known = int(np.prod([e for e in extents if e != -1]))
        if extents.count(-1) > 1 or known == 0 or x.size % known:
            raise ValueError(f"{op_name}: cannot reshape array of size {x.size} into shape {tuple(extents)}")
        extents[extents.index(-1)] = x.size // known
    y = _core._reshape(_reversed(x), extents[::-1], copy)
    return _reversed(y)


def _reversed(x: Array) -> Array:
    return _core._permute_dims(x, list(range(x.ndim))[::-1])


def ravel(x: Any, /, order: str = "C") -> Array:
    """Return a contiguous flattened array: `reshape(x, -1)`.

    Parameters
    ----------
    x : Array
        The elements.
    order : {'C', 'F', 'A', 'K'}
        Whether elements are taken in C order or in Fortran order; 'A' means Fortran order if the array lies so in memory,
        'K' as they lie in memory.

    Returns
    -------
    Array
        One-dimensional; a view where that is possible.

    Raises
    ------
    ValueError
        The order is unknown.
    TypeError
        `x` is not an array.
    """
    x = array(x, "ravel")
    if read_order(order, "ravel", default="C") != "K":
        return _reshape(x, [-1], order, None, "ravel")
    return _core._reshape(_core._permute_dims(x, list(_core._axis_order([x]))), [-1])


def permute_dims(x: Any, /, axes: int | Sequence[int] | None = None) -> Array:
    """Return an array with axes transposed.

    Parameters
    ----------
    x : Array
        The array.
    axes : tuple of int, optional
        For each axis of the result, the axis of `x`. Default: the axes are reversed.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        An axis is missing or comes twice.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or an axis is not an integer.
    """
    x = array(x, "permute_dims")
    if axes is None:
        return _reversed(x)
    order = extents_of(axes, "permute_dims: axes")
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: axes {tuple(order)} don't match an array of {x.ndim} dimensions")
    normal = [axis_index(a, x.ndim, "permute_dims") for a in order]
    if len(set(normal)) != len(normal):
        raise ValueError(f"permute_dims: repeated axis in {tuple(order)}")
    return _core._permute_dims(x, normal)


transpose = permute_dims


def matrix_transpose(x: Any, /) -> Array:
    """Transpose a matrix (or a stack of matrices): swap the last two axes.

    Parameters
    ----------
    x : Array
        Of two or more dimensions.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        The array has less than two dimensions.
    TypeError
        `x` is not an array.
    """
    x = array(x, "matrix_transpose")
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: the array must have at least 2 dimensions, but has {x.ndim}")
    return swapaxes(x, -1, -2)


def swapaxes(x: Any, /, axis1: int, axis2: int) -> Array:
    """Interchange two axes of an array.

    Parameters
    ----------
    x : Array
        The array.
    axis1, axis2 : int
        The axes.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or an axis is not an integer.
    """
    x = array(x, "swapaxes")
    order = list(range(x.ndim))
    a, b = axis_index(axis1, x.ndim, "swapaxes"), axis_index(axis2, x.ndim, "swapaxes")
    order[a], order[b] = order[b], order[a]
    return _core._permute_dims(x, order)


def moveaxis(x: Any, /, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Move axes of an array to new positions; the others keep their order.

    Parameters
    ----------
    x : Array
        The array.
    source, destination : int or tuple of int
        Where the axes are, and where they shall be.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        An axis comes twice, or `source` and `destination` differ in length.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or an axis is not an integer.
    """
    x = array(x, "moveaxis")
    start = [axis_index(a, x.ndim, "moveaxis") for a in integers(source, "moveaxis: source")]
    end = [axis_index(a, x.ndim, "moveaxis") for a in integers(destination, "moveaxis: destination")]
    if len(start) != len(end):
        raise ValueError("moveaxis: source and destination must have the same number of axes")
    if len(set(start)) != len(start) or len(set(end)) != len(end):
        raise ValueError("moveaxis: repeated axis")
    return _core._moveaxis(x, start, end)


def expand_dims(x: Any, /, axis: int | Sequence[int] = 0) -> Array:
    """Expand the shape of an array by axes of length one.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or tuple of int
        Where the new axes are in the result.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        An axis comes twice.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or an axis is not an integer.
    """
    x = array(x, "expand_dims")
    places = integers(axis, "expand_dims: axis")
    ndim = x.ndim + len(places)
    normal = [axis_index(a, ndim, "expand_dims") for a in places]
    if len(set(normal)) != len(normal):
        raise ValueError("expand_dims: repeated axis")
    return _core._expand_dims(x, normal)


def squeeze(x: Any, /, axis: Axis = None) -> Array:
    """Remove axes of length one from an array.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or tuple of int, optional
        The axes to remove. Default: all of extent 1.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        An axis does not have extent 1.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array.
    """
    x = array(x, "squeeze")
    if x.ndim == 0 and isinstance(axis, int) and axis in (0, -1):
        axis = ()  # as NumPy has it
    return _core._squeeze(x, axes(axis, "squeeze"))


def flip(x: Any, /, axis: Axis = None) -> Array:
    """Reverse the order of elements in an array along the given axis.

    Parameters
    ----------
    x : Array
        The array.
    axis : int or tuple of int, optional
        The axes. Default: all.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array.
    """
    return _core._flip(array(x, "flip"), axes(axis, "flip"))


def fliplr(x: Any, /) -> Array:
    """Reverse the order of elements along axis 1 (left/right).

    Parameters
    ----------
    x : Array
        Of two or more dimensions.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        The array has less than two dimensions.
    TypeError
        `x` is not an array.
    """
    x = array(x, "fliplr")
    if x.ndim < 2:
        raise ValueError(f"fliplr: the array must have at least 2 dimensions, but has {x.ndim}")
    return flip(x, 1)


def flipud(x: Any, /) -> Array:
    """Reverse the order of elements along axis 0 (up/down).

    Parameters
    ----------
    x : Array
        Of one or more dimensions.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    ValueError
        The array has less than one dimension.
    TypeError
        `x` is not an array.
    """
    x = array(x, "flipud")
    if x.ndim < 1:
        raise ValueError(f"flipud: the array must have at least 1 dimension, but has {x.ndim}")
    return flip(x, 0)


def atleast_1d(*arrays_: Any) -> Any:
    """View inputs as arrays with at least one dimension.

    Parameters
    ----------
    *arrays_ : Array
        The arrays.

    Returns
    -------
    Array or tuple of Array
        Views; one array if one was given.

    Raises
    ------
    TypeError
        Something is not an array.
    """
    return _at_least(arrays_, "atleast_1d", lambda x: x if x.ndim else x[None])


def atleast_2d(*arrays_: Any) -> Any:
    """View inputs as arrays with at least two dimensions.

    Parameters
    ----------
    *arrays_ : Array
        The arrays.

    Returns
    -------
    Array or tuple of Array
        Views; one array if one was given. A one-dimensional array becomes a row.

    Raises
    ------
    TypeError
        Something is not an array.
    """
    return _at_least(arrays_, "atleast_2d", lambda x: x[(None,) * (2 - x.ndim)] if x.ndim < 2 else x)


def atleast_3d(*arrays_: Any) -> Any:
    """View inputs as arrays with at least three dimensions.

    Parameters
    ----------
    *arrays_ : Array
        The arrays.

    Returns
    -------
    Array or tuple of Array
        Views; one array if one was given. Shape ``(n,)`` becomes ``(1, n, 1)``, ``(m, n)`` becomes ``(m, n, 1)``.

    Raises
    ------
    TypeError
        Something is not an array.
    """
    forms: list[Any] = [(None, None, None), (None, slice(None), None), (slice(None), slice(None), None)]
    return _at_least(arrays_, "atleast_3d", lambda x: x[forms[x.ndim]] if x.ndim < 3 else x)


def _at_least(items: Sequence[Any], op_name: str, view: Any) -> Any:
    views = [view(array(x, op_name)) for x in items]
    return views[0] if len(views) == 1 else tuple(views)


def roll(x: Any, /, shift: int | Sequence[int], axis: Axis = None) -> Array:
    """Roll array elements along a given axis; those beyond the last position come in at the first.

    Parameters
    ----------
    x : Array
        The array.
    shift : int or tuple of int
        How far; one for each axis, or one for all.
    axis : int or tuple of int, optional
        The axes. Default: the flattened array is rolled, and gets its shape back.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        `shift` and `axis` differ in length.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or a shift is not an integer.
    """
    x = array(x, "roll")
    if isinstance(shift, (Array, np.ndarray)) and shift.ndim == 1:
        shift = shift.tolist()
    distances: Sequence[Any] = shift if isinstance(shift, (tuple, list)) else [shift]
    try:
        shifts = [operator.index(s) for s in distances]
    except TypeError:
        raise TypeError(f"roll: shift must be an integer or a sequence of integers, not {shift!r}") from None
    if axis is None:
        return _core._roll(x, [sum(shifts) % max(x.size, 1)], None)
    if isinstance(axis, (tuple, list)) and not axis:
        return _core._roll(x, [0], None)
    along = [axis_index(a, x.ndim, "roll") for a in integers(axis, "roll: axis")]
    if len(shifts) != len(along) and 1 not in (len(shifts), len(along)):
        raise ValueError("roll: shift and axis must have the same length")
    count = max(len(shifts), len(along))
    along = along * count if len(along) == 1 else along
    shifts = shifts * count if len(shifts) == 1 else shifts
    return _core._roll(x, [s % max(x.shape[a], 1) for s, a in zip(shifts, along, strict=True)], along)


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return specified diagonals.

    Parameters
    ----------
    x : Array
        Of two or more dimensions.
    offset : int
        The diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2 : int
        The axes of the matrices.

    Returns
    -------
    Array
        A view; the diagonals are its last axis. Unlike NumPy's it can be written to, and writes go through to `x`.

    Raises
    ------
    ValueError
        The array has less than two dimensions, or both axes are the same.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or `offset` or an axis is not an integer.
    """
    return _core._diagonal(
        array(x, "diagonal"),
        index(offset, "diagonal: offset"),
        index(axis1, "diagonal: axis1"),
        index(axis2, "diagonal: axis2"),
    )
