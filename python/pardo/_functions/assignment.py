# python/pardo/_functions/assignment.py: values written to some elements of an array, in place.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array import searching
from pardo._array.array_interface import holds_arrays
from pardo._array.interop import stored
from pardo._base.arguments import SCALARS, axis_index, check_cast
from pardo._core import Array
from pardo._functions.operands import cast, operand

__all__ = [
    "place",
    "put",
    "put_along_axis",
    "putmask",
]


def target(a: Any, op_name: str) -> Array:
    """An array that is written to: nothing takes its place."""
    if type(a) is not Array:
        raise TypeError(f"{op_name}: expected a pardo.Array to write to, got {type(a).__name__}")
    return a


def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """Replace specified elements of an array with given values.

    Parameters
    ----------
    a : Array
        What is written to.
    ind : Array of int
        Which elements of the flattened array; negative ones count from the end. Lists, numbers and NumPy arrays are taken too.
    v : Array or number
        What is stored there, in order; repeated from the start if there are fewer than indices. Lists and NumPy arrays are taken too.
    mode : {'raise', 'wrap', 'clip'}
        What happens to indices that are out of bounds; see `take`.

    Raises
    ------
    IndexError
        An index is out of bounds; late, at the next wait, if `ind` is an Array.
    TypeError
        `a` is not an Array, indices are not integers, or the values are of a kind that the dtype cannot hold.
    ValueError
        `mode` is something else, or `a` is read-only.

    See Also
    --------
    putmask, place, take

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(5)
    >>> pp.put(x, [0, 2], [-44, -55])
    >>> x
    array([-44,   1, -55,   3,   4])
    """
    searching.put(target(a, "put"), ind, v, mode)


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None) -> None:
    """Put values into the destination array by matching 1-D index and data slices.

    Parameters
    ----------
    arr : Array
        What is written to.
    indices : Array of int
        Of as many dimensions as `arr`; broadcast against it on the other axes. Lists and NumPy arrays are taken too.
    values : Array or number
        What is stored there; broadcast to the shape of the indices. Lists and NumPy arrays are taken too.
    axis : int or None
        The axis; None takes `arr` as flattened.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    IndexError
        An index is out of bounds, late, at the next wait, if `indices` is an Array; or indices are not integers.
    TypeError
        `arr` is not an Array, or the values are of a kind that the dtype cannot hold.
    ValueError
        Shapes do not fit, or `arr` is read-only.

    See Also
    --------
    take_along_axis, put

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([[10, 30, 20], [60, 40, 50]])
    >>> pp.put_along_axis(x, pp.argmax(x, axis=1, keepdims=True), 99, axis=1)
    >>> x
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    op_name = "put_along_axis"
    arr = target(arr, op_name)
    places = operand(indices, arr, op_name)
    if axis is None and places.ndim != 1:
        raise ValueError(f"{op_name}: when axis=None, `indices` must have a single dimension")
    if places._kind not in "iu":
        raise IndexError(f"{op_name}: `indices` must be an integer array")
    if axis is None:
        arr = arr if arr.ndim else _core._reshape(arr, [1])
        index = _unraveled(places, arr)
    else:
        axis, n = axis_index(axis, arr.ndim, op_name), arr.ndim
        if places.ndim != n:
            raise ValueError(f"{op_name}: `indices` and `arr` must have the same number of dimensions")
        index = [
            places if d == axis else _core._reshape(_core._arange(0, e, 1, np.int64, arr.queue), [e if k == d else 1 for k in range(n)])
            for d, e in enumerate(arr.shape)
        ]
    arr[tuple(index)] = stored(values, arr, op_name)


def _unraveled(places: Array, arr: Array) -> list[Array]:
    """The indices along the axes of places in the flattened array; of those out of bounds the first one is, too."""
    p = cast(places, np.int64)
    p = _core._where(_core.less(p, 0), _core.add(p, arr.size), p)
    index, rest = [], p
    for extent in arr.shape[:0:-1]:
        index.append(_core.remainder(rest, max(extent, 1)))
        rest = _core.floor_divide(rest, max(extent, 1))
    return [_core._where(_core.less(p, 0), arr.shape[0], rest), *index[::-1]]


def _stored(values: Any, a: Array, op_name: str) -> Array:
    """What `putmask` and `place` store, in one row: arrays are cast where nothing is lost, numbers of the host and lists of them anyway."""
    if isinstance(values, (list, tuple, range, *SCALARS)) and not holds_arrays(values):
        return _core._reshape(stored(values, a, op_name), [-1])
    new = operand(values, a, op_name)
    check_cast(new.dtype, a.dtype, "safe", op_name)
    return _core._reshape(cast(new, a.dtype), [-1])


def putmask(a: Array, /, mask: Any, values: Any) -> None:
    """Change elements of an array based on conditional and input values.

    Parameters
    ----------
    a : Array
        What is written to.
    mask : Array
        Of the size of `a`: where it is true. Lists and NumPy arrays are taken too.
    values : Array or number
        What is stored there: the value at the same place of the flattened arrays, repeated from the start if there are fewer. Lists
        and NumPy arrays are taken too.

    Raises
    ------
    TypeError
        `a` is not an Array, or the values are an array whose dtype cannot be cast without loss; numbers and lists are cast as they are.
    ValueError
        The sizes differ, or `a` is read-only.
    OverflowError
        An integer of Python does not fit the dtype.

    See Also
    --------
    place, put, copyto

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6)
    >>> pp.putmask(x, x > 2, x**2)
    >>> x
    array([ 0,  1,  2,  9, 16, 25])
    """
    a = target(a, "putmask")
    some = operand(mask, a, "putmask")
    if some.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    new = _stored(values, a, "putmask")
    if new.size == 0 or a.size == 0:
        return
    if new.size > 1:
        new = _core._tile(new, [-(-a.size // new.size)])[: a.size]
    chosen = _core._where(_core._reshape(some, list(a.shape)), _core._reshape(new, list(a.shape) if new.size > 1 else []), a)
    a._assign(chosen)


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Change elements of an array based on conditional and input values, which are used up one after the other.

    Parameters
    ----------
    arr : Array
        What is written to.
    mask : Array
        Of the size of `arr`: where it is true. Lists and NumPy arrays are taken too.
    vals : Array or number
        What is stored there, in order; repeated from the start if there are fewer. Lists and NumPy arrays are taken too.

    Raises
    ------
    TypeError
        `arr` is not an Array, or the values are an array whose dtype cannot be cast without loss; numbers and lists are cast as they are.
    OverflowError
        An integer of Python does not fit the dtype.
    ValueError
        The sizes differ, there are no values for an element, or `arr` is read-only.

    See Also
    --------
    putmask, put, extract

    Notes
    -----
    The place of a value is the number of true elements before it, a running sum.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6)
    >>> pp.place(x, x > 2, [44, 55])
    >>> x
    array([ 0,  1,  2, 44, 55, 44])
    """
    arr = target(arr, "place")
    some = cast(operand(mask, arr, "place"), np.bool_)
    if some.size != arr.size:
        raise ValueError("place: place mask and data must be the same size")
    new = _stored(vals, arr, "place")
    if arr.size == 0:
        return
    flat = _core._reshape(some, [-1])
    if new.size == 0:
        if bool(searching.flatnonzero(flat).size):
            raise ValueError("place: cannot insert from an empty array")
        return
    before = _core.subtract(_core._cumulative(_core._SUM, flat, 0, np.int64, False), 1)
    chosen = _core._take(new, _core.remainder(_core.maximum(before, 0), new.size), 0)
    arr._assign(_core._where(_core._reshape(some, list(arr.shape)), _core._reshape(chosen, list(arr.shape)), arr))
