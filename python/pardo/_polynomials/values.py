# python/pardo/_polynomials/values.py: values of series at points, matrices of values, series through points.
from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import fetched
from pardo._base import promotion
from pardo._base.arguments import SCALARS, default_on, default_queue, integer
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._functions.operands import cast, to_queue
from pardo._matrices.solving import lstsq
from pardo._polynomials.coefficients import common, floating, given
from pardo._polynomials.families import Family


def evaluated(f: Family, x: Any, c: Array) -> Any:
    """Clenshaw's algorithm along the first axis of `c`; `x` is an array, a number, or a series of polynomials."""
    n = c.shape[0]
    factors: dict[tuple[float, float], Any] = {}

    def factor(a: float, b: float) -> Any:
        if (a, b) not in factors:
            factors[a, b] = x if (a, b) == (1, 0) else a * x + b if b else a * x
        return factors[a, b]

    c0, c1 = (c[n - 2], c[n - 1]) if n > 1 else (c[0], 0)
    for k in range(n - 2, 0, -1):
        a, b, g = f.step(k)
        c0, c1 = c[k - 1] - c1 * g if g else c[k - 1], c0 + c1 * factor(a, b)
    a, b, _ = f.step(0)
    return c0 + c1 * factor(a, b)


def _points(x: Any) -> bool:
    return type(x) is Array or isinstance(x, (list, tuple, np.ndarray)) or _core._is_host_data(x)


def values(f: Family, x: Any, c: Any, tensor: bool, op_name: str) -> Array:
    c, x = _placed(x, c, op_name)
    if type(x) is Array:
        if tensor:
            c = _core._reshape(c, [*c.shape, *[1] * x.ndim])
        x = cast(x, default_on(c.queue, promotion.result_type(x.dtype, c.dtype)))  # before it is multiplied by numbers
    result: Array = evaluated(f, x, c)
    return result


def _placed(x: Any, c: Any, op_name: str) -> tuple[Array, Any]:
    """Floating coefficients, with one axis at least, and points; numbers stay numbers."""
    if isinstance(x, SCALARS) or not _points(x):
        (c,) = given([c], op_name)
    else:
        c, x = given([c, x], op_name)
    if c.ndim == 0:
        c = _core._reshape(c, [1])
    if c.shape[0] == 0:
        raise IndexError(f"{op_name}: there are no coefficients: shape {c.shape}")
    return floating(c), x


def values_from_roots(x: Any, r: Any, tensor: bool, op_name: str) -> Array:
    if isinstance(x, SCALARS):
        (r,) = given([r], op_name)
    else:
        r, x = given([r, x], op_name)
    r = floating(_core._reshape(r, [1]) if r.ndim == 0 else r)
    if type(x) is Array:
        if tensor:
            r = _core._reshape(r, [*r.shape, *[1] * x.ndim])
        elif x.ndim >= r.ndim:
            raise ValueError(f"{op_name}: x.ndim must be < r.ndim when tensor == False, got {x.ndim} and {r.ndim}")
    differences = x - r
    return _core._reduce(_core._PROD, differences, [0], False, differences.dtype)


def values_at(f: Family, c: Any, points: Sequence[Any], op_name: str) -> Array:
    """Points of several dimensions, of one shape."""
    c, *points = given([c, *points], op_name)
    if any(x.shape != points[0].shape for x in points):
        names = ", ".join("xyz"[: len(points)]) if op_name.endswith(("2d", "3d")) else "ordinates"
        raise ValueError(f"{op_name}: {names} are incompatible: they have shapes {', '.join(str(x.shape) for x in points)}")
    made: Array = c
    for i, x in enumerate(points):
        made = values(f, x, made, i == 0, op_name)
    return made


def coordinates(pts: Any, op_name: str) -> list[Any]:
    """Those of points in any number of dimensions: the items of a sequence, or the rows of an array."""
    if isinstance(pts, (str, bytes)) or not (hasattr(pts, "__iter__") or hasattr(pts, "__getitem__")) or getattr(pts, "ndim", 1) == 0:
        raise TypeError(f"{op_name}: pts must be a sequence of arrays, one for each dimension, not {type(pts).__name__}")
    found = list(pts)
    if not found:
        raise ValueError(f"{op_name}: pts is empty; it needs the coordinates of one dimension at least")
    return found


def values_on_grid(f: Family, c: Any, points: Sequence[Any], op_name: str) -> Array:
    c, *points = given([c, *points], op_name)
    made: Array = functools.reduce(lambda partial, x: values(f, x, partial, True, op_name), points, c)
    return made


def _degree(deg: Any, op_name: str) -> int:
    n = integer(deg, f"{op_name}: deg")
    if n < 0:
        raise ValueError(f"{op_name}: deg must be non-negative, got {n}")
    return n


def vandermonde(f: Family, x: Any, deg: Any, op_name: str) -> Array:
    n = _degree(deg, op_name)
    (x,) = given([x], op_name)
    x = floating(_core._reshape(x, [1]) if x.ndim == 0 else x)
    made = _core._empty([*x.shape, n + 1], x.dtype, x.queue)
    before, last = x, x * 0 + 1
    made[..., 0] = last
    for k in range(n):
        a, b, g = f.step(k)
        factor = a * x + b if b else a * x if a != 1 else x
        before, last = last, last * factor - before * g if g and k else last * factor
        made[..., k + 1] = last
    return made


def vandermonde_at(f: Family, points: Sequence[Any], deg: Any, op_name: str) -> Array:
    """For points of two or three dimensions: all products of degrees, in one axis."""
    if len(points) != len(deg):
        raise ValueError(f"{op_name}: Expected {len(points)} dimensions of degrees, got {len(deg)}")
    xs = common(given(points, op_name))
    if any(x.shape != xs[0].shape for x in xs):
        raise ValueError(f"{op_name}: points must have one shape, got {', '.join(str(x.shape) for x in xs)}")
    parts = []
    for i, (x, n) in enumerate(zip(xs, deg, strict=True)):
        part = vandermonde(f, x, n, op_name)
        parts.append(part[(..., *(slice(None) if i == j else None for j in range(len(xs))))])
    product = functools.reduce(operator.mul, parts)
    return _core._reshape(product, [*product.shape[: -len(xs)], -1])


def fit(f: Family, x: Any, y: Any, deg: Any, rcond: Any, full: Any, w: Any, op_name: str) -> Any:
    places = np.asarray(fetched(deg, op_name))
    if places.ndim > 1 or kind_of(places.dtype) not in "iu" or places.size == 0:
        raise TypeError(f"{op_name}: deg must be an int or non-empty 1-D array of int, got {deg!r}")
    if places.min() < 0:
        raise ValueError(f"{op_name}: expected deg >= 0, got {deg!r}")
    xs, ys, *ws = (floating(p) for p in given([x, y] if w is None else [x, y, w], op_name))
    if xs.ndim != 1 or xs.size == 0:
        raise TypeError(f"{op_name}: expected {'non-empty' if xs.ndim == 1 else '1D'} vector for x, got shape {xs.shape}")
    if ys.ndim not in (1, 2):
        raise TypeError(f"{op_name}: expected 1D or 2D array for y, got shape {ys.shape}")
    for name, p in zip(("y", "w"), (ys, *ws), strict=False):
        if p.shape[0] != xs.size:
            raise TypeError(f"{op_name}: expected x and {name} to have same length, got {xs.size} and {p.shape[0]}")
    most = int(places.max())
    chosen = np.sort(places) if places.ndim else None
    matrix = vandermonde(f, xs, most, op_name)
    if chosen is not None:
        matrix = matrix[:, chosen.tolist()]
    if ws:
        if ws[0].ndim != 1:
            raise TypeError(f"{op_name}: expected 1D vector for w, got shape {ws[0].shape}")
        matrix = matrix * ws[0][:, None]
        ys = ys * (ws[0] if ys.ndim == 1 else ws[0][:, None])
    if rcond is None:
        rcond = xs.size * float(promotion.finfo(xs.dtype).eps)
    size = _core.absolute(matrix)
    scale = _core.sqrt(_core._reduce(_core._SUM, size * size, [0], False))
    scale = _core._where(scale == 0, 1, scale)
    c, residuals, rank, s = lstsq(matrix / scale, ys, rcond)
    c = c / (scale if c.ndim == 1 else scale[:, None])
    if chosen is not None:
        all_of_them = _core._full([most + 1, *c.shape[1:]], 0, c.dtype, c.queue)
        all_of_them[chosen.tolist()] = c
        c = all_of_them
    if not full and int(rank) != matrix.shape[1]:
        warnings.warn(f"{op_name}: The fit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    return (c, [residuals, rank, s, rcond]) if full else c


def gauss(f: Family, deg: Any, op_name: str) -> tuple[Array, Array]:
    """Points and weights; NumPy computes them on the host."""
    n = integer(deg, f"{op_name}: deg")
    if n <= 0:
        raise ValueError(f"{op_name}: deg must be a positive integer, got {n}")
    module = getattr(np.polynomial, f.module)
    x, w = (from_host(values, op_name) for values in getattr(module, f"{f.prefix}gauss")(n))
    return x, w


def from_host(host: Any, op_name: str) -> Array:
    """A copy on the default device, which is counted."""
    queue = default_queue()
    values = np.asarray(host, default_on(queue, np.asarray(host).dtype))
    _core._note_transfer(op_name, values.nbytes, queue.device.id, True)
    return to_queue(values, queue)


def weight(f: Family, x: Any, op_name: str) -> Array:
    (x,) = given([x], op_name)
    assert f.weight is not None
    made: Array = f.weight(x)
    return made


def points(npts: Any, kind: int, op_name: str) -> Array:
    """Chebyshev's points, of the first or the second kind."""
    n = int(npts)
    if n != npts:
        raise ValueError(f"{op_name}: npts must be integer, got {npts}")
    if n < kind:
        raise ValueError(f"{op_name}: npts must be >= {kind}, got {n}")
    queue = default_queue()
    dtype = default_on(queue, np.float64)
    if kind == 1:
        return _core.sin(_core._arange(1 - n, n + 1, 2, dtype, queue) * (0.5 * np.pi / n))
    return _core.cos(_core._arange(1 - n, 1, 1, dtype, queue) * (np.pi / (n - 1)))


def interpolated(f: Family, func: Any, deg: Any, args: Sequence[Any], op_name: str) -> Array:
    degree = np.asarray(fetched(deg, op_name))
    if degree.ndim > 0 or kind_of(degree.dtype) not in "iu":
        raise TypeError(f"{op_name}: deg must be an int, got {deg!r}")
    n = _degree(int(degree), op_name)
    x = points(n + 1, 1, op_name)
    y = func(x, *args)
    (y,) = given([y], op_name) if not isinstance(y, SCALARS) else (x * 0 + y,)
    c = vandermonde(f, x, n, op_name).T @ floating(y)
    scale = _core._where(_core._arange(0, n + 1, 1, np.int64, x.queue) == 0, n + 1, 0.5 * (n + 1))
    return cast(c / (scale if c.ndim == 1 else scale[:, None]), c.dtype)
