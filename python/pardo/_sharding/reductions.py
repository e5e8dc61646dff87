# python/pardo/_sharding/reductions.py: reductions: each part by itself, then the parts' results in the parts' order, so that the same parts
# give the same bits.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.reductions import correction_of
from pardo._base import face, promotion
from pardo._base.arguments import axes as read_axes
from pardo._base.arguments import axis_index, keeps_dimensions
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._sharding.array import ShardedArray, mapped, sharded
from pardo._sharding.functions import call, implements
from pardo._sharding.layout import Layout
from pardo._sharding.operands import group_of, spread, values

_LARGE = 1 << 20  # bytes of a part whose reduction is work enough to be handed over when it is recorded
_SPLITS = "along the split axis: each part, then these in the parts' order; else each part by itself"


def _axes_of(x: ShardedArray, axis: Any, name: str) -> list[int]:
    given = read_axes(axis, name)
    found = list(range(x.ndim)) if given is None else [axis_index(a, x.ndim, name) for a in given]
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: duplicate value in axis: {axis}")
    return found


def layout_without(layout: Layout, axes: Sequence[int], keepdims: bool) -> Layout:
    """The split of what is left when axes are reduced, none of which is split."""
    left = [1 if a in axes else n for a, n in enumerate(layout.shape) if keepdims or a not in axes]
    if layout.axis is None or keepdims:
        return Layout(left, layout.axis, layout.bounds, layout.devices)
    return Layout(left, layout.axis - sum(a < layout.axis for a in axes), layout.bounds, layout.devices)


def across(x: ShardedArray, axes: Sequence[int]) -> bool:
    """Whether the split axis is among the axes."""
    return x._layout.axis is not None and x._layout.axis in axes


def taking_part(layout: Layout, always_first: bool = False) -> list[int]:
    """The parts that have elements; the first one where none has, or where it has a start value."""
    return [p for p in range(layout.parts) if layout.length(p) or (p == 0 and always_first)] or [0]


def _where_of(x: ShardedArray, where: Any, name: str) -> Any:
    """What each part takes of a mask, and the group."""
    if where is None or where is True:
        return None
    group_of([x, where], name)
    return spread(values(where, name), x._group, x._layout, name)


def _folded(
    x: ShardedArray, parts: Mapping[int, tuple[Array, ...]], combine: Callable[[Any, Any], Any], always_first: bool = False
) -> list[ShardedArray]:
    """The parts' results in one, which each part has."""
    group = x._group
    if x.nbytes > _LARGE * group.size:
        for xs in parts.values():  # all begin before one waits for another
            for each in xs:
                each.force()
    folded = group.fold(parts, combine, taking_part(x._layout, always_first))
    count = len(parts[group.owned[0]])
    shape = folded[group.owned[0]][0].shape
    layout = Layout(shape, None, (), group.keys)
    if not shape:  # results without dimensions are values
        folded = {p: tuple(x if x._is_scalar_value() else x[()] for x in xs) for p, xs in folded.items()}
    return [sharded(group, layout, {p: xs[i] for p, xs in folded.items()}) for i in range(count)]


def stored(result: Any, out: Any, name: str) -> Any:
    """The result, in `out` where that is given."""
    if out is None:
        return result
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if type(out) is not ShardedArray:
        raise TypeError(f"{name}: out must be a ShardedArray, as an operand is, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"{name}: out has shape {out.shape}, but the result has shape {result.shape}")
    if not promotion.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"{name}: cannot cast the result from {result.dtype} to {out.dtype} of out with casting rule 'same_kind'")
    call("x[key] = value", (out, ..., result), {})
    return out


def on_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a reduction: of an array that each device has whole, plain arrays' function of the same name computes all."""
    name = function.__name__

    def chosen(a: Any, *args: Any, **kwargs: Any) -> Any:
        if type(a) is not ShardedArray or a._layout.axis is not None:
            return function(a, *args, **kwargs)
        if any(type(v) in (ShardedArray, Array) or isinstance(v, (np.ndarray, list)) for v in (*args, *kwargs.values())):
            return function(a, *args, **kwargs)
        plain = _plain(name)
        results = mapped(a, lambda part: plain(part, *args, **kwargs))
        return sharded(a._group, Layout(results[a._group.owned[0]].shape, None, (), a._group.keys), results)

    chosen.__name__ = name
    return chosen


def _operand(x: Any, name: str) -> Any:
    if type(x) is not ShardedArray:
        raise TypeError(f"{name}: the array must be a ShardedArray where another argument is one, not {type(x).__name__}")
    return x


def _each(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Two parts' results, which are tuples, combined one by one."""
    return lambda a, b: tuple(map(combine, a, b))


_add, _multiply = _each(_core.add), _each(_core.multiply)
_smaller, _larger = _each(_core.minimum), _each(_core.maximum)
_fsmaller, _flarger = _each(_core.fmin), _each(_core.fmax)
_both, _either = _each(_core.logical_and), _each(_core.logical_or)

# Name -> how two parts' results become one, and whether there is a result without elements.
_FOLDS: dict[str, tuple[Callable[[Any, Any], Any], bool]] = {
    "sum": (_add, True),
    "prod": (_multiply, True),
    "min": (_smaller, False),
    "max": (_larger, False),
    "amin": (_smaller, False),
    "amax": (_larger, False),
    "any": (_either, True),
    "all": (_both, True),
    "count_nonzero": (_add, True),
    "nansum": (_add, True),
    "nanprod": (_multiply, True),
    "nanmin": (_fsmaller, False),
    "nanmax": (_flarger, False),
}


def _plain(name: str) -> Callable[..., Any]:
    return getattr(face.namespace(), name)  # type: ignore[no-any-return]


_ORDER: dict[str, tuple[str, ...]] = {
    name: ("dtype", "out", "keepdims", "initial", "where") if name in ("sum", "prod", "nansum", "nanprod") else ("out", "keepdims")
    for name in _FOLDS
} | dict.fromkeys(("min", "max", "amin", "amax", "nanmin", "nanmax"), ("out", "keepdims", "initial", "where"))
_ORDER["count_nonzero"] = ()


def _by_name(name: str, axis_and_more: Sequence[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """What comes by position behind the array, by its name; no keyword is there that means nothing."""
    names = ("axis", *_ORDER[name])
    if len(axis_and_more) > len(names):
        raise TypeError(f"{name}() takes at most {len(names) + 1} positional arguments, but {len(axis_and_more) + 1} were given")
    given = dict(zip(names, axis_and_more, strict=False)) | keywords
    known = {*names, "keepdims", *(("where",) if name in ("any", "all") else ())}
    for each in given:
        if each not in known:
            raise TypeError(f"{name}() got an unexpected keyword argument {each!r}")
    return {n: v for n, v in given.items() if v is not np._NoValue}


def _reduction(name: str) -> Callable[..., Any]:
    combine, has_identity = _FOLDS[name]

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        x, given = _operand(a, name), _by_name(name, args, kwargs)
        out, keepdims = given.pop("out", None), keeps_dimensions(given.pop("keepdims", False), name)
        axes, where = _axes_of(x, given.pop("axis", None), name), _where_of(x, given.pop("where", None), name)
        initial = given.pop("initial", None)
        given = {n: v for n, v in given.items() if v is not None}
        plain = _plain(name)
        if not axes and name in ("any", "all", "count_nonzero"):
            result = sharded(x._group, x._layout, mapped(x, lambda part: plain(part, axis=(), keepdims=keepdims)))
            return stored(result, out, name)
        over = across(x, axes)
        if over and not has_identity and initial is None and any(x.shape[a] == 0 for a in axes):
            raise ValueError(f"{name}: zero-size array to reduction operation {name} which has no identity")
        always_first = over and initial is not None
        parts = {}
        for p, part in x._parts.items():
            local: dict[str, Any] = dict(given)
            if where is not None:
                local["where"] = where[p] if type(where) is dict else where
            if initial is not None and (not over or p == 0):
                local["initial"] = initial
            elif where is not None and not has_identity and initial is None:
                return NotImplemented  # as plain arrays: a mask needs a start value
            elif initial is not None and where is not None and not has_identity:
                local["initial"] = initial
            if over and not has_identity and "initial" not in local and x._layout.length(p) == 0:
                parts[p] = (_empty_result(x, p, axes, keepdims),)
            else:
                parts[p] = (plain(part, axis=tuple(axes), keepdims=keepdims, **local),)
        if over:
            return stored(_folded(x, parts, combine, always_first)[0], out, name)
        layout = layout_without(x._layout, axes, keepdims)
        return stored(sharded(x._group, layout, {p: r for p, (r,) in parts.items()}), out, name)

    function.__name__ = name
    return function


def _empty_result(x: ShardedArray, part: int, axes: Sequence[int], keepdims: bool) -> Array:
    """In place of the result of a part without elements, which is not looked at."""
    left = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes]
    return _core._empty(left, x._dtype, x._group.queue(part))


for _name in _FOLDS:
    implements(_name, splits=_SPLITS)(on_whole(_reduction(_name)))


# --- means and variances ---------------------------------------------------------------------------------------------------------------


def _in_floats(x: ShardedArray, dtype: Any, name: str) -> Any:
    """The dtype of a mean, as plain arrays have it: that of one of an element."""
    probe = _core._empty([1] * max(1, x.ndim), x._dtype, x._group.queue(x._group.owned[0]))
    return _plain(name)(probe, **({} if dtype is None else {"dtype": dtype})).dtype


def _summed_in(x: ShardedArray, dtype: Any) -> Any:
    """The dtype in which sums of narrow floats are computed."""
    return np.dtype("float32") if promotion.is_narrow(dtype) else dtype


def _count(x: ShardedArray, axes: Sequence[int], where: Any, keepdims: bool) -> Any:
    """How many elements take part in each result."""
    if where is None:
        return int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    whole = {p: face.namespace().broadcast_to(_as_mask(where, p, x), part.shape) for p, part in x._parts.items()}
    return call("sum", (sharded(x._group, x._layout, whole),), {"axis": tuple(axes), "keepdims": keepdims})


def _as_mask(where: Any, part: int, x: ShardedArray) -> Any:
    mask = where[part] if type(where) is dict else where
    return mask if type(mask) is Array else face.namespace().asarray(bool(mask), queue=x._group.queue(part))


def _where_array(where: Any, x: ShardedArray) -> Any:
    if where is None:
        return None
    whole = {p: face.namespace().broadcast_to(_as_mask(where, p, x), part.shape) for p, part in x._parts.items()}
    return sharded(x._group, x._layout, whole)


def _locally(name: str, x: ShardedArray, axes: Sequence[int], keepdims: bool, where: Any, keywords: dict[str, Any]) -> ShardedArray:
    plain, parts = _plain(name), {}
    for p, part in x._parts.items():
        local = {} if where is None else {"where": _as_mask(where, p, x)}
        parts[p] = plain(part, axis=tuple(axes), keepdims=keepdims, **keywords, **local)
    return sharded(x._group, layout_without(x._layout, axes, keepdims), parts)


@implements("mean", splits=_SPLITS)
@on_whole
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    x = _operand(a, "mean")
    axes, kept, mask = _axes_of(x, axis, "mean"), keeps_dimensions(keepdims, "mean"), _where_of(x, where, "mean")
    if not across(x, axes):
        return stored(_locally("mean", x, axes, kept, mask, {} if dtype is None else {"dtype": dtype}), out, "mean")
    wanted = _in_floats(x, dtype, "mean")
    total = call("sum", (x,), {"axis": tuple(axes), "dtype": _summed_in(x, wanted), "keepdims": kept, "where": _where_array(mask, x)})
    return stored(_narrowed(total / _count(x, axes, mask, kept), wanted), out, "mean")


def _narrowed(x: ShardedArray, dtype: Any) -> ShardedArray:
    return x if x.dtype == dtype else x.astype(dtype)


def _variance(name: str, x: ShardedArray, axes: list[int], dtype: Any, correction: float, keepdims: bool, mask: Any, mean_: Any) -> Any:
    if not across(x, axes):
        keywords = {"ddof": correction} | ({} if dtype is None else {"dtype": dtype})
        return _locally(name, x, axes, keepdims, mask, keywords)
    wanted = _in_floats(x, dtype, name)
    computed = _in_floats(x, dtype, "mean")
    wide = _summed_in(x, computed)
    chosen = _where_array(mask, x)
    values_ = _narrowed(x, wide)
    if mean_ is None:
        total = call("sum", (values_,), {"axis": tuple(axes), "keepdims": True, "where": chosen})
        mean_ = total / _count(x, axes, mask, True)
    deviation = values_ - mean_
    squares = deviation.real * deviation.real + deviation.imag * deviation.imag if kind_of(values_.dtype) == "c" else deviation * deviation
    summed = call("sum", (squares,), {"axis": tuple(axes), "keepdims": keepdims, "where": chosen})
    count = _count(x, axes, mask, keepdims)
    left = max(count - correction, 0) if not isinstance(count, ShardedArray) else call("maximum", (count - correction, 0), {})
    if isinstance(left, (int, float)) and left == 0:
        left = np.float64(0.0) if wide == np.float64 else 0.0
    result = summed / left
    return _narrowed(call("sqrt", (result,), {}) if name == "std" else result, wanted)


def _spread_function(name: str) -> Callable[..., Any]:
    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: Any = False,
        *,
        where: Any = None,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        x = _operand(a, name)
        chosen = correction_of(name, ddof, correction if correction is not np._NoValue else None)
        given = None if mean is None or mean is np._NoValue else mean
        if given is not None and not across(x, _axes_of(x, axis, name)):
            return NotImplemented
        mask = _where_of(x, None if where is np._NoValue else where, name)
        kept = keeps_dimensions(False if keepdims is np._NoValue else keepdims, name)
        return stored(_variance(name, x, _axes_of(x, axis, name), dtype, chosen, kept, mask, given), out, name)

    function.__name__ = name
    return function


for _name in ("var", "std"):
    implements(_name, splits=_SPLITS)(on_whole(_spread_function(_name)))


def _nan_mean(name: str) -> Callable[..., Any]:
    """`nanmean` and its like: those without `nan`, of the elements that are numbers."""

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        x = _operand(a, name)
        if kind_of(x.dtype) not in "fc":
            return call(name.removeprefix("nan"), (x, *args), kwargs)
        there = ~call("isnan", (x,), {})
        where = kwargs.pop("where", None)
        kwargs["where"] = there if where is None else there & where
        return call(name.removeprefix("nan"), (call("where", (there, x, 0), {}), *args), kwargs)

    function.__name__ = name
    return function


for _name in ("nanmean", "nanvar", "nanstd"):
    implements(_name, splits=_SPLITS)(on_whole(_nan_mean(_name)))


@implements("ptp", splits=_SPLITS)
@on_whole
def ptp(x: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    x = _operand(x, "ptp")
    low, high = (call(n, (x,), {"axis": axis, "keepdims": keepdims}) for n in ("min", "max"))
    return stored(high - low, out, "ptp")


@implements("average", splits=_SPLITS)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    x = _operand(a, "average")
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = _count(x, _axes_of(x, axis, "average"), None, keepdims)
        return (result, call("full_like", (result, count), {})) if returned else result
    if type(weights) is not ShardedArray and np.ndim(weights) == 1 and x.ndim != 1:
        at = axis_index(axis, x.ndim, "average")
        weights = values(weights, "average").reshape([-1 if a == at else 1 for a in range(x.ndim)])
    spread_ = call("broadcast_to", (weights, x.shape), {}) if type(weights) is ShardedArray else weights * call("ones_like", (x,), {})
    total = call("sum", (spread_,), {"axis": axis, "keepdims": keepdims})
    result = call("sum", (x * spread_,), {"axis": axis, "keepdims": keepdims}) / total
    return (result, total) if returned else result


# --- positions -------------------------------------------------------------------------------------------------------------------------


def _better(name: str) -> Callable[[Any, Any], Any]:
    """Of two (value, position) the one that comes first in the array among the best; NaN is the best."""
    compare = _core.less if name.endswith("argmin") else _core.greater

    def combine(a: Any, b: Any) -> Any:
        (value, position), (other, other_position) = a, b
        take = compare(other, value)
        if kind_of(value.dtype) in "fc":
            take = _core.logical_and(_core.logical_or(take, _core.isnan(other)), _core.logical_not(_core.isnan(value)))
        return _core._where(take, other, value), _core._where(take, other_position, position)

    return combine


def _position(name: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x, kept = _operand(a, name), keeps_dimensions(False if keepdims is np._NoValue else keepdims, name)
        if axis is None and x.ndim != 1:
            result = _flat_position(name, x)
            return stored(result.reshape((1,) * x.ndim) if kept else result, out, name)
        at = 0 if axis is None else axis_index(axis, x.ndim, name)
        if x._layout.axis != at:
            plain = _plain(name)
            layout = layout_without(x._layout, [at], kept)
            return stored(sharded(x._group, layout, mapped(x, lambda part: plain(part, axis=at, keepdims=kept))), out, name)
        if x.shape[at] == 0:
            raise ValueError(f"{name}: attempt to get {name} of an empty sequence")
        return stored(_along(name, x, at, kept)[1], out, name)

    function.__name__ = name
    return function


def _along(name: str, x: ShardedArray, at: int, keepdims: bool) -> list[ShardedArray]:
    """Best values and their positions along the split axis."""
    plain, parts = _plain(name), {}
    for p, part in x._parts.items():
        if x._layout.length(p):
            local = plain(part, axis=at, keepdims=True)
            value = face.namespace().take_along_axis(part, local, axis=at)
            place = local + x._layout.bounds[p]
            if not keepdims:
                value, place = _core._squeeze(value, [at]), _core._squeeze(place, [at])
            parts[p] = (value, place)
        else:
            left = [1 if a == at else n for a, n in enumerate(x.shape) if keepdims or a != at]
            parts[p] = (_core._empty(left, x._dtype, part.queue), _core._empty(left, np.dtype("int64"), part.queue))
    return _folded(x, parts, _better(name))


def _flat_position(name: str, x: ShardedArray) -> Any:
    """The position in the flattened array: the best along the split axis for each other index, then the best of those."""
    if x.size == 0:
        raise ValueError(f"{name}: attempt to get {name} of an empty sequence")
    if x._layout.axis is None:
        plain = _plain(name)
        return sharded(x._group, Layout((), None, (), x._group.keys), mapped(x, plain))
    at = x._layout.axis
    strides = [int(np.prod(x.shape[a + 1 :], dtype=np.int64)) for a in range(x.ndim)]
    plain, parts = _plain(name), {}
    for p, part in x._parts.items():
        if not x._layout.length(p):
            parts[p] = (_core._empty([], x._dtype, part.queue), _core._empty([], np.dtype("int64"), part.queue))
            continue
        flat = plain(part)
        value = face.namespace().take(face.namespace().reshape(part, (-1,)), flat)
        place, rest = flat * 0, flat
        for a in reversed(range(part.ndim)):
            index = rest % part.shape[a]
            rest = rest // part.shape[a]
            place = place + (index + (x._layout.bounds[p] if a == at else 0)) * strides[a]
        parts[p] = (value, place)
    if at == 0:
        return _folded(x, parts, _better(name))[1]
    return _folded(x, parts, _first_of_best(name))[1]


def _first_of_best(name: str) -> Callable[[Any, Any], Any]:
    """As `_better`, where the parts are not in the order of the positions: of equal values the one at the lower position."""
    better = _better(name)

    def combine(a: Any, b: Any) -> Any:
        value, position = better(a, b)
        equal = _core.equal(a[0], b[0])
        if kind_of(a[0].dtype) in "fc":
            equal = _core.logical_or(equal, _core.logical_and(_core.isnan(a[0]), _core.isnan(b[0])))
        return value, _core._where(equal, _core.minimum(a[1], b[1]), position)

    return combine


for _name in ("argmin", "argmax"):
    implements(_name, splits=_SPLITS)(on_whole(_position(_name)))


def _nan_position(name: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = _operand(a, name)
        if kind_of(x.dtype) not in "fc":
            return call(name.removeprefix("nan"), (x, axis, out), {"keepdims": keepdims})
        missing = call("isnan", (x,), {})
        if bool(call("any", (call("all", (missing,), {"axis": axis}),), {})):
            raise ValueError(f"{name}: all-NaN slice encountered")
        filled = call("where", (missing, np.inf if name == "nanargmin" else -np.inf, x), {})
        # An infinity among the elements comes after the first NaN, which now is one too: those that were there count.
        best = call(name.removeprefix("nan").removeprefix("arg"), (filled,), {"axis": axis, "keepdims": True})
        chosen = (filled == best) & ~missing
        return call("argmax", (chosen, axis, out), {"keepdims": keepdims})

    function.__name__ = name
    return function


for _name in ("nanargmin", "nanargmax"):
    implements(_name, splits=_SPLITS)(on_whole(_nan_position(_name)))
