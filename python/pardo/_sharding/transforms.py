# python/pardo/_sharding/transforms.py: Fourier, cosine and sine transforms of split arrays, along any axis.
"""A transform along axes that are not split is one of each part. Along the split axis the rows are split in its place, transformed, and
split as before: the result is split along the same axis, and in the same shares. A row that has no other axis is transformed in four
steps: it is a matrix of n1 times n2 elements, whose columns and rows are transformed, with a factor for each element between; for lengths
that are prime, or have no factor near their root, by a convolution of a length that has.

References: D. H. Bailey, "FFTs in external or hierarchical memory", Journal of Supercomputing 4, 1990; L. I. Bluestein, "A linear
filtering approach to the computation of discrete Fourier transform", IEEE Transactions on Audio and Electroacoustics 18, 1970.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.ranges import arange
from pardo._base.arguments import axis_index
from pardo._core import Array
from pardo._fft import transforms as _fft
from pardo._sharding.array import ShardedArray, replicated, sharded
from pardo._sharding.functions import implements
from pardo._sharding.gather import take
from pardo._sharding.layout import Layout
from pardo._sharding.moves import cut, joined
from pardo._sharding.moving import Parts, across, resplit, same_everywhere, shares, whole

SMALL = 1 << 12  # rows up to this length are transformed on each part
LONGEST = 256  # how many times longer one side of the matrix of a row may be than the other
Routine = Callable[..., Array]


def _local(x: ShardedArray, routine: Callable[[Array], Array], axis: int) -> ShardedArray:
    """A transform of each part along an axis that is not split."""
    found = {p: routine(v) for p, v in x._parts.items()}
    if x.layout.axis is None:
        return replicated(x.group, same_everywhere(x.group, found))
    n = found[x.group.owned[0]].shape[axis]
    return sharded(x.group, x.layout.with_shape((*x.shape[:axis], n, *x.shape[axis + 1 :])), found)


def _along(x: ShardedArray, axis: int, name: str, n: int | None, norm: Any, keywords: dict[str, Any]) -> ShardedArray:
    """A transform along one axis."""
    routine = getattr(_fft, name)
    if x.layout.axis != axis:
        return _local(x, lambda v: routine(v, n=n, axis=axis, norm=norm, **keywords), axis)
    if x.ndim == 1:
        return _row(x, name, n, norm, keywords)
    length = _length(x.shape[axis], name, n)
    return across(x, lambda v: routine(v, n=n, axis=0, norm=norm, **keywords), length)


def _length(given: int, name: str, n: int | None) -> int:
    """How long the result is."""
    if name in ("rfft", "ihfft"):
        return (given if n is None else n) // 2 + 1
    if name in ("irfft", "hfft"):
        return 2 * (given - 1) if n is None else n
    return given if n is None else n


# --- a row that has no other axis


def _row(x: ShardedArray, name: str, n: int | None, norm: Any, keywords: dict[str, Any]) -> ShardedArray:
    routine = getattr(_fft, name)
    m = x.shape[0]
    length = _length(m, name, n)
    if max(m, length) <= SMALL or m < 1 or length < 1 or (n is not None and n < 1):
        ends = shares(x.layout, max(0, length))
        done = same_everywhere(x.group, {p: routine(v, n=n, norm=norm, **keywords) for p, v in whole(x).items()})
        layout = Layout((length,), 0, ends, x.layout.devices)
        return sharded(x.group, layout, {p: cut(v, 0, ends[p], ends[p + 1]) for p, v in done.items()})
    if name not in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        raise TypeError(
            f"fft.{name}: a split array of one dimension has no other axis to be split along; gather it first: fft.{name}(s.to_device(d))"
        )
    routine(_core._full([2], 0, x.dtype, x.group.queue(x.group.owned[0])), norm=norm)  # its checks of dtype and norm
    inverse = name in ("ifft", "irfft", "ihfft")
    size = length if name in ("irfft", "hfft") else m if n is None else n
    y = _complex(x)
    if name in ("irfft", "hfft"):
        y = _hermitian(_resized(y, size // 2 + 1), size)
    else:
        y = _resized(y, size)
    z = _transformed(y, inverse)
    if name in ("irfft", "hfft"):
        z = _mapped(z, _core.real)
    elif name in ("rfft", "ihfft"):
        z = _resized(z, length)
    scale = _scale(size, norm, inverse)
    ends = shares(x.layout, length)
    z = resplit(z, 0, ends)
    return z if scale == 1 else _mapped(z, lambda v: v * scale)


def _scale(n: int, norm: Any, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if inverse == (norm in (None, "backward")) else 1.0


def _mapped(x: ShardedArray, f: Callable[[Array], Array]) -> ShardedArray:
    return sharded(x.group, x.layout, {p: f(v) for p, v in x._parts.items()})


def _complex(x: ShardedArray) -> ShardedArray:
    kind = _fft.fft(_core._full([1], 0, x.dtype, x.group.queue(x.group.owned[0]))).dtype
    return _mapped(x, lambda v: v._astype(kind, False))


def _resized(x: ShardedArray, n: int) -> ShardedArray:
    """A row cut off, or with zeros at its end."""
    m = x.shape[0]
    if n == m:
        return x
    group, bounds = x.group, x.layout.bounds
    ends = (*(min(bound, n) for bound in bounds[:-1]), n)
    parts = {}
    for p, v in x._parts.items():
        keep = max(0, min(bounds[p + 1], n) - min(bounds[p], n))
        v = cut(v, 0, 0, keep)
        missing = ends[p + 1] - ends[p] - keep
        parts[p] = joined([v, _core._full([missing], 0, v.dtype, v.queue)], 0) if missing else v
    return resplit(sharded(group, Layout((n,), 0, ends, x.layout.devices), parts), 0, shares(x.layout, n))


def _hermitian(x: ShardedArray, n: int) -> ShardedArray:
    """All n elements of a row whose elements are conjugate to those at the other end, from the first n // 2 + 1."""
    ends = shares(x.layout, n)
    half = n // 2 + 1
    group = x.group
    places, turned = {}, {}
    for p in group.owned:
        i = arange(ends[p], ends[p + 1], dtype=np.int64, queue=group.queue(p))
        turned[p] = i >= half
        places[p] = _core._where(turned[p], n - i, i)
    index = sharded(group, Layout((n,), 0, ends, x.layout.devices), places)
    full = take(x, index, axis=0)
    parts = {p: _core._where(turned[p], v.conj(), v) for p, v in full._parts.items()}
    middle = n // 2 if n % 2 == 0 else -1
    for p, v in parts.items():  # what is to be real
        for k in (0, middle):
            if ends[p] <= k < ends[p + 1]:
                i = arange(ends[p], ends[p + 1], dtype=np.int64, queue=v.queue)
                v = _core._where(i == k, _core.real(v), v)._astype(v.dtype, False)
        parts[p] = v
    return sharded(group, full.layout, parts)


def _factors(n: int) -> tuple[int, int] | None:
    """Two factors near the root of a number; None where one is more than LONGEST times the other."""
    for first in range(math.isqrt(n), 0, -1):
        if n // first > LONGEST * first:
            return None
        if n % first == 0:
            return first, n // first
    return None


def _transformed(x: ShardedArray, inverse: bool) -> ShardedArray:
    """The sums of a row times roots of unity, without a factor."""
    n = x.shape[0]
    found = _factors(n)
    return _by_convolution(x, inverse) if found is None else _in_four_steps(x, *found, inverse)


def _turn(products: Array, n: int, sign: int, dtype: Any) -> Array:
    """Roots of unity of order n, with integers from 0 to n - 1 as exponents."""
    double = np.dtype(np.float64) if dtype == np.complex128 or products.queue.device.has_fp64 else np.dtype(np.float32)
    angle = products._astype(double, False) * (sign * 2 * math.pi / n)
    one = np.complex128(1j) if double == np.float64 else np.complex64(1j)
    return (_core.cos(angle) + one * _core.sin(angle))._astype(dtype, False)


def _in_four_steps(x: ShardedArray, n1: int, n2: int, inverse: bool) -> ShardedArray:
    """By transforms of the columns of the row as a matrix, factors, transforms of the rows, and the transpose."""
    group, devices = x.group, x.layout.devices
    n, sign = n1 * n2, 1 if inverse else -1
    routine = _fft.ifft if inverse else _fft.fft
    rows = shares(x.layout, n1)
    lines = resplit(x, 0, tuple(bound * n2 for bound in rows))
    table = Layout((n1, n2), 0, rows, devices)
    matrix = sharded(group, table, {p: v.reshape(table.local_shape(p)) for p, v in lines._parts.items()})
    columns = shares(x.layout, n2)
    by_column = resplit(matrix, 1, columns)
    turned: Parts = {}
    for p, v in by_column._parts.items():
        first, last = columns[p], columns[p + 1]
        if last == first:
            turned[p] = v
            continue
        w = routine(v, axis=0, norm="forward" if inverse else "backward")
        k1 = arange(0, n1, dtype=np.int64, queue=v.queue)[:, None]
        j2 = arange(first, last, dtype=np.int64, queue=v.queue)[None, :]
        turned[p] = w * _turn((k1 * j2) % n, n, sign, x.dtype)
    back = resplit(sharded(group, by_column.layout, turned), 0, rows)
    done = {p: routine(v, axis=1, norm="forward" if inverse else "backward") if v.shape[0] else v for p, v in back._parts.items()}
    by_result = resplit(sharded(group, back.layout, done), 1, columns)  # element k1 + n1 k2 is in column k2
    parts = {p: _core._permute_dims(v, [1, 0]).reshape(-1) for p, v in by_result._parts.items()}
    return sharded(group, Layout((n,), 0, tuple(bound * n1 for bound in columns), devices), parts)


def _by_convolution(x: ShardedArray, inverse: bool) -> ShardedArray:
    """By a convolution with a chirp, of a length that is a power of two."""
    n, group = x.shape[0], x.group
    sign = 1 if inverse else -1
    m = 1 << (2 * n - 2).bit_length()

    def chirp(ends: Sequence[int], conjugate: bool) -> Parts:
        made = {}
        for p in group.owned:
            i = arange(ends[p], ends[p + 1], dtype=np.int64, queue=group.queue(p))
            i = _core.minimum(i, m - i) if conjugate else i
            turns = _turn(_squares(i, 2 * n), 2 * n, -sign if conjugate else sign, x.dtype)
            made[p] = _core._where(i < n, turns, 0)._astype(x.dtype, False) if conjugate else turns
        return made

    own = chirp(x.layout.bounds, False)
    start = _resized(sharded(group, x.layout, {p: v * own[p] for p, v in x._parts.items()}), m)
    ends = start.layout.bounds
    other = sharded(group, start.layout, chirp(ends, True))
    first, second = _transformed(start, False), _transformed(other, False)
    second = resplit(second, 0, first.layout.bounds)
    product = sharded(group, first.layout, {p: v * second._parts[p] for p, v in first._parts.items()})
    full = resplit(_resized(_transformed(product, True), n), 0, x.layout.bounds)
    return sharded(group, full.layout, {p: v * own[p] * (1 / m) for p, v in full._parts.items()})


def _squares(i: Array, n: int) -> Array:
    """Squares modulo n, without an overflow: of two halves."""
    if n < 1 << 31:
        return (i * i) % n
    half = 1 << 20
    high, low = i // half, i % half
    return (((high * i) % n * half) % n + (low * i) % n) % n


# --- functions


def _one(name: str) -> Callable[..., Any]:
    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        if out is not None or not isinstance(a, ShardedArray):
            return NotImplemented
        along = axis_index(axis, a.ndim, name)
        return _along(a, along, name, None if n is None else operator.index(n), norm, {})

    return transform


def _cosine(name: str) -> Callable[..., Any]:
    def transform(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, *, orthogonalize: Any = None) -> Any:
        if not isinstance(x, ShardedArray):
            return NotImplemented
        along = axis_index(axis, x.ndim, name)
        return _along(x, along, name, None if n is None else operator.index(n), norm, {"type": type, "orthogonalize": orthogonalize})

    return transform


def _axes(name: str, a: ShardedArray, s: Any, axes: Any) -> tuple[list[int], list[int | None]]:
    """The axes of a transform of several, and their lengths."""
    lengths = None if s is None else [operator.index(v) for v in (s if np.ndim(s) else [s])]
    if axes is None:
        chosen = list(range(a.ndim)) if lengths is None else list(range(a.ndim - len(lengths), a.ndim))
    else:
        chosen = [axis_index(operator.index(v), a.ndim, name) for v in (axes if np.ndim(axes) else [axes])]
    if lengths is not None and len(lengths) != len(chosen):
        raise ValueError(f"{name}: s has {len(lengths)} lengths for {len(chosen)} axes")
    return chosen, [None] * len(chosen) if lengths is None else [None if v == -1 else v for v in lengths]


def _several(name: str, a: ShardedArray, s: Any, axes: Any, norm: Any, keywords: dict[str, Any]) -> ShardedArray:
    """A transform along several axes, one after the other; those of real numbers begin, or end, with the last one."""
    chosen, lengths = _axes(name, a, s, axes)
    base = name.rstrip("n2")
    if a.layout.axis is None or a.layout.axis not in chosen:
        return _locally(name, a, chosen, lengths, norm, keywords)
    real = base in ("rfft", "irfft")
    one = {"rfft": "fft", "irfft": "ifft"}.get(base, base)
    steps = list(zip(chosen, lengths, strict=True))
    last = steps.pop() if real else None
    x = a
    if base == "rfft" and last is not None:
        x = _along(x, last[0], base, last[1], norm, {})
    here = [step for step in steps if step[0] != a.layout.axis]
    if len(here) == len(steps) - 1:  # all others at once
        if here:
            x = _locally(f"{one}n", x, [axis for axis, _ in here], [n for _, n in here], norm, keywords)
        steps = [step for step in steps if step[0] == a.layout.axis]
    elif len(here) == len(steps) and here:
        x, steps = _locally(f"{one}n", x, [axis for axis, _ in here], [n for _, n in here], norm, keywords), []
    for axis, n in steps:
        x = _along(x, axis, one, n, norm, keywords)
    if base == "irfft" and last is not None:
        x = _along(x, last[0], base, last[1], norm, {})
    return x


def _locally(
    name: str, x: ShardedArray, axes: Sequence[int], lengths: Sequence[int | None], norm: Any, keywords: dict[str, Any]
) -> ShardedArray:
    """A transform of each part along several axes, none of which is split."""
    routine = getattr(_fft, name)
    s = None if all(n is None for n in lengths) else [x.shape[a] if n is None else n for a, n in zip(axes, lengths, strict=True)]
    if s is not None and name.startswith("irfft") and lengths[-1] is None:
        s[-1] = 2 * (x.shape[axes[-1]] - 1)
    found = {p: routine(v, s=s, axes=list(axes), norm=norm, **keywords) for p, v in x._parts.items()}
    if x.layout.axis is None:
        return replicated(x.group, same_everywhere(x.group, found))
    shape = list(found[x.group.owned[0]].shape)
    shape[x.layout.axis] = x.shape[x.layout.axis]
    return sharded(x.group, x.layout.with_shape(tuple(shape)), found)


def _many(name: str) -> Callable[..., Any]:
    usual: Any = (-2, -1) if name.endswith("2") else None

    def transform(a: Any, s: Any = None, axes: Any = usual, norm: Any = None, out: Any = None) -> Any:
        if out is not None or not isinstance(a, ShardedArray):
            return NotImplemented
        return _several(name, a, s, axes, norm, {})

    return transform


def _many_cosines(name: str) -> Callable[..., Any]:
    def transform(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, *, orthogonalize: Any = None) -> Any:
        if not isinstance(x, ShardedArray):
            return NotImplemented
        return _several(name, x, s, axes, norm, {"type": type, "orthogonalize": orthogonalize})

    return transform


_SPLITS = "other axes part by part; along the split axis by two all-to-all exchanges; a row in four steps; split as before"
for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    implements(f"fft.{_name}", splits=_SPLITS)(_one(_name))
for _name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
    implements(f"fft.{_name}", splits=_SPLITS)(_many(_name))
for _name in ("dct", "idct", "dst", "idst"):
    implements(f"fft.{_name}", splits="as fft, but for long rows that have no other axis")(_cosine(_name))
for _name in ("dctn", "idctn", "dstn", "idstn"):
    implements(f"fft.{_name}", splits="as fft, but for long rows that have no other axis")(_many_cosines(_name))
