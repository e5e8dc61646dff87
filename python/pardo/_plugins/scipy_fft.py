# python/pardo/_plugins/scipy_fft.py: scipy.fft of arrays: the functions of pardo.fft, which stay on the device.
from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from pardo._core import Array

# Keywords of SciPy's that mean nothing here.
_IGNORED = ("overwrite_x", "workers", "plan", "orthogonalize")


class Backend:
    """What uarray asks, by which scipy.fft finds who computes. It can be named too: ``scipy.fft.set_backend``."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_convert__(dispatchables: Any, coerce: bool) -> Any:
        return [d.value for d in dispatchables] if any(type(d.value) is Array for d in dispatchables) else NotImplemented

    @staticmethod
    def __ua_function__(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ours = getattr(importlib.import_module("pardo.fft"), method.__name__, None)
        if ours is None or not any(type(a) is Array for a in (*args, *kwargs.values())):
            return NotImplemented
        given = inspect.signature(method).bind(*args, **kwargs).arguments
        keywords = dict(given.pop("kwargs", {}), **given)
        for name in _IGNORED:
            if keywords.get(name) in (None, False) or name == "workers":
                keywords.pop(name, None)
        operand = keywords.pop("x", None)
        return NotImplemented if keywords.keys() - inspect.signature(ours).parameters.keys() else ours(operand, **keywords)


def register() -> None:
    """Register with scipy.fft: other arrays are left to it."""
    fft: Any = sys.modules["scipy.fft"]
    fft.register_backend(Backend)
