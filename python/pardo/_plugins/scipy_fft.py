# python/pardo/_plugins/scipy_fft.py: scipy.fft of arrays: the functions of pardo.scipy.fft, which stay on the device.
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pardo._base import face
from pardo._core import Array, _note_fallback


class Backend:
    """What uarray asks, by which scipy.fft finds who computes. It can be named too: ``scipy.fft.set_backend``."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_convert__(dispatchables: Any, coerce: bool) -> Any:
        return [d.value for d in dispatchables] if any(type(d.value) is Array for d in dispatchables) else NotImplemented

    @staticmethod
    def __ua_function__(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not any(type(a) is Array for a in (*args, *kwargs.values())):
            return NotImplemented
        ours = getattr(face.public("scipy.fft"), method.__name__, None)
        if ours is None:
            _note_fallback(f"scipy.fft.{method.__name__}: pardo has no such function; the host runs it")
            return NotImplemented
        return ours(*args, **kwargs)


def register() -> None:
    """Register with scipy.fft: other arrays are left to it."""
    fft: Any = sys.modules["scipy.fft"]
    fft.register_backend(Backend)
