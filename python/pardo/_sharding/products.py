# python/pardo/_sharding/products.py: products of split arrays: rows by whole operands, sums over parts, blocks by panels.
"""All products are sums over labels of axes, as in Einstein's notation; one of the split operands stays where it is, and its label decides.

- Its label is in the result: each part computes its share of the result, with its indices of that label of all operands.
- It is summed over: each part computes the sum of its indices, and these partial sums are added in the order of the parts.
- Another operand that has the label too is split along it. One that has not goes around in panels: each part's share is sent to all in
  turn, multiplied, and what that gives is added, or is the next block of the result.

The first operand whose label is in the result stays, else the first one. So the split of the result depends on the operands' splits
alone.

References: R. A. van de Geijn, J. Watts, "SUMMA: scalable universal matrix multiplication algorithm", Concurrency: Practice and
Experience 9, 1997, for the panels; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH",
2005.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import products as _products
from pardo._base import promotion
from pardo._core import Array
from pardo._functions import einsum as _einsum
from pardo._functions import products as _more_products
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.functions import implements
from pardo._sharding.given import Operand
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout
from pardo._sharding.moves import cut, joined
from pardo._sharding.moving import Parts, flat, resplit, same_everywhere, whole
from pardo._sharding.operands import group_of

Label = str | tuple[str, int]
Labels = tuple[Label, ...]
Local = Callable[..., Array]

# --- the sum of products of split operands


def contracted(
    op_name: str, local: Local, operands: Sequence[Operand], labels: Sequence[Labels], out: Labels, dtype: Any = None
) -> ShardedArray:
    """A sum of products whose operands' axes have labels; those of `out` are the axes of the result, all others are summed over.

    ``local(*arrays)`` computes it for plain arrays that have some of the indices of a label.
    """
    group = operands[0].group
    extents: dict[Label, int] = {}
    for x, names in zip(operands, labels, strict=True):
        for label, n in zip(names, x.shape, strict=True):
            if extents.setdefault(label, n) != n and 1 not in (n, extents[label]):
                shapes = ", ".join(str(o.shape) for o in operands)
                raise ValueError(f"{op_name}: operands of shapes {shapes} do not fit together: {extents[label]} and {n}")
            extents[label] = n if extents[label] == 1 else extents[label]
    places = [_places(x, names, extents) for x, names in zip(operands, labels, strict=True)]
    values: list[Parts] = [dict(x.parts) for x in operands]
    split: dict[int, Label] = {}
    for k, x in enumerate(operands):
        if x.layout is None:
            continue
        assert x.layout.axis is not None
        label = labels[k][x.layout.axis]
        if label in places[k]:
            split[k] = label
        else:  # of one element, which is repeated
            values[k] = whole(_array(x), op_name)
    if not split:
        return replicated(group, same_everywhere(group, {p: local(*(v[p] for v in values)) for p in group.owned}))
    stays = next((k for k, label in split.items() if label in out), next(iter(split)))
    main = split[stays]
    layout = operands[stays].layout
    assert layout is not None
    bounds = layout.bounds
    around: list[int] = []
    for k in list(split):
        if k == stays:
            continue
        if main in places[k]:
            values[k] = dict(resplit(_array(operands[k]), places[k][main][0], bounds, op_name)._parts)
            split[k] = main
        else:
            around.append(k)
    for k in around[1:]:
        values[k] = whole(_array(operands[k]), op_name)
        del split[k]
    summed = main not in out or bool(around and split[around[0]] not in out)
    wide, narrow = _wide(operands, summed and dtype is None)
    if wide is not None:
        values = [{p: v._astype(wide, False) for p, v in parts.items()} for parts in values]
    for k in range(len(operands)):  # the indices of the main label
        along = places[k].get(main, ())
        if split.get(k) == main:
            along = along[1:]
        for axis in along:
            values[k] = {p: cut(v, axis, bounds[p], bounds[p + 1]) for p, v in values[k].items()}
    if around:
        parts = _by_panels(group, local, operands, values, places, around[0], split, out)
    else:
        parts = {p: local(*(v[p] for v in values)) for p in group.owned}
    if main in out:
        where = out.index(main)
        shape = tuple(extents[label] for label in out)
        made = sharded(group, Layout(shape, where, bounds, layout.devices), parts)
    else:
        made = replicated(group, group.all_reduce(parts, _core.add))
    if narrow is not None:
        made = sharded(group, made.layout, {p: v._astype(narrow, False) for p, v in made._parts.items()})
    return made


def _places(x: Operand, names: Labels, extents: dict[Label, int]) -> dict[Label, tuple[int, ...]]:
    """The axes of each label, the split one first; without those of one element that are repeated."""
    found: dict[Label, tuple[int, ...]] = {}
    for axis, label in enumerate(names):
        if x.shape[axis] == extents[label]:
            found[label] = (*found.get(label, ()), axis)
    if x.layout is not None and x.layout.axis is not None:
        own = x.layout.axis
        label = names[own]
        if label in found:
            found[label] = (own, *(a for a in found[label] if a != own))
    return found


def _array(x: Operand) -> ShardedArray:
    assert x.layout is not None
    return sharded(x.group, x.layout, x.parts)


def _wide(operands: Sequence[Operand], summed: bool) -> tuple[Any, Any]:
    """What narrow floats are computed in where partial sums are added, and what the sum is rounded to."""
    if not summed:
        return None, None
    dtype = promotion.result_type(*(x.dtype for x in operands))
    return (np.dtype(np.float32), dtype) if promotion.is_narrow(dtype) else (None, None)


def _by_panels(
    group: Group,
    local: Local,
    operands: Sequence[Operand],
    values: list[Parts],
    places: list[dict[Label, tuple[int, ...]]],
    moving: int,
    split: dict[int, Label],
    out: Labels,
) -> Parts:
    """The product where the share of one operand that each part has is sent to all in turn."""
    layout = operands[moving].layout
    label = split[moving]
    assert layout is not None
    blocks: dict[int, list[Array]] = {p: [] for p in group.owned}
    filled = [q for q in range(group.size) if layout.length(q)] or [0]
    dtype = values[moving][group.owned[0]].dtype
    for q in filled:
        first, last = layout.bounds[q], layout.bounds[q + 1]
        mine = values[moving].get(q)
        shape = list(layout.local_shape(q))
        if mine is not None:
            for axis in places[moving][label][1:]:
                mine = cut(mine, axis, first, last)
        for axis in places[moving][label][1:]:
            shape[axis] = last - first
        panel = group.broadcast(mine, q, (tuple(shape), dtype))
        for p in group.owned:
            given = []
            for k, parts in enumerate(values):
                x = panel[p] if k == moving else parts[p]
                if k != moving:
                    for axis in places[k].get(label, ()):
                        x = cut(x, axis, first, last)
                given.append(x)
            blocks[p].append(local(*given))
    if label in out:
        axis = out.index(label)
        return {p: joined(found, axis) for p, found in blocks.items()}
    totals: Parts = {}
    for p, found in blocks.items():
        total = found[0]
        for x in found[1:]:
            total = _core.add(total, x)
        totals[p] = total
    return totals


# --- products of matrices and vectors


def _pair(op_name: str, x1: Any, x2: Any) -> tuple[Operand, Operand]:
    group = group_of([x1, x2], op_name)
    return Operand(x1, group, op_name), Operand(x2, group, op_name)


def _batch(n: int) -> Labels:
    """Labels of n axes that are broadcast, counted from the last one."""
    return tuple(("batch", k) for k in range(n, 0, -1))


def _usual(keywords: dict[str, Any], *, axis: bool = False) -> dict[str, Any] | None:
    """The keywords of a product that its parts take; None for those that split arrays do not have."""
    if keywords.get("out") is not None or keywords.get("axes") is not None or keywords.get("keepdims"):
        return None
    if keywords.get("axis") is not None and not axis:
        return None
    return {name: value for name, value in keywords.items() if name in ("dtype", "casting")}


def _stacks(op_name: str, x1: Any, x2: Any, cores: tuple[Labels, Labels, Labels], local: Local, keywords: dict[str, Any]) -> Any:
    """A product of stacks of matrices or vectors, whose own axes are the last ones."""
    kept = _usual(keywords)
    if kept is None:
        return NotImplemented
    a, b = _pair(op_name, x1, x2)
    first, second, result = cores
    for x, core, which in ((a, first, "first"), (b, second, "second")):
        if x.ndim < len(core):
            raise ValueError(f"{op_name}: the {which} operand must have {len(core)} or more dimensions, but has {x.ndim}")
    more = max(a.ndim - len(first), b.ndim - len(second))
    labels = (_batch(a.ndim - len(first)) + first, _batch(b.ndim - len(second)) + second)
    return contracted(op_name, lambda *v: local(*v, **kept), (a, b), labels, _batch(more) + result, kept.get("dtype"))


@implements(
    "matmul", "linalg.matmul", splits="rows by a whole operand; split sums are added in the order of the parts; rows by columns in panels"
)
def matmul(x1: Any, x2: Any, /, out: Any = None, **keywords: Any) -> Any:
    a, b = np.ndim(x1) if not hasattr(x1, "ndim") else x1.ndim, np.ndim(x2) if not hasattr(x2, "ndim") else x2.ndim
    if a == 0 or b == 0:
        raise ValueError("matmul: operands must have one or more dimensions; use * for numbers")
    first: Labels = ("k",) if a == 1 else ("m", "k")
    second: Labels = ("k",) if b == 1 else ("k", "n")
    return _stacks("matmul", x1, x2, (first, second, first[:-1] + second[1:]), _products.matmul, {"out": out, **keywords})


@implements("matvec", splits="as matmul")
def matvec(x1: Any, x2: Any, /, out: Any = None, **keywords: Any) -> Any:
    return _stacks("matvec", x1, x2, (("m", "k"), ("k",), ("m",)), _more_products.matvec, {"out": out, **keywords})


@implements("vecmat", splits="as matmul")
def vecmat(x1: Any, x2: Any, /, out: Any = None, **keywords: Any) -> Any:
    return _stacks("vecmat", x1, x2, (("k",), ("k", "n"), ("n",)), _more_products.vecmat, {"out": out, **keywords})


@implements("vecdot", "linalg.vecdot", splits="stacks part by part; a split sum is added in the order of the parts")
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int | None = -1, **keywords: Any) -> Any:
    kept = _usual({"out": out, **keywords})
    if kept is None:
        return NotImplemented
    a, b = _pair("vecdot", x1, x2)
    along = -1 if axis is None else axis
    labels = []
    for x in (a, b):
        if not -x.ndim <= along < x.ndim:
            raise np.exceptions.AxisError(along, x.ndim)
        rest = list(_batch(x.ndim - 1))
        rest.insert(along % x.ndim, "k")
        labels.append(tuple(rest))
    more = max(a.ndim, b.ndim) - 1
    return contracted("vecdot", lambda *v: _products.vecdot(*v, axis=along, **kept), (a, b), labels, _batch(more), kept.get("dtype"))


@implements("dot", splits="as matmul")
def dot(x1: Any, x2: Any, /, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    a, b = _pair("dot", x1, x2)
    first = tuple(("a", k) for k in range(a.ndim))
    second = tuple(("b", k) for k in range(b.ndim))
    if a.ndim and b.ndim:
        middle = max(0, b.ndim - 2)
        second = (*second[:middle], first[-1], *second[middle + 1 :])
        result = first[:-1] + second[:middle] + second[middle + 1 :]
        _same_extent("dot", a.shape[-1], b.shape[middle])
    else:
        result = first + second
    return contracted("dot", _products.dot, (a, b), (first, second), result)


def _same_extent(op_name: str, m: int, n: int) -> None:
    if m != n:
        raise ValueError(f"{op_name}: {m} elements are multiplied with {n}; both numbers must be the same")


@implements("inner", splits="as matmul")
def inner(x1: Any, x2: Any, /) -> Any:
    a, b = _pair("inner", x1, x2)
    first = tuple(("a", k) for k in range(a.ndim))
    second = tuple(("b", k) for k in range(b.ndim))
    result = first + second
    if a.ndim and b.ndim:
        _same_extent("inner", a.shape[-1], b.shape[-1])
        second = (*second[:-1], first[-1])
        result = first[:-1] + second[:-1]
    return contracted("inner", _more_products.inner, (a, b), (first, second), result)


def _row(x: Any) -> Any:
    """All elements of an operand in one row."""
    return flat(x) if isinstance(x, ShardedArray) else x.reshape(-1) if isinstance(x, Array) else np.ravel(x)


@implements("vdot", splits="partial sums are added in the order of the parts")
def vdot(x1: Any, x2: Any, /) -> Any:
    a, b = _pair("vdot", _row(x1), _row(x2))
    _same_extent("vdot", a.size, b.size)
    return contracted("vdot", _more_products.vdot, (a, b), (("k",), ("k",)), ())


@implements("outer", "linalg.outer", splits="along the axis of the operand that is split, the first if both are")
def outer(x1: Any, x2: Any, /, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    a, b = _pair("outer", _row(x1), _row(x2))
    return contracted("outer", _products.outer, (a, b), (("m",), ("n",)), ("m", "n"))


@implements("tensordot", "linalg.tensordot", splits="as einsum")
def tensordot(x1: Any, x2: Any, /, axes: Any = 2) -> Any:
    a, b = _pair("tensordot", x1, x2)
    if isinstance(axes, (int, np.integer)):
        if axes < 0 or axes > min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes is {axes}, but operands have {a.ndim} and {b.ndim} dimensions")
        first_axes, second_axes = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        pair = [[int(v) for v in side] if isinstance(side, Sequence) or hasattr(side, "__iter__") else [int(side)] for side in axes]
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            raise ValueError(f"tensordot: axes must name as many axes of each of two operands, but is {axes}")
        first_axes, second_axes = pair
    for x, given in ((a, first_axes), (b, second_axes)):
        for axis in given:
            if not -x.ndim <= axis < x.ndim:
                raise np.exceptions.AxisError(axis, x.ndim)
    first_axes, second_axes = [k % a.ndim for k in first_axes], [k % b.ndim for k in second_axes]
    first: list[Label] = [("a", k) for k in range(a.ndim)]
    second: list[Label] = [("b", k) for k in range(b.ndim)]
    for i, j in zip(first_axes, second_axes, strict=True):
        _same_extent("tensordot", a.shape[i], b.shape[j])
        second[j] = first[i]
    result = tuple(x for k, x in enumerate(first) if k not in first_axes) + tuple(x for k, x in enumerate(second) if k not in second_axes)
    axes_of_both = (first_axes, second_axes)
    return contracted("tensordot", lambda v, w: _products.tensordot(v, w, axes_of_both), (a, b), (tuple(first), tuple(second)), result)


# --- Einstein's sums


@implements(
    "einsum", splits="the first operand split along a label of the result stays; else partial sums are added in the order of the parts"
)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: str = "K", casting: str = "safe") -> Any:
    if out is not None or order not in ("K", "C", "A"):
        return NotImplemented
    terms, output, given = _einsum._read(operands, "einsum")
    group = group_of(given, "einsum")
    values = [Operand(x, group, "einsum") for x in given]
    labels = [_expanded(term, x.ndim) for term, x in zip(terms, values, strict=True)]
    most = max((sum(isinstance(label, tuple) for label in names) for names in labels), default=0)
    dots = _batch(most)
    if output is None:
        every = [label for names in labels for label in names if isinstance(label, str)]
        result: Labels = (*dots, *sorted(label for label in set(every) if every.count(label) == 1))
    else:
        before, found, after = output.partition("...")
        result = (*before, *(dots if found else ()), *after)
    text = ",".join(terms) + ("" if output is None else f"->{output}")
    return contracted(
        "einsum", lambda *v: _einsum.einsum(text, *v, optimize=optimize, dtype=dtype, casting=casting), values, labels, result, dtype
    )


def _expanded(term: str, ndim: int) -> Labels:
    """The labels of an operand's axes; those that an ellipsis stands for are counted from the last one."""
    before, found, after = term.partition("...")
    count = ndim - len(before) - len(after)
    if count < 0 or (count and not found):
        raise ValueError(f"einsum: subscripts {term!r} are for {len(before) + len(after)} dimensions, but the operand has {ndim}")
    return (*before, *_batch(count), *after)


# --- several in a row


@implements("linalg.multi_dot", splits="one product after the other, in the order that costs least")
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    given = list(arrays)
    if len(given) < 2:
        raise ValueError(f"multi_dot: two or more arrays are needed, not {len(given)}")
    shapes = [np.shape(x) if not hasattr(x, "shape") else x.shape for x in given]
    if any(len(s) not in ((1, 2) if k in (0, len(given) - 1) else (2,)) for k, s in enumerate(shapes)):
        raise ValueError("multi_dot: arrays must have two dimensions; the first and the last may have one")
    sizes = [shapes[0][0] if len(shapes[0]) == 2 else 1, *(s[0] for s in shapes[1:]), shapes[-1][1] if len(shapes[-1]) == 2 else 1]
    return _in_order(given, _order(sizes), 0, len(given) - 1)


def _order(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where the chain of matrices is cut between i and j: the dynamic program of Cormen, Leiserson, Rivest and Stein, chapter 15.2."""
    n = len(sizes) - 1
    cost: dict[tuple[int, int], int] = {(i, i): 0 for i in range(n)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], cuts[i, j] = min(options)
    return cuts


def _in_order(arrays: Sequence[Any], cuts: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return arrays[i]
    k = cuts[i, j]
    left, right = _in_order(arrays, cuts, i, k), _in_order(arrays, cuts, k + 1, j)
    if isinstance(left, ShardedArray) or isinstance(right, ShardedArray):
        return matmul(left, right)
    return _products.matmul(left, right) if isinstance(left, Array) or isinstance(right, Array) else np.matmul(left, right)


@implements("linalg.matrix_power", splits="one product after the other; the power must not be negative")
def matrix_power(a: Any, n: int) -> Any:
    if not isinstance(a, ShardedArray) or n < 1:
        return NotImplemented
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"matrix_power: the matrices must be square, but have shape {a.shape}")
    if n == 1:
        return sharded(a.group, a.layout, {p: v.copy() for p, v in a._parts.items()})
    result, square, rest = None, a, n
    while rest:
        if rest & 1:
            result = square if result is None else matmul(result, square)
        rest >>= 1
        if rest:
            square = matmul(square, square)
    return result
