# python/pardo/compat/numba/core/errors.py: Numba's exceptions, as those that pardo raises.
"""Numba's exceptions: `TypingError` is TypeError, which pardo raises for types; the others are CompileError."""

from __future__ import annotations

from typing import Any

from pardo._core import CompileError
from pardo.compat._names import missing

__all__ = ["LoweringError", "NumbaError", "NumbaWarning", "TypingError", "UnsupportedError"]

TypingError = TypeError
NumbaError = LoweringError = UnsupportedError = UnsupportedBytecodeError = CompileError
NumbaWarning = NumbaPerformanceWarning = RuntimeWarning


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "pardo raises TypeError for types, CompileError for what is no part of the language")
