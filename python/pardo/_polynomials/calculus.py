# python/pardo/_polynomials/calculus.py: derivatives and integrals of series, along one axis of their coefficients.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array.manipulation import moveaxis
from pardo._base import promotion
from pardo._base.arguments import axis_index, integer
from pardo._core import Array
from pardo._functions.operands import cast
from pardo._polynomials.coefficients import degrees, floating, given, spread, zeros
from pardo._polynomials.families import Family
from pardo._polynomials.values import evaluated


def _read(c: Any, m: Any, axis: Any, word: str, op_name: str) -> tuple[Array, int, int]:
    (x,) = given([c], op_name)
    x = floating(_core._reshape(x, [1]) if x.ndim == 0 else x)
    count, place = integer(m, f"{op_name}: the order of {word}"), integer(axis, f"{op_name}: the axis")
    if count < 0:
        raise ValueError(f"{op_name}: The order of {word} must be non-negative, got {count}")
    return x, count, axis_index(place, x.ndim, op_name)


def derivative(f: Family, c: Any, m: Any, scl: Any, axis: Any, op_name: str) -> Array:
    x, count, place = _read(c, m, axis, "derivation", op_name)
    if count == 0:
        return x._copy()
    x = moveaxis(x, place, 0)
    if count >= x.shape[0]:
        x = x[:1] * 0
    else:
        for _ in range(count):
            x = _derivative(f, _scaled(x, scl, op_name))
    return moveaxis(x, 0, place)


def _scaled(x: Array, scl: Any, op_name: str) -> Array:
    """In the dtype of the coefficients, as NumPy multiplies them in place."""
    scaled = _core.multiply(x, scl)
    if not promotion.can_cast(scaled.dtype, x.dtype, "same_kind"):
        raise TypeError(f"{op_name}: cannot cast coefficients times scl from {scaled.dtype} to {x.dtype}")
    return cast(scaled, x.dtype)


def _derivative(f: Family, c: Array) -> Array:
    u = cast(f.weighted(c, degrees(c.shape[0], c)), c.dtype)[1:]
    if f.stride:
        u = _sums_from_above(u, f.stride)
    return cast(f.after(u, degrees(u.shape[0], u)), c.dtype)


def _sums_from_above(w: Array, stride: int) -> Array:
    """w_k + w_(k + stride) + …, for each k."""
    n = w.shape[0]
    turned = _core._flip(w, [0])
    turned = _core._concat([turned, zeros(1, w)], 0) if n % stride else _core.positive(turned)
    turned = _core._reshape(turned, [turned.shape[0] // stride, stride, *w.shape[1:]])
    sums = _core._cumulative(_core._SUM, turned, 0, w.dtype, False)
    return _core._flip(_core._reshape(sums, [-1, *w.shape[1:]])[:n], [0])


def integral(f: Family, c: Any, m: Any, k: Any, lbnd: Any, scl: Any, axis: Any, op_name: str) -> Array:
    x, count, place = _read(c, m, axis, "integration", op_name)
    constants = list(k) if np.iterable(k) else [k]
    if len(constants) > count:
        raise ValueError(f"{op_name}: Too many integration constants: {len(constants)} for {count} integrals")
    for name, value in (("lbnd", lbnd), ("scl", scl)):
        if np.ndim(value):
            raise ValueError(f"{op_name}: {name} must be a scalar, got shape {np.shape(value)}")
    if count == 0:
        return x._copy()
    x = moveaxis(x, place, 0)
    for constant in constants + [0] * (count - len(constants)):
        x = _scaled(x, scl, op_name)
        if x.shape[0] == 1 and not bool(_core._reduce(_core._ANY, _core.not_equal(x, 0), None, False)):
            x = cast(x + constant, x.dtype)
            continue
        made = spread(x, *f.integral(x, degrees(x.shape[0], x)))
        first = made[:1] + (constant - evaluated(f, lbnd, made))
        x = _core._concat([cast(first, x.dtype), made[1:]], 0)
    return moveaxis(x, 0, place)
