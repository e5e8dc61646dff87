# python/pardo/_manipulation.py: shapes, axes, joining and splitting.
from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._arguments import Axis, Shape, array, arrays, axes, axis_index, index, mask, optional_index, store
from pardo._arguments import shape as read_shape
from pardo._core import Array
from pardo._interop import check_fits, from_host

__all__ = [
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "column_stack",
    "concat",
    "concatenate",
    "copyto",
    "diagonal",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hstack",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "unstack",
    "vstack",
]

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def _integers(x: Any, what: str) -> list[int]:
    """One integer or a sequence of them, as a list."""
    if not isinstance(x, Iterable) or getattr(x, "ndim", None) == 0:
        return [index(x, what)]
    return [index(i, what) for i in x]


def _count_or_places(x: Any, what: str) -> int | list[int]:
    """An integer, or a sequence of them as a list."""
    numbers = _integers(x, what)
    return numbers if isinstance(x, Iterable) and getattr(x, "ndim", None) != 0 else numbers[0]


def _check_cast(source: Any, target: Any, casting: str, who: str) -> None:
    if casting not in _CASTINGS:
        raise ValueError(f"{who}: casting is {casting!r}; it must be one of {', '.join(map(repr, _CASTINGS))}")
    if not np.can_cast(source, target, casting):  # type: ignore[arg-type]
        raise TypeError(f"{who}: cannot cast from {np.dtype(source)} to {np.dtype(target)} according to the rule '{casting}'")


def reshape(x: Any, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> Array:
    """Give the elements another shape.

    Parameters
    ----------
    x : Array
        The elements.
    shape : int or tuple of int
        The new shape; one extent may be -1 and is then found from the others.
    order : {'C', 'F', 'A'}
        Whether elements are taken and placed row by row or column by column; 'A' means column by column if the array lies so in
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
    return _reshape(array(x, "reshape"), _integers(shape, "reshape: shape"), order, copy, "reshape")


def _reshape(x: Array, extents: list[int], order: str, copy: bool | None, who: str) -> Array:
    if order == "A":
        order = "F" if _lies_by_columns(x) else "C"
    if order == "C":
        return _core._reshape(x, extents, copy)
    if order != "F":
        raise ValueError(f"{who}: order is {order!r}; it must be 'C', 'F'" + (", 'A' or 'K'" if who == "ravel" else " or 'A'"))
    if -1 in extents:
        known = int(np.prod([e for e in extents if e != -1]))
        if extents.count(-1) > 1 or known == 0 or x.size % known:
            raise ValueError(f"{who}: cannot reshape array of size {x.size} into shape {tuple(extents)}")
        extents[extents.index(-1)] = x.size // known
    y = _core._reshape(_reversed(x), extents[::-1], copy)
    return _reversed(y)


def _reversed(x: Array) -> Array:
    return _core._permute_dims(x, list(range(x.ndim))[::-1])


def _lies_by_columns(x: Array) -> bool:
    x.force()
    return not x._is_contiguous() and _reversed(x)._is_contiguous()


def ravel(x: Any, /, order: str = "C") -> Array:
    """Flatten: `reshape(x, -1)`.

    Parameters
    ----------
    x : Array
        The elements.
    order : {'C', 'F', 'A', 'K'}
        Whether elements are taken row by row or column by column; 'A' means column by column if the array lies so in memory,
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
    if order != "K":
        return _reshape(x, [-1], order, None, "ravel")
    strides = x.strides
    return _core._reshape(_core._permute_dims(x, sorted(range(x.ndim), key=lambda d: -abs(strides[d]))), [-1])


def permute_dims(x: Any, /, axes: int | Sequence[int] | None = None) -> Array:
    """Put the axes in another order.

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
    order = _integers(axes, "permute_dims: axes")
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: axes {tuple(order)} don't match an array of {x.ndim} dimensions")
    normal = [axis_index(a, x.ndim, "permute_dims") for a in order]
    if len(set(normal)) != len(normal):
        raise ValueError(f"permute_dims: repeated axis in {tuple(order)}")
    return _core._permute_dims(x, normal)


transpose = permute_dims


def matrix_transpose(x: Any, /) -> Array:
    """Transpose matrices: swap the last two axes.

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
    """Swap two axes.

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
    """Move axes to other places; the others keep their order.

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
    start = [axis_index(a, x.ndim, "moveaxis") for a in _integers(source, "moveaxis: source")]
    end = [axis_index(a, x.ndim, "moveaxis") for a in _integers(destination, "moveaxis: destination")]
    if len(start) != len(end):
        raise ValueError("moveaxis: source and destination must have the same number of axes")
    if len(set(start)) != len(start) or len(set(end)) != len(end):
        raise ValueError("moveaxis: repeated axis")
    return _core._moveaxis(x, start, end)


def expand_dims(x: Any, /, axis: int | Sequence[int] = 0) -> Array:
    """Add axes of extent 1.

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
    places = _integers(axis, "expand_dims: axis")
    ndim = x.ndim + len(places)
    normal = [axis_index(a, ndim, "expand_dims") for a in places]
    if len(set(normal)) != len(normal):
        raise ValueError("expand_dims: repeated axis")
    return _core._expand_dims(x, normal)


def squeeze(x: Any, /, axis: Axis = None) -> Array:
    """Remove axes of extent 1.

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
    return _core._squeeze(array(x, "squeeze"), axes(axis, "squeeze"))


def flip(x: Any, /, axis: Axis = None) -> Array:
    """Reverse the order of the elements along axes.

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


def broadcast_to(x: Any, /, shape: Shape) -> Array:
    """Broadcast to a shape.

    Parameters
    ----------
    x : Array
        The array.
    shape : int or tuple of int
        The shape.

    Returns
    -------
    Array
        A read-only view; elements share memory.

    Raises
    ------
    ValueError
        The array cannot be broadcast to the shape.
    TypeError
        `x` is not an array, or `shape` holds something else than integers.
    """
    return _core._broadcast_to(array(x, "broadcast_to"), read_shape(shape, "broadcast_to"))


def broadcast_arrays(*arrays_: Any) -> tuple[Array, ...]:
    """Broadcast arrays against each other.

    Parameters
    ----------
    *arrays_ : Array
        The arrays.

    Returns
    -------
    tuple of Array
        Views of the same shape.

    Raises
    ------
    ValueError
        The shapes do not fit.
    TypeError
        Something is not an array.
    """
    items = arrays(arrays_, "broadcast_arrays")
    return tuple(_core._broadcast_arrays(items)) if items else ()


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to.

    Parameters
    ----------
    *shapes : tuple of int
        The shapes.

    Returns
    -------
    tuple of int
        The broadcast shape.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    known = [read_shape(s, "broadcast_shapes") for s in shapes]
    ndim = max((len(s) for s in known), default=0)
    result = [1] * ndim
    for s in known:
        for d, extent in enumerate(s, ndim - len(s)):
            if extent != 1 and result[d] not in (1, extent):
                listed = " ".join(str(tuple(k)) for k in known)
                raise ValueError(f"broadcast_shapes: shapes do not fit each other: {listed}")
            if extent != 1:
                result[d] = extent
    return tuple(result)


def concat(
    arrays_: Sequence[Any], /, axis: int | None = 0, out: Array | None = None, *, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Join arrays along an axis that they have.

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
    who: str,
    out: Array | None = None,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
    join: Any = _core._concat,
) -> Array:
    """Arrays joined by `join`, with NumPy's keywords of all functions that do so."""
    parts = arrays(items, who)
    if not parts:
        raise ValueError(f"{who}: at least one array is needed")
    if isinstance(axis, bool):
        raise TypeError(f"{who}: axis must be an integer, not bool")
    along = optional_index(axis, f"{who}: axis")
    if casting not in _CASTINGS:
        _check_cast(parts[0].dtype, parts[0].dtype, casting, who)
    if out is not None and dtype is not None:
        raise TypeError(f"{who}: out and dtype cannot be given both")
    target = dtype if dtype is not None else out.dtype if type(out) is Array else None
    if target is not None:
        for x in parts:
            _check_cast(x.dtype, np.dtype(target), casting, who)
        parts = [x._astype(target, False) for x in parts]
    return store(join(parts, along), out, who)


def stack(
    arrays_: Sequence[Any], /, axis: int = 0, out: Array | None = None, *, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Join arrays of the same shape along a new axis.

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


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into the ones along an axis.

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


def atleast_1d(*arrays_: Any) -> Any:
    """View arrays with at least one dimension.

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
    """View arrays with at least two dimensions.

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
    """View arrays with at least three dimensions.

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


def _at_least(items: Sequence[Any], who: str, view: Any) -> Any:
    views = [view(array(x, who)) for x in items]
    return views[0] if len(views) == 1 else tuple(views)


def vstack(tup: Sequence[Any], *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Join arrays row by row: along the first axis, after they have two dimensions.

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
    return _joined([atleast_2d(x) for x in arrays(tup, "vstack")], 0, "vstack", dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Join arrays column by column: along the second axis, of one-dimensional ones along the first.

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
    items = [atleast_1d(x) for x in arrays(tup, "hstack")]
    return _joined(items, 0 if items and items[0].ndim == 1 else 1, "hstack", dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> Array:
    """Join arrays along the third axis, after they have three dimensions.

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
    return _joined([atleast_3d(x) for x in arrays(tup, "dstack")], 2, "dstack")


def column_stack(tup: Sequence[Any]) -> Array:
    """Join one-dimensional arrays as columns of a matrix; matrices are joined as they are.

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
    return _joined([x[:, None] if x.ndim == 1 else atleast_2d(x) for x in arrays(tup, "column_stack")], 1, "column_stack")


def split(x: Any, /, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array along an axis.

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
    """Split an array along an axis into parts of nearly equal extent.

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


def roll(x: Any, /, shift: int | Sequence[int], axis: Axis = None) -> Array:
    """Roll elements along axes; those pushed out at one end come in at the other.

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
    distances: Sequence[Any] = shift if isinstance(shift, (tuple, list)) else [shift]
    try:
        shifts = [operator.index(s) for s in distances]
    except TypeError:
        raise TypeError(f"roll: shift must be an integer or a sequence of integers, not {shift!r}") from None
    if axis is None:
        return _core._roll(x, [sum(shifts) % max(x.size, 1)], None)
    along = [axis_index(a, x.ndim, "roll") for a in _integers(axis, "roll: axis")]
    if len(shifts) != len(along) and 1 not in (len(shifts), len(along)):
        raise ValueError("roll: shift and axis must have the same length")
    count = max(len(shifts), len(along))
    along = along * count if len(along) == 1 else along
    shifts = shifts * count if len(shifts) == 1 else shifts
    return _core._roll(x, [s % max(x.shape[a], 1) for s, a in zip(shifts, along, strict=True)], along)


def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> Array:
    """Repeat each element.

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
        repeats = from_host(_integers(repeats, "repeat: repeats"), np.int64, x.queue, "repeat")
    if type(repeats) is Array and repeats.ndim and repeats.size != 1:
        return _core._repeat_each(x, repeats, a)
    return _core._repeat(x, index(repeats.item() if type(repeats) is Array else repeats, "repeat: repeats"), a)


def tile(x: Any, /, reps: int | Sequence[int]) -> Array:
    """Repeat the whole array.

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
    counts = _integers(reps, "tile: reps")
    if any(n < 0 for n in counts):
        raise ValueError(f"tile: reps must not be negative: {reps!r}")
    return _core._tile(x, counts)


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return diagonals.

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


def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy elements into an array.

    Parameters
    ----------
    dst : Array
        The target.
    src : Array, number, NumPy array or nested lists of numbers
        What is copied; broadcast to `dst`.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts are allowed.
    where : Array of bool, optional
        The elements that are copied.

    Raises
    ------
    TypeError
        `dst` is not an array, or the rule does not allow the cast.
    ValueError
        There is no such rule, or the shapes do not fit.
    OverflowError
        An integer is out of bounds for the dtype of `dst`.
    """
    if type(dst) is not Array:
        raise TypeError(f"copyto: the target must be a pardo.Array, not {type(dst).__name__}")
    if not isinstance(src, (Array, bool, int, float, complex, np.generic)):
        src = from_host(src, None, dst.queue, "copyto")
    _check_cast(_kind_of(src, dst), dst.dtype, casting, "copyto")
    if type(src) is Array:
        check_fits(src, dst.shape, "copyto")
    chosen = mask(where, dst, "copyto")
    if chosen is None:
        dst[...] = src
        return
    dst._assign(_core._where(chosen, src if type(src) is not Array else src._astype(dst.dtype, False), dst))


def _kind_of(src: Any, dst: Array) -> Any:
    """The dtype that something is cast from: for numbers of Python that of `dst`, if it holds their kind."""
    if isinstance(src, (Array, np.generic)):
        return src.dtype
    kinds = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
    own = next(t for t in kinds if isinstance(src, t))
    return dst.dtype if dst.dtype.kind in kinds[own] else np.dtype(own)


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Join values to the end of an array.

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
    return _joined([arr, values], axis, "append")


def fliplr(x: Any, /) -> Array:
    """Reverse the second axis.

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
    """Reverse the first axis.

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
