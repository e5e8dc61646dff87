# python/pardo/_manipulation.py: shapes, axes, joining and splitting.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._arguments import Axis, Shape, array, arrays, axes, axis_index, index, optional_index, store
from pardo._arguments import shape as read_shape
from pardo._core import Array, _can_cast_same_kind

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


def reshape(x: Any, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> Array:
    """Give the elements another shape.

    Parameters
    ----------
    x : Array
        The elements.
    shape : int or tuple of int
        The new shape; one extent may be -1 and is then found from the others.
    order : {'C', 'F'}
        Whether elements are taken and placed row by row or column by column.
    copy : bool, optional
        True always copies, False refuses to; by default the result is a view if strides can express it.

    Returns
    -------
    Array
        A view where that is possible, else a copy.

    Raises
    ------
    ValueError
        The number of elements would change, or `copy=False` is impossible.
    """
    x = array(x, "reshape")
    extents = [index(e, "reshape: shape") for e in (shape if isinstance(shape, (tuple, list)) else [shape])]
    if order == "C":
        return _core._reshape(x, extents, copy)
    if order != "F":
        raise ValueError(f"reshape: order is {order!r}; it must be 'C' or 'F'")
    if -1 in extents:
        known = int(np.prod([e for e in extents if e != -1]))
        if extents.count(-1) > 1 or known == 0 or x.size % known:
            raise ValueError(f"reshape: cannot reshape array of size {x.size} into shape {tuple(extents)}")
        extents[extents.index(-1)] = x.size // known
    y = _core._reshape(_core._permute_dims(x, list(range(x.ndim))[::-1]), extents[::-1], copy)
    return _core._permute_dims(y, list(range(y.ndim))[::-1])


def ravel(x: Any, /, order: str = "C") -> Array:
    """Flatten: `reshape(x, -1)`.

    Parameters
    ----------
    x : Array
        The elements.
    order : {'C', 'F'}
        Whether elements are taken row by row or column by column.

    Returns
    -------
    Array
        One-dimensional; a view where that is possible.
    """
    return reshape(x, (-1,), order)


def permute_dims(x: Any, /, axes: Sequence[int] | None = None) -> Array:
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
    """
    x = array(x, "permute_dims")
    if axes is None:
        return _core._permute_dims(x, list(range(x.ndim))[::-1])
    order = [index(a, "permute_dims: axes") for a in axes]
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
    """
    x = array(x, "swapaxes")
    order = list(range(x.ndim))
    a, b = axis_index(axis1, x.ndim, "swapaxes"), axis_index(axis2, x.ndim, "swapaxes")
    order[a], order[b] = order[b], order[a]
    return _core._permute_dims(x, order)


def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
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
    """
    x = array(x, "moveaxis")
    start = [axis_index(a, x.ndim, "moveaxis") for a in axes(source, "moveaxis") or []]  # type: ignore[arg-type]
    end = [axis_index(a, x.ndim, "moveaxis") for a in axes(destination, "moveaxis") or []]  # type: ignore[arg-type]
    if len(start) != len(end):
        raise ValueError("moveaxis: source and destination must have the same number of axes")
    if len(set(start)) != len(start) or len(set(end)) != len(end):
        raise ValueError("moveaxis: repeated axis")
    return _core._moveaxis(x, start, end)


def expand_dims(x: Any, /, axis: Axis = 0) -> Array:
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
    """
    x = array(x, "expand_dims")
    places = axes(axis, "expand_dims") or []
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


def concat(arrays_: Sequence[Any], /, axis: int | None = 0, out: Array | None = None, *, dtype: Any = None) -> Array:
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

    Returns
    -------
    Array
        A new array.
    """
    r = _core._concat(arrays(arrays_, "concat"), optional_index(axis, "concat: axis"))
    return store(r if dtype is None else r._astype(dtype, False), out, "concat")


concatenate = concat


def stack(arrays_: Sequence[Any], /, *, axis: int = 0, out: Array | None = None) -> Array:
    """Join arrays of the same shape along a new axis.

    Parameters
    ----------
    arrays_ : sequence of Array
        The arrays.
    axis : int
        Where the new axis is in the result.
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        A new array.
    """
    return store(_core._stack(arrays(arrays_, "stack"), index(axis, "stack: axis")), out, "stack")


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
    """
    forms: list[Any] = [(None, None, None), (None, slice(None), None), (slice(None), slice(None), None)]
    return _at_least(arrays_, "atleast_3d", lambda x: x[forms[x.ndim]] if x.ndim < 3 else x)


def _at_least(items: Sequence[Any], who: str, view: Any) -> Any:
    views = [view(array(x, who)) for x in items]
    return views[0] if len(views) == 1 else tuple(views)


def vstack(tup: Sequence[Any], /) -> Array:
    """Join arrays row by row: along the first axis, after they have two dimensions.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.

    Returns
    -------
    Array
        A new array.
    """
    return concat([atleast_2d(x) for x in arrays(tup, "vstack")], axis=0)


def hstack(tup: Sequence[Any], /) -> Array:
    """Join arrays column by column: along the second axis, of one-dimensional ones along the first.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.

    Returns
    -------
    Array
        A new array.
    """
    items = [atleast_1d(x) for x in arrays(tup, "hstack")]
    return concat(items, axis=0 if items and items[0].ndim == 1 else 1)


def dstack(tup: Sequence[Any], /) -> Array:
    """Join arrays along the third axis, after they have three dimensions.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.

    Returns
    -------
    Array
        A new array.
    """
    return concat([atleast_3d(x) for x in arrays(tup, "dstack")], axis=2)


def column_stack(tup: Sequence[Any], /) -> Array:
    """Join one-dimensional arrays as columns of a matrix; matrices are joined as they are.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.

    Returns
    -------
    Array
        A new array.
    """
    return concat([x[:, None] if x.ndim == 1 else atleast_2d(x) for x in arrays(tup, "column_stack")], axis=1)


def split(x: Any, /, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]:
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
    """
    x = array(x, "split")
    if isinstance(indices_or_sections, int):
        extent = x.shape[axis_index(axis, x.ndim, "split")]
        if indices_or_sections <= 0 or extent % indices_or_sections:
            raise ValueError(f"split: an extent of {extent} cannot be divided into {indices_or_sections} equal parts")
    return array_split(x, indices_or_sections, axis)


def array_split(x: Any, /, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]:
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
    """
    x = array(x, "array_split")
    a = axis_index(axis, x.ndim, "array_split")
    extent = x.shape[a]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise ValueError("array_split: the number of parts must be larger than 0")
        each, more = divmod(extent, indices_or_sections)
        places = [i * each + min(i, more) for i in range(1, indices_or_sections)]
    else:
        places = [index(i, "array_split: indices") for i in indices_or_sections]
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
    """
    x = array(x, "roll")
    shifts = axes(shift, "roll: shift") or []  # type: ignore[arg-type]
    along = axes(axis, "roll")
    if along is not None and len(shifts) != len(along):
        if len(shifts) == 1:
            shifts = shifts * len(along)
        elif len(along) == 1:
            along = along * len(shifts)
        else:
            raise ValueError("roll: shift and axis must have the same length")
    if along is not None and len({axis_index(a, x.ndim, "roll") for a in along}) != len(along):
        totals: dict[int, int] = {}
        for s, a in zip(shifts, along, strict=True):
            totals[a % x.ndim] = totals.get(a % x.ndim, 0) + s
        along, shifts = list(totals), list(totals.values())
    if along is None:
        shifts = [sum(shifts)]
    return _core._roll(x, shifts, along)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Array:
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
    """
    x = array(x, "repeat")
    a = optional_index(axis, "repeat: axis")
    if (type(repeats) is Array and repeats.size > 1) or (isinstance(repeats, (list, tuple, np.ndarray)) and np.size(repeats) > 1):
        counts = repeats if type(repeats) is Array else _core._copy_buffer(np.asarray(repeats, np.int64), np.int64, x.queue)
        return _core._repeat_each(x, counts, a)
    if isinstance(repeats, (list, tuple, np.ndarray)) and np.size(repeats) == 1:
        repeats = np.asarray(repeats).item()
    elif type(repeats) is Array and repeats.ndim:
        if repeats.size == 0:
            return _core._repeat_each(x, repeats, a)
        repeats = repeats.item()
    return _core._repeat(x, index(repeats, "repeat: repeats"), a)


def tile(x: Any, repetitions: int | Sequence[int], /) -> Array:
    """Repeat the whole array.

    Parameters
    ----------
    x : Array
        The array.
    repetitions : int or tuple of int
        How often along each axis.

    Returns
    -------
    Array
        A new array.
    """
    return _core._tile(array(x, "tile"), read_shape(repetitions, "tile"))


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
        A view; the diagonals are its last axis.
    """
    return _core._diagonal(
        array(x, "diagonal"),
        index(offset, "diagonal: offset"),
        index(axis1, "diagonal: axis1"),
        index(axis2, "diagonal: axis2"),
    )


def copyto(dst: Array, src: Any, /, casting: str = "same_kind", where: Any = True) -> None:
    """Copy elements into an array.

    Parameters
    ----------
    dst : Array
        The target.
    src : Array or number
        What is copied; broadcast to `dst`.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts are allowed.
    where : Array of bool, optional
        The elements that are copied.
    """
    if type(dst) is not Array:
        raise TypeError(f"copyto: the target must be a pardo.Array, not {type(dst).__name__}")
    if type(src) is Array:
        allowed = _can_cast_same_kind(src.dtype, dst.dtype) if casting == "same_kind" else np.can_cast(src.dtype, dst.dtype, casting)  # type: ignore[arg-type]
        if not allowed:
            raise TypeError(f"copyto: cannot cast from {src.dtype} to {dst.dtype} according to the rule '{casting}'")
    if where is True:
        dst[...] = src
        return
    chosen = _core._where(where, src if type(src) is not Array else src._astype(dst.dtype, False), dst)
    dst._assign(chosen)


def append(arr: Any, values: Any, /, axis: int | None = None) -> Array:
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
    """
    return concat([arr, values], axis=axis)


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
    """
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
    """
    return flip(x, 0)
