# python/pardo/_cython/functions.py: what C's operators and libc's functions are in the functions that regions become.
from __future__ import annotations

import math
from typing import Any

import numpy as np

# C's name -> the function of math that kernels know.
_SAME = "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 hypot copysign"
LIBC = {**{name: name for name in f"{_SAME} fmod erf erfc lgamma pow fabs nextafter".split()}, "tgamma": "gamma"}
LIBC_NUMPY = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "fmin": "fmin", "fmax": "fmax", "fma": "fma"}
LIBC_TESTS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "signbit": ""}  # "": it is written below
LIBC_OWN = ("round", "nearbyint", "fdim")
LIBC_TO_INTEGER = {"lround": "round", "llround": "round", "lrint": "rint", "llrint": "rint"}


def _divided(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("float division")
    return a / b


def _floor_divided(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("float division")
    return a // b


def _integer_divided(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a // b


def _remainder(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a % b


def _c_divided(a: Any, b: Any) -> Any:
    """C's quotient of integers, toward zero."""
    q = a // b
    return q + 1 if q * b != a and (a < 0) != (b < 0) else q


def _c_remainder(a: Any, b: Any) -> Any:
    """C's remainder of integers, with the sign of the dividend."""
    r = a % b
    return r - b if r != 0 and (r < 0) != (a < 0) else r


def _added(a: Any, b: Any) -> Any:
    r = a + b
    if (r < a) != (b < 0):
        raise OverflowError("value too large")
    return r


def _subtracted(a: Any, b: Any) -> Any:
    r = a - b
    if (r > a) != (b < 0):
        raise OverflowError("value too large")
    return r


def _multiplied(a: Any, b: Any) -> Any:
    r = a * b
    if a != 0 and (r // a != b or (a + 1 == 0 and b != 0 and r == b)):
        raise OverflowError("value too large")
    return r


def _shifted(a: Any, b: Any, bits: Any) -> Any:
    if a < 0 or b < 0 or b >= bits:
        raise OverflowError("value too large")
    r = a << b
    if r < 0 or r >> b != a:
        raise OverflowError("value too large")
    return r


def _round(x: Any) -> Any:
    """C's: halves away from zero."""
    t = np.trunc(x)
    return t + math.copysign(1.0, x) if abs(x - t) >= 0.5 else t


def _fdim(a: Any, b: Any) -> Any:
    return 0.0 if a <= b else a - b


def _signbit(x: Any) -> Any:
    return math.copysign(1.0, x) < 0


def _conjugate(z: Any) -> Any:
    return z.conjugate()


def _real_part(z: Any) -> Any:
    """Of what `**` of real numbers gives, for which Cython takes a complex one."""
    if z.imag != 0:
        raise TypeError("Cannot convert 'complex' with non-zero imaginary component to 'double'")
    return z.real


def _real_power(a: Any, b: Any) -> Any:
    if a < 0 and np.floor(b) != b:
        raise TypeError("Cannot convert 'complex' with non-zero imaginary component to 'double'")
    return a**b


FAILING = {
    f.__name__: f
    for f in (
        *(_divided, _floor_divided, _integer_divided, _remainder, _added, _subtracted, _multiplied, _shifted),
        *(_real_part, _real_power),
    )
}  # a region has them at each of its lines that calls one, so that exceptions name these
TABLE: dict[str, Any] = {
    "_c_divided": _c_divided,
    "_c_remainder": _c_remainder,
    **{f"_c_{c}": getattr(math, name) for c, name in LIBC.items()},
    **{f"_c_{c}": getattr(np, name) for c, name in LIBC_NUMPY.items() if hasattr(np, name)},
    **{f"_c_{c}": getattr(np, name) for c, name in LIBC_TESTS.items() if name},
    "_c_round": _round,
    "_c_nearbyint": np.rint,
    "_c_fdim": _fdim,
    "_c_signbit": _signbit,
    "_c_conjugate": _conjugate,
}
if hasattr(math, "fma"):
    TABLE["_c_fma"] = math.fma
