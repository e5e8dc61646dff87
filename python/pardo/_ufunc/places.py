# python/pardo/_ufunc/places.py: outer, and at: what is written in place, once for each time that an index names an element.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pardo import _core
from pardo._base.arguments import array, default_on, same_queue
from pardo._core import Array

if TYPE_CHECKING:
    from pardo._core import ufunc

_MOST_ROUNDS = 64  # of functions of one: whatever they are applied to so often does not change any more


def outer(f: ufunc, a: Any, b: Any, keywords: dict[str, Any]) -> Any:
    """See `pardo.ufunc.outer`."""
    op_name = f"{f.__name__}.outer"
    if f.signature is not None:
        raise TypeError(f"{op_name}: the method is not allowed in functions with non-trivial signature {f.signature}")
    if f.nin != 2:
        raise ValueError(f"{op_name}: outer product only supported for binary functions")
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
        a[indices] = _applied(f, old, None if b is np._NoValue else _second(b, a, old.shape, op_name))
        return
    # The one place where indices are looked through: what is made of these places fails with them, and not once more.
    places = _core._reshape(_core._iota([a.size], 0, a.queue), a.shape)[indices]
    second = None if b is np._NoValue else _second(b, a, places.shape, op_name)
    if places.size == 0:
        return
    places = _core._reshape(places, [-1])
    named = _named(places, a)
    if f._row >= 0:
        a[named] = _in_order(f, a[named], second, places)
    else:
        a[...] = _in_rounds(f, a, second, places)


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


def _second(b: Any, a: Array, shape: tuple[int, ...], op_name: str) -> Array:
    """The second operand, as many as there are elements."""
    if type(b) is Array:
        same_queue(a, b, op_name)
        x = b
    else:
        x = array(b, op_name)
        x = x._astype(default_on(a.queue, x.dtype), False)._to_queue(a.queue)
    while x.ndim > len(shape) and x.shape[0] == 1:
        x = x[0]
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
    for r in range(rounds if second is not None else min(rounds, _MOST_ROUNDS)):
        (hits,) = _core._nonzero(_core.equal(rank, r))
        named = _core._take(order, hits, None)
        here = _core._take(places, named, None)
        next_ones = None if values is None else _core._take(values, named, None)
        work[here] = _applied(f, _core._take(work, here, None), next_ones)
    return _core._reshape(work, a.shape)
