# python/pardo/_polynomials/coefficients.py: the algebra of series by their coefficients, the lowest degree first.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._analysis.differences import products_of_sequences
from pardo._base import promotion
from pardo._base.arguments import default_on, home_among
from pardo._core import Array
from pardo._functions.operands import cast, operand, taken
from pardo._matrices.factorizations import eigvals
from pardo._polynomials.families import CHEBYSHEV, POLYNOMIAL, Family


def given(xs: Sequence[Any], op_name: str) -> list[Array]:
    """Arrays of numbers on one queue: that of the first array among them, or of the default device."""
    like = home_among(xs)
    if like is None:
        like = taken(xs[0], None, op_name)
        xs = [like, *xs[1:]]
    return [operand(x, like, op_name) for x in xs]


def floating(x: Array) -> Array:
    """Integers and bools as floats, as NumPy has them."""
    return x if x._kind in "fc" else cast(x, default_on(x.queue, np.float64))


def series(xs: Sequence[Any], op_name: str) -> list[Array]:
    """Coefficients as given, of a common floating dtype; not empty."""
    arrays = [_core._reshape(x, [1]) if x.ndim == 0 else x for x in given(xs, op_name)]
    for x in arrays:
        if x.size == 0:
            raise ValueError(f"{op_name}: Coefficient array is empty")
        if x.ndim != 1:
            raise ValueError(f"{op_name}: Coefficient array is not 1-d: it has shape {x.shape}")
        if x.dtype == np.bool_:
            raise ValueError(f"{op_name}: Coefficient arrays have no common type: there is one of bool")
    return common(arrays)


def common(arrays: Sequence[Array]) -> list[Array]:
    floats = [floating(x) for x in arrays]
    dtype = default_on(floats[0].queue, promotion.result_type(*(x.dtype for x in floats)))
    return [cast(x, dtype) for x in floats]


def degrees(n: int, c: Array) -> Array:
    """0, 1, … n - 1 along the first axis, in the precision of coefficients."""
    k = _core._arange(0, n, 1, promotion.finfo(c.dtype).dtype, c.queue)
    return _core._reshape(k, [n] + [1] * (c.ndim - 1))


def length(c: Array, tol: float = 0) -> int:
    """How many coefficients are left without those behind the last one above `tol`: one number, which is waited for."""
    places = _core._arange(1, c.shape[0] + 1, 1, np.int64, c.queue)
    kept = _core.greater(_core.absolute(c), tol) if tol else _core.not_equal(c, 0)
    return int(_core._reduce(_core._MAX, _core._where(kept, places, 0), None, False))


def trimmed(c: Array) -> Array:
    return c[: max(length(c), 1)]


def trimmed_series(xs: Sequence[Any], op_name: str) -> list[Array]:
    return [trimmed(c) for c in series(xs, op_name)]


def trim(c: Any, tol: float, op_name: str) -> Array:
    if tol < 0:
        raise ValueError(f"{op_name}: tol must be non-negative, got {tol}")
    (x,) = series([c], op_name)
    n = length(x, tol)
    return x[:n]._copy() if n else _core.multiply(x[:1], 0)


def zeros(n: int, like: Array) -> Array:
    return _core._full([n, *like.shape[1:]], 0, like.dtype, like.queue)


def _padded(c: Array, n: int, before: int = 0) -> Array:
    parts = [zeros(before, c), c, zeros(n - before - c.shape[0], c)]
    return _core._concat([p for p in parts if p.shape[0]], 0)


def added(x: Any, y: Any, op_name: str, negative: bool = False) -> Array:
    a, b = trimmed_series([x, y], op_name)
    n = max(a.size, b.size)
    return trimmed((_core.subtract if negative else _core.add)(_padded(a, n), _padded(b, n)))


def spread(c: Array, up: Any, here: Any, down: Any) -> Array:
    """The sum of three terms, moved to the next degree, as they are, and to the one before; one coefficient more than `c`."""
    n = c.shape[0] + 1
    total = _padded(cast(up, c.dtype), n, 1)
    if here is not None:
        total = total + _padded(cast(here, c.dtype), n)
    if down is not None and n > 2:
        total = total + _padded(cast(down, c.dtype)[1:], n)
    return total


def times_x(f: Family, c: Any, op_name: str) -> Array:
    (x,) = series([c], op_name)
    n = length(x)
    return _times_x(f, x[:n]) if n else x[:1]


def _times_x(f: Family, c: Array) -> Array:
    return spread(c, *f.times_x(c, degrees(c.shape[0], c)))


def rows(f: Family, basis: Family, start: Array, count: int) -> Array:
    """A matrix. Row k has the coefficients of `start` times P_k, where P_k is of the family `f`, and `start` and the row are in `basis`."""
    m = start.size
    made = _core._full([count, m + count - 1], 0, start.dtype, start.queue)
    made[0, :m] = start
    for k in range(count - 1):
        a, b, g = f.step(k)
        row = _times_x(basis, made[k, : m + k])
        row = row * a if a != 1 else row
        if b:
            row = row + made[k, : m + k + 1] * b
        if g and k:
            row = row - made[k - 1, : m + k + 1] * g
        made[k + 1, : m + k + 1] = row
    return made


def _combined(c: Array, matrix: Array) -> Array:
    return _core._reduce(_core._SUM, _core.multiply(c[:, None], matrix), [0], False, c.dtype)


def converted(c: Any, f: Family, to: Family, op_name: str) -> Array:
    """The same polynomial in the basis of another family."""
    (x,) = trimmed_series([c], op_name)
    if f is POLYNOMIAL:  # whose coefficients NumPy adds to 0, a number in double precision
        x = cast(x, default_on(x.queue, promotion.result_type(x.dtype, np.float64)))
    one = _core._full([1], 1, x.dtype, x.queue)
    return trimmed(_combined(x, rows(f, to, one, x.size)))


def _product(f: Family, a: Array, b: Array) -> Array:
    if f is POLYNOMIAL:
        return products_of_sequences(a, b)
    if f is CHEBYSHEV:
        full = products_of_sequences(_mirrored(a), _mirrored(b))[a.size + b.size - 2 :]
        return _core._concat([full[:1], full[1:] * 2], 0)
    short, long = (a, b) if a.size <= b.size else (b, a)
    return _combined(short, rows(f, f, long, short.size))


def _mirrored(c: Array) -> Array:
    """Chebyshev's series as one of powers of z and 1/z, where x = (z + 1/z) / 2."""
    half = c[1:] / 2
    return _core._concat([_core._flip(half, [0]), c[:1], half], 0) if c.size > 1 else c


def multiplied(f: Family, x: Any, y: Any, op_name: str) -> Array:
    return trimmed(_product(f, *trimmed_series([x, y], op_name)))


def divided(f: Family, x: Any, y: Any, op_name: str) -> tuple[Array, Array]:
    a, b = series([x, y], op_name)
    n, m = max(length(a), 1), length(b)
    if m == 0:
        raise ZeroDivisionError(f"{op_name}: the divisor is zero")
    a, b = a[:n], b[:m]
    if n < m:
        return a[:1] * 0, a
    if m == 1:
        return a / b[0], a[:1] * 0
    count = n - m + 1
    products = rows(f, f, b, count)
    rest, quotient = a._copy(), _core._empty([count], a.dtype, a.queue)
    for i in range(count - 1, -1, -1):
        q = rest[i + m - 1] / products[i, i + m - 1]
        quotient[i] = q
        rest[: i + m] = rest[: i + m] - q * products[i, : i + m]
    return quotient, trimmed(rest[: m - 1])


def power(f: Family, c: Any, pow: Any, maxpower: Any, op_name: str) -> Array:
    (x,) = trimmed_series([c], op_name)
    times = int(pow)
    if times != pow or times < 0:
        raise ValueError(f"{op_name}: Power must be a non-negative integer, got {pow}")
    if maxpower is not None and times > maxpower:
        raise ValueError(f"{op_name}: Power is too large: {times} is more than maxpower {maxpower}")
    if times == 0:
        return _core._full([1], 1, x.dtype, x.queue)
    result = x
    for _ in range(times - 1):
        result = _product(f, result, x)
    return result if f in (POLYNOMIAL, CHEBYSHEV) or times == 1 else trimmed(result)


def line(f: Family, off: Any, scl: Any, op_name: str) -> Array:
    """off + scl x, of the dtype that these have."""
    a, b = given([off, scl], op_name)
    if a.ndim or b.ndim:
        raise ValueError(f"{op_name}: off and scl must be numbers, got shapes {a.shape} and {b.shape}")
    parts = f.line(a, b) if bool(b != 0) else [a]
    dtype = default_on(a.queue, promotion.result_type(*(p.dtype for p in parts)))
    return _core._concat([_core._reshape(cast(p, dtype), [1]) for p in parts], 0)


def from_roots(f: Family, roots: Any, op_name: str) -> Array:
    """One linear factor after the other."""
    (x,) = given([roots], op_name)
    if x.ndim == 0:
        raise TypeError(f"{op_name}: a sequence of roots is expected, not a single number")
    if x.size == 0:
        return _core._full([1], 1, default_on(x.queue, np.float64), x.queue)
    (x,) = series([x], op_name)
    made = zeros(x.size + 1, x)
    made[0] = 1
    for k in range(x.size):
        made[: k + 2] = _times_x(f, made[: k + 1]) - made[: k + 2] * x[k]
    return made


def companion(f: Family, c: Any, op_name: str) -> Array:
    (x,) = trimmed_series([c], op_name)
    if x.size < 2:
        raise ValueError(f"{op_name}: Series must have maximum degree of at least 1.")
    return _companion(f, x)


def _companion(f: Family, c: Array) -> Array:
    n = c.size - 1
    k = degrees(n, c)
    diagonal, beside, scale = f.companion(k, n)
    row, column = k[:, None], k
    above = 0 if f is POLYNOMIAL else beside[:, None]
    matrix = _core._where(row == column, diagonal, _core._where(row == column + 1, beside, _core._where(row + 1 == column, above, 0)))
    last = scale * (c[:-1] / c[-1])
    return cast(matrix - _core._where(column == n - 1, last[:, None], 0), c.dtype)


def roots(f: Family, c: Any, op_name: str) -> Array:
    (x,) = trimmed_series([c], op_name)
    if x.size < 2:
        return x[:0]
    matrix = _companion(f, x)
    if x.size == 2:
        return _core._reshape(matrix, [1])
    found = eigvals(matrix if f is POLYNOMIAL else _core._flip(matrix, [0, 1]))
    if x._kind != "c" and not bool(_core._reduce(_core._ANY, _core.not_equal(_core.imag(found), 0), None, False)):
        found = _core.real(found)
    return _core._sort(found, 0, False, True)
