# python/pardo/_functions/operands.py: reads the arguments of functions that are made of operations, and puts their results where they go.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.interop import asnumpy, fetched, from_host
from pardo._base.arguments import (
    SCALARS,
    array,
    array_like,
    arrays,
    axis_index,
    check_cast,
    check_casting,
    default_on,
    default_queue,
    following,
    home_among,
    mask,
    not_an_array,
    number,
    on_queue,
    same_queue,
    single_out,
    store,
)
from pardo._base.records import Records
from pardo._core import Array, Queue


def operand(x: Any, like: Array, op_name: str) -> Array:
    """An array on the queue of another: that itself, or a copy of what the host has, and of 0-d arrays of the CPU."""
    if type(x) is Array:
        there: Array = following(x, like, op_name)
        same_queue(like, there, op_name)
        return there
    if isinstance(x, Records):
        raise not_an_array(x, op_name)
    if isinstance(x, SCALARS):
        return number(x, None, like.queue, op_name)
    if not _core._is_host_data(x):
        made = from_host(x, None, like.queue, op_name)
        if isinstance(made, Records):
            raise not_an_array(made, op_name)
        return made
    return on_queue(x, like.queue, op_name)


def weak_operand(x: Any, like: Array, op_name: str) -> Array:
    """As `operand`, but Python's numbers take the dtype of what they meet (NEP 50)."""
    return array_like(x, like, op_name) if isinstance(x, SCALARS) else operand(x, like, op_name)


def on_host(x: Any, op_name: str) -> NDArray[Any]:
    """The values as an array of NumPy's, for what is computed there, or decides what is: waits for an array of a device, and guards see the
    copy where the host cannot read its memory. What the caller asked for by name, and a few numbers of a result, are `asnumpy`'s."""
    return np.asarray(asnumpy(x) if isinstance(x, Records) else fetched(x, op_name, unless_readable=True))


_MOST_BYTES, _MOST_KEPT = 1024, 64
_kept: dict[Any, tuple[Array, int, NDArray[Any]]] = {}  # by memory and layout: who holds the memory, its noted uses, the values


def parameters_on_host(x: Any, op_name: str) -> NDArray[Any]:
    """As `on_host`, read-only, for what calls are given again and again, such as weights: a device is not asked and not waited for where a
    few values have been read before and not been written since."""
    uses = _core._noted_uses(x) if type(x) is Array and x.nbytes <= _MOST_BYTES else None
    if uses is None:
        return on_host(x, op_name)
    *place, number = uses
    key = (*place, x.dtype, x.shape, x.strides)
    known = _kept.get(key)
    if known is not None and known[1] == number:
        return known[2]
    values = on_host(x, op_name)
    values.flags.writeable = False
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[key] = (x[...], number, values)
    return values


def taken(x: Any, home: Queue | None, op_name: str) -> Array:
    """An array itself; a copy of what the host has on the queue of the arrays that it meets, or on the default one: a guard sees it."""
    if type(x) is Array:
        return x
    if not _core._is_host_data(x):
        x = np.asarray(x)
    return _core._host_operand(x, default_queue() if home is None else home, op_name, home is not None)


def to_queue(host: NDArray[Any], queue: Queue) -> Array:
    """A copy of the host's values on a queue. It has no part in the kind of memory of what is computed with it."""
    return _core._copy_buffer(np.ascontiguousarray(host).reshape(host.shape), host.dtype, queue, follows=True)


def float_of(x: Array) -> np.dtype[Any]:
    """The floating dtype that NumPy's functions of floats compute in: the smallest that holds the elements."""
    if x._kind in "fc":
        return x.dtype
    wide = {1: np.float16, 2: np.float32}.get(x.dtype.itemsize, np.float64)
    return default_on(x.queue, wide)


def double_of(x: Array) -> np.dtype[Any]:
    """The dtype of means and quotients: that of floats, float64 for integers and bools."""
    return x.dtype if x._kind in "fc" else default_on(x.queue, np.float64)


def elementwise(
    op_name: str,
    compute: Callable[..., Any],
    operands: Sequence[Any],
    out: Any,
    where: Any,
    casting: str,
) -> Array:
    """What a universal function of NumPy's does around its loop: operands, `out`, `where`; the class `ufunc` reads `dtype`."""
    return _applied(op_name, compute, operands, out, where, casting)  # type: ignore[no-any-return]


def elementwise_pair(
    op_name: str,
    compute: Callable[..., tuple[Array, Array]],
    operands: Sequence[Any],
    out: Any,
    where: Any,
    casting: str,
) -> tuple[Array, Array]:
    """As `elementwise`, for functions of two results."""
    return _applied(op_name, compute, operands, out, where, casting)  # type: ignore[no-any-return]


def _applied(op_name: str, compute: Callable[..., Any], operands: Sequence[Any], out: Any, where: Any, casting: str) -> Any:
    check_casting(casting, op_name)
    xs = arrays(operands, op_name)
    for x in xs[1:]:
        same_queue(xs[0], x, op_name)
    some = mask(where, xs[0], op_name)
    result = compute(*xs)
    if not isinstance(result, tuple):
        return placed(result, single_out(out, op_name), some, op_name, casting)
    if out is None or out is Ellipsis:
        out = (None,) * len(result)
    if not isinstance(out, tuple) or len(out) != len(result):
        wrong: type[Exception] = ValueError if isinstance(out, tuple) else TypeError
        raise wrong(f"{op_name}: out must be a tuple of {len(result)} arrays or None")
    return tuple(placed(r, o, some, op_name, casting) for r, o in zip(result, out, strict=True))


def placed(result: Array, out: Any, some: Array | None, op_name: str, casting: str = "same_kind") -> Array:
    """The result, or `out` with the result stored in it where `some` holds."""
    if some is None:
        return store(result, out, op_name, casting)
    check_where(result.shape, some, op_name)
    result, some = _core._broadcast_arrays([result, some], op_name)
    if out is None or out is Ellipsis:
        return result
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if type(out) is Array and out.shape == result.shape:
        check_cast(result.dtype, out.dtype, casting, op_name)
        result = _core._where(some, cast(result, out.dtype), out)
    return store(result, out, op_name)


def check_where(shape: Sequence[int], some: Array, op_name: str) -> None:
    """That a mask can be broadcast with operands, which have a shape together."""
    try:
        np.broadcast_shapes(tuple(shape), some.shape)
    except ValueError:
        raise ValueError(
            f"{op_name}: operands could not be broadcast together with shapes {tuple(shape)} and where of shape {some.shape}"
        ) from None


def axes_of(axis: Any, ndim: int, op_name: str) -> list[int]:
    """The axes from 0 on, in the order given; all of them for None. A ValueError for one that is given twice."""
    if axis is None:
        return list(range(ndim))
    given = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    places = [axis_index(a, ndim, op_name) for a in given]
    if len(set(places)) != len(places):
        raise ValueError(f"{op_name}: repeated axis in {tuple(given)}")
    return places


def cast(x: Array, dtype: Any) -> Array:
    """The array in another dtype; itself if it has that."""
    return x._astype(dtype, False)


def element(x: Array, k: int) -> Array:
    """An element of a line, as a view of no dimensions.

    `x[k]` is a number where nothing writes the memory any more, so that kernels would depend on what is over by now: each of the two is
    compiled, and one may be missing in the pack of the wheel.
    """
    return x[k, ...]


def operands(xs: Sequence[Any], op_name: str) -> list[Array]:
    """Arrays; what the host has is copied to the queue of the first array among them. One has to be an Array or a number."""
    like = home_among(xs)
    if like is None:
        like = next((array(x, op_name) for x in xs if isinstance(x, SCALARS)), None)
    if like is None:
        like = array(xs[0], op_name)  # raises
    return [operand(x, like, op_name) for x in xs]
