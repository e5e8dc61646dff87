# python/pardo/_filters/windows.py: what a function makes of the elements around each place, along any number of axes.
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base import promotion
from pardo._base.promotion import kind_of
from pardo._core import Array, Device, Queue
from pardo._filters import stencils
from pardo._filters.stencils import plain
from pardo._functions.operands import to_queue
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Const, Item, Range, private_array

NEAREST: int = 0
REFLECT: int = 1
MIRROR: int = 2
WRAP: int = 3
CONSTANT: int = 4

UNROLLED = 32  # offsets that are part of a program's arguments; more of them are read from memory
ROWS = 4  # computed at a time, by one item
COLUMNS = 16  # from which on that is done
SMALL = 1 << 14  # elements up to which the whole array is continued beyond its edges, in place of what lies near to them

# --- kernels ----------------------------------------------------------------------------------------------------------------------------


def continued(i: Any, n: Any, mode: Any) -> Any:
    """Which of n elements stands at i of an axis that goes on beyond its edges; -1 for the constant."""
    j = i
    if i < 0 or i >= n:
        if mode == NEAREST:
            j = min(max(i, 0), n - 1)
        elif mode == WRAP:
            j = i % n
        elif mode == REFLECT:
            j = i % (2 * n)
            j = min(j, 2 * n - 1 - j)
        elif mode == MIRROR:
            j = i % max(2 * n - 2, 1)
            j = min(j, 2 * n - 2 - j)
        else:
            j = -1
    return j


@functools.cache
def continuing(mode: int) -> Callable[..., Any]:
    """The same for one mode, which is part of a program then."""

    def beyond(i: Any, n: Any) -> Any:
        return continued(i, n, mode)

    return beyond


@kernel(bounds_check=False)  # `continued` gives an index of the axis
def extend_edges(item: Item, x: Any, axes: Any, cval: Any, out: Any) -> None:
    """A part of the array and of what continues it: an outer index, rows and columns. Of each of `axes`, the last first: its extent, that
    of the array, stride, start and mode."""
    rest, row, column = item.get_id(0), item.get_id(1), item.get_id(2)
    k = (rest * plain(axes[1][0]) + row) * plain(axes[0][0]) + column
    at = 0
    outside = False
    for d, (extent, n, stride, start, mode) in enumerate(axes):
        if d == 0:
            i = column
        elif d == 1:
            i = row
        elif d < len(axes) - 1:
            i = rest % extent
            rest = rest // extent
        else:
            i = rest
        j = continued(start + i, n, mode)
        outside = outside or j < 0
        at += max(j, 0) * stride
    out[k] = cval if outside else x[at].astype(out.dtype)


def filter_windows(item: Item, fold: Any, store: Any, x: Any, x_at: Any, out: Any, out_at: Any, lead: Any, taps: Any) -> None:
    """Places are an outer index, which `lead` divides into several, a row and a column; `x_at` and `out_at` are start and strides."""
    rest, row, column = item.get_id(0), item.get_id(1), item.get_id(2)
    source = plain(x_at[0]) + row * plain(x_at[2]) + column
    target = plain(out_at[0]) + row * plain(out_at[2]) + column
    for extent, x_stride, out_stride in lead:
        source += (rest % extent) * plain(x_stride)
        target += (rest % extent) * plain(out_stride)
        rest = rest // extent
    out[target + rest * plain(out_at[1])] = store(fold(x, source + rest * plain(x_at[1]), taps), out.dtype)


# Windows lie inside. What is stored as integers is summed up as SciPy does; other sums may contract products, as in `filter_rows`.
exactly = kernel(bounds_check=False)(filter_windows)
freely = kernel(bounds_check=False, fastmath=True)(filter_windows)


@kernel(bounds_check=False, fastmath=True)
def filter_rows(item: Item, fold: Any, store: Any, x: Any, x_at: Any, out: Any, out_at: Any, lead: Any, taps: Any) -> None:
    """The same for several rows at a time, of which each item computes one column."""
    rest, block, column = item.get_id(0), item.get_id(1), item.get_id(2)
    source = plain(x_at[0]) + block * ROWS * plain(x_at[2]) + column
    target = plain(out_at[0]) + block * ROWS * plain(out_at[2]) + column
    for extent, x_stride, out_stride in lead:
        source += (rest % extent) * plain(x_stride)
        target += (rest % extent) * plain(out_stride)
        rest = rest // extent
    target += rest * plain(out_at[1])
    for k, value in enumerate(fold(x, source + rest * plain(x_at[1]), plain(x_at[2]), taps)):
        out[target + k * plain(out_at[2])] = store(value, out.dtype)


def filter_frames(
    item: Item, fold: Any, store: Any, rules: Any, count: Const[int], width: Const[int], x: Any, sizes: Any, first: Any, cval: Any,
    out: Any, out_sizes: Any, inside: Any, taps: Any,
) -> None:  # fmt: skip
    """What is made of boxes around those places of planes that are not `inside`, a range of rows and one of columns; an outer index, and
    a number among such places: above and below, then beside. Each element of a box is looked up."""
    rest, number = item.get_id(0), item.get_id(1)
    n, m, rows, columns = plain(sizes[0]), plain(sizes[1]), plain(out_sizes[0]), plain(out_sizes[1])
    top, bottom, left, right = inside
    whole = (top + rows - bottom) * columns
    if number < whole:
        row, column = number // columns, number % columns
        row = row if row < top else row + (bottom - top)
    else:
        beside = left + columns - right
        row, column = top + (number - whole) // beside, (number - whole) % beside
        column = column if column < left else column + (right - left)
    box = private_array(count, cval)
    for place in range(count):
        i, j = rules[0](row + first[0] + place // width, n), rules[1](column + first[1] + place % width, m)
        box[place] = cval
        if i >= 0 and j >= 0:
            box[place] = x[rest * n * m + i * m + j].astype(box.dtype)
    out[(rest * rows + row) * columns + column] = store(fold(box, 0, taps), out.dtype)


frames_exactly = kernel(bounds_check=False)(filter_frames)
frames_freely = kernel(bounds_check=False, fastmath=True)(filter_frames)


# --- what is made of a window, and how it is stored -------------------------------------------------------------------------------------


def weighted(x: Any, at: Any, taps: Any) -> Any:
    """A sum of products, in the order of the offsets."""
    offsets, weights, wide = taps
    total = wide(0)
    for k, offset in enumerate(offsets):
        total += weights[k] * wide(x[at + plain(offset)])
    return total


def even(x: Any, at: Any, taps: Any) -> Any:
    """With the same weights on both sides of the first offset: pairs of elements are added first, as SciPy does."""
    offsets, weights, wide = taps
    total = wide(x[at + plain(offsets[0])]) * weights[0]
    for k, weight in enumerate(weights):
        if k > 0:
            total += (wide(x[at + plain(offsets[2 * k - 1])]) + wide(x[at + plain(offsets[2 * k])])) * weight
    return total


def odd(x: Any, at: Any, taps: Any) -> Any:
    """With opposite weights on both sides."""
    offsets, weights, wide = taps
    total = wide(x[at + plain(offsets[0])]) * weights[0]
    for k, weight in enumerate(weights):
        if k > 0:
            total += (wide(x[at + plain(offsets[2 * k - 1])]) - wide(x[at + plain(offsets[2 * k])])) * weight
    return total


def average(x: Any, at: Any, taps: Any) -> Any:
    offsets, count, wide = taps
    total = wide(0)
    for offset in offsets:
        total += wide(x[at + plain(offset)])
    return total / count


def least(x: Any, at: Any, taps: Any) -> Any:
    offsets, first = taps
    value = x[at + plain(first)]
    for offset in offsets:
        value = min(value, x[at + plain(offset)])
    return value


def greatest(x: Any, at: Any, taps: Any) -> Any:
    offsets, first = taps
    value = x[at + plain(first)]
    for offset in offsets:
        value = max(value, x[at + plain(offset)])
    return value


def converted(value: Any, dtype: Any) -> Any:
    return value.astype(dtype)


def truncated(value: Any, dtype: Any) -> Any:
    """Floats as unsigned integers: negative ones wrap."""
    return value.astype(np.int64).astype(dtype)


def truncated_uint64(value: Any, dtype: Any) -> Any:
    return value.astype(dtype) if value >= 2.0**63 else value.astype(np.int64).astype(dtype)


def truncated_bool(value: Any, dtype: Any) -> Any:
    return value.astype(np.int64) != 0


def storing(source: np.dtype[Any], target: np.dtype[Any]) -> Callable[..., Any]:
    """How values of a dtype are stored in another."""
    if kind_of(source) != "f" or kind_of(target) not in "bu":
        return converted
    if kind_of(target) == "b":
        return truncated_bool
    return truncated_uint64 if target.itemsize == 8 else truncated


# --- launches ---------------------------------------------------------------------------------------------------------------------------


def row_major(shape: Sequence[int]) -> list[int]:
    """Strides in elements."""
    return [math.prod(shape[d + 1 :]) for d in range(len(shape))]


def merged(shape: Sequence[int], offsets: NDArray[Any], modes: Sequence[int]) -> tuple[list[int], NDArray[Any], list[int]]:
    """The same windows with neighbouring axes made one where no window extends."""
    still = [not offsets[:, d].any() for d in range(len(shape))]
    extents: list[int] = []
    keep: list[int] = []
    for d, n in enumerate(shape):
        if d and still[d] and still[d - 1]:
            extents[-1] *= n
        else:
            extents.append(n)
            keep.append(d)
    return extents, offsets[:, keep], [modes[d] for d in keep]


def beyond_edges(dtype: np.dtype[Any], modes: Sequence[int], cval: Any, wide: np.dtype[Any]) -> tuple[np.dtype[Any], Any]:
    """The dtype of elements and of what stands beyond the edges, and that number as it is given: 0.5 in an array of integers too."""
    if CONSTANT not in modes:
        return dtype, dtype.type(0)
    if not _holds(dtype, cval):
        dtype = promotion.result_type(dtype, wide) if kind_of(wide) == "c" else wide
    return dtype, dtype.type(cval)


class Step(NamedTuple):
    """A launch on the device's own queue, which lives as long as the process; it depends on shapes, dtypes and weights alone."""

    launcher: Any
    arguments: tuple[Any, ...]
    arrays: tuple[tuple[int, int], ...]  # places of arguments, and what is there: the array, the result, the weights, a copy
    has_weights: bool  # in the taps, which are the last argument


class Plan(NamedTuple):
    """All launches for an array, a result, and weights where they are an array too."""

    steps: list[Step]
    copies: list[tuple[int, np.dtype[Any]]]

    def start(self, x: Array, out: Array, weights: Array | None) -> None:
        arrays = [_core._reshape(x, [x.size]), _core._reshape(out, [out.size])]
        arrays += [_core._empty([size], dtype, x.queue) for size, dtype in self.copies]
        for launcher, arguments, places, has_weights in self.steps:
            given = list(arguments)
            for place, which in places:
                given[place] = arrays[which]
            if has_weights:
                given[-1] = tuple([weights if a is WEIGHTS else a for a in given[-1]])
            launcher(*given)


WEIGHTS = object()  # in their place
_MOST_PLANS = 64
_plans: dict[Any, Plan] = {}  # by all that launches depend on: to make them anew takes longer than a plane of 2048² on a GPU


def fold_windows(
    x: Array,
    out: Array,
    offsets: NDArray[Any],
    modes: Sequence[int],
    cval: Any,
    wide: np.dtype[Any],
    fold: Callable[..., Any],
    taps: Callable[..., Any],
    told: Any,
    result: np.dtype[Any] | None = None,
    places: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
    weights: Array | None = None,
) -> None:
    """`Windows.fold`, by the launches of an earlier call where there was one; `taps` depends on `told`, on its arguments, and on `weights`.
    `result`: the dtype of what `fold` makes, if not that of the elements; `places`: `starts` and `extents`."""
    own = x.queue == Queue.of(x.queue.device)
    key = (
        x.shape,
        x.dtype,
        out.dtype,
        x.queue.device,
        offsets.shape,
        offsets.tobytes(),
        tuple(modes),
        repr(cval),
        wide,
        fold,
        told,
        places,
    )
    known = _plans.get(key) if own else None
    if known is not None:
        known.start(x, out, weights)
        return
    made = Windows(x, offsets, modes, cval, wide, *(places or ()))
    made.fold(out, fold, taps, result)
    if own:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        _plans[key] = made.plan(weights)


class Windows:
    """The windows of an array: offsets of their elements from each place, and how the array goes on beyond its edges.

    Places are those of `starts` and `extents`, and of the array itself by default. `taps` makes the last argument of a fold: of the offsets
    in memory, which are a tuple or an array, of the first of them, and of the dtype of the elements.
    """

    def __init__(
        self,
        x: Array,
        offsets: NDArray[Any],
        modes: Sequence[int],
        cval: Any,
        wide: np.dtype[Any],
        starts: Sequence[int] | None = None,
        extents: Sequence[int] | None = None,
    ) -> None:
        if starts is None or extents is None:
            self.shape, self.offsets, self.modes = merged(x.shape or (1,), offsets, modes)
            self.starts, self.extents = [0] * len(self.shape), self.shape
        else:
            self.shape, self.offsets, self.modes = list(x.shape), offsets, list(modes)
            self.starts, self.extents = list(starts), list(extents)
        self.x = _core._reshape(x, [x.size])
        self.low, self.high = (np.maximum(side, 0).tolist() for side in (-self.offsets.min(0), self.offsets.max(0)))
        self.edge_dtype, self.cval = beyond_edges(x.dtype, self.modes, cval, wide)
        self.launches: list[tuple[Any, Range, tuple[Any, ...]]] = []
        self.copies: list[Array] = []

    def plan(self, weights: Array | None) -> Plan:
        """What `fold` has launched, for other arrays of the same shapes."""
        numbers = {id(array): n for n, array in enumerate([self.x, self.out, *self.copies])}
        steps = []
        for launched, space, arguments in self.launches:
            places = tuple((k, numbers[id(a)]) for k, a in enumerate(arguments) if id(a) in numbers)
            kept: list[Any] = [None if id(a) in numbers else a for a in arguments]
            has_weights = weights is not None and type(kept[-1]) is tuple and any(a is weights for a in kept[-1])
            if has_weights:
                kept[-1] = tuple(WEIGHTS if a is weights else a for a in kept[-1])
            steps.append(Step(launched[space, self.x.queue], tuple(kept), places, has_weights))
        return Plan(steps, [(copy.size, copy.dtype) for copy in self.copies])

    def fold(self, out: Array, fold: Callable[..., Any], taps: Callable[..., Any], wide: np.dtype[Any] | None = None) -> None:
        """Store in `out`, in row-major order, what `fold` makes of each window; `wide`: the dtype of that, if not that of the elements."""
        free = fold in (weighted, even, odd) and out._kind in "fc"
        self.kernel, self.frames = (freely, frames_freely) if free else (exactly, frames_exactly)
        self.box = _box(self.offsets)
        self.several = fold is weighted and free and self.box is not None and self.box[0] > 1  # rows at a time
        self.out, self.function, self.taps, self.wide = _core._reshape(out, [out.size]), fold, taps, wide
        if out.size == 0:
            return
        starts, extents = list(self.starts), list(self.extents)
        firsts = list(map(max, starts, self.low))
        stops = [min(s + e, n - high) for s, e, n, high in zip(starts, extents, self.shape, self.high, strict=True)]
        kept = [max(0, stop - first) for first, stop in zip(firsts, stops, strict=True)]
        whole = kept[:-2] == self.extents[:-2] == self.shape[:-2]
        framed = self.box and len(self.offsets) <= UNROLLED and one_frame(self.x.device) and whole
        if not framed and (out.size <= SMALL or 2 * math.prod(kept) < out.size):
            self._extended(starts, extents)
            return
        if all(kept):
            self._launch(self.x, self.shape, firsts, firsts, kept)
        if framed:
            self._frame([first - start for first, start in zip(firsts, starts, strict=True)], kept)
            return
        for d in range(len(starts)):
            for start, count in ((starts[d], firsts[d] - starts[d]), (stops[d], starts[d] + extents[d] - stops[d])):
                if count:
                    self._extended([*starts[:d], start, *starts[d + 1 :]], [*extents[:d], count, *extents[d + 1 :]])
            starts[d], extents[d] = firsts[d], kept[d]

    def _frame(self, begin: Sequence[int], kept: Sequence[int]) -> None:
        """What is not inside of planes, by one launch, of windows that are boxes over rows and columns."""
        assert self.box
        (top, left), (rows, columns) = begin[-2:], self.extents[-2:]
        bottom, right = top + kept[-2], left + kept[-1]
        count = rows * columns - kept[-2] * kept[-1]
        if count == 0:
            return
        first = tuple(self.starts[d] + int(self.offsets[0, d]) for d in (-2, -1))
        rules = tuple(continuing(self.modes[d]) for d in (-2, -1))
        size = len(self.offsets)
        self._start(
            self.frames, Range(math.prod(self.extents[:-2]), count),
            self.function, storing(self.wide or self.edge_dtype, self.out.dtype), rules, size, self.box[1], self.x, tuple(self.shape[-2:]),
            first, self.cval, self.out, (rows, columns), (top, bottom, left, right), self.taps(tuple(range(size)), 0, self.edge_dtype),
        )  # fmt: skip

    def _start(self, kernel: Any, space: Range, *arguments: Any) -> None:
        kernel[space, self.x.queue](*arguments)
        self.launches.append((kernel, space, arguments))

    def _extended(self, starts: Sequence[int], extents: Sequence[int]) -> None:
        """The results of a part, by way of a copy of its elements and of those around."""
        shape = [n + a + b for n, a, b in zip(extents, self.low, self.high, strict=True)]
        copy = _core._empty([math.prod(shape)], self.edge_dtype, self.x.queue)
        self.copies.append(copy)
        firsts = [s - a for s, a in zip(starts, self.low, strict=True)]
        axes = [(1, 1, 0, 0, NEAREST)] * (2 - len(shape))
        axes += zip(shape, self.shape, row_major(self.shape), firsts, self.modes, strict=True)
        space = Range(math.prod(shape[:-2]), axes[-2][0], axes[-1][0])
        self._start(extend_edges, space, self.x, tuple(axes[::-1]), self.cval, copy)
        self._launch(copy, shape, self.low, starts, extents)

    def _launch(self, x: Array, shape: Sequence[int], x_starts: Sequence[int], out_starts: Sequence[int], extents: Sequence[int]) -> None:
        """The results of a part whose windows lie in `x`."""
        x_strides, out_strides = row_major(shape), row_major(self.extents)
        flat = self.offsets @ np.asarray(x_strides, np.int64)
        lowest = int(flat.min())
        flat -= lowest
        starts: tuple[int, ...] = (_dot(x_starts, x_strides) + lowest, _dot(map(int.__sub__, out_starts, self.starts), out_strides))
        axes = list(zip(extents, x_strides, out_strides, strict=True))
        rows = self._rows_of(extents)
        if rows:
            axes[-2] = (rows, *axes[-2][1:])
            self._run(filter_rows, x, starts, axes, flat, rows // ROWS)
            starts = tuple(start + rows * stride for start, stride in zip(starts, axes[-2][1:], strict=True))
            axes[-2] = (extents[-2] - rows, *axes[-2][1:])
        if all(axis[0] for axis in axes):
            self._run(self.kernel, x, starts, _coalesced(axes), flat)

    def _rows_of(self, extents: Sequence[int]) -> int:
        """How many rows are computed several at a time: those of large parts, of sums by boxes that extend over rows and columns."""
        if not self.several or math.prod(extents) <= SMALL or extents[-2] < ROWS or extents[-1] < COLUMNS:
            return 0
        return extents[-2] // ROWS * ROWS

    def _run(self, kernel: Any, x: Array, starts: Any, axes: list[Any], flat: NDArray[Any], blocks: int = 0) -> None:
        """One launch, over an outer index, rows or blocks of rows, and columns."""
        axes = [(1, 0, 0)] * (3 - len(axes)) + axes
        outer, lead = axes[0] if len(axes) > 2 else (1, 0, 0), tuple(axes[-3:0:-1])
        space = Range(math.prod(axis[0] for axis in axes[:-2]), blocks or axes[-2][0], axes[-1][0])
        x_at, out_at = ((starts[k], outer[1 + k], axes[-2][1 + k]) for k in range(2))
        store = storing(self.wide or x.dtype, self.out.dtype)
        fold = self.function
        offsets: Any = tuple(flat.tolist()) if len(flat) <= UNROLLED else len(flat)
        if blocks and self.box:
            height, width = self.box
            if width == 1 and height >= 2 * ROWS:
                fold, offsets = stencils.columns_of(ROWS), height
            else:
                fold, offsets = stencils.rows_of(height, width, ROWS), offsets[:width]
        elif type(offsets) is int:
            offsets = to_queue(flat, x.queue)
        taps = self.taps(offsets, int(flat[0]), x.dtype)
        self._start(kernel, space, fold, store, x, tuple(x_at), self.out, tuple(out_at), lead, taps)


def one_frame(device: Device) -> bool:
    """Whether the edges of planes are one launch, which looks up each element, and not copies and launches for each side: where these cost
    more than that."""
    return device.type == "gpu"


def _coalesced(axes: list[Any]) -> list[Any]:
    """The same places by fewer axes; the last one of neighbours."""
    made: list[Any] = []
    for axis in axes:
        if made and made[-1][1:] == (axis[0] * axis[1], axis[0] * axis[2]):
            made[-1] = (made[-1][0] * axis[0], *axis[1:])
        elif axis[0] != 1:
            made.append(axis)
    if not made or made[-1][1:] != (1, 1):
        made.append((1, 1, 1))
    return made


def _box(offsets: NDArray[Any]) -> tuple[int, int] | None:
    """The extents of windows that are boxes over the last two axes, of few elements or of one column."""
    count, axes = offsets.shape
    if axes < 2 or count < 2 or offsets[:, :-2].any():
        return None
    height, width = (np.ptp(offsets[:, d]).item() + 1 for d in (-2, -1))
    if count > UNROLLED and width > 1:
        return None
    whole = np.indices((height, width)).reshape(2, -1).T + offsets[0, -2:]
    return (height, width) if np.array_equal(whole, offsets[:, -2:]) else None


def _dot(a: Iterable[int], b: Iterable[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether an array of this dtype can hold the number as it is; floats may round it."""
    if kind_of(dtype) in "fc":
        return kind_of(dtype) == "c" or dtype.itemsize > 2
    if kind_of(dtype) == "b":
        return value in (0, 1)
    info = np.iinfo(dtype)
    return bool(value == value and info.min <= value <= info.max and int(value) == value)


__all__ = ["Windows"]
