# python/pardo/_filters/arguments.py: reads what the functions of ndimage share: arrays, outputs, modes, sizes, origins, axes.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base import promotion
from pardo._base.arguments import array, default_on, dtype_of, integer, same_queue, warn
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._filters.windows import CONSTANT, MIRROR, NEAREST, REFLECT, WRAP
from pardo._functions.operands import axes_of, on_host

_MODES = {
    "reflect": REFLECT, "grid-mirror": REFLECT, "constant": CONSTANT, "grid-constant": CONSTANT, "nearest": NEAREST, "mirror": MIRROR,
    "wrap": WRAP, "grid-wrap": WRAP,
}  # fmt: skip


def read_input(x: Any, op_name: str, *, real: bool = False) -> Array:
    read: Array = array(x, op_name)
    if real and read._kind == "c":
        raise TypeError(f"{op_name}: complex type not supported: input is {read.dtype}")
    return read


class Output:
    """Where a result goes: a new array, of the dtype of `x` or of another one, or an array that the caller has."""

    def __init__(self, output: Any, x: Array, op_name: str, *, is_complex: bool = False, shape: tuple[int, ...] | None = None) -> None:
        self.target = None
        self.shape = x.shape if shape is None else shape
        if type(output) is Array:
            if output.shape != self.shape:
                raise RuntimeError(f"{op_name}: output has shape {output.shape}, but the result has shape {self.shape}")
            same_queue(x, output, op_name)
            if is_complex and output._kind != "c":
                raise RuntimeError(f"{op_name}: output must have a complex dtype, not {output.dtype}")
            self.target, self.dtype = output, output.dtype
        elif output is None:
            self.dtype = promotion.result_type(x.dtype, np.complex64) if is_complex else x.dtype
            if is_complex and x._kind != "c":
                self.dtype = np.dtype(_complex_of(x, self.dtype))
        else:
            if isinstance(output, np.ndarray):
                raise TypeError(f"{op_name}: output must be a pardo.Array or a dtype, not {type(output).__name__}")
            self.dtype = dtype_of(output, op_name)
            if is_complex and kind_of(self.dtype) != "c":
                warn(f"{op_name}: promoting the dtype of the output, {self.dtype}, to a complex one", UserWarning)
                self.dtype = promotion.result_type(self.dtype, np.complex64)
        self.queue = x.queue

    def new(self) -> Array:
        """An array for a result."""
        made: Array = _core._empty(list(self.shape), self.dtype, self.queue)
        return made

    def given(self, result: Array) -> Array:
        """The result, in the caller's array if there is one."""
        if self.target is None:
            return result
        self.target._assign(result._astype(self.dtype, False))
        return self.target


def _complex_of(x: Array, dtype: Any) -> Any:
    return np.complex64 if default_on(x.queue, dtype) == np.complex64 else dtype


def wide_of(x: Array, *, is_complex: bool = False) -> np.dtype[Any]:
    """The dtype that sums are made in."""
    return default_on(x.queue, np.complex128 if is_complex else np.float64)


def read_mode(mode: Any, op_name: str) -> int:
    if isinstance(mode, str) and mode in _MODES:
        return _MODES[mode]
    words = ", ".join(map(repr, _MODES))
    if isinstance(mode, str):
        raise RuntimeError(f"{op_name}: boundary mode not supported: mode is {mode!r}; it must be one of {words}")
    raise TypeError(f"{op_name}: mode must be a text, one of {words}, not {type(mode).__name__}")


def each(value: Any, count: int, what: str) -> list[Any]:
    """One value for each axis: a sequence of as many, or a single one for all."""
    if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return [value] * count
    values = list(on_host(value, what.partition(":")[0]).tolist() if isinstance(value, (Array, np.ndarray)) else value)
    if len(values) != count:
        raise RuntimeError(f"{what} has {len(values)} entries; one for each of {count} axes is expected")
    return values


def read_modes(mode: Any, count: int, op_name: str) -> list[int]:
    return [read_mode(m, op_name) for m in each(mode, count, f"{op_name}: mode")]


def read_size(size: Any, op_name: str) -> int:
    n = integer(size, f"{op_name}: size")
    if n < 1:
        raise RuntimeError(f"{op_name}: incorrect filter size: {n}; it must be at least 1")
    return n


def read_sizes(size: Any, count: int, op_name: str) -> list[int]:
    return [read_size(n, op_name) for n in each(size, count, f"{op_name}: size")]


def read_origin(origin: Any, size: int, op_name: str) -> int:
    """How far to the right a window of this size stands."""
    o = integer(origin, f"{op_name}: origin")
    if not -(size // 2) <= o <= (size - 1) // 2:
        raise ValueError(f"{op_name}: invalid origin {o}; for {size} elements it must be from {-(size // 2)} to {(size - 1) // 2}")
    return o


def read_axes(axes: Any, x: Array, op_name: str) -> list[int]:
    return axes_of(axes, x.ndim, op_name)


def offsets_along(size: int, origin: int, axis: int, ndim: int) -> NDArray[Any]:
    """The offsets of a window along one axis."""
    offsets = np.zeros((size, max(ndim, 1)), np.int64)
    offsets[:, axis] = np.arange(size) - (size // 2 + origin)
    return offsets


def offsets_in(window: NDArray[Any], origins: Sequence[int], axes: Sequence[int], ndim: int) -> NDArray[Any]:
    """Those of the elements of a window that are not zero, in row-major order. Its axes are those given of an array."""
    offsets = np.zeros((np.count_nonzero(window), max(ndim, 1)), np.int64)
    middles = [size // 2 + origin for size, origin in zip(window.shape, origins, strict=True)]
    if axes:
        offsets[:, axes] = np.argwhere(window) - middles
    return offsets


def sorted_window(window: NDArray[Any], axes: Sequence[int], *others: list[Any]) -> tuple[Any, ...]:
    """A window, its axes and what belongs to each axis, in the order of the axes: that of SciPy's sums."""
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    return window.transpose(order), [axes[k] for k in order], *([other[k] for k in order] for other in others)
