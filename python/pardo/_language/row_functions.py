# python/pardo/_language/row_functions.py: NumPy's functions of small arrays as kernels and loops run them, in the kernel language.
"""What these need is memory of the item's own; errors are told where the user calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# ---- arrays of values


def of_numbers(values: Any, dtype: Any = None) -> Any:
    like = values[0]
    for v in values:
        like = like * 0 + v * 0
    if dtype is None:
        out = np.full(len(values), like)
    else:
        out = np.zeros(len(values), dtype)
    for k, v in enumerate(values):
        out[k] = v
    return out


def of_rows(values: Any, dtype: Any = None) -> Any:
    like = values[0][0]
    for row in values:
        for v in row:
            like = like * 0 + v * 0
    if dtype is None:
        out = np.full((len(values), len(values[0])), like)
    else:
        out = np.zeros((len(values), len(values[0])), dtype)
    for k, row in enumerate(values):
        for j, v in enumerate(row):
            out[k, j] = v
    return out


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    if stop is None:
        return arange_between(0, start, step, dtype)
    return arange_between(start, stop, step, dtype)


def arange_between(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    n = int(np.ceil((stop - start) / step))
    n = max(n, 0)
    if dtype is None:
        out = np.full(n, start + step)
    else:
        out = np.zeros(n, dtype)
    for k in range(n):
        out[k] = start + k * step
    return out


def linspace(start: Any, stop: Any, num: Any = 50) -> Any:
    out = np.zeros(num)
    step = (stop - start) / max(num - 1, 1)
    for k in range(num):
        out[k] = start + k * step
    if num > 1:
        out[num - 1] = stop
    return out


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = np.float64) -> Any:
    if M is None:
        return eye_of(N, N, k, dtype)
    return eye_of(N, M, k, dtype)


def eye_of(n: Any, m: Any, k: Any, dtype: Any) -> Any:
    out = np.zeros((n, m), dtype)
    for i in range(n):
        if 0 <= i + k < m:
            out[i, i + k] = 1
    return out


def identity(n: Any, dtype: Any = np.float64) -> Any:
    return eye_of(n, n, 0, dtype)


def diag(v: Any) -> Any:
    if v.ndim == 1:
        out = np.zeros((v.shape[0], v.shape[0]), v.dtype)
        for i in range(v.shape[0]):
            out[i, i] = v[i]
        return out
    n = min(v.shape[0], v.shape[1])
    out = np.zeros(n, v.dtype)
    for i in range(n):
        out[i] = v[i, i]
    return out


def trace(a: Any) -> Any:
    total = a[:0, 0].sum()
    for i in range(min(a.shape[0], a.shape[1])):
        total += a[i, i]
    return total


# ---- the same elements in other places


def flip(m: Any, axis: Any = None) -> Any:
    if axis is None:
        if m.ndim == 1:
            return m[::-1]
        if m.ndim == 2:
            return m[::-1, ::-1]
        return m[::-1, ::-1, ::-1]
    if axis == 0 or axis == -m.ndim:
        return m[::-1]
    if axis == 1 or axis == 1 - m.ndim:
        return m[:, ::-1]
    return m[:, :, ::-1]


def fliplr(m: Any) -> Any:
    return m[:, ::-1]


def flipud(m: Any) -> Any:
    return m[::-1]


def roll(a: Any, shift: Any) -> Any:
    n = a.shape[0]
    out = np.empty(n, a.dtype)
    for k in range(n):
        out[(k + shift) % n] = a[k]
    return out


def repeat(a: Any, repeats: Any) -> Any:
    out = np.empty(a.shape[0] * repeats, a.dtype)
    for k in range(a.shape[0] * repeats):
        out[k] = a[k // repeats]
    return out


def hstack(tup: Any) -> Any:
    if tup[0].ndim == 1:
        return joined_rows(tup)
    return joined_columns(tup)


def vstack(tup: Any) -> Any:
    if tup[0].ndim == 1:
        out = np.empty((len(tup), tup[0].shape[0]), common(tup).dtype)
        for k, part in enumerate(tup):
            out[k] = part
        return out
    return joined_rows(tup)


def concatenate(arrays: Any, axis: Any = 0) -> Any:
    if axis == 0 or axis == -arrays[0].ndim:
        return joined_rows(arrays)
    return joined_columns(arrays)


def common(arrays: Any) -> Any:
    """A zero of the dtype that holds the elements of all."""
    zero = arrays[0].dtype.type(0)
    for part in arrays:
        if part.dtype != zero.dtype:
            zero = zero + part.dtype.type(0)
    return zero


def joined_rows(arrays: Any) -> Any:
    n = 0
    for part in arrays:
        n += part.shape[0]
    if arrays[0].ndim == 1:
        out = np.empty(n, common(arrays).dtype)
    else:
        out = np.empty((n, arrays[0].shape[1]), common(arrays).dtype)
    at = 0
    for part in arrays:
        out[at : at + part.shape[0]] = part
        at += part.shape[0]
    return out


def joined_columns(arrays: Any) -> Any:
    n = 0
    for part in arrays:
        n += part.shape[1]
    out = np.empty((arrays[0].shape[0], n), common(arrays).dtype)
    at = 0
    for part in arrays:
        out[:, at : at + part.shape[1]] = part
        at += part.shape[1]
    return out


# ---- sums along the way


def cumsum(a: Any) -> Any:
    total = a[:0].sum()
    out = np.full(a.shape[0], total)
    for k in range(a.shape[0]):
        total += a[k]
        out[k] = total
    return out


def cumprod(a: Any) -> Any:
    total = a[:0].prod()
    out = np.full(a.shape[0], total)
    for k in range(a.shape[0]):
        total *= a[k]
        out[k] = total
    return out


def diff(a: Any) -> Any:
    return a[..., 1:] - a[..., :-1]


def ediff1d(ary: Any) -> Any:
    n = max(ary.shape[0] - 1, 0)
    out = np.empty(n, ary.dtype)
    for k in range(n):
        out[k] = ary[k + 1] - ary[k]
    return out


def cross(a: Any, b: Any) -> Any:
    out = np.full(3, a[0] * b[0])
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


# ---- order


def is_behind(a: Any, b: Any) -> Any:
    """Whether a comes after b: NaN after all else."""
    return b < a or (a != a and b == b)


def itself(_: Any, v: Any) -> Any:
    return v


def element(x: Any, k: Any) -> Any:
    return x[k]


def merge_sort(line: Any, key: Any, x: Any) -> None:
    """Merges of neighbours, in place, by ``key(x, v)`` of each value of the line; equal ones stay in their order."""
    n = line.shape[0]
    other = np.empty_like(line)
    width = 1
    while width < n:
        low = 0
        while low < n:
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                left = j >= high
                if not left and i < middle:
                    left = not is_behind(key(x, line[i]), key(x, line[j]))
                if left:
                    other[k] = line[i]
                    i += 1
                else:
                    other[k] = line[j]
                    j += 1
            low += 2 * width
        for k in range(n):
            line[k] = other[k]
        width *= 2


def sort_line(x: Any) -> None:
    merge_sort(x, itself, x)


def sort_in_place(a: Any, axis: Any = -1, kind: Any = None) -> None:
    if axis != -1 and axis != a.ndim - 1:
        raise ValueError("sort: the last axis is sorted")
    if a.ndim == 1:
        sort_line(a)
    else:
        for i in range(a.shape[0]):
            sort_line(a[i])


def sort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    out = a.copy()
    sort_in_place(out, axis)
    return out


def argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis != -1 and axis != 0:
        raise ValueError("argsort: one dimension is sorted")
    places = np.empty(a.shape[0], np.int64)
    for k in range(a.shape[0]):
        places[k] = k
    merge_sort(places, element, a)
    return places


def median(a: Any) -> Any:
    s = a.copy()
    sort_line(s)
    n = s.shape[0]
    if n == 0:
        raise ValueError("median of an empty array")
    middle, last = s[n // 2] * 1.0, s[n - 1] * 1.0
    if n % 2 == 0:
        middle = (s[n // 2 - 1] * 1.0 + middle) * 0.5
    if last != last:
        middle = last
    return middle


def searchsorted(a: Any, v: Any) -> Any:
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if is_behind(v, a[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def interp(x: Any, xp: Any, fp: Any) -> Any:
    if x != x:
        return x + fp[0] * 1.0
    n = xp.shape[0]
    k = searchsorted(xp, x)
    if k == 0:
        return fp[0] * 1.0
    if k == n:
        return fp[n - 1] * 1.0
    share = (x - xp[k - 1]) / (xp[k] - xp[k - 1])
    return fp[k - 1] + (fp[k] - fp[k - 1]) * share


# ---- linear algebra


def size_of(v: Any) -> Any:
    """As LAPACK compares pivots: of complex numbers without a root."""
    return abs(v.real) + abs(v.imag)


def pivot_of(m: Any, k: Any) -> Any:
    """The row of the largest element of a column, from the diagonal on."""
    pivot = k
    for i in range(k + 1, m.shape[0]):
        if size_of(m[i, k]) > size_of(m[pivot, k]):
            pivot = i
    return pivot


def solve(a: Any, b: Any) -> Any:
    """Gauss's elimination with the largest pivot of each column."""
    n = a.shape[0]
    if a.shape[1] != n or b.shape[0] != n:
        raise ValueError("solve: a square matrix and as many rows on the right are expected")
    m = a * 1.0
    x = (b * 1.0) * m.dtype.type(1)
    for k in range(n):
        pivot = pivot_of(m, k)
        if size_of(m[pivot, k]) == 0:
            raise np.linalg.LinAlgError("Singular matrix")
        exchange(m, k, pivot)
        exchange(x, k, pivot)
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k]
            for j in range(k + 1, n):
                m[i, j] -= factor * m[k, j]
            x[i] -= factor * x[k]
    for step in range(n):
        k = n - 1 - step
        for j in range(k + 1, n):
            x[k] -= m[k, j] * x[j]
        x[k] /= m[k, k]
    return x


def exchange(x: Any, i: Any, j: Any) -> None:
    """Two elements, or two rows."""
    if x.ndim == 1:
        first = x[i]
        x[i] = x[j]
        x[j] = first
    else:
        for k in range(x.shape[1]):
            one = x[i, k]
            x[i, k] = x[j, k]
            x[j, k] = one


def inv(a: Any) -> Any:
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    right = np.zeros_like(a)
    for i in range(a.shape[0]):
        right[i, i] = 1
    return solve(a, right)


def det(a: Any) -> Any:
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    m = a * 1.0
    product = m.dtype.type(1)
    for k in range(n):
        pivot = pivot_of(m, k)
        if pivot != k:
            exchange(m, k, pivot)
            product = -product
        product *= m[k, k]
        if size_of(m[k, k]) > 0:
            for i in range(k + 1, n):
                factor = m[i, k] / m[k, k]
                for j in range(k + 1, n):
                    m[i, j] -= factor * m[k, j]
    return product


FUNCTIONS: list[tuple[Any, Callable[..., Any]]] = [
    (np.arange, arange),
    (np.linspace, linspace),
    (np.eye, eye),
    (np.identity, identity),
    (np.diag, diag),
    (np.trace, trace),
    (np.flip, flip),
    (np.fliplr, fliplr),
    (np.flipud, flipud),
    (np.roll, roll),
    (np.repeat, repeat),
    (np.hstack, hstack),
    (np.vstack, vstack),
    (np.concatenate, concatenate),
    (np.cumsum, cumsum),
    (np.cumprod, cumprod),
    (np.diff, diff),
    (np.ediff1d, ediff1d),
    (np.cross, cross),
    (np.sort, sort),
    (np.argsort, argsort),
    (np.median, median),
    (np.searchsorted, searchsorted),
    (np.interp, interp),
    (np.linalg.solve, solve),
    (np.linalg.inv, inv),
    (np.linalg.det, det),
]
METHODS: dict[str, Callable[..., Any]] = {
    "sort": sort_in_place,
    "argsort": argsort,
    "cumsum": cumsum,
    "cumprod": cumprod,
    "trace": trace,
    "repeat": repeat,
    "searchsorted": searchsorted,
    "diagonal": diag,
}
VALUES: list[Callable[..., Any]] = [of_numbers, of_rows]
