# python/pardo/_records/functions.py: functions of the package on arrays of records: those that move elements, and compare them.
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array import joining, manipulation, searching
from pardo._array.interop import asarray
from pardo._base import promotion
from pardo._base.arguments import (
    Axis,
    array,
    axes,
    axis_index,
    check_cast,
    check_casting,
    dtype_of,
    integers,
    mask,
    optional_dtype,
    queue_of,
    word,
)
from pardo._base.arguments import shape as read_shape
from pardo._base.orders import axes_like, columns_first, read_order
from pardo._base.records import listed
from pardo._core import Array
from pardo._functions import editing, rearranging
from pardo._records.arrays import StructuredArray
from pardo._records.making import new, of_array
from pardo._records.memory import RecordMemory, uploaded


def as_records(x: Any, op_name: str, like: StructuredArray | None = None) -> StructuredArray:
    """The array itself; records of the host as a copy on the queue of another."""
    if isinstance(x, StructuredArray):
        return x
    if like is not None and type(x) is not Array:
        host = x if isinstance(x, np.ndarray) else np.asarray(x, like.dtype)
        if host.dtype.names is not None:
            return StructuredArray._made(*uploaded(host, like.queue, op_name))
    raise TypeError(f"{op_name}: an array of records is expected beside others, not {type(x).__name__}")


def alike(items: Iterable[Any], op_name: str) -> list[StructuredArray]:
    """Arrays of records in their common dtype, as NumPy finds it."""
    given = list(items)
    like = next((x for x in given if isinstance(x, StructuredArray)), None)
    found = [as_records(x, op_name, like) for x in given]
    try:
        common = np.concatenate([np.empty(0, x.dtype) for x in found]).dtype
    except TypeError as e:
        raise TypeError(f"{op_name}: records of {', of '.join(listed(x.dtype) for x in found)} have no common dtype: {e}") from None
    return [x if x.dtype == common else x._cast(common, op_name=op_name) for x in found]


def _joinable(items: Iterable[Any], op_name: str, out: Any = None, dtype: Any = None, casting: str = "same_kind") -> list[Any]:
    """Arrays that are joined, in their common dtype or in that of the result, which may be one of numbers for records of one field."""
    check_casting(casting, op_name)
    if out is not None and dtype is not None:
        raise TypeError(f"{op_name}: out and dtype cannot be given both")
    if out is not None and not isinstance(out, Array):
        raise TypeError(f"{op_name}: out must be a pardo.Array, not {type(out).__name__}")
    target = optional_dtype(dtype, op_name, fields=True) if out is None else out.dtype
    if target is None:
        return alike(items, op_name)
    given = list(items)
    queue = next((x.queue for x in given if isinstance(x, Array)), None)
    found = []
    for x in given:
        source = x if isinstance(x, Array) else asarray(x, queue=queue)
        check_cast(source.dtype, target, casting, op_name)
        found.append(source if source.dtype == target else of_array(op_name, source, target, "K", None, source.queue, None))
    return found


def _joined(items: Sequence[Any], join: Callable[[list[Array]], Array], out: Any = None, op_name: str = "") -> Any:
    if isinstance(items[0], StructuredArray):
        words = [x._words() for x in items]
        if any(w.dtype != words[0].dtype for w in words):
            words = [x._memory for x in items]
        made: Any = items[0]._moved_from(join(words))
    else:
        made = join(list(items))
    if out is None:
        return made
    if out.shape != made.shape:
        raise ValueError(f"{op_name}: out has shape {out.shape}, but the result has shape {made.shape}")
    out[...] = made
    return out


def concatenate(arrays: Sequence[Any], /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As `pardo.concat`."""
    items = _joinable(arrays, "concat", out, dtype, casting)
    if axis is None:
        items, axis = [x.ravel() for x in items], 0
    return _in_a_row(items, axis, "concat", out)


def _in_a_row(items: list[Any], axis: int, op_name: str, out: Any = None) -> Any:
    along = axis_index(axis, items[0].ndim, op_name) if items[0].ndim else 0
    if any(x.ndim != items[0].ndim or not x.ndim for x in items):
        raise ValueError(f"{op_name}: arrays have to have the same number of dimensions, at least one")
    return _joined(items, lambda words: _core._concat(words, along), out, op_name)


def stack(arrays: Sequence[Any], /, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As `pardo.stack`."""
    items = _joinable(arrays, "stack", out, dtype, casting)
    along = axis_index(axis, items[0].ndim + 1, "stack")
    return _joined(items, lambda words: _core._stack(words, along), out, "stack")


def _at_least(rank: int, x: Any) -> Any:
    if x.ndim >= rank:
        return x
    if rank == 1:
        return x.reshape(1)
    return x.reshape(1, x.size) if rank == 2 else x.reshape(1, x.size, 1) if x.ndim < 2 else x.reshape(*x.shape, 1)


def each_at_least(rank: int, items: Sequence[Any]) -> Any:
    views = [_at_least(rank, as_records(x, f"atleast_{rank}d")) for x in items]
    return views[0] if len(views) == 1 else tuple(views)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As `pardo.vstack`."""
    return _in_a_row([_at_least(2, x) for x in _joinable(tup, "vstack", None, dtype, casting)], 0, "vstack")


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As `pardo.hstack`."""
    items = [_at_least(1, x) for x in _joinable(tup, "hstack", None, dtype, casting)]
    return _in_a_row(items, 0 if items[0].ndim == 1 else 1, "hstack")


def dstack(tup: Sequence[Any]) -> Any:
    """As `pardo.dstack`."""
    return _in_a_row([_at_least(3, x) for x in alike(tup, "dstack")], 2, "dstack")


def column_stack(tup: Sequence[Any]) -> Any:
    """As `pardo.column_stack`."""
    items = [x.reshape(-1, 1) if x.ndim == 1 else _at_least(2, x) for x in alike(tup, "column_stack")]
    return _in_a_row(items, 1, "column_stack")


def take(x: Any, indices: Any, /, axis: int | None = None, mode: str = "raise") -> Any:
    """As `pardo.take`."""
    x = as_records(x, "take")
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "take")
    return x._moved(lambda words: searching.take(words, indices, axis=along, mode=mode))


def compress(condition: Any, x: Any, /, axis: int | None = None) -> Any:
    """As `pardo.compress`."""
    x = as_records(x, "compress")
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "compress")
    return x._moved(lambda words: searching.compress(condition, words, axis=along))


def repeat(x: Any, /, repeats: Any, axis: int | None = None) -> Any:
    """As `pardo.repeat`."""
    x = as_records(x, "repeat")
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "repeat")
    return x._moved(lambda words: joining.repeat(words, repeats, along))


def flip(x: Any, /, axis: Axis = None) -> Any:
    """As `pardo.flip`."""
    x = as_records(x, "flip")
    given = axes(axis, "flip")
    turned = list(range(x.ndim)) if given is None else [axis_index(a, x.ndim, "flip") for a in given]
    return x._shown(_core._flip(x._memory, turned))


def roll(x: Any, /, shift: Any, axis: Any = None) -> Any:
    """As `pardo.roll`."""
    x = as_records(x, "roll")
    if axis is None:
        return roll(x.ravel(), shift, 0).reshape(x.shape)
    places = tuple(axis_index(a, x.ndim, "roll") for a in integers(axis, "roll: axis"))
    return x._moved(lambda words: manipulation.roll(words, shift, places if len(places) > 1 else places[0]))


def moveaxis(x: Any, /, source: Any, destination: Any) -> Any:
    """As `pardo.moveaxis`."""
    x = as_records(x, "moveaxis")
    a, b = ([axis_index(i, x.ndim, "moveaxis") for i in integers(given, "moveaxis: axis")] for given in (source, destination))
    return x._shown(_core._moveaxis(x._memory, a, b))


def expand_dims(x: Any, /, axis: Any = 0) -> Any:
    """As `pardo.expand_dims`."""
    x = as_records(x, "expand_dims")
    given = integers(axis, "expand_dims: axis")
    places = [axis_index(a, x.ndim + len(given), "expand_dims") for a in given]
    return x._shown(_core._expand_dims(x._memory, places))


def flipud(m: Any) -> Any:
    """As `pardo.flipud`."""
    x = as_records(m, "flipud")
    if x.ndim < 1:
        raise ValueError("flipud: Input must be >= 1-d.")
    return flip(x, 0)


def fliplr(m: Any) -> Any:
    """As `pardo.fliplr`."""
    x = as_records(m, "fliplr")
    if x.ndim < 2:
        raise ValueError("fliplr: Input must be >= 2-d.")
    return flip(x, 1)


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """As `pardo.rot90`."""
    x = as_records(m, "rot90")
    return x._shown(rearranging.rot90(x._memory, k, [axis_index(a, x.ndim, "rot90") for a in axes]))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """As `pardo.rollaxis`."""
    x = as_records(a, "rollaxis")
    along, first = axis_index(axis, x.ndim, "rollaxis"), axis_index(start, x.ndim + 1, "rollaxis") if start >= 0 else start + x.ndim
    return x._shown(rearranging.rollaxis(x._memory, along, first))


def matrix_transpose(x: Any, /) -> Any:
    """As `pardo.matrix_transpose`."""
    x = as_records(x, "matrix_transpose")
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: at least two dimensions are expected, here are {x.ndim}")
    return x.swapaxes(-2, -1)


def broadcast_arrays(*args: Any, subok: Any = False) -> tuple[Any, ...]:
    """As `pardo.broadcast_arrays`; arrays of numbers may be among them."""
    items = [x if isinstance(x, Array) else array(x, "broadcast_arrays") for x in args]
    shape = np.broadcast_shapes(*(x.shape for x in items))
    return tuple(broadcast_to(x, shape) if isinstance(x, StructuredArray) else _core._broadcast_to(x, list(shape)) for x in items)


def take_along_axis(x: Any, /, indices: Any, axis: int | None = -1) -> Any:
    """As `pardo.take_along_axis`."""
    x = as_records(x, "take_along_axis")
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "take_along_axis")
    numbers = _core._reshape(_core._arange(0, x.size, 1, np.int64, x.queue), list(x.shape))
    return x.ravel()[searching.take_along_axis(numbers, indices, along)]


def squeeze(x: Any, /, axis: Axis = None) -> Any:
    """As `pardo.squeeze`."""
    x = as_records(x, "squeeze")
    given = axes(axis, "squeeze")
    gone = [d for d, n in enumerate(x.shape) if n == 1] if given is None else [axis_index(a, x.ndim, "squeeze") for a in given]
    return x._shown(_core._squeeze(x._memory, gone)) if gone else x


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """As `pardo.broadcast_to`."""
    x = as_records(x, "broadcast_to")
    extents = read_shape(shape, "broadcast_to")
    if len(extents) < x.ndim:
        raise ValueError(f"broadcast_to: records of shape {x.shape} cannot be broadcast to shape {tuple(extents)}")
    return x._shown(_core._broadcast_to(x._memory, [*extents, x._memory.shape[-1]]))


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """As `pardo.where`."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("where: either both or neither of x and y should be given")
    a, b = alike([x, y], "where")
    words = [a._words(), b._words()]
    if words[0].dtype != words[1].dtype:
        words = [a._memory, b._memory]
    if isinstance(condition, StructuredArray):
        raise TypeError(f"where: records of {listed(condition.dtype)} are no condition; give a field, or compare them")
    chosen = condition if type(condition) is Array else _core._host_operand(np.asarray(condition), a.queue, "where")
    return a._moved_from(_core._where(chosen[..., None], *words))


def nonzero(x: Any, /) -> tuple[Array, ...]:
    """As `pardo.nonzero`: records of which a field is not zero."""
    return searching.nonzero(as_records(x, "nonzero")._some())


def flatnonzero(x: Any, /) -> Array:
    """As `pardo.flatnonzero`."""
    return searching.flatnonzero(as_records(x, "flatnonzero")._some())


def argwhere(x: Any, /) -> Array:
    """As `pardo.argwhere`."""
    return searching.argwhere(as_records(x, "argwhere")._some())


def searchsorted(x1: Any, /, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """As `pardo.searchsorted`, by the fields one after the other: both are sorted together, and what is of `x1` is counted."""
    word(side, "searchsorted: side", ("left", "right"))
    like = next(x for x in (x1, v) if isinstance(x, StructuredArray))
    x1, v = alike([as_records(x1, "searchsorted", like), as_records(v, "searchsorted", like)], "searchsorted")
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: x1 has {x1.ndim} dimensions; one is expected")
    ordered = x1 if sorter is None else x1[sorter]
    wanted = v.ravel()
    left = side == "left"
    count, start = (wanted.size, 0) if left else (ordered.size, ordered.size)
    places = argsort(concatenate([wanted, ordered] if left else [ordered, wanted]))
    counted = _core.cumulative_sum(_core.greater_equal(places, count) if left else _core.less(places, count), dtype=np.int64)
    found = _core._empty([places.size], np.int64, x1.queue)
    found[places] = counted
    return _core._reshape(found[start : start + wanted.size], list(v.shape))


def meshgrid(*vectors: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """As `pardo.meshgrid`; vectors may be of numbers too."""
    word(indexing, "meshgrid: indexing", ("xy", "ij"))
    n = len(vectors)
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    grids = [
        (v if isinstance(v, Array) else array(v, "meshgrid")).reshape([v.size if d == order[i] else 1 for d in range(n)])
        for i, v in enumerate(vectors)
    ]
    spread = grids if sparse else broadcast_arrays(*grids)
    return tuple(g.copy() if copy else g for g in spread)


def _keys(x: StructuredArray, order: Any, op_name: str) -> list[Array]:
    """The fields by which records are compared, the first one first."""
    names = [order] if isinstance(order, str) else list(order or ())
    if any(not isinstance(n, str) for n in names):
        raise ValueError(f"{op_name}: order must be a name of a field, or several of them, not {order!r}")
    names = list(map(x._name_of, names))
    if len(set(names)) != len(names):
        raise ValueError(f"{op_name}: duplicate field in order: {order!r}")
    keys: list[Array] = []
    for name in [*names, *(n for n in x._fields if n not in names)]:
        part = x._field(name)
        if part.ndim != x.ndim:
            raise TypeError(
                f"{op_name}: field {name!r} is a sub-array, by which records have no order; sort x[[…]] without it, or argsort a field"
            )
        keys += _keys(part, None, op_name) if isinstance(part, RecordMemory) else [part]  # type: ignore[arg-type]
    return keys


def argsort(x: Any, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Array:
    """As `pardo.argsort`, by the fields one after the other."""
    x = as_records(x, "argsort")
    if axis is None or not x.ndim:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "argsort")
    keys = _keys(x, order, "argsort")
    if not keys:
        places = _core._reshape(_core._iota([x.shape[along]], 0, x.queue), [-1, *[1] * (x.ndim - along - 1)])
        return _core._broadcast_to(places, list(x.shape))._copy()
    found = None
    for key in keys[::-1]:
        if found is None:
            found = _core._argsort(key, along, False, True)
        else:
            found = _core._take_along_axis(found, _core._argsort(_core._take_along_axis(key, found, along), along, False, True), along)
    return found  # type: ignore[return-value]


def sort(x: Any, /, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> StructuredArray:
    """As `pardo.sort`, by the fields one after the other."""
    x = as_records(x, "sort")
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "sort")
    return in_order(x, argsort(x, along, order=order), along)


def in_order(x: StructuredArray, places: Array, along: int) -> StructuredArray:
    """Records in the order of places along an axis."""
    if x.ndim == 1:
        return x[places]  # type: ignore[no-any-return]
    others = [_core._reshape(_core._iota([n], 0, x.queue), [n, *[1] * (x.ndim - d - 1)]) for d, n in enumerate(x.shape)]
    return x[tuple(places if d == along else other for d, other in enumerate(others))]  # type: ignore[no-any-return]


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """As `pardo.array_equal`."""
    if equal_nan:
        raise TypeError("array_equal: equal_nan is for numbers; compare the fields")
    a, b = (x if isinstance(x, Array) else np.asarray(x) for x in (a1, a2))
    return a.shape == b.shape and bool(_core.all(a == b if isinstance(a, StructuredArray) else b == a))


def _like(op_name: str, x: Any, value: Any, dtype: DTypeLike | None, order: str, device: Any, shape: Any, usm_type: str | None) -> Any:
    target = queue_of(device, None, x.queue)
    extents = list(x.shape) if shape is None else read_shape(shape, op_name)
    wanted = x.dtype if dtype is None else dtype_of(dtype, op_name, fields=True)
    if wanted.names is None:
        return _core._full(extents, 0 if value is None else value, wanted, target, op_name)
    letter = read_order(order, op_name)
    same = len(extents) == x.ndim
    axes = (
        (_axes_of(x, letter) if isinstance(x, StructuredArray) else axes_like(x, letter)) if same else columns_first(letter, len(extents))
    )
    return new(op_name, value, extents, wanted, axes, target, usm_type)


def _axes_of(x: StructuredArray, order: str) -> Sequence[int] | None:
    found = axes_like(x._memory[..., 0] if x._memory.shape[-1] else x._memory, order)
    return None if found is None or len(found) != x.ndim else found


def empty_like(x: Any, /, dtype: Any = None, order: str = "K", *, device: Any = None, shape: Any = None, usm_type: Any = None) -> Any:
    """As `pardo.empty_like`."""
    return _like("empty_like", x, None, dtype, order, device, shape, usm_type)


def zeros_like(x: Any, /, dtype: Any = None, order: str = "K", *, device: Any = None, shape: Any = None, usm_type: Any = None) -> Any:
    """As `pardo.zeros_like`."""
    return _like("zeros_like", x, 0, dtype, order, device, shape, usm_type)


def ones_like(x: Any, /, dtype: Any = None, order: str = "K", *, device: Any = None, shape: Any = None, usm_type: Any = None) -> Any:
    """As `pardo.ones_like`."""
    return _like("ones_like", x, 1, dtype, order, device, shape, usm_type)


def full_like(
    x: Any, /, fill_value: Any, dtype: Any = None, order: str = "K", *, device: Any = None, shape: Any = None, usm_type: Any = None
) -> Any:
    """As `pardo.full_like`."""
    return _like("full_like", x, fill_value, dtype, order, device, shape, usm_type)


def astype(x: Any, dtype: DTypeLike, /, *, copy: bool = True, device: Any = None) -> Any:
    """As `pardo.astype`."""
    if isinstance(x, StructuredArray):
        return x.astype(dtype, copy=copy, device=device)
    return of_array("astype", x, dtype_of(dtype, "astype", fields=True), "K", None, queue_of(device, None, x.queue), None)


def tile(x: Any, /, reps: Any) -> Any:
    """As `pardo.tile`."""
    x = as_records(x, "tile")
    counts = integers(reps, "tile: reps")
    x = x.reshape((1,) * (len(counts) - x.ndim) + x.shape)
    counts = [1] * (x.ndim - len(counts)) + counts
    for axis, count in enumerate(counts):
        if count != 1:
            join = functools.partial(_core._concat, axis=axis)
            x = _joined([x] * count, join) if count else x[(slice(None),) * axis + (slice(0, 0),)]
    return x._copied() if math.prod(counts) == 1 else x


def copy(a: Any, order: str = "K", subok: Any = False) -> StructuredArray:
    """As `pardo.copy`."""
    return as_records(a, "copy").copy(order)


def split(x: Any, /, indices_or_sections: Any, axis: int = 0) -> list[StructuredArray]:
    """As `pardo.split`."""
    x = as_records(x, "split")
    along = axis_index(axis, x.ndim, "split")
    return [x._shown(part) for part in joining.split(x._memory, indices_or_sections, along)]


def array_split(x: Any, /, indices_or_sections: Any, axis: int = 0) -> list[StructuredArray]:
    """As `pardo.array_split`."""
    x = as_records(x, "array_split")
    along = axis_index(axis, x.ndim, "array_split")
    return [x._shown(part) for part in joining.array_split(x._memory, indices_or_sections, along)]


def _split_along(name: str, least: int, axis: int) -> Callable[..., list[StructuredArray]]:
    def split_along(ary: Any, indices_or_sections: Any) -> list[StructuredArray]:
        x = as_records(ary, name)
        if x.ndim < least:
            raise ValueError(f"{name}: only works on arrays of {least} or more dimensions")
        return split(x, indices_or_sections, min(axis, x.ndim - 1))

    return split_along


hsplit, vsplit, dsplit = _split_along("hsplit", 1, 1), _split_along("vsplit", 2, 0), _split_along("dsplit", 3, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[StructuredArray, ...]:
    """As `pardo.unstack`."""
    x = as_records(x, "unstack")
    front = moveaxis(x, axis_index(axis, x.ndim, "unstack"), 0)
    return tuple(front[i, ...] for i in range(front.shape[0]))


def append(arr: Any, values: Any, axis: int | None = None) -> StructuredArray:
    """As `pardo.append`."""
    return concatenate([arr, values], axis)  # type: ignore[no-any-return]


def delete(arr: Any, obj: Any, axis: int | None = None) -> StructuredArray:
    """As `pardo.delete`."""
    x = as_records(arr, "delete")
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_index(axis, x.ndim, "delete")
    return x._moved(lambda words: editing.delete(words, obj, along))


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """As `pardo.diagonal`."""
    x = as_records(x, "diagonal")
    if x.ndim < 2:
        raise ValueError(f"diagonal: diag requires an array of at least two dimensions, got {x.ndim}")
    rows, columns = axis_index(axis1, x.ndim, "diagonal"), axis_index(axis2, x.ndim, "diagonal")
    lines = manipulation.diagonal(x._memory, offset, rows, columns)  # the bytes of a record are not the last axis now
    return x._shown(_core._moveaxis(lines, [-2], [-1]))


def unique(x: Any, /, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: None = None) -> Any:
    """As `pardo.unique`."""
    x = as_records(x, "unique")
    if axis is not None:
        raise TypeError("unique: records are compared one by one; axis must be None")
    flat = x.ravel()
    places = argsort(flat)
    ordered = flat[places]
    first = _core._full([flat.size], True, np.bool_, x.queue)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = _core._nonzero(first)[0]
    results = [ordered[starts]]
    if return_index:
        results.append(places[starts])
    if return_inverse:
        inverse = _core._empty([flat.size], np.int64, x.queue)
        inverse[places] = _core.cumulative_sum(first, dtype=np.int64) - 1
        results.append(_core._reshape(inverse, list(x.shape)))
    if return_counts:
        ends = _core._concat([starts, _core._full([1], flat.size, np.int64, x.queue)], 0)
        results.append(ends[1:] - ends[:-1])
    return results[0] if len(results) == 1 else tuple(results)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """As `pardo.copyto`."""
    target = as_records(dst, "copyto")
    given = np.asarray(src) if isinstance(src, (list, tuple)) else src
    if hasattr(given, "dtype") and not promotion.can_cast(given.dtype, target.dtype, casting):
        raise TypeError(f"copyto: cannot cast from {given.dtype} to {target.dtype} according to the rule {casting!r}")
    if where is True:
        target._store(given, "copyto")
        return
    chosen = mask(where, target._memory, "copyto")
    if chosen is None:
        target._store(given, "copyto")
        return
    chosen = _core._broadcast_to(chosen, list(target.shape))
    records = broadcast_to(target._given(given, "copyto"), target.shape)
    target[chosen] = records[chosen]
