# python/pardo/_array/sets.py: distinct values, and membership.
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._array.searching import beyond_range
from pardo._base import promotion
from pardo._base.arguments import SCALARS, array, array_like, arrays, axis_index, default_on, same_queue
from pardo._base.docstrings import filled
from pardo._base.promotion import kind_of
from pardo._core import Array

__all__ = [
    "UniqueAllResult",
    "UniqueCountsResult",
    "UniqueInverseResult",
    "isin",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


@filled
def unique_all(x: Any, /) -> UniqueAllResult:
    """Find the unique elements of an array, and counts, inverse, and indices.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    UniqueAllResult
        values (sorted; each NaN is distinct), indices, inverse_indices (of the shape of `x`), counts.

    Raises
    ------
    {not_an_array}
    """
    x = array(x, "unique_all")
    values, indices, inverse, counts = _core._unique(x)
    return UniqueAllResult(values, indices, _core._reshape(inverse, x.shape), counts)


@filled
def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Find the unique elements and counts of an input array `x`.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    UniqueCountsResult
        values (sorted; each NaN is distinct), counts.

    Raises
    ------
    {not_an_array}
    """
    values, _, _, counts = _core._unique(array(x, "unique_counts"))
    return UniqueCountsResult(values, counts)


@filled
def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Find the unique elements of `x` and indices to reconstruct `x`.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    UniqueInverseResult
        values (sorted; each NaN is distinct), inverse_indices (of the shape of `x`).

    Raises
    ------
    {not_an_array}
    """
    x = array(x, "unique_inverse")
    values, _, inverse, _ = _core._unique(x)
    return UniqueInverseResult(values, _core._reshape(inverse, x.shape))


@filled
def unique_values(x: Any, /) -> Array:
    """Return the unique elements of an input array `x`.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    Array
        Sorted; each NaN is distinct.

    Raises
    ------
    {not_an_array}
    """
    return _core._unique_values(array(x, "unique_values"), False)


@filled
def unique(
    x: Any,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Find the unique elements of an array, sorted.

    Parameters
    ----------
    x : Array
        The elements.
    return_index, return_inverse, return_counts : bool
        What else is returned: where each value occurs first, which value each element is, how often each occurs.
    axis : int, optional
        The axis whose slices are compared, each as a whole; takes one sort for each element of a slice. Default: the array is
        flattened, and its elements are compared.
    equal_nan : bool
        Whether all NaNs count as one value; in slices of more than one element each NaN is distinct.
    sorted : bool
        Whether the values have to be in order; they always are.

    Returns
    -------
    Array or tuple of Array
        The values, and what was asked for.

    Raises
    ------
    {no_axis}
    TypeError
        `x` is neither an Array nor a number, or `axis` is not an integer.
    """
    x = array(x, "unique")
    along = None if axis is None else axis_index(axis, x.ndim, "unique")
    if (along is None or x.ndim <= 1) and not (return_index or return_inverse or return_counts):
        return _core._unique_values(x, equal_nan)
    if along is not None and x.ndim > 1:
        values, indices, inverse, counts = _unique_slices(x, along)
    else:
        values, indices, inverse, counts = _core._unique(x)
        inverse = _core._reshape(inverse, x.shape)
        if equal_nan and values._kind in "fc":
            first_nan = values.size - int(_count(_core.isnan(values)))
            if values.size - first_nan > 1:
                counts = _core._concat([counts[:first_nan], _core._reduce(_core._SUM, counts[first_nan:], None, True)], 0)
                inverse = _core.minimum(inverse, first_nan)
                values, indices = values[: first_nan + 1], indices[: first_nan + 1]
    wanted = [values]
    wanted += [indices] if return_index else []
    wanted += [inverse] if return_inverse else []
    wanted += [counts] if return_counts else []
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _unique_slices(x: Array, axis: int) -> tuple[Array, Array, Array, Array]:
    """Distinct slices along an axis: as rows, ordered by stable sorts from the last column to the first, then compared."""
    front = _core._moveaxis(x, [axis], [0])
    n, width = front.shape[0], x.size // max(front.shape[0], 1)
    rows = _core._reshape(front, [n, width])
    order = _core._arange(0, n, 1, np.int64, x.queue)
    for column in reversed(range(width)):
        keys = _core._take(rows[:, column], order, 0)
        order = _core._take(order, _core._argsort(keys, 0, False, True), 0)
    rows = _core._take(rows, order, 0)
    differs = _core._reduce(_core._ANY, _core.not_equal(rows[1:], rows[:-1]), [1], False)
    first = _core._concat([_core._full([min(n, 1)], True, np.bool_, x.queue), differs], 0)
    starts = _core._nonzero(first)[0]
    group = _core._cumulative(_core._SUM, first, 0, np.int64, False) - 1
    values = _core._reshape(_core._take(rows, starts, 0), [starts.size, *front.shape[1:]])
    ends = _core._concat([starts[1:], _core._full([min(n, 1)], n, np.int64, x.queue)], 0)
    inverse = _core._take(group, _core._argsort(order, 0, False, True), 0)
    return _core._moveaxis(values, [0], [axis]), _core._take(order, starts, 0), inverse, ends - starts


def _count(x: Array) -> Array:
    return _core._reduce(_core._COUNT_NONZERO, x, None, False)


def _never_equal(x: Any, dtype: np.dtype[Any]) -> bool:
    """True for a number that the dtype would round: NumPy compares in a dtype that holds both, where no element equals it."""
    if type(x) is Array or not isinstance(x, SCALARS):
        return False
    if beyond_range(x, dtype) or (kind_of(dtype) == "b" and type(x) is int and x not in (0, 1)):
        return True
    with np.errstate(all="ignore"):
        if type(x) is int and not -(2**63) <= x < 2**64:  # of which NumPy makes an object, and compares it as Python does
            try:
                return bool(dtype.type(x).item() != x)
            except OverflowError:
                return True
        number = np.asarray(x)
        common = promotion.result_type(dtype, number.dtype)
        return bool(number.astype(promotion.result_type(dtype, x)).astype(common) != number.astype(common))


def _bounds(x: Array, given: Any) -> tuple[int, int]:
    """What integers lie between: the least and the greatest of them, or of their dtype where it has few, which waits for nothing."""
    if x._kind == "b":
        return 0, 1
    if x.dtype.itemsize <= 2:
        return int(np.iinfo(x.dtype).min), int(np.iinfo(x.dtype).max)
    if isinstance(given, (list, tuple, np.ndarray, *SCALARS)):
        host = np.asarray(given)
        if kind_of(host.dtype) in "iu":
            return int(host.min()), int(host.max())
    ends = [_core._reduce(operation, x, None, False) for operation in (_core._MIN, _core._MAX)]
    _core._force(ends)  # both in one pass
    low = int(ends[0].item())
    return low, max(low, int(ends[1].item()))  # a device that computes nothing gives any numbers


_KINDS = ("sort", "table")


def isin(x1: Any, /, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None) -> Array:
    """Calculate ``element in test_elements``, broadcasting over `x1` only.

    Parameters
    ----------
    x1 : Array or number
        The elements that are looked for.
    test_elements : Array or number
        Where they are looked for.
    assume_unique : bool
        Whether no element occurs twice; the result is the same.
    invert : bool
        Whether the answer is inverted.
    kind : {'sort', 'table'}, optional
        Whether `test_elements` are sorted, or marked in a table of bools over their range, which is for integers and bools. Default: a
        table where the range is at most six times as large as both arrays have elements, as in NumPy. The result is the same.

    Returns
    -------
    Array
        Of bools and the shape of `x1`. NaN is in no array.

    Raises
    ------
    ExecutionPlacementError
        The arrays are on different queues.
    TypeError
        `x1` or `test_elements` is neither an Array nor a number.
    ValueError
        `kind` is something else, or 'table' for other elements than integers and bools.
    RuntimeError
        `kind` is 'table', and the range has more integers than fit into 63 bits.

    Notes
    -----
    Waits for the least and the greatest of the test elements where these are on a device, of 32 or 64 bits, and not to be sorted.
    """
    if kind is not None and (not isinstance(kind, str) or kind not in _KINDS):
        raise ValueError(f"isin: kind is {kind!r}; it must be 'sort', 'table' or None")
    for x, other in ((x1, test_elements), (test_elements, x1)):
        if type(other) is Array and _never_equal(x, other.dtype):
            shape = [] if x is x1 else list(other.shape)
            return _core._full(shape, bool(invert), np.bool_, other.queue)
    x1, x2 = arrays([x1, test_elements], "isin") if type(x1) is not Array else (x1, array_like(test_elements, x1, "isin"))
    same_queue(x1, x2, "isin")
    if kind == "table" and not {kind_of(x1.dtype), x2._kind} <= set("biu"):
        raise ValueError(f"isin: kind 'table' is for integers and bools, not for {x1.dtype} and {x2.dtype}: use 'sort' or None")
    if x2.size == 0:
        return _core._full(list(x1.shape), bool(invert), np.bool_, x1.queue)
    if kind != "sort" and {kind_of(x1.dtype), x2._kind} <= set("biu"):
        low, high = _bounds(x2, test_elements)
        if kind == "table" and high - low >= 2**63 - 1:
            raise RuntimeError(f"isin: kind 'table' is given, and the test elements reach from {low} to {high}: use 'sort' or None")
        if kind == "table" or high - low <= 6 * (x1.size + x2.size):
            return _core._is_member(x1, x2, low if low < 2**63 else low - 2**64, high - low + 1, bool(invert))
    dtype = default_on(x1.queue, promotion.result_type(x1.dtype, x2.dtype))
    possible = None
    if kind_of(dtype) == "f" and kind_of(x1.dtype) in "iu" and x2._kind in "iu":
        # No integer dtype holds both: they are compared as uint64, where negative ones become numbers that the other side is not asked for.
        dtype = np.dtype(np.uint64)
        possible = _core.greater_equal(x1, 0) if kind_of(x1.dtype) == "i" else _core.less(x1, 2**63)
    table = _core._sort(_core._reshape(x2._astype(dtype, False), [-1]), -1, False, True)
    needles = x1._astype(dtype, False)
    places = _core.minimum(_core._searchsorted(table, needles, False, None), table.size - 1)
    found = _core.equal(_core._take(table, places, 0), needles)
    if possible is not None:
        found = _core.logical_and(found, possible)
    return _core.logical_not(found) if invert else found
