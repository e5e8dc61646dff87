# python/pardo/_fft/cosines.py: reads the arguments of cosine and sine transforms, and hands the transform to the core.
from __future__ import annotations

from typing import Any

from pardo import _core
from pardo._base.arguments import array, axis_index, flag, index
from pardo._core import Array
from pardo._fft.arguments import COSINE, checked_points, factor, sequence

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _transform(
    x: Array, kind: int, lengths: list[int], axes: list[int], type: Any, norm: Any, orthogonalize: Any, forward: bool, op_name: str
) -> Array:
    which = index(type, f"{op_name}: type")
    if which not in _INVERSE:
        raise ValueError(f"{op_name}: type is {which}; it must be 1, 2, 3 or 4")
    if kind == COSINE and which == 1 and min(lengths) < 2:
        raise ValueError(f"{op_name}: the transform of type 1 is not defined for fewer than two points")
    more = 0 if which != 1 else -1 if kind == COSINE else 1
    scale = factor(norm, [2 * (n + more) for n in lengths], forward, op_name)
    orthogonal = norm == "ortho" if orthogonalize is None else flag(orthogonalize, f"{op_name}: orthogonalize")
    which = which if forward else _INVERSE[which]

    def real(part: Array) -> Array:
        return _core._fft(part, kind, forward, scale, which, orthogonal, lengths, axes, op_name)

    if x._kind != "c":
        return real(x)
    parts = [real(_core._part(x, 0)), real(_core._part(x, 1))]
    result = _core._empty(list(parts[0].shape), x.dtype, x.queue)
    for place, part in enumerate(parts):
        _core._part(result, place)._assign(part)
    return result


def along_one(x: Any, kind: int, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, forward: bool, op_name: str) -> Array:
    x = array(x, op_name)
    at = axis_index(axis, x.ndim, op_name)
    points = checked_points(x.shape[at] if n is None else n, op_name)
    return _transform(x, kind, [points], [at], type, norm, orthogonalize, forward, op_name)


def along_many(x: Any, kind: int, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any, forward: bool, op_name: str) -> Array:
    signal: Array = array(x, op_name)
    given = None if s is None else sequence(s, f"{op_name}: s", one=True)
    if axes is not None:
        named = sequence(axes, f"{op_name}: axes", one=True)
    else:
        named = list(range(-(signal.ndim if given is None else len(given)), 0))
    along = [axis_index(axis, signal.ndim, op_name) for axis in named]
    if len(set(along)) != len(along):
        raise ValueError(f"{op_name}: all axes must be unique, not {axes!r}")
    if given is not None and len(given) != len(along):
        raise ValueError(f"{op_name}: when given, axes and s have to be of the same length, not {len(along)} and {len(given)}")
    wanted = [-1] * len(along) if given is None else [index(n, f"{op_name}: s") for n in given]
    lengths = [checked_points(signal.shape[axis] if n == -1 else n, op_name) for n, axis in zip(wanted, along, strict=True)]
    if not along:
        return signal
    return _transform(signal, kind, lengths, along, type, norm, orthogonalize, forward, op_name)
