# python/pardo/_functions/padding.py: arrays with more elements around them.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.reductions import mean
from pardo._base import promotion
from pardo._base.arguments import array as _array
from pardo._base.arguments import check_bounds
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._core import max as max_of
from pardo._core import min as min_of
from pardo._functions.operands import cast, on_host, operand, to_queue

__all__ = ["pad"]

_KEYWORDS: dict[str, tuple[str, ...]] = {
    "empty": (), "edge": (), "wrap": (), "constant": ("constant_values",), "linear_ramp": ("end_values",), "maximum": ("stat_length",),
    "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",), "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
}  # fmt: skip


def _pairs(x: Any, ndim: int, what: str, whole: bool) -> list[tuple[Any, Any]]:
    """A number, a pair, or a pair for each axis: pairs."""
    given = on_host(x, "pad")
    if whole:
        if kind_of(given.dtype) not in "iu":
            raise TypeError(f"pad: {what} must be of integral type")
        if bool((given < 0).any()):
            raise ValueError(f"pad: {what} can't contain negative values")
    try:
        spread = np.broadcast_to(given, (ndim, 2))
    except ValueError as e:
        raise ValueError(f"pad: {what}: {e}") from None
    return [(a, b) for a, b in (spread.tolist() if whole else spread)]


def _indices(places: NDArray[Any], n: int, mode: str) -> NDArray[Any]:
    """Which of n elements is continued at each place, by the modes that copy."""
    if mode == "edge":
        return places.clip(0, n - 1)
    if mode == "wrap":
        return places % n
    if mode == "symmetric":
        places = places % (2 * n)
        return np.where(places < n, places, 2 * n - 1 - places)
    if n == 1:
        return np.zeros_like(places)
    places = places % (2 * n - 2)
    return np.where(places < n, places, 2 * n - 2 - places)


def _continued(x: Array, axis: int, places: NDArray[Any]) -> Array | None:
    """Elements at places along an axis: a view where those are neighbours, up or down."""
    if not places.size:
        return None
    step = int(places[1] - places[0]) if places.size > 1 else 1
    if step in (1, -1) and bool((places[1:] - places[:-1] == step).all()):
        stop = int(places[-1]) + step
        return x[(slice(None),) * axis + (slice(int(places[0]), stop if stop >= 0 else None, step),)]
    return _core._take(x, to_queue(places, x.queue), axis)


def _part(x: Array, axis: int, first: int | None, last: int | None) -> Array:
    return x[(slice(None),) * axis + (slice(first, last),)]


def pad(array: Any, pad_width: Any, mode: str | Callable[..., Any] = "constant", **kwargs: Any) -> Array:
    """Pad an array.

    Parameters
    ----------
    array : Array
        The elements in the middle.
    pad_width : int, pair of int, or sequence of pairs
        How many elements are put before and behind, along all axes or each; or a dict of these, by axis.
    mode : str or callable
        'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect', 'symmetric', 'wrap' or 'empty'; or a
        function ``f(vector, widths, axis, kwargs)`` that changes a vector of an array of NumPy's in place.
    **kwargs : optional
        ``constant_values`` of 'constant' and ``end_values`` of 'linear_ramp', both 0 if not given; ``stat_length``, the number of
        elements that statistics are made of, all by default; ``reflect_type`` of 'reflect' and 'symmetric': 'even' or 'odd'. Those
        that are given for each side or axis are like `pad_width`.

    Returns
    -------
    Array
        A new array of the same dtype.

    Raises
    ------
    TypeError
        `array` is neither an Array nor a number, or widths are not integers.
    ValueError
        Widths or lengths are negative or do not fit, `mode` or a keyword is not known, or an axis without elements is to be continued.

    See Also
    --------
    concatenate, resize, insert

    Notes
    -----
    A function is given the values on the host, and waits for them; all else is recorded.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.pad(pp.asarray([1, 2, 3]), (2, 1), "edge")
    array([1, 1, 1, 2, 3, 3])
    >>> pp.pad(pp.asarray([1, 2, 3]), 2, "reflect", reflect_type="odd")
    array([-1,  0,  1,  2,  3,  4,  5])
    """
    x = _array(array, "pad")
    if isinstance(pad_width, dict):
        by_axis: list[Any] = [(0, 0)] * x.ndim
        for axis, width in pad_width.items():
            by_axis[axis] = width if isinstance(width, tuple) else (width, width)
        pad_width = by_axis
    widths = _pairs(pad_width, x.ndim, "pad_width", True)
    if callable(mode):
        return to_queue(np.pad(on_host(x, "pad"), widths, mode, **kwargs), x.queue)
    if mode not in _KEYWORDS:
        raise ValueError(f"pad: mode '{mode}' is not supported")
    unknown = sorted(set(kwargs) - set(_KEYWORDS[mode]))
    if unknown:
        raise ValueError(f"pad: unsupported keyword arguments for mode '{mode}': {unknown}")
    options = dict(kwargs)
    if mode in ("constant", "linear_ramp"):
        name = _KEYWORDS[mode][0]
        options[name] = _pairs(kwargs.get(name, 0), x.ndim, name, False)
    elif "stat_length" in _KEYWORDS[mode]:
        given = kwargs.get("stat_length")
        options["stat_length"] = None if given is None else _pairs(given, x.ndim, "stat_length", True)
    if options.get("reflect_type", "even") not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is {options['reflect_type']!r}; it must be 'even' or 'odd'")
    for axis, (before, after) in enumerate(widths):
        if (before or after) and x.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(f"pad: can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    return _padded(x, widths, mode, options)


def _padded(x: Array, widths: list[tuple[int, int]], mode: str, options: dict[str, Any]) -> Array:
    """The elements are copied once; what is put before and behind them along an axis is made of what there is by then."""
    if not any(map(any, widths)):
        return x._copy()
    made: Array = _core._empty([b + n + a for n, (b, a) in zip(x.shape, widths, strict=True)], x.dtype, x.queue)
    index = [slice(b, b + n) for n, (b, _) in zip(x.shape, widths, strict=True)]
    made[tuple(index)] = x
    for axis, (before, after) in enumerate(widths):
        n = x.shape[axis]
        inner = made[tuple(index)]
        if before or after:
            for place, band in zip(
                (slice(0, before), slice(before + n, None)), _bands(inner, axis, before, after, mode, options), strict=True
            ):
                if band is not None and band.size:
                    made[(*index[:axis], place, *index[axis + 1 :])] = band
        index[axis] = slice(None)
    return made


def _bands(x: Array, axis: int, before: int, after: int, mode: str, options: dict[str, Any]) -> tuple[Array | None, Array | None]:
    """What comes before the elements along an axis, and what comes behind; None where nothing does."""
    n = x.shape[axis]
    if mode in ("edge", "wrap", "reflect", "symmetric") and options.get("reflect_type", "even") == "even":
        if mode == "edge":
            return _part(x, axis, 0, 1) if before else None, _part(x, axis, n - 1, n) if after else None
        first, last = (_continued(x, axis, _indices(np.arange(*ends), n, mode)) for ends in ((-before, 0), (n, n + after)))
        return first, last
    if mode in ("reflect", "symmetric"):
        copied = _odd(x, axis, before, after, mode)
        return _part(copied, axis, 0, before), _part(copied, axis, before + n, None)
    if mode == "linear_ramp":
        return _ramped(x, axis, before, after, options["end_values"][axis])
    if mode in ("constant", "empty"):
        low, high = options["constant_values"][axis] if mode == "constant" else (0, 0)
    else:
        lengths = options["stat_length"]
        low, high = (
            _statistic(_part(x, axis, 0, m) if side == 0 else _part(x, axis, n - m, n), axis, mode)
            for side, m in enumerate(n if lengths is None else min(lengths[axis][k], n) for k in range(2))
        )
    for value in (low, high):
        check_bounds(value.item() if isinstance(value, np.generic) else value, x.dtype, "pad")
    first, last = (cast(operand(value, x, "pad"), x.dtype) if count else None for value, count in ((low, before), (high, after)))
    return first, last


def _statistic(x: Array, axis: int, mode: str) -> Array:
    if mode in ("maximum", "minimum"):
        if x.shape[axis] == 0:
            raise ValueError("pad: stat_length of 0 yields no value for padding")
        return (max_of if mode == "maximum" else min_of)(x, axis, keepdims=True)
    if mode == "mean":
        value = mean(x, axis, keepdims=True)
    else:
        value = _middle(x, axis)
    return _core.rint(value) if x._kind in "iu" else value


def _middle(x: Array, axis: int) -> Array:
    n = x.shape[axis]
    y = _core._sort(x, axis, False, True)
    value = mean(_part(y, axis, (n - 1) // 2 if n else 0, n // 2 + 1), axis, keepdims=True)
    if x._kind in "fc" and n:
        last = _part(y, axis, n - 1, n)
        value = _core._where(_core.isnan(last), last, value)
    return value


def _ramped(x: Array, axis: int, before: int, after: int, ends: tuple[Any, Any]) -> tuple[Array | None, Array | None]:
    """Lines from the ends given to the outermost elements."""
    parts: list[Array | None] = []
    for count, end, front in ((before, ends[0], True), (after, ends[1], False)):
        if not count:
            parts.append(None)
            continue
        edge = _part(x, axis, 0, 1) if front else _part(x, axis, x.shape[axis] - 1, x.shape[axis])
        steps = np.arange(count).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
        first = operand(end, x, "pad")
        wide = promotion.result_type(first.dtype, edge.dtype, 0.0)
        first, edge = cast(first, wide), cast(edge, wide)
        step = _core.divide(_core.subtract(edge, first), count)
        line = _core.add(_core.multiply(to_queue(steps.astype(wide), x.queue), step), first)
        if x._kind in "iu":
            line = _core.floor(line)
        line = cast(line, x.dtype)
        parts.append(line if front else _core._flip(line, [axis]))
    return parts[0], parts[1]


def _odd(x: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """Reflections about the outermost elements, in value too; as often as needed."""
    n = x.shape[axis]
    if n == 1:
        return _core._take(x, to_queue(_indices(np.arange(-before, n + after), n, "edge"), x.queue), axis)
    skip = 1 if mode == "reflect" else 0
    period = n - skip  # what is reflected at once is a whole number of these: the sides may have needed different numbers of rounds
    while before or after:
        size = x.shape[axis]
        whole = (size - skip) // period * period
        left, right = min(before, whole), min(after, whole)
        parts = []
        if left:
            edge = _part(x, axis, 0, 1)
            parts.append(_core.subtract(_core.multiply(edge, 2), _core._flip(_part(x, axis, skip, skip + left), [axis])))
        parts.append(x)
        if right:
            edge = _part(x, axis, size - 1, size)
            parts.append(_core.subtract(_core.multiply(edge, 2), _core._flip(_part(x, axis, size - skip - right, size - skip), [axis])))
        x = _core._concat([cast(p, x.dtype) for p in parts], axis)
        before, after = before - left, after - right
    return x
