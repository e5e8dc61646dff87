# python/pardo/_plugins/xarray_interpolation.py: interpolation between points of a grid, linear or to the nearest, where the data is.
from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.interop import asarray, asnumpy
from pardo._base import face
from pardo._base.promotion import kind_of
from pardo._core import Array

_KEYWORDS = {"method", "fill_value", "bounds_error", "assume_sorted"}


def knows(keywords: dict[str, Any], coords: Sequence[Any]) -> bool:
    """Whether it is one of these; splines are SciPy's."""
    fill = keywords.get("fill_value")
    return (
        keywords.get("method") in ("linear", "nearest")
        and set(keywords) <= _KEYWORDS
        and not keywords.get("bounds_error")
        and (fill is None or fill == "extrapolate" or isinstance(fill, numbers.Number))
        and all(np.size(x) > 1 for x in coords[: len(coords) // 2])
    )


def _numbers(x: Any) -> NDArray[Any]:
    host = asnumpy(x) if type(x) is Array else np.asarray(x)
    return host.astype("M8[ns]").astype("i8") if kind_of(host.dtype) == "M" else host


def interpolated(data: Array, coords: Sequence[Any], keywords: dict[str, Any], names: Sequence[tuple[Any, ...]]) -> Array:
    """The data, whose last axes are those of the grid, at new points: `coords` are the grid's, then the new ones, with names of axes."""
    namespace: Any = face.namespace()
    count = len(coords) // 2
    grid = [_numbers(x) for x in coords[:count]]
    axes = list(dict.fromkeys(itertools.chain(*names)))
    points = np.broadcast_arrays(*(_spread(_numbers(x), own, axes) for x, own in zip(coords[count:], names, strict=True)))
    fill = keywords.get("fill_value")
    extrapolates = fill == "extrapolate" or (count > 1 and "fill_value" in keywords and fill is None)
    between = [_place(x, new, keywords["method"]) for x, new in zip(grid, points, strict=True)]
    float_ = data.dtype if data._kind in "fc" else namespace.result_type(data.dtype, "float32" if not data.device.has_fp64 else "float64")
    if keywords["method"] == "linear" and data.device.has_fp64:
        float_ = namespace.result_type(float_, "float64")  # as SciPy has it
    flat = data.reshape(*data.shape[: data.ndim - count], -1)
    made: Any = None
    for corner in itertools.product((0, 1), repeat=count) if keywords["method"] == "linear" else [(0,) * count]:
        places = np.ravel_multi_index([low + step for (low, _), step in zip(between, corner, strict=True)], data.shape[data.ndim - count :])
        weight = math.prod(share if step else 1 - share for (_, share), step in zip(between, corner, strict=True))
        part = namespace.take(flat, asarray(places.ravel(), queue=data.queue), axis=-1)
        if keywords["method"] == "linear":
            part = part * asarray(np.ravel(weight), dtype=namespace.finfo(float_).dtype, queue=data.queue)
        made = part if made is None else made + part
    if not extrapolates:
        outside = np.any([(new < x[0]) | (new > x[-1]) | (new != new) for x, new in zip(grid, points, strict=True)], axis=0).ravel()
        if outside.any():
            made = namespace.where(asarray(outside, queue=data.queue), namespace.nan if fill is None else fill, made)
    result: Array = made.astype(namespace.result_type(made.dtype, float_), copy=False).reshape(*flat.shape[:-1], *points[0].shape)
    return result


def _spread(x: NDArray[Any], own: tuple[Any, ...], axes: list[Any]) -> NDArray[Any]:
    """With all axes, in their order; those that it does not have are of length one."""
    order = [own.index(name) for name in axes if name in own]
    return x.transpose(order).reshape([x.shape[own.index(name)] if name in own else 1 for name in axes])


def _place(x: NDArray[Any], new: NDArray[Any], method: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Between which points of a growing axis new ones are, the lower one; and which share of the way they are from there."""
    low = np.clip(np.searchsorted(x, new) - 1, 0, x.size - 2)
    share = (new - x[low]) / (x[low + 1] - x[low])
    if method == "nearest":
        return low + (share > 0.5), share
    return low, share
