# python/pardo/_sets.py: distinct values, and membership.
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from pardo import _core
from pardo._arguments import array, array_like, arrays
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


def unique_all(x: Any, /) -> UniqueAllResult:
    """Return the distinct values, where each occurs first, which of them each element is, and how often each occurs.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    UniqueAllResult
        values (sorted; each NaN is distinct), indices, inverse_indices (of the shape of `x`), counts.
    """
    x = array(x, "unique_all")
    values, indices, inverse, counts = _core._unique(x)
    return UniqueAllResult(values, indices, _core._reshape(inverse, x.shape), counts)


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Return the distinct values and how often each occurs.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    UniqueCountsResult
        values (sorted; each NaN is distinct), counts.
    """
    values, _, _, counts = _core._unique(array(x, "unique_counts"))
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Return the distinct values and which of them each element is.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    UniqueInverseResult
        values (sorted; each NaN is distinct), inverse_indices (of the shape of `x`).
    """
    x = array(x, "unique_inverse")
    values, _, inverse, _ = _core._unique(x)
    return UniqueInverseResult(values, _core._reshape(inverse, x.shape))


def unique_values(x: Any, /) -> Array:
    """Return the distinct values.

    Parameters
    ----------
    x : Array
        The elements; flattened.

    Returns
    -------
    Array
        Sorted; each NaN is distinct.
    """
    return _core._unique(array(x, "unique_values"))[0]


def unique(
    x: Any,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
) -> Any:
    """Return the distinct values, sorted, as NumPy does.

    Parameters
    ----------
    x : Array
        The elements; flattened.
    return_index, return_inverse, return_counts : bool
        What is returned besides: where each value occurs first, which value each element is, how often each occurs.
    equal_nan : bool
        Whether all NaNs count as one value.

    Returns
    -------
    Array or tuple of Array
        The values, and what was asked for.
    """
    x = array(x, "unique")
    values, indices, inverse, counts = _core._unique(x)
    if equal_nan and values.dtype.kind in "fc":
        first_nan = values.size - int(_count(_core.isnan(values)))
        if values.size - first_nan > 1:
            counts = _core._concat([counts[:first_nan], _core._reduce(_core._SUM, counts[first_nan:], None, True)], 0)
            inverse = _core.minimum(inverse, first_nan)
            values, indices = values[: first_nan + 1], indices[: first_nan + 1]
    wanted = [values]
    wanted += [indices] if return_index else []
    wanted += [_core._reshape(inverse, x.shape)] if return_inverse else []
    wanted += [counts] if return_counts else []
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _count(x: Array) -> Array:
    return _core._reduce(_core._COUNT_NONZERO, x, None, False)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Tell which elements occur in another array.

    Parameters
    ----------
    x1 : Array or number
        The elements that are looked for.
    x2 : Array or number
        Where they are looked for.
    invert : bool
        Whether the answer is inverted.

    Returns
    -------
    Array
        Of bools and the shape of `x1`. NaN is in no array.
    """
    x1, x2 = arrays([x1, x2], "isin") if type(x1) is not Array else (x1, array_like(x2, x1, "isin"))
    if x2.size == 0:
        return _core._full(list(x1.shape), bool(invert), np.bool_, x1.queue)
    dtype = np.result_type(x1.dtype, x2.dtype)
    table = _core._sort(_core._reshape(x2._astype(dtype, False), [-1]), -1, False, True)
    needles = x1._astype(dtype, False)
    places = _core.minimum(_core._searchsorted(table, needles, False, None), table.size - 1)
    found = _core.equal(_core._take(table, places, 0), needles)
    return _core.logical_not(found) if invert else found
