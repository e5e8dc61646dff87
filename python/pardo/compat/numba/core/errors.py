# python/pardo/compat/numba/core/errors.py: Numba's exceptions, as those that pardo raises.
"""Numba's exceptions: those of types are TypeError, which pardo raises for types; those of the language are CompileError.

Warnings are RuntimeWarning, by which pardo says what it leaves to Python.
"""

from __future__ import annotations

from typing import Any

from pardo import CompileError
from pardo._extending import show_module as _show_module
from pardo.compat._names import missing

_OF = {
    TypeError: "TypingError NumbaTypeError LiteralTypingError RequireLiteralValue UntypedAttributeError",
    CompileError: (
        "NumbaError LoweringError UnsupportedError UnsupportedBytecodeError UnsupportedRewriteError UnsupportedParforsError IRError "
        "RedefinedError NotDefinedError VerificationError ForbiddenConstruct ByteCodeSupportError CompilerError ConstantInferenceError "
        "InternalError DeprecationError NumbaNotImplementedError"
    ),
    ValueError: "NumbaValueError",
    AttributeError: "NumbaAttributeError",
    AssertionError: "NumbaAssertionError",
    KeyError: "NumbaKeyError",
    IndexError: "NumbaIndexError",
    RuntimeError: "NumbaRuntimeError",
    RuntimeWarning: (
        "NumbaWarning NumbaPerformanceWarning NumbaDeprecationWarning NumbaPendingDeprecationWarning NumbaParallelSafetyWarning "
        "NumbaTypeSafetyWarning NumbaExperimentalFeatureWarning NumbaInvalidConfigWarning NumbaPedanticWarning NumbaIRAssumptionWarning "
        "NumbaDebugInfoWarning NumbaSystemWarning"
    ),
}
NAMES: dict[str, type[BaseException]] = {name: kind for kind, names in _OF.items() for name in names.split()}
globals().update(NAMES)
__all__ = sorted(NAMES)


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "pardo raises TypeError for types, CompileError for what is no part of the language")


_show_module(globals())
