# python/pardo/compat/pyopencl/clmath.py: pyopencl.clmath's functions over pardo's arrays.
"""Functions of the names of OpenCL C on arrays: ``clmath.sin(x, queue=None)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pardo
from pardo import Queue
from pardo._extending import show_module as _show_module
from pardo.compat._names import missing as _missing
from pardo.compat.pyopencl import _methods

# Names of OpenCL C, and pardo's.
_SAME = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "fabs",
    "floor", "fmod", "frexp", "ldexp", "log", "log10", "log1p", "log2", "modf", "rint", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
_SPECIAL = {"erf": "erf", "erfc": "erfc", "exp10": "exp10", "lgamma": "gammaln", "tgamma": "gamma"}
_ONE = {
    "acospi": lambda x: pardo.acos(x) / pardo.pi,
    "asinpi": lambda x: pardo.asin(x) / pardo.pi,
    "atanpi": lambda x: pardo.atan(x) / pardo.pi,
    "round": lambda x: _rounded(x, pardo.trunc(x)),
    "rsqrt": lambda x: 1 / pardo.sqrt(x),
}


def _rounded(x: Any, whole: Any) -> Any:
    """The nearest integer; of two the one farther from zero."""
    return whole + pardo.where(pardo.abs(x - whole) >= 0.5, pardo.copysign(1, x), 0)


def _function(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arrays: Any, queue: Any = None) -> Any:
        if arrays and (arrays[-1] is None or isinstance(arrays[-1], Queue)):
            *arrays, queue = arrays  # type: ignore[assignment]
        return compute(*(_methods.on(queue, x, name) for x in arrays))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Compute OpenCL C's `{name}`, element by element, on the queue of the arrays or on another one."
    return call


for _name in _SAME:
    globals()[_name] = _function(_name, getattr(pardo, _name))
for _name, _ours in _SPECIAL.items():
    globals()[_name] = _function(_name, getattr(pardo.special, _ours))
for _name, _compute in _ONE.items():
    globals()[_name] = _function(_name, _compute)

_INSTEAD = {
    "sinpi cospi tanpi atan2pi": "multiply by pardo.pi, or divide",
    "bessel_jn bessel_yn hankel_01": "see pardo.special.jn and yn",
    "ilogb logb": "use pardo.frexp",
    "nan": "use pardo.full_like(x, pardo.nan)",
}


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise _missing(__name__, name, _INSTEAD, "pardo has no such name")


_show_module(globals())
