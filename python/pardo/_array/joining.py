# python/pardo/_array/joining.py: arrays joined, split and repeated.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.manipulation import atleast_1d, atleast_2d, atleast_3d
from pardo._base.arguments import (
    array,
    arrays,
    axis_index,
    check_cast,
    check_casting,
    index,
    integers,
    optional_dtype,
    optional_index,
    store,
    warn_of_lost_parts,
)
from pardo._base.promotion import kind_of
from pardo._core import Array

__all__ = [
    "append",
    "array_split",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "repeat",
    "split",
    "stack",
    "tile",
    "unstack",
    "vstack",
]


def concat(
    arrays_: Sequence[Any], /, axis: int | None = 0, out: Array | None = None, *, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Join a sequence of arrays along an existing axis.

    Parameters
    ----------
    arrays_ : sequence of Array
        The arrays; their shapes may differ along the axis only.
    axis : int, optional
        The axis; None flattens the arrays first.
    out : Array, optional
        Where the result is stored.
    dtype : data type, optional
        The dtype of the result. Default: the promoted one.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts to `dtype` or to that of `out` are allowed.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        There are no arrays, or their shapes do not fit.
    TypeError
        Something is not an array, the cast is not allowed, or both `out` and `dtype` are given.
    AxisError
        The arrays have no such axis.
    """
    return _joined(arrays_, axis, "concat", out, dtype, casting)


concatenate = concat


def _joined(
    items: Iterable[Any],
    axis: int | None,
    op_name: str,
    out: Array | None = None,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
    join: Any = _core._concat,
) -> Array:
    """Arrays joined by `join`, with NumPy's keywords of all functions that do so."""
    parts = arrays(items, op_name)
    if not parts:
        raise ValueError(f"{op_name}: at least one array is needed")
    if isinstance(axis, bool):
        raise TypeError(f"{op_name}: axis must be an integer, not bool")
    along = optional_index(axis, f"{op_name}: axis")
    check_casting(casting, op_name)
    if out is not None and dtype is not None:
        raise TypeError(f"{op_name}: out and dtype cannot be given both")
    target = optional_dtype(dtype, op_name) or (out.dtype if type(out) is Array else None)
    if target is not None:
        for x in parts:
            check_cast(x.dtype, target, casting, op_name)
        if kind_of(target) in "iuf" and any(x._kind == "c" for x in parts):
            warn_of_lost_parts(op_name)
        parts = [x._astype(target, False) for x in parts]
    return store(_in_their_order(parts, along, join), out, op_name)


def _in_their_order(parts: list[Array], along: int | None, join: Any) -> Array:
    """The arrays joined; the axes of the result lie in memory as NumPy has it for those of the arrays."""
    if along is None or all(x._surely_row_major() for x in parts):
        return join(parts, along)  # type: ignore[no-any-return]
    new = join is _core._stack
    rank = parts[0].ndim + new
    fits = all(x.shape == parts[0].shape if new else x.ndim == parts[0].ndim for x in parts)
    if not fits or not -rank <= along < rank:
        return join(parts, along)  # type: ignore[no-any-return]  # which raises
    if new:
        parts = [_core._expand_dims(x, [along]) for x in parts]
    axes = list(_core._axis_order(parts))
    return _core._laid_out(_core._concat([_core._permute_dims(x, axes) for x in parts], axes.index(along % len(axes))), axes)


def stack(
    arrays_: Sequence[Any], /, axis: int = 0, out: Array | None = None, *, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Join a sequence of arrays of the same shape along a new axis.

    Parameters
    ----------
    arrays_ : sequence of Array
        The arrays.
    axis : int
        Where the new axis is in the result.
    out : Array, optional
        Where the result is stored.
    dtype : data type, optional
        The dtype of the result. Default: the promoted one.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts to `dtype` or to that of `out` are allowed.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        There are no arrays, or their shapes do not fit.
    TypeError
        Something is not an array, the cast is not allowed, or both `out` and `dtype` are given.
    AxisError
        The result has no such axis.
    """
    return _joined(arrays_, index(axis, "stack: axis"), "stack", out, dtype, casting, _core._stack)


def vstack(tup: Sequence[Any], *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Stack arrays in sequence vertically (row wise): along the first axis, after they have two dimensions.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.
    dtype : data type, optional
        The dtype of the result. Default: the promoted one.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts to `dtype` are allowed.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        There are no arrays, or their shapes do not fit.
    TypeError
        Something is not an array, or the cast is not allowed.
    """
    return _joined([atleast_2d(x) for x in arrays(tup, "vstack", own_dtypes=True)], 0, "vstack", dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Stack arrays in sequence horizontally (column wise): along the second axis, 1-D arrays along the first.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.
    dtype : data type, optional
        The dtype of the result. Default: the promoted one.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts to `dtype` are allowed.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        There are no arrays, or their shapes do not fit.
    TypeError
        Something is not an array, or the cast is not allowed.
    """
    items = [atleast_1d(x) for x in arrays(tup, "hstack", own_dtypes=True)]
    return _joined(items, 0 if items and items[0].ndim == 1 else 1, "hstack", dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> Array:
    """Stack arrays in sequence depth wise (along third axis), after they have three dimensions.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        There are no arrays, or their shapes do not fit.
    TypeError
        Something is not an array.
    """
    return _joined([atleast_3d(x) for x in arrays(tup, "dstack", own_dtypes=True)], 2, "dstack")


def column_stack(tup: Sequence[Any]) -> Array:
    """Stack 1-D arrays as columns into a 2-D array; matrices are joined as they are.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        There are no arrays, or their shapes do not fit.
    TypeError
        Something is not an array.
    """
    return _joined([x[:, None] if x.ndim == 1 else atleast_2d(x) for x in arrays(tup, "column_stack", own_dtypes=True)], 1, "column_stack")


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Append values to the end of an array, as a new array.

    Parameters
    ----------
    arr, values : Array
        The arrays.
    axis : int, optional
        The axis. Default: both are flattened.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        The shapes do not fit.
    AxisError
        The array has no such axis.
    TypeError
        Something is not an array.
    """
    return _joined(arrays([arr, values], "append", own_dtypes=True), axis, "append")


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into a sequence of arrays along the given axis.

    Parameters
    ----------
    x : Array
        The array.
    axis : int
        The axis, which the results do not have.

    Returns
    -------
    tuple of Array
        Views.

    Raises
    ------
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array.
    """
    x = array(x, "unstack")
    front = _core._moveaxis(x, [axis_index(axis, x.ndim, "unstack")], [0])
    return tuple(front[i, ...] for i in range(front.shape[0]))


def split(x: Any, /, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array into multiple sub-arrays as views into `x`.

    Parameters
    ----------
    x : Array
        The array.
    indices_or_sections : int or sequence of int
        The number of equal parts, or the places where parts begin but the first.
    axis : int
        The axis.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    ValueError
        The axis cannot be divided into so many equal parts.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or something else than integers is given.
    """
    x = array(x, "split")
    cuts = _count_or_places(indices_or_sections, "split: indices_or_sections")
    extent = x.shape[axis_index(axis, x.ndim, "split")]
    if isinstance(cuts, int) and (cuts <= 0 or extent % cuts):
        raise ValueError(f"split: an extent of {extent} cannot be divided into {cuts} equal parts")
    return array_split(x, cuts, axis)


def array_split(x: Any, /, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array into multiple sub-arrays, of nearly equal extent where it does not divide.

    Parameters
    ----------
    x : Array
        The array.
    indices_or_sections : int or sequence of int
        The number of parts, or the places where parts begin but the first.
    axis : int
        The axis.

    Returns
    -------
    list of Array
        Views.

    Raises
    ------
    ValueError
        The axis cannot be divided into so many parts.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or something else than integers is given.
    """
    x = array(x, "array_split")
    a = axis_index(axis, x.ndim, "array_split")
    extent = x.shape[a]
    places = _count_or_places(indices_or_sections, "array_split: indices_or_sections")
    if isinstance(places, int):
        if places <= 0:
            raise ValueError("array_split: the number of parts must be larger than 0")
        each, more = divmod(extent, places)
        places = [i * each + min(i, more) for i in range(1, places)]
    before: tuple[Any, ...] = (slice(None),) * a
    return [x[(*before, slice(i, j))] for i, j in zip([0, *places], [*places, extent], strict=True)]


def _count_or_places(x: Any, what: str) -> int | list[int]:
    """An integer, or a sequence of them as a list."""
    numbers = integers(x, what)
    return numbers if isinstance(x, Iterable) and getattr(x, "ndim", None) != 0 else numbers[0]


def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> Array:
    """Repeat each element of an array after itself.

    Parameters
    ----------
    x : Array
        The array.
    repeats : int or Array of int
        How often; an array has one number for each element along the axis.
    axis : int, optional
        The axis. Default: the array is flattened.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        A number is negative, or there are not as many numbers as elements.
    AxisError
        The array has no such axis.
    TypeError
        `x` is not an array, or `repeats` holds something else than integers.
    """
    x = array(x, "repeat")
    a = optional_index(axis, "repeat: axis")
    if isinstance(repeats, (list, tuple, np.ndarray)) and np.ndim(repeats) > 0:
        repeats = _core._host_operand(np.asarray(integers(repeats, "repeat: repeats"), np.int64), x.queue, "repeat")
    if type(repeats) is Array and repeats.ndim and repeats.size != 1:
        return _core._repeat_each(x, repeats, a)
    return _core._repeat(x, index(repeats.item() if type(repeats) is Array else repeats, "repeat: repeats"), a)


def tile(x: Any, /, reps: int | Sequence[int]) -> Array:
    """Construct an array by repeating `x` the number of times given by `reps`.

    Parameters
    ----------
    x : Array
        The array.
    reps : int or tuple of int
        How often along each axis.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    ValueError
        A number is negative.
    TypeError
        `x` is not an array, or `reps` holds something else than integers.
    """
    x = array(x, "tile")
    counts = integers(reps, "tile: reps")
    if any(n < 0 for n in counts):
        raise ValueError(f"tile: reps must not be negative: {reps!r}")
    return _core._tile(x, counts)
