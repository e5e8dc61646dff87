# python/pardo/_functions/editing.py: arrays with elements left out or put in: delete, insert, trim_zeros, extract.
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import stored
from pardo._base.arguments import array, axis_index
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._core import any as any_of
from pardo._functions.operands import axes_of, cast, on_host, operand, to_queue

__all__ = [
    "delete",
    "extract",
    "insert",
    "trim_zeros",
]


def _along(arr: Any, axis: Any, op_name: str) -> tuple[Array, int]:
    """The array, flattened for no axis, and the axis from 0 on."""
    x = array(arr, op_name)
    if axis is None:
        return _core._reshape(x, [-1]), 0
    return x, axis_index(axis, x.ndim, op_name)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """Return a new array with sub-arrays along an axis deleted.

    Parameters
    ----------
    arr : Array
        The elements.
    obj : slice, int, or Array of int or bool
        Which are left out. Lists and NumPy arrays are taken too; an Array is waited for.
    axis : int, optional
        The axis. Default: the array is flattened.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    IndexError
        An index is out of bounds, or no integer.
    TypeError
        `arr` is neither an Array nor a number, or `axis` is not an integer.
    ValueError
        There is not one bool for each element along the axis.

    See Also
    --------
    insert, append, compress

    Examples
    --------
    >>> import pardo as pp
    >>> pp.delete(pp.asarray([[1, 2], [3, 4], [5, 6]]), 1, 0)
    array([[1, 2],
           [5, 6]])
    """
    x, a = _along(arr, axis, "delete")
    n = x.shape[a]
    if isinstance(obj, slice):
        gone = range(n)[obj]
        if len(gone) == 0 or abs(gone.step) == 1:
            first = min(gone[0], gone[-1]) if gone else 0
            return _joined(x, a, [slice(0, first), slice(first + len(gone), n)])
        places: Any = np.asarray(gone)
    else:
        places = on_host(obj, "delete")
        if places.size == 0 and not isinstance(obj, (np.ndarray, Array)):
            places = places.astype(np.int64)
        if places.dtype == np.bool_ and not isinstance(obj, (bool, np.bool_)):
            if places.shape != (n,):
                raise ValueError(f"delete: obj must be one dimensional and match the axis length of {n} if it is of bools")
            places = np.flatnonzero(places)
        elif kind_of(places.dtype) not in "iu":
            raise IndexError(f"delete: obj must be integers or bools, not {places.dtype}")
        for bad in places[(places < -n) | (places >= n)].ravel()[:1]:
            raise IndexError(f"delete: index {bad} is out of bounds for axis {a} with size {n}")
    if places.size <= _FEW:
        edges = [-1, *sorted({int(i) % n for i in places.flat}), n]
        return _joined(x, a, [slice(before + 1, after) for before, after in itertools.pairwise(edges)])
    keep = np.ones(n, np.bool_)
    keep[places] = False
    return _core._take(x, to_queue(np.flatnonzero(keep), x.queue), a)


_FEW = 16  # places: what lies between them is copied as it is


def _joined(x: Array, axis: int, spans: list[slice]) -> Array:
    """A copy of these parts of an axis, one after the other."""
    parts = [_part(x, axis, span) for span in spans if span.stop > span.start]
    return _core._concat(parts, axis) if parts else _part(x, axis, slice(0, 0))._copy()


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """Insert values along the given axis before the given indices.

    Parameters
    ----------
    arr : Array
        The elements.
    obj : slice, int, or Array of int or bool
        Before which elements of `arr` values are put. Lists and NumPy arrays are taken too; an Array is waited for.
    values : Array or number
        What is put there, converted to the dtype of `arr` and broadcast. Lists and NumPy arrays are taken too.
    axis : int, optional
        The axis. Default: the array is flattened.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    IndexError
        An index is out of bounds, or no integer.
    TypeError
        `arr` is neither an Array nor a number, or `axis` is not an integer.
    ValueError
        The indices have more than one dimension, or the values cannot be broadcast.

    See Also
    --------
    delete, append, concatenate

    Examples
    --------
    >>> import pardo as pp
    >>> pp.insert(pp.asarray([[0, 1], [2, 3]]), 1, 9, axis=1)
    array([[0, 9, 1],
           [2, 9, 3]])
    >>> pp.insert(pp.arange(4), [1, 3], [10, 20])
    array([ 0, 10,  1,  2, 20,  3])
    """
    x, a = _along(arr, axis, "insert")
    n = x.shape[a]
    if isinstance(obj, slice):
        places = np.arange(*obj.indices(n))
    else:
        places = on_host(obj, "insert")
        if places.dtype == np.bool_:
            if places.ndim != 1:
                raise ValueError("insert: obj must be one dimensional if it is of bools")
            places = np.flatnonzero(places)
        if places.ndim > 1:
            raise ValueError("insert: obj must be one dimensional or scalar")
        if places.size == 0 and not isinstance(obj, (np.ndarray, Array)):
            places = places.astype(np.int64)
        if kind_of(places.dtype) not in "iu":
            raise IndexError(f"insert: obj must be integers or bools, not {places.dtype}")
    for bad in places[(places < -n) | (places > n)].ravel()[:1]:
        raise IndexError(f"insert: index {bad} is out of bounds for axis {a} with size {n}")
    new = stored(values, x, "insert")
    places = np.where(places < 0, places + n, places).astype(np.int64)
    shape = list(x.shape)
    if places.size == 1:
        new = _core._reshape(new, [1] * max(x.ndim - new.ndim, 0) + list(new.shape))
        if new.ndim > x.ndim:
            raise ValueError(f"insert: values of {new.ndim} dimensions do not fit an array of {x.ndim}")
        if places.ndim == 0:
            new = _core._moveaxis(new, [0], [a])
        shape[a] = new.shape[a]
        first = int(places.ravel()[0])
        before, after = (_part(x, a, span) for span in (slice(0, first), slice(first, None)))
        return _core._concat([before, _core._broadcast_to(new, shape), after], a)
    shape[a] = places.size
    order = np.argsort(places, kind="stable")
    source = np.full(n + places.size, -1)  # for each element of the result: which of `arr`, or n + which of `values`
    targets = np.empty_like(places)
    targets[order] = places[order] + np.arange(places.size)
    source[targets] = n + np.arange(places.size)
    source[source < 0] = np.arange(n)
    return _core._take(_core._concat([x, _core._broadcast_to(new, shape)], a), to_queue(source, x.queue), a)


def _part(x: Array, axis: int, span: slice) -> Array:
    return x[(slice(None),) * axis + (span,)]


def trim_zeros(filt: Any, trim: str = "fb", axis: int | tuple[int, ...] | None = None) -> Array:
    """Remove values along a dimension which are zero along all other.

    Parameters
    ----------
    filt : Array
        The elements.
    trim : {'fb', 'f', 'b'}
        Whether zeros at the front, at the back, or at both ends are removed.
    axis : int or tuple of int, optional
        The axes along which is trimmed. Default: all.

    Returns
    -------
    Array
        A view. Waits: the shape depends on the values.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `filt` is neither an Array nor a number, or an axis is not an integer.
    ValueError
        `trim` is something else, or an axis is given twice.

    See Also
    --------
    nonzero, delete

    Examples
    --------
    >>> import pardo as pp
    >>> pp.trim_zeros(pp.asarray([0, 0, 1, 2, 0, 3, 0]))
    array([1, 2, 0, 3])
    """
    x = array(filt, "trim_zeros")
    if not isinstance(trim, str) or trim.lower() not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim_zeros: unexpected character(s) in `trim`: {trim!r}")
    along = axes_of(axis, x.ndim, "trim_zeros")
    spans = [slice(None)] * x.ndim
    some = _core.not_equal(x, 0)
    for a in along:
        others = [d for d in range(x.ndim) if d != a]
        places = np.flatnonzero(on_host(_core._reduce(_core._ANY, some, others, False), "trim_zeros"))
        if places.size == 0:
            spans = [slice(0, 0) if d in along else slice(None) for d in range(x.ndim)]
            break
        front, back = "f" in trim.lower(), "b" in trim.lower()
        spans[a] = slice(int(places[0]) if front else None, int(places[-1]) + 1 if back else None)
    return x[tuple(spans)] if along else x


def extract(condition: Any, arr: Any) -> Array:
    """Return the elements of an array that satisfy some condition.

    Parameters
    ----------
    condition : Array
        Of the size of `arr`; numbers count as true when they are not zero. Lists and NumPy arrays are taken too.
    arr : Array
        The elements.

    Returns
    -------
    Array
        One-dimensional. Waits: the shape depends on the values.

    Raises
    ------
    IndexError
        The condition holds beyond the end of `arr`.
    TypeError
        `arr` is neither an Array nor a number.

    See Also
    --------
    compress, place, where

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(6).reshape(2, 3)
    >>> pp.extract(x % 3 == 0, x)
    array([0, 3])
    """
    x = _core._reshape(array(arr, "extract"), [-1])
    some = cast(_core._reshape(operand(condition, x, "extract"), [-1]), np.bool_)
    if some.size <= x.size:
        return x[: some.size][some]
    (places,) = _core._nonzero(some)
    if places.size and bool(any_of(_core.greater_equal(places, x.size))):
        raise IndexError(f"extract: the condition holds beyond the end of an array of {x.size} elements")
    return _core._take(x, places, 0)
