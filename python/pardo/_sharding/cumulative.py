# python/pardo/_sharding/cumulative.py: sums, products and other folds of all elements up to each, across parts.
"""Each part accumulates its own elements; the last of these are gathered, and each part folds those of the parts before it, in their order,
into its own. So the bits depend on the split, and on nothing else.

Reference: G. E. Blelloch, "Prefix sums and their applications", Carnegie Mellon University, CMU-CS-90-190, 1990, section 1.2: scans of
blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pardo import _core
from pardo._analysis import nan_functions as _nan_functions
from pardo._array import cumulative as _cumulative
from pardo._base.arguments import axis_index
from pardo._base.takers import TAKERS
from pardo._core import Array
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.device import ShardedDevice
from pardo._sharding.functions import call, implements
from pardo._sharding.layout import Layout
from pardo._sharding.moves import cut, joined
from pardo._sharding.moving import Parts, agreed, flat, same_everywhere

# Folds of which the order of operands does not matter but for rounding: f(f(a, b), c) is f(a, f(b, c)).
ASSOCIATIVE = {
    "add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "logaddexp", "logaddexp2", "gcd", "lcm", "hypot",
}  # fmt: skip


def scanned(x: ShardedArray, axis: int, local: Callable[[Array], Array], fold: Callable[[Array, Array], Array]) -> ShardedArray:
    """What ``local`` gives along an axis, of the same shape, where ``fold`` puts what comes before in front."""
    group, layout = x.group, x.layout
    if layout.axis != axis:
        made = {p: local(v) for p, v in x._parts.items()}
        return sharded(group, layout, made) if layout.axis is not None else replicated(group, same_everywhere(group, made))
    made = {p: local(v) for p, v in x._parts.items()}
    ends: Parts = {p: cut(v, axis, max(0, v.shape[axis] - 1), v.shape[axis]) for p, v in made.items()}
    everywhere = group.all_gather_arrays(ends)
    for p in group.owned:
        before: Array | None = None
        for q in range(p):
            if layout.length(q):
                end = everywhere[p][q]
                before = end if before is None else fold(before, end)
        if before is not None and layout.length(p):
            made[p] = fold(before, made[p])
    return sharded(group, layout, made)


def _with_initial(x: ShardedArray, axis: int, made: ShardedArray, first: int) -> ShardedArray:
    """The same with a number in front of all, which the first part holds."""
    group, layout = x.group, made.layout
    shape = (*x.shape[:axis], x.shape[axis] + 1, *x.shape[axis + 1 :])

    def longer(v: Array) -> Array:
        start = _core._full([*v.shape[:axis], 1, *v.shape[axis + 1 :]], first, v.dtype, v.queue)
        return joined([start, v], axis)

    if layout.axis != axis:
        return sharded(group, layout.with_shape(shape), {p: longer(v) for p, v in made._parts.items()})
    bounds = (0, *(bound + 1 for bound in layout.bounds[1:]))
    parts = {p: longer(v) if p == 0 else v for p, v in made._parts.items()}
    return sharded(group, Layout(shape, axis, bounds, layout.devices), parts)


def _cumulated(op_name: str, x: Any, axis: int | None, dtype: Any, out: Any, *, initial: bool = False, standard: bool = False) -> Any:
    if out is not None or not isinstance(x, ShardedArray):
        return NotImplemented
    product = op_name.endswith("prod")
    if axis is None:
        if standard and x.ndim > 1:
            raise ValueError(f"{op_name}: axis must be given for an array of {x.ndim} dimensions")
        x, axis = flat(x), 0
    axis = axis_index(axis, x.ndim, op_name)
    routine = getattr(_nan_functions if op_name.startswith("nan") else _cumulative, op_name)
    fold = _core.multiply if product else _core.add
    made = scanned(x, axis, lambda v: routine(v, axis=axis, dtype=dtype), lambda a, b: fold(a, b)._astype(b.dtype, False))
    return _with_initial(x, axis, made, int(product)) if initial else made


@implements("cumsum", splits="along the split axis by sums of the parts before, in their order; other axes part by part")
def cumsum(x: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumulated("cumsum", x, axis, dtype, out)


@implements("cumprod", splits="as cumsum")
def cumprod(x: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumulated("cumprod", x, axis, dtype, out)


@implements("nancumsum", splits="as cumsum")
def nancumsum(x: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumulated("nancumsum", x, axis, dtype, out)


@implements("nancumprod", splits="as cumsum")
def nancumprod(x: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumulated("nancumprod", x, axis, dtype, out)


@implements("cumulative_sum", splits="as cumsum; an initial 0 is on the first part")
def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
    return _cumulated("cumulative_sum", x, axis, dtype, out, initial=include_initial, standard=True)


@implements("cumulative_prod", splits="as cumsum; an initial 1 is on the first part")
def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
    return _cumulated("cumulative_prod", x, axis, dtype, out, initial=include_initial, standard=True)


@implements("ufunc.accumulate", splits="of associative functions as cumsum")
def accumulate(function: Any, x: Any, /, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """The method of universal functions, as ``maximum.accumulate``."""
    name = function.__name__
    if out is not None or not isinstance(x, ShardedArray):
        return NotImplemented
    axis = axis_index(axis, x.ndim, f"{name}.accumulate")
    if x.layout.axis == axis and name not in ASSOCIATIVE:
        return NotImplemented
    return scanned(x, axis, lambda v: function.accumulate(v, axis, dtype), lambda a, b: function(a, b)._astype(b.dtype, False))


@implements("ufunc.reduce", splits="of associative functions, in the order of the parts")
def reduce(
    function: Any,
    x: Any,
    /,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The method of universal functions, as ``add.reduce``, along one axis or all."""
    name = function.__name__
    if out is not None or where is not True or initial not in (None, np._NoValue) or not isinstance(x, ShardedArray):
        return NotImplemented
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    chosen = [axis_index(a, x.ndim, f"{name}.reduce") for a in axes]
    group, layout, split = x.group, x.layout, x.layout.axis
    if split is None or split not in chosen:
        found = {p: function.reduce(v, axis=tuple(chosen), dtype=dtype, keepdims=keepdims) for p, v in x._parts.items()}
        if split is None:
            return replicated(group, same_everywhere(group, found))
        where_split = split if keepdims else split - sum(a < split for a in chosen)
        shape = list(found[group.owned[0]].shape)
        shape[where_split] = x.shape[split]
        return sharded(group, Layout(tuple(shape), where_split, layout.bounds, layout.devices), found)
    if name not in ASSOCIATIVE:
        return NotImplemented
    filled = [p for p in range(group.size) if layout.length(p)] or [0]
    partial = {p: function.reduce(v, axis=tuple(chosen), dtype=dtype, keepdims=keepdims) for p, v in x._parts.items() if p in filled}
    if filled == [0] or len(filled) < group.size:
        first = {p: partial.get(p) for p in group.owned}
        described = agreed(group, lambda p: None if first[p] is None else (first[p].shape, first[p].dtype))  # type: ignore[union-attr]
        shape, kind = next(d for d in described if d is not None)
        for p in group.owned:
            if first[p] is None:  # does not count below
                partial[p] = _core._full(list(shape), 0, kind, group.queue(p))
    everywhere = group.all_gather_arrays(partial)
    totals: Parts = {}
    for p, values in everywhere.items():
        total = values[filled[0]]
        for q in filled[1:]:
            total = function(total, values[q])._astype(total.dtype, False)
        totals[p] = total
    return replicated(group, same_everywhere(group, totals))


def _method(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The methods of universal functions on split arrays."""
    name = function.__name__
    if function.__module__ not in ("pardo._ufunc.folding", "pardo._ufunc.places"):
        return None
    return lambda self, *args, **kwargs: call(f"ufunc.{name}", (self, *args), kwargs)


METHODS = [_method]


def _taker(function: Callable[..., Any]) -> Callable[..., Any] | None:
    return next((found for find in METHODS if (found := find(function)) is not None), None)


TAKERS[ShardedArray] = TAKERS[ShardedDevice] = _taker
