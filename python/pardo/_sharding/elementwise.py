# python/pardo/_sharding/elementwise.py: elementwise operations: each part by itself, at the bounds of the largest operand.
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo._base import face
from pardo._core import Array
from pardo._sharding.array import ShardedArray, sharded
from pardo._sharding.failures import name_part
from pardo._sharding.functions import call, implements
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.operands import broadcast, fits, group_of, shape_of, spread, together, values

# Functions of arrays that compute element by element, and which of their arguments are operands: how many of the first, and these by name.
_POINTWISE = {
    "angle": (1, ("z",)),
    "around": (1, ("a",)),
    "clip": (3, ("a", "min", "max", "a_min", "a_max", "where")),
    "fix": (1, ("x",)),
    "i0": (1, ("x",)),
    "imag": (1, ("val",)),
    "iscomplex": (1, ("x",)),
    "isclose": (2, ("a", "b", "rtol", "atol")),
    "isneginf": (1, ("x",)),
    "isposinf": (1, ("x",)),
    "isreal": (1, ("x",)),
    "nan_to_num": (1, ("x",)),
    "real": (1, ("val",)),
    "round": (1, ("a",)),
    "sinc": (1, ("x",)),
}
_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd,
    "subtract": operator.isub,
    "multiply": operator.imul,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "power": operator.ipow,
    "left_shift": operator.ilshift,
    "right_shift": operator.irshift,
    "bitwise_and": operator.iand,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
}


def on_parts(group: Group, layout: Layout, function: Callable[..., Any], columns: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A function of each part's operands: its results as arrays of that layout, one or a tuple of several."""
    results: dict[int, Any] = {}
    named = {name: x for name, x in keywords.items() if type(x) is dict}
    local, p = dict(keywords), -1
    try:
        for p in group.owned:
            for name, column in named.items():
                local[name] = column[p]
            results[p] = function(*[c[p] if type(c) is dict else c for c in columns], **local)
    except Exception as error:
        if p >= 0:
            for c in columns:
                name_part(error, group, p, c[p] if type(c) is dict else None)
        raise
    return arrays_of(group, layout, results)


def arrays_of(group: Group, layout: Layout, results: dict[int, Any]) -> Any:
    first = results[group.owned[0]]
    if isinstance(first, tuple):
        made = [sharded(group, layout, {p: r[i] for p, r in results.items()}) for i in range(len(first))]
        return type(first)(*made) if hasattr(first, "_fields") else tuple(made)
    return sharded(group, layout, results)


def _outs(out: Any, count: int, op_name: str) -> tuple[Any, ...] | None:
    """What was given as `out`: one a result, all of them arrays over several devices."""
    given = out if isinstance(out, tuple) else (out,)
    if all(x is None or x is Ellipsis for x in given):
        return None
    if len(given) != count:
        raise ValueError(f"{op_name}: out must be an array or a tuple of {count}, not of {len(given)}")
    for x in given:
        if type(x) is not ShardedArray:
            raise TypeError(f"{op_name}: out must be a ShardedArray, as an operand is, not {type(x).__name__}")
    return given


@implements("universal function", splits="")
def ufunc(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A universal function of operands that broadcast together."""
    if not kwargs and len(args) == function.nin and function.signature is None:
        made = _at_once(function, args)
        if made is not None:
            return made
    name, count = function.__name__, function.nin
    if function.signature is not None:
        return NotImplemented
    if len(args) < count or len(args) > count + function.nout:
        raise TypeError(f"{name}: {count} operands are expected, not {len(args)}")
    operands, keywords = list(args[:count]), dict(kwargs)
    if len(args) > count:
        if "out" in keywords:
            raise TypeError(f"{name}: out is given twice")
        keywords["out"] = tuple(args[count:]) if function.nout > 1 else args[count]
    for no_effect in ("order", "subok"):
        if keywords.get(no_effect, "K") in ("K", True):
            keywords.pop(no_effect, None)
    outs = _outs(keywords.pop("out", None), function.nout, name)
    where = keywords.pop("where", True)
    if where is not True:
        operands.append(where)
    if outs is None:
        group, layout, columns = together(operands, name)
    else:
        group, layout, columns = _at_out(operands, outs, name)
        # The parts of `out` are written in place; those of other results are at its bounds too.
        keywords["out"] = _columns_of(outs, group)
    if where is not True:
        keywords["where"] = columns.pop()
    result = on_parts(group, layout, function, columns, keywords)
    if outs is None:
        return result
    return outs[0] if len(outs) == 1 else outs


def _at_once(function: Any, args: Sequence[Any]) -> Any:
    """The result for arrays of one layout, and Python's numbers; None for other operands."""
    first: Any = None
    for x in args:
        if type(x) is ShardedArray:
            if first is None:
                first = x
            elif x._layout is not first._layout:
                return None
        elif type(x) not in (int, float, bool, complex):
            return None
    results, p = {}, -1
    try:
        for p, part in first._parts.items():
            results[p] = function(part) if len(args) == 1 else function(*[x._parts[p] if type(x) is ShardedArray else x for x in args])
    except Exception as error:
        if p >= 0:
            name_part(error, first._group, p, first._parts[p])
        raise
    return arrays_of(first._group, first._layout, results)


def _columns_of(outs: tuple[ShardedArray, ...], group: Group) -> dict[int, Any]:
    return {p: outs[0]._parts[p] if len(outs) == 1 else tuple(o._parts[p] for o in outs) for p in group.owned}


def _at_out(operands: Sequence[Any], outs: tuple[ShardedArray, ...], name: str) -> tuple[Group, Layout, list[Any]]:
    group, layout = group_of([*operands, *outs], name), outs[0]._layout
    given = [values(x, name) for x in operands]
    shape = broadcast(given, name)
    for out in outs:
        if not fits(shape, out.shape):
            raise ValueError(f"{name}: out has shape {out.shape}, but the result has shape {shape}")
        if out._layout != layout:
            raise ValueError(f"{name}: the arrays of out must be split in the same way; use s.reshard")
    return group, layout, [spread(x, group, layout, name) for x in given]


def _pointwise(name: str) -> Callable[..., Any]:
    count, names = _POINTWISE[name]

    def function(*args: Any, **kwargs: Any) -> Any:
        plain, keywords = getattr(face.namespace(), name), dict(kwargs)
        out = keywords.pop("out", None)
        operands = [*args[:count], *(keywords[n] for n in names if n in keywords)]
        if out is not None:
            (out,) = _outs(out, 1, name)  # type: ignore[misc]
            group, layout, columns = _at_out(operands, (out,), name)
        else:
            group, layout, columns = together(operands, name)
        local = {n: columns.pop(min(count, len(args))) for n in names if n in keywords}
        keywords.update(local)
        result = on_parts(group, layout, plain, [*columns, *args[count:]], keywords)
        if out is None:
            return result
        call("x[key] = value", (out, ..., result), {})
        return out

    function.__name__ = name
    return function


for _name in _POINTWISE:
    implements(_name, splits="each part by itself")(_pointwise(_name))


@implements("where", splits="each part by itself")
def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    if x1 is None and x2 is None:
        return call("nonzero", (condition,), {})
    group, layout, columns = together([condition, x1, x2], "where")
    return on_parts(group, layout, face.namespace().where, columns, {})


@implements("in place", splits="")
def in_place(x: ShardedArray, name: str, other: Any) -> Any:
    """`x += other` and its like: the parts are written, so views of them see it."""
    group = group_of([x, other], name)
    given = values(other, name)
    if not fits(shape_of(given), x.shape):
        raise ValueError(f"{name}: an operand of shape {shape_of(given)} could not be broadcast to the shape {x.shape} of what is written")
    column, seen, p = spread(given, group, x._layout, name), set[int](), -1
    function: Callable[[Any, Any], Any] = _IN_PLACE[name]
    try:
        for p, part in x._parts.items():
            if id(part) not in seen:  # parts of one queue may be the same array, where each has the whole
                seen.add(id(part))
                function(part, column[p] if type(column) is dict else column)
    except Exception as error:
        if p >= 0:
            name_part(error, group, p, x._parts[p])
        raise
    return x


@implements("astype", splits="each part by itself")
def astype(x: ShardedArray, dtype: Any, /, *args: Any, copy: bool = True, device: Any = None, **keywords: Any) -> Any:
    made = on_parts(x._group, x._layout, _astype, [x._parts, dtype, *args], {"copy": copy, **keywords})
    return made if device is None else call("to_device", (made, device), {})


def _astype(x: Array, *args: Any, **keywords: Any) -> Array:
    return x.astype(*args, **keywords)


@implements("allclose", splits="each part by itself, then one truth value")
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    close = call("isclose", (a, b), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan})
    return bool(call("all", (close,), {}))


@implements("array_equal", splits="each part by itself, then one truth value")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    if shape_of(a1) != shape_of(a2):
        return False
    same = call("equal", (a1, a2), {})
    if equal_nan:
        same = same | (call("isnan", (a1,), {}) if type(a1) is ShardedArray else face.namespace().isnan(a1)) & (a2 != a2)
    return bool(call("all", (same,), {}))


@implements("array_equiv", splits="each part by itself, then one truth value")
def array_equiv(a1: Any, a2: Any) -> bool:
    try:
        np.broadcast_shapes(shape_of(a1), shape_of(a2))
    except ValueError:
        return False
    return bool(call("all", (call("equal", (a1, a2), {}),), {}))
