# python/pardo/_analysis/sets.py: sets of numbers: union, intersection, difference; and orders of several keys.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array.sets import isin, unique
from pardo._base.arguments import SCALARS, array, arrays, axis_index, default_on, not_an_array
from pardo._base.orders import keeping_order
from pardo._core import Array
from pardo._functions.operands import cast, operands

__all__ = [
    "intersect1d",
    "lexsort",
    "setdiff1d",
    "setxor1d",
    "sort_complex",
    "union1d",
]


def _flat_pair(a: Any, b: Any, op_name: str) -> tuple[Array, Array]:
    x, y = operands([a, b], op_name)
    return _core._reshape(x, [-1]), _core._reshape(y, [-1])


def _joined(x: Array, y: Array) -> Array:
    return _core._concat([x, y], 0)


def union1d(ar1: Any, ar2: Any) -> Array:
    """Find the union of two arrays: the sorted elements that are in one of them.

    Parameters
    ----------
    ar1, ar2 : Array
        Flattened; one may be a list or a NumPy array.

    Returns
    -------
    Array
        One-dimensional, sorted, each element once. Waits: the shape depends on the values.

    Raises
    ------
    TypeError
        Neither is an Array or a number.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    intersect1d, setdiff1d, setxor1d, unique

    Examples
    --------
    >>> import pardo as pp
    >>> pp.union1d(pp.asarray([-1, 0, 1]), [-2, 0, 2])
    array([-2, -1,  0,  1,  2])
    """
    x, y = operands([ar1, ar2], "union1d")
    if x.dtype != y.dtype and (isinstance(ar1, SCALARS) or isinstance(ar2, SCALARS)):
        x, y = arrays([ar1, ar2], "union1d")  # numbers are weak, as where arrays are joined
    result: Array = unique(_joined(*(_core._reshape(a, [-1]) for a in (x, y))))
    return result


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Find the intersection of two arrays: the sorted elements that are in both.

    Parameters
    ----------
    ar1, ar2 : Array
        Flattened; one may be a list or a NumPy array.
    assume_unique : bool
        Whether each array has each element once.
    return_indices : bool
        Whether the places of the elements' first occurrences are returned too.

    Returns
    -------
    Array, or tuple of Array
        The elements; with `return_indices` also their indices in both arrays. Waits: the shape depends on the values.

    Raises
    ------
    TypeError
        Neither is an Array or a number.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    union1d, setdiff1d, setxor1d, isin

    Examples
    --------
    >>> import pardo as pp
    >>> pp.intersect1d(pp.asarray([1, 3, 4, 3]), [3, 1, 2, 1])
    array([1, 3])
    """
    x, y = _flat_pair(ar1, ar2, "intersect1d")
    first = second = None
    if not assume_unique:
        if return_indices:
            x, first = unique(x, return_index=True)
            y, second = unique(y, return_index=True)
        else:
            x, y = unique(x), unique(y)
    both = _joined(x, y)
    order = _core._argsort(both, 0, False, True)
    both = _core._take(both, order, 0)
    (places,) = _core._nonzero(_core.equal(both[1:], both[:-1]))
    values = _core._take(both, places, 0)
    if not return_indices:
        return values
    mine = _core._take(order, places, 0)
    theirs = _core.subtract(_core._take(order, _core.add(places, 1), 0), x.size)
    if first is not None and second is not None:
        mine, theirs = _core._take(first, mine, 0), _core._take(second, theirs, 0)
    return values, mine, theirs


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Find the set difference of two arrays: the elements of the first that are not in the second.

    Parameters
    ----------
    ar1, ar2 : Array
        Flattened; one may be a list or a NumPy array.
    assume_unique : bool
        Whether each array has each element once; then the order stays as it is.

    Returns
    -------
    Array
        One-dimensional, sorted unless `assume_unique`. Waits: the shape depends on the values.

    Raises
    ------
    TypeError
        Neither is an Array or a number.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    intersect1d, union1d, setxor1d, isin

    Examples
    --------
    >>> import pardo as pp
    >>> pp.setdiff1d(pp.asarray([1, 2, 3, 2, 4, 1]), [3, 4, 5, 6])
    array([1, 2])
    """
    x, y = _flat_pair(ar1, ar2, "setdiff1d")
    if not assume_unique:
        x = unique(x)
    (places,) = _core._nonzero(isin(x, y, invert=True))
    return _core._take(x, places, 0)


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Find the set exclusive-or of two arrays: the sorted elements that are in one of them, and not in both.

    Parameters
    ----------
    ar1, ar2 : Array
        Flattened; one may be a list or a NumPy array.
    assume_unique : bool
        Whether each array has each element once.

    Returns
    -------
    Array
        One-dimensional, sorted. Waits: the shape depends on the values.

    Raises
    ------
    TypeError
        Neither is an Array or a number.
    ExecutionPlacementError
        The arrays are on different queues.

    See Also
    --------
    union1d, intersect1d, setdiff1d

    Examples
    --------
    >>> import pardo as pp
    >>> pp.setxor1d(pp.asarray([1, 2, 3, 2, 4]), [2, 3, 5, 7, 5])
    array([1, 4, 5, 7])
    """
    x, y = _flat_pair(ar1, ar2, "setxor1d")
    if not assume_unique:
        x, y = unique(x), unique(y)
    both = _joined(x, y)
    if both.size == 0:
        return both
    both = _core._sort(both, 0, False, True)
    end = _core._full([1], True, np.bool_, both.queue)
    changes = _core._concat([end, _core.not_equal(both[1:], both[:-1]), end], 0)
    (places,) = _core._nonzero(_core.logical_and(changes[1:], changes[:-1]))
    return _core._take(both, places, 0)


def sort_complex(a: Any) -> Array:
    """Sort a complex array using the real part first, then the imaginary part.

    Parameters
    ----------
    a : Array
        Of one or more dimensions; sorted along the last.

    Returns
    -------
    Array
        Of complex128, of complex64 for integers of at most 16 bits; complex dtypes stay.

    Raises
    ------
    AxisError
        There are no dimensions; a ValueError and an IndexError.
    TypeError
        `a` is neither an Array nor a number.

    See Also
    --------
    sort

    Examples
    --------
    >>> import pardo as pp
    >>> pp.sort_complex(pp.asarray([5, 3, 6]))
    array([3.+0.j, 5.+0.j, 6.+0.j])
    """
    x = array(a, "sort_complex")
    x = keeping_order(x, axis_index(-1, x.ndim, "sort_complex"), lambda values, along: _core._sort(values, along, False, True))
    if x._kind == "c":
        return x
    return cast(x, np.complex64 if x.dtype.char in "bhBH" else default_on(x.queue, np.complex128))


def lexsort(keys: Any, axis: int = -1) -> Array:
    """Perform an indirect stable sort using a sequence of keys.

    Parameters
    ----------
    keys : Array, or sequence of Array
        Of one shape; the last is the primary key. An Array is taken for the sequence along its first axis.
    axis : int
        The axis along which is sorted.

    Returns
    -------
    Array
        Of int64: the indices that sort the keys.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        There are no keys, or none is an Array.
    ValueError
        The shapes of the keys differ.

    See Also
    --------
    argsort, sort

    Notes
    -----
    A stable sort by each key, the last one at the end.

    Examples
    --------
    >>> import pardo as pp
    >>> surnames, first = pp.asarray([2, 1, 2]), pp.asarray([3, 9, 1])
    >>> pp.lexsort((first, surnames))
    array([1, 2, 0])
    """
    if isinstance(keys, np.ndarray):
        raise not_an_array(keys, "lexsort")  # which is copied whole
    given = [keys[k] for k in range(len(keys))]
    if not given:
        raise TypeError("lexsort: need sequence of keys with len > 0")
    arrays = operands(given, "lexsort")
    shape = arrays[0].shape
    if any(x.shape != shape for x in arrays):
        raise ValueError("lexsort: all keys need to be the same shape")
    if not shape:
        return _core._full([], 0, np.int64, arrays[0].queue)
    a = axis_index(axis, len(shape), "lexsort")
    order = _core._argsort(arrays[0], a, False, True)
    for x in arrays[1:]:
        order = _core._take_along_axis(order, _core._argsort(_core._take_along_axis(x, order, a), a, False, True), a)
    return order
