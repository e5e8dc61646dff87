# python/pardo/_plugins/xarray_rows.py: what xarray asks Bottleneck and NumPy along one axis, with missing values: written with arrays.
from __future__ import annotations

from typing import Any

from pardo._base import face
from pardo._core import Array


def _missing(x: Array) -> Any:
    namespace: Any = face.namespace()
    return namespace.isnan(x) if x._kind in "fc" else namespace.zeros_like(x, dtype=bool)


def pushed(x: Array, limit: int | None, axis: int) -> Array:
    """Put the value before it in place of each missing one, at most `limit` times in a row."""
    namespace: Any = face.namespace()
    if x._kind not in "fc" or not x.size:
        return x.copy()
    x = namespace.moveaxis(x, axis, -1)
    places = namespace.arange(x.shape[-1], dtype="int32", queue=x.queue)
    known = namespace.maximum.accumulate(namespace.where(namespace.isnan(x), -1, places), axis=-1)
    filled = namespace.take_along_axis(x, namespace.maximum(known, 0), axis=-1)  # before the first value x is missing itself
    if limit is not None:
        filled = namespace.where(places - known <= limit, filled, x)
    made: Array = namespace.moveaxis(filled, -1, axis)
    return made


def ranked(x: Array, axis: int) -> Array:
    """Ranks from one on; equal values share the mean of theirs, missing ones have none."""
    namespace: Any = face.namespace()
    float_ = namespace.result_type(x.dtype, "float32") if x._kind == "f" and not x.device.has_fp64 else namespace.float64
    if not x.size:
        made: Array = namespace.zeros_like(x, dtype=float_)
        return made
    x = namespace.moveaxis(x, axis, -1)
    count = x.shape[-1]
    order = namespace.argsort(x, axis=-1, stable=True)
    lying = namespace.take_along_axis(x, order, axis=-1)
    places = namespace.arange(count, dtype="int32", queue=x.queue)
    starts = namespace.concatenate([namespace.ones_like(lying[..., :1], dtype=bool), lying[..., 1:] != lying[..., :-1]], axis=-1)
    ends = namespace.concatenate([starts[..., 1:], namespace.ones_like(starts[..., :1])], axis=-1)
    first = namespace.maximum.accumulate(namespace.where(starts, places, 0), axis=-1)
    last = namespace.flip(namespace.minimum.accumulate(namespace.flip(namespace.where(ends, places, count), axis=-1), axis=-1), axis=-1)
    means = (first + last).astype(float_) / 2 + 1
    made = namespace.take_along_axis(means, namespace.argsort(order, axis=-1), axis=-1)
    if x._kind in "fc":
        made = namespace.where(namespace.isnan(x), namespace.nan, made)
    made = namespace.moveaxis(made, -1, axis)
    return made  # noqa: RET504


def first(x: Array, axis: Any, keepdims: bool) -> Array:
    """The first value along an axis that is not missing; the first one if all are."""
    namespace: Any = face.namespace()
    (axis,) = axis if isinstance(axis, tuple) else (axis,)
    place = namespace.argmax(~_missing(x), axis=axis, keepdims=True)
    found: Array = namespace.take_along_axis(x, place, axis=axis)
    return found if keepdims else namespace.squeeze(found, axis=axis)


def filled_between(y: Array, x: Any, method: str, fill_value: Any = None) -> Array:
    """In place of missing values those between their neighbours, along the last axis, at places `x`; outside of all `fill_value`."""
    namespace: Any = face.namespace()
    if y._kind not in "fc" or y.shape[-1] < 2:
        return y
    count, there = y.shape[-1], ~namespace.isnan(y)
    at = namespace.asarray(x, dtype=namespace.finfo(y.dtype).dtype if not y.device.has_fp64 else "float64", queue=y.queue)
    places = namespace.arange(count, dtype="int32", queue=y.queue)
    low = namespace.maximum.accumulate(namespace.where(there, places, -1), axis=-1)
    high = namespace.flip(namespace.minimum.accumulate(namespace.flip(namespace.where(there, places, count), axis=-1), axis=-1), axis=-1)
    lower, upper = namespace.maximum(low, 0), namespace.minimum(high, count - 1)
    step = namespace.take(at, upper) - namespace.take(at, lower)
    share = (at - namespace.take(at, lower)) / namespace.where(step == 0, 1, step)
    below, above = (namespace.take_along_axis(y, place, axis=-1) for place in (lower, upper))
    inner = namespace.where(share > 0.5, above, below) if method == "nearest" else below + (above - below) * share
    outside = namespace.nan if fill_value is None else fill_value
    made = namespace.where(there, y, namespace.where((low >= 0) & (high < count), inner, outside)).astype(y.dtype, copy=False)
    filled: Array = namespace.where(there.sum(axis=-1, keepdims=True) > 1, made, y)
    return filled


def least_squares(lhs: Array, rhs: Array, rcond: Any) -> tuple[Array, Array]:
    """Coefficients and sums of squares for each column; rows where a column is missing do not count for that column.

    A row of zeros changes no solution, so that columns with missing values are solved together, by pseudoinverses.
    """
    namespace: Any = face.namespace()
    shape = rhs.shape
    rhs = rhs.reshape(shape[0], -1)
    there = ~namespace.isnan(rhs)
    weights = there.T[:, :, None].astype(lhs.dtype)
    values = namespace.where(there, rhs, 0).T[:, :, None]
    epsilon = namespace.finfo(lhs.dtype).eps
    inverse = namespace.linalg.pinv(weights * lhs, rtol=epsilon * max(lhs.shape) if rcond is None else rcond)
    solved = (inverse @ values)[..., 0]
    errors = namespace.where(there.T, (lhs @ solved.T).T - rhs.T, 0)
    counts = there.sum(axis=0)
    solved = namespace.where((counts > 0)[:, None], solved, namespace.nan)
    sums = namespace.where(counts > lhs.shape[1], (errors * errors).sum(axis=1), namespace.nan)
    return solved.T.reshape(-1, *shape[1:]), sums.reshape(shape[1:])
