# python/pardo/_fft/arguments.py: reads the arguments of transforms, and hands the transform to the core.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pardo import _core
from pardo._base.arguments import array, axis_index, index, store, warn
from pardo._base.promotion import is_narrow
from pardo._core import Array
from pardo._functions.operands import cast

# The core's kinds of transforms, in its order.
COMPLEX, TO_HALF, FROM_HALF, COSINE, SINE = range(5)
_POWERS = {"backward": 0.0, "ortho": -0.5, "forward": -1.0}  # of the number of points, in the factor of a forward transform


def factor(norm: Any, points: Sequence[int], forward: bool, op_name: str) -> float:
    """What a transform of so many points along each axis is multiplied by."""
    power = _POWERS.get("backward" if norm is None else norm) if norm is None or isinstance(norm, str) else None
    if power is None:
        raise ValueError(f'{op_name}: Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if not forward:
        power = -1.0 - power
    n = float(math.prod(points))
    return 1.0 if power == 0 else 1 / n if power == -1 else 1 / math.sqrt(n)


def checked_points(n: Any, op_name: str) -> int:
    """The number of points along an axis."""
    points = index(n, f"{op_name}: n")
    if points < 1:
        raise ValueError(f"{op_name}: Invalid number of FFT data points ({points}) specified.")
    return points


def one_axis(a: Any, n: Any, axis: Any, norm: Any, out: Any, kind: int, forward: bool, op_name: str) -> Array:
    """A transform along one axis."""
    x = array(a, op_name)
    points = None if n is None else checked_points(n, op_name)
    at = axis_index(axis, x.ndim, op_name)
    if points is None:
        points = checked_points(2 * (x.shape[at] - 1) if kind == FROM_HALF else x.shape[at], op_name)
    scale = factor(norm, [points], forward, op_name)
    result = _core._fft(x, kind, forward, scale, 0, False, [points], [at], op_name)
    return store(_narrow(result, x) if kind == FROM_HALF else result, out, op_name)


def _narrow(result: Array, x: Array) -> Array:
    """What NumPy makes of half spectra in float16: real numbers in float16."""
    return cast(result, x.dtype) if is_narrow(x.dtype) else result


def many_axes(a: Any, s: Any, axes: Any, norm: Any, out: Any, kind: int, forward: bool, op_name: str) -> Array:
    """A transform along several axes; of a half the last one. Axes that are named again are transformed again."""
    x = array(a, op_name)
    lengths, along = _lengths_and_axes(x, s, axes, kind == FROM_HALF, op_name)
    if not along:
        if kind != COMPLEX:
            raise IndexError(f"{op_name}: axes is empty; at least one axis is needed")
        return store(x, out, op_name)
    scale = factor(norm, lengths, forward, op_name)
    if len(set(along)) == len(along):
        result = _core._fft(x, kind, forward, scale, 0, False, lengths, along, op_name)
    else:
        result = _one_after_the_other(x, lengths, along, scale, kind, forward, op_name)
    return store(_narrow(result, x) if kind == FROM_HALF and len(along) == 1 else result, out, op_name)


def _one_after_the_other(x: Array, lengths: list[int], along: list[int], scale: float, kind: int, forward: bool, op_name: str) -> Array:
    steps = list(zip(lengths, along, strict=True))
    kinds = [COMPLEX] * (len(steps) - 1) + [kind]
    order = range(len(steps)) if kind == FROM_HALF else reversed(range(len(steps)))
    for i in order:
        x = _core._fft(x, kinds[i], forward, 1.0, 0, False, [steps[i][0]], [steps[i][1]], op_name)
    return x if scale == 1 else _core.multiply(x, scale)


def _lengths_and_axes(x: Array, s: Any, axes: Any, half: bool, op_name: str) -> tuple[list[int], list[int]]:
    """How many points along which axes, by NumPy's rules; with `half` those of what the last axis has half of."""
    given = None if s is None else sequence(s, f"{op_name}: s")
    if axes is not None:
        along = [axis_index(axis, x.ndim, op_name) for axis in sequence(axes, f"{op_name}: axes")]
    elif given is None:
        along = list(range(x.ndim))
    else:
        warn(
            f"{op_name}: `axes` should not be `None` if `s` is not `None` (deprecated in NumPy 2.0); "
            "pass the axes, as [0, ..., k-1] for an array of dimension k",
            DeprecationWarning,
        )
        along = [axis_index(axis, x.ndim, op_name) for axis in range(-len(given), 0)]
    if given is None:
        default: list[Any] = [None] * len(along)
    else:
        if len(given) != len(along):
            raise ValueError(f"{op_name}: Shape and axes have different lengths: {len(given)} and {len(along)}.")
        if any(length is None for length in given):
            warn(
                f"{op_name}: `None` in `s` is deprecated since NumPy 2.0; pass the length, or leave `s` out for all axes",
                DeprecationWarning,
            )
        default = given
    lengths = []
    for i, (length, axis) in enumerate(zip(default, along, strict=True)):
        if length is None:
            points = 2 * (x.shape[axis] - 1) if half and i + 1 == len(along) else x.shape[axis]
        else:
            points = index(length, f"{op_name}: s")
            points = x.shape[axis] if points == -1 else points
        lengths.append(checked_points(points, op_name))
    return lengths, along


def sequence(values: Any, what: str, *, one: bool = False) -> list[Any]:
    """The items of a sequence; with `one` a single one may stand for itself."""
    if one and not isinstance(values, (list, tuple)) and getattr(values, "ndim", 0) == 0:
        return [values]
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{what} must be a sequence of integers, not {type(values).__name__}") from None
