# python/pardo/_ufunc/places.py: outer, and at: what is written in place, once for each time that an index names an element.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import SCALARS, array, array_like, arrays, default_on, same_queue
from pardo._base.promotion import kind_of
from pardo._core import Array

if TYPE_CHECKING:
    from pardo._core import ufunc

# After so many times what these give does not change any more.
_MOST_TIMES = {"bitwise_count": 4, "spacing": 48}


# What these give in the dtype of the array is what they give in a wider one and then cast.
_EXACT = ("add", "subtract", "multiply", "minimum", "maximum", "fmin", "fmax")


def outer(f: ufunc, a: Any, b: Any, keywords: dict[str, Any]) -> Any:
    """See `pardo.ufunc.outer`."""
    op_name = f"{f.__name__}.outer"
    if f.signature is not None:
        raise TypeError(f"{op_name}: the method is not allowed in functions with non-trivial signature {f.signature}")
    if f.nin != 2:
        raise ValueError(f"{op_name}: outer product only supported for binary functions")
    if type(a) is Array or type(b) is Array:  # beside one, lists and NumPy's arrays are copied to its queue
        a, b = (given if isinstance(given, SCALARS) else x for given, x in zip((a, b), arrays((a, b), op_name), strict=True))
    else:
        for x in (a, b):
            array(x, op_name)  # raises
    if type(a) is Array and type(b) is Array and b.ndim:
        a = _core._reshape(a, [*a.shape, *[1] * b.ndim])
    return f(a, b, **keywords)


def at(f: ufunc, a: Any, indices: Any, b: Any) -> None:
    """See `pardo.ufunc.at`."""
    op_name = f"{f.__name__}.at"
    if f.signature is not None:
        raise TypeError(f"{op_name}: the method is not allowed in functions with non-trivial signature {f.signature}")
    if f.nout != 1:
        raise ValueError(f"{op_name}: only functions with a single result are supported")
    if type(a) is not Array:
        raise TypeError(f"{op_name}: the first operand must be a pardo.Array, not {type(a).__name__}")
    if f.nin == 2 and b is np._NoValue:
        raise ValueError(f"{op_name}: second operand needed for ufunc")
    if f.nin == 1 and b is not np._NoValue:
        raise ValueError(f"{op_name}: second operand provided when ufunc is unary")
    if not a.writeable:
        raise ValueError(f"{op_name}: the array is read-only")
    # A list of indices is one: each is looked at more than once below.
    indices = tuple(map(_index, indices)) if isinstance(indices, tuple) else _index(indices)
    parts = indices if isinstance(indices, tuple) else (indices,)
    if all(_names_each_once(part) for part in parts):
        old = a[indices]
        a[indices] = _applied(f, old, None if b is np._NoValue else _second(f, b, a, old.shape, op_name))
        return
    if _directly(f, a, indices, b, op_name):
        return
    # The one place where indices are looked through: what is made of these places fails with them, and not once more.
    places = _core._reshape(_core._iota([a.size], 0, a.queue), a.shape)[indices]
    second = None if b is np._NoValue else _second(f, b, a, places.shape, op_name)
    if places.size == 0:
        return
    if not a.queue.device._failures_stop_dependents:
        places.wait()  # raises for what is outside, before the array is changed
    places = _core._reshape(places, [-1])
    if second is not None and _accumulates(f, a, second):
        _core._accumulate_at(f._row, a, places, _core._reshape(second, [-1]), True)
        return
    if f._row < 0 and second is not None:
        f(_core._empty([0], a.dtype, a.queue), _core._empty([0], second.dtype, a.queue))  # raises where it takes no such dtypes
    named = _named(places, a)
    if f._row >= 0:
        a[named] = _in_order(f, a[named], second, places)
    elif second is None:
        a[...] = _so_often(f, a, places)
    elif f.__name__ == "ldexp" and a._kind == "f":
        a[named] = _scaled(f, a, a[named], second, places)
    else:
        a[...] = _in_rounds(f, a, second, places)


def _accumulates(f: ufunc, a: Array, second: Array | None) -> bool:
    """Whether there is code that changes the array in place: row by row of memory, in the dtype of the elements."""
    if f._row < 0 or second is None or f.nin != 2:
        return False
    loop, result = _core._loop_of(f._row, [a.dtype, second.dtype])
    return loop == result == a.dtype and _core._accumulates_at(f._row, a)


def _directly(f: ufunc, a: Array, indices: Any, b: Any, op_name: str) -> bool:
    """Does it where the indices are the places: one array of integers for an array of one dimension. False where they are not."""
    (index,) = indices if isinstance(indices, tuple) and len(indices) == 1 else (indices,)
    if a.ndim != 1 or a.size == 0 or f.nin != 2 or f._row < 0:
        return False
    if type(index) is Array:
        if index._kind not in "iu":
            return False
        same_queue(a, index, op_name)
        inside = False
    elif isinstance(index, np.ndarray) and kind_of(index.dtype) in "iu" and index.size:
        inside = bool(index.min() >= -a.size and index.max() < a.size)
        if not inside:
            return False
        index = _core._copy_operand(np.ascontiguousarray(index.astype(np.int64)), np.dtype(np.int64), a.queue, op_name)
    else:
        return False
    second = _second(f, b, a, index.shape, op_name, whole=False)
    if not _accumulates(f, a, second):
        return False
    _core._accumulate_at(f._row, a, _core._reshape(index, [-1]), _core._reshape(second, [-1]), inside)
    return True


def _named(places: Array, a: Array) -> tuple[Array, ...]:
    """An index for each dimension, from places in row-major order."""
    index: list[Array] = []
    rest = places
    for extent in reversed(a.shape[1:]):
        index.insert(0, _core.remainder(rest, extent))
        rest = _core.floor_divide(rest, extent)
    return (rest, *index)


def _index(part: Any) -> Any:
    return np.asarray(part) if isinstance(part, list) and part else part


def _names_each_once(part: Any) -> bool:
    """Whether a part of an index names no element twice: all but arrays of integers."""
    if part is None or part is Ellipsis or isinstance(part, (slice, bool, np.bool_, int, np.integer)):
        return True
    return getattr(part, "dtype", None) == np.bool_ or getattr(part, "size", None) == 0


def _holds(dtype: np.dtype[Any], number: int) -> bool:
    if kind_of(dtype) == "f":
        info = promotion.finfo(dtype)
        return bool(abs(number) <= 1 << (info.nmant + 1) and abs(number) <= info.max)
    return bool(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max)


def _second(f: ufunc, b: Any, a: Array, shape: tuple[int, ...], op_name: str, whole: bool = True) -> Array:
    """The second operand, as many as there are elements; or one, unless `whole`."""
    if type(b) is Array:
        same_queue(a, b, op_name)
        x = b
    else:
        x = array(b, op_name) if isinstance(b, SCALARS) else array_like(b, a, op_name)
        x = x._astype(default_on(a.queue, x.dtype), False)._to_queue(a.queue)
        if type(b) is int and f.__name__ in _EXACT and a._kind in "iuf" and _holds(a.dtype, b):
            x = x._astype(a.dtype, False)
    while x.ndim > len(shape) and x.shape[0] == 1:
        x = x[0]
    if x.size == 1 and x.ndim <= len(shape) and not whole:
        return x
    try:
        return _core._broadcast_to(x, shape)
    except ValueError:
        raise ValueError(f"{op_name}: an array of shape {x.shape} does not broadcast to what the index names, {shape}") from None


def _applied(f: ufunc, old: Array, second: Array | None) -> Array:
    """In the dtype of the elements, whatever kind that is: as NumPy's."""
    result: Array = f(old) if second is None else f(old, second)
    return result._astype(old.dtype, False)


def _sorted(places: Array) -> tuple[Array, Array]:
    order = _core._argsort(places, -1, False, True)
    return _core._take(places, order, None), order


def _in_order(f: ufunc, old: Array, second: Array | None, places: Array) -> Array:
    """What is at each place at the end: each run of equal places is gone through by one item."""
    operands = [old.dtype] if second is None else [old.dtype, second.dtype]
    loop = default_on(old.queue, _core._loop_of(f._row, operands)[0])
    keys = _core._stack(list(_sorted(places)), 0)
    values = None if second is None else _core._reshape(second._astype(loop, False), [-1])
    return _core._fold_places(f._row, old, values, keys, loop)


def _so_often(f: ufunc, a: Array, places: Array) -> Array:
    """The array after a function of one was applied to each element as often as it is named; once a name is enough to know how often."""
    times: Any = _core._full([a.size], 0, np.int64, a.queue)
    at(_core.add, times, places, 1)
    times = _core._reshape(times, a.shape)
    for time in range(min(int(_core._reduce(_core._MAX, times, None, False).item()), _MOST_TIMES.get(f.__name__, 64))):
        a = _core._where(_core.greater(times, time), _applied(f, a, None), a)
    return a


def _scaled(f: ufunc, a: Array, old: Array, exponents: Array, places: Array) -> Array:
    """What is at each place after all powers of two: products in steps that a number of this dtype can be, of which one rounds."""
    info = promotion.finfo(a.dtype)
    least, up, down = int(info.minexp - info.nmant), int(info.maxexp - 1), int(info.minexp)
    rest = _core.minimum(_core.maximum(exponents._astype(np.int64, False), 2 * down + least), 3 * up)
    steps = []
    for last in (False, False, True):
        below = least if last else _core._where(_core.less(rest, least), down, least)
        step = _core.minimum(_core.maximum(rest, below), up)
        steps.append(f(_core._full([], 1, a.dtype, a.queue), step))
        rest = _core.subtract(rest, step)
    factors = _core._stack(steps, -1)
    several = [places.size, len(steps)]
    spread = [_core._reshape(_core._broadcast_to(_core._reshape(x, [-1, 1]), several), [-1]) for x in (old, places)]
    result = _in_order(_core.multiply, spread[0], factors, spread[1])
    return _core._reshape(result, several)[:, 0]


def _in_rounds(f: ufunc, a: Array, second: Array | None, places: Array) -> Array:
    """The array after the function was applied, first where places are named for the first time, then for the second time and so on."""
    work = _core._reshape(a._copy(), [-1])
    values = None if second is None else _core._reshape(second, [-1])
    keys, order = _sorted(places)
    count = _core._iota([keys.size], 0, a.queue)
    before = _core._concat([_core._full([1], -1, np.int64, a.queue), keys[:-1]], 0)
    heads = _core._where(_core.not_equal(keys, before), count, 0)
    rank = _core.subtract(count, _core._cumulative(_core._MAX, heads, 0, None, False))
    rounds = int(_core._reduce(_core._MAX, rank, None, False).item()) + 1
    for r in range(rounds):
        (hits,) = _core._nonzero(_core.equal(rank, r))
        named = _core._take(order, hits, None)
        here = _core._take(places, named, None)
        next_ones = None if values is None else _core._take(values, named, None)
        work[here] = _applied(f, _core._take(work, here, None), next_ones)
    return _core._reshape(work, a.shape)
